"""File systems that exist already, and those of EFS, as the engine receives them."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pulumi
import pytest

from aws_factories import a_file_system, a_plan
from rackwright.components.cluster import Cluster, StackKind
from rackwright.components.tags import SiteArgs
from rackwright.plan.aws.site import AwsSitePlan
from stacks_support import Recording

NETWORK_OUTPUTS = {
    "vpc_id": "vpc-1",
    "dns_zone_id": "Z1",
    "subnet_ids": {"private-a": "subnet-private", "public-a": "subnet-public"},
    "security_group_ids": {"cluster": "sg-cluster", "login": "sg-login"},
}
EXISTING = {
    "name": "old",
    "mount": "/old",
    "existing": {
        "id": "fs-0123456789abcdef0",
        "mount_name": "abcdefgh",
        "security_group": "sg-0123456789abcdef0",
    },
}

Declare = Callable[..., Recording]


@pytest.fixture
def declare(recorded: Callable[..., Recording]) -> Declare:
    def run(
        plan: AwsSitePlan,
        kind: StackKind = "aws-storage",
        *,
        protect: bool = True,
        adopted: dict[str, str] | None = None,
    ) -> Recording:
        args = SiteArgs(plan=plan, cluster="atlas", owner="ops", adopted=adopted or {})

        def lookup(_kind: str, name: str) -> pulumi.Output[Any]:
            return pulumi.Output.from_input(NETWORK_OUTPUTS[name])

        def program() -> None:
            Cluster(kind, args, {"name": "atlas"}, lookup, protect=protect)

        return recorded(program)

    return run


def told(seen: Recording, name: str) -> Any:
    """An output of the storage stack, as its parameter has it."""
    return json.loads(seen.one("Parameter").inputs["value"])[name]


def test_nothing_is_made_for_a_file_system_that_exists_and_it_is_told(declare: Declare) -> None:
    seen = declare(a_plan(file_systems=(EXISTING,)))
    made = {r.type for r in seen.resources if r.custom} - {"aws:ssm/parameter:Parameter"}
    assert made == {
        "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule",
        "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule",
    }
    assert told(seen, "file_systems") == {
        "old": {
            "id": "fs-0123456789abcdef0",
            "dns_name": "fs-0123456789abcdef0.fsx.us-east-1.amazonaws.com",
            "mount_name": "abcdefgh",
            "mount": "/old",
            "efa": False,
        }
    }
    rules = [rule.inputs for rule in seen.of("SecurityGroupIngressRule")]
    assert {
        (r["securityGroupId"], r["referencedSecurityGroupId"], r["fromPort"]) for r in rules
    } == {
        ("sg-0123456789abcdef0", "sg-cluster", 988),
        ("sg-0123456789abcdef0", "sg-cluster", 1018),
        ("sg-cluster", "sg-0123456789abcdef0", 988),
        ("sg-cluster", "sg-0123456789abcdef0", 1018),
    }


def test_one_that_exists_stands_beside_one_that_is_made(declare: Declare) -> None:
    seen = declare(a_plan(file_systems=(EXISTING, a_file_system())))
    assert seen.one("LustreFileSystem").name == "atlas-use1-scratch"
    assert list(told(seen, "file_systems")) == ["old", "scratch"]
    assert seen.one("LustreFileSystem").inputs["securityGroupIds"] == [
        "atlas-use1-lustre-id",
        "sg-cluster",
    ]


def test_the_network_is_protected_where_a_file_system_of_the_stacks_stands(
    declare: Declare,
) -> None:
    used = declare(a_plan(file_systems=(EXISTING,)), "aws-network")
    assert [r.name for r in used.resources if r.protect] == []
