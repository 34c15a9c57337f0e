from __future__ import annotations

from ipaddress import IPv4Network
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aws_factories import a_file_system, a_site
from rackwright.model.aws import AwsNetwork
from rackwright.plan.aws.subnets import (
    Demand,
    SubnetError,
    block_size,
    file_system_interfaces,
    has_internet,
    has_public_login,
    plan_subnets,
)


def demand(nodes: int = 16, growth: float = 0, servers: int = 1, file_systems: int = 0) -> Demand:
    return Demand(nodes, growth, servers, file_systems)


def network(**changes: Any) -> AwsNetwork:
    return a_site(network=changes).network


@pytest.mark.parametrize(
    ("addresses", "size"), [(0, 16), (11, 16), (12, 32), (27, 32), (28, 64), (4091, 4096)]
)
def test_a_block_leaves_room_for_what_aws_keeps(addresses, size):
    assert block_size(addresses) == size


def test_a_slash_20_holds_127_nodes_of_32_addresses():
    assert block_size(127 * 32) == 4096
    assert block_size(128 * 32) == 8192


def test_growth_counts_for_nodes_only_and_rounds_up():
    assert Demand(nodes=10, growth=25, servers=3, file_systems=2).planned == 13 + 5
    assert Demand(nodes=10, growth=25, servers=3, file_systems=2).present == 15


def test_tiers_and_order():
    plans = plan_subnets(
        network(availability_zones=["us-east-1a", "us-east-1b"]), demand(), public_servers=0
    )

    assert [(plan.name, plan.cidr) for plan in plans] == [
        ("private-a", "10.20.0.0/17"),
        ("intra-a", "10.20.255.192/26"),
        ("public-a", "10.20.255.128/26"),
        ("intra-b", "10.20.255.64/26"),
        ("public-b", "10.20.255.0/26"),
        ("private-b", "10.20.254.192/26"),
    ]


def test_local_zones_have_names_of_their_own():
    zones = ["us-east-1a", "us-east-1-dfw-2a"]
    plans = plan_subnets(network(availability_zones=zones), demand(), public_servers=0)

    assert {plan.name for plan in plans} >= {"intra-a", "intra-dfw-2a"}


@pytest.mark.parametrize(("before", "after"), [(4, 12), (16, 17), (16, 24), (130, 4_000)])
def test_cluster_that_grows_keeps_its_subnets(before, after):
    plans = [
        plan_subnets(network(), demand(nodes, growth=25), public_servers=2)
        for nodes in (before, after)
    ]
    assert [plan.cidr for plan in plans[0]] == [plan.cidr for plan in plans[1]]
    assert plans[0][0].usable == 2**15 - 5


def test_cluster_made_before_keeps_its_subnet_and_gets_a_second_one():
    stated = ["10.20.0.0/26", "10.20.128.0/20"]
    plans = plan_subnets(network(cluster_subnets=stated), demand(nodes=300), public_servers=0)
    assert [(plan.name, plan.cidr, plan.tier) for plan in plans[:2]] == [
        ("private-a", "10.20.0.0/26", "private"),
        ("private-a-2", "10.20.128.0/20", "private"),
    ]
    assert plans[2:] == plan_subnets(network(), demand(), public_servers=0)[1:]


@pytest.mark.parametrize(
    ("stated", "told"),
    [
        (["10.21.0.0/26"], "is not one of the VPC"),
        (["10.20.0.0/29"], "is not one of the VPC"),
        (["10.20.0.0/24", "10.20.0.64/26"], "overlaps '10.20.0.0/24'"),
        (["10.20.255.0/24"], "overlaps '10.20.255.192/26'"),
    ],
)
def test_cluster_subnet_that_cannot_be_is_refused(stated, told):
    with pytest.raises(SubnetError, match=told):
        plan_subnets(network(cluster_subnets=stated), demand(), public_servers=0)


def test_a_new_zone_leaves_the_others_alone():
    one = plan_subnets(network(), demand(), public_servers=0)
    two = plan_subnets(
        network(availability_zones=["us-east-1a", "us-east-1b"]), demand(), public_servers=0
    )

    assert two[: len(one)] == one


def test_subnet_without_room_is_refused_with_the_numbers():
    with pytest.raises(SubnetError) as error:
        plan_subnets(network(cidr="10.20.0.0/24"), demand(nodes=200), public_servers=0)

    assert "holds 256 addresses" in error.value.summary
    assert "takes 256" in error.value.summary
    assert error.value.hint == "use a VPC of at least /23"


def test_more_than_the_largest_vpc_needs_several_sites():
    with pytest.raises(SubnetError) as error:
        plan_subnets(network(), demand(nodes=65_000), public_servers=0)

    assert "several sites" in (error.value.hint or "")


@pytest.mark.parametrize("cidr", ["10.0.0.0/15", "10.0.0.0/29"])
def test_a_vpc_has_bounds(cidr):
    with pytest.raises(SubnetError, match="a VPC is between"):
        plan_subnets(network(cidr=cidr), demand(), public_servers=0)


def test_without_nat_and_public_login_nothing_is_public():
    plans = plan_subnets(network(nat="none"), demand(), public_servers=0)

    assert {plan.tier for plan in plans} == {"private", "intra"}
    assert not has_internet(network(nat="none"))


def test_login_from_a_public_network_needs_public_subnets():
    outside = network(nat="none", ssh_from=["203.0.112.0/24"])

    assert has_public_login(outside)
    assert has_internet(outside)
    assert not has_public_login(network(ssh_from=["10.0.0.0/8"]))


def test_interfaces_of_a_file_system():
    system = a_site(file_systems=(a_file_system(),)).file_systems[0]

    assert file_system_interfaces(system) == 34


@given(
    st.integers(0, 60_000),
    st.integers(0, 200),
    st.integers(16, 28),
    st.integers(1, 6),
)
def test_subnets_never_overlap_and_always_hold_their_demand(nodes, growth, prefix, zones):
    site = network(
        cidr=f"10.16.0.0/{prefix}",
        availability_zones=[f"us-east-1{letter}" for letter in "abcdef"[:zones]],
    )
    try:
        plans = plan_subnets(site, demand(nodes, growth), public_servers=2)
    except SubnetError:
        return
    blocks = [IPv4Network(plan.cidr) for plan in plans]
    assert all(block.subnet_of(IPv4Network(site.cidr)) for block in blocks)
    assert sum(block.num_addresses for block in blocks) == len(
        {int(block.network_address) + n for block in blocks for n in range(block.num_addresses)}
    )
    assert all(plan.usable >= plan.needed for plan in plans)
