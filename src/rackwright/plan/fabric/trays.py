"""How full trays are: the cables of all fabrics of a site, by the ways that their lengths follow.

A cable between two racks of a row lies above the racks between their middles. One to another row lies from
its rack to the end of the row, in the tray across the rows, and from the end of the other row to its rack.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from rackwright.model.fabric import Cables
from rackwright.model.onprem import CableTrays, OnPremSite, TraySection
from rackwright.plan.base import Path
from rackwright.plan.fabric.cables import cross_section, missing_diameter
from rackwright.plan.fabric.layout import Layout, connected
from rackwright.plan.fabric.lengths import CableRoutes, StandingRack
from rackwright.plan.missing import Missing

MOST_DEPTH_M = 0.15
"""Depth of a tray that counts, in m; what is deeper does not (NFPA 70 392.22(A)(2), ANSI/TIA-569)."""


class CableBundle(NamedTuple):
    """Equal cables of a fabric between two racks.

    Attributes:
        link: the kind that they are of; None where the blueprint has none for them.
        lower: name of one rack.
        upper: name of the other one.
        cables: their number.
    """

    link: Cables | None
    lower: str
    upper: str
    cables: int


@dataclass(frozen=True, slots=True)
class TrayShare:
    """What one kind of cables has in the fullest section of a tray.

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
    """How full the trays of each hall are through which cables go from rack to rack.

    Args:
        site: as the blueprint declares it.
        path: its place.
        routes: the ways of the cables of each fabric with hosts.
    """
    halls = [_Hall(site, (*path, "halls", index), index) for index in range(len(site.halls))]
    for ways in routes:
        places = ways.standing.places
        for bundle in bundles(ways):
            here, there = places[bundle.lower], places[bundle.upper]
            for index in (here.hall,) if here.hall == there.hall else (here.hall, there.hall):
                halls[index].fabrics[ways.layout.fabric.name] = None
                if bundle.lower != bundle.upper:
                    halls[index].lay(ways, bundle, here, there)
    for hall in halls:
        if hall.crossed:
            yield hall.fullest()


def bundles(ways: CableRoutes) -> Iterator[CableBundle]:
    """The cables of a fabric by their kind and the racks of their ends; patches lie as the pattern does."""
    for link in ways.layout.links:
        switches = Counter[tuple[str, str]]()
        above: dict[range, Counter[str]] = {}  # the lower switches of a pod share theirs
        for lower, uppers in connected(ways.layout, link):
            if uppers not in above:
                above[uppers] = Counter(ways.switch_rack(link.upper, upper) for upper in uppers)
            below = ways.switch_rack(link.lower, lower)
            for rack, count in above[uppers].items():
                switches[below, rack] += count
        for (below, rack), count in switches.items():
            yield CableBundle(link.cables, below, rack, count * (link.parallel or 0))
    for run in ways.layout.runs:
        interfaces = ways.layout.hosts[run.attachment].interfaces or 0
        each, more = divmod(interfaces, len(run.leaves))
        leaves = Counter[str]()
        for rail, leaf in enumerate(run.leaves):
            leaves[ways.switch_rack(0, leaf)] += each + (1 if rail < more else 0)
        hosts = range(run.first, run.first + run.hosts)
        for rack, count in Counter(ways.host_rack(run.attachment, host) for host in hosts).items():
            for other, cables in leaves.items():
                kind = _kind(ways.layout, run.attachment, rack == other)
                yield CableBundle(kind, rack, other, count * cables)


def _kind(layout: Layout, attachment: int, same_rack: bool) -> Cables | None:  # noqa: FBT001
    """The first kind that is for such cables of a group."""
    group = layout.hosts[attachment].group.name
    return next(
        (
            link
            for link in layout.fabric.links
            if link.lower == group and link.same_rack in {None, same_rack}
        ),
        None,
    )


class _Tray(NamedTuple):
    """A tray along a row, or across the rows at one of their ends."""

    row: int | None
    end: str = ""


class _Kind(NamedTuple):
    fabric: str
    name: str
    area: float


_Steps = dict[float, Counter[_Kind]]
"""How many cables of each kind begin at each position of a tray, less those that end there."""


@dataclass
class _Hall:
    site: OnPremSite
    path: Path
    index: int
    crossed: bool = False
    fabrics: dict[str, None] = field(default_factory=dict)
    laid: dict[tuple[_Kind, int | None, str, float, float], int] = field(
        default_factory=lambda: defaultdict(int)
    )
    """Cables of a kind in the tray of a row, or across at an end, between two positions in metres or rows."""
    kinds: dict[tuple[str, str], _Kind] = field(default_factory=dict)
    missing: list[Missing] = field(default_factory=list)

    @cached_property
    def trays(self) -> CableTrays | None:
        return self.site.halls[self.index].trays

    def lay(
        self, ways: CableRoutes, bundle: CableBundle, here: StandingRack, there: StandingRack
    ) -> None:
        """Lay cables that end in two racks, one of which stands in the hall."""
        self.crossed = True
        if self.trays is None or self.trays.fill is not None:
            return
        if here.hall != there.hall:
            words = "'fill' of the trays, through which cables come from another hall"
            self._lacks(Missing(words, (*self.path, "trays", "fill")))
            return
        kind = self._kind(ways, bundle.link)
        if here.row == there.row:
            self._between(kind, bundle.cables, here.row, "", here.along, there.along)
            return
        end = ways.end_between(here, there)
        if end is None:
            for name in ("row_pitch", "joined"):
                if getattr(self.trays, name) is None:
                    place = (*self.path, "trays", name)
                    self._lacks(Missing(f"'{name}' of the trays", place))
            return
        at = 0.0 if end == "first" else ways.standing.row_ends[self.index]
        self._between(kind, bundle.cables, here.row, "", here.along, at)
        self._between(kind, bundle.cables, there.row, "", there.along, at)
        self._between(kind, bundle.cables, None, end, here.row, there.row)

    def fullest(self) -> TrayFill:
        """What is known of the fullest section."""
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
        steps: dict[_Tray, _Steps] = defaultdict(lambda: defaultdict(Counter))
        for (kind, row, across, begin, end), cables in self.laid.items():
            along = steps[_Tray(row, across)]
            along[begin][kind] += cables
            along[end][kind] -= cables
        sections = {
            tray: trays.section if tray.row is not None else trays.crossing or trays.section
            for tray in steps
        }
        found = [(tray, _shares(steps[tray], inside)) for tray, inside in sections.items()]
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

    def _kind(self, ways: CableRoutes, link: Cables | None) -> _Kind:
        fabric = ways.layout.fabric
        name = "" if link is None else link.name  # the rule asks for a kind of those without one
        known = self.kinds.get((fabric.name, name))
        if known is not None:
            return known
        area = 0.0 if link is None else cross_section(ways.layout, link)
        if area is None and link is not None:
            place = (*ways.fabric_path, "links", fabric.links.index(link))
            self._lacks(missing_diameter(ways.layout, link, place))
        made = self.kinds[fabric.name, name] = _Kind(fabric.name, name, area or 0.0)
        return made

    def _between(
        self, kind: _Kind, cables: int, row: int | None, across: str, one: float, other: float
    ) -> None:
        # A large site has 100,000 of them, so that they are plain tuples.
        if one < other:
            self.laid[kind, row, across, one, other] += cables
        else:
            self.laid[kind, row, across, other, one] += cables

    def _lacks(self, missing: Missing) -> None:
        if not any(
            one is missing or (one, one.fields) == (missing, missing.fields) for one in self.missing
        ):
            self.missing.append(missing)

    def _words(self, tray: _Tray) -> str:
        if tray.row is None:
            return f"tray across the rows at their {tray.end} racks"
        return f"tray of row {self.site.halls[self.index].rows[tray.row].name}"


def _shares(steps: _Steps, inside: TraySection) -> tuple[TrayShare, ...]:
    """The kinds of cables in the fullest section of a tray, the largest share first."""
    room = inside.width * min(inside.depth, MOST_DEPTH_M)
    now, fullest, area = Counter[_Kind](), Counter[_Kind](), 0.0
    for _, step in sorted(steps.items()):
        for kind, change in step.items():
            now[kind] += change
        taken = math.fsum(count * kind.area for kind, count in now.items())
        if taken > area:
            fullest, area = Counter(now), taken
    shares = [
        TrayShare(kind.fabric, kind.name, count, 100 * count * kind.area / room)
        for kind, count in fullest.items()
        if count
    ]
    return tuple(sorted(shares, key=lambda one: (-one.percent, one.fabric, one.kind)))


def _percent(shares: Sequence[TrayShare]) -> float:
    return sum(share.percent for share in shares)
