"""Head nodes that another one takes the place of: saved first, then let go, and nobody else."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError
from moto import mock_aws

from rackwright.errors import ExternalToolError
from rackwright.provision import heads
from rackwright.provision.aws.fleet_calls import Fleet
from rackwright.provision.engine import StackOutcome
from rackwright.provision.targets import Target
from rackwright_lab.embedded_aws.api import moto_ebs, moto_ec2, moto_instances

REGION = "us-east-1"
FLEET = Fleet("atlas", "use1", REGION, "atlas.internal", {}, ("head-1", "head-2"))


@pytest.fixture
def ec2(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "embedded")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "embedded")
    for addition in (moto_ebs, moto_ec2, moto_instances):
        addition.install()
    with mock_aws():
        yield boto3.client("ec2", region_name=REGION)


@pytest.fixture
def target(tmp_path: Path) -> Target:
    return Target("aws", tmp_path, {}, None)


def a_head(ec2: Any, host: str, site: str = "use1") -> str:
    """A head node of a site, with a data volume."""
    tags = {
        "Name": f"atlas-{site}-{host}",
        "rackwright:cluster": "atlas",
        "rackwright:site": site,
        "rackwright:role": "head",
    }
    listed = [{"Key": key, "Value": value} for key, value in tags.items()]
    launched = ec2.run_instances(
        ImageId="ami-12c6146b",
        MinCount=1,
        MaxCount=1,
        DisableApiTermination=True,
        TagSpecifications=[{"ResourceType": "instance", "Tags": listed}],
    )["Instances"][0]
    volume = ec2.create_volume(
        Size=100, VolumeType="gp3", AvailabilityZone=launched["Placement"]["AvailabilityZone"]
    )
    identity = str(launched["InstanceId"])
    ec2.attach_volume(VolumeId=volume["VolumeId"], InstanceId=identity, Device="/dev/sdf")
    return identity


def is_protected(ec2: Any, instance: str) -> bool:
    try:
        ec2.terminate_instances(InstanceIds=[instance], DryRun=False)
    except ClientError:
        return True
    return False


def test_a_head_node_goes_once_its_volumes_are_saved(ec2: Any, target: Target) -> None:
    first, second, other = (
        a_head(ec2, "head-1"),
        a_head(ec2, "head-2"),
        a_head(ec2, "head-1", "usw2"),
    )
    lines: list[str] = []
    made = heads.let_go(FLEET, target, ["head-1"], lines.append)
    saved = ec2.describe_snapshots(SnapshotIds=made)["Snapshots"]
    attached = ec2.describe_volumes(
        Filters=[{"Name": "attachment.instance-id", "Values": [first]}]
    )["Volumes"]
    assert {one["VolumeId"] for one in saved} == {one["VolumeId"] for one in attached}
    assert len(saved) == 2, "its root volume and its data volume"
    assert "the volumes of head-1" in lines[0]
    assert (is_protected(ec2, second), is_protected(ec2, other)) == (True, True)
    assert not is_protected(ec2, first)


def test_a_head_node_stays_while_a_snapshot_is_not_complete(
    ec2: Any, target: Target, monkeypatch: pytest.MonkeyPatch
) -> None:
    from moto.ec2.models.elastic_block_store import Snapshot

    from rackwright.provision.aws import fleet_calls

    monkeypatch.setattr(fleet_calls, "SNAPSHOT_WAITS", 1)
    monkeypatch.setattr(
        Snapshot, "status", property(lambda _: "pending", lambda *_: None), raising=False
    )
    instance = a_head(ec2, "head-1")
    with pytest.raises(ExternalToolError, match="are not complete"):
        heads.let_go(FLEET, target, ["head-1"], lambda _: None)
    assert is_protected(ec2, instance)


def test_whether_there_is_a_head_node_to_ask_about(ec2: Any, target: Target) -> None:
    assert not heads.are_there(FLEET, target, ["head-1"])
    a_head(ec2, "head-1", "usw2")
    assert not heads.are_there(FLEET, target, ["head-1"])
    a_head(ec2, "head-1")
    assert heads.are_there(FLEET, target, ["head-1"])


def test_engine_names_the_replaced_heads() -> None:
    replaced = {
        "atlas-use1-head-2": "Instance",
        "atlas-use1-head-1": "Record",
        "atlas-use1-login-1": "Instance",
        "atlas-use1-head-2-data": "VolumeAttachment",
    }
    outcome = StackOutcome("aws-cluster", {}, 0, {}, {}, replaced=replaced)
    assert heads.replaced_heads(FLEET, ("head-1", "head-2"), [outcome]) == ("head-2",)
