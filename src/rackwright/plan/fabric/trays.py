"""Fill of cable trays: the cables of all fabrics of a site, by the ways that their lengths follow.

A cable between two racks of a row lies above the racks between their middles. One to another row lies from
its rack to the end of the row, in the tray across the rows, and from the end of the other row to its rack.

A large site has many halls that differ by their names alone. So all that the places of cables depend on is
told without a name, and fabrics that are alike in it are laid once.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import groupby
from operator import itemgetter
from typing import Literal, NamedTuple

from rackwright.model.fabric import Cables, SwitchTier
from rackwright.model.onprem import CableTrays, NodeGroup, OnPremSite, TraySection
from rackwright.plan.base import Path
from rackwright.plan.fabric.cables import cross_section, missing_diameter
from rackwright.plan.fabric.layout import Run
from rackwright.plan.fabric.lengths import CableRoutes, end_between
from rackwright.plan.fabric.links import TierLink
from rackwright.plan.fabric.sizing import ceil_div
from rackwright.plan.hosts import filled, listed
from rackwright.plan.missing import Missing

MOST_DEPTH_M = 0.15
"""Depth of a tray that counts, in m; what is deeper does not (NFPA 70 392.22(A)(2), ANSI/TIA-569)."""


@dataclass(frozen=True, slots=True)
class TrayShare:
    """Share of one kind of cables in the fullest section of a tray.

    Attributes:
        fabric: name of the fabric.
        kind: name of the kind of cables.
        cables: their number.
        percent: share of the inside of the tray, in %.
    """

    fabric: str
    kind: str
    cables: int
    percent: float


@dataclass(frozen=True, slots=True, kw_only=True)
class TrayFill:
    """The fullest section of the trays of a hall.

    Attributes:
        hall: name of the hall.
        path: place of the trays in the blueprint.
        fabrics: names of the fabrics with a switch or a host in the hall.
        place: where the section is, in words; empty where the blueprint states how full it is.
        percent: share of the inside of the tray that cables take, in %; None where it is not known.
        width_m: inner width of the tray there, in m; None where it is not known.
        shares: the kinds of cables in it, the largest share first.
        missing: what keeps it from being known.
    """

    hall: str
    path: Path
    fabrics: tuple[str, ...]
    place: str = ""
    percent: float | None = None
    width_m: float | None = None
    shares: tuple[TrayShare, ...] = ()
    missing: tuple[Missing, ...] = ()


def tray_fills(site: OnPremSite, path: Path, routes: Sequence[CableRoutes]) -> Iterator[TrayFill]:
    """Yield the fill of the trays of each hall through which cables go from rack to rack.

    Args:
        site: as the blueprint declares it.
        path: its place.
        routes: the ways of the cables of each fabric with hosts.
    """
    halls = [_Hall(site, (*path, "halls", index), index) for index in range(len(site.halls))]
    for ways in routes:
        shape, indexes = _shape_of(ways)
        for index, laid in zip(indexes, _laid(shape), strict=True):
            halls[index].take(ways, laid)
    for hall in halls:
        if hall.crossed:
            yield hall.fullest()


class _Cable(NamedTuple):
    name: str
    area: float


_Kind = int
"""Index of a kind of cables in its fabric; their number stands for one that the blueprint does not have."""

_Met = _Kind | Literal["another hall", "no way"]
"""What comes up while cables are laid: their kind, that they leave the hall, that nothing joins the rows."""


class _Tray(NamedTuple):
    """A tray along a row, or across the rows at one of their ends."""

    row: int | None
    end: str = ""


class _HallTrays(NamedTuple):
    """Ways of cables in a hall.

    Attributes:
        counted: whether they are counted; not where there are no trays, or it is said how full they are.
        joined: the ends of the rows at which a tray crosses them.
        row_end: metres to the end of the longest row.
    """

    counted: bool
    joined: Literal["first", "last", "both"] | None
    row_end: float


class _Place(NamedTuple):
    """Position of a rack: hall of the fabric, row, and metres along the row."""

    hall: int
    row: int
    along: float


class _Filled(NamedTuple):
    """Hosts or switches in their racks, of which each but the last takes as many."""

    number: int
    racks: tuple[int, ...]
    per_rack: int

    def rack(self, index: int) -> int:
        """Return the rack of one of them."""
        return self.racks[index // self.per_rack]


class _Attached(NamedTuple):
    """The hosts of an attachment.

    Attributes:
        hosts: in their racks.
        interfaces: of each host.
        kinds: of the cables to leaves in other racks, and in the same one.
    """

    hosts: _Filled
    interfaces: int
    kinds: tuple[_Kind, _Kind]


class _Shape(NamedTuple):
    """All that tells where the cables of a fabric lie, without a name.

    Attributes:
        halls: that its racks stand in.
        places: of its racks.
        tiers: its switches.
        links: its cables between switches, each with its kind.
        attached: its hosts.
        runs: how these are cabled.
    """

    halls: tuple[_HallTrays, ...]
    places: tuple[_Place, ...]
    tiers: tuple[_Filled, ...]
    links: tuple[tuple[_Kind, TierLink], ...]
    attached: tuple[_Attached, ...]
    runs: tuple[Run, ...]


@dataclass(eq=False)
class _Laid:
    """The cables of a fabric in one of its halls.

    Attributes:
        reached: one of them ends there.
        crossed: one of them goes from rack to rack.
        met: what came up, in that order.
        steps: how many of a kind begin at a position of a tray, less those that end there.
    """

    reached: bool = False
    crossed: bool = False
    met: dict[_Met, None] = field(default_factory=dict)
    steps: dict[_Tray, dict[tuple[float, _Kind], int]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(int))
    )

    def lie(self, tray: _Tray, kind: _Kind, cables: int, one: float, other: float) -> None:
        """Count cables between two positions of a tray, in metres or rows."""
        steps = self.steps[tray]
        steps[min(one, other), kind] += cables
        steps[max(one, other), kind] -= cables


def _shape_of(ways: CableRoutes) -> tuple[_Shape, tuple[int, ...]]:
    """Return the shape of a fabric, and the indexes of its halls in the site."""
    layout, standing = ways.layout, ways.standing
    numbers: dict[str, int] = {}

    def in_racks(group: NodeGroup | SwitchTier, count: int) -> _Filled:
        per_rack = count // group.count
        if group.units:  # each device by itself: racks differ in their number
            racks = tuple(rack for rack, units in filled(group) for _ in range(units))
        else:
            per_rack *= group.per_rack
            racks = listed(group.racks)[: ceil_div(count, per_rack)]
        return _Filled(count, tuple([numbers.setdefault(r, len(numbers)) for r in racks]), per_rack)

    planned = zip(layout.fabric.tiers, layout.tiers, strict=True)
    tiers = tuple([in_racks(tier, of.switches) for tier, of in planned])
    attached = tuple(
        _Attached(in_racks(one.group, one.count), one.interfaces or 0, _kinds(ways, one.group.name))
        for one in layout.hosts
    )
    stand = [standing.places[rack] for rack in numbers]
    halls = {hall: number for number, hall in enumerate(dict.fromkeys(one.hall for one in stand))}
    shape = _Shape(
        tuple(_trays(ways, hall) for hall in halls),
        tuple([_Place(halls[one.hall], one.row, one.along) for one in stand]),
        tiers,
        tuple((_index(ways, link.cables), link) for link in layout.links),
        attached,
        layout.runs,
    )
    return shape, tuple(halls)


def _trays(ways: CableRoutes, hall: int) -> _HallTrays:
    trays = ways.standing.trays.get(hall)
    if trays is None or trays.fill is not None:
        return _HallTrays(False, None, 0.0)  # noqa: FBT003 - a field of a tuple
    return _HallTrays(True, trays.joined, ways.standing.row_ends[hall])  # noqa: FBT003


def _index(ways: CableRoutes, kind: Cables) -> _Kind:
    names = [link.name for link in ways.layout.fabric.links]
    return names.index(kind.name)


def _kinds(ways: CableRoutes, group: str) -> tuple[_Kind, _Kind]:
    """Return the first kinds that are for cables of a group to other racks, and inside of a rack."""
    links = ways.layout.fabric.links
    own = [(number, link.same_rack) for number, link in enumerate(links) if link.lower == group]
    apart, inside = (
        next((number for number, only in own if only in {None, same}), len(links))
        for same in (False, True)
    )
    return apart, inside


@lru_cache(maxsize=32)
def _laid(shape: _Shape) -> tuple[_Laid, ...]:
    """Return the cables in each hall of a fabric of this shape; patches lie as the pattern does."""
    found = tuple(_Laid() for _ in shape.halls)
    for kind, link in shape.links:
        lower, upper = shape.tiers[link.lower], shape.tiers[link.upper]
        # The lower switches of a pod in one rack lie alike, and those of a pod share the upper ones.
        alike = Counter(
            (lower.rack(switch), uppers)
            for switch, uppers in link.connected(lower.number, upper.number)
        )
        above: dict[range, Counter[int]] = {}
        for (rack, uppers), switches in alike.items():
            if uppers not in above:
                above[uppers] = Counter(map(upper.rack, uppers))
            for other, count in above[uppers].items():
                cables = switches * count * (link.parallel or 0)
                _lay(shape, found, kind, (rack, other), cables)
    for run in shape.runs:
        hosts, interfaces, kinds = shape.attached[run.attachment]
        each, more = divmod(interfaces, len(run.leaves))
        leaves = Counter[int]()
        for rail, leaf in enumerate(run.leaves):
            leaves[shape.tiers[0].rack(leaf)] += each + (1 if rail < more else 0)
        for rack, count in Counter(
            map(hosts.rack, range(run.first, run.first + run.hosts))
        ).items():
            for other, cables in leaves.items():
                _lay(shape, found, kinds[rack == other], (rack, other), count * cables)
    return found


def _lay(
    shape: _Shape, found: tuple[_Laid, ...], kind: _Kind, ends: tuple[int, int], cables: int
) -> None:
    """Lay cables of a kind between two racks."""
    here, there = (shape.places[rack] for rack in ends)
    laid, trays = found[here.hall], shape.halls[here.hall]
    laid.reached = True
    if here.hall != there.hall:
        for hall in (here.hall, there.hall):
            found[hall].reached = found[hall].crossed = True
            if shape.halls[hall].counted:
                found[hall].met["another hall"] = None
        return
    if ends[0] == ends[1]:
        return
    laid.crossed = True
    if not trays.counted:
        return
    laid.met[kind] = None
    if here.row == there.row:
        laid.lie(_Tray(here.row), kind, cables, here.along, there.along)
        return
    end = end_between(trays.joined, trays.row_end, here.along, there.along)
    if end is None:
        laid.met["no way"] = None
        return
    at = 0.0 if end == "first" else trays.row_end
    laid.lie(_Tray(here.row), kind, cables, here.along, at)
    laid.lie(_Tray(there.row), kind, cables, there.along, at)
    laid.lie(_Tray(None, end), kind, cables, here.row, there.row)


_Sections = Mapping[_Tray, Mapping[tuple[int, _Kind], int]]
"""How many cables of a fabric and a kind are in the fullest section of each tray."""


@dataclass
class _Hall:
    site: OnPremSite
    path: Path
    index: int
    crossed: bool = False
    fabrics: dict[str, None] = field(default_factory=dict)
    laid: list[tuple[str, _Laid, dict[_Kind, _Cable]]] = field(default_factory=list)
    """What lies of each fabric, and its kinds of cables."""
    missing: list[Missing] = field(default_factory=list)

    @cached_property
    def trays(self) -> CableTrays | None:
        return self.site.halls[self.index].trays

    def take(self, ways: CableRoutes, laid: _Laid) -> None:
        """Take what lies of a fabric in the hall."""
        name, kinds = ways.layout.fabric.name, dict[_Kind, _Cable]()
        if laid.reached:
            self.fabrics[name] = None
        self.crossed = self.crossed or laid.crossed
        for met in laid.met:
            if met == "another hall":
                words = "'fill' of the trays, through which cables come from another hall"
                self._lacks(Missing(words, (*self.path, "trays", "fill")))
            elif met == "no way":
                for key in ("row_pitch", "joined"):
                    if getattr(self.trays, key) is None:
                        place = (*self.path, "trays", key)
                        self._lacks(Missing(f"'{key}' of the trays", place))
            else:
                kinds[met] = self._kind(ways, met)
        if kinds:
            self.laid.append((name, laid, kinds))

    def fullest(self) -> TrayFill:
        """Return the known part of the fullest section."""
        name, place = self.site.halls[self.index].name, (*self.path, "trays")
        trays, fabrics = self.trays, tuple(self.fabrics)
        if trays is None:
            lacking = (Missing("'trays' of the hall", place),)
            return TrayFill(hall=name, path=self.path, fabrics=fabrics, missing=lacking)
        if trays.fill is not None:
            return TrayFill(hall=name, path=place, fabrics=fabrics, percent=trays.fill)
        if trays.section is None:
            self._lacks(Missing("'section' of the trays", (*place, "section")))
        if self.missing or trays.section is None:
            return TrayFill(hall=name, path=place, fabrics=fabrics, missing=tuple(self.missing))
        areas = [
            tuple((key, kind.area) for key, kind in kinds.items()) for _, _, kinds in self.laid
        ]
        filled = _sections(tuple(zip((laid for _, laid, _ in self.laid), areas, strict=True)))
        sections = {
            tray: trays.section if tray.row is not None else trays.crossing or trays.section
            for tray in filled
        }
        found = [(tray, self._shares(filled[tray], inside)) for tray, inside in sections.items()]
        # Of those as full, the order of the file must not choose.
        tray, shares = min(found, key=lambda one: (-_percent(one[1]), self._words(one[0])))
        return TrayFill(
            hall=name,
            path=place,
            fabrics=fabrics,
            place=self._words(tray),
            percent=_percent(shares),
            width_m=sections[tray].width,
            shares=shares,
        )

    def _kind(self, ways: CableRoutes, kind: _Kind) -> _Cable:
        links = ways.layout.fabric.links
        if kind == len(links):
            return _Cable("", 0.0)  # the rule asks for a kind of those without one
        area = cross_section(ways.layout, links[kind])
        if area is None:
            place = (*ways.fabric_path, "links", kind)
            self._lacks(missing_diameter(ways.layout, links[kind], place))
        return _Cable(links[kind].name, area or 0.0)

    def _lacks(self, missing: Missing) -> None:
        if not any(
            one is missing or (one, one.fields) == (missing, missing.fields) for one in self.missing
        ):
            self.missing.append(missing)

    def _shares(
        self, counts: Mapping[tuple[int, _Kind], int], inside: TraySection
    ) -> tuple[TrayShare, ...]:
        """Return the kinds of cables in a section of a tray, the largest share first."""
        room = inside.width * min(inside.depth, MOST_DEPTH_M)
        shares = []
        for (number, kind), count in counts.items():
            fabric, _, kinds = self.laid[number]
            percent = 100 * count * kinds[kind].area / room
            shares.append(TrayShare(fabric, kinds[kind].name, count, percent))
        return tuple(sorted(shares, key=lambda one: (-one.percent, one.fabric, one.kind)))

    def _words(self, tray: _Tray) -> str:
        if tray.row is None:
            return f"tray across the rows at their {tray.end} racks"
        return f"tray of row {self.site.halls[self.index].rows[tray.row].name}"


@lru_cache(maxsize=32)  # equal halls are filled alike
def _sections(fabrics: tuple[tuple[_Laid, tuple[tuple[_Kind, float], ...]], ...]) -> _Sections:
    """Return the cables in the fullest section of each tray.

    Args:
        fabrics: what lies of each, with the section of a cable of each of its kinds in m².
    """
    areas = {(n, kind): area for n, (_, kinds) in enumerate(fabrics) for kind, area in kinds}
    steps: dict[_Tray, list[tuple[float, tuple[int, _Kind], int]]] = defaultdict(list)
    for n, (laid, _) in enumerate(fabrics):
        for tray, changes in laid.steps.items():
            steps[tray] += [(at, (n, kind), change) for (at, kind), change in changes.items()]
    return {tray: _fullest(sorted(each), areas) for tray, each in steps.items()}


def _fullest(
    steps: Sequence[tuple[float, tuple[int, _Kind], int]], areas: Mapping[tuple[int, _Kind], float]
) -> Mapping[tuple[int, _Kind], int]:
    """Return the cables in the fullest section of a tray, of which the steps are in order."""
    now, fullest, area = Counter[tuple[int, _Kind]](), Counter[tuple[int, _Kind]](), 0.0
    for _, step in groupby(steps, key=itemgetter(0)):
        for _, key, change in step:
            now[key] += change
        taken = math.fsum(count * areas[key] for key, count in now.items())
        if taken > area:
            fullest, area = Counter(now), taken
    return {key: count for key, count in fullest.items() if count}


def _percent(shares: Sequence[TrayShare]) -> float:
    return sum(share.percent for share in shares)
