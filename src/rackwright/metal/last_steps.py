"""Last steps of installed hosts: reach them by SSH, attest, configure and accept them."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from rackwright.errors import ExternalToolError, RackwrightError
from rackwright.harmless import visible
from rackwright.metal.lifecycle import Act, Ended
from rackwright.metal.nodes import HostPlan

REACHED_WITHIN_S = 900.0
"""Time within which an installed host must answer, in s: firmware of a large server takes minutes to start."""
_TOGETHER = 32
_PAUSE_S, _ANSWER_S = 10.0, 60.0
_ASKED = "hostname -s; cat /sys/class/dmi/id/product_serial 2>/dev/null || sudo -n cat /sys/class/dmi/id/product_serial"
_NEW = ("-o", "StrictHostKeyChecking=accept-new")
_AS_ROOT = 'if [ "$(id -u)" = 0 ]; then exec sh; else exec sudo -n sh; fi'
_UNSIGNED = "; secure boot is on: check on its console if the firmware rejected the image"
_LONGEST = 300


@dataclass(frozen=True)
class LastSteps:
    """Runner of the steps that need an operating system.

    Attributes:
        user: user that logs in to hosts.
        blueprint: path of the blueprint.
        layers: paths of additional layers.
        gate: arguments of ``configure`` for the policy check.
        reach: arguments of ``configure`` and ``verify`` for connections to hosts.
        within_s: time within which a host must answer, in s.
        command: command line of Rackwright.
    """

    user: str
    blueprint: Path
    layers: Sequence[Path] = ()
    gate: Sequence[str] = ()
    reach: Sequence[str] = ()
    within_s: float = REACHED_WITHIN_S
    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    command: tuple[str, ...] = field(default=(sys.executable, "-P", "-m", "rackwright"))

    def __call__(self, act: Act, plans: Sequence[HostPlan]) -> Mapping[str, Ended]:
        """Run an act on hosts and return its end for each."""
        if act in {Act.REACH, Act.ATTEST}:
            ask = self._reach if act is Act.REACH else self._attest
            with ThreadPoolExecutor(_TOGETHER) as pool:
                return {
                    plan.name: end for plan, end in zip(plans, pool.map(ask, plans), strict=True)
                }
        verb = {Act.CONFIGURE: "configure", Act.ACCEPT: "verify"}[act]
        return self._run(verb, plans)

    def _run(self, verb: str, plans: Sequence[HostPlan]) -> Mapping[str, Ended]:
        """Run ``configure`` or ``verify`` once for all hosts, and return the result of each."""
        words = [*self.command, verb, str(self.blueprint), "--json"]
        words += ["--limit", ",".join(plan.name for plan in plans)]
        for layer in self.layers:
            words += ["--layer", str(layer)]
        words += self.gate if verb == "configure" else ()
        with TemporaryDirectory(prefix="rackwright-") as folder:
            inventory = Path(folder, "provisioned.json")
            inventory.write_text(json.dumps(connections(plans, self.user)), encoding="utf-8")
            # Before a team's own inventories, whose variables win.
            words += ["--inventory", str(inventory), *self.reach]
            done = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=False)
        try:
            told: Mapping[str, Any] = json.loads(done.stdout)["hosts"]
        except (ValueError, KeyError, TypeError):
            told = {}
        ends = {}
        for plan in plans:
            reason = None if done.returncode == 0 else _reason(told.get(plan.name))
            if reason == "":
                reason = f"'{verb}' ended with exit code {done.returncode}"
            ends[plan.name] = Ended(reason)
        return ends

    def _reach(self, plan: HostPlan) -> Ended:
        """Connect to a host and compare its identity; the result has a reason unless it is the planned host."""
        if plan.address is None:
            return Ended(
                "the blueprint has no address for it: add one in a network of kind 'management'"
            )
        names = [plan.address, plan.name, *([f"{plan.name}.{plan.domain}"] if plan.domain else [])]
        # The host was just installed: known keys under its names belong to the previous installation.
        for name in names:
            _output(["ssh-keygen", "-R", name], "")
        begun = self.now()
        while True:
            done = self._ask(plan, _ASKED, *_NEW)
            if done.stdout.strip():
                problem = identity_problem(plan, done.stdout.split("\n"))
                if problem is None:  # 'configure' and users connect to each of its names
                    for name in names[1:]:
                        self._ask(plan, "true", *_NEW, "-o", f"HostKeyAlias={name}")
                return Ended(problem)
            if self.now() - begun > self.within_s:
                return Ended(_said(done) + (_UNSIGNED if plan.group.secure_boot else ""))
            self.sleep(_PAUSE_S)

    def _attest(self, plan: HostPlan) -> Ended:
        """Attest a host; the result has a reason, or the fingerprint of its TPM if it is trusted."""
        from rackwright.metal.attestation import attest

        assert plan.group.attestation is not None  # noqa: S101 - the step is left out otherwise

        def ask(script: str) -> str:
            done = self._ask(plan, _AS_ROOT, data=script)
            if done.returncode != 0:
                raise ExternalToolError(_said(done))
            return done.stdout

        try:
            reason, fingerprint = attest(ask, plan.group.attestation)
        except RackwrightError as error:
            return Ended(error.summary)
        return Ended(reason, f"TPM {fingerprint}" if reason is None else "")

    def _ask(
        self, plan: HostPlan, command: str, *options: str, data: str = ""
    ) -> subprocess.CompletedProcess[str]:
        """Run a command on a host."""
        words = ["ssh", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10", *options]
        return _output([*words, "--", f"{self.user}@{plan.address}", command], data)


def _output(words: Sequence[str], data: str) -> subprocess.CompletedProcess[str]:
    """Run a program; if it cannot be run or does not end in time, return exit code 255."""
    try:
        return subprocess.run(
            words, input=data, capture_output=True, text=True, timeout=_ANSWER_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return subprocess.CompletedProcess(words, 255, "", f"{words[0]}: {type(error).__name__}")


def _said(done: subprocess.CompletedProcess[str]) -> str:
    said = visible(done.stderr.strip().replace("\n", " "))[-_LONGEST:]
    return said or f"ssh ended with {done.returncode}"


def connections(plans: Sequence[HostPlan], user: str) -> Mapping[str, Any]:
    """Return an Ansible inventory with address and user of the hosts."""
    hosts = {
        plan.name: {"ansible_host": plan.address, "ansible_user": user}
        for plan in plans
        if plan.address is not None
    }
    return {"all": {"hosts": hosts}}


def _reason(told: Any) -> str | None:
    """Return the reason of a failed host in a result of ``configure`` or ``verify``; None if it passed, empty without a result."""
    if not isinstance(told, Mapping):
        return ""
    if "items" in told:
        bad = [one for one in told["items"] if one.get("outcome") not in {"pass", "not_applicable"}]
        reasons = "; ".join(str(one.get("reason") or one.get("item")) for one in bad)
    else:
        reasons = str(told.get("failure") or "")
        bad = [reasons] if reasons else []
    return visible(reasons.replace("\n", " "))[:_LONGEST] if bad else None


def identity_problem(plan: HostPlan, lines: Sequence[str]) -> str | None:
    """Return the reason why a host that answered is not the planned one; None if it is.

    Args:
        plan: plan of the host.
        lines: name of the host and serial number of its machine, as it reported them.
    """
    name, serial = (visible(line.strip()) for line in (*lines, "", "")[:2])
    if name != plan.name:
        return f"'{name}' answers at {plan.address}"
    wanted = plan.machine.serial
    if wanted is not None and serial != wanted:
        return f"the machine at {plan.address} has the serial number '{serial or '?'}', but {wanted} is planned"
    return None
