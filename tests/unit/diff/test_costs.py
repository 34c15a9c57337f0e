"""What a change costs."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from diff_factories import a_cloud, changed
from factories import a_site
from rackwright.diff.costs import TOTAL, Cost, compare_costs
from rackwright.diff.forms.wording import difference, dollars

INSTANCES = {"p5.48xlarge": "50 USD/h", "m7i.4xlarge": "1 USD/h"}


def more_nodes(data: dict[str, Any]) -> None:
    group = next(s for s in data["sites"] if s["name"] == "cloud")["node_groups"][0]
    group["count"] += 2


def test_two_instances_more_cost_two_instances_more() -> None:
    before, after = changed(more_nodes, a_cloud(), costs={"instances": INSTANCES})
    (change,) = compare_costs(before.plan, after.plan)
    assert change.site == "cloud"
    assert change.before is not None
    assert change.after is not None
    volumes = Decimal("0.08") * 500 * 2 * 12  # two root volumes of gp3
    expected = 2 * 50 * 8760 + volumes
    assert change.after.per_year - change.before.per_year == expected
    assert change.before.complete


def test_several_sites_have_a_total_which_comes_last() -> None:
    before, after = changed(more_nodes, a_cloud(), a_site())
    assert [change.site for change in compare_costs(before.plan, after.plan)] == ["cloud", TOTAL]
    total = compare_costs(before.plan, after.plan)[-1]
    assert total.after is not None
    assert not total.after.complete  # nobody has said what the bare metal cost


def test_nothing_changes_and_nothing_was_there() -> None:
    before, after = changed(lambda _: None, a_cloud())
    assert compare_costs(before.plan, after.plan) == ()
    (come,) = compare_costs(None, after.plan)
    assert come.before is None
    assert compare_costs(None, None) == ()


def test_money_in_words() -> None:
    one = Cost(Decimal("1.5"), Decimal(13_140), complete=True)
    other = Cost(Decimal("1234.567"), Decimal("10814806.9"), complete=True)
    bound = Cost(Decimal(2), Decimal(17_520), complete=False)
    assert dollars(other, hourly=True) == "$1,234.57"
    assert dollars(other, hourly=False) == "$10,814,807"
    assert dollars(bound, hourly=False) == "at least $17,520"
    assert dollars(None, hourly=True) == "—"
    assert difference(other, one, hourly=True) == "-$1,233.07"
    assert difference(one, other, hourly=False) == "+$10,801,667"
    assert difference(one, bound, hourly=True) == "—"
