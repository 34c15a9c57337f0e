"""Dashboards of Grafana, made by its own SDK from short descriptions: the same give the same bytes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from grafana_foundation_sdk.builders import (
    bargauge,
    common,
    dashboard,
    prometheus,
    stat,
    table,
    timeseries,
)
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models import common as kinds
from grafana_foundation_sdk.models import dashboard as models
from grafana_foundation_sdk.models.prometheus import PromQueryFormat

Kind = Literal["stat", "timeseries", "bargauge", "table"]
Unit = Literal[
    "short",
    "percentunit",
    "s",
    "bytes",
    "mbytes",
    "Bps",
    "ops",
    "watt",
    "kwatth",
    "celsius",
    "hertz",
]
"""Grafana's own identifiers; ``mbytes`` are mebibytes."""

Steps = tuple[tuple[float, str], ...]
"""From which value on another colour is shown, in rising order; green below them all."""

BAD: Steps = ((1, "red"),)
"""Colours of a count that should be zero."""

DOUBTFUL: Steps = ((1, "orange"),)
"""Colours of a count that should be zero, though nothing has to be done at once."""

SOURCE_UID = "rackwright-prometheus"
"""Data source that every panel asks; the role provisions it under this name."""

TAG = "rackwright"
"""By which dashboards find one another."""

SCHEMA = 39
"""Form of the JSON, that of Grafana 10.4; later releases convert it when they read it."""

COLUMNS = 24
"""Width of every dashboard, in Grafana's own measure."""

NO_COLUMNS = (
    "Time",
    "Value",
    "__name__",
    "alertstate",
    "job",
    "expected_gpus",
    "rack_power_limit_w",
)
"""Labels that say nothing in a table."""


@dataclass(frozen=True, slots=True)
class Query:
    """One question to Prometheus.

    Attributes:
        legend: name of each answer, with ``{{label}}`` for labels.
    """

    expression: str
    legend: str = ""


@dataclass(frozen=True, slots=True)
class Panel:
    """One picture.

    Attributes:
        note: what a reader must know that the title does not say.
        value: a table has the measured value as its last column, under this name.
    """

    title: str
    queries: tuple[Query, ...]
    kind: Kind = "timeseries"
    unit: Unit = "short"
    width: int = 12
    height: int = 8
    note: str = ""
    stacked: bool = False
    steps: Steps = ()
    least: float | None = None
    most: float | None = None
    value: str = ""


@dataclass(frozen=True, slots=True)
class PanelRow:
    """A heading with the panels below it."""

    title: str
    panels: tuple[Panel, ...]


@dataclass(frozen=True, slots=True)
class LabelChoice:
    """What readers choose at the top: values of a label, all of them to begin with."""

    name: str
    title: str
    values: str
    """Query of the values, like ``label_values(up, instance)``."""


@dataclass(frozen=True, slots=True)
class Dashboard:
    """A page.

    Attributes:
        uid: part of its address, never changed.
    """

    uid: str
    title: str
    note: str
    rows: tuple[PanelRow, ...]
    choices: tuple[LabelChoice, ...] = ()

    def panels(self) -> tuple[Panel, ...]:
        """The panels of all rows."""
        return tuple(panel for row in self.rows for panel in row.panels)


def number(
    title: str,
    expression: str,
    unit: Unit = "short",
    steps: Steps = (),
    note: str = "",
) -> Panel:
    """One value, as it is now."""
    return Panel(title, (Query(expression),), "stat", unit, 4, 4, note, steps=steps)


def course(title: str, *queries: Query, unit: Unit = "short", note: str = "") -> Panel:
    """Values over time, from zero on."""
    return Panel(title, queries, unit=unit, note=note, least=0)


def share(title: str, *queries: Query, note: str = "") -> Panel:
    """Shares over time, from nothing to all."""
    return Panel(title, queries, unit="percentunit", note=note, least=0, most=1)


def stack(title: str, *queries: Query) -> Panel:
    """Parts of a whole over time."""
    return Panel(title, queries, stacked=True, least=0)


Picture = stat.Panel | timeseries.Panel | bargauge.Panel | table.Panel


def render_dashboard(page: Dashboard) -> str:
    """The text of the file from which Grafana provisions a dashboard."""
    link = dashboard.DashboardLink("Dashboards").type(models.DashboardLinkType.DASHBOARDS)
    made = (
        dashboard.Dashboard(page.title)
        .uid(page.uid)
        .description(page.note)
        .tags([TAG])
        .version(1)
        .readonly()
        .tooltip(models.DashboardCursorSync.CROSSHAIR)  # through all panels
        .refresh("1m")
        .time("now-6h", "now")
        .timezone("browser")
        .link(link.tags([TAG]).keep_time(keep_time=True))
        .annotations([])
        .variables([_choice(choice) for choice in page.choices])
    )
    _place(made, page.rows)
    document = made.build()
    document.schema_version = SCHEMA
    return f"{JSONEncoder(indent=2, sort_keys=True).encode(document)}\n"


def _source() -> models.DataSourceRef:
    return models.DataSourceRef("prometheus", SOURCE_UID)


def _choice(choice: LabelChoice) -> dashboard.QueryVariable:
    return (
        dashboard.QueryVariable(choice.name)
        .label(choice.title)
        .datasource(_source())
        .query(choice.values)
        # So that new hosts are found.
        .refresh(models.VariableRefresh.ON_TIME_RANGE_CHANGED)
        .sort(models.VariableSort.ALPHABETICAL_ASC)
        .multi(multi=True)
        .include_all(include_all=True)
        # Short, where a list of every host would be too long for a query.
        .all_value(".*")
        .current(models.VariableOption(selected=True, text="All", value="$__all"))
    )


def _place(made: dashboard.Dashboard, rows: Sequence[PanelRow]) -> None:
    """Put the panels from left to right and from top to bottom, with numbers from 1 on.

    Left to itself, the SDK lets a panel that does not fit any more reach over the edge.
    """
    number, top = 0, 0
    for row in rows:
        number += 1
        at = models.GridPos(x=0, y=top, w=COLUMNS, h=1)
        made.with_row(dashboard.Row(row.title).collapsed(collapsed=False).id(number).grid_pos(at))
        top, left, tallest = top + 1, 0, 0
        for panel in row.panels:
            if left + panel.width > COLUMNS:
                top, left, tallest = top + tallest, 0, 0
            number += 1
            at = models.GridPos(x=left, y=top, w=panel.width, h=panel.height)
            made.with_panel(_panel(panel).id(number).grid_pos(at))
            left, tallest = left + panel.width, max(tallest, panel.height)
        top += tallest


def _panel(panel: Panel) -> Picture:
    made = _picture(panel).title(panel.title).description(panel.note).unit(panel.unit)
    made.datasource(_source()).targets(
        [_target(panel, index) for index in range(len(panel.queries))]
    )
    if panel.least is not None:
        made.min(panel.least)
    if panel.most is not None:
        made.max(panel.most)
    if panel.steps:
        steps = [models.Threshold(color="green")]
        steps += [models.Threshold(value=value, color=color) for value, color in panel.steps]
        mode = models.ThresholdsMode.ABSOLUTE
        made.thresholds(dashboard.ThresholdsConfig().mode(mode).steps(steps))
    return made


def _picture(panel: Panel) -> Picture:
    """A panel of its kind: what it shows, and how."""
    last = common.ReduceDataOptions().calcs(["lastNotNull"]).fields("").values(values=False)
    match panel.kind:
        case "stat":
            return (
                stat.Panel()
                .reduce_options(last)
                .color_mode(kinds.BigValueColorMode.VALUE)
                .graph_mode(kinds.BigValueGraphMode.NONE)
                .text_mode(kinds.BigValueTextMode.AUTO)
            )
        case "bargauge":
            return (
                bargauge.Panel()
                .reduce_options(last)
                .orientation(kinds.VizOrientation.HORIZONTAL)
                .display_mode(kinds.BarGaugeDisplayMode.BASIC)
                .show_unfilled(show_unfilled=True)
            )
        case "table":
            made = table.Panel().show_header(show_header=True)
            made.cell_height(kinds.TableCellHeight.SM)
            return made.with_transformation(_columns(panel))
        case "timeseries":
            return _over_time(stacked=panel.stacked)


def _over_time(*, stacked: bool) -> timeseries.Panel:
    mode = kinds.StackingMode.NORMAL if stacked else kinds.StackingMode.NONE
    legend = common.VizLegendOptions().display_mode(kinds.LegendDisplayMode.LIST).calcs([])
    legend.placement(kinds.LegendPlacement.BOTTOM).show_legend(show_legend=True)
    tooltip = common.VizTooltipOptions().mode(kinds.TooltipDisplayMode.MULTI)
    return (
        timeseries.Panel()
        .fill_opacity(40 if stacked else 0)
        .span_nulls(span_nulls=False)  # a gap tells that nothing was measured
        .stacking(common.StackingConfig().mode(mode).group("A"))
        .legend(legend)
        .tooltip(tooltip.sort(kinds.SortOrder.DESCENDING))
    )


def _target(panel: Panel, index: int) -> prometheus.Dataquery:
    query = panel.queries[index]
    form = PromQueryFormat.TABLE if panel.kind == "table" else PromQueryFormat.TIME_SERIES
    made = prometheus.Dataquery().expr(query.expression).format(form).datasource(_source())
    made.ref_id("ABCDEFGH"[index]).legend_format(query.legend or "__auto")
    return made.range() if panel.kind == "timeseries" else made.instant()


def _columns(panel: Panel) -> models.DataTransformerConfig:
    hidden = {name: True for name in NO_COLUMNS if not (panel.value and name == "Value")}
    names = {"Value": panel.value} if panel.value else {}
    options = {"excludeByName": hidden, "indexByName": {}, "renameByName": names}
    return models.DataTransformerConfig(id_val="organize", options=options)
