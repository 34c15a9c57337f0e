"""An FSx file system that exists already: it is used, and nothing is made, counted or paid for it."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from aws_factories import a_file_system, a_plan, a_site
from rackwright.model.aws import AwsSite
from rackwright.model.aws_partitions import dns_suffix
from rackwright.plan.aws.file_systems.fsx import dns_name, existing_output, file_system_args
from rackwright.plan.aws.names import resource_names
from rackwright.plan.aws.quotas import FILE_SYSTEMS, LUSTRE_STORAGE, quota_uses
from rackwright.plan.aws.security_groups import storage_rules
from rackwright.plan.storage.filesystem import FileSystem, file_systems

ID = "fs-0123456789abcdef0"
GROUP = "sg-0123456789abcdef0"


def an_existing(
    existing: dict[str, Any] | None = None, name: str = "old", **more: Any
) -> dict[str, Any]:
    found = {"id": ID, "mount_name": "abcdefgh"} | (existing or {})
    return {"name": name, "mount": f"/{name}", "existing": found} | more


def a_used(*systems: dict[str, Any]) -> AwsSite:
    return a_site(file_systems=systems or (an_existing(),))


def planned(*systems: dict[str, Any]) -> FileSystem:
    plan = a_plan(file_systems=systems)

    class Expansion:
        onprem, aws = (), (plan,)

    (found,) = file_systems(Expansion())  # type: ignore[arg-type]
    return found


def test_its_size_is_not_asked_for_and_that_of_a_new_one_is() -> None:
    (system,) = a_used().file_systems
    assert system.efa is False
    assert system.size == (None, None)
    for name in ("deployment", "capacity", "throughput", "efa"):
        made = a_file_system()
        del made[name]
        with pytest.raises(
            ValidationError, match=f"'{name}' is missing: a file system that is made"
        ):
            a_used(made)


@pytest.mark.parametrize("name", ["deployment", "capacity", "throughput"])
def test_null_for_the_size_of_a_new_one_broke_its_rule(name: str) -> None:
    with pytest.raises(ValidationError, match=f"'{name}' is missing"):
        a_used({**a_file_system(), name: None})


@pytest.mark.parametrize(
    ("field", "value", "owner"),
    [
        ("deployment", "PERSISTENT_2", "its owner"),
        ("capacity", "1200 GiB", "'existing'"),
        ("throughput", "250 MB/s/TiB", "'existing'"),
        ("compression", False, "its owner"),
        ("data_repositories", [{"bucket": "atlas-data", "path": "/data"}], "its owner"),
    ],
)
def test_creation_setting_of_an_existing_lustre_is_refused(
    field: str, value: Any, owner: str
) -> None:
    with pytest.raises(ValidationError, match=f"its '{field}' is a matter of {owner}"):
        a_used(an_existing(**{field: value}))


@pytest.mark.parametrize(
    "odd", [{"id": "fs-1"}, {"id": "vol-0123456789abcdef0"}, {"mount_name": "a/b"}, {"size": 1}]
)
def test_invalid_file_system_id_is_refused(odd: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        a_used(an_existing(odd))


def test_existing_lustre_is_reported_like_a_created_one() -> None:
    (system,) = a_used(an_existing(efa=True)).file_systems
    assert system.existing is not None
    assert existing_output(system, system.existing, "cn-north-1") == {
        "id": ID,
        "dns_name": f"{ID}.fsx.cn-north-1.amazonaws.com.cn",
        "mount_name": "abcdefgh",
        "mount": "/old",
        "efa": True,
    }
    with pytest.raises(ValueError, match="'old' exists already"):
        file_system_args(system)


def test_names_of_hosts_end_as_the_endpoints_of_their_partition_do() -> None:
    from botocore.session import get_session

    partitions = get_session().get_data("partitions")["partitions"]
    regions = {
        "aws": "eu-west-1",
        "aws-cn": "cn-north-1",
        "aws-us-gov": "us-gov-west-1",
        "aws-eusc": "eusc-de-east-1",
        "aws-iso": "us-iso-east-1",
        "aws-iso-b": "us-isob-east-1",
        "aws-iso-e": "eu-isoe-west-1",
        "aws-iso-f": "us-isof-south-1",
    }
    told = {one["id"]: one["outputs"]["dnsSuffix"] for one in partitions}
    assert {name: dns_suffix(region) for name, region in regions.items()} == told
    assert dns_name("fs-1", "efs", "eu-west-1") == "fs-1.efs.eu-west-1.amazonaws.com"


def test_only_a_group_that_is_named_gets_rules_and_each_rule_once() -> None:
    assert storage_rules(a_used()) == ()
    named = {"security_group": GROUP}
    second = {"security_group": GROUP, "id": "fs-0123456789abcdef1"}
    rules = storage_rules(a_used(an_existing(named), an_existing(second, "more")))
    assert len({rule.name for rule in rules}) == len(rules)
    assert {(rule.group, rule.direction, rule.ports, rule.peer) for rule in rules} == {
        (group, direction, ports, peer)
        for ports in ((988, 988), (1018, 1023))
        for group, direction, peer in (
            (GROUP, "ingress", "sg:cluster"),
            (GROUP, "egress", "sg:cluster"),
            ("cluster", "ingress", f"sg:{GROUP}"),
        )
    }
    open_all = [
        rule for rule in storage_rules(a_used(an_existing(named, efa=True))) if not rule.ports
    ]
    assert {(rule.group, rule.direction) for rule in open_all} == {
        (group, direction) for group in (GROUP, "cluster") for direction in ("ingress", "egress")
    }


def test_nothing_is_named_counted_or_made_room_for() -> None:
    plan = a_plan(file_systems=(an_existing({"security_group": GROUP}),))
    names = [name for name in resource_names(plan, "atlas") if name.what == "security group"]
    assert [name.name for name in names] == ["atlas-use1-cluster"]
    assert not [n for n in resource_names(plan, "atlas") if n.what == "KMS alias"]
    quotas = {use.quota for use in quota_uses([plan])}
    assert not quotas & {FILE_SYSTEMS, LUSTRE_STORAGE}
    assert plan.demand is not None
    assert plan.demand.file_systems == 0
    both = a_plan(file_systems=(an_existing(), a_file_system()))
    uses = {use.quota: use.total for use in quota_uses([both])}
    assert (uses[FILE_SYSTEMS], uses[LUSTRE_STORAGE]) == (1, 38400)
    assert both.demand is not None
    assert both.demand.file_systems == 34


def test_unrecorded_fact_of_an_existing_lustre_is_unknown() -> None:
    unknown = planned(an_existing())
    assert (unknown.capacity, unknown.read.value, unknown.write.most) == (None, None, None)
    assert [str(one) for one in unknown.read.missing] == [
        "'capacity' of the existing file system, as recorded",
        "'throughput' of the existing file system, as recorded",
    ]
    assert unknown.remedy("read", 1000.0) is None
    half = planned(an_existing({"capacity": "2400 GiB"}))
    assert (half.capacity, half.read.value) == (2400, None)
    known = planned(an_existing({"capacity": "2048 GiB", "throughput": "250 MB/s/TiB"}))
    assert (known.read.value, known.read.missing) == (500, ())
    assert "higher throughput" in str(known.remedy("read", 1000.0))
