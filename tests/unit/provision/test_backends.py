"""Where the state is kept and what encrypts it follows from variables; nothing goes unencrypted."""

from __future__ import annotations

from pathlib import Path

import pytest

from rackwright.errors import UsageError
from rackwright.provision.backends import Backend, read_backend

BUCKET = "s3://team-state?region=eu-central-1"
KEY = "awskms://alias/state?region=eu-central-1"


@pytest.mark.parametrize("url", [None, "https://api.pulumi.com", "http://pulumi.team.example"])
def test_a_service_encrypts_itself(url: str | None) -> None:
    environment = {} if url is None else {"PULUMI_BACKEND_URL": url}
    assert read_backend(environment) == Backend(url, None)


def test_a_bucket_with_a_key_needs_no_passphrase() -> None:
    given = {"PULUMI_BACKEND_URL": BUCKET, "RACKWRIGHT_SECRETS_PROVIDER": KEY}
    assert read_backend(given) == Backend(BUCKET, KEY)


@pytest.mark.parametrize(
    "url", [BUCKET, "gs://state", "azblob://state", "file:///state", "postgres://state"]
)
def test_backend_without_a_key_needs_a_passphrase(url: str) -> None:
    with pytest.raises(UsageError, match="needs a key or a passphrase") as refused:
        read_backend({"PULUMI_BACKEND_URL": url})
    assert "RACKWRIGHT_SECRETS_PROVIDER" in str(refused.value)
    given = {"PULUMI_BACKEND_URL": url, "PULUMI_CONFIG_PASSPHRASE": "a long one"}
    assert read_backend(given) == Backend(url, "passphrase")


def test_variables_that_ci_leaves_empty_are_absent() -> None:
    empty = {
        "PULUMI_BACKEND_URL": "",
        "RACKWRIGHT_SECRETS_PROVIDER": "",
        "PULUMI_CONFIG_PASSPHRASE": "",
        "PULUMI_CONFIG_PASSPHRASE_FILE": "",
    }
    assert read_backend(empty) == Backend(None, None)
    with pytest.raises(UsageError, match="needs a key or a passphrase"):
        read_backend({**empty, "PULUMI_BACKEND_URL": BUCKET})


def test_a_passphrase_may_be_in_a_file(tmp_path: Path) -> None:
    file = tmp_path / "passphrase"
    given = {"PULUMI_BACKEND_URL": BUCKET, "PULUMI_CONFIG_PASSPHRASE_FILE": str(file)}
    with pytest.raises(UsageError, match="cannot be read: no such file"):
        read_backend(given)
    file.write_text("\n")
    with pytest.raises(UsageError, match="is empty"):
        read_backend(given)
    file.write_text("a long one\n")
    assert read_backend(given) == Backend(BUCKET, "passphrase")


def test_a_passphrase_that_is_asked_for_is_demanded_of_a_service_too() -> None:
    with pytest.raises(UsageError, match="needs a key or a passphrase"):
        read_backend({"RACKWRIGHT_SECRETS_PROVIDER": "passphrase"})


@pytest.mark.parametrize("provider", ["kms://x", "default", "AWSKMS://x", "awskms:alias/x"])
def test_invalid_secrets_provider_is_refused(provider: str) -> None:
    with pytest.raises(UsageError, match="is no secrets provider of Pulumi"):
        read_backend({"PULUMI_BACKEND_URL": BUCKET, "RACKWRIGHT_SECRETS_PROVIDER": provider})
