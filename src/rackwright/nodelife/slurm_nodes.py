"""Nodes and jobs as Slurm prints them, and what a change may do with them: pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

OUT_OF_SERVICE = ("DRAIN", "DOWN", "FAIL", "ERROR", "FUTURE", "INVAL", "POWER", "REBOOT")
"""Beginnings of words in a node's state with which it gets no jobs, for whatever reason it is there.

A maintenance reservation is none: the node is in service for those who have reserved it. Nor is
``UNKNOWN``, which all nodes are just after a controller has started.
"""

LONGEST_REASON = 200
PREFIX = "rackwright: "
"""How every reason begins that a change leaves in Slurm."""
OF_CHECK = "node health: "
"""Beginning of a reason or comment of the health check of a node."""
TAKEN_UP = f"{PREFIX}left: "
"""Beginning of a comment that the loop has taken up: the health check does not drain the node for it."""

REPAIRED_FOR = f"{PREFIX}repair "
"""Beginning of the reason of a node that a repair loop has drained; the journal is after fault and cycle."""
_REPAIRED = re.compile(rf"{REPAIRED_FOR}(\S+) \d+(?: ([0-9a-f]{{6}})\b)?")
_BY_ITSELF = (OF_CHECK, f"{PREFIX[:-2]} verify: ", "Not responding", "Prolog error", "Epilog error",
              "Kill task failed", "Node unexpectedly rebooted", "gres/gpu count reported lower", "Low RealMemory")  # fmt: skip
"""Beginnings of reasons of nodes that took themselves out of service, or that Slurm did."""

READ, READ_AGAIN, LIST_JOBS = "Read the nodes", "Read them again", "List their jobs"
"""Tasks of the playbook ``nodes.yml`` whose output is read."""

JOB_FORMAT = "%i|%u|%N|%j"
"""What ``squeue`` is asked: number, user, nodes and, last because it may hold anything, name."""


@dataclass(frozen=True, slots=True)
class NodeState:
    """A node in Slurm.

    Attributes:
        state: as ``scontrol`` prints it: ``IDLE+DRAIN``, ``DOWN*+DRAIN``.
        reason: without who gave it and when; None where there is none.
        boot: time of its boot as Slurm has it; empty if unknown.
        comment: of the health check, with which it leaves a fault to the loop; empty if it has none.
    """

    name: str
    state: str
    reason: str | None = None
    boot: str = ""
    comment: str = ""

    @property
    def in_service(self) -> bool:
        """True if the node may get jobs, now or as soon as it answers."""
        return not any(w.startswith(bad) for w in _words(self.state) for bad in OUT_OF_SERVICE)

    @property
    def takes_jobs(self) -> bool:
        """True if the node gets jobs now; one that does not answer gets none."""
        words = set(_words(self.state))
        return (
            self.in_service and "*" not in self.state and not words & {"NOT_RESPONDING", "UNKNOWN"}
        )


def _words(state: str) -> list[str]:
    return [word.rstrip("*~#!%$@^-") for word in state.upper().split("+")]


@dataclass(frozen=True, slots=True)
class Job:
    """A job that runs, or that has not quite ended."""

    number: str
    user: str
    nodes: str
    name: str


def took_itself_out(text: str | None) -> bool:
    """Return True for the reason of a node that took itself out of service, or that Slurm did."""
    return (text or "").startswith(_BY_ITSELF)


def repaired_for(text: str | None) -> tuple[str, str] | None:
    """Return fault and journal in the reason of a node under repair; old reasons name no journal: ``""``."""
    match = _REPAIRED.match(text or "")
    return None if match is None else (match[1], match[2] or "")


_FIELDS = re.compile(r"^NodeName=(?P<name>\S+) .*?\bState=(?P<state>\S+)")
_BOOT = re.compile(r"\bBootTime=(\d\S*)")
_COMMENT = re.compile(rf"\bComment=((?:{OF_CHECK}|{TAKEN_UP}).*?)(?= +[A-Z][A-Za-z]*=|\s*$)")
_REASON = re.compile(r"\bReason=(.*?) \[[^\s@\[\]]+@\d{4}-\d\d-\d\dT[\d:]+\]")


def read_nodes(text: str) -> dict[str, NodeState]:
    """Return the nodes in the output of ``scontrol --oneliner show node``, by name."""
    found = {}
    for line in text.splitlines():
        if (match := _FIELDS.search(line)) is not None:
            reason = _REASON.search(line)
            told = None if reason is None else reason[1]
            boot = _BOOT.search(line)
            since = "" if boot is None else boot[1]
            comment = _COMMENT.search(line)
            left = "" if comment is None else comment[1]
            found[match["name"]] = NodeState(match["name"], match["state"], told, since, left)
    return found


def read_jobs(text: str) -> tuple[Job, ...]:
    """Return the jobs in the output of ``squeue`` with ``JOB_FORMAT``."""
    parts = [line.strip().split("|", 3) for line in text.splitlines() if line.strip()]
    return tuple(Job(*part) for part in parts if len(part) == 4)


def describe_jobs(jobs: Iterable[Job]) -> str:
    """Return text like ``2 jobs still running on gpu-3, 1 on gpu-[4-5]``."""
    counts = Counter(job.nodes for job in jobs)
    parts = [f"{count} on {nodes}" for nodes, count in sorted(counts.items())]
    if not parts:
        return "no job is running"
    first, *others = parts
    count, where = first.split(" on ", 1)
    more = "".join(f", {part}" for part in others)
    return f"{count} {'job' if count == '1' else 'jobs'} still running on {where}{more}"


def reason(text: str) -> str:
    """Return ``text`` as a reason for Slurm: one short line that neither Slurm nor Ansible interprets."""
    plain = " ".join(re.sub(r"[^\x20-\x7e]|[\"'\\={}\[\]]", " ", text).split())
    return f"{PREFIX}{plain}"[:LONGEST_REASON].rstrip()


@dataclass(frozen=True, slots=True)
class NodeUpdate:
    """Something to tell Slurm of those of ``names`` whose line in ``scontrol`` fits ``pattern``."""

    names: tuple[str, ...]
    pattern: str
    arguments: tuple[str, ...]

    def as_variable(self) -> dict[str, Any]:
        """Return the data for the playbook."""
        return {
            "names": list(self.names),
            "pattern": self.pattern,
            "arguments": list(self.arguments),
        }


_IN_SERVICE = rf"^(?!.* State=\S*\b(?:{'|'.join(OUT_OF_SERVICE)})).* State="


def drain(names: Iterable[str], why: str) -> NodeUpdate:
    """Drain those of ``names`` that are in service; the others keep the reason they have."""
    return NodeUpdate(tuple(names), _IN_SERVICE, ("State=DRAIN", f"Reason={why}"))


def take_over(names: Iterable[str], why: str) -> NodeUpdate:
    """Drain all of ``names``, also those that are out of service with a reason of their own."""
    return NodeUpdate(tuple(names), " State=", ("State=DRAIN", f"Reason={why}"))


def give_back(names: Iterable[str], whys: Iterable[str]) -> NodeUpdate:
    """Resume those of ``names`` that are drained with one of the reasons ``whys``, no others."""
    return NodeUpdate(tuple(names), _with_reason(whys), ("State=RESUME",))


def take_up(names: Iterable[str], fault: str) -> NodeUpdate:
    """Answer the health checks of ``names`` that the loop has taken up the fault that they left to it."""
    pattern = rf" Comment={re.escape(OF_CHECK + fault)}(?= +[A-Z][A-Za-z]*=|\s*$)"
    return NodeUpdate(tuple(names), pattern, (f"Comment={TAKEN_UP}{fault}",))


def forget_comment(names: Iterable[str]) -> NodeUpdate:
    """Take away what the health checks of ``names`` left to the loop before a repair."""
    return NodeUpdate(tuple(names), rf" Comment=(?:{OF_CHECK}|{TAKEN_UP})", ("Comment=",))


def rename_reason(names: Iterable[str], whys: Iterable[str], new: str) -> NodeUpdate:
    """Give those of ``names`` that are drained with one of ``whys`` another reason."""
    return NodeUpdate(tuple(names), _with_reason(whys), ("State=DRAIN", f"Reason={new}"))


def _with_reason(whys: Iterable[str]) -> str:
    texts = "|".join(re.escape(why) for why in sorted(set(whys)))
    return rf" State=\S*DRAIN.* Reason=(?:{texts}) \["


@dataclass
class NodesSeen:
    """Results of one run of the playbook.

    Attributes:
        before: the nodes before anything was done to them.
        after: afterwards.
        jobs: those on the nodes, afterwards.
    """

    before: dict[str, NodeState] = field(default_factory=dict)
    after: dict[str, NodeState] = field(default_factory=dict)
    jobs: tuple[Job, ...] = ()

    def take(self, event: Mapping[str, Any]) -> None:
        """Account for one event of ansible-runner."""
        data = event.get("event_data", {})
        if event.get("event") != "runner_on_ok":
            return
        text = str((data.get("res") or {}).get("stdout") or "")
        task = data.get("task")
        if task == READ:
            self.before = read_nodes(text)
        elif task == READ_AGAIN:
            self.after = read_nodes(text)
        elif task == LIST_JOBS:
            self.jobs = read_jobs(text)
