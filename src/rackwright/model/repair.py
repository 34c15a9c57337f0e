"""Limits of the repair of nodes, and windows for maintenance."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from rackwright.model.base import Model
from rackwright.model.field_kinds import KEY, PART, POLICIES_ONLY, Setting
from rackwright.model.names import Name
from rackwright.model.units import Percent, Seconds

NODES_PER_HOUR, REPAIRS_PER_WEEK = 10, 2
"""Nodes that are taken out of service within an hour, and repairs of one node within a week, if omitted. Judgement."""


class MaintenanceWindow(Model):
    """Time of the week in which degraded nodes are drained."""

    name: Annotated[Name, KEY]
    """Name of the window."""
    days: Annotated[tuple[Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"], ...], Setting(looser="either", absent="strict")] = ()  # fmt: skip
    """Days on which the window begins, in UTC. Every day if omitted."""
    start: Annotated[str, Field(pattern=r"^([01]\d|2[0-3]):[0-5]\d$"), Setting(looser="either")]
    """Time of day at which the window begins, in UTC, like ``02:00``."""
    duration: Annotated[Seconds, Field(gt=0, le=604_800), Setting(looser="either")]
    """Length of the window, in h."""


class Repair(Model):
    """Limits within which nodes are drained and repaired without a person."""

    most_nodes: Annotated[
        Annotated[Percent, Field(gt=0, le=100)] | None, Setting(looser="higher", absent="strict")
    ] = None
    """Largest part of a partition out of service at once, in %; one node may always be. 5 % if omitted."""
    nodes_per_hour: Annotated[
        Annotated[int, Field(gt=0)] | None, Setting(looser="higher", absent="strict")
    ] = None
    """Number of nodes drained within an hour. 10 if omitted."""
    repairs_per_week: Annotated[
        Annotated[int, Field(gt=0)] | None, Setting(looser="higher", absent="strict")
    ] = None
    """Number of repairs of one node within a week; a person decides about the next. 2 if omitted."""
    storm_nodes: Annotated[
        Annotated[int, Field(gt=1)] | None, Setting(looser="higher", absent="strict")
    ] = None
    """Number of nodes with a new fault within ten minutes from which nothing is drained. 20 if omitted."""
    drain: Annotated[
        Annotated[Seconds, Field(gt=0)] | None, Setting(looser="higher", absent="strict")
    ] = None
    """Longest wait for the jobs of a draining node, in h; a person is told then. 24 h if omitted."""
    probation: Annotated[
        Annotated[Seconds, Field(gt=0)] | None, Setting(looser="lower", absent="strict")
    ] = None
    """Time after a repair in which a fault counts as its return, in h. 24 h if omitted."""
    windows: Annotated[tuple[MaintenanceWindow, ...], PART, POLICIES_ONLY] = ()
    """Windows in which degraded nodes are drained. At any time if omitted."""
