"""Rights of instances, and what belongs to a partition."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from aws_factories import a_plan, a_site
from rackwright.model.aws_partitions import partition
from rackwright.plan.aws.access import (
    InstanceRole,
    assume_role_policy,
    instance_policy,
    instance_roles,
    tls_only_policy,
)
from rackwright.plan.aws.names import resource_names

ACCOUNT = "111122223333"
LOGIN = {"type": "m7i.4xlarge", "image": "ami-0123456789abcdef0", "root_volume": "100 GiB"}
PARTITIONS = [
    ("us-east-1", "aws"),
    ("eu-central-1", "aws"),
    ("cn-north-1", "aws-cn"),
    ("us-gov-west-1", "aws-us-gov"),
    ("eusc-de-east-1", "aws-eusc"),
    ("us-iso-east-1", "aws-iso"),
    ("us-isob-east-1", "aws-iso-b"),
    ("eu-isoe-west-1", "aws-iso-e"),
    ("us-isof-south-1", "aws-iso-f"),
]


def actions(role: InstanceRole) -> dict[str, set[str]]:
    """The actions that a role may take, by resource."""
    found: dict[str, set[str]] = {}
    for statement in instance_policy("atlas", a_site(), ACCOUNT, role)["Statement"]:
        assert statement["Effect"] == "Allow"
        resources = statement["Resource"]
        for one in [resources] if isinstance(resources, str) else resources:
            found.setdefault(one, set()).update(statement["Action"])
    return found


@pytest.mark.parametrize(
    ("role", "names"),
    [
        ("head", {"", "/*"}),
        ("node", {"/network", "/storage", "/cluster", "/node", "/node/*"}),
    ],
)
def test_instances_change_nothing_and_read_only_their_own_path(
    role: InstanceRole, names: set[str]
) -> None:
    """A compute node could read what a team keeps for the head alone."""
    found = actions(role)
    path = f"arn:aws:ssm:us-east-1:{ACCOUNT}:parameter/rackwright/atlas/use1"

    assert set(found) == {"*", *(path + name for name in names)}
    for name in names:
        assert all(action.startswith("ssm:GetParameter") for action in found[path + name])
    assert not [action for action in found["*"] if "Parameter" in action]


def test_login_nodes_read_no_parameter() -> None:
    """Users have shells there."""
    assert set(actions("login")) == {"*"}
    assert "ssm:UpdateInstanceInformation" in actions("login")["*"]


@pytest.mark.parametrize("role", ["head", "login", "node"])
def test_session_manager_needs_no_more_than_its_channels(role: InstanceRole) -> None:
    """AmazonSSMManagedInstanceCore lets every job read every parameter of the account."""
    allowed = {action.split(":")[0] for action in actions(role)["*"]}
    assert allowed == {"ssm", "ssmmessages"}


def test_each_kind_of_instance_has_a_role() -> None:
    assert list(instance_roles(a_site())) == ["head", "node"]
    assert list(instance_roles(a_site(login=LOGIN))) == ["head", "login", "node"]


@pytest.mark.parametrize(("region", "expected"), PARTITIONS)
def test_partitions(region: str, expected: str) -> None:
    site = a_site(region=region, network={"availability_zones": [f"{region}a"]})
    (_, parameters) = instance_policy("atlas", site, ACCOUNT, "node")["Statement"]

    assert partition(region) == expected
    assert all(one.startswith(f"arn:{expected}:ssm:{region}:") for one in parameters["Resource"])
    assert tls_only_policy(region, "b")["Statement"][0]["Resource"][0] == f"arn:{expected}:s3:::b"
    (trust,) = assume_role_policy()["Statement"]
    assert trust["Principal"] == {"Service": "ec2.amazonaws.com"}


@pytest.mark.parametrize(("region", "_partition"), PARTITIONS)
def test_a_zone_is_told_by_its_letter_in_every_partition(region: str, _partition: str) -> None:
    network = {"availability_zones": [f"{region}a", f"{region}b"]}
    names = {one.name for one in a_plan(region=region, network=network).subnets}
    assert {"private-a", "private-b", "intra-a"} <= names


@pytest.mark.parametrize(
    "access",
    [
        {"permissions_boundary": "arn:aws-cn:iam::111122223333:policy/boundary"},
        {"encryption_key": "arn:aws-us-gov:kms:us-gov-west-1:111122223333:key/1234"},
        {"encryption_key": "alias/mine"},
        {"permissions_boundary": "boundary"},
        {"instance_profiles": {"node": "a/b"}},
        {"instance_profiles": {"compute": "profile"}},
    ],
)
def test_existing_resource_has_the_arn_of_its_partition(access: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        a_site(access=access)


def test_existing_resource_is_not_created() -> None:
    profiles = {"head": "corp-head", "node": "corp-node"}
    key = "arn:aws:kms:us-east-1:111122223333:key/1234"
    system = {
        "name": "scratch",
        "deployment": "PERSISTENT_2",
        "capacity": "1200 GiB",
        "throughput": "250 MB/s/TiB",
        "efa": False,
        "mount": "/fsx",
    }
    plan = a_plan(
        login=LOGIN,
        file_systems=(system,),
        access={"instance_profiles": profiles, "encryption_key": key},
    )
    named = {(one.what, one.name) for one in resource_names(plan, "atlas")}

    assert ("IAM role", "atlas-use1-login") in named
    assert {name for what, name in named if what == "IAM role"} == {"atlas-use1-login"}
    assert not [name for what, name in named if what == "KMS alias"]
