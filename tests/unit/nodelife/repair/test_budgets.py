"""Limits of repair and the states of a node."""

from __future__ import annotations

import datetime as dt

import pytest

from rackwright.model.repair import MaintenanceWindow, Repair
from rackwright.nodelife.repair.budgets import (
    RepairLimits,
    in_window,
    is_storm,
    limits_of,
    needs_person,
    out_of_partition,
    over_hour,
)
from rackwright.nodelife.repair.states import OUT, STEPS, RepairState, after

NODES = {"batch": [f"n{n}" for n in range(40)], "debug": ["n0", "n1"]}


def at(text: str) -> float:
    return dt.datetime.fromisoformat(text).replace(tzinfo=dt.UTC).timestamp()


def test_share_of_every_partition_counts_with_nodes_that_others_have_drained() -> None:
    limits = RepairLimits(most_nodes=5)
    assert out_of_partition(limits, "n9", NODES, ["n3"]) is None
    assert "2 of 40 nodes of partition batch" in str(out_of_partition(limits, "n9", NODES, ["n3", "n4"]))  # fmt: skip
    assert "of partition debug" in str(out_of_partition(limits, "n0", NODES, ["n1"]))
    assert out_of_partition(limits, "n0", NODES, ["n0"]) is None, "the node itself is no other"


def test_drains_of_an_hour_count_across_a_clock_that_goes_back() -> None:
    limits = RepairLimits(nodes_per_hour=2)
    assert over_hour(limits, [0.0, 100.0], 3600.5) is None
    assert over_hour(limits, [0.0, 100.0], 3599.0) is not None
    assert over_hour(limits, [90_000.0, 90_001.0], 10.0) is not None


def test_storm_and_repairs_of_a_week() -> None:
    faults = {f"n{n}": float(n) for n in range(20)}
    assert is_storm(RepairLimits(storm_nodes=20), faults, 30)
    assert not is_storm(RepairLimits(storm_nodes=21), faults, 30)
    assert not is_storm(RepairLimits(storm_nodes=20), faults, 601)
    assert needs_person(RepairLimits(), [1.0, 2.0], 3.0) is not None
    assert needs_person(RepairLimits(), [1.0, 2.0], 8 * 86_400.0) is None


@pytest.mark.parametrize(
    ("now", "inside"),
    [("2026-11-28T02:00", True), ("2026-11-28T01:59:59", False), ("2026-11-28T23:59", True),
     ("2026-11-29T01:59:59", True), ("2026-11-29T02:00", False), ("2026-11-27T03:00", False)],
)  # fmt: skip
def test_window_that_lasts_a_day_from_saturday_at_two(now: str, inside: bool) -> None:
    window = MaintenanceWindow(name="sat", days=("sat",), start="02:00", duration="24 h")
    assert in_window((window,), at(now)) is inside
    assert in_window((), at(now))


def test_limits_of_a_blueprint_replace_ours() -> None:
    made = limits_of(Repair.model_validate({"most_nodes": "3 %", "probation": "2 h"}))
    assert (made.most_nodes, made.probation_s, made.nodes_per_hour) == (3.0, 7200.0, 10)
    assert limits_of(None) == RepairLimits()


def test_no_way_leads_back_to_service_but_through_validation() -> None:
    """``taken`` is no return: the node stays as the operator has put it."""
    ways = {(before, to) for name, states, to in STEPS for before in states if name != "taken"}
    assert {before for before, to in ways if to not in OUT and before in OUT} == {
        RepairState.VALIDATING
    }
    assert after(RepairState.VALIDATING, "passed") is RepairState.PROBATION
    with pytest.raises(ValueError, match="no step 'passed' from repairing"):
        after(RepairState.REPAIRING, "passed")
    with pytest.raises(ValueError, match="no step 'fly'"):
        after(RepairState.REPAIRING, "fly")
