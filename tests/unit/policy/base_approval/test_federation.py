"""Accounts and data sets of federated sites that a change restates are held to the base."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from rackwright.plan.load import load_data
from rackwright.policy.api import Outcome
from rackwright.policy.base_approval.approval import Approval, asked_by
from rackwright.policy.check import check_plan
from rackwright.policy.packs.loader import builtin_pack
from rackwright.reading.loader import load_tree

FIXTURE = builtin_pack() / "fixtures" / "federation.yaml"
ANOTHER_NUMBER = {"ada": 5001, "bob": 6002}
Edit = Callable[[Any], None]


def federation(edit: Edit | None = None) -> Any:
    data = copy.deepcopy(load_tree(FIXTURE).data)
    if edit is not None:
        edit(data)
    return data


def edited(data: Any, edit: Edit) -> Any:
    head = copy.deepcopy(data)
    edit(head)
    return head


def outcome(head: Any, base: Any, rule: str) -> Outcome:
    """The worst outcome of a rule for a change."""
    then, now = load_data(base), load_data(head)
    approval = Approval("main", asked_by(then.plan.blueprint, then.tree), document=base)
    found = {one.outcome for one in check_plan(now, approval=approval, only=[rule]).results}
    return next(one for one in (Outcome.FAIL, Outcome.UNKNOWN, Outcome.PASS) if one in found)


def other_number(data: Any) -> None:
    data["federation"]["sites"][-1]["uids"] = ANOTHER_NUMBER


def without_numbers(data: Any) -> None:
    for site in data["federation"]["sites"]:
        site.pop("uids", None)


def without_one_number(data: Any) -> None:
    del data["federation"]["sites"][-1]["uids"]["bob"]


def of_another_name(data: Any) -> None:
    without_numbers(data)
    data["federation"]["name"] = "other"


@pytest.mark.parametrize("edit", [without_numbers, without_one_number, of_another_name])
def test_numbers_of_accounts_that_a_change_leaves_out_are_the_base_s(edit: Edit) -> None:
    """A directory gives other numbers, whether the blueprint says so or not."""
    base = federation(other_number)
    assert outcome(base, base, "SCH-007") is Outcome.FAIL
    assert outcome(edited(base, edit), base, "SCH-007") is Outcome.FAIL


def large(data: Any) -> None:
    data["datasets"][0]["size"] = "2 PiB"


def said_to_be_everywhere(data: Any) -> None:
    data["datasets"][0]["at"] = ["alpha", "beta", "gamma"]


def left_out(data: Any) -> None:
    data["datasets"] = []


def small_by_another_name(data: Any) -> None:
    data["datasets"][0] |= {"name": "other", "size": "1 GiB"}


@pytest.mark.parametrize("edit", [said_to_be_everywhere, left_out, small_by_another_name])
def test_data_that_a_change_calls_copied_or_leaves_out_is_copied_still(edit: Edit) -> None:
    base = federation(large)
    assert outcome(base, base, "SCH-011") is Outcome.FAIL
    assert outcome(edited(base, edit), base, "SCH-011") is Outcome.FAIL


def renamed(data: Any, before: str, after: str) -> Any:
    if isinstance(data, dict):
        return {key: renamed(value, before, after) for key, value in data.items()}
    if isinstance(data, list):
        return [renamed(value, before, after) for value in data]
    return after if data == before else data


def test_data_of_a_site_with_another_name_stays_there() -> None:
    base = federation()
    assert outcome(renamed(base, "alpha", "delta"), base, "SCH-011") is Outcome.PASS


def test_a_site_goes_with_its_data() -> None:
    def everywhere(data: Any) -> None:
        data["datasets"] = [{"name": "more", "size": "2 PiB", "at": ["gamma"]}]

    def smaller(data: Any) -> None:
        data["sites"] = [one for one in data["sites"] if one["name"] != "gamma"]
        members = data["federation"]["sites"]
        data["federation"]["sites"] = [one for one in members if one["site"] != "gamma"]
        lines = data["interconnects"]
        data["interconnects"] = [one for one in lines if "gamma" not in one["sites"]]
        hosts = data["scheduler"]["controllers"]
        hosts[:] = [one for one in hosts if not one["host"].startswith("gamma")]
        data["datasets"] = []

    base = federation(everywhere)
    assert outcome(base, base, "SCH-011") is Outcome.FAIL
    assert outcome(edited(base, smaller), base, "SCH-011") is Outcome.PASS
