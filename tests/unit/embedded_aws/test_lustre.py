"""FSx for Lustre of the embedded AWS: file systems, their growth, and what ties them to buckets."""

from __future__ import annotations

from typing import Any

import pytest

from unit.embedded_aws.clients import Connect, a_subnet, a_vpc, refused

NONE = "fs-0123456789abcdef0"


@pytest.fixture
def fsx(aws: Connect) -> Any:
    return aws("fsx")


@pytest.fixture
def place(aws: Connect) -> dict[str, str]:
    """A VPC and a subnet in it."""
    vpc = a_vpc(aws("ec2"))
    return {"vpc": vpc, "subnet": a_subnet(aws("ec2"), vpc)}


def wanted(place: dict[str, str], **lustre: Any) -> dict[str, Any]:
    """A file system for EFA, with ``lustre`` changed in its settings."""
    capacity = lustre.pop("StorageCapacity", 2400)
    settings = {
        "DeploymentType": "PERSISTENT_2",
        "PerUnitStorageThroughput": 250,
        "EfaEnabled": True,
        "MetadataConfiguration": {"Mode": "AUTOMATIC"},
        "DataCompressionType": "LZ4",
    } | lustre
    return {
        "FileSystemType": "LUSTRE",
        "StorageCapacity": capacity,
        "SubnetIds": [place["subnet"]],
        "LustreConfiguration": {key: value for key, value in settings.items() if value is not None},
    }


def made(fsx: Any, place: dict[str, str], **lustre: Any) -> str:
    return str(fsx.create_file_system(**wanted(place, **lustre))["FileSystem"]["FileSystemId"])


def read(fsx: Any, identity: str) -> dict[str, Any]:
    (found,) = fsx.describe_file_systems(FileSystemIds=[identity])["FileSystems"]
    return dict(found)


def test_a_file_system_says_all_that_is_asked_of_one(fsx: Any, place: dict[str, str]) -> None:
    found = read(fsx, made(fsx, place))
    assert (found["Lifecycle"], found["VpcId"]) == ("AVAILABLE", place["vpc"])
    assert (found["OwnerId"], found["StorageType"]) == ("123456789012", "SSD")
    assert found["CreationTime"].year > 2024
    assert found["FileSystemTypeVersion"] == "2.15"
    assert len(found["NetworkInterfaceIds"]) == 1
    lustre = found["LustreConfiguration"]
    assert found["FileSystemId"].startswith(f"fs-{lustre['MountName']}")
    assert lustre["EfaEnabled"] is True
    assert lustre["PerUnitStorageThroughput"] == 250
    assert lustre["MetadataConfiguration"] == {"Mode": "AUTOMATIC"}
    assert lustre["WeeklyMaintenanceStartTime"]


def test_omitted_setting_of_lustre_has_the_default_of_the_service(
    fsx: Any, place: dict[str, str]
) -> None:
    plain = wanted(place)
    del plain["LustreConfiguration"]
    scratch = fsx.create_file_system(**plain)["FileSystem"]
    lustre = scratch["LustreConfiguration"]
    assert (lustre["DeploymentType"], lustre["MountName"]) == ("SCRATCH_1", "fsx")
    assert (lustre["DataCompressionType"], lustre["EfaEnabled"]) == ("NONE", False)
    assert scratch["FileSystemTypeVersion"] == "2.10"
    newer = fsx.create_file_system(**plain, FileSystemTypeVersion="2.12")["FileSystem"]
    assert newer["FileSystemTypeVersion"] == "2.12"


def test_a_token_makes_one_file_system(fsx: Any, place: dict[str, str]) -> None:
    first, again, other = (
        fsx.create_file_system(**wanted(place), ClientRequestToken=token)["FileSystem"]
        for token in ("one", "one", "two")
    )
    assert first["FileSystemId"] == again["FileSystemId"] != other["FileSystemId"]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"StorageCapacity": 1300}, "1300 is neither 1200 nor a multiple of 2400"),
        ({"PerUnitStorageThroughput": 300}, "none of 125, 250, 500, 1000"),
        ({"PerUnitStorageThroughput": None}, "needs PerUnitStorageThroughput"),
        ({"DeploymentType": "SCRATCH_2"}, "EFA needs the deployment type PERSISTENT_2"),
        ({"MetadataConfiguration": None}, "EFA needs a metadata configuration"),
    ],
)
def test_lustre_refuses_what_fsx_refuses(
    fsx: Any, place: dict[str, str], change: dict[str, Any], reason: str
) -> None:
    told = refused(fsx.create_file_system, **wanted(place, **change))
    assert told.startswith("BadRequest")
    assert reason in told


def test_a_file_system_grows_and_never_shrinks(fsx: Any, place: dict[str, str]) -> None:
    identity = made(fsx, place)
    change = fsx.update_file_system
    plain = {"DataCompressionType": "NONE"}
    grown = change(FileSystemId=identity, StorageCapacity=4800, LustreConfiguration=plain)
    for found in (grown["FileSystem"], read(fsx, identity)):
        assert found["StorageCapacity"] == 4800
        lustre = found["LustreConfiguration"]
        assert (lustre["DataCompressionType"], lustre["EfaEnabled"]) == ("NONE", True)
    told = refused(change, FileSystemId=identity, StorageCapacity=2400)
    assert told.endswith("cannot be made smaller")
    told = refused(change, FileSystemId=identity, StorageCapacity=4900)
    assert "nor a multiple of 2400" in told
    assert refused(change, FileSystemId=NONE, StorageCapacity=2400).startswith("FileSystemNotFound")


def test_a_file_system_that_is_not_there_is_not_found(fsx: Any, place: dict[str, str]) -> None:
    """moto answered with none, and who waits for its end waited on."""
    identity = made(fsx, place)
    fsx.delete_file_system(FileSystemId=identity)
    told = refused(fsx.describe_file_systems, FileSystemIds=[identity])
    assert told.startswith("FileSystemNotFound")
    assert fsx.describe_file_systems()["FileSystems"] == []


def tied(identity: str, **more: Any) -> dict[str, Any]:
    return {
        "FileSystemId": identity,
        "FileSystemPath": "/data",
        "DataRepositoryPath": "s3://bucket",
        "S3": {"AutoImportPolicy": {"Events": ["NEW", "CHANGED"]}},
    } | more


def test_an_association_lives_as_long_as_its_file_system(fsx: Any, place: dict[str, str]) -> None:
    identity = made(fsx, place)
    tags = [{"Key": "cluster", "Value": "lab"}]
    first = fsx.create_data_repository_association(**tied(identity), Tags=tags)["Association"]
    key = first["AssociationId"]
    assert first["Lifecycle"] == "AVAILABLE"
    assert first["ResourceARN"].endswith(f":association/{identity}/{key}")
    assert (first["ImportedFileChunkSize"], first["BatchImportMetaDataOnCreate"]) == (1024, False)

    def found(**asked: Any) -> list[dict[str, Any]]:
        reply = fsx.describe_data_repository_associations(**asked)
        return list(reply["Associations"])

    (read_back,) = found(AssociationIds=[key])
    assert (read_back["DataRepositoryPath"], read_back["FileSystemPath"]) == (
        "s3://bucket",
        "/data",
    )
    assert read_back["S3"] == {"AutoImportPolicy": {"Events": ["NEW", "CHANGED"]}}
    assert read_back["Tags"] == tags
    for asked, count in ((identity, 1), (NONE, 0)):
        filters = [{"Name": "file-system-id", "Values": [asked]}]
        assert len(found(Filters=filters)) == count

    fewer = {"AutoImportPolicy": {"Events": ["NEW"]}}
    fsx.update_data_repository_association(AssociationId=key, S3=fewer, ImportedFileChunkSize=2048)
    (changed,) = found(AssociationIds=[key])
    assert (changed["S3"], changed["ImportedFileChunkSize"]) == (fewer, 2048)

    gone = fsx.delete_data_repository_association(AssociationId=key)
    assert (gone["AssociationId"], gone["Lifecycle"]) == (key, "DELETING")
    for call in (
        lambda: fsx.describe_data_repository_associations(AssociationIds=[key]),
        lambda: fsx.update_data_repository_association(AssociationId=key, S3=fewer),
        lambda: fsx.delete_data_repository_association(AssociationId=key),
    ):
        assert refused(call).startswith("DataRepositoryAssociationNotFound")
    fsx.create_data_repository_association(**tied(identity))
    fsx.delete_file_system(FileSystemId=identity)
    assert found() == []


def test_a_path_has_one_association(fsx: Any, place: dict[str, str]) -> None:
    identity = made(fsx, place)
    tie = fsx.create_data_repository_association
    first, again = (
        tie(**tied(identity), ClientRequestToken="one")["Association"] for _ in range(2)
    )
    assert first["AssociationId"] == again["AssociationId"]
    assert refused(tie, **tied(identity)).endswith(
        "the path /data has a data repository association"
    )
    tie(**tied(identity, FileSystemPath="/other"))
    assert refused(tie, **tied(NONE)).startswith("FileSystemNotFound")
    none = {"EfaEnabled": None, "MetadataConfiguration": None, "PerUnitStorageThroughput": None}
    scratch = made(fsx, place, DeploymentType="SCRATCH_1", **none)
    told = refused(tie, **tied(scratch))
    assert told.endswith("needs another deployment type than SCRATCH_1")
