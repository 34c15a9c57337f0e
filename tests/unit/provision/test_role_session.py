"""A job's identity token lives for minutes, and a run lasts longer."""

from __future__ import annotations

import base64
import datetime as dt
import json
import os
import stat
import subprocess
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

import boto3
import pytest
from moto import mock_aws

from rackwright.errors import ExternalToolError
from rackwright.provision.access import role_session
from rackwright.provision.access.role_session import JobIdentity, RoleSession
from rackwright.provision.targets import Target
from rackwright_lab.embedded_aws.api import moto_sts

ROLE = "arn:aws:iam::123456789012:role/apply"


def a_token(lives: dt.timedelta) -> str:
    """Return a JSON Web Token that expires after ``lives``; nobody here checks its signature."""
    expires = (dt.datetime.now(dt.UTC) + lives).timestamp()
    parts: tuple[dict[str, Any], ...] = (
        {"alg": "RS256"},
        {"aud": "sts.amazonaws.com", "exp": expires},
        {},
    )
    return ".".join(
        base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in parts
    )


ALIVE, EXPIRED = dt.timedelta(minutes=5), dt.timedelta(seconds=-1)


@pytest.fixture
def job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[JobIdentity]:
    for name in [name for name in os.environ if name.startswith(("AWS_", "ACTIONS_"))]:
        monkeypatch.delenv(name)
    token = tmp_path / "token"
    token.write_text(a_token(ALIVE))
    variables = {"AWS_ROLE_ARN": ROLE, "AWS_WEB_IDENTITY_TOKEN_FILE": str(token)}
    found = JobIdentity.read(variables)
    assert found is not None
    moto_sts.install()
    with mock_aws():
        yield found


def expire(job: JobIdentity) -> None:
    Path(job.token_file).write_text(a_token(EXPIRED))


def test_run_outlives_the_identity_token_of_its_job(job: JobIdentity, tmp_path: Path) -> None:
    own = RoleSession(tmp_path / "session", {})
    variables = own.begin(job)
    first = own.credentials()
    expire(job)
    assert RoleSession(tmp_path / "session", {}).credentials() == first, "another process"
    assert variables["AWS_WEB_IDENTITY_TOKEN_FILE"] == "", "no process exchanges it again"
    kept = tmp_path / "session" / "credentials.json"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600


def test_credentials_process_prints_what_the_sdks_read(job: JobIdentity, tmp_path: Path) -> None:
    variables = RoleSession(tmp_path / "a folder", {}).begin(job)
    expire(job)
    target = Target("aws", tmp_path, variables, None)
    from rackwright.provision.aws.calls import make_client

    made = make_client(target, "sts", "us-east-1")
    kept = RoleSession(tmp_path / "a folder", {}).credentials()
    assert made._request_signer._credentials.access_key == kept["AccessKeyId"]
    command = (tmp_path / "a folder" / "config").read_text().partition("= ")[2]
    printed = subprocess.run(command, shell=True, capture_output=True, text=True, check=True)
    assert json.loads(printed.stdout) == kept


def test_credentials_that_end_soon_are_exchanged_with_another_token_of_the_job(
    job: JobIdentity, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    class Answer:
        def __enter__(self) -> Self:
            return self

        def __exit__(self, *_: object) -> None: ...

        def read(self) -> bytes:
            return json.dumps({"value": a_token(ALIVE)}).encode()

    def urlopen(request: Any, **_: object) -> Answer:
        asked.append(request.full_url)
        assert request.get_header("Authorization") == "bearer secret"
        return Answer()

    monkeypatch.setattr(urllib.request, "urlopen", urlopen)
    runner = {
        "ACTIONS_ID_TOKEN_REQUEST_URL": "https://runner.example/token?api-version=2.0",
        "ACTIONS_ID_TOKEN_REQUEST_TOKEN": "secret",
    }
    expire(job)
    own = RoleSession(tmp_path / "session", runner)
    own.begin(job)
    first = own.credentials()
    assert len(asked) == 1
    monkeypatch.setattr(role_session, "MARGIN", dt.timedelta(days=1))
    assert own.credentials()["AccessKeyId"] != first["AccessKeyId"]
    assert asked == ["https://runner.example/token?api-version=2.0&audience=sts.amazonaws.com"] * 2


def test_remaining_credentials_are_used_without_a_token(
    job: JobIdentity, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = RoleSession(tmp_path / "session", {})
    own.begin(job)
    first = own.credentials()
    expire(job)
    monkeypatch.setattr(role_session, "MARGIN", dt.timedelta(days=1))
    assert own.credentials() == first


def test_expired_token_is_refused_before_anything_is_made(job: JobIdentity, tmp_path: Path) -> None:
    expire(job)
    with pytest.raises(ExternalToolError, match=r"sts:AssumeRoleWithWebIdentity.*ExpiredToken"):
        RoleSession(tmp_path / "session", {}).begin(job)


def test_role_with_a_short_maximum_gets_an_hour(
    job: JobIdentity, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    real = role_session._assume

    def assume(job: JobIdentity, token: str, seconds: int) -> Any:
        asked.append(seconds)
        return real(job, token, seconds) if seconds <= role_session.HOUR else None

    monkeypatch.setattr(role_session, "_assume", assume)
    RoleSession(tmp_path / "session", {}).begin(job)
    assert asked == [4 * role_session.HOUR, role_session.HOUR]


@pytest.mark.parametrize(
    "more",
    [{"AWS_ACCESS_KEY_ID": "AKIA"}, {"AWS_ROLE_ARN": ""}, {"AWS_WEB_IDENTITY_TOKEN_FILE": ""}],
)
def test_other_credentials_are_left_to_the_sdks(more: dict[str, str]) -> None:
    assert (
        JobIdentity.read({"AWS_ROLE_ARN": ROLE, "AWS_WEB_IDENTITY_TOKEN_FILE": "t", **more}) is None
    )


def test_client_of_the_embedded_aws_is_refused_with_an_expired_token(job: JobIdentity) -> None:
    client = boto3.client("sts", region_name="us-east-1")
    with pytest.raises(client.exceptions.ExpiredTokenException):
        client.assume_role_with_web_identity(
            RoleArn=ROLE, RoleSessionName="one", WebIdentityToken=a_token(EXPIRED)
        )
