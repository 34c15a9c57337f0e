"""AWS by moto, in which resources are made as the stack programs make them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest.mock import patch

import boto3
from moto import mock_aws

from rackwright.provision.aws.cloud import Cloud
from rackwright.provision.lost_creations.creation import LostCreation
from rackwright.provision.targets import Target
from rackwright_lab.embedded_aws.api.additions import install_additions
from unit.provision.lost_creations.making import make

REGION = "us-east-1"
IMAGE = "ami-12c6146b"
TRUST = '{"Version": "2012-10-17", "Statement": []}'
POLICY = (
    '{"Version": "2012-10-17", "Statement": '
    '[{"Effect": "Allow", "Action": "s3:GetObject", "Resource": "*"}]}'
)


def tags(name: str) -> dict[str, str]:
    """Tags as the programs give them."""
    return {"Name": name, "rackwright:cluster": "atlas", "rackwright:site": "use1"}


@dataclass
class World:
    """Makes resources and what they need; each is made once a name."""

    cloud: Cloud
    made: dict[str, str] = field(default_factory=dict)
    _clients: dict[str, Any] = field(default_factory=dict)

    def client(self, service: str) -> Any:
        """The client of a service."""
        if service not in self._clients:
            self._clients[service] = boto3.client(service, region_name=REGION)
        return self._clients[service]

    def create(self, token: str, inputs: Mapping[str, Any]) -> str:
        """The id of a resource, made by the first call alone that makes it."""
        return make(self.client, token, inputs)

    def get(self, token: str, called: str, /, **inputs: Any) -> str:
        """The id of what another resource needs."""
        key = f"{token} {called}"
        if key not in self.made:
            self.made[key] = self.create(token, inputs)
        return self.made[key]

    def vpc(self) -> str:
        return self.get("aws:ec2/vpc:Vpc", "vpc", cidrBlock="10.0.0.0/16")

    def subnet(self, number: int = 0) -> str:
        return self.get(
            "aws:ec2/subnet:Subnet",
            f"subnet-{number}",
            vpcId=self.vpc(),
            cidrBlock=f"10.0.{16 * number}.0/20",
            availabilityZone="us-east-1a",
        )

    def group(self) -> str:
        token = "aws:ec2/securityGroup:SecurityGroup"
        return self.get(token, "group", vpcId=self.vpc(), name="group")

    def table(self) -> str:
        return self.get("aws:ec2/routeTable:RouteTable", "table", vpcId=self.vpc())

    def gateway(self, name: str = "gateway") -> str:
        token = "aws:ec2/internetGateway:InternetGateway"
        return self.get(token, name, tags=tags(name))

    def template(self) -> str:
        return self.get(
            "aws:ec2/launchTemplate:LaunchTemplate",
            "template",
            name="template",
            imageId=IMAGE,
            instanceType="m5.large",
        )

    def role(self) -> str:
        return self.get("aws:iam/role:Role", "role", name="role", assumeRolePolicy=TRUST)

    def bucket(self) -> str:
        return self.get("aws:s3/bucket:Bucket", "bucket", bucket="bucket-of-atlas")

    def key(self, name: str = "key") -> str:
        return self.get("aws:kms/key:Key", name, description=name)

    def zone(self) -> str:
        return self.get("aws:route53/zone:Zone", "zone", name="atlas.internal")

    def elastic(self) -> str:
        token = "aws:efs/fileSystem:FileSystem"
        return self.get(token, "home", creationToken="home", tags=tags("home"))

    def lustre(self) -> str:
        return self.get("aws:fsx/lustreFileSystem:LustreFileSystem", "lustre", **lustre(self))


def lustre(world: World) -> dict[str, Any]:
    """What a file system is made of."""
    return {
        "subnetIds": world.subnet(),
        "deploymentType": "PERSISTENT_2",
        "perUnitStorageThroughput": 250,
        "storageCapacity": 2400,
        "tags": tags("scratch"),
    }


def lost(token: str, inputs: Mapping[str, Any], *, known: tuple[str, ...] = ()) -> LostCreation:
    """The creation of ``inputs``, cut off."""
    urn = f"urn:pulumi:atlas-use1::aws-network::{token}::it"
    entry = {"urn": urn, "type": token, "custom": True, "inputs": dict(inputs)}
    return LostCreation(urn, token, inputs, entry, frozenset(known))


@contextmanager
def a_world(folder: Path) -> Iterator[World]:
    """AWS without anything in it; moto's thousand images would be made anew for each."""
    with patch.dict("os.environ", {"MOTO_EC2_LOAD_DEFAULT_AMIS": "false"}), mock_aws():
        install_additions()
        yield World(Cloud(Target("aws", folder, {}, None), REGION))
