"""File systems of EFS: what may be asked, what is made, and what a plan says of them."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from aws_factories import a_file_system, a_plan, a_site
from rackwright.model.aws_storage import ElasticFileSystem
from rackwright.plan.aws.file_systems.efs import (
    backup_args,
    efs_args,
    existing_efs_output,
    made_efs,
)
from rackwright.plan.aws.names import resource_names
from rackwright.plan.aws.quotas import ELASTIC, INTERFACES, quota_uses
from rackwright.plan.aws.security_groups import SecurityRule, storage_rules

GROUP = "sg-0123456789abcdef0"
EXISTING = {"id": "fs-0123456789abcdef0"}


def a_home(**changes: Any) -> dict[str, Any]:
    return {"name": "home", "mount": "/home"} | changes


def system(**changes: Any) -> ElasticFileSystem:
    return a_site(efs=(a_home(**changes),)).efs[0]


def test_elastic_encrypted_and_backed_up_where_nothing_is_said() -> None:
    assert efs_args(system(), "atlas-use1-home") == {
        "creation_token": "atlas-use1-home",
        "encrypted": True,
        "performance_mode": "generalPurpose",
        "throughput_mode": "elastic",
        "lifecycle_policies": None,
    }
    assert backup_args(system()) == {"backup_policy": {"status": "ENABLED"}}
    assert backup_args(system(backups=False)) == {"backup_policy": {"status": "DISABLED"}}


def test_files_move_to_cheaper_storage_and_back() -> None:
    tiering = {"infrequent_access": "30 d", "archive": "90 d", "back_on_access": True}
    assert efs_args(system(tiering=tiering), "n")["lifecycle_policies"] == [
        {"transition_to_ia": "AFTER_30_DAYS"},
        {"transition_to_archive": "AFTER_90_DAYS"},
        {"transition_to_primary_storage_class": "AFTER_1_ACCESS"},
    ]
    assert efs_args(system(tiering={"infrequent_access": "1 d"}), "n")["lifecycle_policies"] == [
        {"transition_to_ia": "AFTER_1_DAY"}
    ]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"tiering": {}}, "nothing moves"),
        ({"tiering": {"back_on_access": True}}, "nothing moves"),
        ({"tiering": {"archive": "2 d"}}, "files move after 1, 7, 14"),
        ({"tiering": {"infrequent_access": "90 d", "archive": "90 d"}}, "later than to"),
        ({"tiering": {"archive": "90 d"}, "throughput": "bursting"}, "have an 'archive'"),
        ({"existing": EXISTING, "backups": False}, "'backups' is a matter of its owner"),
        ({"existing": EXISTING, "throughput": "elastic"}, "'throughput' is a matter of its owner"),
        ({"existing": EXISTING, "data": "1 TiB"}, "'data' is a matter of its owner"),
        ({"existing": {"id": "vol-0123456789abcdef0"}}, "match"),
        ({"mount": "home"}, "match"),
        ({"throughput": "fast"}, "elastic"),
    ],
)
def test_impossible_efs_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        system(**changes)


@pytest.mark.parametrize("twin", [a_home(name="scratch"), a_home(mount="/fsx")])
def test_names_and_mounts_differ_from_those_of_fsx(twin: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match="is named twice"):
        a_site(file_systems=(a_file_system(),), efs=(twin,))


def test_one_that_exists_is_told_as_one_that_is_made() -> None:
    used = system(existing=EXISTING)
    assert used.existing is not None
    assert existing_efs_output(used, used.existing, "eusc-de-east-1") == {
        "id": EXISTING["id"],
        "dns_name": f"{EXISTING['id']}.efs.eusc-de-east-1.amazonaws.eu",
        "mount": "/home",
    }
    assert made_efs(a_site(efs=(a_home(existing=EXISTING),))) == ()


def test_the_cluster_alone_gets_in() -> None:
    made = SecurityRule("efs", "ingress", "tcp", (2049, 2049), "sg:cluster", "NFS")
    assert storage_rules(a_site(efs=(a_home(), a_home(name="soft", mount="/soft")))) == (made,)
    named = a_home(existing=EXISTING | {"security_group": GROUP})
    assert [rule.group for rule in storage_rules(a_site(efs=(named,)))] == [GROUP]
    assert storage_rules(a_site(efs=(a_home(existing=EXISTING),))) == ()


def test_names_quotas_and_addresses_count_those_that_are_made() -> None:
    used = a_home(name="old", mount="/old", existing=EXISTING)
    plan = a_plan(efs=(a_home(), used))
    names = {name.what: name.name for name in resource_names(plan, "atlas")}
    assert names["EFS creation token"] == "atlas-use1-home"
    assert names["KMS alias"] == "alias/atlas-use1-storage"
    assert {n.name for n in resource_names(plan, "atlas") if n.what == "security group"} == {
        "atlas-use1-cluster",
        "atlas-use1-efs",
    }
    uses = {use.quota: use for use in quota_uses([plan])}
    assert uses[ELASTIC].total == 1
    assert [row.count for row in uses[INTERFACES].taken if row.name == "mount target of EFS"] == [1]
    assert plan.demand is not None
    assert plan.demand.file_systems == 1
    none = a_plan(efs=(used,))
    assert not none.makes_key
    assert ELASTIC not in {use.quota for use in quota_uses([none])}
