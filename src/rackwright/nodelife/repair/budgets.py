"""Limits of repair: nodes out of service at once, drains an hour, repairs a week, storms and windows. Pure."""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from rackwright.model.repair import (
    NODES_PER_HOUR,
    REPAIRS_PER_WEEK,
    MaintenanceWindow,
    Repair,
)

HOUR, WEEK = 3600.0, 7 * 86_400.0
DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")


@dataclass(frozen=True, slots=True)
class RepairLimits:
    """Limits of one site; numbers that the blueprint leaves out are our judgement.

    Attributes:
        most_nodes: nodes of a partition out of service at once, in %; at least one node may be.
        nodes_per_hour: nodes that are drained within an hour.
        repairs_per_week: repairs of one node within a week before a person decides.
        storm_nodes: nodes with a new fault within ``storm_s`` from which nothing is drained.
        storm_s: length of that window, in s.
        gather_s: wait for other nodes with the same fault before one is drained for a fault that is
            often shared, in s.
        drain_s: wait for jobs to end before a person is told, in s.
        action_s: wait for a reset, reboot or power cycle to end, in s.
        probation_s: time after a repair in which a fault counts as its return, in s.
        windows: times at which degraded nodes are drained; at any time if there are none.
    """

    most_nodes: float = 5.0
    nodes_per_hour: int = NODES_PER_HOUR
    repairs_per_week: int = REPAIRS_PER_WEEK
    storm_nodes: int = 20
    storm_s: float = 600.0
    gather_s: float = 120.0
    drain_s: float = 86_400.0
    action_s: float = 3_600.0
    probation_s: float = 86_400.0
    windows: tuple[MaintenanceWindow, ...] = ()


def limits_of(repair: Repair | None) -> RepairLimits:
    """Return the limits that a blueprint states, with our own for the rest."""
    if repair is None:
        return RepairLimits()
    stated = {
        "most_nodes": repair.most_nodes,
        "nodes_per_hour": repair.nodes_per_hour,
        "repairs_per_week": repair.repairs_per_week,
        "storm_nodes": repair.storm_nodes,
        "drain_s": repair.drain,
        "probation_s": repair.probation,
    }
    known = {name: value for name, value in stated.items() if value is not None}
    return RepairLimits(**known, windows=repair.windows)  # type: ignore[arg-type]


def out_of_partition(
    limits: RepairLimits, node: str, partitions: Mapping[str, Collection[str]], out: Collection[str]
) -> str | None:
    """Return the reason a node cannot leave its partitions now; None if it can.

    Args:
        limits: of the site.
        node: that is to leave.
        partitions: nodes of each partition.
        out: nodes that are out of service for whatever reason.
    """
    for name, nodes in partitions.items():
        if node not in nodes:
            continue
        most = max(1, int(limits.most_nodes * len(nodes) / 100))
        gone = sum(other in nodes for other in out if other != node)
        if gone + 1 > most:
            return f"{gone} of {len(nodes)} nodes of partition {name} are out of service, the limit is {most}"
    return None


def over_hour(limits: RepairLimits, drains: Sequence[float], now: float) -> str | None:
    """Return the reason no node can be drained within this hour; None if one can.

    A drain of the future is from before the clock went back, and counts.
    """
    recent = sum(at > now - HOUR for at in drains)
    if recent >= limits.nodes_per_hour:
        return f"{recent} nodes were drained within an hour, the limit is {limits.nodes_per_hour}"
    return None


def is_storm(limits: RepairLimits, faults: Mapping[str, float], now: float) -> bool:
    """Return True if too many nodes have a new fault at once, by the time of the last one of each node."""
    return sum(at > now - limits.storm_s for at in faults.values()) >= limits.storm_nodes


def needs_person(limits: RepairLimits, repairs: Sequence[float], now: float) -> str | None:
    """Return the reason a person decides about a node: too many repairs within a week; None if none does."""
    recent = sum(at > now - WEEK for at in repairs)
    if recent >= limits.repairs_per_week:
        return f"{recent} repairs within a week, the limit is {limits.repairs_per_week}"
    return None


def in_window(windows: Sequence[MaintenanceWindow], now: float) -> bool:
    """Return True if the time (seconds since the epoch) is in a window, or there is none to wait for."""
    if not windows:
        return True
    here = dt.datetime.fromtimestamp(now, dt.UTC)
    for window in windows:
        hours, minutes = (int(part) for part in window.start.split(":"))
        for back in range(8):  # a window is a week at the longest
            day = here - dt.timedelta(days=back)
            begin = day.replace(hour=hours, minute=minutes, second=0, microsecond=0)
            wanted = not window.days or DAYS[begin.weekday()] in window.days
            if wanted and 0 <= (here - begin).total_seconds() < window.duration:
                return True
    return False
