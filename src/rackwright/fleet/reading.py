"""Nodes and jobs of a site, read from the JSON of ``scontrol``, ``squeue`` and slurmrestd.

The format depends on the release of Slurm: a state is a word or a list of words, and a number may be an object with a
flag ``set``. Both are accepted; a field that a release lacks is None.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from rackwright.errors import ExternalToolError

_GPUS = re.compile(r"(?:^|,)(?:gres/)?gpu(?:[:/][A-Za-z][\w.-]*)*[:=](\d+)")


@dataclass(frozen=True, slots=True)
class NodeReport:
    """State of a node in Slurm.

    Attributes:
        state: state and flags in capitals, joined by ``+``.
        reason: reason why the node is out of service; None without one.
        used: number of allocated GPUs.
        watts: current power of the node, in W; None if Slurm does not measure it.
    """

    name: str
    state: str
    reason: str | None
    used: int
    watts: float | None


@dataclass(frozen=True, slots=True)
class JobReport:
    """State of a job in Slurm.

    Attributes:
        state: state in capitals.
        partition: requested partitions, separated by commas.
        qos: QOS of the job; empty if unknown.
        nodes: allocated nodes as a host list; empty before the job starts.
        gpus: number of allocated GPUs, or of requested ones before the job starts.
        eligible: earliest time at which the job could start, in s since 1970; None if unknown.
    """

    state: str
    partition: str
    qos: str
    nodes: str
    gpus: int
    eligible: float | None


def read_nodes(text: str) -> tuple[NodeReport, ...]:
    """Return the nodes in the answer of ``scontrol show nodes --json`` or of ``/slurm/…/nodes``.

    Raises:
        ExternalToolError: the text is not such an answer.
    """
    return tuple(_node(entry) for entry in _entries(text, "nodes"))


def read_jobs(text: str) -> tuple[JobReport, ...]:
    """Return the jobs in the answer of ``squeue --json`` or of ``/slurm/…/jobs``.

    Raises:
        ExternalToolError: the text is not such an answer.
    """
    return tuple(_job(entry) for entry in _entries(text, "jobs"))


def _entries(text: str, what: str) -> Iterable[Mapping[str, Any]]:
    try:
        document = json.loads(text)
    except ValueError:
        raise ExternalToolError(
            f"the answer about {what} is not JSON: '{text[:80].strip()}'"
        ) from None
    found = document.get(what) if isinstance(document, dict) else None
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
        raise ExternalToolError(f"the answer has no list of {what}")
    return found


def _node(entry: Mapping[str, Any]) -> NodeReport:
    words = [*_words(entry.get("state")), *_words(entry.get("state_flags"))]
    energy = entry.get("energy")
    watts = _number(energy.get("current_watts")) if isinstance(energy, dict) else None
    return NodeReport(
        name=str(entry.get("name", "")),
        state="+".join(words) or "UNKNOWN",
        reason=str(entry.get("reason") or "") or None,
        used=_gpus(entry.get("tres_used")) or _gpus(entry.get("gres_used")),
        watts=watts or None,  # Slurm writes 0 if nothing is measured
    )


def _job(entry: Mapping[str, Any]) -> JobReport:
    words = _words(entry.get("job_state"))
    asked = entry.get("tres_alloc_str") or entry.get("tres_req_str")
    nodes = entry.get("nodes")
    return JobReport(
        state=words[0] if words else "UNKNOWN",
        partition=str(entry.get("partition") or ""),
        qos=str(entry.get("qos") or ""),
        nodes=nodes if isinstance(nodes, str) else "",
        gpus=_gpus(asked),
        eligible=_number(entry.get("eligible_time")) or None,
    )


def _words(value: Any) -> list[str]:
    words = value if isinstance(value, list) else str(value or "").split("+")
    return [str(word).upper() for word in words if word]


def _number(value: Any) -> float | None:
    if isinstance(value, dict):
        value = (
            value.get("number") if value.get("set", True) and not value.get("infinite") else None
        )
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value)


def _gpus(value: Any) -> int:
    """Return the number of GPUs in a TRES or GRES list: the total if it is listed, or else the sum of the types."""
    if not isinstance(value, str):
        return 0
    # TRES list a total beside the types ("gres/gpu=8,gres/gpu:h100=8"): their sum would count twice.
    plain = re.search(r"(?:^|,)(?:gres/)?gpu[:=](\d+)", value)
    if plain is not None:
        return int(plain[1])
    return sum(int(count) for count in _GPUS.findall(re.sub(r"\([^)]*\)", "", value)))
