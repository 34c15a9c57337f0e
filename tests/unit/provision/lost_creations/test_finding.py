"""Each type: nothing is there, one is there, two could be it, somebody else has its name."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from rackwright.provision.lost_creations import settlement
from rackwright.provision.lost_creations.creation import FoundResource, UnclearError
from rackwright.provision.lost_creations.settlement import FINDERS, REPEATED
from unit.provision.lost_creations.cases import CASES, Case, attachment, rule
from unit.provision.lost_creations.world import (
    IMAGE,
    World,
    lost,
    tags,
)

ENCRYPTION = "ucketServerSideEncryptionConfiguration"
OLD_NAMES = {
    "aws:s3/bucketV2:BucketV2",
    "aws:s3/bucketVersioningV2:BucketVersioningV2",
    f"aws:s3/b{ENCRYPTION}V2:B{ENCRYPTION}V2",
}
"""Names of types that the provider had before."""
TABLE = Path(settlement.__file__).parents[1] / "gotools/aws-provider/tokens.go"


def found(world: World, case: Case, inputs: dict[str, Any], *known: str) -> list[FoundResource]:
    made = FINDERS[case.token](world.cloud, lost(case.token, inputs, known=known))
    return [one for one in made if one.id not in known]


def test_every_type_is_found_or_repeated() -> None:
    types = set(REPEATED) | set(FINDERS)
    assert types - OLD_NAMES == plugin_types()
    assert types >= OLD_NAMES
    assert not set(FINDERS) & REPEATED
    assert {case.token for case in CASES} == set(FINDERS) - OLD_NAMES


def plugin_types() -> set[str]:
    """The types of resources that the plugin aws has."""
    table = TABLE.read_text().split("resourceTokens = ", 1)[1].split("\n}", 1)[0]
    rows = re.findall(r'^\t"aws_\w+":\s+\{"(\w+)", "(\w+)"\},$', table, re.MULTILINE)
    assert len(rows) == table.count("\n")
    return {f"aws:{module}/{name[0].lower()}{name[1:]}:{name}" for module, name in rows}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.label)
def test_creation_is_found_by_its_id(world: World, case: Case) -> None:
    inputs = case.inputs(world)
    assert found(world, case, inputs) == []
    identity = world.create(case.token, inputs)
    assert found(world, case, inputs) == [FoundResource(identity)]
    assert found(world, case, inputs, identity) == [], "it is recorded already"


@pytest.mark.parametrize("case", [case for case in CASES if case.twice], ids=lambda c: c.label)
def test_two_that_could_be_it_are_both_named(world: World, case: Case) -> None:
    inputs = case.inputs(world)
    ids = {world.create(case.token, inputs), world.create(case.token, inputs)}
    assert len(ids) == 2
    assert {one.id for one in found(world, case, inputs)} == ids


@pytest.mark.parametrize(
    "case", [case for case in CASES if case.twice or case.named], ids=lambda c: c.label
)
def test_resource_with_other_tags_is_not_taken(world: World, case: Case) -> None:
    inputs = case.inputs(world)
    given = inputs["tags"]
    other = (
        {**given, "rackwright:site": "use2"}
        if isinstance(given, dict)
        else [{**one, "value": "other"} for one in given]
    )
    identity = world.create(case.token, {**inputs, "tags": other})
    if case.named:
        with pytest.raises(UnclearError, match="exists in AWS without the tags") as caught:
            found(world, case, inputs)
        assert identity.rsplit("/", 1)[-1] in caught.value.why
        assert "rackwright:cluster=atlas" in caught.value.remedy
    else:
        assert found(world, case, inputs) == []


def test_resource_in_another_place_is_not_taken(world: World) -> None:
    token = "aws:ec2/natGateway:NatGateway"
    inputs = {"connectivityType": "private", "tags": tags("nat")}
    world.create(token, {**inputs, "subnetId": world.subnet(1)})
    wanted = {**inputs, "subnetId": world.subnet()}
    assert FINDERS[token](world.cloud, lost(token, wanted)) == []


def test_terminated_resource_is_not_taken(world: World) -> None:
    token = "aws:ec2/instance:Instance"
    inputs = {
        "ami": IMAGE,
        "instanceType": "m5.large",
        "subnetId": world.subnet(),
        "tags": tags("head-1"),
    }
    identity = world.create(token, inputs)
    world.client("ec2").terminate_instances(InstanceIds=[identity])
    assert FINDERS[token](world.cloud, lost(token, inputs)) == []


def test_a_creation_without_tags_is_unclear(world: World) -> None:
    for token in ("aws:ec2/vpc:Vpc", "aws:kms/key:Key"):
        with pytest.raises(UnclearError, match="told from others"):
            FINDERS[token](world.cloud, lost(token, {"cidrBlock": "10.0.0.0/16"}))


@pytest.mark.parametrize(
    ("destination", "digest"), [("0.0.0.0/0", "1080289494"), ("10.8.0.0/16", "3646884271")]
)
def test_a_route_has_the_id_that_the_provider_gives(
    world: World, destination: str, digest: str
) -> None:
    inputs = {
        "routeTableId": world.table(),
        "destinationCidrBlock": destination,
        "gatewayId": world.gateway(),
    }
    world.create("aws:ec2/route:Route", inputs)
    (one,) = FINDERS["aws:ec2/route:Route"](world.cloud, lost("aws:ec2/route:Route", inputs))
    assert one.id == f"r-{world.table()}{digest}"


def test_a_route_through_something_else_is_unclear(world: World) -> None:
    inputs = {"routeTableId": world.table(), "destinationCidrBlock": "0.0.0.0/0"}
    world.create("aws:ec2/route:Route", {**inputs, "gatewayId": world.gateway()})
    wanted = {**inputs, "natGatewayId": "nat-1"}
    with pytest.raises(UnclearError, match=r"through igw-.*, and not through nat-1"):
        FINDERS["aws:ec2/route:Route"](world.cloud, lost("aws:ec2/route:Route", wanted))


def test_a_subnet_with_another_table_is_unclear(world: World) -> None:
    token = "aws:ec2/routeTableAssociation:RouteTableAssociation"
    inputs = {"routeTableId": world.table(), "subnetId": world.subnet()}
    identity = world.create(token, inputs)
    with pytest.raises(UnclearError, match=identity):
        FINDERS[token](world.cloud, lost(token, {**inputs, "routeTableId": "rtb-other"}))


def test_a_rule_of_the_other_direction_is_not_taken(world: World) -> None:
    inputs = rule(world)
    world.create("aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule", inputs)
    token = "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule"
    assert FINDERS[token](world.cloud, lost(token, inputs)) == []


def test_a_rule_is_told_by_what_it_allows(world: World) -> None:
    token = "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule"
    whole = {"securityGroupId": world.group(), "ipProtocol": "-1", "tags": tags("cluster")}
    inputs = {**whole, "referencedSecurityGroupId": world.group()}
    identity = world.create(token, {**inputs, "tags": {}})
    assert FINDERS[token](world.cloud, lost(token, inputs)) == [FoundResource(identity)]
    wide = {**whole, "cidrIpv4": "10.0.0.0/8"}
    assert FINDERS[token](world.cloud, lost(token, wide)) == []
    world.create(token, {**wide, "tags": tags("another")})
    with pytest.raises(UnclearError, match=r"sgr-.*without the tags"):
        FINDERS[token](world.cloud, lost(token, wide))
    assert FINDERS[token](world.cloud, lost(token, {**rule(world), "toPort": 23})) == []


def test_a_record_with_another_address_is_unclear(world: World) -> None:
    token = "aws:route53/record:Record"
    inputs = {"zoneId": world.zone(), "name": "Head-1", "type": "A", "records": ["10.0.0.4"]}
    assert world.create(token, inputs) == f"{world.zone()}_head-1_A"
    (one,) = FINDERS[token](world.cloud, lost(token, inputs))
    assert one.id == f"{world.zone()}_head-1_A"
    with pytest.raises(UnclearError, match=r"10\.0\.0\.4, and not as 10\.0\.0\.5"):
        FINDERS[token](world.cloud, lost(token, {**inputs, "records": ["10.0.0.5"]}))


def test_an_alias_of_another_key_is_unclear(world: World) -> None:
    token = "aws:kms/alias:Alias"
    inputs = {"name": "alias/atlas", "targetKeyId": world.key()}
    world.create(token, inputs)
    with pytest.raises(UnclearError, match="stands for the key"):
        FINDERS[token](world.cloud, lost(token, {**inputs, "targetKeyId": world.key("other")}))


def test_a_key_that_is_to_be_deleted_is_not_taken(world: World) -> None:
    token = "aws:kms/key:Key"
    inputs = {"description": "storage", "tags": tags("storage")}
    identity = world.create(token, inputs)
    world.client("kms").schedule_key_deletion(KeyId=identity, PendingWindowInDays=7)
    assert FINDERS[token](world.cloud, lost(token, inputs)) == []


def test_an_untagged_bucket_is_taken_only_while_it_is_empty(world: World) -> None:
    token = "aws:s3/bucket:Bucket"
    inputs = {"bucket": "atlas-data", "tags": tags("data")}
    world.create(token, {"bucket": "atlas-data"})
    assert FINDERS[token](world.cloud, lost(token, inputs)) == [FoundResource("atlas-data")]
    world.client("s3").put_object(Bucket="atlas-data", Key="a", Body=b"b")
    with pytest.raises(UnclearError, match="without tags and holds data"):
        FINDERS[token](world.cloud, lost(token, inputs))


def test_an_untagged_zone_is_told_by_its_comment_and_network(world: World) -> None:
    token = "aws:route53/zone:Zone"
    inputs = {
        "name": "atlas.internal",
        "comment": "private zone of atlas-use1",
        "vpcs": [{"vpcId": world.vpc()}],
        "tags": tags("zone"),
    }
    identity = world.create(token, {**inputs, "tags": {}})
    assert FINDERS[token](world.cloud, lost(token, inputs)) == [FoundResource(identity)]
    elsewhere = {**inputs, "vpcs": [{"vpcId": "vpc-other"}]}
    assert FINDERS[token](world.cloud, lost(token, elsewhere)) == []
    with pytest.raises(UnclearError, match=identity):
        FINDERS[token](world.cloud, lost(token, {**inputs, "comment": "another"}))


def test_a_path_with_another_repository_is_unclear(world: World) -> None:
    token = "aws:fsx/dataRepositoryAssociation:DataRepositoryAssociation"
    inputs = {
        "fileSystemId": world.lustre(),
        "fileSystemPath": "/data",
        "dataRepositoryPath": "s3://one",
    }
    identity = world.create(token, inputs)
    with pytest.raises(UnclearError, match=identity) as caught:
        FINDERS[token](world.cloud, lost(token, {**inputs, "dataRepositoryPath": "s3://two"}))
    assert f"--association-id {identity}" in caught.value.remedy


def test_a_volume_that_is_attached_elsewhere_is_unclear(world: World) -> None:
    token = "aws:ec2/volumeAttachment:VolumeAttachment"
    inputs = attachment(world)
    world.create(token, inputs)
    with pytest.raises(UnclearError, match="as /dev/sdf, and not to"):
        FINDERS[token](world.cloud, lost(token, {**inputs, "instanceId": "i-other"}))
