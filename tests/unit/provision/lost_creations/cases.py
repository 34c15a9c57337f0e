"""Each type that is looked for, with the inputs that a program gives it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from unit.provision.lost_creations.world import IMAGE, POLICY, TRUST, World, lustre, tags

Inputs = Callable[[World], dict[str, Any]]


@dataclass(frozen=True)
class Case:
    """A type with the inputs that a program gives it.

    Attributes:
        twice: AWS makes a second one of the same inputs.
        named: somebody else's may have its name.
    """

    token: str
    inputs: Inputs
    twice: bool = False
    named: bool = False

    @property
    def label(self) -> str:
        return self.token.rsplit(":", 1)[-1]


def rule(world: World) -> dict[str, Any]:
    return {
        "securityGroupId": world.group(),
        "ipProtocol": "tcp",
        "fromPort": 22,
        "toPort": 22,
        "cidrIpv4": "10.0.0.0/8",
        "tags": tags("ssh"),
    }


def balancer(world: World) -> dict[str, Any]:
    return {
        "name": "atlas-use1-login",
        "loadBalancerType": "network",
        "subnetMappings": [{"subnetId": world.subnet()}],
        "tags": tags("login"),
    }


def targets(world: World) -> dict[str, Any]:
    return {
        "name": "atlas-use1-login",
        "port": 22,
        "protocol": "TCP",
        "targetType": "instance",
        "vpcId": world.vpc(),
        "tags": tags("login"),
    }


def offering(world: World) -> dict[str, Any]:
    offers = world.client("ec2").describe_capacity_block_offerings(
        InstanceType="p5.48xlarge", InstanceCount=2, CapacityDurationHours=24
    )
    return {
        "capacityBlockOfferingId": offers["CapacityBlockOfferings"][0]["CapacityBlockOfferingId"],
        "instancePlatform": "Linux/UNIX",
        "tags": tags("block"),
    }


def attachment(world: World) -> dict[str, Any]:
    volume = world.get("aws:ebs/volume:Volume", "data", availabilityZone="us-east-1a", size=10)
    instance = world.get(
        "aws:ec2/instance:Instance",
        "head-1",
        ami=IMAGE,
        instanceType="m5.large",
        subnetId=world.subnet(),
    )
    return {"volumeId": volume, "instanceId": instance, "deviceName": "/dev/sdf"}


def fleet(world: World) -> dict[str, Any]:
    return {
        "name": "atlas-use1-dgx",
        "minSize": 0,
        "maxSize": 2,
        "vpcZoneIdentifiers": [world.subnet()],
        "launchTemplate": {"id": world.template(), "version": "1"},
        "tags": [
            {"key": key, "value": value, "propagateAtLaunch": True}
            for key, value in tags("dgx").items()
        ],
    }


CASES = (
    Case(
        "aws:ec2/vpc:Vpc", lambda w: {"cidrBlock": "10.9.0.0/16", "tags": tags("vpc")}, twice=True
    ),
    Case(
        "aws:ec2/subnet:Subnet",
        lambda w: {
            "vpcId": w.vpc(),
            "cidrBlock": "10.0.240.0/20",
            "availabilityZone": "us-east-1b",
            "tags": tags("intra-b"),
        },
    ),
    Case(
        "aws:ec2/internetGateway:InternetGateway",
        lambda w: {"vpcId": w.vpc(), "tags": tags("internet")},
        twice=True,
    ),
    Case("aws:ec2/eip:Eip", lambda w: {"domain": "vpc", "tags": tags("nat")}, twice=True),
    Case(
        "aws:ec2/natGateway:NatGateway",
        lambda w: {
            "subnetId": w.subnet(),
            "connectivityType": "private",
            "tags": tags("nat"),
        },
        twice=True,
    ),
    Case(
        "aws:ec2/routeTable:RouteTable",
        lambda w: {"vpcId": w.vpc(), "tags": tags("routes")},
        twice=True,
    ),
    Case(
        "aws:ec2/route:Route",
        lambda w: {
            "routeTableId": w.table(),
            "destinationCidrBlock": "0.0.0.0/0",
            "gatewayId": w.gateway(),
        },
    ),
    Case(
        "aws:ec2/routeTableAssociation:RouteTableAssociation",
        lambda w: {"routeTableId": w.table(), "subnetId": w.subnet()},
    ),
    Case(
        "aws:ec2/securityGroup:SecurityGroup",
        lambda w: {"vpcId": w.vpc(), "name": "cluster", "tags": tags("cluster")},
    ),
    Case("aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule", rule),
    Case("aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule", rule),
    Case(
        "aws:ec2/vpcEndpoint:VpcEndpoint",
        lambda w: {
            "vpcId": w.vpc(),
            "serviceName": "com.amazonaws.us-east-1.s3",
            "tags": tags("endpoint-s3"),
        },
        twice=True,
    ),
    Case(
        "aws:ec2/vpcDhcpOptions:VpcDhcpOptions",
        lambda w: {"domainName": "lab", "tags": tags("dhcp")},
        twice=True,
    ),
    Case(
        "aws:ec2/flowLog:FlowLog",
        lambda w: {
            "vpcId": w.vpc(),
            "trafficType": "ALL",
            "logDestination": f"arn:aws:s3:::{w.bucket()}",
            "logDestinationType": "s3",
            "tags": tags("flows"),
        },
    ),
    Case("aws:lb/loadBalancer:LoadBalancer", balancer, named=True),
    Case("aws:lb/targetGroup:TargetGroup", targets, named=True),
    Case(
        "aws:lb/listener:Listener",
        lambda w: {
            "loadBalancerArn": w.get("aws:lb/loadBalancer:LoadBalancer", "login", **balancer(w)),
            "port": 22,
            "protocol": "TCP",
            "defaultActions": [
                {
                    "type": "forward",
                    "targetGroupArn": w.get(
                        "aws:lb/targetGroup:TargetGroup", "login", **targets(w)
                    ),
                }
            ],
            "tags": tags("login"),
        },
        named=True,
    ),
    Case(
        "aws:ec2/placementGroup:PlacementGroup",
        lambda w: {"name": "atlas-use1-dgx", "strategy": "cluster", "tags": tags("dgx")},
        named=True,
    ),
    Case(
        "aws:ec2/capacityReservation:CapacityReservation",
        lambda w: {
            "availabilityZone": "us-east-1a",
            "instanceCount": 2,
            "instancePlatform": "Linux/UNIX",
            "instanceType": "p5.48xlarge",
            "tags": tags("reserved"),
        },
        twice=True,
    ),
    Case("aws:ec2/capacityBlockReservation:CapacityBlockReservation", offering),
    Case(
        "aws:ec2/launchTemplate:LaunchTemplate",
        lambda w: {
            "name": "atlas-use1-dgx",
            "imageId": IMAGE,
            "instanceType": "m5.large",
            "tags": tags("dgx"),
        },
        named=True,
    ),
    Case(
        "aws:ec2/instance:Instance",
        lambda w: {
            "ami": IMAGE,
            "instanceType": "m5.large",
            "subnetId": w.subnet(),
            "tags": tags("head-1"),
        },
        twice=True,
    ),
    Case(
        "aws:ebs/volume:Volume",
        lambda w: {"availabilityZone": "us-east-1a", "size": 10, "tags": tags("head-1-data")},
        twice=True,
    ),
    Case("aws:ec2/volumeAttachment:VolumeAttachment", attachment),
    Case("aws:autoscaling/group:Group", fleet, named=True),
    Case(
        "aws:efs/fileSystem:FileSystem",
        lambda w: {"creationToken": "atlas-home", "encrypted": True, "tags": tags("home")},
        named=True,
    ),
    Case(
        "aws:efs/mountTarget:MountTarget",
        lambda w: {"fileSystemId": w.elastic(), "subnetId": w.subnet()},
    ),
    Case("aws:fsx/lustreFileSystem:LustreFileSystem", lustre, twice=True),
    Case(
        "aws:fsx/dataRepositoryAssociation:DataRepositoryAssociation",
        lambda w: {
            "fileSystemId": w.lustre(),
            "fileSystemPath": "/data",
            "dataRepositoryPath": "s3://bucket-of-atlas/",
            "tags": tags("data"),
        },
    ),
    Case(
        "aws:s3/bucket:Bucket", lambda w: {"bucket": "atlas-data", "tags": tags("data")}, named=True
    ),
    Case(
        "aws:iam/role:Role",
        lambda w: {"name": "atlas-head", "assumeRolePolicy": TRUST, "tags": tags("head")},
        named=True,
    ),
    Case(
        "aws:iam/rolePolicy:RolePolicy",
        lambda w: {"name": "parameters", "role": w.role(), "policy": POLICY},
    ),
    Case(
        "aws:iam/policy:Policy",
        lambda w: {"name": "atlas", "policy": POLICY, "tags": tags("policy")},
        named=True,
    ),
    Case(
        "aws:iam/instanceProfile:InstanceProfile",
        lambda w: {"name": "atlas-head", "role": w.role(), "tags": tags("head")},
        named=True,
    ),
    Case(
        "aws:route53/zone:Zone",
        lambda w: {
            "name": "atlas.internal",
            "comment": "private zone of atlas-use1",
            "vpcs": [{"vpcId": w.vpc()}],
            "tags": tags("zone"),
        },
    ),
    Case(
        "aws:route53/record:Record",
        lambda w: {
            "zoneId": w.zone(),
            "name": "head-1.atlas.internal",
            "type": "A",
            "ttl": 60,
            "records": ["10.0.0.4"],
        },
    ),
    Case(
        "aws:ssm/parameter:Parameter",
        lambda w: {
            "name": "/rackwright/atlas/use1/network",
            "type": "String",
            "value": "{}",
            "tags": tags("parameter"),
        },
        named=True,
    ),
    Case(
        "aws:kms/key:Key",
        lambda w: {"description": "file systems of atlas", "tags": tags("storage")},
        twice=True,
    ),
    Case(
        "aws:kms/alias:Alias",
        lambda w: {"name": "alias/atlas-storage", "targetKeyId": w.key()},
    ),
    Case(
        "aws:dlm/lifecyclePolicy:LifecyclePolicy",
        lambda w: {
            "description": "data volumes of atlas",
            "executionRoleArn": f"arn:aws:iam::123456789012:role/{w.role()}",
            "policyDetails": {
                "resourceTypes": ["VOLUME"],
                "targetTags": {"rackwright:snapshots": "atlas-use1"},
                "schedules": [
                    {
                        "name": "daily",
                        "createRule": {"interval": 24, "intervalUnit": "HOURS", "times": "03:30"},
                        "retainRule": {"count": 14},
                    }
                ],
            },
            "tags": tags("snapshots"),
        },
        twice=True,
    ),
    Case(
        "aws:cloudwatch/logGroup:LogGroup",
        lambda w: {"name": "/atlas/flows", "tags": tags("flows")},
        named=True,
    ),
)
