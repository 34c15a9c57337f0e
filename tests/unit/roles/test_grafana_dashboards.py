"""The dashboards of the role grafana: its files, which ``UPDATE_GOLDEN=1`` writes anew.

That Prometheus understands every question is seen by the end-to-end test of the role.
"""

from __future__ import annotations

import inspect
import json
import os
import re
from itertools import combinations
from typing import Any

import pytest
import yaml

from grafana_dashboards.build import (
    COLUMNS,
    SOURCE_UID,
    Dashboard,
    Panel,
    PanelRow,
    Query,
    render_dashboard,
)
from grafana_dashboards.cluster import DASHBOARDS
from promql import metrics_of
from rackwright.nodelife import metrics
from rackwright.resources import bundled

ROLES = bundled("roles")
FILES = ROLES / "grafana/files/dashboards"
LONGEST_UID = 40

each = pytest.mark.parametrize("dashboard", DASHBOARDS, ids=lambda one: one.uid)


def as_data(dashboard: Dashboard) -> dict[str, Any]:
    made = json.loads(render_dashboard(dashboard))
    assert isinstance(made, dict)
    return made


def test_the_files_of_the_role_are_these() -> None:
    made = {
        f"{one.uid.removeprefix('rackwright-')}.json": render_dashboard(one) for one in DASHBOARDS
    }
    if os.environ.get("UPDATE_GOLDEN"):
        for path in FILES.iterdir():
            path.unlink()
        for name, text in made.items():
            (FILES / name).write_text(text, encoding="utf-8")
    assert {path.name: path.read_text(encoding="utf-8") for path in FILES.iterdir()} == made


def test_addresses_and_titles_stay_and_are_unique() -> None:
    # People have bookmarks, and links in chats, to these.
    assert [(one.uid, one.title) for one in DASHBOARDS] == [
        ("rackwright-cluster", "Cluster"),
        ("rackwright-gpus", "GPUs"),
        ("rackwright-nodes", "Nodes"),
        ("rackwright-slurm", "Slurm"),
        ("rackwright-alerts", "Alerts"),
        ("rackwright-service", "Service"),
    ]
    assert max(len(one.uid) for one in DASHBOARDS) <= LONGEST_UID


def test_the_oldest_grafana_of_the_role_knows_the_form() -> None:
    """It does not convert what is newer; the SDK writes the form of its own release."""
    assert {as_data(one)["schemaVersion"] for one in DASHBOARDS} == {39}


def known_metrics() -> set[str]:
    """Names that the exporters of this collection, and Prometheus with its rules, have."""
    exporter = (ROLES / "slurm_exporter/files/slurm_exporter.py").read_text(encoding="utf-8")
    counters = yaml.safe_load(
        (ROLES / "dcgm_exporter/defaults/main.yml").read_text(encoding="utf-8")
    )
    rules = "".join(
        path.read_text(encoding="utf-8")
        for path in (ROLES / "prometheus/templates").glob("*rules*")
    )
    status = inspect.getsource(metrics)
    return {
        *re.findall(r'"(slurm_[a-z_]+)"', exporter),
        *re.findall(r'"(rackwright_[a-z_]+)"', status),
        *counters["dcgm_exporter_counters"],
        *re.findall(r"record: (\w+)", rules),
        *("up", "ALERTS"),
    }


@each
def test_only_what_is_measured_is_asked_for(dashboard: Dashboard) -> None:
    known = known_metrics()
    asked = {
        name
        for panel in dashboard.panels()
        for query in panel.queries
        for name in metrics_of(query.expression)
        # Those are asked of the real programs by the end-to-end test.
        if not name.startswith(("node_", "prometheus_"))
    }
    assert asked - known == set()
    assert asked or dashboard.title == "Nodes"


def test_every_counter_of_dcgm_is_on_a_panel() -> None:
    counters = yaml.safe_load(
        (ROLES / "dcgm_exporter/defaults/main.yml").read_text(encoding="utf-8")
    )
    asked = {
        name
        for dashboard in DASHBOARDS
        for panel in dashboard.panels()
        for query in panel.queries
        for name in metrics_of(query.expression)
    }
    assert set(counters["dcgm_exporter_counters"]) - asked == set()


def test_names_of_metrics_are_found_in_any_question() -> None:
    question = (
        'topk(2, sum by (a, b) (x_total{c=~"d e"}[5m]) / on (a) group_left up) or 1e6 * abs(y) > 0'
    )
    assert metrics_of(question) == {"x_total", "up", "y"}


@each
def test_panels_are_side_by_side_and_have_numbers_of_their_own(dashboard: Dashboard) -> None:
    panels = as_data(dashboard)["panels"]
    assert [panel["id"] for panel in panels] == list(range(1, len(panels) + 1))
    spots = [panel["gridPos"] for panel in panels]
    assert all(spot["x"] + spot["w"] <= COLUMNS for spot in spots)
    for one, other in combinations(spots, 2):
        apart = (
            one["x"] + one["w"] <= other["x"]
            or other["x"] + other["w"] <= one["x"]
            or one["y"] + one["h"] <= other["y"]
            or other["y"] + other["h"] <= one["y"]
        )
        assert apart, (one, other)


@each
def test_every_panel_has_a_title_of_its_own_row_and_asks_the_source_of_the_role(
    dashboard: Dashboard,
) -> None:
    for row in dashboard.rows:
        titles = [panel.title for panel in row.panels]
        assert len(titles) == len(set(titles)), titles
    source = {"type": "prometheus", "uid": SOURCE_UID}
    for panel in as_data(dashboard)["panels"]:
        if panel["type"] == "row":
            continue
        assert panel["datasource"] == source
        assert panel["targets"]
        assert all(target["datasource"] == source for target in panel["targets"])
        assert len({target["refId"] for target in panel["targets"]}) == len(panel["targets"])
    variables = yaml.safe_load((ROLES / "grafana/vars/main.yml").read_text(encoding="utf-8"))
    assert variables["grafana_source_uid"] == SOURCE_UID


def test_a_panel_that_does_not_fit_begins_a_new_line() -> None:
    panels = tuple(
        Panel(name, (Query("up"),), width=10, height=h)
        for name, h in zip("abc", (4, 6, 5), strict=True)
    )
    made = as_data(Dashboard("x", "X", "", (PanelRow("r", panels), PanelRow("s", panels[:1]))))
    spots = [tuple(panel["gridPos"][key] for key in "xywh") for panel in made["panels"]]
    assert spots == [
        (0, 0, 24, 1),
        (0, 1, 10, 4),
        (10, 1, 10, 6),
        (0, 7, 10, 5),
        (0, 12, 24, 1),
        (0, 13, 10, 4),
    ]
