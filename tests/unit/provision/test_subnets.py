"""A cluster made before keeps the subnet that it has."""

from __future__ import annotations

from pathlib import Path

import boto3
import pytest
from moto import mock_aws

from rackwright.errors import UsageError
from rackwright.plan.load import load_plan
from rackwright.plan.model import Plan
from rackwright.policy.packs.loader import builtin_pack
from rackwright.provision.nodes import refuse_moved_subnets
from rackwright.provision.targets import Target

OWN = "sites: [{name: use1, network: {cluster_subnets: [10.20.0.0/26, 10.20.128.0/20]}}]\n"


def a_plan(*layers: Path) -> Plan:
    return load_plan(builtin_pack() / "fixtures" / "aws.yaml", layers).plan


def test_subnet_of_a_cluster_made_before_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    target = Target("aws", tmp_path, {}, None)
    layer = tmp_path / "own.yaml"
    layer.write_text(OWN)
    with mock_aws():
        refuse_moved_subnets(a_plan(), "use1", target)  # nothing is there
        ec2 = boto3.client("ec2", region_name="us-east-1")
        vpc = ec2.create_vpc(CidrBlock="10.20.0.0/16")["Vpc"]["VpcId"]
        tags = {
            "Name": "atlas-use1-private-a",
            "rackwright:cluster": "atlas",
            "rackwright:site": "use1",
        }
        ec2.create_subnet(
            VpcId=vpc,
            CidrBlock="10.20.0.0/26",
            TagSpecifications=[
                {
                    "ResourceType": "subnet",
                    "Tags": [{"Key": key, "Value": value} for key, value in tags.items()],
                }
            ],
        )
        with pytest.raises(UsageError, match=r"is 10.20.0.0/26, and .* plans 10.20.0.0/17") as told:
            refuse_moved_subnets(a_plan(), "use1", target)
        assert "'network.cluster_subnets: [10.20.0.0/26]'" in str(told.value.hint)
        refuse_moved_subnets(a_plan(layer), "use1", target)
