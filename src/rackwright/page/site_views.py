"""View of a bare-metal site for the page: drawings, and their data for interactions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from rackwright.drawings.cooling import draw_cooling
from rackwright.drawings.fabric import alike_runs, draw_fabric, is_small
from rackwright.drawings.floor import MEASURES, FloorColours, FloorMeasure, colours_of, draw_floor
from rackwright.drawings.one_line import Box, box_state, boxes_of, draw_one_line, states_after_loss
from rackwright.drawings.row import draw_row, rows_of
from rackwright.drawings.scale import draw_legend
from rackwright.drawings.svg import Drawing
from rackwright.harmless import visible
from rackwright.model.quantities import format_quantity
from rackwright.page.racks import Elevations, rack_data
from rackwright.plan.expansion import SitePlan
from rackwright.plan.fabric.fabrics import FabricPlan
from rackwright.plan.fabric.layout import Layout
from rackwright.plan.model import Plan
from rackwright.policy.engine import Result
from rackwright.report.wording import printable, quantity_text

MOST_ROWS = 6
"""Maximum number of rows whose fronts are on the page; 'rackwright draw rows' draws all."""
MOST_STATES = 200_000
"""Maximum number of boxes of all states after losses; a larger one-line shows only the normal state."""


@dataclass(frozen=True, slots=True)
class SourceRow:
    """Power source, or equal ones, in the table below the one-line diagram.

    Attributes:
        key: key of the box.
        title: name of the source.
        kind: kind of the source.
        state: normal load and capacity, in words.
        share: normal load in % of the capacity; empty if unknown.
        worst: highest load after the loss of another source, in words.
    """

    key: str
    title: str
    kind: str
    state: str
    share: str
    worst: str


@dataclass(frozen=True, slots=True)
class FabricView:
    """View of a fabric.

    Attributes:
        number: index of the fabric in its site, from 0.
        name: name of the fabric.
        svg: drawing of the fabric.
        rails: numbers of the rails, from 1; empty without rails.
        units: units to choose from, by their shape: label and number.
        by_unit: True if the fabric is too large to be drawn as a whole.
    """

    number: int
    name: str
    svg: Markup
    rails: Sequence[int]
    units: Sequence[Sequence[tuple[int, str]]]
    by_unit: bool


@dataclass(frozen=True, slots=True)
class SiteView:
    """View of a site; drawings are SVG.

    Attributes:
        number: index of the site, from 0.
        name: name of the site.
        legends: legend of each measure of the floor.
        floors: drawing of each hall.
        rows: fronts of each row of racks.
        one_line: one-line diagram of the power.
        sources: rows of the table of power sources.
        cooling: drawing of the cooling.
        fabrics: views of the fabrics.
        data: data for the script of the page.
    """

    number: int
    name: str
    legends: Mapping[FloorMeasure, Markup]
    floors: Sequence[Markup]
    rows: Sequence[Markup]
    one_line: Markup
    sources: Sequence[SourceRow]
    cooling: Markup
    fabrics: Sequence[FabricView]
    data: Mapping[str, Any]


def view_site(
    plan: Plan, number: int, results: Sequence[Result], elevations: Elevations
) -> SiteView:
    """Return the view of a site, and add its elevations to those of the page."""
    site = plan.onprem[number]
    colours = {measure: colours_of(site, measure, results) for measure in MEASURES}
    boxes = boxes_of(site)
    data = {
        "name": printable(site.name),
        **rack_data(plan, site, elevations),
        "floor": {measure: _steps(site, one) for measure, one in colours.items()},
        "power": _states(site, boxes),
        "fabrics": [
            {"name": visible(one.name), **_fabric_data(one.layout)} for one in site.fabrics
        ],
    }
    return SiteView(
        number=number,
        name=printable(site.name),
        legends={measure: _legend(one) for measure, one in colours.items()},
        floors=[
            _svg(draw_floor(site, hall.hall, colours=colours["power"], legend=False))
            for hall in site.cooling.halls
        ],
        rows=[_svg(draw_row(site, hall, row)) for hall, row in rows_of(site)[:MOST_ROWS]],
        one_line=_svg(draw_one_line(site)),
        sources=[_source_row(one) for one in boxes if one.members],
        cooling=_svg(draw_cooling(site)),
        fabrics=[_fabric_view(one, place) for place, one in enumerate(site.fabrics)],
        data=data,
    )


def _svg(drawing: Drawing) -> Markup:
    return Markup(drawing.inline())  # noqa: S704 - a drawing escapes what is in it # nosec B704


def _steps(site: SitePlan, colours: FloorColours) -> list[tuple[str, str]]:
    """Return the step and the value in words of each class of racks."""
    unit = colours.scale.unit
    return [
        (colours.step(number), quantity_text(colours.values[number], unit))
        for number in range(len(site.racks))
    ]


def _legend(colours: FloorColours) -> Markup:
    drawn, width = draw_legend(colours.scale, 0, 4)
    return _svg(Drawing(colours.scale.title, width, 20, drawn))


def _source_row(one: Box) -> SourceRow:
    state = box_state(one)
    worst = ""
    if one.worst_w is not None and one.worst_lost is not None:
        worst = f"{format_quantity(one.worst_w, 'W')} without {printable(one.worst_lost)}"
    return SourceRow(
        key=visible(one.key),
        title=printable(one.title),
        kind=one.kind.replace("_", " "),
        state=state.words,
        share="" if state.share is None else f"{100 * state.share:.0f} %",
        worst=worst,
    )


def _states(site: SitePlan, boxes: Sequence[Box]) -> dict[str, Any]:
    """Return text, share and state of each box that changes, by lost source."""
    sources = [one for one in boxes if one.members]
    keys = {visible(name): visible(one.key) for one in sources for name in one.members}
    # Each loss may change every box: the states grow with the square of the boxes.
    if len(sources) ** 2 > MOST_STATES:
        return {"boxes": keys, "states": {}}
    found = {
        visible(lost): {
            visible(key): (
                state.words,
                None if state.share is None else round(state.share, 4),
                state.gone or ("over" if state.over else ""),
            )
            for key, state in states.items()
        }
        for lost, states in states_after_loss(site, boxes).items()
    }
    return {"boxes": keys, "states": found}


def _fabric_view(planned: FabricPlan, number: int) -> FabricView:
    layout, svg = planned.layout, _svg(draw_fabric(planned))
    name = printable(planned.name)
    if layout is None:
        return FabricView(number, name, svg, (), (), by_unit=False)
    if is_small(layout):
        rails = max((len(run.leaves) for run in layout.runs), default=1)
        shown = tuple(range(1, rails + 1)) if rails > 1 else ()
        return FabricView(number, name, svg, shown, (), by_unit=False)
    spans = _spans(layout)
    units = [[(run, spans[run]) for run in alike] for alike in alike_runs(layout)]
    return FabricView(number, name, svg, (), units, by_unit=True)


def _spans(layout: Layout) -> list[str]:
    """Return the first and the last host of each run."""
    names = [hosts.names for hosts in layout.hosts]
    made = []
    for run in layout.runs:
        own = names[run.attachment]
        first, last = own[run.first], own[run.first + run.hosts - 1]
        made.append(printable(first if first == last else f"{first} to {last}"))
    return made


def _fabric_data(layout: Layout | None) -> dict[str, Any]:
    """Return the cabling of each unit of a fabric that is drawn by unit."""
    if layout is None or is_small(layout):
        return {}
    leaf = layout.tiers[0]
    runs = [
        (run.hosts, run.leaves, run.first_port, run.ports, span)
        for run, span in zip(layout.runs, _spans(layout), strict=True)
    ]
    return {
        "leaf": (
            visible(leaf.prefix),
            leaf.digits or len(str(leaf.switches)),
            None if leaf.own_names is None else [visible(name) for name in leaf.names()],
        ),
        "runs": runs,
        "shapes": alike_runs(layout),
    }
