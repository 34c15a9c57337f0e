"""Tasks for hands in the hall have rack, unit, part and cable; a shared part is one task."""

from __future__ import annotations

from pathlib import Path

import pytest

from rackwright.nodelife.service import Incident, cause_of, service_figures
from rackwright.nodelife.status import PartOutOfService, PlanPart, SiteStatus, tasks_of
from rackwright.nodelife.worklist import HandTask, worklist
from rackwright.plan.load import load_plan
from rackwright.plan.model import Plan
from rackwright.policy.packs.loader import builtin_pack
from rackwright.render.sheets import sheets

TREE = Path(__file__).parents[2] / "golden/slurm/tree/layer.yaml"
DAY = 86400.0


@pytest.fixture(scope="module")
def plan() -> Plan:
    return load_plan(builtin_pack() / "fixtures/slurm.yaml", (TREE,)).plan


def test_task_of_a_node_has_its_rack_and_unit(plan: Plan) -> None:
    rows = {row[9]: row for row in next(iter(sheets(plan))).rows}
    (item,) = worklist(
        plan, [HandTask("dgx-06", "swap", "row remap failed", "gpu", "0000:1b:00.0", "1650")]
    )
    assert (item.site, item.rack) == ("sjc1", "c02")
    assert item.unit == rows["dgx-06"][5]
    assert str(item) == (
        f"c02 U{item.unit:g}: swap GPU 0000:1b:00.0 of dgx-06 (serial 1650): row remap failed"
    )  # fmt: skip
    assert "cable" not in item.as_data()


def test_cable_has_the_label_of_the_sheet_with_both_ends(plan: Plan) -> None:
    (wire,) = [row for row in list(sheets(plan))[1].rows if row[7] == "dgx-06"][:1]
    (item,) = worklist(plan, [HandTask("dgx-06", "clean", "symbol errors", port=str(wire[8]))])
    assert item.cable == wire[9]
    assert " / " in item.cable


def test_tasks_are_in_the_order_of_a_walk(plan: Plan) -> None:
    nodes = ["dgx-40", "dgx-05", "dgx-06", "ghost"]
    order = [
        item.task.node for item in worklist(plan, [HandTask(n, "look at", "x") for n in nodes])
    ]
    assert order[0] == "ghost", "a place that is not known comes first"
    assert {order[1], order[2]} == {"dgx-05", "dgx-06"}
    assert order[3] == "dgx-40"


def test_shared_part_is_one_task_and_a_known_one_is_not_doubled() -> None:
    shared = (PartOutOfService(PlanPart("a", "leaf", "l1"), ("n1", "n2"), 4),)
    status = SiteStatus("c", {}, {"n1": "x", "n2": "x", "n3": "heat"}, (), shared, ("n3",), {}, {})
    assert [(task.node, task.part) for task in tasks_of(status)] == [("l1", "leaf"), ("n3", "")]
    given = [HandTask("n3", "swap", "heat", "gpu"), HandTask("n1", "reseat", "x")]
    assert tasks_of(status, given) == given


def test_figures_of_a_window_count_each_node_second_once() -> None:
    incidents = [
        Incident(0, "n1", "Xid", 10),
        Incident(5, "n1", "heat", 20),  # while the first is open: only its rest counts
        Incident(90, "n2", "leak"),
        Incident(-50, "n3", "old", -40),
        Incident(-5, "n4", "Xid", 5),
    ]
    found = service_figures(incidents, 4, 0, 100)
    assert (found.incidents, found.mtbi_s) == (3, 400 / 3)
    assert found.mttr_s == (10 + 15 + 10) / 3
    assert found.lost_s == {"Xid": 15, "heat": 10, "leak": 10}
    assert found.lost_share == pytest.approx(35 / 400)
    quiet = service_figures([], 4, 0, 100)
    assert (quiet.mtbi_s, quiet.mttr_s, quiet.lost_share) == (None, None, 0.0)
    assert service_figures([], 0, 0, 0).lost_share == 0.0


@pytest.mark.parametrize(
    ("reason", "cause"),
    [
        ("node health: Xid 79 (off the bus)", "Xid (off the bus)"),
        ("rackwright: heat: 92 °C", "heat"),
        ("Not responding", "Not responding"),
        ("", "unknown"),
        ("42", "unknown"),
    ],
)
def test_cause_is_the_words_of_a_reason_without_numbers(reason: str, cause: str) -> None:
    assert cause_of(reason) == cause
