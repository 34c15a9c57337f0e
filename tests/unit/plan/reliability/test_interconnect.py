"""What spans sites, and what is left when one is lost."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from factories import CATALOGUE, a_blueprint, a_site, some_nodes
from known import known
from rackwright.model.cluster import Blueprint
from rackwright.plan.expand import expand
from rackwright.plan.expansion import Expansion
from rackwright.plan.problems import PlanError
from rackwright.plan.reliability.interconnect import (
    compute_hosts,
    hosts_to_add,
    line_between,
    spans,
)


def a_line(
    one: str = "a", other: str = "b", *, name: str = "direct", **more: Any
) -> dict[str, Any]:
    speeds = {"bandwidth": "100 Gbps", "round_trip_time": "20 ms"}
    return {"name": name, "sites": [one, other], **speeds, **more}


def some_sites(names: str = "ab") -> list[dict[str, Any]]:
    return [a_site(name=name, node_groups=[some_nodes(f"dgx-{name}")]) for name in names]


def a_blueprint_of(*lines: dict[str, Any], sites: str = "ab", **more: Any) -> Blueprint:
    return Blueprint.model_validate(
        a_blueprint(*some_sites(sites), interconnects=list(lines), **more)
    )


def a_plan_of(*lines: dict[str, Any], sites: str = "ab", **more: Any) -> Expansion:
    return Expansion(a_blueprint_of(*lines, sites=sites, **more), CATALOGUE)


def a_job(*sites: str, **more: Any) -> dict[str, Any]:
    parts = [{"site": site, "group": f"dgx-{site}", "hosts": 1} for site in sites]
    return {"jobs": [{"name": "pretrain", "parts": parts, **more}]}


def test_lines_add_up_and_the_slowest_counts():
    plan = a_plan_of(
        a_line(), a_line("b", "a", name="second", bandwidth="40 Gbps", round_trip_time="35 ms")
    )
    line = known(line_between(plan, "a", "b"))

    assert line.names == ("direct", "second")
    assert line.bandwidth == 140
    assert line.round_trip_time == 0.035
    assert line == line_between(plan, "b", "a")


def test_one_unknown_line_makes_the_sum_unknown():
    plan = a_plan_of(a_line(), a_line(name="second", bandwidth=None))
    line = known(line_between(plan, "a", "b"))

    assert line.bandwidth is None
    assert line.round_trip_time == 0.02
    assert line.missing == ("'bandwidth' of the interconnect 'second'",)


def test_a_detour_is_no_line():
    plan = a_plan_of(a_line(), a_line("b", "c", name="second"), sites="abc")

    assert line_between(plan, "a", "c") is None


def test_a_job_on_three_sites_spans_three_pairs():
    plan = a_plan_of(sites="abc", reliability=a_job("c", "a", "b"))

    assert [span.sites for span in spans(plan)] == [("a", "b"), ("a", "c"), ("b", "c")]


def test_a_job_on_one_site_spans_nothing():
    assert list(spans(a_plan_of(reliability=a_job("a")))) == []


@pytest.mark.parametrize(("sites", "found"), [((), 1), (("a",), 0)])
def test_a_partition_spans_the_sites_of_its_groups(sites, found):
    scheduler = {
        "kind": "slurm",
        "version": "25.05",
        "sites": list(sites),
        "controllers": [{"host": "head-1"}],
        "partitions": [
            {"name": "all", "groups": ["dgx-a", "dgx-b"]},
            {"name": "here", "groups": ["dgx-a"]},
        ],
        "topology": {"plugin": "flat"},
    }
    spanning = list(spans(a_plan_of(scheduler=scheduler)))

    assert [(span.name, span.sites) for span in spanning] == [("partition all", ("a", "b"))] * found
    assert all(span.need is None for span in spanning)


def test_compute_hosts_of_each_site():
    login = some_nodes("login", role="login", type="cpu-2u", count=1, per_rack=1)
    sites = [*some_sites("a"), a_site(name="b", node_groups=[login])]
    plan = expand(Blueprint.model_validate(a_blueprint(*sites)), CATALOGUE)

    assert compute_hosts(plan) == {"a": 4, "b": 0}


def test_hosts_that_a_fallback_needs():
    assert hosts_to_add(48, 32, 0.4) == 6, "22 of 54 are 40.7 %, 21 of 53 are 39.6 %"
    assert hosts_to_add(48, 32, 0.3) == 0
    assert hosts_to_add(48, 32, 1.0) is None


@given(st.integers(1, 10_000), st.floats(0, 0.99), st.data())
def test_no_fewer_hosts_are_enough(hosts, share, data):
    lost = data.draw(st.integers(0, hosts))
    more = hosts_to_add(hosts, lost, share)
    left = hosts - lost

    assert left + more >= share * (hosts + more) - 1e-6
    assert more == 0 or left + more - 1 < share * (hosts + more - 1) + 1e-6


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([a_line("a", "x")], "there is no site 'x'"),
        ([a_line(), a_line()], "'direct' is named twice"),
    ],
)
def test_lines_that_lead_nowhere(lines, message):
    with pytest.raises(PlanError, match=message):
        expand(a_blueprint_of(*lines), CATALOGUE)


@pytest.mark.parametrize(
    "line", [a_line("a", "a"), {**a_line(), "sites": ["a"]}, a_line(round_trip_time="0 s")]
)
def test_lines_that_cannot_be(line):
    with pytest.raises(ValidationError):
        a_blueprint_of(line)
