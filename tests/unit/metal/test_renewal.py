"""Day two: installed hosts get another image, firmware or machine, drained, in waves and through kills."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

import pytest

from ironic_fake import KilledError
from metal_hall import HOSTS
from provisioned_hall import DIGEST, FIRMWARE, MORE, Hall
from rackwright.cli.options.renewal import RenewalExecutor, outdated
from rackwright.metal.journal import open_journal
from rackwright.metal.lifecycle import Act, ProvisioningStep
from rackwright.metal.nodes import HostPlan
from rackwright.metal.reconcile import ProvisioningOutcome
from rackwright.rollout.executor import AnsibleExecutor

NEWER = MORE.replace(DIGEST, "sha256:" + "cd" * 32)
FIRST = HOSTS[:2]


@dataclass
class Ansible:
    """Ansible that configures and verifies without hosts."""

    failed: dict[str, str] = field(default_factory=dict)
    configured: list[str] = field(default_factory=list)

    def change(self, hosts: Sequence[str], tags: Sequence[str]) -> Mapping[str, str]:
        self.configured += hosts
        return {}

    def accept(self, hosts: Sequence[str]) -> Mapping[str, str]:
        return {host: why for host, why in self.failed.items() if host in hosts}


def renewed(hall: Hall, ansible: Ansible, hosts: Sequence[str] = FIRST) -> Mapping[str, str]:
    """Renew hosts as a wave does, and return those that failed."""
    with open_journal(hall.folder / "journal.sqlite", "sjc1", lambda: next(hall.clock)) as journal:

        def provision(plans: Sequence[HostPlan], until: ProvisioningStep) -> ProvisioningOutcome:
            return hall.provision([plan.name for plan in plans], until=until)

        plans = {plan.name: plan for plan in hall.plans}
        executor = RenewalExecutor(cast("AnsibleExecutor", ansible), journal, plans, provision)
        failed = executor.change(hosts, ())
        refused = executor.accept([host for host in hosts if host not in failed])
        return {**failed, **refused}


def reasons(hall: Hall) -> dict[str, tuple[str, ...]]:
    """Return the hosts that are to be renewed, with the reasons."""
    with open_journal(hall.folder / "journal.sqlite", "sjc1", lambda: next(hall.clock)) as journal:
        return {host: one.reasons for host, one in outdated(hall.plans, journal).items()}


def later(hall: Hall, more: str, operations: str = "") -> Hall:
    """Return the same hall under a changed blueprint."""
    made = Hall(hall.folder, more, operations)
    made.ironic, made.seen, made.clock = hall.ironic, hall.seen, hall.clock
    return made


@pytest.fixture
def hall(tmp_path: Path) -> Hall:
    made = Hall(tmp_path)
    assert made.provision(FIRST).failed == {}
    return made


def test_hosts_that_are_as_the_blueprint_says_are_left_alone(hall: Hall) -> None:
    assert reasons(hall) == {}


def test_another_image_is_written_over_the_one_that_is_there(hall: Hall) -> None:
    now = later(hall, NEWER)
    text = "its image is ubuntu (sha256 abababababab), but ubuntu (sha256 cdcdcdcdcdcd) is planned"
    assert reasons(now) == dict.fromkeys(FIRST, (text,))
    assert now.provision(FIRST).failed == {}, "without waves nothing is touched"
    assert now.ironic.calls["dgx-01", "rebuild"] == 0
    ansible = Ansible()
    assert renewed(now, ansible) == {}
    assert [now.ironic.calls[host, "rebuild"] for host in FIRST] == [1, 1]
    assert {now.ironic.rows[host]["instance_info"]["image_os_hash_value"] for host in FIRST} == {
        "cd" * 32
    }
    assert sorted(now.late) == [(Act.REACH, host) for host in FIRST]
    assert ansible.configured == list(FIRST)
    assert reasons(now) == {}


def test_other_firmware_is_written_by_servicing_and_the_image_stays(hall: Hall) -> None:
    operations = "operations: {firmware: [{type: dgx-h100, versions: {bmc: r2}}]}\n"
    now = later(hall, MORE + FIRMWARE.replace("version: r1", "version: r2"), operations)
    assert set(reasons(now)) == set(FIRST)
    begin = now.ironic.set_provision_state

    def written(name: str, target: str, **more: Any) -> None:
        begin(name, target, **more)
        if target == "service":
            now.seen[name] = replace(now.seen[name], firmware={"bmc": "r2", "bios": "r1"})

    now.ironic.set_provision_state = written  # type: ignore[method-assign]
    assert renewed(now, Ansible()) == {}
    assert [now.ironic.calls[host, "service"] for host in FIRST] == [1, 1]
    assert now.ironic.calls["dgx-01", "rebuild"] == now.ironic.calls["dgx-01", "clean"] == 0
    assert reasons(now) == {}


def test_machine_that_replaces_another_is_known_by_its_serial_number_and_cleaned_first(
    tmp_path: Path,
) -> None:
    before = Hall(tmp_path, MORE + "      serials: {dgx-01: SN0001}\n")
    assert before.provision(FIRST).failed == {}
    now = later(before, MORE + "      serials: {dgx-01: SN0099}\n")
    assert reasons(now) == {"dgx-01": ("the machine SN0001 is replaced by SN0099",)}
    refused = renewed(now, Ansible(), ["dgx-01"])
    assert "not enrolled" in refused["dgx-01"] or "not inspected" in refused["dgx-01"]
    assert now.ironic.calls["dgx-01", "deleted"] == 0, "the old machine is still there"
    now.seen["dgx-01"] = replace(now.seen["dgx-01"], serial="SN0099")
    assert renewed(now, Ansible(), ["dgx-01"]) == {}
    targets = [step for host, step in now.ironic.steps if host == "dgx-01"]
    assert targets[-2:] == ["deleted", "active"]
    assert reasons(now) == {}


def test_host_that_fails_its_renewal_is_named_and_renewed_again(hall: Hall) -> None:
    now = later(hall, NEWER)
    now.ironic.failures = {("dgx-01", "rebuild"): 9, ("dgx-01", "active"): 9}
    failed = renewed(now, Ansible())
    assert list(failed) == ["dgx-01"]
    assert failed["dgx-01"].startswith("not imaged: ")
    assert reasons(now) == {"dgx-01": ("its renewal has not ended",)}
    now.ironic.failures = {}
    assert renewed(now, Ansible(), ["dgx-01"]) == {}
    assert reasons(now) == {}


def test_host_that_is_not_accepted_after_its_renewal_stays_open(hall: Hall) -> None:
    now = later(hall, NEWER)
    assert renewed(now, Ansible({"dgx-02": "7 of 8 GPUs"})) == {"dgx-02": "7 of 8 GPUs"}
    assert reasons(now) == {"dgx-02": ("its renewal has not ended",)}


@pytest.mark.parametrize("number", [1, 2])
@pytest.mark.parametrize("after", [False, True])
def test_renewal_that_is_killed_goes_on_and_writes_no_image_twice(
    hall: Hall, after: bool, number: int
) -> None:
    now = later(hall, NEWER)
    now.ironic.kill_at, now.ironic.after = now.ironic.number + number, after
    with pytest.raises(KilledError):
        renewed(now, Ansible())
    assert renewed(now, Ansible()) == {}
    assert [now.ironic.calls[host, "rebuild"] for host in FIRST] == [1, 1]


def test_until_a_step_that_a_host_lacks_ends_at_the_one_before(hall: Hall) -> None:
    outcome = hall.provision(HOSTS[2:3], until=ProvisioningStep.SECURED)
    assert list(outcome.records["dgx-03"].done)[-1] == "imaged"
    assert hall.late[-1][1] != "dgx-03"
