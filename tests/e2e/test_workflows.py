"""The jobs that preview, apply, look for drift and configure: every step, from an empty runner.

They provision on the embedded AWS (``RACKWRIGHT_TARGET: local``) and configure a machine of the lab.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from ci_jobs import PROJECT, ROLE, Team, a_team
from ci_team import BLUEPRINT, commit, git
from forge_fake import FakeForge, a_forge
from lab_support import Machines, some_machines
from rackwright_lab import lab as labs
from rackwright_lab.lab import HostSpec

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(3000)]


@pytest.fixture(scope="module")
def forge() -> Iterator[FakeForge]:
    with a_forge() as made:
        yield made


@pytest.fixture
def team(lab: Any, forge: FakeForge, tmp_path: Path, request: pytest.FixtureRequest) -> Team:
    """A team with a cluster of its own on the embedded AWS, called as the test is."""
    name = request.node.name.removeprefix("test_").replace("_", "-")[:20].strip("-")
    text = lab.blueprint(name, **{"nat: single": "nat: none", "endpoints: [s3]": "endpoints: []"})
    start, _, rest = text.read_text().partition("    file_systems:\n")
    small = start + rest[rest.index("    limits:") :]
    return a_team(tmp_path, lab.folder / "state", forge, small)


def vpcs(lab: Any, team: Team) -> list[dict[str, Any]]:
    name = (team.origin / BLUEPRINT).read_text().split("name: ", 1)[1].split("\n", 1)[0]
    by_cluster = [{"Name": "tag:rackwright:cluster", "Values": [name]}]
    found: list[dict[str, Any]] = lab.client("ec2").describe_vpcs(Filters=by_cluster)["Vpcs"]
    return found


def test_the_life_of_a_cluster(lab: Any, team: Team, tmp_path: Path) -> None:
    github_applies_the_plan_that_was_reviewed(lab, team, tmp_path / "artefacts")
    drift_is_seen(lab, team)
    gitlab_applies_the_plan_that_was_read(lab, team)


def github_applies_the_plan_that_was_reviewed(lab: Any, team: Team, run: Path) -> None:
    role = {"vars.RACKWRIGHT_PREVIEW_ROLE": ROLE, "vars.RACKWRIGHT_APPLY_ROLE": f"{ROLE}-write"}
    code, plan = team.github("apply", "plan", run, **role)
    assert code == 0, plan.log
    assert plan.ran == ["Install", "Install the Pulumi CLI", "Take the role", "Check and plan"]
    assert plan.environment["AWS_ROLE_ARN"] == ROLE
    token = Path(plan.environment["AWS_WEB_IDENTITY_TOKEN_FILE"])
    assert token.read_text() == PROJECT["AWS_TOKEN"]
    assert PROJECT["AWS_TOKEN"] not in plan.log
    assert team.forge.token not in plan.log
    assert " to create" in plan.summary
    assert all(line.startswith("    ") for line in plan.summary.splitlines() if line)
    assert (run / "plan/seal.json").is_file()
    assert vpcs(lab, team) == []

    # Another commit than the one that was reviewed.
    commit(team.origin, lambda text: text.replace("count: 2", "count: 3"))
    code, other = team.github("apply", "apply", run, **role)
    assert code == 2, other.log
    assert "was made for another blueprint" in other.log
    assert vpcs(lab, team) == []
    git(team.origin, "reset", "--quiet", "--hard", "HEAD~1")

    code, apply = team.github("apply", "apply", run, **role)
    assert code == 0, apply.log
    assert apply.environment["AWS_ROLE_ARN"] == f"{ROLE}-write"
    assert len(vpcs(lab, team)) == 1


def drift_is_seen(lab: Any, team: Team) -> None:
    code, quiet = team.github("drift", "drift")
    assert code == 0, quiet.log
    assert "differs" not in quiet.log
    assert quiet.summary.count("no change") == 3
    (vpc,) = vpcs(lab, team)
    (right,) = [tag for tag in vpc["Tags"] if tag["Key"] == "rackwright:site"]
    ec2 = lab.client("ec2")
    ec2.create_tags(Resources=[vpc["VpcId"]], Tags=[{**right, "Value": "by hand"}])
    code, drift = team.github("drift", "drift")
    assert code == 5, drift.log
    assert "-vpc: tags" in drift.summary
    assert "the deployed resources differ from the blueprint" in drift.summary
    ec2.create_tags(Resources=[vpc["VpcId"]], Tags=[right])
    # Nothing differs any more, but a waiver is of no use.
    runner = team.clone()
    waive(runner, "AWS-003", site="cloud", up_to="999")
    code, log = team.gitlab("rackwright-drift", runner)
    assert (code, log.count("no change")) == (7, 3), log


def gitlab_applies_the_plan_that_was_read(lab: Any, team: Team) -> None:
    planned, applied = team.clone(), team.clone()
    for folder in (planned, applied):
        path = folder / BLUEPRINT
        text = path.read_text().replace("count: 2", "count: 3")
        path.write_text(text.replace("root_volume: 500 GiB", "root_volume: 600 GiB"))
    code, log = team.gitlab("rackwright-plan", planned)
    assert code == 0, log
    assert "aws-cluster: update " in log
    shutil.copytree(planned / "plan", applied / "plan")
    code, log = team.gitlab("rackwright-apply", applied)
    assert code == 8, log  # the nodes with the old disks; the job permits it
    assert "outdated nodes of train: train-[1-2] (disks)" in log
    (group,) = lab.client("autoscaling").describe_auto_scaling_groups()["AutoScalingGroups"]
    assert group["DesiredCapacity"] == 3
    # The version of the launch template was not known when the plan was made.
    assert group["LaunchTemplate"]["Version"] == "2"


def waive(repository: Path, policy: str, site: str, up_to: str) -> None:
    """Commit a waiver for ``policy`` that holds today."""
    ends = datetime.now(UTC).date() + timedelta(days=3)
    waiver = (repository / BLUEPRINT).parent / "policies/waivers.yaml"
    waiver.parent.mkdir()
    waiver.write_text(
        f"waivers:\n  - {{id: W-1, policy: {policy}, match: {{site: {site}}}, up_to: '{up_to}',\n"
        f"     owner: ada, ticket: T-1, reason: it is being mended, expires: {ends}}}\n"
    )
    git(repository, "add", "--all")
    git(repository, "commit", "--quiet", "--message=permit")


def test_what_violates_is_neither_planned_nor_previewed(
    lab: Any, team: Team, tmp_path: Path
) -> None:
    commit(team.origin, lambda text: text.replace("L-417A185B: 4096", "L-417A185B: 100"))
    code, plan = team.github("apply", "plan", tmp_path / "artefacts")
    assert code == 5, plan.log
    assert not (tmp_path / "artefacts").exists()
    base = git(team.origin, "rev-parse", "HEAD~1")
    git(team.origin, "branch", "before", base)

    waive(team.origin, "AWS-004", site="cloud", up_to="999")
    request = {
        "github.event_name": "pull_request",
        "github.event.pull_request.head.repo.full_name": "o/r",
        "github.event.pull_request.base.ref": "before",
        "github.event.pull_request.base.sha": base,
        "github.event.pull_request.updated_at": "2026-11-21T12:00:00Z",
        "github.token": team.forge.token,
    }
    code, check = team.github("pr", "check", **request)
    assert code == 5, check.log
    assert check.ran == ["Install", "Compare", "Check", "Comment", "Upload", "Verdict"]
    assert "blocking finding" in team.forge.bodies[-1]
    assert len(team.forge.uploads) == 1
    code, preview = team.github("pr", "preview", **request)
    assert code == 5, preview.log
    assert "1 proposed" in preview.summary
    assert "nothing was created" in preview.summary
    fork = {**request, "github.event.pull_request.head.repo.full_name": "mallory/r"}
    assert team.github("pr", "preview", **fork)[0] is None
    git(team.origin, "branch", "target", base)
    target = {"CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "target"}
    runner = team.clone()
    # What the change would have installed is not what judges it.
    (runner / "rackwright-requirements.txt").write_text("./mine.whl\n")
    code, log = team.gitlab("rackwright-preview", runner, **target)
    assert (code, "1 proposed" in log) == (5, True), log


# Nobody keeps accounts, nobody watches: fewer packages to install.
LESS = {"  accounting: {host: head-1}\n": "", "name: head, role: head": "name: head, role: storage"}


NOT_THERE = "10.213.60.250 gpu-1 gpu-2 gpu-3 gpu-4 login-1"
"""Nodes whose names are known, as at every site, and that are off: slurmctld looks all names up."""


@pytest.mark.skipif(os.geteuid() != 0, reason="the lab needs root")
def test_hosts_are_configured_after_a_rehearsal(forge: FakeForge, tmp_path: Path) -> None:
    with some_machines(tmp_path / "lab", "gate", "10.213.60.0/24", [HostSpec("head-1")]) as made:
        made.on("head-1", f"echo {NOT_THERE} >> /etc/hosts")
        team = a_team(tmp_path, tmp_path / "state", forge, made.lab_blueprint(LESS).read_text())
        hosts = {"hosts": {"head-1": made.lab.connection(made.host("head-1"))}}
        (team.origin / "hosts.json").write_text(json.dumps({"all": hosts}))
        git(team.origin, "add", "--all")
        git(team.origin, "commit", "--quiet", "--message=addresses")
        head = {"vars.RACKWRIGHT_INVENTORY": "hosts.json\n", "inputs.limit": "head-1"}
        code, shown = team.github("configure", "rehearse", **head)
        assert code == 0, shown.log
        assert shown.ran == ["Install", "Rehearse"]
        assert "    head-1 would change: base / Install chrony" in shown.summary
        assert made.on("head-1", "systemctl is-active slurmctld", check=False) == "inactive"
        code, done = team.github("configure", "configure", **head)
        assert code == 0, done.log
        assert "    1 of 1 hosts done in " in done.summary
        assert " is UP" in made.on("head-1", "scontrol ping")


@pytest.fixture
def far_team(forge: FakeForge, tmp_path: Path) -> Team:
    """A team none of whose hosts is there."""
    machines = Machines(labs.open_lab("none"), tmp_path / "lab")
    return a_team(tmp_path, tmp_path / "state", forge, machines.lab_blueprint(LESS).read_text())


def test_a_host_that_fails_fails_the_job_and_is_named_in_its_summary(far_team: Team) -> None:
    code, shown = far_team.github("configure", "rehearse", **{"inputs.limit": "gpu-1"})
    assert code == 4, shown.log
    assert "    gpu-1 failed: " in shown.summary
    code, done = far_team.github("configure", "configure", **{"inputs.limit": "gpu-1"})
    assert code == 4, done.log
    assert "    quarantined gpu-1: " in done.summary
    code, odd = far_team.github("configure", "rehearse", **{"inputs.limit": "$(touch pwned)"})
    assert code == 2, odd.log
    assert "is not a host pattern" in odd.summary
    assert not list(far_team.origin.parent.rglob("pwned"))


def test_a_branch_does_not_permit_itself_to_be_configured(far_team: Team) -> None:
    git(far_team.origin, "switch", "--quiet", "--create=change")
    waive(far_team.origin, "RACK-002", site="room", up_to="21 kW")
    commit(far_team.origin, lambda text: text.replace("power_limit: 45 kW", "power_limit: 20 kW"))
    code, log = far_team.gitlab("rackwright-rehearse", far_team.clone(), LIMIT="gpu-1")
    assert (code, "1 proposed" in log, "nothing was configured" in log) == (5, True, True), log
    # Somebody has approved it: it is on the default branch.
    git(far_team.origin, "branch", "--force", "main", "change")
    code, log = far_team.gitlab("rackwright-rehearse", far_team.clone(), LIMIT="gpu-1")
    assert (code, "\ngpu-1 failed: " in log) == (4, True), log
    code, log = far_team.gitlab("rackwright-configure", far_team.clone(), LIMIT="gpu-1")
    assert (code, "quarantined gpu-1: " in log) == (4, True), log
