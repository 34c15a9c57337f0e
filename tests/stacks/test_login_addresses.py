"""Login nodes: an address that stays, and a security group of their own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pulumi
import pytest

from aws_factories import a_file_system, a_plan
from rackwright.components.cluster import Cluster, StackKind
from rackwright.components.tags import SiteArgs
from rackwright.plan.aws.site import AwsSitePlan
from stacks_support import Recording

LOGIN = {
    "type": "m7i.4xlarge",
    "image": "ami-0123456789abcdef0",
    "root_volume": "100 GiB",
    "count": 2,
}
OUTSIDE = {"ssh_from": ["130.59.0.0/16"]}
NETWORK = {
    "vpc_id": "vpc-1",
    "dns_zone_id": "Z1",
    "subnet_ids": {"private-a": "subnet-private", "public-a": "subnet-public"},
    "security_group_ids": {"cluster": "sg-cluster", "login": "sg-login", "balancer": "sg-balancer"},
}

Record = Callable[..., Recording]


def lookup(_kind: str, name: str) -> pulumi.Output[Any]:
    return pulumi.Output.from_input(NETWORK[name])


@pytest.fixture
def declare(recorded: Record) -> Record:
    def run(kind: StackKind, plan: AwsSitePlan, find: Any = lookup, **more: Any) -> Recording:
        args = SiteArgs(plan=plan, cluster="atlas", owner="ops")
        return recorded(lambda: Cluster(kind, args, {"name": "atlas"}, find), **more)

    return run


def with_address(kind: str | None, network: dict[str, Any] | None = None) -> AwsSitePlan:
    login = LOGIN if kind is None else {**LOGIN, "address": kind}
    return a_plan(network=network or OUTSIDE, login=login)


def test_login_nodes_had_no_address_that_stays(declare: Record) -> None:
    seen = declare("aws-cluster", with_address("elastic"))
    bound = {one.name: one.inputs["instance"] for one in seen.of("Eip")}
    assert bound == {
        "atlas-use1-login-1": "atlas-use1-login-1-id",
        "atlas-use1-login-2": "atlas-use1-login-2-id",
    }
    assert declare("aws-cluster", with_address(None)).of("Eip") == []
    private = with_address("elastic", {"ssh_from": ["10.0.0.0/8"]})
    assert declare("aws-cluster", private).of("Eip") == []


def test_a_load_balancer_is_the_one_address_of_private_login_nodes(declare: Record) -> None:
    seen = declare("aws-cluster", with_address("load-balancer"))
    balancer = seen.one("LoadBalancer").inputs
    assert balancer["loadBalancerType"] == "network"
    assert balancer["securityGroups"] == ["sg-balancer"]
    assert balancer["subnetMappings"] == [
        {"subnetId": "subnet-public", "allocationId": seen.one("Eip").name + "-id"}
    ]
    assert {one.inputs["targetId"] for one in seen.of("TargetGroupAttachment")} == {
        "atlas-use1-login-1-id",
        "atlas-use1-login-2-id",
    }
    for host in ("login-1", "login-2"):
        instance = seen.one("Instance", f"atlas-use1-{host}").inputs
        assert (instance["subnetId"], instance["associatePublicIpAddress"]) == (
            "subnet-private",
            False,
        )


def test_shells_of_users_are_not_in_the_group_of_the_cluster(declare: Record) -> None:
    """S4: each port of each node was open to each shell of a login node."""
    seen = declare("aws-cluster", with_address("elastic"))
    groups = {one.name: one.inputs["vpcSecurityGroupIds"] for one in seen.of("Instance")}
    assert groups["atlas-use1-login-1"] == ["sg-login"]
    assert groups["atlas-use1-head-1"] == ["sg-cluster"]


def test_only_the_load_balancer_reaches_ssh_of_login_nodes_from_outside(declare: Record) -> None:
    rules = declare("aws-network", with_address("load-balancer")).of("SecurityGroupIngressRule")
    outside = {
        one.inputs["securityGroupId"]
        for one in rules
        if one.inputs.get("cidrIpv4") == "130.59.0.0/16"
    }
    assert outside == {"atlas-use1-balancer-id"}
    passed_on = [
        one.inputs
        for one in rules
        if one.inputs.get("referencedSecurityGroupId") == "atlas-use1-balancer-id"
    ]
    assert [(one["securityGroupId"], one["fromPort"]) for one in passed_on] == [
        ("atlas-use1-login-id", 22)
    ]


def test_login_nodes_still_mount_what_the_cluster_mounts(declare: Record) -> None:
    plan = a_plan(
        network=OUTSIDE,
        login=LOGIN,
        file_systems=(a_file_system(),),
        efs=({"name": "home", "mount": "/home"},),
    )
    rules = declare("aws-storage", plan).of("SecurityGroupIngressRule")
    by_login = {
        (one.inputs["securityGroupId"], one.inputs["fromPort"])
        for one in rules
        if one.inputs.get("referencedSecurityGroupId") == "sg-login"
    }
    assert by_login == {
        ("atlas-use1-lustre-id", 988),
        ("atlas-use1-lustre-id", 1018),
        ("atlas-use1-efs-id", 2049),
    }
    back = {one.inputs["fromPort"] for one in rules if one.inputs["securityGroupId"] == "sg-login"}
    assert back == {988, 1018}


def test_connections_of_a_vpc_are_recorded_by_choice(declare: Record) -> None:
    """S5: there were no flow logs, by choice either."""
    plan = a_plan(network={"flow_logs": {"keep": "90 d", "traffic": "rejected"}})
    seen = declare("aws-network", plan)
    flow = seen.one("FlowLog").inputs
    assert (flow["trafficType"], flow["vpcId"]) == ("REJECT", "atlas-use1-vpc-id")
    assert seen.one("LogGroup").inputs["retentionInDays"] == 90
    policy = seen.one("RolePolicy", "atlas-use1-flow-logs").inputs["policy"]
    assert "arn:aws:mock:::atlas-use1-flow-logs" in policy
    assert declare("aws-network", a_plan()).of("FlowLog") == []


def test_a_preview_goes_on_without_a_group_and_a_subnet_that_are_to_come(declare: Record) -> None:
    """The network's stack told no group of a load balancer that the same change adds."""
    before = {"security_group_ids": {"cluster": "sg-cluster"}, "subnet_ids": {}}

    def find(_kind: str, name: str) -> pulumi.Output[Any]:
        return pulumi.Output.from_input({**NETWORK, **before}[name])

    plan = with_address("load-balancer")
    foreseen = declare("aws-cluster", plan, find, preview=True)
    assert isinstance(
        foreseen.one("LoadBalancer").inputs["securityGroups"][0], type(pulumi.UNKNOWN)
    )
    assert len(foreseen.of("Instance")) == 3
    with pytest.raises(KeyError):
        declare("aws-cluster", plan, find)
