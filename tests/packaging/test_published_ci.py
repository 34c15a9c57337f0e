"""The action and the component that others name, run as a forge runs them: installation, comparison, comment, verdict.

Rackwright comes from a commit of these files, its dependencies by their digests from the index of this machine's pip.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from ci_gitlab import Pipeline
from ci_runner import Job
from ci_team import BLUEPRINT, commit, git, github_environment
from forge_fake import FakeForge, a_forge
from published_ci import component_with
from rackwright.render.blueprints import find_template, write_blueprint
from suites import ROOT

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(2400)]
NOON = "2026-11-21T12:00:00Z"


@dataclass(frozen=True)
class Published:
    """Repository of Rackwright that a team's pipeline names, and what a runner has.

    Attributes:
        source: the files of a commit.
        environment: Python and git, but nothing of this checkout.
    """

    source: Path
    environment: dict[str, str]

    @property
    def commit(self) -> str:
        """The commit that is named."""
        return git(self.source, "rev-parse", "HEAD")


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Published:
    folder = tmp_path_factory.mktemp("published")
    source, programs, home = (folder / name for name in ("rackwright", "bin", "home"))
    for name in git(ROOT, "ls-files").splitlines():
        if (ROOT / name).exists():  # a link as a link
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, source / name, follow_symlinks=False)
    git(source, "init", "--quiet", "--initial-branch=main")
    git(source, "add", "--all", "--force")
    git(source, "commit", "--quiet", "--message=release")
    for made in (programs, home):
        made.mkdir()
    (programs / "python3").symlink_to(Path(sys.executable).resolve())
    mine = str(Path(sys.executable).parent)
    path = [part for part in os.environ["PATH"].split(os.pathsep) if part != mine]
    kept = {name: text for name, text in os.environ.items() if name.startswith(("PIP_", "SSL_"))}
    proxies = {name: text for name, text in os.environ.items() if name.lower().endswith("_proxy")}
    path_text = os.pathsep.join([str(programs), *path])
    return Published(
        source, {**kept, **proxies, "PATH": path_text, "HOME": str(home), "NO_COLOR": "1"}
    )


@pytest.fixture
def forge() -> Iterator[FakeForge]:
    with a_forge() as made:
        yield made


@pytest.fixture
def team(tmp_path: Path) -> Path:
    """A team's repository at a harmless change of its branch ``main``."""
    folder = tmp_path / "team"
    write_blueprint(find_template("hybrid-h100"), folder / "site", {})
    git(folder, "init", "--quiet", "--initial-branch=main")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message=base")
    git(folder, "switch", "--quiet", "--create=change")
    git(folder, "remote", "add", "origin", str(folder))
    commit(folder, lambda text: f"{text}# a word\n")
    return folder


def overload(folder: Path) -> None:
    """Commit one node more in each rack, which is full."""
    racks = 'racks: "c[01-08]", per_rack: '
    commit(folder, lambda text: text.replace(f"{racks}4", f"{racks}5"))


def on_github(published: Published, team: Path, forge: FakeForge) -> tuple[Job, int, str]:
    """The job, its exit code and its result."""
    head = git(team, "rev-parse", "HEAD")
    home = Path(published.environment["HOME"])
    environment = github_environment(home, published.environment["PATH"], forge, head)
    context = {
        "github.event_name": "pull_request",
        "github.event.pull_request.base.sha": git(team, "rev-parse", "main"),
        "github.event.pull_request.head.repo.full_name": "o/r",
        "github.event.pull_request.updated_at": NOON,
        "github.repository": "o/r",
        "github.token": forge.token,
    }
    job = Job(
        team, team.parent / f"runner-{head}", {**published.environment, **environment}, context
    )
    code, outputs = job.action(published.source / "action.yml", blueprint=BLUEPRINT, sarif="upload")
    return job, code, outputs["result"]


def test_action_installs_itself_and_refuses_a_rack_that_is_too_full(
    published: Published, team: Path, forge: FakeForge
) -> None:
    overload(team)
    job, code, result = on_github(published, team, forge)
    assert (code, result) == (5, "refused"), job.log
    assert job.ran == ["Install", "Compare", "Check", "Comment", "Upload", "Verdict"]
    program = shutil.which("rackwright", path=job.environment["PATH"])
    assert program is not None
    assert Path(program).is_relative_to(job.temporary)
    (comment,) = forge.bodies
    assert " blocking finding" in comment.splitlines()[1]
    assert "| Before | After | Limit |" in comment
    assert len(forge.uploads) == 1
    assert f"::error file={BLUEPRINT},line=" in job.log
    assert forge.token not in job.log


def test_action_says_which_python_it_needs(
    published: Published, team: Path, forge: FakeForge
) -> None:
    old = team.parent / "old-python"
    old.write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
    old.chmod(0o755)
    environment = github_environment(team.parent, published.environment["PATH"], forge, "0" * 40)
    job = Job(team, team.parent / "runner", {**published.environment, **environment}, {})
    code, _ = job.action(published.source / "action.yml", blueprint=BLUEPRINT, python=str(old))
    assert code == 2, job.log
    assert job.ran == ["Install"]
    assert "::error title=rackwright::Python 3.11 or newer is needed" in job.log


def on_gitlab(
    published: Published, team: Path, forge: FakeForge, source: str
) -> subprocess.CompletedProcess[str]:
    pipeline = Pipeline(component_with(blueprint=BLUEPRINT, source=source))
    given = {
        **published.environment,
        "CI_API_V4_URL": f"{forge.address}/api/v4",
        "CI_MERGE_REQUEST_IID": "7",
        "CI_MERGE_REQUEST_SOURCE_PROJECT_ID": "o/r",
        "CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main",
        "CI_PIPELINE_CREATED_AT": NOON,
        "CI_PROJECT_DIR": str(team),
        "CI_PROJECT_ID": "o/r",
        "GITLAB_TOKEN": forge.token,
    }
    return pipeline.run("rackwright-check", team, given)


def test_component_installs_its_commit_and_passes_a_harmless_change(
    published: Published, team: Path, forge: FakeForge
) -> None:
    source = f"{published.source.as_uri()}@{published.commit}"
    # The job must not run a program that the change itself has committed.
    (team / ".rackwright/venv/bin").mkdir(parents=True)
    (team / ".rackwright/venv/bin/rackwright").write_text("#!/bin/sh\nexit 0\n", encoding="utf-8")
    done = on_gitlab(published, team, forge, source)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "atlas passes" in (team / "reports/comment.md").read_text(encoding="utf-8")
    for name in ("junit.xml", "codequality.json", "report.sarif", "report.json"):
        assert (team / "reports" / name).stat().st_size > 0
    assert len(forge.bodies) == 1
    assert forge.token not in done.stdout + done.stderr


@pytest.mark.parametrize("words", ["main", "0123abc", ""])
def test_component_installs_no_branch(
    published: Published, team: Path, forge: FakeForge, words: str
) -> None:
    done = on_gitlab(published, team, forge, f"{published.source.as_uri()}@{words}")
    assert done.returncode == 2
    assert "the input source does not end with @COMMIT" in done.stdout
    assert forge.bodies == []
