"""What is asked of a training job holds until a change of it is merged."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from rackwright.plan.load import load_data
from rackwright.policy.api import Outcome
from rackwright.policy.base_approval.approval import Approval, asked_by
from rackwright.policy.check import check_plan
from rackwright.policy.exception_report import NoticeKind
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


def renamed(data: Any, before: str, after: str) -> Any:
    """A document in which a group or a site has another name, wherever it is named."""
    if isinstance(data, dict):
        return {key: renamed(value, before, after) for key, value in data.items()}
    if isinstance(data, list):
        return [renamed(value, before, after) for value in data]
    return after if data == before else data


@pytest.mark.parametrize("name", ["group", "site"])
def test_a_workload_of_a_renamed_place_keeps_its_target(name: str) -> None:
    base = asked(target="500 B tokens/day")
    moved = renamed(base, base["workloads"][0][name], "elsewhere")
    assert failed(moved, base) == {"PERF-002"}
    assert failed({**moved, "workloads": []}, base) == {"PERF-002"}
    moved["workloads"][0]["target"] = "30 B tokens/day"
    assert failed(moved, base) == {"PERF-002"}
    moved["workloads"][0]["name"] = "other"
    assert failed(moved, base) == {"PERF-002"}


@pytest.mark.parametrize("name", ["group", "site"])
def test_a_place_with_a_workload_may_have_another_name(name: str) -> None:
    base = asked(target="30 B tokens/day")
    assert failed(renamed(base, base["workloads"][0][name], "elsewhere"), base) == set()


def test_a_new_workload_is_told_and_lowers_nothing() -> None:
    base = asked(target="30 B tokens/day")
    more = {**base["workloads"][0], "name": "other"}
    head = {**base, "workloads": [*base["workloads"], more]}
    then, now = load_data(base), load_data(head)
    approval = Approval("main", asked_by(then.plan.blueprint, then.tree), document=base)
    report = check_plan(now, approval=approval)
    assert report.hygiene is not None
    told = {(one.kind, one.id) for one in report.hygiene.notices}
    assert told >= {(NoticeKind.PROPOSED, "workloads.other")}
    assert NoticeKind.LOWERED not in {kind for kind, _ in told}
