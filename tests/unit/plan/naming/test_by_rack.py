"""Networks of top-of-rack fabrics: each rack has a subnet of its own, with the same places in it."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from fabric_factories import a_tier, top_of_rack
from factories import CATALOGUE, a_blueprint, a_hall, a_rack_group, a_row, a_site, some_nodes
from rackwright.model.cluster import Blueprint
from rackwright.plan.expand import expand
from rackwright.plan.model import Plan
from rackwright.plan.problems import PlanError, PlanProblem
from rackwright.render.names import render_names

WHERE = ("sites", 0, "addresses", "networks", 0)


def a_network(**more: Any) -> dict[str, Any]:
    """A /22 cut into a /27 for each rack: the leaf has the first address, hosts begin at the ninth."""
    made = {
        "name": "rdma",
        "kind": "fabric",
        "fabric": "compute",
        "prefix": "10.40.0.0/22",
        "rack_prefix": 27,
        "gateway": "10.40.0.1",
        "reserved": ["10.40.0.2-10.40.0.8"],
        "ranges": [{"of": "dgx", "first": "10.40.0.9"}],
        **more,
    }
    return {key: value for key, value in made.items() if value is not None}


def plan_of(
    network: dict[str, Any] | None = None,
    *,
    racks: int = 4,
    count: int | None = None,
    fabric: dict[str, Any] | None = None,
    **more: Any,
) -> Plan:
    """Two DGX in each rack, with two interfaces each on the leaf at its top."""
    names = f"c[01-{racks:02d}]"
    made = top_of_rack(
        racks, top_of_rack=True, technology="ethernet", attached=[{"group": "dgx", "interfaces": 2}]
    )
    site = a_site(
        halls=[a_hall(rows=[a_row(a_rack_group(names), a_rack_group("n01"))])],
        node_groups=[some_nodes(count=count or 2 * racks, racks=names, per_rack=2)],
        fabrics=[{**made, **(fabric or {})}],
        addresses={
            "domain": "lab.example.com",
            "networks": [network or a_network()],
            **more,
        },
    )
    return expand(Blueprint.model_validate(a_blueprint(site)), CATALOGUE)


def problems_of(network: dict[str, Any], **more: Any) -> tuple[PlanProblem, ...]:
    with pytest.raises(PlanError) as found:
        plan_of(network, **more)
    return found.value.problems


def table(plan: Plan) -> dict[str, str]:
    return {one.label: str(one.address) for one in plan.names.addresses()}


def test_hosts_of_a_top_of_rack_fabric_had_one_subnet_whatever_their_racks():
    """Rack n has the n-th /27, 32 addresses further: its leaf at .1, its hosts from .9 on."""
    plan = plan_of()
    assert [(one.racks, str(one.prefix), str(one.gateway)) for one in plan.names.networks] == [
        (("c01",), "10.40.0.0/27", "10.40.0.1"),
        (("c02",), "10.40.0.32/27", "10.40.0.33"),
        (("c03",), "10.40.0.64/27", "10.40.0.65"),
        (("c04",), "10.40.0.96/27", "10.40.0.97"),
    ]
    found = table(plan)
    assert len(found) == 16
    assert [found[f"dgx-1-rdma-{n}"] for n in (1, 2)] == ["10.40.0.9", "10.40.0.10"]
    assert [found[f"dgx-2-rdma-{n}"] for n in (1, 2)] == ["10.40.0.11", "10.40.0.12"]
    assert found["dgx-3-rdma-1"] == "10.40.0.41"
    assert found["dgx-8-rdma-2"] == "10.40.0.108"
    assert {str(one.whole) for one in plan.names.networks} == {"10.40.0.0/22"}


def test_a_rack_more_moves_nobody():
    before, after = table(plan_of(racks=5)), table(plan_of(racks=6))
    assert before.items() < after.items()


def test_a_rack_that_is_not_full_leaves_its_other_addresses_free():
    found = table(plan_of(count=7))
    assert len(found) == 14
    assert found["dgx-7-rdma-2"] == "10.40.0.106"


def test_racks_that_share_a_leaf_share_a_subnet():
    """c01 and c03 share the first leaf: hosts 1, 2, 5 and 6 follow each other in its subnet."""
    tiers = [a_tier("leaf", 2, racks="c[01-02]", per_rack=1), a_tier("spine", 2)]
    shared = {"tiers": tiers, "shared_racks": ["c01,c03", "c02,c04"]}
    plan = plan_of(fabric=shared)
    assert [one.racks for one in plan.names.networks] == [("c01", "c03"), ("c02", "c04")]
    found = table(plan)
    assert [found[f"dgx-{n}-rdma-1"] for n in (1, 2, 5, 6)] == [
        f"10.40.0.{last}" for last in (9, 11, 13, 15)
    ]
    assert found["dgx-3-rdma-1"] == "10.40.0.41"


def test_an_interface_may_have_subnets_of_its_own():
    found = table(plan_of(a_network(interface=2)))
    assert found["dgx-4-rdma"] == "10.40.0.42"
    assert len(found) == 8


def test_a_name_leads_to_its_range_and_back():
    second = plan_of().names.networks[1].ranges[0]
    assert [second.owner(index) for index in range(second.count)] == ["dgx-3", "dgx-4"]
    assert [second.index_of(f"dgx-{n}") for n in (2, 3, 4, 5)] == [None, 0, 1, None]
    assert second.find("10.40.0.43") == 1


def test_ethernet_addresses_are_served_with_the_gateway_of_their_rack():
    macs = {"dgx-1-rdma-1": "b8:3f:d2:00:01:01", "dgx-3-rdma-2": "b8:3f:d2:00:03:02"}
    files = render_names(plan_of(a_network(macs=macs)))
    (text,) = (text for name, text in files.items() if name.endswith("kea-subnet4.json"))
    assert text.count('"subnet"') == 2  # the two racks of which an address is known
    assert '"subnet": "10.40.0.32/27"' in text
    assert '{"name": "routers", "data": "10.40.0.33"}' in text
    assert '"ip-address": "10.40.0.42"' in text


def test_a_mistake_is_told_once_and_not_for_each_rack():
    (found,) = problems_of(a_network(ranges=[{"of": "dgx", "first": "10.40.0.29"}]))
    assert found.path == (*WHERE, "ranges", 0, "first")
    assert found.message == (
        "the 2 hosts of 'dgx', with 2 addresses each, need 4 addresses from 10.40.0.29 on; "
        "10.40.0.0/27 has 2 of them"
    )
    assert found.hint == "begin lower, or set 'rack_prefix' to 26"


@pytest.mark.parametrize(
    ("change", "place", "message", "hint"),
    [
        (
            {"prefix": "10.40.0.0/26"},
            ("rack_prefix",),
            "4 racks need a /27 each, and 10.40.0.0/26 has 2 of them",
            "make 'rdma' a /25",
        ),
        (
            {"rack_prefix": 21},
            ("rack_prefix",),
            "10.40.0.0/22 has no subnets with a prefix of 21",
            "give 22 to 32",
        ),
        (
            {"macs": {"dgx-9-rdma-1": "b8:3f:d2:00:01:01"}},
            ("macs", "dgx-9-rdma-1"),
            "nothing in the network 'rdma' is called 'dgx-9-rdma-1'",
            None,
        ),
        (
            {"gateway": "10.40.0.10"},
            ("ranges", 0, "first"),
            "the gateway would have",
            None,
        ),
    ],
)
def test_rack_without_a_number_for_a_host_is_refused(
    change: dict[str, Any], place: tuple[str | int, ...], message: str, hint: str | None
):
    found = problems_of(a_network(**change))
    assert found
    assert found[0].path == (*WHERE, *place)
    if hint is not None:
        assert (found[0].message, found[0].hint) == (message, hint)


def test_exactly_as_many_subnets_as_racks_are_enough():
    plan = plan_of(a_network(prefix="10.40.0.0/25"))
    assert [str(one.prefix) for one in plan.names.networks][-1] == "10.40.0.96/27"


def test_hosts_that_are_not_cabled_by_rack_have_no_subnets_by_rack():
    (found,) = problems_of(a_network(), fabric={"top_of_rack": False})
    assert found.path == (*WHERE, "rack_prefix")
    assert found.hint == "set 'top_of_rack: true' there, or leave it out"


def test_only_a_network_of_a_fabric_is_cut_by_rack():
    network = a_network(kind="management", fabric=None)
    with pytest.raises(ValidationError, match="'rack_prefix' of the network 'rdma' is for one of"):
        plan_of(network)
