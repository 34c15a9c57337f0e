"""Actions on the nodes of a Slurm cluster: drains, requeues and reboots by Slurm, power by BMCs, scripts on nodes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cache

from rackwright.model.names import expand_hostlist
from rackwright.nodelife.repair.access import NodeCommands, SlurmAccess
from rackwright.nodelife.repair.actuator import RUNNING, ActionError, NodeView, Progress
from rackwright.nodelife.repair.bmc import Bmc
from rackwright.nodelife.repair.journal import ActionRecord
from rackwright.nodelife.slurm_nodes import (
    NodeState,
    NodeUpdate,
    drain,
    forget_comment,
    give_back,
    reason,
)
from rackwright.resources import bundled

CLAIMS = "/run/rackwright/actions"
"""Folder on a node with the actions that were begun on it, by number and time; it is gone after a boot."""
REPAIRED = "/run/rackwright-repaired"
"""File on a node whose time ends what was seen before a repair: the health check reads the log from there."""

_DEVICES = "[0-9a-zA-Z:.]+"
_RESET = """python3 - {options} <<'END_OF_PROGRAM'
{program}
END_OF_PROGRAM
"""
SCRIPTS: Mapping[str, str] = {
    "reset-gpu": """
if command -v nvidia-smi >/dev/null; then
{reset}
elif command -v amd-smi >/dev/null; then amd-smi reset --gpureset --gpu {device_amd}
else echo 'no program resets accelerators here'; exit 127; fi""",
    "reset-fabric": """
{reset}""",
    "restart-service": "systemctl restart {argument}",
    "diagnose": """
if command -v dcgmi >/dev/null; then dcgmi diag --run 3
else echo 'no diagnosis is installed'; exit 127; fi""",
    "evidence": """
mkdir -p /var/lib/rackwright/evidence/{id}; cd /var/lib/rackwright/evidence/{id} || exit 1
journalctl --dmesg --boot --no-pager >kernel.txt 2>&1
command -v nvidia-smi >/dev/null && nvidia-smi --query --xml-format >nvidia-smi.xml 2>&1
case ' {argument} ' in *' nvidia-bug-report '*) command -v nvidia-bug-report.sh >/dev/null && timeout 300 nvidia-bug-report.sh;; esac
exit 0""",
}
"""Shell for each action on a node; ``{argument}`` is a device or a service."""


@dataclass
class SlurmActuator:
    """Acts on the nodes of one Slurm cluster.

    Attributes:
        hosts: name in the inventory of each node, where it differs.
        bmcs: management controllers by node.
    """

    slurm: SlurmAccess
    commands: NodeCommands
    bmcs: Mapping[str, Bmc] = field(default_factory=dict)
    hosts: Mapping[str, str] = field(default_factory=dict)

    def look(self, nodes: Collection[str]) -> Mapping[str, NodeView]:
        """Return the nodes as Slurm has them."""
        seen = self.slurm.update(nodes, ())
        jobs = Counter(node for job in seen.jobs for node in expand_hostlist(job.nodes))
        return {name: _view(state, jobs[name]) for name, state in seen.after.items()}

    def drain(self, node: str, reason: str, former: str | None) -> None:
        """Drain a node that is in service, or out of it with the reason ``former``.

        Raises:
            ActionError: it has another reason.
        """
        updates = [drain([node], reason)]
        if former is not None:
            pattern = rf" Reason={re.escape(former)} \["
            updates.append(NodeUpdate((node,), pattern, ("State=DRAIN", f"Reason={reason}")))
        after = self.slurm.update([node], updates).after.get(node)
        if after is None or after.reason != reason:
            told = "Slurm does not know it" if after is None else f"it is {after.state}: {after.reason or 'no reason'}"  # fmt: skip
            raise ActionError(f"{node} is not drained: {told}")

    def resume(self, node: str, reasons: Collection[str]) -> None:
        """Give a node back that is drained with one of the reasons.

        Raises:
            ActionError: it takes no jobs.
        """
        updates = [forget_comment([node]), give_back([node], reasons)]
        after = self.slurm.update([node], updates).after.get(node)
        if after is None or (after.reason in reasons and not after.in_service):
            raise ActionError(
                f"{node} is not given back: it is {after.state if after else 'unknown'}"
            )

    def requeue(self, node: str) -> None:
        """Queue the jobs on a node again; its other nodes are free then."""
        jobs = [job.number for job in self.slurm.update([node], ()).jobs if job.number]
        if jobs:
            self.slurm.update([node], (), [["requeue", ",".join(jobs)]])

    def act(self, action: ActionRecord) -> None:
        """Begin an action, unless it was begun already.

        Raises:
            ActionError: it cannot be begun.
        """
        match action.kind:
            case "power-off":
                if self._bmc(action).power() != "Off":
                    self._bmc(action).reset("ForceOff")
            case "power-on":
                if self._bmc(action).power() != "On":
                    self._bmc(action).reset("On")
            case "reset-bmc":
                self._bmc(action).reset_controller()
            case "reboot":
                self._reboot(action)
            case _:
                self._begin(action)

    def progress(self, action: ActionRecord) -> Progress:
        """Return how far an action is.

        Raises:
            ActionError: its end cannot be told.
        """
        match action.kind:
            case "power-off":
                power = self._bmc(action).power()
                return Progress(done=True, passed=True) if power == "Off" else Progress(done=False, text=f"the BMC says {power}")  # fmt: skip
            case "power-on" | "reboot":
                return self._booted(action)
            case "reset-bmc":
                return Progress(done=True, passed=True)
            case _:
                return self._ended(action)

    def _bmc(self, action: ActionRecord) -> Bmc:
        found = self.bmcs.get(action.node)
        if found is None:
            raise ActionError(
                f"no BMC of {action.node} is known", hint="name it in the file of --bmcs"
            )
        return found

    def _reboot(self, action: ActionRecord) -> None:
        seen = self.slurm.update([action.node], ())
        state = seen.after.get(action.node)
        if state is None:
            raise ActionError(f"Slurm does not know {action.node}")
        if "REBOOT" in state.state or state.boot != action.token:
            return  # it was begun, or it is over
        why = state.reason or reason("repair")
        self.slurm.update([action.node], (), [["reboot", f"reason={why}", action.node]])

    def _booted(self, action: ActionRecord) -> Progress:
        """Return that it is done once Slurm has another boot of the node, whatever its BMC says.

        Raises:
            ActionError: Slurm does not know the node.
        """
        state = self.slurm.update([action.node], ()).after.get(action.node)
        if state is None:
            raise ActionError(f"Slurm does not know {action.node}")
        if state.boot != action.token and "REBOOT" not in state.state and "*" not in state.state and "NOT_RESPONDING" not in state.state:  # fmt: skip
            return Progress(done=True, passed=True, text=f"booted {state.boot}")
        return Progress(
            done=False, text=f"Slurm still has the boot of {state.boot or 'an unknown time'}"
        )

    def _begin(self, action: ActionRecord) -> None:
        """Begin a script on a node, which runs by itself; its number is claimed first.

        Raises:
            ActionError: no program does the action, or it cannot be begun.
        """
        script = SCRIPTS.get(action.kind)
        if script is None:
            raise ActionError(f"no program does '{action.kind}'")
        text = script.strip().format(
            argument=action.argument,
            id=action.id,
            reset=_RESET.format(
                options="--fabric" if action.kind == "reset-fabric" else "",
                program=_reset_program(),
            ),
            device_amd=action.argument if re.fullmatch(_DEVICES, action.argument) else "all",
        )
        claim = _claim(action)
        code, told = self._run(
            action.node,
            f"mkdir -p {CLAIMS} && chmod 700 {CLAIMS} || exit 1\n"
            f"mkdir {claim} 2>/dev/null || exit 0\n"
            f"cat >{claim}/script <<'END_OF_SCRIPT'\n{text}\nEND_OF_SCRIPT\n"
            f"setsid sh -c 'sh {claim}/script >{claim}/output 2>&1 </dev/null; echo $? >{claim}/code.new;"
            f" mv {claim}/code.new {claim}/code' >/dev/null 2>&1 </dev/null &\n",
        )
        if code != 0:
            raise ActionError(
                f"{action.kind} on {action.node}: {' '.join(told.split())[-200:] or code}"
            )

    def _ended(self, action: ActionRecord) -> Progress:
        claim = _claim(action)
        script = f"if test -e {claim}/code; then cat {claim}/code; tail -c 300 {claim}/output; elif test -d {claim}; then echo runs; else echo lost; fi"  # fmt: skip
        code, told = self._run(action.node, script)
        first, _, rest = told.partition("\n")
        text = " ".join(rest.split())[-200:]
        if code != 0 or first == "runs":
            return RUNNING
        if first == "lost":
            return Progress(done=True, passed=False, text="the node was booted meanwhile")
        return Progress(done=True, passed=first.strip() == "0", text=text or f"ended with {first.strip()}")  # fmt: skip

    def _run(self, node: str, script: str) -> tuple[int, str]:
        return self.commands.run(self.hosts.get(node, node), script)


@cache
def _reset_program() -> str:
    """Return the program that resets all GPUs of a board, and none that a process holds."""
    return (bundled("roles") / "acceptance/files/gpu_reset.py").read_text("utf-8")


def _claim(action: ActionRecord) -> str:
    """Return the folder that an action claims on its node: a journal that was begun again counts from 1 once more."""
    return f"{CLAIMS}/{action.id}-{action.begun * 1000:.0f}"


def _view(state: NodeState, jobs: int) -> NodeView:
    answers = "*" not in state.state and "NOT_RESPONDING" not in state.state
    return NodeView(state.name, state.in_service, state.reason, jobs, state.boot, answers)


@dataclass
class HealthCheckValidator:
    """Validation by the health check of a node, in full, and never by a verdict that it has kept.

    Attributes:
        program: path of the health check on the node.
    """

    commands: NodeCommands
    program: str
    hosts: Mapping[str, str] = field(default_factory=dict)

    @property
    def measures(self) -> bool:
        """False: it reads what the node reports."""
        return False

    def validate(self, node: str, key: str) -> Progress:
        """Run the health check; what it cannot judge is not passed."""
        script = f"date +%s >{REPAIRED}; exec {self.program} --print"
        code, told = self.commands.run(self.hosts.get(node, node), script)
        text = " ".join(told.split())[:200]
        if code == 0:
            return Progress(done=True, passed=True, text="health check passed")
        if code == 1:
            return Progress(done=True, passed=False, text=text)
        return Progress(done=False, text=f"the health check cannot judge: {text or code}")
