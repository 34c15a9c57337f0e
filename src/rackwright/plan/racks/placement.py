"""Placement of nodes and switches in racks; racks with equal content become one class."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from rackwright.model.fabric import SwitchTier
from rackwright.model.names import expand_hostlist
from rackwright.model.onprem import NodeGroup, OnPremSite, RackGroup
from rackwright.model.standing import by_rack
from rackwright.plan.base import Path
from rackwright.plan.hosts import filled, listed
from rackwright.plan.problems import PlanProblem
from rackwright.reading.suggest import did_you_mean

MOST_PER_RACK = 200
"""Devices of one rack; a rack of 48 to 60 units has no room for more."""
MOST_CLASSES = 2_000
"""Kinds of racks of one site; the work of a plan grows with them."""

_JOINED = re.compile(r"(\D*)(\d+)-\1(\d+)")
"""Two names of racks that were meant as a range, like ``c01-c16``."""


@dataclass(frozen=True)
class PlacedGroup:
    """A rack group with its hall, its row and its place in the blueprint."""

    spec: RackGroup
    hall: int
    row: int
    path: Path
    racks: tuple[str, ...]


@dataclass(frozen=True)
class Load:
    """A node group or switch tier, as an order for racks."""

    group: NodeGroup | SwitchTier
    path: Path
    is_switch: bool


class Content(NamedTuple):
    """Units of a load in one rack.

    Attributes:
        load: its index.
        number: of units of the product.
        units: lowest rack unit of each, where the blueprint states them.
    """

    load: int
    number: int
    units: tuple[float, ...] = ()


@dataclass
class AssignedRacks:
    """Racks of one group with the same content, in the order of the row.

    Attributes:
        content: units of each load.
        positions: place of each rack in its row.
    """

    group: PlacedGroup
    content: tuple[Content, ...]
    racks: list[str] = field(default_factory=list)
    positions: list[int] = field(default_factory=list)


def place_groups(site: OnPremSite, path: Path) -> list[PlacedGroup]:
    """Return every rack group of the site, in order."""
    found = []
    for h, hall in enumerate(site.halls):
        for r, row in enumerate(hall.rows):
            for g, group in enumerate(row.rack_groups):
                where = (*path, "halls", h, "rows", r, "rack_groups", g)
                found.append(PlacedGroup(group, h, r, where, expand_hostlist(group.racks)))
    return found


def list_loads(site: OnPremSite, path: Path) -> list[Load]:
    """Return node groups, then the switch tiers of every fabric."""
    loads = [
        Load(group, (*path, "node_groups", n), is_switch=False)
        for n, group in enumerate(site.node_groups)
    ]
    for f, fabric in enumerate(site.fabrics):
        loads += [
            Load(tier, (*path, "fabrics", f, "tiers", t), is_switch=True)
            for t, tier in enumerate(fabric.tiers)
        ]
    return loads


def assign(
    groups: Sequence[PlacedGroup], loads: Sequence[Load], problems: list[PlanProblem]
) -> list[AssignedRacks]:
    """Return the rack classes; racks that get nothing form classes of their own."""
    known = {rack: index for index, group in enumerate(groups) for rack in group.racks}
    content: dict[str, list[Content]] = {rack: [] for rack in known}
    for index, load in enumerate(loads):
        _fill(index, load, known, content, problems)
    classes: dict[tuple[int, tuple[Content, ...]], AssignedRacks] = {}
    positions: dict[tuple[int, int], int] = {}
    for number, group in enumerate(groups):
        first = positions.get((group.hall, group.row), 0)
        positions[group.hall, group.row] = first + len(group.racks)
        for position, rack in enumerate(group.racks, first):
            key = (number, tuple(content[rack]))
            made = classes.get(key)
            if made is None:
                made = classes[key] = AssignedRacks(group, key[1])
            made.racks.append(rack)
            made.positions.append(position)
    if len(classes) > MOST_CLASSES:
        problems.append(
            PlanProblem(
                groups[0].path[:2],
                f"its racks are of {len(classes):,} kinds; a plan has at most {MOST_CLASSES:,}",
                "fill equal racks in the same way",
            )
        )
    return list(classes.values())


def _fill(
    index: int,
    load: Load,
    known: Mapping[str, int],
    content: Mapping[str, list[Content]],
    problems: list[PlanProblem],
) -> None:
    racks = listed(load.group.racks)
    if strange := [rack for rack in racks if rack not in known]:
        message = f"there is no rack '{strange[0]}' in this site"
        joined = next(filter(None, map(_JOINED.fullmatch, sorted(known))), None)
        hint = did_you_mean(strange[0], known)
        if joined:
            meant = f"{joined[1]}[{joined[2]}-{joined[3]}]"
            hint = f"'{joined[0]}' is the name of one rack: a range is written '{meant}'"
        problems.append(PlanProblem((*load.path, "racks"), message, hint))
        return
    units = by_rack(load.group.units)
    for rack, count in filled(load.group):
        if sum(one.number for one in content[rack]) + count > MOST_PER_RACK:
            message = f"the rack '{rack}' would hold more than {MOST_PER_RACK} devices"
            problems.append(PlanProblem((*load.path, "per_rack"), message))
            return
        content[rack].append(Content(index, count, units.get(rack, ())))
    room = len(racks) * load.group.per_rack
    left = load.group.count - room
    if left > 0:
        noun = "switches" if load.is_switch else "nodes"
        problems.append(
            PlanProblem(
                (*load.path, "count"),
                f"{load.group.count} {noun} do not fit: '{load.group.racks}' with "
                f"{load.group.per_rack} a rack has room for {room}",
                f"name {-(-left // load.group.per_rack)} more racks or lower the count by {left}",
            )
        )
