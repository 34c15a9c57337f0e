"""Drawing of the heat of a site: from the racks through air and coolant to the outside air."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rackwright.drawings.svg import Drawing, box, fitted, group, label, line
from rackwright.plan.expansion import SitePlan
from rackwright.plan.plant_products import rejecting_products
from rackwright.plan.records.cooling import CoolingStage
from rackwright.plan.records.facility import LoopLoad
from rackwright.report.wording import quantity_text

_WIDE, _HIGH, _APART, _DOWN, _TOP = 210.0, 82.0, 62.0, 100.0, 74.0
_COLUMNS = {"racks": 0, "air handlers": 1, "CDUs": 1, "pumps": 2, "heat rejection": 3}
_HEADS = ("heat of racks", "air handlers, CDUs", "facility water", "heat rejection")
_TRACK = _WIDE - 20


@dataclass(frozen=True)
class _Stage:
    """Box of the drawing, with the boxes that its heat comes from."""

    kind: str
    title: str
    lines: Sequence[str]
    heat_w: float | None
    capacity_w: float | None
    halls: frozenset[str]
    loops: frozenset[str]
    of: str


def draw_cooling(site: SitePlan) -> Drawing:
    """Return the drawing of the stages that carry heat, each with its capacity after the loss of a unit."""
    stages = [*_racks(site), *(_stage(site, one) for one in site.cooling.stages)]
    columns: dict[int, list[_Stage]] = {}
    for one in stages:
        columns.setdefault(_COLUMNS[one.kind], []).append(one)
    there = sorted(columns)
    height = _TOP + _DOWN * max((len(columns[n]) for n in there), default=1)
    at: dict[int, tuple[float, float]] = {}
    for number, column in enumerate(there):
        space = (height - _TOP - _DOWN * len(columns[column])) / 2
        for place, one in enumerate(columns[column]):
            at[id(one)] = (12 + number * (_WIDE + _APART), _TOP + space + place * _DOWN)
    parts = [
        label(12, 22, f"{site.name} cooling", class_="head"),
        label(
            12,
            40,
            "Heat that each stage carries, of what it can with the largest unit lost.",
            class_="soft",
        ),
    ]
    parts += [
        label(12 + n * (_WIDE + _APART), 62, _HEADS[column], class_="sub soft")
        for n, column in enumerate(there)
    ]
    parts += _pipes(columns, there, at)
    parts += [_draw(one, *at[id(one)]) for one in stages]
    width = max(560.0, 12 + len(there) * (_WIDE + _APART) - _APART + 12)
    return Drawing(f"cooling of {site.name}", width, height + 6, "".join(parts))


def _racks(site: SitePlan) -> list[_Stage]:
    made = [
        _Stage(
            "racks",
            f"air of {hall.hall}",
            (
                f"inlet {quantity_text(hall.inlet_c, '°C')}, {quantity_text(hall.airflow_cfm, 'CFM')}",
            ),
            hall.heat_air_w,
            None,
            frozenset({hall.hall}),
            frozenset(),
            hall.hall,
        )
        for hall in site.cooling.halls
        if hall.heat_air_w is None or hall.heat_air_w > 0
    ]
    return made + [
        _Stage(
            "racks",
            f"loop {loop.loop}",
            (_loop_words(loop),),
            loop.heat_w,
            None,
            frozenset(),
            frozenset({loop.loop}),
            loop.loop,
        )
        for loop in site.cooling.loops
    ]


def _loop_words(loop: LoopLoad) -> str:
    each = " in a rack" if loop.in_rack else ""
    return f"{quantity_text(loop.flow_lpm, 'L/min')}{each}, supply {quantity_text(loop.supply_c, '°C')}, rise {quantity_text(loop.rise_k, 'K')}"


def _stage(site: SitePlan, one: CoolingStage) -> _Stage:
    loops = {loop.loop: loop for loop in site.cooling.loops}
    lines = []
    if one.kind == "CDUs" and (loop := loops.get(one.of)):
        lines.append(f"{loop.cdu}, facility water {quantity_text(loop.facility_c, '°C')}")
    if one.kind == "heat rejection" and (products := rejecting_products(site, one.of)):
        lines.append(", ".join(products))
    capacity = one.capacity_n1_w
    if one.lost is not None:
        lines.append(f"after losing {one.lost}: {quantity_text(one.lost_capacity_w, 'W')}")
    return _Stage(
        one.kind,
        f"{one.units} {one.kind}, {one.of}",
        lines,
        one.heat_w,
        capacity,
        frozenset(one.halls),
        frozenset(one.loops),
        one.of,
    )


def _pipes(
    columns: dict[int, list[_Stage]], there: Sequence[int], at: dict[int, tuple[float, float]]
) -> list[str]:
    """Return a line from each stage to the next stages that carry its heat."""
    made = []
    for place, column in enumerate(there):
        for one in columns[column]:
            left = {("hall", name) for name in one.halls} | {("loop", name) for name in one.loops}
            for later in there[place + 1 :]:
                for other in columns[later]:
                    takes = {("hall", n) for n in other.halls} | {("loop", n) for n in other.loops}
                    if not left & takes:
                        continue
                    # Heat flows to the next stage that takes it, not past it to later ones.
                    left -= takes
                    (x, y), (to_x, to_y) = at[id(one)], at[id(other)]
                    start, end = (x + _WIDE, y + _HIGH / 2), (to_x, to_y + _HIGH / 2)
                    bend = end[0] - _APART / 2
                    points = [start, (bend, start[1]), (bend, end[1]), end]
                    made.append(line(points, class_="wire"))
    return made


def _draw(one: _Stage, x: float, y: float) -> str:
    share = None if one.heat_w is None or not one.capacity_w else one.heat_w / one.capacity_w
    over = share is not None and share > 1 + 1e-9
    numbers = quantity_text(one.heat_w, "W")
    parts = [
        box(x, y, _WIDE, _HIGH, rx=4, class_="panel"),
        label(x + 10, y + 18, fitted(one.title, _WIDE - 18), class_="sub"),
    ]
    bottom = y + 34
    if one.kind != "racks":
        numbers += f" of {quantity_text(one.capacity_w, 'W')}"
        filled = 0.0 if share is None else _TRACK * min(1.0, share)
        parts += [
            box(x + 10, y + 25, _TRACK, 7, class_="track"),
            box(x + 10, y + 25, filled, 7, class_="over" if over else "used"),
        ]
        bottom = y + 47
    parts.append(label(x + 10, bottom, numbers, class_="bad" if over else None))
    for number, text in enumerate(one.lines[:2]):
        shown = fitted(text, _WIDE - 16, sign=5.3)
        parts.append(label(x + 10, bottom + 14 + 12 * number, shown, class_="small soft"))
    return group(parts, "; ".join([one.title, *one.lines]), class_="stage", data_c=one.of)
