"""The names that rules judge are those that the stacks declare, no more and no less."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pulumi
import pytest

from aws_factories import a_file_system, a_group, a_plan
from rackwright.components.cluster import Cluster, StackKind
from rackwright.components.tags import SiteArgs
from rackwright.plan.aws.names import resource_names
from stacks_support import Recording

LOGIN = {"type": "m7i.4xlarge", "image": "ami-0123456789abcdef0", "root_volume": "100 GiB"}
OUTPUTS: dict[str, Any] = {
    "vpc_id": "vpc-1",
    "dns_zone_id": "Z1",
    "subnet_ids": {"private-a": "subnet-private", "public-a": "subnet-public"},
    "security_group_ids": {"cluster": "sg-cluster", "login": "sg-login"},
    "file_systems": {"scratch": {"id": "fs-1"}},
}
NAMED = {
    "Role": ("IAM role", "name"),
    "InstanceProfile": ("instance profile", "name"),
    "SecurityGroup": ("security group", "name"),
    "LaunchTemplate": ("launch template", "name"),
    "PlacementGroup": ("placement group", "name"),
    "Group": ("Auto Scaling group", "name"),
    "Alias": ("KMS alias", "name"),
    "Parameter": ("parameter", "name"),
    "Bucket": ("S3 bucket", "bucket"),
}
"""What the resources of each type are called, by the type's own name."""
KINDS: tuple[StackKind, ...] = ("aws-network", "aws-storage", "aws-cluster")


@pytest.mark.parametrize("login", [None, LOGIN])
def test_planned_names_are_those_of_the_stacks(
    login: dict[str, Any] | None, recorded: Callable[..., Recording]
) -> None:
    repository = {"bucket": "atlas-data", "path": "/data"}
    plan = a_plan(
        a_group(),
        a_group(name="cpu", type="m7i.4xlarge", efa=False, count=3),
        network={"endpoints": ["s3", "ssm"]},
        file_systems=(a_file_system(data_repositories=(repository,)),),
        **({} if login is None else {"login": login}),
    )
    args = SiteArgs(plan=plan, cluster="atlas", owner="ops")

    def lookup(kind: StackKind, name: str) -> pulumi.Output[Any]:
        assert kind in KINDS
        return pulumi.Output.from_input(OUTPUTS[name])

    declared: list[tuple[str, str]] = []
    hosts = set()
    for kind in KINDS:
        seen = recorded(lambda kind=kind: Cluster(kind, args, {}, lookup))
        for token, (what, field) in NAMED.items():
            declared += [(what, one.inputs[field]) for one in seen.of(token)]
        hosts |= {one.inputs["name"] for one in seen.of("Record")}
    planned = list(resource_names(plan, "atlas"))
    told = [(one.what, one.name) for one in planned if one.what in dict(NAMED.values())]
    assert sorted(told) == sorted(declared)
    domains = {one.name for one in planned if one.what == "domain name"}
    assert hosts <= domains
    assert {"gpu-16.atlas.internal", "cpu-03.atlas.internal"} <= domains
