"""Policies of the roles that preview and apply a site on AWS."""

from __future__ import annotations

import json
from typing import Any

import pytest

from aws_factories import a_file_system, a_group, a_plan
from rackwright.plan.aws.deployer import deployer_policy

READING = ("Describe", "Get", "List")
CHARACTERS = {"preview": 6_144, "apply": 10_240}
"""Characters without blanks of a managed policy, and of the inline policies of a role (IAM User Guide, "IAM and AWS STS
quotas")."""


SERVER = {"type": "m7i.4xlarge", "image": "ami-0123456789abcdef0", "root_volume": "100 GiB"}


def a_full_plan(**more: Any) -> Any:
    return a_plan(
        a_group(),
        head={**SERVER, "data_volume": {}},
        file_systems=(
            a_file_system(data_repositories=({"bucket": "atlas-data", "path": "/data"},)),
        ),
        efs=({"name": "home", "mount": "/home"},),
        **{"login": SERVER, **more},
    )


def test_the_role_that_previews_only_reads() -> None:
    policy = deployer_policy(a_full_plan(), "atlas", "preview")
    names = [one.split(":")[1] for part in policy["Statement"] for one in part["Action"]]
    assert len(names) > 50
    assert [name for name in names if not name.startswith(READING)] == []


@pytest.mark.parametrize("role", ["preview", "apply"])
def test_a_policy_fits_into_a_role(role: Any) -> None:
    policy = deployer_policy(a_full_plan(account="111122223333"), "atlas", role)
    assert len(json.dumps(policy, separators=(",", ":"))) < CHARACTERS[role]
    sids = [one["Sid"] for one in policy["Statement"]]
    assert len(sids) == len(set(sids))


def test_a_boundary_is_on_every_role_that_may_be_made() -> None:
    boundary = "arn:aws:iam::111122223333:policy/boundary"
    plan = a_full_plan(access={"permissions_boundary": boundary})
    statements = deployer_policy(plan, "atlas", "apply")["Statement"]
    (made,) = (one for one in statements if "iam:CreateRole" in one["Action"])
    assert made["Condition"] == {"StringEquals": {"iam:PermissionsBoundary": boundary}}


def test_nothing_that_holds_data_may_be_deleted() -> None:
    policy = deployer_policy(a_full_plan(), "atlas", "apply")
    allowed = {one for part in policy["Statement"] for one in part["Action"]}
    for action in (
        "ec2:DeleteVolume",
        "elasticfilesystem:DeleteFileSystem",
        "fsx:DeleteFileSystem",
        "kms:ScheduleKeyDeletion",
        "s3:DeleteBucket",
        "s3:DeleteObject",
    ):
        assert action not in allowed
    assert not any(action.endswith("*") for action in allowed)


def test_the_address_of_login_nodes_was_missing_from_the_policy_of_the_apply_role() -> None:
    outside = {"ssh_from": ["130.59.0.0/16"]}
    balanced = a_full_plan(network=outside, login={**SERVER, "address": "load-balancer"})
    for role in ("preview", "apply"):
        policy = deployer_policy(balanced, "atlas", role)
        assert len(json.dumps(policy, separators=(",", ":"))) < CHARACTERS[role]
    needed = {"ec2:AssociateAddress", "elasticloadbalancing:CreateLoadBalancer"}
    assert needed <= actions(balanced)
    elastic = a_full_plan(network=outside, login={**SERVER, "address": "elastic"})
    assert needed & actions(elastic) == {"ec2:AssociateAddress"}


def actions(plan: Any) -> set[str]:
    statements = deployer_policy(plan, "atlas", "apply")["Statement"]
    return {one for part in statements for one in part["Action"]}


def test_flow_logs_need_rights_of_their_own() -> None:
    logged = a_full_plan(
        account="111122223333",
        network={"flow_logs": {"keep": "90 d"}, "ssh_from": ["130.59.0.0/16"]},
        login={**SERVER, "address": "load-balancer"},
    )
    for role in ("preview", "apply"):
        policy = deployer_policy(logged, "atlas", role)
        assert len(json.dumps(policy, separators=(",", ":"))) < CHARACTERS[role]
    assert {"ec2:CreateFlowLogs", "logs:CreateLogGroup"} <= actions(logged)
    assert not any(one.startswith("logs:") for one in actions(a_full_plan()))


def test_a_time_that_cloudwatch_does_not_keep_is_refused() -> None:
    with pytest.raises(ValueError, match="keeps events for 90 d, and not for 100 d"):
        a_full_plan(network={"flow_logs": {"keep": "100 d"}})
