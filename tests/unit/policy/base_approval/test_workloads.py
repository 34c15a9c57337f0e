"""What is asked of a training job holds until a change of it is merged."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from rackwright.plan.load import load_data
from rackwright.policy.api import Outcome
from rackwright.policy.base_approval.approval import Approval, asked_by
from rackwright.policy.check import check_plan
from rackwright.policy.packs.loader import builtin_pack
from rackwright.reading.loader import load_tree

FIXTURE = builtin_pack() / "fixtures" / "workloads.yaml"


def asked(**more: Any) -> Any:
    data = copy.deepcopy(load_tree(FIXTURE).data)
    data["workloads"][0].update(more)
    return data


def failed(head: Any, base: Any) -> set[str]:
    """The rules of workloads that fail for a change."""
    then, now = load_data(base), load_data(head)
    approval = Approval("main", asked_by(then.plan.blueprint, then.tree), document=base)
    results = check_plan(now, approval=approval).results
    return {
        one.policy
        for one in results
        if one.outcome is Outcome.FAIL and one.policy.startswith("PERF-")
    }


@pytest.mark.parametrize("target", [None, "30 B tokens/day"])
def test_a_target_that_a_change_leaves_out_or_lowers_is_the_base_s(target: str | None) -> None:
    base = asked(target="500 B tokens/day")
    assert failed(base, base) == {"PERF-002"}
    assert failed(asked(target=target) if target else asked(), base) == {"PERF-002"}


def test_a_workload_that_a_change_leaves_out_is_the_base_s() -> None:
    base = asked(target="500 B tokens/day")
    assert failed({**base, "workloads": []}, base) == {"PERF-002"}


def test_a_workload_that_reaches_its_target_may_be_left_out() -> None:
    base = asked(target="30 B tokens/day")
    assert failed({**base, "workloads": []}, base) == set()


@pytest.mark.parametrize("layout", [None, {"tensor": 4, "pipeline": 4}])
def test_a_layout_that_a_change_leaves_out_or_replaces_is_the_base_s(layout: Any) -> None:
    """One whose degrees were all those of a layout that is omitted was given up with it."""
    base = asked(layout={"tensor": 1, "pipeline": 1})
    assert failed(base, base) == {"PERF-001"}
    assert failed(asked(layout=layout), base) == {"PERF-001"}
