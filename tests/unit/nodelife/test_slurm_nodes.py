"""What Slurm 22.05 printed in a lab, and what is told it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from rackwright.nodelife.slurm_nodes import (
    LIST_JOBS,
    LONGEST_REASON,
    READ,
    READ_AGAIN,
    Job,
    NodesSeen,
    NodeState,
    NodeUpdate,
    describe_jobs,
    drain,
    give_back,
    read_jobs,
    read_nodes,
    reason,
    rename_reason,
)

LINE = (
    "NodeName={name} Arch=x86_64 CoresPerSocket=56  CPUAlloc=2 CPUEfctv=224 CPUTot=224 "
    "CPULoad=1.95 AvailableFeatures=(null) ActiveFeatures=(null) Gres=gpu:h100:8 NodeAddr={name} "
    "NodeHostName={name} Version=22.05.8 OS=Linux 6.18.44 #1 SMP PREEMPT_DYNAMIC @0  "
    "RealMemory=1992294 AllocMem=1992294 FreeMem=19088 Sockets=2 Boards=1 State={state} "
    "ThreadsPerCore=2 TmpDisk=0 Weight=1 Owner=N/A MCS_label=N/A Partitions=gpu  BootTime=None "
    "SlurmdStartTime=2026-11-21T11:30:51 LastBusyTime=2026-11-21T11:30:45 "
    "CfgTRES=cpu=224,mem=1992294M,billing=224,gres/gpu=8,gres/gpu:h100=8 "
    "AllocTRES=cpu=2,mem=1992294M CapWatts=n/a CurrentWatts=0 AveWatts=0 ExtSensorsJoules=n/s "
    "ExtSensorsWatts=0 ExtSensorsTemp=n/s{reason}"
)
"""As ``scontrol --oneliner show node`` prints a node."""


def a_line(name: str, state: str, why: str | None = None) -> str:
    told = "" if why is None else f" Reason={why} [root@2026-11-21T11:32:14]"
    return LINE.format(name=name, state=state, reason=told)


def fits(update: NodeUpdate, line: str) -> bool:
    """As the playbook decides."""
    return re.search(update.pattern, line) is not None


def test_nodes_are_read() -> None:
    text = "\n".join(
        [
            a_line("gpu-1", "MIXED+DRAIN", "rackwright: change x, wave 1 of 3"),
            a_line("gpu-2", "DOWN*+DRAIN", "bad [x] cable"),
            a_line("gpu-3", "IDLE"),
            "Node gpu-9 not found",
        ]
    )
    assert read_nodes(text) == {
        "gpu-1": NodeState("gpu-1", "MIXED+DRAIN", "rackwright: change x, wave 1 of 3"),
        "gpu-2": NodeState("gpu-2", "DOWN*+DRAIN", "bad [x] cable"),
        "gpu-3": NodeState("gpu-3", "IDLE"),
    }


@pytest.mark.parametrize(
    ("state", "in_service", "takes_jobs"),
    [
        ("IDLE", True, True),
        ("MIXED", True, True),
        ("ALLOCATED+COMPLETING", True, True),
        ("IDLE+MAINTENANCE+RESERVED", True, True),
        ("MIXED+PLANNED", True, True),
        ("UNKNOWN", True, False),
        ("IDLE*", True, False),
        ("MIXED+NOT_RESPONDING", True, False),
        ("IDLE+DRAIN", False, False),
        ("UNKNOWN+DRAIN", False, False),
        ("DOWN", False, False),
        ("DOWN*", False, False),
        ("IDLE+FAIL", False, False),
        ("IDLE+INVALID_REG", False, False),
        ("IDLE+CLOUD+POWERED_DOWN", False, False),
        ("IDLE+REBOOT_REQUESTED", False, False),
        ("FUTURE", False, False),
    ],
)
def test_states(state: str, in_service: bool, takes_jobs: bool) -> None:
    node = NodeState("gpu-1", state)
    assert (node.in_service, node.takes_jobs) == (in_service, takes_jobs)
    assert fits(drain(["gpu-1"], "x"), a_line("gpu-1", state)) == in_service


def test_a_reason_that_looks_like_a_state_keeps_no_node_in_service() -> None:
    line = a_line("gpu-1", "IDLE", "was State=DRAIN")
    assert fits(drain(["gpu-1"], "x"), line) is False, "rather too careful"


def test_only_what_we_have_drained_is_given_back() -> None:
    ours = reason("change 1a2b (fast), wave 1 of 3")
    back, mark = give_back(["gpu-1"], [ours, "other"]), rename_reason(["gpu-1"], [ours], "new")
    assert fits(back, a_line("gpu-1", "IDLE+DRAIN", ours))
    assert fits(mark, a_line("gpu-1", "IDLE+DRAIN", ours))
    assert fits(back, a_line("gpu-1", "DOWN*+DRAIN", ours))
    assert not fits(back, a_line("gpu-1", "IDLE+DRAIN", f"{ours} bis"))
    assert not fits(back, a_line("gpu-1", "IDLE+DRAIN", "bad cable"))
    assert not fits(back, a_line("gpu-1", "IDLE"))
    assert not fits(back, a_line("gpu-1", "DOWN", ours))
    assert back.arguments == ("State=RESUME",)
    assert mark.arguments == ("State=DRAIN", "Reason=new")


def test_jobs_are_read_and_told() -> None:
    jobs = read_jobs("1|root|gpu-1|wrap\n2_1|amy|gpu-2|a|b c\n7|bob|gpu-[1-2]|\n\n")
    assert jobs == (
        Job("1", "root", "gpu-1", "wrap"),
        Job("2_1", "amy", "gpu-2", "a|b c"),
        Job("7", "bob", "gpu-[1-2]", ""),
    )
    told = describe_jobs(jobs)
    assert told == "1 job still running on gpu-1, 1 on gpu-2, 1 on gpu-[1-2]"
    assert describe_jobs([jobs[0], jobs[0]]) == "2 jobs still running on gpu-1"
    assert describe_jobs([]) == "no job is running"


def test_a_reason_is_one_plain_line() -> None:
    told = reason("driver 570\n {{ lookup('pipe', 'id') }} [x] \"y\" ≥ a=b")
    assert told == "rackwright: driver 570 lookup( pipe , id ) x y a b"
    assert len(reason("x" * 999)) == LONGEST_REASON


def test_the_playbook_has_the_tasks_that_are_read() -> None:
    folder = Path(__file__).parents[3] / "stacks/baremetal/playbooks"
    (play,) = yaml.safe_load((folder / "nodes.yml").read_text())
    names = [task["name"] for task in play["tasks"]]
    assert [name for name in names if name in {READ, READ_AGAIN, LIST_JOBS}] == [
        READ,
        READ_AGAIN,
        LIST_JOBS,
    ]
    seen = NodesSeen()
    for task, text in (
        (READ, a_line("gpu-1", "IDLE")),
        (READ_AGAIN, a_line("gpu-1", "IDLE+DRAIN", "x")),
        (LIST_JOBS, "1|amy|gpu-1|train"),
    ):
        seen.take({"event": "runner_on_ok", "event_data": {"task": task, "res": {"stdout": text}}})
    assert seen.before["gpu-1"].in_service
    assert seen.after["gpu-1"] == NodeState("gpu-1", "IDLE+DRAIN", "x")
    assert seen.jobs == (Job("1", "amy", "gpu-1", "train"),)
