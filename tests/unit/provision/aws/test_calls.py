"""A site is in the account that its blueprint states."""

from __future__ import annotations

from pathlib import Path

import pytest
from moto import mock_aws

from rackwright.errors import UsageError
from rackwright.provision.aws import calls
from rackwright.provision.aws.calls import make_client, refuse_other_account
from rackwright.provision.targets import Target


def test_credentials_of_another_account_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    target = Target("aws", tmp_path, {}, None)
    with mock_aws():
        refuse_other_account(target, "us-east-1", "123456789012")
        refuse_other_account(target, "us-east-1", None)
        with pytest.raises(
            UsageError, match=r"are of the account 123456789012, and .* 111122223333"
        ):
            refuse_other_account(target, "us-east-1", "111122223333")


def test_embedded_aws_has_an_account_of_its_own(tmp_path: Path) -> None:
    refuse_other_account(Target("local", tmp_path, {}, None), "us-east-1", "111122223333")


def test_shared_loader_keeps_its_folders_from_session_to_session(tmp_path: Path) -> None:
    """Every session of boto3 appended its own folder: eight after six sessions."""
    keys = {"AWS_ACCESS_KEY_ID": "testing", "AWS_SECRET_ACCESS_KEY": "testing"}
    target = Target("local", tmp_path, keys, "http://127.0.0.1:9")
    make_client(target, "sts", "us-east-1")
    loader = calls._loader(None)
    before = list(loader.search_paths)
    for _ in range(3):
        make_client(target, "sts", "us-east-1")
    assert loader.search_paths == before
    assert len(set(before)) == len(before)
