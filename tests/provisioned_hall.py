"""Sixteen machines on their way through a fake Ironic, for tests of provisioning."""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import cast

from ironic_fake import FakeIronic
from metal_hall import HOSTS, address_of, layer, machines, plan_of
from rackwright.metal.discovery.expected import expected_machines
from rackwright.metal.discovery.machines import DiscoveredMachine
from rackwright.metal.ironic import Ironic
from rackwright.metal.journal import open_journal
from rackwright.metal.lifecycle import Act, Ended, ProvisioningStep, Seen, facts_against
from rackwright.metal.nodes import HostPlan, host_plans
from rackwright.metal.reconcile import ProvisioningOutcome, Reconciler
from rackwright.metal.waves import PowerLimits
from rackwright.model.provisioning import Provisioning
from rackwright.nodelife.redfish import BmcState
from rackwright.plan.model import Plan

DIGEST = "sha256:" + "ab" * 32
MORE = f"""\
      engine: {{url: "http://127.0.0.1:6385"}}
      images: [{{name: ubuntu, url: "https://images.example.com/ubuntu.raw", checksum: "{DIGEST}"}}]
      groups: [{{group: dgx, image: ubuntu}}]
"""
FIRMWARE = f"""\
      firmware:
        - {{name: bios-r1, type: dgx-h100, component: bios, version: r1, url: "https://f.example.com/b", checksum: "{DIGEST}"}}
        - {{name: bmc-r1, type: dgx-h100, component: bmc, version: r1, url: "https://f.example.com/m", checksum: "{DIGEST}"}}
"""


@cache
def planned(more: str, operations: str) -> Plan:
    """Return the plan of the hall, expanded once for all tests."""
    with tempfile.TemporaryDirectory() as folder:
        return plan_of(layer(Path(folder), 443, more, operations))


SIXTEEN = PowerLimits(16)


class Hall:
    """Sixteen machines, and what was done to them."""

    def __init__(self, folder: Path, more: str = MORE, operations: str = "") -> None:
        self.folder = folder
        plan = planned(more, operations)
        (self.site,) = plan.onprem
        assert self.site.provisioning is not None
        self.provisioning: Provisioning = self.site.provisioning
        expected = expected_machines(plan, self.site)
        self.plans = host_plans(self.site, self.provisioning, expected, {})
        self.seen = {
            host: DiscoveredMachine(
                address_of(host), BmcState.READY, manufacturer="NVIDIA", model=one.model,
                serial=one.serial, mac=one.bmc_mac, accelerators=8, rack=one.rack,
                firmware={"bios": "r1", "bmc": "r1"},
            )
            for host, one in machines().items()
        }  # fmt: skip
        self.ironic = FakeIronic()
        self.late: list[tuple[Act, str]] = []
        self.clock = itertools.count(1.0)
        self.said: list[str] = []
        self.restarted: list[str] = []
        self.refusal: str | None = None
        self.pauses: list[float] = []
        self.answers: dict[tuple[Act, str], list[str | None]] = {}

    def read(self, plans: Sequence[HostPlan]) -> Mapping[str, Seen]:
        return facts_against(
            plans, [self.seen[plan.name] for plan in plans if plan.name in self.seen]
        )

    def late_step(self, act: Act, plans: Sequence[HostPlan]) -> Mapping[str, Ended]:
        self.late += [(act, plan.name) for plan in plans]
        answers = {plan.name: self.answers.get((act, plan.name)) or [None] for plan in plans}
        return {name: Ended(reasons.pop(0)) for name, reasons in answers.items()}

    def provision(
        self,
        hosts: Sequence[str] = HOSTS,
        limits: PowerLimits = SIXTEEN,
        until: ProvisioningStep = ProvisioningStep.ACCEPTED,
        now: Callable[[], float] | None = None,
    ) -> ProvisioningOutcome:
        with open_journal(
            self.folder / "journal.sqlite", "sjc1", now or (lambda: next(self.clock))
        ) as journal:
            return Reconciler(
                cluster="top-of-rack",
                plans=[plan for plan in self.plans if plan.name in set(hosts)],
                provisioning=self.provisioning,
                ironic=cast("Ironic", self.ironic),
                journal=journal,
                read=self.read,
                run_on_hosts=self.late_step,
                passwords=lambda plan: "secret",
                restart=self.restart,
                limits=limits,
                until=until,
                say=self.said.append,
                sleep=self.pauses.append,
            ).run()

    def restart(self, plan: HostPlan) -> str | None:
        self.restarted.append(plan.name)
        return self.refusal

    def retry(self, host: str) -> None:
        with open_journal(
            self.folder / "journal.sqlite", "sjc1", lambda: next(self.clock)
        ) as journal:
            journal.forget(host, failure_alone=True)
