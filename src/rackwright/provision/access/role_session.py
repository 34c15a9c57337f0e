"""Credentials of a role that a job takes by an identity token, for as long as a run lasts.

An identity token of a CI job lives for minutes (GitHub: five), and each process that finds one in the
environment exchanges it for itself, when it starts. So the token is exchanged once, at once, for
credentials of an hour or more; every process of the run gets those through ``credential_process`` of the
AWS SDKs (AWS SDKs and Tools Reference Guide, "Process credential provider"), which asks again before they end.
"""

from __future__ import annotations

import datetime as dt
import json
import shlex
import sys
import urllib.request
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rackwright.errors import ExternalToolError
from rackwright.secret_files import write_secret

ROLE, TOKEN_FILE, SESSION_NAME = (
    "AWS_ROLE_ARN",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_ROLE_SESSION_NAME",
)
"""Variables by which the AWS SDKs take a role by a token ("Assume role credential provider")."""
GITHUB_URL, GITHUB_TOKEN = "ACTIONS_ID_TOKEN_REQUEST_URL", "ACTIONS_ID_TOKEN_REQUEST_TOKEN"
"""Variables of a job of GitHub Actions that may ask for another token at any time while it runs."""
AUDIENCE = "sts.amazonaws.com"
HOUR = 3600
DURATIONS = (4 * HOUR, HOUR)
"""Seconds that credentials are asked for. A role permits an hour unless its maximum is raised (IAM User
Guide, "Update the maximum session duration for a role"); a token that cannot be had again has to do for a run."""
MARGIN = dt.timedelta(minutes=10)
"""Time before their end at which credentials are exchanged for others."""
ANSWER_TIMEOUT = 30
"""Seconds to wait for an answer of GitHub."""
_HOME = {"aws-cn": "cn-north-1", "aws-us-gov": "us-gov-west-1"}
"""Region whose STS is asked for a role of a partition where the environment names none."""


@dataclass(frozen=True)
class JobIdentity:
    """The role that a job takes.

    Attributes:
        role: ARN of the role.
        token_file: file with the identity token.
        name: name of the session, which CloudTrail shows.
        region: region whose STS is asked.
    """

    role: str
    token_file: str
    name: str
    region: str

    @classmethod
    def read(cls, environment: Mapping[str, str]) -> JobIdentity | None:
        """Return the role that ``environment`` names; None where credentials come from elsewhere."""
        role, token = environment.get(ROLE), environment.get(TOKEN_FILE)
        if not role or not token or environment.get("AWS_ACCESS_KEY_ID"):
            return None
        region = environment.get("AWS_REGION") or environment.get("AWS_DEFAULT_REGION")
        home = _HOME.get(role.split(":")[1], "us-east-1") if role.count(":") >= 5 else "us-east-1"
        name = environment.get(SESSION_NAME) or "rackwright"
        return cls(role, str(Path(token).resolve()), name, region or home)


class RoleSession:
    """The credentials of one job, kept in a folder that the user alone can read."""

    def __init__(self, folder: Path, environment: Mapping[str, str]) -> None:
        self._folder = folder
        self._environment = environment

    @property
    def _job(self) -> Path:
        return self._folder / "job.json"

    def begin(self, job: JobIdentity) -> dict[str, str]:
        """Exchange the token now, and return the variables that lead other processes to the credentials.

        Raises:
            ExternalToolError: the token cannot be had, or AWS refuses it.
        """
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_secret(self._job, json.dumps(asdict(job)).encode())
        self._exchange(job)
        # The SDK of Go runs it by 'sh -c', that of Python splits it like a shell.
        command = shlex.join([sys.executable, "-P", "-m", __name__, str(self._folder)])
        config = self._folder / "config"
        write_secret(config, f"[default]\ncredential_process = {command}\n".encode())
        return {
            "AWS_CONFIG_FILE": str(config),
            "AWS_SHARED_CREDENTIALS_FILE": str(self._folder / "none"),
            "AWS_PROFILE": "default",
            # With these the SDKs would exchange the token for themselves.
            ROLE: "",
            TOKEN_FILE: "",
            SESSION_NAME: "",
        }

    def credentials(self) -> dict[str, Any]:
        """Return credentials as a credential process prints them, exchanged again where they end soon.

        Raises:
            ExternalToolError: the token cannot be had, or AWS refuses it.
        """
        kept = self._folder / "credentials.json"
        found: dict[str, Any] = json.loads(kept.read_text()) if kept.is_file() else {}
        if found and dt.datetime.fromisoformat(found["Expiration"]) > _now() + MARGIN:
            return found
        job = JobIdentity(**json.loads(self._job.read_text()))
        try:
            return self._exchange(job)
        except ExternalToolError:
            # A token that cannot be had again: what is left of the credentials is left.
            if found and dt.datetime.fromisoformat(found["Expiration"]) > _now():
                return found
            raise

    def _exchange(self, job: JobIdentity) -> dict[str, Any]:
        token = self._token(job)
        for seconds in DURATIONS:
            answer = _assume(job, token, seconds)
            if answer is not None:
                break
        else:
            raise ExternalToolError(
                f"the role '{job.role}' permits no session of {DURATIONS[-1] // HOUR} hour",
                hint="raise its maximum session duration",
            )
        made = {
            "Version": 1,
            "AccessKeyId": answer["AccessKeyId"],
            "SecretAccessKey": answer["SecretAccessKey"],
            "SessionToken": answer["SessionToken"],
            "Expiration": answer["Expiration"].astimezone(dt.UTC).isoformat(timespec="seconds"),
        }
        write_secret(self._folder / "credentials.json", json.dumps(made).encode())
        return made

    def _token(self, job: JobIdentity) -> str:
        """Return the identity token: another one of GitHub where the job may ask for it, else that of the file.

        Raises:
            ExternalToolError: it cannot be had.
        """
        url, bearer = self._environment.get(GITHUB_URL), self._environment.get(GITHUB_TOKEN)
        try:
            if not url or not bearer:
                return Path(job.token_file).read_text().strip()
            request = urllib.request.Request(  # noqa: S310 - the runner says where it is
                f"{url}&audience={AUDIENCE}", headers={"Authorization": f"bearer {bearer}"}
            )
            with urllib.request.urlopen(request, timeout=ANSWER_TIMEOUT) as answer:  # noqa: S310 - see above # nosec B310
                return str(json.load(answer)["value"])
        except (OSError, ValueError, KeyError) as error:
            raise ExternalToolError(
                f"the identity token of the job cannot be read: {error}",
                hint="the job needs the permission 'id-token: write'",
            ) from None


def _now() -> dt.datetime:
    return dt.datetime.now(dt.UTC)


def _assume(job: JobIdentity, token: str, seconds: int) -> Mapping[str, Any] | None:
    """Return credentials for ``seconds``; None where the role permits no session of that length.

    Raises:
        ExternalToolError: AWS refuses the token or the role, or cannot be asked.
    """  # noqa: DOC501 - refusals() turns ClientError into it
    import boto3
    from botocore import UNSIGNED
    from botocore.config import Config
    from botocore.exceptions import ClientError

    from rackwright.provision.access.errors import error_code, refusals

    with refusals("sts:AssumeRoleWithWebIdentity"):
        client = boto3.session.Session().client(
            "sts", region_name=job.region, config=Config(signature_version=UNSIGNED)
        )
        try:
            answer = client.assume_role_with_web_identity(
                RoleArn=job.role,
                RoleSessionName=job.name,
                WebIdentityToken=token,
                DurationSeconds=seconds,
            )
        except ClientError as error:
            if error_code(error) != "ValidationError":
                raise
            return None
    found: Mapping[str, Any] = answer["Credentials"]
    return found


if __name__ == "__main__":
    import os

    try:
        sys.stdout.write(json.dumps(RoleSession(Path(sys.argv[1]), os.environ).credentials()))
    except ExternalToolError as error:
        sys.exit(str(error))
