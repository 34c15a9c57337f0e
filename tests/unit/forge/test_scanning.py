"""Results on a fake GitHub code scanning."""

from __future__ import annotations

import base64
import gzip
from collections.abc import Iterator
from pathlib import Path

import pytest

from forge_fake import Failure, FakeForge, a_forge
from rackwright.cli import main
from rackwright.errors import UsageError
from rackwright.forge import scanning
from rackwright.forge.forges import github

COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeForge]:
    with a_forge() as forge:
        for name, value in {
            "GITHUB_API_URL": forge.address,
            "GITHUB_REPOSITORY": "o/r",
            "GITHUB_TOKEN": forge.token,
            "GITHUB_SHA": COMMIT,
            "GITHUB_REF": "refs/pull/7/merge",
        }.items():
            monkeypatch.setenv(name, value)
        yield forge


def test_the_command_hands_the_file_in(
    fake: FakeForge, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "a.sarif"
    file.write_bytes(b'{"runs": []}')
    assert main(["ci", "upload", str(file)]) == 0
    assert capsys.readouterr().out == "uploaded\n"
    (payload,) = fake.uploads
    assert gzip.decompress(base64.b64decode(payload["sarif"])) == file.read_bytes()
    assert (payload["commit_sha"], payload["ref"]) == (COMMIT, "refs/pull/7/merge")


def test_failures_that_pass_are_tried_again(fake: FakeForge) -> None:
    fake.failures = [Failure(503)]
    slept: list[float] = []
    environment = {
        "GITHUB_API_URL": fake.address,
        "GITHUB_REPOSITORY": "o/r",
        "GITHUB_TOKEN": fake.token,
    }
    forge = github(environment, number=1)
    scanning.upload(forge, b"{}", commit=COMMIT, ref="refs/heads/main", sleep=slept.append)
    assert slept == [1.0]
    assert len(fake.uploads) == 1


def test_too_large_report_is_not_sent(fake: FakeForge, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scanning, "LARGEST", 10)
    environment = {"GITHUB_REPOSITORY": "o/r", "GITHUB_TOKEN": "t", "GITHUB_API_URL": fake.address}
    with pytest.raises(UsageError, match="GitHub takes 10"):
        scanning.upload(github(environment, number=1), b"{}" * 99, commit=COMMIT, ref="refs/x")
    assert not fake.seen


def test_the_commit_has_to_be_known(
    fake: FakeForge,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    file = tmp_path / "a.sarif"
    assert main(["ci", "upload", str(file)]) == 2
    assert "cannot be read" in capsys.readouterr().err
    file.write_bytes(b"{}")
    monkeypatch.setenv("GITHUB_SHA", "main")
    assert main(["ci", "upload", str(file)]) == 2
    assert "is no commit" in capsys.readouterr().err
