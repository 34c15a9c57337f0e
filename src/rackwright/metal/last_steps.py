"""Last steps of installed hosts: reached by ssh, configured, accepted."""

from __future__ import annotations

import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from rackwright.harmless import visible
from rackwright.metal.lifecycle import Act
from rackwright.metal.nodes import HostPlan

REACHED_WITHIN_S = 900.0
"""Seconds in which an installed host has to be reached: firmware of a large server takes minutes to start."""
_TOGETHER = 32
_PAUSE_S = 10.0
_ASKED = "hostname -s; cat /sys/class/dmi/id/product_serial 2>/dev/null || sudo -n cat /sys/class/dmi/id/product_serial"
_LONGEST = 300


@dataclass(frozen=True)
class LastSteps:
    """Steps that are about operating systems.

    Attributes:
        user: that logs in to hosts.
        blueprint: file of the blueprint.
        layers: files over it.
        gate: arguments of ``configure`` that say what judges.
        within_s: seconds in which a host has to be reached.
        command: this program.
    """

    user: str
    blueprint: Path
    layers: Sequence[Path] = ()
    gate: Sequence[str] = ()
    within_s: float = REACHED_WITHIN_S
    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    command: tuple[str, ...] = field(default=(sys.executable, "-P", "-m", "rackwright"))

    def __call__(self, act: Act, plans: Sequence[HostPlan]) -> Mapping[str, str | None]:
        """Return, for each host, why the act failed; None where it did not."""
        if act is Act.REACH:
            with ThreadPoolExecutor(_TOGETHER) as pool:
                answers = pool.map(self._reach, plans)
                return {plan.name: why for plan, why in zip(plans, answers, strict=True)}
        verb = {Act.CONFIGURE: "configure", Act.ACCEPT: "verify"}[act]
        reason = self._run(verb, [plan.name for plan in plans])
        if reason is None or len(plans) == 1:
            return dict.fromkeys((plan.name for plan in plans), reason)
        # Some failed: each alone tells which.
        return {plan.name: self._run(verb, [plan.name]) for plan in plans}

    def _run(self, verb: str, hosts: Sequence[str]) -> str | None:
        words = [*self.command, verb, str(self.blueprint), "--limit", ",".join(hosts)]
        for layer in self.layers:
            words += ["--layer", str(layer)]
        if verb == "configure":
            words += self.gate
        done = subprocess.run(words, stdout=subprocess.PIPE, stderr=None, text=True, check=False)
        if done.returncode == 0:
            return None
        return f"'{verb}' ended with exit code {done.returncode}"

    def _reach(self, plan: HostPlan) -> str | None:
        """Return why a host is not reached, or is another one; None where it is the one that is meant."""
        if plan.address is None:
            return (
                "the blueprint has no address of it: give it one in a network of kind 'management'"
            )
        begun = self.now()
        while True:
            answer = self._ask(plan.address)
            if isinstance(answer, list):
                return identity_problem(plan, answer)
            if self.now() - begun > self.within_s:
                return answer
            self.sleep(_PAUSE_S)

    def _ask(self, address: str) -> list[str] | str:
        """Return the lines that a host answers, or why it does not."""
        options = [
            "-o",
            "BatchMode=yes",
            "-o",
            "ConnectTimeout=10",
            "-o",
            "StrictHostKeyChecking=accept-new",
        ]
        words = ["ssh", *options, "--", f"{self.user}@{address}", _ASKED]
        try:
            done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            return f"{shlex.join(words[:1])}: {type(error).__name__}"
        if done.stdout.strip():
            return done.stdout.split("\n")
        said = visible(done.stderr.strip().replace("\n", " "))[-_LONGEST:]
        return said or f"ssh ended with {done.returncode}"


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
