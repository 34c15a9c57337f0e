"""Actions on nodes of Slurm by its programs and by scripts on nodes; both are stand-ins here."""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from rackwright.nodelife.repair import slurm_actuator
from rackwright.nodelife.repair.access import CommandsHere, SlurmHere
from rackwright.nodelife.repair.actuator import ActionError
from rackwright.nodelife.repair.journal import ActionRecord
from rackwright.nodelife.repair.slurm_actuator import HealthCheckValidator, SlurmActuator
from rackwright.nodelife.slurm_nodes import Job, NodesSeen, NodeState, NodeUpdate


def action(kind: str, argument: str = "", token: str = "b1", number: int = 7) -> ActionRecord:
    return ActionRecord(number, "n1", 1, 0, kind, argument, token, "intent", 0.0, None, "")


@dataclass
class OneNode:
    """Slurm with one node."""

    state: NodeState = field(default_factory=lambda: NodeState("n1", "IDLE", None, "b1"))
    jobs: tuple[Job, ...] = ()
    commands: list[list[str]] = field(default_factory=list)

    def update(self, nodes: Collection[str], updates: Sequence[NodeUpdate], commands: Sequence[Sequence[str]] = ()) -> NodesSeen:  # fmt: skip
        self.commands += [list(command) for command in commands]
        return NodesSeen({"n1": self.state}, {"n1": self.state}, self.jobs)


def test_reboot_is_asked_for_once_and_is_over_with_another_boot() -> None:
    slurm = OneNode(NodeState("n1", "IDLE+DRAIN", "rackwright: repair x 1", "b1"))
    actuator = SlurmActuator(slurm, CommandsHere("false"))
    actuator.act(action("reboot"))
    assert slurm.commands == [["reboot", "reason=rackwright: repair x 1", "n1"]]
    slurm.state = NodeState("n1", "IDLE+DRAIN+REBOOT_ISSUED", "rackwright: repair x 1", "b1")
    actuator.act(action("reboot"))
    assert len(slurm.commands) == 1
    assert not actuator.progress(action("reboot")).done
    slurm.state = NodeState("n1", "IDLE+DRAIN", "rackwright: repair x 1", "b2")
    actuator.act(action("reboot"))
    assert len(slurm.commands) == 1
    assert actuator.progress(action("reboot")).passed


def test_jobs_of_a_node_are_queued_again_together() -> None:
    slurm = OneNode(jobs=(Job("12", "ann", "n[1-2]", "a"), Job("13", "bob", "n1", "b")))
    SlurmActuator(slurm, CommandsHere("false")).requeue("n1")
    assert slurm.commands == [["requeue", "12,13"]]
    assert SlurmActuator(slurm, CommandsHere("false")).look(["n1"])["n1"].jobs == 2


def test_drain_that_did_not_take_hold_is_an_error() -> None:
    actuator = SlurmActuator(OneNode(), CommandsHere("false"))
    with pytest.raises(ActionError, match="n1 is not drained: it is IDLE"):
        actuator.drain("n1", "rackwright: repair x 1", None)
    with pytest.raises(ActionError, match="no BMC of n1 is known"):
        actuator.act(action("power-off"))
    with pytest.raises(ActionError, match="no program does 'dance'"):
        actuator.act(action("dance"))


def test_script_on_a_node_runs_once_and_its_end_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    monkeypatch.setattr(slurm_actuator, "CLAIMS", str(tmp_path / "actions"))
    script = f"echo once >>{tmp_path}/ran; echo told; exit 3"
    monkeypatch.setattr(slurm_actuator, "SCRIPTS", {"diagnose": script})
    actuator = SlurmActuator(OneNode(), CommandsHere("env NODE={node}"))
    for _ in range(3):
        actuator.act(action("diagnose"))
    end = time.monotonic() + 300
    while not (done := actuator.progress(action("diagnose"))).done and time.monotonic() < end:
        time.sleep(0.05)
    assert (done.passed, done.text) == (False, "told")
    assert (tmp_path / "ran").read_text() == "once\n"
    lost = actuator.progress(action("diagnose", number=8))
    assert (lost.done, lost.passed, lost.text) == (True, False, "the node was booted meanwhile")


def test_a_journal_that_was_begun_again_claims_its_own_actions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its numbers are those of the journal before, whose claims are on the node until it boots."""
    monkeypatch.setattr(slurm_actuator, "CLAIMS", str(tmp_path / "actions"))
    monkeypatch.setattr(slurm_actuator, "SCRIPTS", {"diagnose": f"echo run >>{tmp_path}/ran"})
    actuator = SlurmActuator(OneNode(), CommandsHere("env NODE={node}"))
    first = action("diagnose")
    for one in (first, first, replace(first, begun=1.0)):
        actuator.act(one)
        end = time.monotonic() + 300
        while not actuator.progress(one).done and time.monotonic() < end:
            time.sleep(0.05)
    assert (tmp_path / "ran").read_text() == "run\nrun\n"


def test_device_of_a_log_line_is_no_shell(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """It comes from the kernel's log, where a user may write."""
    monkeypatch.setattr(slurm_actuator, "CLAIMS", str(tmp_path / "actions"))
    evil = f"0000:5d:00; touch {tmp_path}/evil"
    actuator = SlurmActuator(OneNode(), CommandsHere("env"))
    actuator.act(action("reset-gpu", evil))
    assert "evil" not in (tmp_path / "actions/7-0/script").read_text()


def test_reset_of_a_gpu_stops_services_of_the_driver_and_takes_all_gpus_of_the_board(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The services hold every GPU, so that no reset had ever worked under them."""
    told = tmp_path / "told"
    (tmp_path / "bin").mkdir()
    for name, line in (("nvidia-smi", ""), ("systemctl", "case $* in *--quiet*persistenced|*--quiet*fabric*) exit 0;; *--quiet*) exit 3;; esac")):  # fmt: skip
        (tmp_path / "bin" / name).write_text(f'#!/bin/sh\necho "{name} $*" >>{told}\n{line}\n')
        (tmp_path / "bin" / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:{os.environ['PATH']}")
    monkeypatch.setattr(slurm_actuator, "CLAIMS", str(tmp_path / "actions"))
    actuator = SlurmActuator(OneNode(), CommandsHere("env"))
    for number, kind in ((9, "reset-gpu"), (10, "reset-fabric")):
        told.write_text("")
        asked = action(kind, "0000:5d:00.0", number=number)
        actuator.act(asked)
        end = time.monotonic() + 300
        while not (done := actuator.progress(asked)).done and time.monotonic() < end:
            time.sleep(0.05)
        assert done.passed, done
        lines = [line for line in told.read_text().splitlines() if "is-active" not in line]
        fabric = ["nvidia-fabricmanager"] if kind == "reset-fabric" else []
        assert lines == [
            "systemctl stop nvidia-persistenced", *(f"systemctl stop {name}" for name in fabric),
            "nvidia-smi --gpu-reset",
            *(f"systemctl start {name}" for name in fabric), "systemctl start nvidia-persistenced",
        ]  # fmt: skip


def test_health_check_that_cannot_judge_is_no_pass(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slurm_actuator, "REPAIRED", str(tmp_path / "repaired"))
    program = tmp_path / "check"
    results = {}
    for code in (0, 1, 2, 127):
        program.write_text(f"#!/bin/sh\necho said; exit {code}\n")
        program.chmod(0o755)
        found = HealthCheckValidator(CommandsHere("env"), str(program)).validate("n1", "k")
        results[code] = (found.done, found.passed)
    assert results == {0: (True, True), 1: (True, False), 2: (False, None), 127: (False, None)}
    assert int((tmp_path / "repaired").read_text()) > 0


def test_slurm_by_its_programs_updates_what_fits_alone(tmp_path: Path) -> None:
    lines = (
        "NodeName=n1 Arch=x State=IDLE BootTime=2026-11-27T07:00:00",
        "NodeName=n2 Arch=x State=IDLE+DRAIN BootTime=None Reason=new cable [root@2026-11-27T07:00:00]",
    )
    (tmp_path / "nodes").write_text("\n".join(lines) + "\n")
    told = tmp_path / "told"
    script = f'#!/bin/sh\necho "$@" >>{told}\ncase "$*" in *show*) cat {tmp_path}/nodes;; *squeue*) echo "5|ann|n1|train";; esac\n'
    (tmp_path / "run").write_text(script)
    (tmp_path / "run").chmod(0o755)
    slurm = SlurmHere((str(tmp_path / "run"),))
    seen = slurm.update(["n1", "n2"], [NodeUpdate(("n1", "n2"), r"State=IDLE ", ("State=DRAIN", "Reason=x"))])  # fmt: skip
    assert "scontrol update NodeName=n1 State=DRAIN Reason=x" in told.read_text().splitlines()
    assert seen.after["n1"].boot == "2026-11-27T07:00:00"
    assert (seen.after["n2"].boot, seen.after["n2"].reason) == ("", "new cable")
    assert [job.number for job in seen.jobs] == ["5"]


def test_own_command_validates_once_for_each_key(tmp_path: Path) -> None:
    from rackwright.nodelife.repair.watching import CommandValidator

    ran = tmp_path / "ran"
    made = CommandValidator(
        ("sh", "-c", f"echo $0 >>{ran}; exit 5", "{node}"), tmp_path / "results"
    )
    end = time.monotonic() + 300
    while not (found := made.validate("n1", "n1-1-0")).done and time.monotonic() < end:
        time.sleep(0.05)
    assert (found.passed, ran.read_text()) == (False, "n1\n")
    assert made.validate("n1", "n1-1-0").passed is False


def test_jobs_of_hidden_partitions_count(tmp_path: Path) -> None:
    """Without --all squeue hides them from operators: the node of such a job looked idle, and was rebooted."""
    line = "NodeName=n1 Arch=x86_64 State=ALLOCATED BootTime=2026-11-28T01:00:00"
    script = f'#!/bin/sh\ncase "$*" in *show*) echo "{line}";; *squeue*--all*) echo "5|ann|n1|train";; esac\n'
    (tmp_path / "run").write_text(script)
    (tmp_path / "run").chmod(0o755)
    slurm = SlurmHere((str(tmp_path / "run"),))
    assert [job.number for job in slurm.update(["n1"], ()).jobs] == ["5"]
