"""Power limits that keep a budget after every loss."""

from __future__ import annotations

import math
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rackwright.fleet.caps import CapClass, CapPlan, PowerBudget, plan_caps
from rackwright.fleet.cells import site_cells
from rackwright.plan.expansion import SitePlan
from rackwright.plan.load import load_plan
from rackwright.plan.model import Plan
from rackwright.policy.packs.loader import builtin_pack

ORDER = (
    CapClass("idle"),
    CapClass("batch"),
    CapClass("train"),
    CapClass("serve", protected=True),
)


PUE = 1.35
"""That of the fixture: the site draws so many watts for each of its racks."""
RACKS_W = 696_080


@cache
def plan_of(name: str) -> Plan:
    return load_plan(builtin_pack() / f"fixtures/{name}.yaml").plan


def site_of(name: str = "slurm") -> SitePlan:
    return plan_of(name).onprem[0]


def classes(**counts: int) -> dict[str, str]:
    """Job classes of the 64 nodes, in their order."""
    names = iter(f"dgx-{number:02d}" for number in range(1, 65))
    return {next(names): name for name, count in counts.items() for _ in range(count)}


def caps(budget: PowerBudget, job_classes: dict[str, str], name: str = "slurm") -> CapPlan:
    plan = plan_of(name)
    site = plan.onprem[0]
    return plan_caps(site, plan.racked[site.name], budget, job_classes, ORDER)


@pytest.mark.parametrize("name", ["slurm", "two-feeds", "air", "reliability"])
def test_without_caps_sources_carry_what_the_plan_says(name: str) -> None:
    """The draw by power supplies is that of the plan, normally and after each loss."""
    site = site_of(name)
    found = {c.name: c.before_w for c in caps(PowerBudget(), {}, name).checks if c.kind == "source"}
    rows = {row.source: row for row in site.power.sources}
    beside = any(one.power for one in site.power.overhead.consumers)
    assert found
    for source, watts in found.items():
        wanted = rows[source].load_w if rows[source].redundancy == "N" else rows[source].worst_w
        assert watts is not None
        assert wanted is not None
        if name == "slurm":
            assert not beside
            above = PUE if source == "utility" else 1
            assert watts == pytest.approx(wanted * above), source
        assert watts >= wanted - 1e-6, (
            "what is not in racks, and nodes that would run degraded, count in full"
        )


def test_a_site_within_its_budget_has_no_caps() -> None:
    made = caps(PowerBudget(site_w=945_000), classes(batch=64))
    assert (made.caps, made.refused) == ((), "")
    assert all(check.fits for check in made.checks)


def test_idle_nodes_give_way_first_and_protected_ones_never() -> None:
    made = caps(PowerBudget(site_w=930_000), classes(serve=16, train=16, batch=16))
    assert made.refused == ""
    assert {cap.job_class for cap in made.caps} == {"idle"}
    assert made.hosts == 16


def test_classes_give_way_in_their_order() -> None:
    made = caps(PowerBudget(site_w=783_000), classes(serve=16, train=16, batch=16))
    limits = {cap.job_class: cap.limit_w for cap in made.caps}
    assert limits["idle"] == 200, "the first ones are at their lowest"
    assert limits["batch"] < 700
    assert "serve" not in limits
    site = next(check for check in made.checks if check.kind == "site")
    assert site.after_w is not None
    assert 770_000 < site.after_w <= 783_000, "no further than the budget asks"


def test_a_target_below_the_lowest_limits_is_refused() -> None:
    made = caps(PowerBudget(site_w=400_000), classes(batch=64))
    assert made.caps == ()
    assert made.refused.startswith("site sjc1 draws 594.1 kW with every limitable node")
    assert "the target is 400.0 kW" in made.refused


def test_one_feed_limits_the_nodes_behind_it_alone() -> None:
    made = caps(PowerBudget(sources_w={"rpp-a": 330_000}), classes(batch=64))
    (check,) = (check for check in made.checks if check.name == "rpp-a")
    assert check.before_w == 349_040
    assert check.lost == "ups-b", "it is proven after the loss of another feed"
    assert check.after_w is not None
    assert check.after_w <= 330_000
    (cap,) = made.caps
    assert (cap.hosts[0], len(cap.hosts)) == ("dgx-01", 64)


def test_a_lost_feed_leaves_the_rest_within_their_capacity() -> None:
    made = caps(PowerBudget(lost=frozenset({"ups-a"})), classes(batch=64))
    assert {check.name for check in made.checks} == {"utility", "ups-b", "ups-c", "rpp-b", "rpp-c"}
    assert "and 'ups-c' lost; the target is 400.0 kW" in made.refused, "not after a second loss"
    made = caps(
        PowerBudget(lost=frozenset({"ups-a"}), sources_w={"ups-b": 300_000}, after_next_loss=False),
        classes(batch=64),
    )
    assert made.refused == ""
    worst = next(check for check in made.checks if check.name == "ups-b")
    assert worst.before_w == pytest.approx(349_040)
    assert worst.after_w is not None
    assert worst.after_w <= 300_000


def test_a_node_without_a_known_lowest_limit_is_not_limited() -> None:
    plan = plan_of("slurm")
    site = plan.onprem[0]
    cells = site_cells(site, plan.racked[site.name], {})
    heads = [cell for cell in cells.nodes if cell.group == "head"]
    assert [cell.limits for cell in heads] == [None]
    assert all("head" not in cap.group for cap in caps(PowerBudget(site_w=700_000), {}).caps)


def test_an_unknown_source_is_never_proven() -> None:
    made = caps(PowerBudget(sources_w={"rpp-z": 1000}), classes(batch=64))
    assert made.refused == "not proven: source 'rpp-z' is unknown"
    assert made.caps == ()


@settings(max_examples=25, deadline=None)
@given(
    target=st.integers(min_value=550_000, max_value=960_000),
    serve=st.integers(0, 20),
    train=st.integers(0, 20),
    batch=st.integers(0, 24),
    feed=st.integers(150_000, 400_000),
)
def test_sent_limits_fit_after_every_loss(
    target: int, serve: int, train: int, batch: int, feed: int
) -> None:
    given_classes = classes(serve=serve, train=train, batch=batch)
    made = caps(PowerBudget(site_w=target, sources_w={"ups-b": feed}), given_classes)
    protected = {host for host, name in given_classes.items() if name == "serve"}
    if made.refused:
        assert made.caps == ()
        return
    limited = [host for cap in made.caps for host in cap.hosts]
    assert len(limited) == len(set(limited))
    assert protected.isdisjoint(limited)
    assert all(check.fits for check in made.checks)
    # Worked out from the limits alone: every accelerator below its cap saves that much.
    saved = math.fsum((cap.full_w - cap.limit_w) * 8 * len(cap.hosts) for cap in made.caps)
    site = next(check for check in made.checks if check.kind == "site")
    assert site.after_w == pytest.approx((RACKS_W - saved) * PUE, abs=1)
    assert all(200 <= cap.limit_w <= 700 for cap in made.caps)
