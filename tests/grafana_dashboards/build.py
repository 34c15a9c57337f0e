"""Dashboards of Grafana as JSON, made from short descriptions: the same ones give the same bytes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

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


def render_dashboard(dashboard: Dashboard) -> str:
    """The text of the file from which Grafana provisions a dashboard."""
    return json.dumps(_dashboard(dashboard), indent=2, sort_keys=True) + "\n"


def _dashboard(dashboard: Dashboard) -> dict[str, Any]:
    link = {
        "type": "dashboards",
        "title": "Dashboards",
        "tags": [TAG],
        "asDropdown": False,
        "includeVars": False,
        "keepTime": True,
        "targetBlank": False,
        "icon": "",
        "tooltip": "",
        "url": "",
    }
    return {
        "uid": dashboard.uid,
        "title": dashboard.title,
        "description": dashboard.note,
        "tags": [TAG],
        "schemaVersion": SCHEMA,
        "version": 1,
        "editable": False,
        "graphTooltip": 1,  # one crosshair through all panels
        "refresh": "1m",
        "time": {"from": "now-6h", "to": "now"},
        "timezone": "browser",
        "links": [link],
        "annotations": {"list": []},
        "templating": {"list": [_choice(choice) for choice in dashboard.choices]},
        "panels": _place(dashboard.rows),
    }


def _source() -> dict[str, str]:
    return {"type": "prometheus", "uid": SOURCE_UID}


def _choice(choice: LabelChoice) -> dict[str, Any]:
    every = {"text": "All", "value": "$__all", "selected": True}
    return {
        "type": "query",
        "name": choice.name,
        "label": choice.title,
        "datasource": _source(),
        "query": choice.values,
        "refresh": 2,  # whenever the time range changes, so that new hosts are found
        "sort": 1,
        "multi": True,
        "includeAll": True,
        # Short, where a list of every host would be too long for a query.
        "allValue": ".*",
        "current": every,
    }


def _place(rows: Sequence[PanelRow]) -> list[dict[str, Any]]:
    """The panels from left to right and from top to bottom, with numbers from 1 on."""
    made: list[dict[str, Any]] = []
    top = 0
    for row in rows:
        at = {"x": 0, "y": top, "w": COLUMNS, "h": 1}
        heading = {"type": "row", "title": row.title, "collapsed": False, "panels": []}
        made.append({"id": len(made) + 1, "gridPos": at, **heading})
        top, left, tallest = top + 1, 0, 0
        for panel in row.panels:
            if left + panel.width > COLUMNS:
                top, left, tallest = top + tallest, 0, 0
            at = {"x": left, "y": top, "w": panel.width, "h": panel.height}
            made.append({"id": len(made) + 1, "gridPos": at, **_panel(panel)})
            left, tallest = left + panel.width, max(tallest, panel.height)
        top += tallest
    return made


def _panel(panel: Panel) -> dict[str, Any]:
    defaults: dict[str, Any] = {"unit": panel.unit, "custom": _custom(panel)}
    if panel.least is not None:
        defaults["min"] = panel.least
    if panel.most is not None:
        defaults["max"] = panel.most
    if panel.steps:
        steps: list[dict[str, Any]] = [{"color": "green", "value": None}]
        steps += [{"color": color, "value": value} for value, color in panel.steps]
        defaults["thresholds"] = {"mode": "absolute", "steps": steps}
    made: dict[str, Any] = {
        "type": panel.kind,
        "title": panel.title,
        "description": panel.note,
        "datasource": _source(),
        "targets": [_target(panel, index) for index in range(len(panel.queries))],
        "fieldConfig": {"defaults": defaults, "overrides": []},
        "options": dict(_OPTIONS[panel.kind]),
    }
    if panel.kind == "table":
        made["transformations"] = [_columns(panel)]
    return made


def _custom(panel: Panel) -> dict[str, Any]:
    """Settings of the kind of panel."""
    if panel.kind != "timeseries":
        return {}
    stacking = {"mode": "normal" if panel.stacked else "none", "group": "A"}
    # A gap tells that nothing was measured.
    return {"fillOpacity": 40 if panel.stacked else 0, "spanNulls": False, "stacking": stacking}


def _target(panel: Panel, index: int) -> dict[str, Any]:
    query, now = panel.queries[index], panel.kind != "timeseries"
    return {
        "refId": "ABCDEFGH"[index],
        "datasource": _source(),
        "expr": query.expression,
        "legendFormat": query.legend or "__auto",
        "instant": now,
        "range": not now,
        "format": "table" if panel.kind == "table" else "time_series",
    }


def _columns(panel: Panel) -> dict[str, Any]:
    hidden = {name: True for name in NO_COLUMNS if not (panel.value and name == "Value")}
    names = {"Value": panel.value} if panel.value else {}
    options = {"excludeByName": hidden, "indexByName": {}, "renameByName": names}
    return {"id": "organize", "options": options}


_REDUCE = {"calcs": ["lastNotNull"], "fields": "", "values": False}

_OPTIONS: Mapping[Kind, Mapping[str, Any]] = {
    "stat": {
        "reduceOptions": _REDUCE,
        "colorMode": "value",
        "graphMode": "none",
        "textMode": "auto",
    },
    "bargauge": {
        "reduceOptions": _REDUCE,
        "orientation": "horizontal",
        "displayMode": "basic",
        "showUnfilled": True,
    },
    "table": {"showHeader": True, "cellHeight": "sm"},
    "timeseries": {
        "legend": {"calcs": [], "displayMode": "list", "placement": "bottom", "showLegend": True},
        "tooltip": {"mode": "multi", "sort": "desc"},
    },
}
"""What each kind shows, and how."""
