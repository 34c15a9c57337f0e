"""Lengths of cables that follow from where racks stand, how high devices are, and how trays run.

Trays run above the racks of each row, from above the middle of one rack to above the middle of another;
those of several rows are joined by trays across them, at the first racks, at the last ones, or at both. A
cable falls to the lower edge of its device. One inside a rack goes as far up or down as its ends are apart,
and the width of the rack to its side and back. Slack is that of every route: a tenth, a metre at least.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from rackwright.catalog.loader import Catalogue
from rackwright.model.fabric import Cables
from rackwright.model.names import expand_hostlist
from rackwright.model.onprem import CableTrays, OnPremSite
from rackwright.model.racks import RackType
from rackwright.plan.base import Path
from rackwright.plan.fabric.cables import Wire, routed_length, with_slack
from rackwright.plan.fabric.layout import Layout, Run, connected, find_host, find_leaf
from rackwright.plan.fabric.racks import racks_in_order
from rackwright.plan.missing import Missing
from rackwright.plan.records.racks import RackClass, RackKind

UNIT_M = 0.04445
"""Height of a rack unit in metres (EIA-310: 44.45 mm)."""


@dataclass(frozen=True, slots=True)
class StandingRack:
    """Position of a rack in its hall.

    Attributes:
        hall: index of its hall.
        row: index of its row in the hall.
        along: metres from the beginning of the row to the middle of the rack.
        width: of the rack in metres.
    """

    hall: int
    row: int
    along: float
    width: float


@dataclass(frozen=True, slots=True)
class CableLength:
    """The length of the longest cable of a kind in metres; None with what is missing to know it."""

    metres: float | None
    missing: tuple[Missing, ...] = ()


@dataclass(frozen=True)
class StandingRacks:
    """The racks of a site with their devices, the same for the cables of all its fabrics.

    Attributes:
        site: as the blueprint declares it.
        path: its place.
        racks: its racks.
        catalogue: where the products of racks are looked up.
    """

    site: OnPremSite
    path: Path
    racks: tuple[RackClass, ...]
    catalogue: Catalogue

    @cached_property
    def trays(self) -> Mapping[int, CableTrays]:
        """The trays of each hall that has some."""
        halls = enumerate(self.site.halls)
        return {index: hall.trays for index, hall in halls if hall.trays is not None}

    @cached_property
    def places(self) -> Mapping[str, StandingRack]:
        """Position of each rack of the site."""
        found = {}
        for h, hall in enumerate(self.site.halls):
            for r, row in enumerate(hall.rows):
                along = 0.0
                for group in row.rack_groups:
                    along += group.gap or 0.0
                    width = self.catalogue.get(RackType, group.type).width.value
                    for rack in expand_hostlist(group.racks):
                        found[rack] = StandingRack(h, r, along + width / 2, width)
                        along += width
        return found

    @cached_property
    def row_ends(self) -> Mapping[int, float]:
        """Metres to the end of the longest row of each hall."""
        found: dict[int, float] = {
            h: max((row.length or 0.0 for row in hall.rows), default=0.0)
            for h, hall in enumerate(self.site.halls)
        }
        for place in self.places.values():
            found[place.hall] = max(found.get(place.hall, 0.0), place.along + place.width / 2)
        return found

    def edges(self, rack: str, device: Path) -> tuple[float, float] | None:
        """Lower edges of the lowest and the highest device of a group in a rack, in metres; None where unknown."""
        return self._heights.get((self._kinds[rack], device))

    @cached_property
    def _kinds(self) -> Mapping[str, RackKind]:
        return {name: racks.kind for racks in self.racks for name in racks.names}

    @cached_property
    def _heights(self) -> dict[tuple[RackKind, Path | None], tuple[float, float] | None]:
        """Lower edges of the lowest and the highest device of a group, in metres, by kind of racks."""
        found: dict[tuple[RackKind, Path | None], tuple[float, float] | None] = {}
        for kind in {racks.kind for racks in self.racks}:
            for device in kind.devices:
                key = kind, device.path
                if device.unit_low is None:
                    found[key] = None
                    continue
                edge = (device.unit_low - 1) * UNIT_M
                known = found.get(key, (edge, edge))
                found[key] = None if known is None else (min(known[0], edge), max(known[1], edge))
        return found


@dataclass(frozen=True)
class CableRoutes:
    """The ways that cables of a fabric take through the halls of its site.

    Attributes:
        standing: the racks of the site.
        fabric_path: place of the fabric.
        layout: the fabric with its hosts cabled.
    """

    standing: StandingRacks
    fabric_path: Path
    layout: Layout

    def longest(self, link: Cables, path: Path) -> CableLength:
        """Return the longest cable of a kind at ``path``: as declared, else by the positions of its racks."""
        stated = routed_length(link)
        if stated is not None:
            return CableLength(stated)
        unsaid = Missing("'length' or 'route'", (*path, "length"), (*path, "route"))
        if not self.standing.trays:
            return CableLength(None, (unsaid,))
        lower, upper = self._ends(link)
        longest = 0.0
        for one, other in dict.fromkeys(self._pairs(link)):
            found = self._length(one, lower, other, upper)
            if found is None:
                return CableLength(None, self._lacking(one, other) or (unsaid,))
            longest = max(longest, found)
        return CableLength(longest) if longest else CableLength(None, (unsaid,))

    def of_wire(self, wire: Wire) -> float | None:
        """Return the metres of one cable by the racks of its ends; None where these or the way are not known.

        It reaches the lowest device of either kind in its rack.
        """
        if not self.standing.trays:
            return None
        one, other = self._end_of(wire.lower), self._end_of(wire.upper)
        return self._length(*one, *other)

    def between(
        self, one: str, lower: tuple[float, float], other: str, upper: tuple[float, float]
    ) -> float | None:
        """Return metres of a cable between devices with these edges in two racks; None where the way is not known."""
        here, there = self.standing.places[one], self.standing.places[other]
        if one == other:
            apart = max(abs(lower[1] - upper[0]), abs(upper[1] - lower[0]))
            return with_slack(apart + here.width)
        trays, along = self.standing.trays.get(here.hall), self._along(here, there)
        if trays is None or along is None:
            return None
        drops = (max(abs(trays.height - edge) for edge in ends) for ends in (lower, upper))
        return with_slack(along + sum(drops))

    def _length(self, one: str, lower: Path, other: str, upper: Path) -> float | None:
        edges, others = self.standing.edges(one, lower), self.standing.edges(other, upper)
        if edges is None or others is None:
            return None
        return self.between(one, edges, other, others)

    def _along(self, here: StandingRack, there: StandingRack) -> float | None:
        """Return the metres along the trays; None from hall to hall, and from row to row where nobody says how."""
        if here.hall != there.hall:
            return None
        if here.row == there.row:
            return abs(here.along - there.along)
        end, trays = self.end_between(here, there), self.standing.trays.get(here.hall)
        if trays is None or end is None or trays.row_pitch is None:
            return None
        way = here.along + there.along
        if end == "last":
            way = 2 * self.standing.row_ends[here.hall] - way
        return way + abs(here.row - there.row) * trays.row_pitch

    def end_between(
        self, here: StandingRack, there: StandingRack
    ) -> Literal["first", "last"] | None:
        """Return the end of the rows by which cables go between racks of two rows of a hall; None where unknown."""
        trays = self.standing.trays.get(here.hall)
        if trays is None:
            return None
        row_end = self.standing.row_ends[here.hall]
        return end_between(trays.joined, row_end, here.along, there.along)

    def _lacking(self, one: str, other: str) -> tuple[Missing, ...]:
        """Return the missing facts of the way between two racks of a hall."""
        here, there = self.standing.places[one], self.standing.places[other]
        if here.hall != there.hall:
            return ()
        path = (*self.standing.path, "halls", here.hall, "trays")
        trays = self.standing.trays.get(here.hall)
        if trays is None:
            return (Missing("'trays' of the hall", path),)
        if here.row == there.row:
            return ()
        return tuple(
            Missing(f"'{name}' of the trays", (*path, name))
            for name in ("row_pitch", "joined")
            if getattr(trays, name) is None
        )

    def _ends(self, link: Cables) -> tuple[Path, Path]:
        """Return the places in the blueprint of what is at the lower and at the upper end."""
        return self._path_of(link.lower), self._path_of(link.upper)

    def _path_of(self, name: str) -> Path:
        for index, tier in enumerate(self.layout.fabric.tiers):
            if tier.name == name:
                return (*self.fabric_path, "tiers", index)
        groups = [group.name for group in self.standing.site.node_groups]
        return (*self.standing.path, "node_groups", groups.index(name))

    def _pairs(self, link: Cables) -> Iterator[tuple[str, str]]:
        """Yield the racks of both ends of the cables of a kind."""
        tiers = [tier.name for tier in self.layout.tiers]
        for own in self.layout.links:
            if own.cables.name == link.name:
                for lower, uppers in connected(self.layout, own):
                    for upper in uppers:
                        yield (
                            self.switch_rack(own.lower, lower),
                            self.switch_rack(own.upper, upper),
                        )
        if link.lower in tiers:
            return
        for run in self.layout.runs:
            if self.layout.hosts[run.attachment].group.name == link.lower:
                for pair in self._racks_of(run):
                    if link.same_rack is None or link.same_rack == (pair[0] == pair[1]):
                        yield pair
        for patch in self.layout.fabric.patches:
            host, leaf = find_host(self.layout, patch.node), find_leaf(self.layout, patch.switch)
            if host is not None and leaf is not None:
                yield self.host_rack(*host), self.switch_rack(0, leaf)

    def _racks_of(self, run: Run) -> Iterator[tuple[str, str]]:
        leaves = {self.switch_rack(0, leaf): None for leaf in run.leaves}
        hosts = range(run.first, run.first + run.hosts)
        for rack in dict.fromkeys(self.host_rack(run.attachment, host) for host in hosts):
            for leaf in leaves:
                yield rack, leaf

    @cached_property
    def _rack_of_hosts(self) -> list[Callable[[int], str]]:
        return [
            racks_in_order(hosts.group, hosts.count // hosts.group.count)
            for hosts in self.layout.hosts
        ]

    def host_rack(self, attachment: int, host: int) -> str:
        """Return the rack of a host, by its index in the group of an attachment."""
        return self._rack_of_hosts[attachment](host)

    @cached_property
    def _rack_of_switches(self) -> list[Callable[[int], str]]:
        return [
            racks_in_order(tier, planned.switches // tier.count)
            for tier, planned in zip(self.layout.fabric.tiers, self.layout.tiers, strict=True)
        ]

    def switch_rack(self, tier: int, switch: int) -> str:
        """Return the rack of a switch, by its index in its tier."""
        return self._rack_of_switches[tier](switch)

    def _end_of(self, name: str) -> tuple[str, Path]:
        """Return the rack of a device and its place in the blueprint."""
        host = find_host(self.layout, name)
        if host is not None:
            group = self.layout.hosts[host[0]].group.name
            return self.host_rack(*host), self._path_of(group)
        ((tier, index),) = (
            (number, index)
            for number, one in enumerate(self.layout.tiers)
            if (index := one.index_of(name)) is not None
        )
        return self.switch_rack(tier, index), self._path_of(self.layout.tiers[tier].name)


def end_between(
    joined: Literal["first", "last", "both"] | None, row_end: float, one: float, other: float
) -> Literal["first", "last"] | None:
    """Return the end of the rows by which cables go between racks of two rows; None where nothing joins these.

    Args:
        joined: at which ends a tray crosses the rows.
        row_end: metres to the end of the longest row of the hall.
        one: metres along its row to one rack.
        other: those to the other rack.
    """
    if joined != "both":
        return joined
    by_first = one + other
    return "first" if by_first <= 2 * row_end - by_first else "last"
