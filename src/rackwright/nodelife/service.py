"""Incidents of nodes over time: how often, how long, and the node time that each cause costs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, order=True)
class Incident:
    """Time in which a node was out of service.

    Attributes:
        began: seconds since the epoch.
        ended: the same; None while the node is still out of service.
        cause: class of the fault, or the words before the first colon of Slurm's reason.
    """

    began: float
    node: str
    cause: str
    ended: float | None = None


@dataclass(frozen=True, slots=True)
class ServiceFigures:
    """Figures of a window of time.

    Attributes:
        window_s: length of the window, in s.
        nodes: nodes of the cluster.
        incidents: incidents that began in the window.
        mtbi_s: node time between two incidents of a node, in s; None without an incident.
        mttr_s: time from the begin to the end of an incident, in s, mean over those that ended in the window.
        lost_s: node time out of service by cause, in s; a node with two incidents at once counts once, for the first.
    """

    window_s: float
    nodes: int
    incidents: int
    mtbi_s: float | None
    mttr_s: float | None
    lost_s: Mapping[str, float]

    @property
    def lost_share(self) -> float:
        """Share of the node time in the window that was lost, from 0 to 1."""
        whole = self.window_s * self.nodes
        return sum(self.lost_s.values()) / whole if whole else 0.0

    def as_data(self) -> dict[str, Any]:
        """Return the data for JSON; times in hours."""
        return {
            "window_h": round(self.window_s / 3600, 3),
            "incidents": self.incidents,
            "mtbi_h": _hours(self.mtbi_s),
            "mttr_h": _hours(self.mttr_s),
            "lost_node_h": {cause: round(s / 3600, 3) for cause, s in self.lost_s.items()},
            "lost_percent": round(100 * self.lost_share, 4),
        }


def _hours(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds / 3600, 3)


def service_figures(
    incidents: Iterable[Incident], nodes: int, begin: float, end: float
) -> ServiceFigures:
    """Return the figures of the window from ``begin`` to ``end``, both in seconds since the epoch.

    MTBI is the time between incidents of one node (NVSentinel's ADR-044): node time over incidents.
    """
    known = sorted(one for one in incidents if one.began < end and (one.ended or end) > begin)
    began = sum(one.began >= begin for one in known)
    repairs = [one.ended - one.began for one in known if one.ended is not None and one.ended <= end]
    lost: dict[str, float] = defaultdict(float)
    for own in _by_node(known).values():
        free = begin
        for one in own:
            start, stop = max(one.began, free), min(one.ended or end, end)
            if stop > start:
                lost[one.cause] += stop - start
                free = stop
    window = max(0.0, end - begin)
    return ServiceFigures(
        window_s=window,
        nodes=nodes,
        incidents=began,
        mtbi_s=window * nodes / began if began else None,
        mttr_s=sum(repairs) / len(repairs) if repairs else None,
        lost_s=dict(sorted(lost.items(), key=lambda item: (-item[1], item[0]))),
    )


def _by_node(incidents: Sequence[Incident]) -> dict[str, list[Incident]]:
    found: dict[str, list[Incident]] = {}
    for one in incidents:
        found.setdefault(one.node, []).append(one)
    return found


def cause_of(reason: str) -> str:
    """Return the cause in a reason of Slurm: ``node health: Xid 79`` and ``rackwright: heat: 92 °C`` name it first."""
    words = [word.strip() for word in reason.split(":")]
    if len(words) > 1 and words[0] in {"rackwright", "node health", "rackwright verify"}:
        words = words[1:]
    return " ".join(word for word in words[0].split() if not word.isdigit())[:60] or "unknown"
