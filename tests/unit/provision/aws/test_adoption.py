"""What an account has of a site already: its own is taken over, and nobody else's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import boto3
import pytest
from moto import mock_aws

from aws_factories import a_file_system, a_plan
from rackwright.errors import UsageError
from rackwright.provision.aws.adoption import Retained
from rackwright.provision.aws.cloud import Cloud
from rackwright.provision.targets import Target
from rackwright_lab.embedded_aws.api import moto_ebs, moto_ec2, moto_efs, moto_fsx, moto_instances

REGION = "us-east-1"
OWN = {"rackwright:cluster": "atlas", "rackwright:site": "use1"}
HEAD = {
    "type": "m7i.4xlarge",
    "image": "ami-0123456789abcdef0",
    "root_volume": "100 GiB",
    "data_volume": {},
}
PLAIN_HEAD = {key: value for key, value in HEAD.items() if key != "data_volume"}
REPOSITORY = {"bucket": "data-{account}-{region}", "path": "/data"}
BUCKET = f"data-123456789012-{REGION}"
SYSTEM = a_file_system(efa=False, data_repositories=(REPOSITORY,))


def listed(tags: Mapping[str, str], key: str = "Key", value: str = "Value") -> list[dict[str, str]]:
    return [{key: name, value: text} for name, text in tags.items()]


class Account:
    """What is there, made call by call."""

    def __init__(self, folder: Path) -> None:
        self.lines: list[str] = []
        self.cloud = Cloud(Target("aws", folder, {}, None), REGION)
        self.ec2, self.kms, self.s3, self.fsx = (
            boto3.client(service, region_name=REGION) for service in ("ec2", "kms", "s3", "fsx")
        )

    def found(self, *recorded: str, **site: Any) -> dict[str, str]:
        wanted = {"head": HEAD, "file_systems": (SYSTEM,)} | site
        return Retained("atlas", a_plan(**wanted), self.cloud, self.lines.append)(recorded)

    def key(self, tags: Mapping[str, str] = OWN) -> str:
        made = self.kms.create_key(Tags=listed(tags, "TagKey", "TagValue"))["KeyMetadata"]["KeyId"]
        self.kms.create_alias(AliasName="alias/atlas-use1-storage", TargetKeyId=made)
        return str(made)

    def bucket(self, tags: Mapping[str, str] = OWN) -> None:
        self.s3.create_bucket(Bucket=BUCKET)
        if tags:
            self.s3.put_bucket_tagging(Bucket=BUCKET, Tagging={"TagSet": listed(tags)})

    def file_system(self, tags: Mapping[str, str] = OWN) -> tuple[str, str]:
        vpc = self.ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
        subnet = self.ec2.create_subnet(VpcId=vpc, CidrBlock="10.0.0.0/20")["Subnet"]["SubnetId"]
        made = self.fsx.create_file_system(
            FileSystemType="LUSTRE",
            StorageCapacity=2400,
            SubnetIds=[subnet],
            LustreConfiguration={
                "DeploymentType": "PERSISTENT_2",
                "PerUnitStorageThroughput": 250,
            },
            Tags=listed({**tags, "Name": "atlas-use1-scratch"}),
        )["FileSystem"]["FileSystemId"]
        linked = self.fsx.create_data_repository_association(
            FileSystemId=made,
            FileSystemPath="/data",
            DataRepositoryPath=f"s3://{BUCKET}",
            Tags=listed({**tags, "Name": "atlas-use1-scratch-data"}),
        )["Association"]["AssociationId"]
        return str(made), str(linked)

    def volume(self, tags: Mapping[str, str] = OWN, zone: str = "us-east-1a", **more: Any) -> str:
        own = {**tags, "Name": "atlas-use1-head-1-data"}
        made = self.ec2.create_volume(
            AvailabilityZone=zone,
            VolumeType="gp3",
            TagSpecifications=[{"ResourceType": "volume", "Tags": listed(own)}],
            **({"Size": 100} | more),
        )
        return str(made["VolumeId"])


@pytest.fixture
def account(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Account]:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "embedded")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "embedded")
    for addition in (moto_ebs, moto_ec2, moto_efs, moto_fsx, moto_instances):
        addition.install()
    with mock_aws():
        yield Account(tmp_path)


def test_a_new_site_takes_nothing_over(account: Account) -> None:
    assert account.found() == {}
    assert account.lines == []


def test_leftovers_of_a_site_are_imported_and_reported(account: Account) -> None:
    key, (system, linked), volume = account.key(), account.file_system(), account.volume()
    account.bucket()
    every = {
        "Key atlas-use1-storage": key,
        "Alias atlas-use1-storage": "alias/atlas-use1-storage",
        "LustreFileSystem atlas-use1-scratch": system,
        "DataRepositoryAssociation atlas-use1-scratch-data": linked,
        "Bucket atlas-use1-data-account-region": BUCKET,
        "Volume atlas-use1-head-1-data": volume,
    }
    assert account.found() == every
    assert len(account.lines) == len(every)
    assert f"is there already as {volume}: it is taken over" in account.lines[-1]
    assert account.found(*every) == {}, "what is recorded is not looked for"
    assert account.found(*(every.keys() - {"Alias atlas-use1-storage"})) == {
        "Alias atlas-use1-storage": "alias/atlas-use1-storage"
    }


@pytest.mark.parametrize("tags", [{}, OWN | {"rackwright:site": "usw2"}])
def test_resource_of_another_owner_is_refused(account: Account, tags: dict[str, str]) -> None:
    account.bucket(tags)
    with pytest.raises(UsageError, match=f"bucket '{BUCKET}' is there already, and is not of this"):
        account.found()
    key = account.key(tags)
    with pytest.raises(UsageError, match=f"names the key {key}, which is not of this site"):
        account.found()


def test_an_efs_is_taken_over_by_its_token_and_never_somebody_else_s(account: Account) -> None:
    home = {"efs": ({"name": "home", "mount": "/home"},), "file_systems": (), "head": PLAIN_HEAD}
    assert account.found(**home) == {}
    efs = boto3.client("efs", region_name=REGION)
    made = efs.create_file_system(CreationToken="atlas-use1-home", Tags=listed(OWN))
    assert account.found(**home) == {"FileSystem atlas-use1-home": made["FileSystemId"]}
    assert account.found("FileSystem atlas-use1-home", **home) == {}
    efs.untag_resource(ResourceId=made["FileSystemId"], TagKeys=["rackwright:site"])
    with pytest.raises(UsageError, match="has the creation token 'atlas-use1-home', and is not"):
        account.found(**home)


def test_a_file_system_that_the_blueprint_uses_is_not_taken_over(account: Account) -> None:
    made, _ = account.file_system()
    account.key()
    used = {"name": "scratch", "mount": "/fsx", "existing": {"id": made, "mount_name": "abcdefgh"}}
    assert account.found(file_systems=(used,)) == {}


def test_resource_without_a_name_is_not_imported(account: Account) -> None:
    other = OWN | {"rackwright:cluster": "other"}
    account.file_system(other)
    account.volume(other)
    assert account.found() == {}


def test_one_of_two_volumes_is_not_chosen(account: Account) -> None:
    ids = sorted((account.volume(), account.volume()))
    with pytest.raises(UsageError, match=f"is there 2 times: {', '.join(ids)}"):
        account.found()


def test_a_volume_of_another_zone_is_no_data_volume(account: Account) -> None:
    account.volume(zone="us-east-1b")
    with pytest.raises(UsageError, match="in the zone 'us-east-1b' and not in 'us-east-1a'"):
        account.found()


def test_volume_of_a_named_snapshot_counts(account: Account) -> None:
    first = account.volume()
    snapshot = account.ec2.create_snapshot(VolumeId=first)["SnapshotId"]
    head = HEAD | {"data_volume": {"snapshot": snapshot}}
    assert account.found(head=head) == {}
    second = account.volume(SnapshotId=snapshot)
    assert account.found(head=head) == {"Volume atlas-use1-head-1-data": second}
