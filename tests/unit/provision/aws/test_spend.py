"""Dollars that AWS has charged for a site: by tags that count, against the plan, and unknown in words."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.stub import Stubber

from rackwright.cli import main
from rackwright.model.cost import Costs
from rackwright.plan.cost.lines import Amount
from rackwright.plan.cost.spend import Spend, budget_uses, month_to, planned
from rackwright.plan.cost.summary import CostSummary, SiteCost
from rackwright.policy.packs.loader import builtin_pack
from rackwright.provision import targets
from rackwright.provision.aws import spend
from rackwright.provision.targets import Target

TODAY = dt.date(2026, 11, 27)
ACTIVE = [{"TagKey": key, "Status": "Active", "Type": "UserDefined"} for key in spend.TAGS]
FILTER = {
    "And": [
        {"Tags": {"Key": "rackwright:cluster", "Values": ["atlas"]}},
        {"Tags": {"Key": "rackwright:site", "Values": ["use1"]}},
    ]
}


def asked(begin: str, end: str) -> dict[str, Any]:
    return {
        "TimePeriod": {"Start": begin, "End": end},
        "Granularity": "MONTHLY",
        "Metrics": ["UnblendedCost"],
        "Filter": FILTER,
    }


def answer(amount: str, unit: str = "USD") -> dict[str, Any]:
    period = {"Start": "2026-11-01", "End": "2026-11-27"}
    total = {"UnblendedCost": {"Amount": amount, "Unit": unit}}
    return {"ResultsByTime": [{"TimePeriod": period, "Total": total, "Estimated": True}]}


@pytest.fixture
def explorer(monkeypatch: pytest.MonkeyPatch) -> Iterator[Stubber]:
    """Cost Explorer that answers what a test queues, and checks questions by AWS's own model."""
    keys = {"aws_access_key_id": "test", "aws_secret_access_key": "test"}
    client = boto3.client("ce", region_name="us-east-1", **keys)
    monkeypatch.setattr(spend, "make_client", lambda *_: client)
    with Stubber(client) as stub:
        yield stub
        stub.assert_no_pending_responses()


def ask(today: dt.date = TODAY, region: str = "us-east-1") -> Spend:
    target: Any = None
    return spend.ask_spend("atlas", "use1", region, target, today)


def tags(stub: Stubber, told: list[dict[str, str]]) -> None:
    stub.add_response(
        "list_cost_allocation_tags", {"CostAllocationTags": told}, {"TagKeys": list(spend.TAGS)}
    )


def test_charged_dollars_are_those_of_the_tags_until_yesterday(explorer: Stubber) -> None:
    tags(explorer, ACTIVE)
    explorer.add_response("get_cost_and_usage", answer("1234.5"), asked("2026-11-01", "2026-11-27"))
    assert ask() == Spend("use1", dt.date(2026, 11, 1), TODAY, Decimal("1234.5"))


def test_a_first_of_a_month_has_the_month_before() -> None:
    assert month_to(dt.date(2026, 12, 1)) == (dt.date(2026, 11, 1), dt.date(2026, 12, 1))
    assert month_to(dt.date(2026, 12, 2)) == (dt.date(2026, 12, 1), dt.date(2026, 12, 2))


@pytest.mark.parametrize("status", ["Inactive", None])
def test_a_tag_that_is_not_active_makes_costs_unknown_and_not_zero(
    status: str | None, explorer: Stubber
) -> None:
    inactive = [] if status is None else [{**ACTIVE[1], "Status": status}]
    tags(explorer, [ACTIVE[0], *inactive])
    told = ask()
    assert told.charged is None
    assert "TagKey=rackwright:site,Status=Active'" in str(told.why)


@pytest.mark.parametrize("told", [{"ResultsByTime": []}, answer("7", "CNY")])
def test_an_answer_without_dollars_is_unknown(told: dict[str, Any], explorer: Stubber) -> None:
    tags(explorer, ACTIVE)
    explorer.add_response("get_cost_and_usage", told)
    assert ask().charged is None


def test_a_partition_without_cost_explorer_is_unknown(explorer: Stubber) -> None:
    assert "no known endpoint" in str(ask(region="us-iso-east-1").why)


def test_the_plan_is_that_of_the_same_hours() -> None:
    micros_of_an_hour = 8760 * 1_000_000
    most, idle = Amount(10 * micros_of_an_hour), Amount(2 * micros_of_an_hour)
    site = SiteCost("use1", "aws", ("sites", 0), most, (), idle)
    told = Spend("use1", dt.date(2026, 11, 1), dt.date(2026, 11, 3), Decimal(500))
    (one,) = planned(CostSummary((), (site,)), [told])
    assert (one.least, one.most, one.above) == (Decimal(96), Decimal(480), Decimal(20))


def test_charges_of_some_days_against_budgets() -> None:
    days = (dt.date(2026, 11, 1), dt.date(2026, 11, 3))
    spends = [Spend("use1", *days, Decimal(500)), Spend("usw2", *days, Decimal(100))]
    costs = Costs.model_validate(
        {"budget_per_year": "87600 USD/year", "budget_per_hour": "12.5 USD/h"}
    )
    hour, year = budget_uses(costs, spends)
    assert (hour.budget, hour.charged, hour.exceeded) == (Decimal(600), Decimal(600), False)
    assert (year.budget, year.exceeded) == (Decimal(480), True)
    (part, _) = budget_uses(costs, [spends[0], Spend("usw2", *days, None, "no tags")])
    assert (part.charged, part.complete, part.exceeded) == (Decimal(500), False, False)
    assert budget_uses(Costs(), spends) == budget_uses(None, spends) == budget_uses(costs, []) == []


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    here = Target("aws", tmp_path, {}, None)
    monkeypatch.setattr(targets, "open_target", lambda _name: here)


@pytest.mark.usefixtures("elsewhere")
def test_cost_tells_what_was_charged_and_what_was_planned(
    explorer: Stubber, capsys: pytest.CaptureFixture[str]
) -> None:
    tags(explorer, ACTIVE)
    explorer.add_response("get_cost_and_usage", answer("99999999"))
    blueprint = str(builtin_pack() / "fixtures/aws.yaml")
    assert main(["cost", blueprint, "--spent"]) == 0
    out = capsys.readouterr().out
    assert "  charged  99,999,999.00 USD\n" in out
    assert "  planned  " in out
    tags(explorer, [])
    assert main(["cost", blueprint, "--spent", "--json"]) == 6
    (one,) = json.loads(capsys.readouterr().out)["spent"]
    assert one["charged"] is None
    assert "not active for cost allocation" in one["unknown"]


@pytest.mark.usefixtures("elsewhere")
def test_charges_above_the_budget_end_with_5(
    explorer: Stubber, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    layer = tmp_path / "budget.yaml"
    words = ["cost", str(builtin_pack() / "fixtures/aws.yaml"), "--spent", "--layer", str(layer)]
    layer.write_text("costs: {budget_per_hour: 1000 USD/h}\n")
    for charged, code, side in (("1.50", 0, "of"), ("99999999", 5, "above")):
        tags(explorer, ACTIVE)
        explorer.add_response("get_cost_and_usage", answer(charged))
        assert main(words) == code
        out = capsys.readouterr().out
        assert f"USD, {side} " in out
        assert "USD of 'costs.budget_per_hour'\n" in out


def test_spent_without_a_site_on_aws_is_bad_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cost", str(builtin_pack() / "fixtures/air.yaml"), "--spent"]) == 2
    assert "has no site there" in capsys.readouterr().err
