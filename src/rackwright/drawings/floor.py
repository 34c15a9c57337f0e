"""Drawing of the floor of a hall: rows of racks, coloured by a measure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

from rackwright.drawings.scale import Scale, draw_legend, even_scale, left_scale
from rackwright.drawings.svg import Drawing, box, cells, fitted, group, label, line, number
from rackwright.plan.expansion import SitePlan
from rackwright.plan.records.facility import HallLoad
from rackwright.plan.records.racks import RackClass
from rackwright.policy.engine import Result
from rackwright.report.overview.headroom import headroom_of
from rackwright.report.wording import quantity_text

FloorMeasure = Literal["power", "heat", "weight", "headroom"]
MEASURES: tuple[FloorMeasure, ...] = get_args(FloorMeasure)
"""Measures that can colour racks."""
MOST_CELLS = 20_000
"""Maximum number of racks that are drawn one by one with their names; more are drawn by class."""
MOST_TIPS = 400
"""Maximum number of racks with tooltips and keyboard focus."""
_CELL, _DEEP, _GAP, _LEFT = 27.0, 52.0, 20.0, 78.0
_METRE = 45.0
"""Maximum scale, in pixels per metre."""
_NARROW = 13.0
"""Width of a rack in a row that is too long for the page, in pixels."""
_WIDE = 1180.0
_TITLES: Mapping[FloorMeasure, str] = {
    "power": "power of a rack",
    "heat": "heat of a rack to the air",
    "weight": "weight of a rack",
    "headroom": "least headroom of a rack",
}


@dataclass(frozen=True)
class FloorColours:
    """Scale of a measure over a site, and the value of each class of racks."""

    scale: Scale
    values: Sequence[float | None]

    def step(self, racks: int) -> str:
        """Return the step of a class of racks, by its index in ``SitePlan.racks``."""
        return self.scale.step(self.values[racks])


def colours_of(
    site: SitePlan, measure: FloorMeasure, results: Sequence[Result] = ()
) -> FloorColours:
    """Return the colours of a measure; the headroom is taken from ``results`` of policies."""
    title = _TITLES[measure]
    if measure == "headroom":
        left = _least_left(site, results)
        return FloorColours(left_scale(title), left)
    unit = "kg" if measure == "weight" else "W"
    values = [_number(own, measure) for own in site.racks]
    return FloorColours(even_scale(title, unit, values), values)


def _number(own: RackClass, measure: FloorMeasure) -> float | None:
    if measure == "power":
        return own.kind.power_w
    return own.kind.weight_kg if measure == "weight" else own.kind.heat_air_w


def _least_left(site: SitePlan, results: Sequence[Result]) -> list[float | None]:
    """Return the headroom of the tightest budget of each class of racks, in %, by place in the blueprint.

    Exact requirements are omitted: they have no headroom.
    """
    paths = {own.path for own in site.racks}
    depth = len(site.racks[0].path) if site.racks else 0
    found: dict[tuple[str | int, ...], float] = {}
    unknown = set()
    for result in results:
        path = result.subject.path[:depth]
        row = headroom_of(result) if path in paths else None
        if row is None or row.is_exact:
            continue
        if row.left is None:
            unknown.add(path)
            continue
        share = -100.0 if row.share is None else 100 * row.share
        found[path] = min(share, found.get(path, share))
    # An unknown budget may be tighter than all known ones; only a failure is certain.
    return [
        None if own.path in unknown and found.get(own.path, 0.0) >= 0 else found.get(own.path)
        for own in site.racks
    ]


def draw_floor(
    site: SitePlan,
    hall: str,
    measure: FloorMeasure = "power",
    colours: FloorColours | None = None,
    *,
    legend: bool = True,
) -> Drawing:
    """Return the drawing of a hall, rows from front to back; to scale if the depths of aisles are known.

    Args:
        site: plan of the site.
        hall: name of the hall.
        measure: measure that colours the racks.
        colours: scale for all halls of the site; required for the headroom, which needs results of policies.
        legend: True to draw the legend.
    """
    colours = colours or colours_of(site, measure, ())
    rows: dict[str, list[_Cell]] = {}
    for number_, racks in enumerate(site.racks):
        if racks.hall == hall:
            places = zip(racks.names, racks.positions, strict=True)
            row = rows.setdefault(racks.row, [])
            row += [_Cell(number_, racks, rack, position) for rack, position in places]
    grid = _grid(rows)
    standing = sum(racks.count for racks in site.racks)
    singly = standing <= MOST_CELLS
    record = next(one for one in site.cooling.halls if one.hall == hall)
    parts = [label(12, 22, f"{site.name} {hall}", class_="head")]
    told = _hall_words(record)
    parts += [label(12, 40 + 15 * n, text, class_="soft") for n, text in enumerate(told)]
    y = 48.0 + 15 * len(told)
    edges = {name: grid.edges(row) for name, row in rows.items()}
    ends = (
        edges[name][one.position] + grid.widths[one.number]
        for name, row in rows.items()
        for one in row
    )
    width = max(max(ends, default=_LEFT) + 16, 560.0)
    if legend:
        drawn, wide = draw_legend(colours.scale, 12, y)
        parts.append(drawn)
        width = max(width, wide + 24)
        y += 30
    for name, row in rows.items():
        parts.append(label(12, y + grid.deep / 2 + 4, fitted(name, _LEFT - 18), class_="sub"))
        if singly:
            tips = standing <= MOST_TIPS
            parts += [
                _cell(one, colours, edges[name][one.position], y, grid, tips=tips) for one in row
            ]
        else:
            parts += _by_class(row, colours, edges[name], y, grid)
        y += grid.deep + grid.gap
    parts.append(_scale_bar(grid, y - grid.gap + 8))
    y += max(0.0, 24.0 - grid.gap)
    return Drawing(f"floor of {hall}, {colours.scale.title}", width, y, "".join(parts))


def _hall_words(hall: HallLoad) -> list[str]:
    power = f"racks draw {quantity_text(hall.power_w, 'W')}"
    if hall.power_limit_w is not None:
        power += f" of {quantity_text(hall.power_limit_w, 'W')}"
    heat = f"heat {quantity_text(hall.heat_air_w, 'W')} to air, {quantity_text(hall.heat_liquid_w, 'W')} to liquid"
    lines = [f"{power}; {heat}; weight {quantity_text(hall.weight_kg, 'kg')}"]
    if hall.handlers is not None:
        lines.append(
            f"{hall.handlers} × {hall.handler}: carry {quantity_text(hall.air_capacity_w, 'W')}, "
            f"{quantity_text(hall.air_capacity_n1_w, 'W')} with one lost; containment {hall.containment}; "
            f"inlet {quantity_text(hall.inlet_c, '°C')}"
        )
    return lines


class _Cell(NamedTuple):
    """Rack of a hall.

    Attributes:
        number: index of its class in ``SitePlan.racks``.
        racks: class of the rack.
        name: name of the rack.
        position: position in the row, from 0.
    """

    number: int
    racks: RackClass
    name: str
    position: int


@dataclass(frozen=True, slots=True)
class _Grid:
    """Sizes of racks on the floor, in pixels.

    Attributes:
        widths: width of a rack, by the index of its class.
        usual: width of a position without a rack.
        deep: depth of a row.
        gap: distance between two rows.
        metre: scale in pixels per metre; None if the drawing is not to scale.
    """

    widths: Mapping[int, float]
    usual: float
    deep: float
    gap: float
    metre: float | None

    def edges(self, row: Sequence[_Cell]) -> dict[int, float]:
        """Return the left edge of each rack of a row by its position."""
        made: dict[int, float] = {}
        x, place = _LEFT, 0
        for rack in sorted(row, key=lambda one: one.position):
            x += self.usual * (rack.position - place)
            made[rack.position] = x
            x += self.widths[rack.number]
            place = rack.position + 1
        return made


def _grid(rows: Mapping[str, Sequence[_Cell]]) -> _Grid:
    """Return the sizes of a hall: to scale if the aisles of all racks are known, or else equal cells."""
    kinds = {one.number: one.racks.kind for row in rows.values() for one in row}
    longest = max((max(one.position for one in row) + 1 for row in rows.values()), default=1)
    wide: dict[int, float] = {}
    aisle = 0.0
    for number_, kind in kinds.items():
        if kind.footprint_m2 is None or kind.aisle_m is None:
            cell = max(_NARROW, min(_CELL, (_WIDE - _LEFT) / longest))
            return _Grid(dict.fromkeys(kinds, cell), cell, _DEEP, _GAP, None)
        # The footprint includes the aisle: the width of a rack follows from both depths.
        wide[number_] = kind.footprint_m2 / (kind.rack_depth_m + kind.aisle_m)
        aisle = max(aisle, kind.aisle_m)
    usual = min(wide.values(), default=0.6)
    room = max(
        usual * longest, *(sum(wide[one.number] for one in row) for row in rows.values()), usual
    )
    metre = max(_NARROW / usual, min(_METRE, (_WIDE - _LEFT) / room))
    deepest = max((kind.rack_depth_m for kind in kinds.values()), default=1.2)
    sizes = {number_: metre * width for number_, width in wide.items()}
    return _Grid(sizes, metre * usual, metre * deepest, metre * aisle, metre)


def _scale_bar(grid: _Grid, y: float) -> str:
    if grid.metre is None:
        return label(
            _LEFT, y + 10, "not to scale: the depth of the aisles is not set", class_="soft"
        )
    bar = line([(_LEFT, y + 6), (_LEFT + grid.metre, y + 6)], class_="mark")
    return bar + label(_LEFT + grid.metre + 8, y + 10, "1 m", class_="soft")


def _cell(
    rack: _Cell, colours: FloorColours, x: float, y: float, grid: _Grid, *, tips: bool
) -> str:
    cell = grid.widths[rack.number]
    name = rack.name
    middle, centre = x + cell / 2, y + grid.deep / 2
    fill = box(x, y, cell, grid.deep, class_=f"rack {colours.step(rack.number)}")
    if cells(name) * 6.1 <= cell - 4:
        text = label(middle, centre + 4, name, class_="mid")
    else:
        turned = f"rotate(-90 {number(middle)} {number(centre)})"
        text = label(
            middle,
            centre + 3.5,
            fitted(name, grid.deep - 6, sign=5.4),
            class_="mid small" if cell < _CELL else "mid",
            transform=turned,
        )
    told = quantity_text(colours.values[rack.number], colours.scale.unit)
    tip = f"{name}: {told}, {rack.racks.kind.type}" if tips else None
    few = {"tabindex": 0, "role": "button"} if tip else {}
    return group([fill, text], tip, class_="cell", data_k=rack.number, data_r=name, **few)


def _by_class(
    row: Sequence[_Cell], colours: FloorColours, edges: Mapping[int, float], y: float, grid: _Grid
) -> list[str]:
    """Return the racks of a row with one shape per class."""
    found: dict[int, list[float]] = {}
    for rack in sorted(row, key=lambda one: one.position):
        found.setdefault(rack.number, []).append(edges[rack.position])
    made = []
    for number_, own in found.items():
        wide, deep = number(grid.widths[number_] - 1), number(grid.deep)
        shape = "".join(f"M{number(edge)} {number(y)}h{wide}v{deep}h-{wide}z" for edge in own)
        path = f'<path class="rack {colours.step(number_)}" d="{shape}"/>'
        made.append(group([path], None, class_="cell", data_k=number_))
    return made
