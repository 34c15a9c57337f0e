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

        def lookup(kind: str, name: str) -> pulumi.Output[Any]:
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


HOME = {"name": "home", "mount": "/home"}


def test_a_file_system_of_efs_is_encrypted_backed_up_and_in_the_subnet_of_the_hosts(
    declare: Declare,
) -> None:
    seen = declare(a_plan(efs=(HOME,)))
    system = seen.one("FileSystem").inputs
    assert system["creationToken"] == system["tags"]["Name"] == "atlas-use1-home"
    assert (system["encrypted"], system["kmsKeyId"]) == (True, "arn:aws:mock:::atlas-use1-storage")
    assert system["throughputMode"] == "elastic"
    assert seen.one("BackupPolicy").inputs["backupPolicy"] == {"status": "ENABLED"}
    target = seen.one("MountTarget").inputs
    assert target == {
        "fileSystemId": "atlas-use1-home-id",
        "subnetId": "subnet-private",
        "securityGroups": ["atlas-use1-efs-id"],
    }
    (rule,) = (rule.inputs for rule in seen.of("SecurityGroupIngressRule"))
    assert (rule["fromPort"], rule["toPort"]) == (2049, 2049)
    assert rule["referencedSecurityGroupId"] == "sg-cluster"
    assert seen.of("SecurityGroupEgressRule") == []
    assert told(seen, "efs") == {
        "home": {
            "id": "atlas-use1-home-id",
            "dns_name": "fs-2.efs.us-east-1.amazonaws.com",
            "mount": "/home",
        }
    }


def test_file_system_of_homes_is_protected_and_retained(declare: Declare) -> None:
    seen = declare(a_plan(efs=(HOME,)))
    kept = [seen.one(token) for token in ("FileSystem", "BackupPolicy", "Key")]
    assert all(one.protect and one.retain_on_delete for one in kept)
    lifted = declare(a_plan(efs=(HOME,)), protect=False).one("FileSystem")
    assert (lifted.protect, lifted.retain_on_delete) == (False, True)
    assert not seen.one("MountTarget").retain_on_delete, "else its network could not go"


def test_an_efs_that_was_left_is_taken_over_as_it_is(declare: Declare) -> None:
    adopted = {"FileSystem atlas-use1-home": "fs-0123456789abcdef0"}
    system = declare(a_plan(efs=(HOME,)), adopted=adopted).one("FileSystem")
    assert system.import_id == "fs-0123456789abcdef0"
    assert "*" in system.ignore_changes


def test_the_key_of_the_site_encrypts_efs(declare: Declare) -> None:
    key = "arn:aws:kms:us-east-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab"
    seen = declare(a_plan(efs=(HOME,), access={"encryption_key": key}))
    assert seen.one("FileSystem").inputs["kmsKeyId"] == key
    assert seen.of("Key") == []


def test_nothing_is_made_for_an_efs_that_exists(declare: Declare) -> None:
    group = "sg-0123456789abcdef0"
    existing = {"id": "fs-0123456789abcdef0", "security_group": group}
    seen = declare(a_plan(efs=(HOME | {"existing": existing},)))
    made = {r.type for r in seen.resources if r.custom} - {"aws:ssm/parameter:Parameter"}
    assert made == {"aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule"}
    assert seen.one("SecurityGroupIngressRule").inputs["securityGroupId"] == group
    assert told(seen, "efs") == {
        "home": {
            "id": "fs-0123456789abcdef0",
            "dns_name": "fs-0123456789abcdef0.efs.us-east-1.amazonaws.com",
            "mount": "/home",
        }
    }


def test_a_site_without_efs_tells_nothing_of_it(declare: Declare) -> None:
    seen = declare(a_plan())
    assert "efs" not in json.loads(seen.one("Parameter").inputs["value"])
    assert seen.of("ElasticFileSystems") == []
