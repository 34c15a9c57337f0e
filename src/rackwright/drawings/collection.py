"""Collection of all drawings of a plan, by file name."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Literal, get_args

from rackwright.drawings.aws import draw_aws
from rackwright.drawings.cooling import draw_cooling
from rackwright.drawings.elevation import cables_of, draw_rack
from rackwright.drawings.fabric import draw_fabric
from rackwright.drawings.floor import FloorMeasure, colours_of, draw_floor
from rackwright.drawings.one_line import draw_one_line
from rackwright.drawings.row import draw_row, rows_of
from rackwright.drawings.svg import Drawing
from rackwright.plan.expansion import SitePlan
from rackwright.plan.model import Plan
from rackwright.policy.engine import Result
from rackwright.report.overview.rack import view_rack

DrawingKind = Literal["racks", "rows", "floor", "power", "cooling", "fabric", "aws"]
KINDS: tuple[DrawingKind, ...] = get_args(DrawingKind)
"""Kinds of drawings of a site."""


def draw(
    plan: Plan,
    kind: DrawingKind,
    *,
    site: str | None = None,
    name: str | None = None,
    measure: FloorMeasure = "power",
    lost: str | None = None,
    results: Sequence[Result] = (),
) -> Iterator[tuple[str, Drawing]]:
    """Yield the file name and the drawing of each subject of a kind.

    Args:
        plan: plan to draw.
        kind: kind of the drawings.
        site: name of the only site to draw; None for all.
        name: name of the only rack, row, hall or fabric to draw; None for one rack of each class and every row,
            hall and fabric.
        measure: measure that colours the floor.
        lost: lost source in the one-line diagram.
        results: results of policies, for the headroom.
    """
    for one in plan.onprem:
        if site in {None, one.name}:
            for words, drawing in _of_site(plan, one, kind, name, measure, lost, results):
                yield f"{_file(kind, one.name, *words)}.svg", drawing
    if kind == "aws":
        for cloud in plan.aws:
            if site in {None, cloud.name}:
                yield f"{_file(kind, cloud.name)}.svg", draw_aws(cloud)


def _of_site(
    plan: Plan,
    site: SitePlan,
    kind: DrawingKind,
    name: str | None,
    measure: FloorMeasure,
    lost: str | None,
    results: Sequence[Result],
) -> Iterator[tuple[tuple[str, ...], Drawing]]:
    match kind:
        case "racks":
            cables = cables_of(site)
            for racks in site.racks:
                if name is None or name in racks.names:
                    rack = name or racks.names[0]
                    yield (rack,), draw_rack(view_rack(plan, site, racks, rack), cables)
        case "rows":
            for place in rows_of(site):
                if name in {None, place[1]}:
                    yield place, draw_row(site, *place)
        case "floor":
            colours = colours_of(site, measure, results)
            for hall in site.cooling.halls:
                if name in {None, hall.hall}:
                    yield (
                        (hall.hall, measure),
                        draw_floor(site, hall.hall, measure, colours=colours),
                    )
        case "power":
            if lost is None or any(source.source == lost for source in site.power.sources):
                yield ((lost,) if lost else ()), draw_one_line(site, lost)
        case "cooling":
            yield (), draw_cooling(site)
        case "fabric":
            for planned in site.fabrics:
                if name in {None, planned.name}:
                    yield (planned.name,), draw_fabric(planned)
        case "aws":
            return  # of other sites


def _file(*words: str) -> str:
    return "-".join(re.sub(r"[^A-Za-z0-9._-]+", "_", word) for word in words)
