"""The provider's answers where things are unknown, fail, or were cut off half way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import grpc
import pytest
from pulumi.runtime.proto import provider_pb2, status_pb2

from rackwright.embedded_aws.control import Embedded
from rackwright.embedded_aws.provider.aws import Aws, Clients
from rackwright.embedded_aws.provider.resource import REGISTRY
from rackwright.embedded_aws.provider.wire import UNKNOWN, decode, encode
from unit.embedded_aws.engine import Engine, Made, admin, client_of, urn_of
from unit.embedded_aws.test_types import TRUST, World

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


def test_what_a_lost_create_made_is_not_taken_over(engine: Engine, embedded: Embedded) -> None:
    """AWS takes nothing over either: who was cut off has to look for what it made."""
    inputs = {"cidrBlock": "10.30.0.0/16", "tags": {"Name": "lost"}}
    admin(embedded, "POST", "faults", {"operation": "CreateVpc", "error": "Lost", "after": True})
    with pytest.raises(grpc.RpcError):
        engine.create(VPC, "lost", inputs)
    engine.create(VPC, "lost", inputs)
    ec2 = client_of(embedded, "ec2")
    found = ec2.describe_vpcs(Filters=[{"Name": "tag:Name", "Values": ["lost"]}])["Vpcs"]
    assert len(found) == 2
    for one in found:
        ec2.delete_vpc(VpcId=one["VpcId"])


@dataclass(frozen=True)
class Half:
    """A resource of which only the first call was made, and what has to be seen of it."""

    token: str
    inputs: Callable[[World], dict[str, Any]]
    differs: str


def group_of_nodes(world: World) -> dict[str, Any]:
    return {
        "name": "half-group",
        "minSize": 0,
        "maxSize": 1,
        "vpcZoneIdentifiers": [world.subnet()],
        "launchTemplate": {"id": world.template().id, "version": "1"},
        "suspendedProcesses": ["AZRebalance"],
    }


HALVES = (
    Half(
        VPC,
        lambda w: {"cidrBlock": "10.33.0.0/16", "enableDnsHostnames": True},
        "enableDnsHostnames",
    ),
    Half("aws:ec2/internetGateway:InternetGateway", lambda w: {"vpcId": w.vpc()}, "vpcId"),
    Half(
        "aws:iam/instanceProfile:InstanceProfile",
        lambda w: {"name": "half-profile", "role": w.role()},
        "role",
    ),
    Half(
        "aws:kms/key:Key",
        lambda w: {"description": "half", "enableKeyRotation": True},
        "enableKeyRotation",
    ),
    Half("aws:s3/bucket:Bucket", lambda w: {"bucket": "half-made", "tags": {"a": "b"}}, "tags"),
    Half("aws:autoscaling/group:Group", group_of_nodes, "suspendedProcesses"),
)


@pytest.mark.parametrize("half", HALVES, ids=lambda half: half.token.rsplit(":", 1)[-1])
def test_what_was_half_made_is_seen_when_it_is_read(
    engine: Engine, embedded: Embedded, half: Half
) -> None:
    world = World(engine, f"half-{half.differs.lower()}")
    inputs = half.inputs(world)
    resource = REGISTRY[half.token]
    # The tags of a bucket come by a second call.
    tags = {} if half.differs == "tags" else inputs.get("tags", {})
    aws = Aws(Clients(embedded.endpoint))
    given = resource.defaults(aws, inputs)
    identity = resource.create(aws, given, tags)
    recorded = Made(urn_of(half.token, "half"), identity, given, {**given, "id": identity})
    read = engine.read(recorded)
    found = Made(recorded.urn, read.id, decode(read.inputs), decode(read.properties))
    diff = engine.diff(found, inputs)
    assert list(diff.diffs) == [half.differs]
    assert not diff.replaces
    mended = engine.update(found, inputs)
    assert mended.outputs[half.differs] == inputs[half.differs]
    engine.delete(mended)
    world.close()


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
