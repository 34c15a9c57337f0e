"""State in a bucket with a key or a passphrase, and in Pulumi Cloud: by the workflows, as on AWS.

The target is ``aws``: Rackwright does what it does there. Variables of the runner lead its programs,
the CLI's own state and keys too, to the embedded AWS, which a job reaches by its role alone. Pulumi
Cloud is a stand-in on loopback.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ci_jobs import ROLE, Team, a_team
from ci_runner import Job
from ci_team import BLUEPRINT
from forge_fake import FakeForge, a_forge
from pulumi_cloud_fake import TOKEN, FakeCloud, a_cloud
from rackwright.provision.targets import embedded_variables
from rackwright.provision.tools.aws_provider import attach_plugin, need_aws_provider
from rackwright_lab.embedded_aws import control

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(1800)]
PASSPHRASE = "correct horse battery staple"
ROLES = {
    "vars.RACKWRIGHT_TARGET": "",
    "vars.RACKWRIGHT_PREVIEW_ROLE": ROLE,
    "vars.RACKWRIGHT_APPLY_ROLE": f"{ROLE}-write",
}


@pytest.fixture(scope="module")
def forge() -> Iterator[FakeForge]:
    with a_forge() as made:
        yield made


@pytest.fixture(scope="module")
def cloud() -> Iterator[FakeCloud]:
    with a_cloud() as made:
        yield made


@pytest.fixture
def team(lab: Any, forge: FakeForge, tmp_path: Path, request: pytest.FixtureRequest) -> Team:
    """A team whose runners reach AWS, which is the embedded one, with no key of their own."""
    name = request.node.name.rpartition("_")[2]  # teams share the account
    text = lab.blueprint(name, **{"nat: single": "nat: none", "endpoints: [s3]": "endpoints: []"})
    start, _, rest = text.read_text().partition("    file_systems:\n")
    made = a_team(tmp_path, tmp_path / "state", forge, start + rest[rest.index("    limits:") :])
    return replace(made, machine={**made.machine, **reach(lab)})


def reach(lab: Any) -> dict[str, str]:
    """Variables that lead programs for AWS to the embedded one."""
    embedded = control.start(lab.folder / "state/local/embedded-aws")
    home = lab.folder / "pulumi-home"
    attach_plugin(need_aws_provider(), home)
    return {
        **embedded_variables(embedded.endpoint, home),
        # The CLI takes a role before it reads the variable above.
        "AWS_ENDPOINT_URL_STS": embedded.endpoint,
        "AWS_REGION": "us-east-1",
    }


def a_bucket(lab: Any, name: str) -> str:
    """The URL of a new bucket of the embedded AWS."""
    lab.client("s3").create_bucket(Bucket=name)
    return f"s3://{name}?region=us-east-1&s3ForcePathStyle=true"


def state(lab: Any, bucket: str, stack: str) -> dict[str, Any]:
    """What is kept of a stack of the network in a bucket."""
    s3 = lab.client("s3")
    key = f".pulumi/stacks/aws-network/{stack}.json"
    held: dict[str, Any] = json.loads(s3.get_object(Bucket=bucket, Key=key)["Body"].read())
    return held


def applied(team: Team, run: Path, **context: str) -> Job:
    """Let the workflow plan, and apply what it has planned."""
    code, plan = team.github("apply", "plan", run, **ROLES, **context)
    assert code == 0, plan.log
    assert " to create" in plan.summary
    code, apply = team.github("apply", "apply", run, **ROLES, **context)
    assert code == 0, apply.log
    assert "AWS_ACCESS_KEY_ID" not in apply.environment
    for secret in (PASSPHRASE, TOKEN):
        assert secret not in plan.log + apply.log + plan.summary
        for file in (run / "plan").iterdir():
            assert secret not in file.read_text()
    return apply


def test_a_bucket_with_a_key(lab: Any, team: Team, tmp_path: Path) -> None:
    kms = lab.client("kms")
    key = kms.create_key()["KeyMetadata"]["KeyId"]
    kms.create_alias(AliasName="alias/state", TargetKeyId=key)
    provider = "awskms://alias/state?region=us-east-1"
    where = {
        "vars.PULUMI_BACKEND_URL": a_bucket(lab, "keyed-state"),
        "vars.RACKWRIGHT_SECRETS_PROVIDER": provider,
    }
    applied(team, tmp_path / "run", **where)
    assert "AssumeRoleWithWebIdentity" in lab.calls()
    secrets = state(lab, "keyed-state", "key-cloud")["checkpoint"]["latest"]
    assert secrets["secrets_providers"]["type"] == "cloud"
    assert secrets["secrets_providers"]["state"]["url"] == provider

    code, drift = team.github("drift", "drift", **ROLES, **where)
    assert code == 0, drift.log
    assert drift.summary.count("no change") == 3
    a_lock_of_a_lost_runner_is_shown_and_lifted(lab, team, tmp_path, where)


def a_lock_of_a_lost_runner_is_shown_and_lifted(
    lab: Any, team: Team, folder: Path, where: dict[str, str]
) -> None:
    held = {"pid": 7, "username": "ci", "hostname": "runner-9", "timestamp": "2026-11-23T10:00:00Z"}
    key = ".pulumi/locks/organization/aws-network/key-cloud/lost.json"
    s3 = lab.client("s3")
    s3.put_object(Bucket="keyed-state", Key=key, Body=json.dumps(held).encode())
    code, blocked = team.github("apply", "plan", folder / "again", **ROLES, **where)
    assert code == 0, blocked.log
    code, blocked = team.github("apply", "apply", folder / "again", **ROLES, **where)
    assert code == 4, blocked.log
    assert "ci@runner-9 (process 7) since 2026-11-23T10:00:00Z" in blocked.log
    assert "'rackwright unlock' lifts the lock" in blocked.log

    said = unlock(lab, team, where, expect=2)
    assert "aws-network/key-cloud: held by ci@runner-9 (process 7)" in said
    assert s3.list_objects_v2(Bucket="keyed-state", Prefix=key)["KeyCount"] == 1
    assert "lifted" in unlock(lab, team, where, "--yes")
    assert s3.list_objects_v2(Bucket="keyed-state", Prefix=key)["KeyCount"] == 0
    assert "no stack is locked" in unlock(lab, team, where)
    code, done = team.github("apply", "apply", folder / "again", **ROLES, **where)
    assert code == 0, done.log


def unlock(lab: Any, team: Team, where: Mapping[str, str], *arguments: str, expect: int = 0) -> str:
    """What ``unlock`` says to an operator who has keys of AWS."""
    keys = {"AWS_ACCESS_KEY_ID": "embedded", "AWS_SECRET_ACCESS_KEY": "embedded"}
    given = {name.partition(".")[2]: value for name, value in where.items()}
    own = {"RACKWRIGHT_STATE": str(team.state), "NO_COLOR": "1"}
    done = subprocess.run(
        lab.command("unlock", team.origin / BLUEPRINT, "--target", "aws", *arguments),
        env={**os.environ, **reach(lab), **keys, **given, **own},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == expect, done.stdout + done.stderr
    return done.stdout


def test_a_bucket_with_a_passphrase(lab: Any, team: Team, tmp_path: Path) -> None:
    where = {"vars.PULUMI_BACKEND_URL": a_bucket(lab, "phrased-state")}
    code, refused = team.github("apply", "plan", tmp_path / "refused", **ROLES, **where)
    assert code == 2, refused.log
    assert "the state backend needs a key or a passphrase to encrypt secrets" in refused.log
    applied(team, tmp_path / "run", **where, **{"secrets.PULUMI_CONFIG_PASSPHRASE": PASSPHRASE})
    (stack,) = (
        one["Key"].removesuffix(".json").rsplit("/", 1)[-1]
        for one in lab.client("s3").list_objects_v2(
            Bucket="phrased-state", Prefix=".pulumi/stacks/aws-network/"
        )["Contents"]
        if one["Key"].endswith(".json")
    )
    held = state(lab, "phrased-state", stack)["checkpoint"]["latest"]
    assert held["secrets_providers"]["type"] == "passphrase"
    assert PASSPHRASE not in json.dumps(held)


def test_pulumi_cloud_with_a_token(lab: Any, team: Team, cloud: FakeCloud, tmp_path: Path) -> None:
    where = {"vars.PULUMI_BACKEND_URL": cloud.address}
    code, refused = team.github("apply", "plan", tmp_path / "refused", **ROLES, **where)
    assert code == 4, refused.log
    assert "PULUMI_ACCESS_TOKEN must be set" in refused.log
    token = {"secrets.PULUMI_ACCESS_TOKEN": TOKEN}
    applied(team, tmp_path / "run", **where, **token)
    assert {kind for kind, _ in cloud.stacks} == {"aws-network", "aws-storage", "aws-cluster"}
    assert cloud.refused == 0

    ((_, name),) = {("x", stack) for _, stack in cloud.stacks}
    network = cloud.stacks["aws-network", name]
    network.active, network.last = "update-lost", 0
    code, blocked = team.github("apply", "apply", tmp_path / "run", **ROLES, **where, **token)
    assert code == 4, blocked.log
    assert f"stack 'aws-network/{name}' is being updated" in blocked.log
    said = unlock(lab, team, {**where, **token}, "--yes")
    assert said.count("lifted") == 1
    assert network.active == ""
    assert "no stack is locked" in unlock(lab, team, {**where, **token})
