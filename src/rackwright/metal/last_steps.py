"""Last steps of installed hosts: reached by ssh, attested, configured, accepted."""

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
"""Seconds in which an installed host has to be reached: firmware of a large server takes minutes to start."""
_TOGETHER = 32
_PAUSE_S, _ANSWER_S = 10.0, 60.0
_ASKED = "hostname -s; cat /sys/class/dmi/id/product_serial 2>/dev/null || sudo -n cat /sys/class/dmi/id/product_serial"
_NEW = ("-o", "StrictHostKeyChecking=accept-new")
_AS_ROOT = 'if [ "$(id -u)" = 0 ]; then exec sh; else exec sudo -n sh; fi'
_UNSIGNED = "; its firmware starts signed software alone: its console says if it refused what is on its disk"
_LONGEST = 300


@dataclass(frozen=True)
class LastSteps:
    """Steps that are about operating systems.

    Attributes:
        user: that logs in to hosts.
        blueprint: file of the blueprint.
        layers: files over it.
        gate: arguments of ``configure`` that say what judges.
        reach: arguments of ``configure`` and ``verify`` that say how hosts are reached.
        within_s: seconds in which a host has to be reached.
        command: this program.
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
        """Return, for each host, how the act ended."""
        if act in {Act.REACH, Act.ATTEST}:
            ask = self._reach if act is Act.REACH else self._attest
            with ThreadPoolExecutor(_TOGETHER) as pool:
                return {
                    plan.name: end for plan, end in zip(plans, pool.map(ask, plans), strict=True)
                }
        verb = {Act.CONFIGURE: "configure", Act.ACCEPT: "verify"}[act]
        return self._run(verb, plans)

    def _run(self, verb: str, plans: Sequence[HostPlan]) -> Mapping[str, Ended]:
        """Run a command over hosts, once for all of them, and return what it says of each."""
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
        """Return why a host is not reached, or is another one; no reason where it is the one that is meant."""
        if plan.address is None:
            return Ended(
                "the blueprint has no address of it: give it one in a network of kind 'management'"
            )
        names = [plan.address, plan.name, *([f"{plan.name}.{plan.domain}"] if plan.domain else [])]
        # It was installed just now: a key that is known under its names is of what was there before.
        for name in names:
            _output(["ssh-keygen", "-R", name], "")
        begun = self.now()
        while True:
            done = self._ask(plan, _ASKED, *_NEW)
            if done.stdout.strip():
                problem = identity_problem(plan, done.stdout.split("\n"))
                if problem is None:  # 'configure' and people find it by each of its names
                    for name in names[1:]:
                        self._ask(plan, "true", *_NEW, "-o", f"HostKeyAlias={name}")
                return Ended(problem)
            if self.now() - begun > self.within_s:
                return Ended(_said(done) + (_UNSIGNED if plan.group.secure_boot else ""))
            self.sleep(_PAUSE_S)

    def _attest(self, plan: HostPlan) -> Ended:
        """Return why a host is not trusted; no reason, and the fingerprint of its TPM, where it is."""
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
    """Run a program; one that cannot be run or does not end has failed."""
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
    """Return the inventory of hosts that were reached: by their addresses, as their user."""
    hosts = {
        plan.name: {"ansible_host": plan.address, "ansible_user": user}
        for plan in plans
        if plan.address is not None
    }
    return {"all": {"hosts": hosts}}


def _reason(told: Any) -> str | None:
    """Return why a host failed by the result of ``configure`` or ``verify``; None where it did not, empty without a result."""
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
    """Return why a host that answered is not the one that is meant; None where it is.

    Args:
        plan: of the host.
        lines: its name, and the serial number of its machine.
    """
    name, serial = (visible(line.strip()) for line in (*lines, "", "")[:2])
    if name != plan.name:
        return f"'{name}' answers at {plan.address}"
    wanted = plan.machine.serial
    if wanted is not None and serial != wanted:
        return f"the machine at {plan.address} has the serial number '{serial or '?'}', and {wanted} is meant"
    return None
