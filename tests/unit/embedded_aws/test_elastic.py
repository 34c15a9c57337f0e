"""EFS of the embedded AWS: what changes, and what is refused as AWS refuses it."""

from __future__ import annotations

from typing import Any

import pytest

from unit.embedded_aws.clients import Connect, refused

NONE = "fs-0123456789abcdef0"


@pytest.fixture
def efs(aws: Connect) -> Any:
    return aws("efs")


def a_system(efs: Any, **more: Any) -> str:
    arguments = {"CreationToken": "home", "Encrypted": True} | more
    return str(efs.create_file_system(**arguments)["FileSystemId"])


def read(efs: Any, identity: str) -> dict[str, Any]:
    (found,) = efs.describe_file_systems(FileSystemId=identity)["FileSystems"]
    return dict(found)


def test_the_rate_goes_with_the_provisioned_mode_alone(efs: Any) -> None:
    made = a_system(efs)
    assert read(efs, made)["ThroughputMode"] == "bursting"
    rated = {
        "FileSystemId": made,
        "ThroughputMode": "provisioned",
        "ProvisionedThroughputInMibps": 64.0,
    }
    assert efs.update_file_system(**rated)["ProvisionedThroughputInMibps"] == 64
    assert read(efs, made)["ProvisionedThroughputInMibps"] == 64
    for mode in ("elastic", "bursting"):
        told = refused(efs.update_file_system, **rated | {"ThroughputMode": mode})
        assert told.endswith("goes with the mode 'provisioned' alone")
    del rated["ProvisionedThroughputInMibps"]
    assert "goes with the mode" in refused(efs.update_file_system, **rated)
    efs.update_file_system(FileSystemId=made, ThroughputMode="elastic")
    found = read(efs, made)
    assert found["ThroughputMode"] == "elastic"
    assert found.get("ProvisionedThroughputInMibps") is None
    told = refused(efs.update_file_system, FileSystemId=NONE, ThroughputMode="elastic")
    assert told.startswith("FileSystemNotFound")


def test_a_token_is_taken_once(efs: Any) -> None:
    a_system(efs)
    assert refused(a_system, efs=efs).startswith("FileSystemAlreadyExists")


def test_a_key_needs_encryption(efs: Any) -> None:
    key = "arn:aws:kms:us-west-2:123456789012:key/a"
    assert "must be True" in refused(a_system, efs=efs, Encrypted=False, KmsKeyId=key)


def test_backups_are_on_or_off(efs: Any) -> None:
    made = a_system(efs)
    asked = efs.describe_backup_policy
    assert refused(asked, FileSystemId=made).startswith("PolicyNotFound")
    for status in ("ENABLED", "DISABLED"):
        put = efs.put_backup_policy(FileSystemId=made, BackupPolicy={"Status": status})
        assert put["BackupPolicy"] == asked(FileSystemId=made)["BackupPolicy"] == {"Status": status}
    odd = refused(efs.put_backup_policy, FileSystemId=made, BackupPolicy={"Status": "SOMETIMES"})
    assert odd.endswith("is one of ENABLED, DISABLED")
    lost = refused(efs.put_backup_policy, FileSystemId=NONE, BackupPolicy={"Status": "ENABLED"})
    assert lost.startswith("FileSystemNotFound")


def test_a_system_that_is_made_with_backups_has_them(efs: Any) -> None:
    made = a_system(efs, Backup=True)
    assert efs.describe_backup_policy(FileSystemId=made)["BackupPolicy"]["Status"] == "ENABLED"
