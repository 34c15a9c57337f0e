"""The provider's answers where things are unknown, fail, or were cut off half way."""

from __future__ import annotations

from typing import Any

import grpc
import pytest
from pulumi.runtime.proto import provider_pb2, status_pb2

from rackwright.embedded_aws.control import Embedded
from rackwright.embedded_aws.provider.wire import UNKNOWN, decode, encode
from unit.embedded_aws.engine import Engine, Made, admin, client_of, urn_of
from unit.embedded_aws.test_types import POLICY, TRUST, World

VPC = "aws:ec2/vpc:Vpc"
SUBNET = "aws:ec2/subnet:Subnet"
ROLE = "aws:iam/role:Role"
TEMPLATE = "aws:ec2/launchTemplate:LaunchTemplate"


@pytest.fixture(autouse=True)
def no_faults_left(embedded: Embedded) -> Any:
    yield
    admin(embedded, "DELETE", "faults")


def test_a_preview_keeps_unknowns_and_touches_nothing(engine: Engine, embedded: Embedded) -> None:
    before = len(client_of(embedded, "ec2").describe_subnets()["Subnets"])
    made = engine.create(SUBNET, "s", {"vpcId": UNKNOWN, "cidrBlock": "10.0.0.0/24"}, preview=True)
    assert made.id == ""
    assert made.outputs["vpcId"] is UNKNOWN
    assert made.outputs["arn"] is UNKNOWN
    assert made.outputs["cidrBlock"] == "10.0.0.0/24"
    assert len(client_of(embedded, "ec2").describe_subnets()["Subnets"]) == before


def test_an_unknown_input_that_replaces_is_a_replacement(engine: Engine) -> None:
    world = World(engine, "unknown")
    subnet = engine.create(SUBNET, "u", {"vpcId": world.vpc(), "cidrBlock": "10.0.5.0/24"})
    reply = engine.diff(subnet, {"vpcId": UNKNOWN, "cidrBlock": "10.0.5.0/24"})
    assert list(reply.replaces) == ["vpcId"]
    assert reply.detailedDiff["vpcId"].kind == provider_pb2.PropertyDiff.UPDATE_REPLACE
    engine.delete(subnet)
    world.close()


def test_an_update_in_preview_changes_nothing(engine: Engine) -> None:
    made = engine.create(VPC, "pre", {"cidrBlock": "10.20.0.0/16"})
    news = {"cidrBlock": "10.20.0.0/16", "tags": {"a": "b"}}
    seen = engine.update(made, news, preview=True)
    assert seen.outputs["tagsAll"] == {"a": "b"}
    assert seen.outputs["arn"] == made.outputs["arn"]
    assert decode(engine.read(made).properties)["tagsAll"] == {}
    engine.delete(made)


def test_secrets_are_laid_open_for_the_api(engine: Engine) -> None:
    secret = {
        "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270",
        "value": "hush",
    }
    made = engine.create(
        "aws:ssm/parameter:Parameter",
        "secret",
        {"name": "/lab/secret", "type": "SecureString", "value": secret},
    )
    assert made.outputs["value"] == "hush"
    found = engine.invoke("aws:ssm/getParameter:getParameter", name="/lab/secret")
    assert found["value"] == "hush"
    engine.delete(made)


def test_an_unknown_type_is_named(engine: Engine) -> None:
    with pytest.raises(grpc.RpcError) as caught:
        engine.check(urn_of("aws:rds/cluster:Cluster", "db"), {})
    assert "the embedded AWS has no 'aws:rds/cluster:Cluster'" in caught.value.details()
    with pytest.raises(grpc.RpcError, match="the embedded AWS has no 'aws:rds/x:x'"):
        engine.invoke("aws:rds/x:x")


def test_a_missing_input_is_a_check_failure(engine: Engine) -> None:
    reply = engine.check(urn_of(ROLE, "r"), {})
    assert [(one.property, one.reason) for one in reply.failures] == [
        ("assumeRolePolicy", "missing required property 'assumeRolePolicy'")
    ]


def test_an_api_error_fails_the_create_with_its_code(engine: Engine) -> None:
    with pytest.raises(grpc.RpcError) as caught:
        engine.create(SUBNET, "bad", {"vpcId": "vpc-none", "cidrBlock": "10.0.0.0/24"})
    assert caught.value.code() == grpc.StatusCode.FAILED_PRECONDITION
    assert "creating 'bad': InvalidVpcID.NotFound" in caught.value.details()


@pytest.mark.parametrize("code", ["InternalError", "InsufficientInstanceCapacity"])
def test_an_injected_fault_fails_once(engine: Engine, embedded: Embedded, code: str) -> None:
    document = {"operation": "CreateLaunchTemplate", "times": 1, "error": code}
    admin(embedded, "POST", "faults", document)
    inputs = {"name": f"fault-{code}", "instanceType": "p5.48xlarge"}
    with pytest.raises(grpc.RpcError) as caught:
        engine.create(TEMPLATE, "fault", inputs)
    assert code in caught.value.details()
    made = engine.create(TEMPLATE, "fault", inputs)
    engine.delete(made)


@pytest.mark.parametrize(
    ("token", "inputs", "operation"),
    [
        (VPC, {"cidrBlock": "10.30.0.0/16"}, "CreateVpc"),
        (ROLE, {"assumeRolePolicy": TRUST}, "CreateRole"),
        ("aws:s3/bucket:Bucket", {"bucket": "lost-reply-bucket"}, "CreateBucket"),
        ("aws:ec2/placementGroup:PlacementGroup", {"strategy": "cluster"}, "CreatePlacementGroup"),
        ("aws:route53/zone:Zone", {"name": "lost.internal"}, "CreateHostedZone"),
        ("aws:ssm/parameter:Parameter", {"type": "String", "value": "v"}, "PutParameter"),
        ("aws:kms/key:Key", {"description": "lost"}, "CreateKey"),
        ("aws:iam/policy:Policy", {"policy": POLICY}, "CreatePolicy"),
    ],
)
def test_a_lost_reply_is_mended_by_the_next_create(
    engine: Engine, embedded: Embedded, token: str, inputs: dict[str, Any], operation: str
) -> None:
    fault = {"operation": operation, "error": "InternalError", "after": True}
    admin(embedded, "POST", "faults", fault)
    with pytest.raises(grpc.RpcError):
        engine.create(token, "lost", inputs)
    admin(embedded, "DELETE", "calls")
    made = engine.create(token, "lost", inputs)
    calls = [call["operation"] for call in admin(embedded, "GET", "calls")["calls"]]
    assert operation not in calls
    assert not engine.diff(made, inputs).diffs
    engine.delete(made)


def test_a_half_made_resource_is_recorded_and_mended(engine: Engine, embedded: Embedded) -> None:
    fault = {"operation": "ModifyVpcAttribute", "error": "InternalError"}
    admin(embedded, "POST", "faults", fault)
    inputs = {"cidrBlock": "10.31.0.0/16", "enableDnsHostnames": True}
    with pytest.raises(grpc.RpcError) as caught:
        engine.create(VPC, "half", inputs)
    metadata = dict(caught.value.trailing_metadata())
    status = status_pb2.Status.FromString(metadata["grpc-status-details-bin"])
    detail = provider_pb2.ErrorResourceInitFailed()
    assert status.details[0].Unpack(detail)
    assert detail.id.startswith("vpc-")
    assert "InternalError" in detail.reasons[0]
    half = Made(urn_of(VPC, "half"), detail.id, decode(detail.inputs), decode(detail.properties))
    assert engine.diff(half, inputs).changes == provider_pb2.DiffResponse.DIFF_SOME
    made = engine.update(half, inputs)
    assert not engine.diff(made, inputs).diffs
    assert made.outputs["enableDnsHostnames"] is True
    engine.delete(made)


def test_a_successor_is_not_taken_for_its_predecessor(engine: Engine) -> None:
    inputs = {"cidrBlock": "10.32.0.0/16"}
    made = engine.create(VPC, "same", inputs)
    engine.diff(made, inputs)
    successor = engine.create(VPC, "same", inputs)
    assert successor.id != made.id
    engine.delete(made)
    assert engine.read(successor).id == successor.id
    engine.delete(successor)


def test_a_name_of_somebody_else_is_a_conflict(engine: Engine, embedded: Embedded) -> None:
    iam = client_of(embedded, "iam")
    iam.create_role(RoleName="foreign", AssumeRolePolicyDocument=TRUST)
    with pytest.raises(grpc.RpcError, match="EntityAlreadyExists"):
        engine.create(ROLE, "foreign", {"name": "foreign", "assumeRolePolicy": TRUST})
    iam.delete_role(RoleName="foreign")


def test_a_drift_is_seen_by_a_refresh(engine: Engine, embedded: Embedded) -> None:
    inputs = {"cidrBlock": "10.33.0.0/16", "tags": {"owner": "lab"}}
    made = engine.create(VPC, "drift", inputs)
    client_of(embedded, "ec2").create_tags(
        Resources=[made.id], Tags=[{"Key": "owner", "Value": "other"}]
    )
    read = engine.read(made)
    live = Made(made.urn, made.id, decode(read.inputs), decode(read.properties))
    assert live.inputs["tags"] == {"owner": "other"}
    assert "tags" in engine.diff(live, inputs).diffs
    mended = engine.update(live, inputs)
    assert mended.outputs["tags"] == {"owner": "lab"}
    engine.delete(mended)


def test_default_tags_and_regions_belong_to_a_connection(
    engine: Engine, embedded: Embedded
) -> None:
    other = Engine(embedded.provider_port, "eu-west-1", {"project": "lab"})
    here = engine.create(VPC, "region", {"cidrBlock": "10.34.0.0/16"})
    there = other.create(VPC, "region", {"cidrBlock": "10.34.0.0/16", "tags": {"a": "b"}})
    assert here.outputs["region"] == "us-west-2"
    assert there.outputs["region"] == "eu-west-1"
    assert there.outputs["tagsAll"] == {"a": "b", "project": "lab"}
    assert there.outputs["tags"] == {"a": "b"}
    assert not other.diff(there, {"cidrBlock": "10.34.0.0/16", "tags": {"a": "b"}}).diffs
    third = engine.create(VPC, "own", {"cidrBlock": "10.35.0.0/16", "region": "eu-west-1"})
    assert ":eu-west-1:" in third.outputs["arn"]
    engine.delete(third)
    engine.delete(here)
    other.delete(there)
    other.channel.close()


def test_a_made_up_name_stays(engine: Engine) -> None:
    made = engine.create(ROLE, "auto", {"assumeRolePolicy": TRUST})
    assert made.outputs["name"].startswith("auto-")
    assert not engine.diff(made, {"assumeRolePolicy": TRUST}).diffs
    explicit = engine.diff(made, {"assumeRolePolicy": TRUST, "name": "auto"})
    assert list(explicit.replaces) == ["name"]
    assert not explicit.deleteBeforeReplace
    engine.delete(made)


def test_a_fixed_name_is_deleted_before_it_is_replaced(engine: Engine) -> None:
    inputs = {"name": "fixed", "assumeRolePolicy": TRUST}
    made = engine.create(ROLE, "fixed", inputs)
    reply = engine.diff(made, {**inputs, "path": "/x/"})
    assert reply.deleteBeforeReplace
    engine.delete(made)


def test_functions_answer(engine: Engine) -> None:
    zones = engine.invoke(
        "aws:index/getAvailabilityZones:getAvailabilityZones",
        state="available",
        excludeNames=["us-west-2d"],
    )
    assert zones["names"] == ["us-west-2a", "us-west-2b", "us-west-2c"]
    assert len(zones["zoneIds"]) == 3
    caller = engine.invoke("aws:index/getCallerIdentity:getCallerIdentity")
    assert caller["accountId"] == "123456789012"
    assert engine.invoke("aws:index/getRegion:getRegion")["region"] == "us-west-2"
    image = engine.invoke(
        "aws:ec2/getAmi:getAmi",
        mostRecent=True,
        owners=["amazon"],
        filters=[{"name": "name", "values": ["Deep Learning Base OSS*(Ubuntu 22.04)*"]}],
    )
    by_name = engine.invoke(
        "aws:ssm/getParameter:getParameter",
        name="/aws/service/deeplearning/ami/x86_64/base-oss-nvidia-driver-gpu-ubuntu-22.04"
        "/latest/ami-id",
    )
    assert image["id"] == by_name["value"]
    document = engine.invoke(
        "aws:iam/getPolicyDocument:getPolicyDocument",
        statements=[
            {
                "actions": ["sts:AssumeRole"],
                "principals": [{"type": "Service", "identifiers": ["ec2.amazonaws.com"]}],
            }
        ],
    )
    assert '"Principal":{"Service":"ec2.amazonaws.com"}' in document["minifiedJson"]


def test_no_image_is_an_error_that_says_so(engine: Engine) -> None:
    with pytest.raises(grpc.RpcError, match="no image matches"):
        engine.invoke("aws:ec2/getAmi:getAmi", filters=[{"name": "name", "values": ["none"]}])


def test_wire_keeps_every_kind_of_value() -> None:
    props = {"a": [1, 2.5, {"b": True}], "c": "x", "d": UNKNOWN, "e": {"f": []}}
    assert decode(encode(props)) == props
    with pytest.raises(TypeError):
        encode({"a": object()})
