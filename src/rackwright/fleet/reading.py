"""Nodes and jobs of a site, as ``scontrol``, ``squeue`` and slurmrestd write them in JSON.

Releases differ: a state is a word or a list of words, and a number may be an object that says if it is set. Both are
read alike; what a release does not tell is None.
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
    """A node as Slurm has it.

    Attributes:
        state: its words in capitals, joined by ``+``.
        reason: reason it is out of service with; None if there is none.
        gpus: GPUs that Slurm counts.
        used: GPUs that jobs have.
        watts: power that it draws now, in W; None if Slurm does not measure it.
    """

    name: str
    state: str
    reason: str | None
    gpus: int
    used: int
    watts: float | None


@dataclass(frozen=True, slots=True)
class JobReport:
    """A job as Slurm has it.

    Attributes:
        state: its state in capitals.
        partition: partition or partitions that it asks for.
        qos: its quality of service; empty if unknown.
        nodes: nodes that it has, as a host list; empty before it starts.
        gpus: GPUs that it has or asks for.
        eligible: time from which on it could have started, in s since 1970; None if unknown.
    """

    id: str
    user: str
    state: str
    partition: str
    qos: str
    nodes: str
    gpus: int
    eligible: float | None


def read_nodes(text: str) -> tuple[NodeReport, ...]:
    """Return the nodes in the answer of ``scontrol show nodes --json`` or of ``/slurm/…/nodes``.

    Raises:
        ExternalToolError: it is no such answer.
    """
    return tuple(_node(entry) for entry in _entries(text, "nodes"))


def read_jobs(text: str) -> tuple[JobReport, ...]:
    """Return the jobs in the answer of ``squeue --json`` or of ``/slurm/…/jobs``.

    Raises:
        ExternalToolError: it is no such answer.
    """
    return tuple(_job(entry) for entry in _entries(text, "jobs"))


def _entries(text: str, what: str) -> Iterable[Mapping[str, Any]]:
    try:
        document = json.loads(text)
    except ValueError:
        raise ExternalToolError(
            f"the answer about {what} is no JSON: '{text[:80].strip()}'"
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
        gpus=_gpus(entry.get("tres")) or _gpus(entry.get("gres")),
        used=_gpus(entry.get("tres_used")) or _gpus(entry.get("gres_used")),
        watts=watts or None,  # 0 is what Slurm writes where nothing is measured
    )


def _job(entry: Mapping[str, Any]) -> JobReport:
    words = _words(entry.get("job_state"))
    asked = entry.get("tres_alloc_str") or entry.get("tres_req_str")
    nodes = entry.get("nodes")
    return JobReport(
        id=str(_number(entry.get("job_id")) or entry.get("job_id", "")).removesuffix(".0"),
        user=str(entry.get("user_name") or ""),
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
    """Return the GPUs in a list of TRES or GRES: the sum of types, or the whole where it is named."""
    if not isinstance(value, str):
        return 0
    plain = re.search(r"(?:^|,)(?:gres/)?gpu[:=](\d+)", value)
    if plain is not None:
        return int(plain[1])
    return sum(int(count) for count in _GPUS.findall(re.sub(r"\([^)]*\)", "", value)))
