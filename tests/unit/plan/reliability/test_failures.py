"""Failure arithmetic against published and hand-worked values, and against exact sums."""

from __future__ import annotations

import math
from dataclasses import replace
from decimal import Decimal, localcontext
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from pydantic import ValidationError

import aws_factories
from examples import share
from factories import (
    CATALOGUE,
    a_blueprint,
    a_hall,
    a_rack_group,
    a_row,
    a_site,
    a_site_plan,
    some_nodes,
    where,
)
from known import known
from rack_records import rack_devices
from rackwright.model.cluster import Blueprint
from rackwright.model.reliability import JobProfile, Reliability
from rackwright.plan.expand import expand
from rackwright.plan.model import Plan
from rackwright.plan.problems import PlanError
from rackwright.plan.records.racks import RackDevice
from rackwright.plan.reliability.failure_domains import FailureDomains, Loss, is_off
from rackwright.plan.reliability.failures import (
    DAY,
    LARGEST_MEAN,
    count_controllers,
    daily_rate,
    daly_interval,
    effective_time,
    failures_a_day,
    groups_of,
    longest_restart,
    reach,
    spares_needed,
    young_interval,
)

HOUR = 3600.0
RSC_1 = 6.5
"""Failures in 1,000 node-days (arXiv:2410.21680)."""


def mean_time_to_failure(hosts: float, daily: float) -> float:
    """Seconds between failures of ``hosts`` together: 1 / (N · r)."""
    return DAY / (hosts * daily)


def plan_of(*sites: dict[str, Any], **more: Any) -> Plan:
    return expand(Blueprint.model_validate(a_blueprint(*sites, **more)), CATALOGUE)


@pytest.mark.parametrize(
    ("gpus", "seconds"), [(16_384, 1.80 * HOUR), (131_072, 0.225 * HOUR), (1_000_000, 106)]
)
def test_time_to_failure_of_large_jobs(gpus, seconds):
    mttf = mean_time_to_failure(gpus / 8, daily_rate(RSC_1))
    assert mttf == pytest.approx(seconds, rel=5e-3)


def test_the_rate_is_a_thousandth_of_the_published_number():
    """Public code takes 0.0065 as a rate per thousand and is wrong by 1,000."""
    assert daily_rate(RSC_1) == 0.0065
    assert mean_time_to_failure(1000, daily_rate(RSC_1)) == pytest.approx(DAY / 6.5)


def test_the_run_of_16384_gpus():
    """419 unexpected interruptions in 54 days: 3.09 h, 3.79 in 1,000 node-days."""
    mttf = 54 * DAY / 419
    assert mttf / HOUR == pytest.approx(3.09, abs=5e-3)
    assert 16_384 * mttf / HOUR == pytest.approx(50_677, rel=1e-4)
    assert mean_time_to_failure(2048, daily_rate(3.79)) == pytest.approx(mttf, rel=2e-3)


def test_intervals_of_young_and_daly():
    mttf = 3.09 * HOUR
    assert young_interval(60, mttf) / 60 == pytest.approx(19.3, abs=0.05)
    assert daly_interval(60, mttf) / 60 == pytest.approx(18.6, abs=0.05)


def test_a_checkpoint_that_takes_longer_than_jobs_live():
    assert daly_interval(250, 100) == 100
    assert daly_interval(200, 100) == 100


def test_effective_time_worked_by_hand():
    """13.312 failures a day, so one in 108.17 min; 5 min to restart, and a checkpoint of 1 min every 20."""
    value = effective_time(2048 * 0.0065, 300, 1200, 60)
    assert value == pytest.approx(20 / (108.1731 * 1.04731) / (1.214258 - 1), rel=1e-4)
    assert value == pytest.approx(0.8239, abs=5e-5)


def test_effective_time_without_failures_is_what_checkpoints_leave():
    assert effective_time(0, 3600, 3600, 400) == 0.9
    assert effective_time(1e-9, 3600, 3600, 400) == pytest.approx(0.9)


@given(st.floats(0, 1e7), st.floats(0, 1e6), st.floats(1, 1e6), st.floats(0, 1e6))
def test_effective_time_is_a_share(rate, restart, interval, stall):
    assert 0 <= effective_time(rate, restart, interval, stall) <= 1
    assert effective_time(2 * rate, restart, interval, stall) <= effective_time(
        rate, restart, interval, stall
    ) * (1 + 1e-9)


@given(st.floats(0, 0.1), st.floats(0.01, 1), st.floats(0, 1))
def test_the_first_order_of_effective_time_is_within_half_a_point(sum_, split, stalled):
    """It is that of arXiv:2410.21680, where restart, interval and stall together are a tenth of the time between failures."""
    mttf = 1e5
    interval = max(1.0, sum_ * split * mttf)
    restart, stall = sum_ * mttf - interval, min(0.01 * mttf, stalled * interval)
    assume(restart >= stall)
    exact = effective_time(DAY / mttf, restart - stall, interval, stall)
    assert exact == pytest.approx(first_order(mttf, restart - stall, interval, stall), abs=0.005)


def test_the_first_order_of_effective_time_ends_where_failures_are_frequent():
    """Frequent failures make it too low, and long stalls too high."""
    assert effective_time(40, 600, 900, 5) == pytest.approx(0.606, abs=5e-4)
    assert first_order(DAY / 40, 600, 900, 5) == pytest.approx(0.511, abs=5e-4)
    assert effective_time(10, 0, 3600, 3600) == pytest.approx(0.320, abs=5e-4)
    assert first_order(DAY / 10, 0, 3600, 3600) == pytest.approx(0.396, abs=5e-4)


def first_order(mttf: float, restart: float, interval: float, stall: float) -> float:
    """Expected effective training time ratio where failures are rare (arXiv:2410.21680)."""
    return (1 - (restart + interval / 2) / mttf) / (1 + stall / interval)


@given(
    st.floats(0.01, 20),
    st.floats(0, 1800),
    st.floats(60, 7200),
    st.floats(0, 120),
)
def test_a_restart_as_long_as_allowed_meets_the_target(rate, restart, interval, stall):
    target = effective_time(rate, restart, interval, stall)
    assume(target > 0)
    allowed = longest_restart(rate, target, interval, stall)
    assert allowed == pytest.approx(restart, abs=1e-3)


@given(
    st.floats(0, 0.99), st.floats(0.01, 20), st.floats(0, 7200), st.just(0.0) | st.floats(1, 600)
)
def test_the_remedy_reaches_the_target(target, rate, restart, stall):
    found = reach(target, rate, restart, stall)

    if found is None:
        best = daly_interval(stall, DAY / rate)
        assert effective_time(rate, 0, best, stall) <= target + 1e-9
        return
    faster, interval = found
    assert 0 <= faster <= restart + 1e-6
    assert interval > 0
    assert effective_time(rate, faster, interval, stall) >= target - 1e-9


def test_a_better_interval_leaves_the_restart_alone():
    assert known(reach(0.95, 0.3, 600, 60))[0] == 600
    assert reach(0.95, 0.3, 600, 0) == pytest.approx((600, 2 * (0.05 * DAY / 0.3 - 600)), rel=3e-3)


@given(st.floats(1, 600), st.floats(1e4, 1e7), st.floats(0.05, 20))
def test_no_interval_beats_youngs_by_much(stall, mttf, factor):
    """The best interval of the formula is near √(2wM) where failures are rare."""
    rate = DAY / mttf
    assume(stall <= mttf / 200)
    best = effective_time(rate, 0, young_interval(stall, mttf), stall)
    other = effective_time(rate, 0, factor * young_interval(stall, mttf), stall)
    assert other <= best + 2 * stall / mttf


@pytest.mark.parametrize(
    ("hosts", "spares"), [(16, 2), (128, 5), (2048, 39), (12_800, 197), (125_000, 1720)]
)
def test_spares_for_two_days_of_repair(hosts, spares):
    """The last one is 1,719 by the normal approximation, 1,720 by the exact sum."""
    assert spares_needed(hosts * daily_rate(RSC_1) * 2, 0.99) == spares


def exact_quantile(mean: float, quantile: float) -> int:
    """The quantile with sixty digits, term by term."""
    with localcontext() as context:
        context.prec = 60
        each = (-Decimal(mean)).exp()
        seen, k = each, 0
        while seen < Decimal(quantile):
            k += 1
            each = each * Decimal(mean) / k
            seen += each
    return k


@share(0.6)
@given(st.floats(0, 1500), st.sampled_from([0.5, 0.9, 0.99, 0.999, 0.999999]))
def test_spares_are_the_exact_quantile(mean, quantile):
    found = spares_needed(mean, quantile)
    assert found in {exact_quantile(mean, quantile - 1e-12), exact_quantile(mean, quantile + 1e-12)}


def test_spares_of_nothing_and_of_the_absurd():
    assert spares_needed(0, 0.99) == 0
    assert spares_needed(LARGEST_MEAN * 1.01, 0.99) is None
    large = spares_needed(1e7, 0.99)
    assert large == pytest.approx(1e7 + 2.326 * math.sqrt(1e7), abs=3)


@given(st.floats(0.001, 500), st.floats(0.001, 500))
def test_more_failures_need_no_fewer_spares(one, two):
    low, high = sorted((one, two))
    assert known(spares_needed(low, 0.99)) <= known(spares_needed(high, 0.99))


def test_a_group_takes_the_rate_of_the_cluster_unless_it_has_its_own():
    reliability = Reliability.model_validate(
        {
            "node_failures_per_1000_days": 6.5,
            "repair_time": "2 d",
            "groups": [{"site": "lab", "group": "a", "spares": 0, "repair_time": "1 d"}],
        }
    )
    own, other = reliability.of_group("lab", "a"), reliability.of_group("lab", "b")

    assert (own.spares, own.repair_time, own.node_failures_per_1000_days) == (0, DAY, 6.5)
    assert (other.spares, other.repair_time) == (None, 2 * DAY)


def a_job(*parts: tuple[str, str, int], **more: Any) -> dict[str, Any]:
    made = [{"site": site, "group": group, "hosts": hosts} for site, group, hosts in parts]
    return {"name": "pretrain", "parts": made, **more}


def test_failures_of_a_job_are_those_of_its_parts():
    reliability = Reliability.model_validate(
        {
            "node_failures_per_1000_days": 10,
            "groups": [{"site": "b", "group": "y", "node_failures_per_1000_days": 100}],
        }
    )
    job = JobProfile.model_validate(a_job(("a", "x", 50), ("b", "y", 5)))

    assert failures_a_day(job, reliability) == pytest.approx(0.5 + 0.5)
    assert failures_a_day(job, Reliability()) is None


@pytest.mark.parametrize(
    ("section", "message"),
    [
        ({"groups": [{"site": "lap", "group": "dgx"}]}, "there is no site 'lap'"),
        ({"groups": [{"site": "lab", "group": "dgy"}]}, "no node group 'dgy' in 'lab'"),
        ({"jobs": [a_job(("lab", "gpu", 1))]}, "no node group 'gpu' in 'lab'"),
        ({"jobs": [a_job(("lab", "dgx", 5))]}, "'dgx' has 4 hosts; the job takes 5"),
    ],
)
def test_references_that_lead_nowhere(section, message):
    with pytest.raises(PlanError, match=message):
        plan_of(reliability=section)


def test_the_largest_job_that_fits_and_a_product_that_is_not_known():
    assert plan_of(reliability={"jobs": [a_job(("lab", "dgx", 4))]}).onprem
    site = a_site(node_groups=[some_nodes(type="dgx-x100")])
    with pytest.raises(PlanError) as caught:
        plan_of(site, reliability={"jobs": [a_job(("lab", "dgx", 5))]})
    assert [problem.path[-1] for problem in caught.value.problems] == ["type"]


@pytest.mark.parametrize(
    "section",
    [
        {"groups": [{"site": "a", "group": "x"}] * 2},
        {"jobs": [a_job(("a", "x", 1))] * 2},
        {"jobs": [a_job(("a", "x", 1), ("a", "x", 2))]},
    ],
)
def test_nothing_is_named_twice(section):
    with pytest.raises(ValidationError, match="named twice"):
        Reliability.model_validate(section)


def aws_site() -> dict[str, Any]:
    return aws_factories.a_site().model_dump(mode="json")


def test_groups_of_both_providers():
    found = list(groups_of(plan_of(a_site(), aws_site())))

    assert [(g.site, g.group, g.hosts, g.onprem) for g in found] == [
        ("lab", "dgx", 4, True),
        ("use1", "gpu", 16, False),
    ]


def test_controllers_are_head_nodes_or_what_the_scheduler_names():
    head = some_nodes("head", role="head", type="cpu-2u", count=2, racks="c01", per_rack=2)
    sites = (a_site(node_groups=[some_nodes(count=3), head]), aws_site())
    scheduler = {
        "kind": "slurm",
        "version": "25.05",
        "controllers": [{"host": "head-2"}],
        "partitions": [{"name": "all", "groups": ["dgx"]}],
        "topology": {"plugin": "flat"},
    }

    assert count_controllers(plan_of(*sites)) == 3
    assert count_controllers(plan_of(*sites, scheduler=scheduler)) == 1
    assert count_controllers(plan_of()) == 0


def a_wide_site(**more: Any) -> dict[str, Any]:
    row = a_row(a_rack_group("c[01-04]"), a_rack_group("n01"))
    return a_site(halls=[a_hall(rows=[row])], **more)


def domains_of(
    site: dict[str, Any], ignored: frozenset[str] = frozenset({"utility"})
) -> FailureDomains:
    (found,) = plan_of(site).onprem
    return FailureDomains(found, ignored)


def losses_of(site: dict[str, Any], group: int = 0, **more: frozenset[str]) -> dict[str, Loss]:
    return {loss.group: loss for loss in domains_of(site, **more).losses(group)}


def test_the_fullest_rack_counts():
    """Seven nodes, four in a rack: the first rack has four of them."""
    site = a_wide_site(node_groups=[some_nodes(count=7, racks="c[01-04]")])
    rack = losses_of(site)["rack"]

    assert (rack.taken, rack.of, rack.count) == (4, 7, 2)
    assert rack.share == pytest.approx(400 / 7)


def test_one_feed_of_three_leaves_four_of_six_supplies():
    site = a_wide_site(node_groups=[some_nodes(count=8, racks="c[01-04]", per_rack=2)])

    assert losses_of(site)["power source"].taken == 0
    everything = losses_of(site, ignored=frozenset())["power source"]
    assert (everything.name, everything.taken) == ("utility", 8)


def test_all_feeds_from_one_source():
    groups = a_rack_group("c01")
    for feed in groups["feeds"]:
        feed["source"] = "rpp-a"
    site = a_site(halls=[a_hall(rows=[a_row(groups)])])
    lost = losses_of(site)["power source"]

    assert lost.taken == 4
    assert lost.name in {"rpp-a", "ups-a"}


def a_device(**more: Any) -> RackDevice:
    node = where(rack_devices(a_site_plan()), kind="node")[0]
    assert (node.psus, node.psu_inlet, node.full_performance) == ((2, 2, 2), "C20", 4)
    return replace(node, **({"degraded": None} | more))


@pytest.mark.parametrize(
    ("change", "dead", "off"),
    [
        ({}, set(), False),
        ({}, {0}, False),
        ({}, {0, 1}, None),
        ({}, {0, 1, 2}, True),
        ({"degraded": 2}, {0, 1}, False),
        ({"degraded": 3}, {0, 1}, True),
        ({"psus": None}, {0}, None),
        ({"psus": None}, {0, 1, 2}, True),
        ({"psus": (6, 0, 0)}, {0}, True),
        ({"psus": (6, 0, 0)}, {1, 2}, False),
        ({"full_performance": None}, {0}, None),
        ({"psu_inlet": "busbar"}, {0, 1}, False),
    ],
)
def test_when_a_device_stops(change, dead, off):
    assert is_off(a_device(**change), frozenset(dead), 3) is off


def a_fabric(*, leaves: int = 8, **more: Any) -> dict[str, Any]:
    tier = {"name": "leaf", "type": "qm9700", "count": leaves, "racks": "n01", "per_rack": 8}
    return {
        "name": "compute",
        "role": "compute",
        "rail_optimized": True,
        "tiers": [tier],
        "attached": [{"group": "dgx"}],
        **more,
    }


def test_a_leaf_of_a_rail_takes_an_eighth_of_the_ports():
    nodes = some_nodes(count=8, racks="c[01-04]", per_rack=2)
    leaf = losses_of(a_wide_site(node_groups=[nodes], fabrics=[a_fabric()]))["leaf of compute"]

    assert (leaf.taken, leaf.of, leaf.count) == (8, 64, 8)
    assert leaf.share == 12.5


@pytest.mark.parametrize(
    ("product", "change", "missing"),
    [
        ("dgx-a100", {"rail_optimized": None}, "rail_optimized"),
        ("hpe-xd670-h200", {}, "ports for 'compute'"),
    ],
)
def test_a_leaf_that_cannot_be_told(product, change, missing):
    nodes = some_nodes(type=product, count=8, racks="c[01-04]", per_rack=2)
    leaf = losses_of(a_wide_site(node_groups=[nodes], fabrics=[a_fabric(**change)]))[
        "leaf of compute"
    ]

    assert leaf.share is None
    assert missing in leaf.missing[0]


def test_groups_in_the_same_racks_are_counted_once():
    head = some_nodes("head", role="head", type="cpu-2u", count=2, racks="c[01-02]", per_rack=1)
    more = some_nodes("head-b", role="head", type="cpu-2u", count=1, racks="c02", per_rack=1)
    domains = domains_of(a_wide_site(node_groups=[head, more]))

    assert domains.racks_of([0]) == 2
    assert domains.racks_of([1]) == 1
    assert domains.racks_of([0, 1]) == 2
