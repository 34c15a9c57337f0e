"""Every resource type: made, unchanged, changed, recorded by its id alone, deleted."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

import rackwright.embedded_aws.provider.provider  # noqa: F401 - loads every type
from rackwright.embedded_aws.provider.resource import REGISTRY
from rackwright.embedded_aws.provider.wire import decode
from unit.embedded_aws.engine import Engine, Made

TRUST = json.dumps(
    {
        "Version": "2012-10-17",
        "Statement": [
            {
                "Effect": "Allow",
                "Principal": {"Service": "ec2.amazonaws.com"},
                "Action": "sts:AssumeRole",
            }
        ],
    }
)
POLICY = json.dumps(
    {
        "Version": "2012-10-17",
        "Statement": [{"Effect": "Allow", "Action": "s3:Get*", "Resource": "*"}],
    }
)
WIDER = POLICY.replace("s3:Get*", "s3:*")
AMI = "al2023-ami-2023.9.20251014.0-kernel-6.1-x86_64"


@dataclass
class World:
    """Makes what a resource under test needs, and takes it away again in reverse."""

    engine: Engine
    name: str
    made: dict[str, Made] = field(default_factory=dict)

    def get(self, token: str, key: str, **inputs: Any) -> Made:
        if key not in self.made:
            self.made[key] = self.engine.create(token, f"{self.name}-{key}", inputs)
        return self.made[key]

    def vpc(self) -> str:
        return self.get("aws:ec2/vpc:Vpc", "vpc", cidrBlock="10.0.0.0/16").id

    def subnet(self, number: int = 0) -> str:
        return self.get(
            "aws:ec2/subnet:Subnet",
            f"subnet{number}",
            vpcId=self.vpc(),
            cidrBlock=f"10.0.{number * 16}.0/20",
            availabilityZone="us-west-2a",
        ).id

    def group(self) -> str:
        return self.get("aws:ec2/securityGroup:SecurityGroup", "sg", vpcId=self.vpc()).id

    def table(self, number: int = 0) -> str:
        token = "aws:ec2/routeTable:RouteTable"
        return self.get(token, f"rt{number}", vpcId=self.vpc()).id

    def gateway(self) -> str:
        token = "aws:ec2/internetGateway:InternetGateway"
        return self.get(token, "igw", vpcId=self.vpc()).id

    def eip(self) -> str:
        return self.get("aws:ec2/eip:Eip", "eip", domain="vpc").id

    def role(self) -> str:
        return self.get("aws:iam/role:Role", "role", assumeRolePolicy=TRUST).id

    def bucket(self) -> str:
        return self.get("aws:s3/bucket:Bucket", "bucket").id

    def key(self) -> str:
        return self.get("aws:kms/key:Key", "key", description="k").id

    def zone(self) -> str:
        return self.get("aws:route53/zone:Zone", "zone", name=f"{self.name}.internal").id

    def logs(self) -> str:
        return str(self.get("aws:cloudwatch/logGroup:LogGroup", "logs").outputs["arn"])

    def image(self) -> str:
        filters = [{"name": "name", "values": [AMI]}]
        return str(self.engine.invoke("aws:ec2/getAmi:getAmi", filters=filters)["id"])

    def template(self) -> Made:
        return self.get(
            "aws:ec2/launchTemplate:LaunchTemplate",
            "lt",
            imageId=self.image(),
            instanceType="m5.large",
        )

    def instance(self) -> str:
        return self.get("aws:ec2/instance:Instance", "instance", **instance_inputs(self)).id

    def volume(self) -> str:
        return self.get("aws:ebs/volume:Volume", "volume", **volume_inputs(self)).id

    def elastic(self) -> str:
        return self.get("aws:efs/fileSystem:FileSystem", "efs", encrypted=True).id

    def lustre(self) -> str:
        return self.get("aws:fsx/lustreFileSystem:LustreFileSystem", "fs", **lustre(self)).id

    def close(self) -> None:
        for made in reversed(self.made.values()):
            self.engine.delete(made)


def elastic(world: World) -> dict[str, Any]:
    return {
        "creationToken": f"{world.name}-home",
        "encrypted": True,
        "kmsKeyId": world.get("aws:kms/key:Key", "key", description="k").outputs["arn"],
        "performanceMode": "generalPurpose",
        "throughputMode": "elastic",
        "lifecyclePolicies": [{"transitionToIa": "AFTER_30_DAYS"}],
    }


def lustre(world: World, **more: Any) -> dict[str, Any]:
    return {
        "subnetIds": world.subnet(),
        "securityGroupIds": [world.group()],
        "deploymentType": "PERSISTENT_2",
        "perUnitStorageThroughput": 250,
        "storageCapacity": 2400,
        "efaEnabled": True,
        "metadataConfiguration": {"mode": "AUTOMATIC"},
        "dataCompressionType": "LZ4",
        **more,
    }


Inputs = Callable[[World], dict[str, Any]]


@dataclass(frozen=True)
class Case:
    """One type: inputs, inputs to update to (None: nothing is updatable) and what is replaced."""

    token: str
    first: Inputs
    then: Inputs | None = None
    replaced: tuple[str, Any] | None = None
    outputs: tuple[str, ...] = ()
    stays: bool = False


def tagged(first: Inputs) -> Inputs:
    return lambda world: {**first(world), "tags": {"stage": "two"}}


def plus(first: Inputs, **more: Any) -> Inputs:
    return lambda world: {**first(world), **more}


def vpc_inputs(world: World) -> dict[str, Any]:
    return {"cidrBlock": "10.9.0.0/16", "enableDnsHostnames": True, "tags": {"stage": "one"}}


def subnet_inputs(world: World) -> dict[str, Any]:
    return {"vpcId": world.vpc(), "cidrBlock": "10.0.240.0/20", "availabilityZone": "us-west-2b"}


def rule_inputs(world: World) -> dict[str, Any]:
    return {
        "securityGroupId": world.group(),
        "ipProtocol": "tcp",
        "fromPort": 22,
        "toPort": 22,
        "cidrIpv4": "10.0.0.0/8",
    }


def instance_inputs(world: World) -> dict[str, Any]:
    return {
        "ami": world.image(),
        "instanceType": "m5.large",
        "subnetId": world.subnet(),
        "vpcSecurityGroupIds": [world.group()],
        "metadataOptions": {"httpTokens": "required", "httpPutResponseHopLimit": 2},
        "rootBlockDevice": {"encrypted": True, "volumeSize": 50, "volumeType": "gp3"},
        "tags": {"Name": "head"},
    }


def volume_inputs(world: World) -> dict[str, Any]:
    return {
        "availabilityZone": "us-west-2a",
        "encrypted": True,
        "iops": 3000,
        "size": 100,
        "throughput": 125,
        "type": "gp3",
        "tags": {"Name": "data"},
    }


def attachment_inputs(world: World) -> dict[str, Any]:
    return {
        "deviceName": "/dev/sdf",
        "instanceId": world.instance(),
        "stopInstanceBeforeDetaching": True,
        "volumeId": world.volume(),
    }


def lifecycle_inputs(world: World) -> dict[str, Any]:
    rule = {"interval": 24, "intervalUnit": "HOURS", "times": "03:30"}
    schedule = {"name": "daily", "copyTags": True, "createRule": rule, "retainRule": {"count": 14}}
    return {
        "description": "data volumes of lab",
        "executionRoleArn": world.get(
            "aws:iam/role:Role", "lifecycle", assumeRolePolicy=TRUST
        ).outputs["arn"],
        "policyDetails": {
            "policyType": "EBS_SNAPSHOT_MANAGEMENT",
            "resourceTypes": ["VOLUME"],
            "schedules": [schedule],
            "targetTags": {"backed-up": "yes"},
        },
        "state": "ENABLED",
    }


def group_inputs(world: World) -> dict[str, Any]:
    return {
        "minSize": 1,
        "maxSize": 4,
        "desiredCapacity": 2,
        "vpcZoneIdentifiers": [world.subnet()],
        "launchTemplate": {"id": world.template().id, "version": "1"},
        "tags": [{"key": "Name", "value": "node", "propagateAtLaunch": True}],
    }


def reservation_inputs(world: World) -> dict[str, Any]:
    return {
        "availabilityZone": "us-west-2a",
        "instanceCount": 2,
        "instancePlatform": "Linux/UNIX",
        "instanceType": "p5.48xlarge",
    }


def bucket_rules(algorithm: str) -> list[dict[str, Any]]:
    return [{"applyServerSideEncryptionByDefault": {"sseAlgorithm": algorithm}}]


def block_offering(world: World) -> dict[str, Any]:
    offer = world.engine.invoke(
        "aws:ec2/getCapacityBlockOffering:getCapacityBlockOffering",
        instanceType="p5.48xlarge",
        instanceCount=2,
        capacityDurationHours=24,
    )
    identity = offer["capacityBlockOfferingId"]
    return {"capacityBlockOfferingId": identity, "instancePlatform": "Linux/UNIX"}


def egress(port: int) -> list[dict[str, Any]]:
    rule = {"protocol": "tcp", "fromPort": port, "toPort": port, "cidrBlocks": ["0.0.0.0/0"]}
    return [rule, {"protocol": "-1", "fromPort": 0, "toPort": 0, "self": True}]


CASES = (
    Case(
        "aws:ec2/vpc:Vpc",
        vpc_inputs,
        tagged(vpc_inputs),
        ("cidrBlock", "10.8.0.0/16"),
        ("arn", "defaultSecurityGroupId", "mainRouteTableId", "tagsAll"),
    ),
    Case(
        "aws:ec2/subnet:Subnet",
        subnet_inputs,
        plus(subnet_inputs, mapPublicIpOnLaunch=True),
        ("availabilityZone", "us-west-2c"),
        ("arn", "availabilityZoneId"),
    ),
    Case(
        "aws:ec2/internetGateway:InternetGateway",
        lambda w: {"vpcId": w.vpc()},
        lambda w: {"vpcId": w.vpc(), "tags": {"a": "b"}},
        outputs=("arn",),
    ),
    Case(
        "aws:ec2/eip:Eip",
        lambda w: {"domain": "vpc"},
        lambda w: {"domain": "vpc", "tags": {"a": "b"}},
        outputs=("publicIp", "allocationId"),
    ),
    Case(
        "aws:ec2/natGateway:NatGateway",
        lambda w: {"subnetId": w.subnet(), "allocationId": w.eip()},
        lambda w: {"subnetId": w.subnet(), "allocationId": w.eip(), "tags": {"a": "b"}},
        ("subnetId", "subnet-other"),
        ("publicIp", "privateIp"),
    ),
    Case(
        "aws:ec2/routeTable:RouteTable",
        lambda w: {"vpcId": w.vpc()},
        lambda w: {
            "vpcId": w.vpc(),
            "routes": [{"cidrBlock": "0.0.0.0/0", "gatewayId": w.gateway()}],
        },
        ("vpcId", "vpc-other"),
        ("arn",),
    ),
    Case(
        "aws:ec2/route:Route",
        lambda w: {
            "routeTableId": w.table(),
            "destinationCidrBlock": "0.0.0.0/0",
            "gatewayId": w.gateway(),
        },
        None,
        ("destinationCidrBlock", "1.0.0.0/8"),
        ("state", "origin"),
    ),
    Case(
        "aws:ec2/routeTableAssociation:RouteTableAssociation",
        lambda w: {"routeTableId": w.table(), "subnetId": w.subnet()},
        lambda w: {"routeTableId": w.table(1), "subnetId": w.subnet()},
        ("subnetId", "subnet-other"),
    ),
    Case(
        "aws:ec2/vpcEndpoint:VpcEndpoint",
        lambda w: {"vpcId": w.vpc(), "serviceName": "com.amazonaws.us-west-2.s3"},
        lambda w: {
            "vpcId": w.vpc(),
            "serviceName": "com.amazonaws.us-west-2.s3",
            "routeTableIds": [w.table()],
        },
        ("serviceName", "com.amazonaws.us-west-2.ec2"),
        ("arn", "state"),
    ),
    Case(
        "aws:ec2/vpcDhcpOptions:VpcDhcpOptions",
        lambda w: {"domainName": "lab", "domainNameServers": ["AmazonProvidedDNS"]},
        lambda w: {
            "domainName": "lab",
            "domainNameServers": ["AmazonProvidedDNS"],
            "tags": {"a": "b"},
        },
        ("domainName", "other"),
        ("arn",),
    ),
    Case(
        "aws:ec2/vpcDhcpOptionsAssociation:VpcDhcpOptionsAssociation",
        lambda w: {
            "vpcId": w.vpc(),
            "dhcpOptionsId": w.get(
                "aws:ec2/vpcDhcpOptions:VpcDhcpOptions", "dhcp", domainName="lab"
            ).id,
        },
        None,
        ("vpcId", "vpc-other"),
    ),
    Case(
        "aws:ec2/securityGroup:SecurityGroup",
        lambda w: {"vpcId": w.vpc(), "egress": egress(443)},
        lambda w: {"vpcId": w.vpc(), "egress": egress(80), "ingress": egress(22)},
        ("description", "another"),
        ("arn", "name", "egress"),
    ),
    Case(
        "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule",
        rule_inputs,
        plus(rule_inputs, toPort=23, fromPort=23),
        ("securityGroupId", "sg-other"),
        ("securityGroupRuleId",),
    ),
    Case(
        "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule",
        lambda w: {
            "securityGroupId": w.group(),
            "ipProtocol": "-1",
            "referencedSecurityGroupId": w.group(),
        },
        lambda w: {
            "securityGroupId": w.group(),
            "ipProtocol": "-1",
            "referencedSecurityGroupId": w.group(),
            "tags": {"a": "b"},
        },
        ("securityGroupId", "sg-other"),
        ("securityGroupRuleId",),
    ),
    Case(
        "aws:ec2/defaultSecurityGroup:DefaultSecurityGroup",
        lambda w: {"vpcId": w.vpc()},
        lambda w: {"vpcId": w.vpc(), "egress": egress(443)},
        ("vpcId", "vpc-other"),
        ("arn", "name"),
        stays=True,
    ),
    Case(
        "aws:ec2/flowLog:FlowLog",
        lambda w: {
            "vpcId": w.vpc(),
            "trafficType": "REJECT",
            "logDestination": w.logs(),
            "iamRoleArn": w.get("aws:iam/role:Role", "flow", assumeRolePolicy=TRUST).outputs["arn"],
        },
        None,
        ("trafficType", "ALL"),
        ("arn",),
    ),
    Case(
        "aws:ec2/placementGroup:PlacementGroup",
        lambda w: {"strategy": "cluster"},
        lambda w: {"strategy": "cluster", "tags": {"a": "b"}},
        ("strategy", "spread"),
        ("arn", "placementGroupId", "name"),
    ),
    Case(
        "aws:ec2/capacityReservation:CapacityReservation",
        reservation_inputs,
        plus(reservation_inputs, instanceCount=3),
        ("instanceType", "p4d.24xlarge"),
        ("arn",),
    ),
    Case(
        "aws:ec2/capacityBlockReservation:CapacityBlockReservation",
        block_offering,
        None,
        ("instancePlatform", "Windows"),
        ("arn", "instanceCount", "reservationType", "availabilityZone"),
        stays=True,
    ),
    Case(
        "aws:ec2/launchTemplate:LaunchTemplate",
        lambda w: {"imageId": w.image(), "instanceType": "p5.48xlarge"},
        lambda w: {"imageId": w.image(), "instanceType": "p5en.48xlarge"},
        ("name", "another"),
        ("arn", "latestVersion", "defaultVersion", "name"),
    ),
    Case(
        "aws:ec2/instance:Instance",
        instance_inputs,
        plus(instance_inputs, instanceType="m5.xlarge", tags={"Name": "login"}),
        ("subnetId", "subnet-other"),
        ("arn", "privateIp", "privateDns", "availabilityZone", "primaryNetworkInterfaceId"),
    ),
    Case(
        "aws:autoscaling/group:Group",
        group_inputs,
        plus(group_inputs, desiredCapacity=3),
        ("name", "another"),
        ("arn", "availabilityZones"),
    ),
    Case(
        "aws:efs/fileSystem:FileSystem",
        elastic,
        lambda w: {
            **elastic(w),
            "throughputMode": "bursting",
            "lifecyclePolicies": [],
            "tags": {"stage": "two"},
        },
        replaced=("creationToken", "another"),
        outputs=("arn", "dnsName", "ownerId"),
    ),
    Case(
        "aws:efs/mountTarget:MountTarget",
        lambda w: {
            "fileSystemId": w.elastic(),
            "subnetId": w.subnet(),
            "securityGroups": [w.group()],
        },
        replaced=("subnetId", "subnet-0123456789abcdef0"),
        outputs=("dnsName", "ipAddress", "networkInterfaceId", "availabilityZoneName"),
    ),
    Case(
        "aws:efs/backupPolicy:BackupPolicy",
        lambda w: {"fileSystemId": w.elastic(), "backupPolicy": {"status": "ENABLED"}},
        lambda w: {"fileSystemId": w.elastic(), "backupPolicy": {"status": "DISABLED"}},
        replaced=("fileSystemId", "fs-0123456789abcdef0"),
        stays=True,
    ),
    Case(
        "aws:fsx/lustreFileSystem:LustreFileSystem",
        lustre,
        lambda w: lustre(w, storageCapacity=4800, dataCompressionType="NONE"),
        ("deploymentType", "SCRATCH_2"),
        ("arn", "dnsName", "mountName", "vpcId"),
    ),
    Case(
        "aws:fsx/dataRepositoryAssociation:DataRepositoryAssociation",
        lambda w: {
            "fileSystemId": w.lustre(),
            "fileSystemPath": "/data",
            "dataRepositoryPath": f"s3://{w.bucket()}",
            "s3": {"autoImportPolicy": {"events": ["NEW", "CHANGED"]}},
        },
        lambda w: {
            "fileSystemId": w.lustre(),
            "fileSystemPath": "/data",
            "dataRepositoryPath": f"s3://{w.bucket()}",
            "s3": {"autoImportPolicy": {"events": ["NEW"]}},
        },
        ("fileSystemPath", "/other"),
        ("arn", "associationId"),
    ),
    Case(
        "aws:s3/bucket:Bucket",
        lambda w: {"forceDestroy": True},
        lambda w: {"forceDestroy": True, "tags": {"a": "b"}},
        ("bucket", "another-bucket-name"),
        ("arn", "bucketRegionalDomainName"),
    ),
    Case(
        "aws:s3/bucketVersioning:BucketVersioning",
        lambda w: {"bucket": w.bucket(), "versioningConfiguration": {"status": "Enabled"}},
        lambda w: {"bucket": w.bucket(), "versioningConfiguration": {"status": "Suspended"}},
        ("bucket", "other"),
        stays=True,
    ),
    Case(
        "aws:s3/bucketServerSideEncryptionConfiguration:BucketServerSideEncryptionConfiguration",
        lambda w: {"bucket": w.bucket(), "rules": bucket_rules("AES256")},
        lambda w: {"bucket": w.bucket(), "rules": bucket_rules("aws:kms")},
        ("bucket", "other"),
        stays=True,
    ),
    Case(
        "aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock",
        lambda w: {"bucket": w.bucket(), "blockPublicAcls": True},
        lambda w: {"bucket": w.bucket(), "blockPublicAcls": True, "blockPublicPolicy": True},
        ("bucket", "other"),
    ),
    Case(
        "aws:s3/bucketPolicy:BucketPolicy",
        lambda w: {"bucket": w.bucket(), "policy": POLICY},
        lambda w: {"bucket": w.bucket(), "policy": WIDER},
        ("bucket", "other"),
    ),
    Case(
        "aws:ebs/volume:Volume",
        volume_inputs,
        plus(volume_inputs, size=200, iops=4000, throughput=250, tags={"a": "b"}),
        ("snapshotId", "snap-0123456789abcdef0"),
        ("arn", "kmsKeyId"),
    ),
    Case(
        "aws:ec2/volumeAttachment:VolumeAttachment",
        attachment_inputs,
        None,
        ("volumeId", "vol-0123456789abcdef0"),
    ),
    Case(
        "aws:ec2transitgateway/instanceState:InstanceState",
        lambda w: {"instanceId": w.instance(), "state": "stopped"},
        lambda w: {"instanceId": w.instance(), "state": "running"},
        ("instanceId", "i-0123456789abcdef0"),
        stays=True,
    ),
    Case(
        "aws:dlm/lifecyclePolicy:LifecyclePolicy",
        lifecycle_inputs,
        plus(lifecycle_inputs, state="DISABLED", tags={"a": "b"}),
        None,
        ("arn",),
    ),
    Case(
        "aws:iam/role:Role",
        lambda w: {"assumeRolePolicy": TRUST, "description": "one"},
        lambda w: {"assumeRolePolicy": TRUST, "description": "two", "tags": {"a": "b"}},
        ("path", "/x/"),
        ("arn", "uniqueId", "name"),
    ),
    Case(
        "aws:iam/rolePolicy:RolePolicy",
        lambda w: {"role": w.role(), "policy": POLICY},
        lambda w: {"role": w.role(), "policy": WIDER},
        ("role", "other"),
    ),
    Case(
        "aws:iam/rolePolicyAttachment:RolePolicyAttachment",
        lambda w: {
            "role": w.role(),
            "policyArn": "arn:aws:iam::aws:policy/AmazonSSMManagedInstanceCore",
        },
        None,
        ("role", "other"),
    ),
    Case(
        "aws:iam/policy:Policy",
        lambda w: {"policy": POLICY},
        lambda w: {"policy": WIDER, "tags": {"a": "b"}},
        ("path", "/x/"),
        ("arn", "policyId", "name"),
    ),
    Case(
        "aws:iam/instanceProfile:InstanceProfile",
        lambda w: {"role": w.role()},
        lambda w: {
            "role": w.get("aws:iam/role:Role", "second", assumeRolePolicy=TRUST).id,
            "tags": {"a": "b"},
        },
        ("path", "/x/"),
        ("arn", "uniqueId", "name"),
    ),
    Case(
        "aws:route53/zone:Zone",
        lambda w: {"name": "lab.internal", "vpcs": [{"vpcId": w.vpc()}]},
        lambda w: {"name": "lab.internal", "vpcs": [{"vpcId": w.vpc()}], "comment": "two"},
        ("name", "other.internal"),
        ("arn", "zoneId"),
    ),
    Case(
        "aws:route53/record:Record",
        lambda w: {
            "zoneId": w.zone(),
            "name": "login",
            "type": "A",
            "ttl": 60,
            "records": ["10.0.0.1"],
        },
        lambda w: {
            "zoneId": w.zone(),
            "name": "login",
            "type": "A",
            "ttl": 60,
            "records": ["10.0.0.2", "10.0.0.3"],
        },
        ("type", "AAAA"),
        ("fqdn",),
    ),
    Case(
        "aws:ssm/parameter:Parameter",
        lambda w: {"type": "SecureString", "value": "one"},
        lambda w: {"type": "SecureString", "value": "two", "tags": {"a": "b"}},
        ("name", "/other"),
        ("arn", "version", "name"),
    ),
    Case(
        "aws:kms/key:Key",
        lambda w: {"description": "one", "enableKeyRotation": True},
        lambda w: {"description": "two", "tags": {"a": "b"}},
        ("keyUsage", "SIGN_VERIFY"),
        ("arn", "keyId"),
    ),
    Case(
        "aws:kms/alias:Alias",
        lambda w: {"name": "alias/lab", "targetKeyId": w.key()},
        lambda w: {
            "name": "alias/lab",
            "targetKeyId": w.get("aws:kms/key:Key", "second", description="s").id,
        },
        ("name", "alias/other"),
        ("arn", "targetKeyArn"),
    ),
    Case(
        "aws:cloudwatch/logGroup:LogGroup",
        lambda w: {"retentionInDays": 30},
        lambda w: {"retentionInDays": 60, "tags": {"a": "b"}},
        ("name", "other"),
        ("arn", "name"),
    ),
)


def holds(actual: Any, wanted: Any) -> bool:
    """Returns whether a value has all that is wanted; the API may have added to it."""
    if isinstance(wanted, dict):
        return all(key in actual and holds(actual[key], one) for key, one in wanted.items())
    if isinstance(wanted, list):
        pairs = zip(actual, wanted, strict=True)
        return all(holds(one, other) for one, other in pairs)
    return bool(actual == wanted)


def test_every_type_has_a_case() -> None:
    tokens = {resource.token for resource in REGISTRY.values()}
    assert tokens == {case.token for case in CASES}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.token.rsplit(":", 1)[-1])
def test_a_type_lives_through_a_whole_life(engine: Engine, case: Case) -> None:
    short = case.token.rsplit(":", 1)[-1].lower()
    world = World(engine, f"t-{short[:20]}")
    try:
        _life(engine, case, world, short)
    finally:
        world.close()


RETAINED = (
    "aws:ebs/volume:Volume",
    "aws:efs/fileSystem:FileSystem",
    "aws:fsx/dataRepositoryAssociation:DataRepositoryAssociation",
    "aws:fsx/lustreFileSystem:LustreFileSystem",
    "aws:kms/alias:Alias",
    "aws:kms/key:Key",
    "aws:s3/bucket:Bucket",
)


@pytest.mark.parametrize("token", RETAINED)
def test_what_is_imported_is_as_it_is(engine: Engine, token: str) -> None:
    """By its id alone; and the program that made it would not make it anew."""
    (case,) = [one for one in CASES if one.token == token]
    world = World(engine, f"i-{token.rsplit(':', 1)[-1].lower()[:18]}")
    try:
        made = engine.create(token, "imported", case.first(world))
        read = engine.read(Made(made.urn, made.id, {}, {}))
        found = Made(made.urn, read.id, decode(read.inputs), decode(read.properties))
        assert not engine.diff(found, found.inputs).diffs
        same = {name: found.inputs.get(name) for name in ("bucket", "securityGroupIds")}
        named = {name: value for name, value in same.items() if value is not None}
        wanted = {**case.first(world), **named}
        wanted.pop("securityGroupIds", None)  # FSx does not tell them
        assert not engine.diff(found, wanted).replaces
        engine.delete(made)
    finally:
        world.close()


def _life(engine: Engine, case: Case, world: World, short: str) -> None:
    first = case.first(world)
    made = engine.create(case.token, short, first)
    assert made.id
    assert made.outputs["id"] == made.id
    for name in case.outputs:
        assert made.outputs.get(name) not in (None, ""), name
    for name, value in first.items():
        if name not in ("policy", "assumeRolePolicy"):
            assert holds(made.outputs[name], value), name

    assert not engine.diff(made, first).diffs

    # Found again after a run that was cut off, it is recorded by its inputs and id alone.
    found = Made(made.urn, made.id, made.inputs, {**made.inputs, "id": made.id})
    read = engine.read(found)
    assert read.id == made.id
    outputs = decode(read.properties)
    assert outputs == made.outputs
    assert not engine.diff(Made(made.urn, made.id, made.inputs, outputs), first).diffs

    read = engine.read(made)
    assert read.id == made.id
    refreshed = Made(made.urn, made.id, decode(read.inputs), decode(read.properties))
    assert not engine.diff(refreshed, first).diffs

    if case.replaced is not None:
        name, value = case.replaced
        reply = engine.diff(made, {**first, name: value})
        assert list(reply.replaces) == [name]
        assert reply.detailedDiff[name].kind in (1, 3, 5)

    if case.then is not None:
        then = case.then(world)
        reply = engine.diff(made, then)
        assert reply.changes == 2
        assert not reply.replaces
        made = engine.update(made, then)
        for name, value in then.items():
            if name not in ("policy", "assumeRolePolicy"):
                assert holds(made.outputs[name], value), name
        assert not engine.diff(made, then).diffs
        refreshed_id = engine.read(made).id
        assert refreshed_id == made.id

    engine.delete(made)
    engine.delete(made)
    if not case.stays:
        assert engine.read(made).id == ""
