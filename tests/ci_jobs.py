"""A team's repository on a forge, and its jobs, run from an empty runner."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ci_gitlab import Pipeline
from ci_runner import Job
from ci_team import (
    BLUEPRINT,
    bare_machine,
    git,
    github_environment,
    need_nothing_else,
    of_index,
    write_ci_files,
)
from forge_fake import FakeForge

ROLE = "arn:aws:iam::123456789012:role/rackwright"
PROJECT = {
    "CI_COMMIT_BRANCH": "main",
    "CI_DEFAULT_BRANCH": "main",
    "CI_JOB_ID": "5",
    "CI_PIPELINE_SOURCE": "push",
    "AWS_TOKEN": "token-for-sts.amazonaws.com",
}


@dataclass
class Team:
    """A team's repository on a forge, and runners that have nothing but Python and git."""

    origin: Path
    machine: dict[str, str]
    state: Path
    forge: FakeForge
    jobs: int = 0

    @property
    def head(self) -> str:
        """The commit that a job is about."""
        return git(self.origin, "rev-parse", "HEAD")

    def github(
        self, workflow: str, name: str, artefacts: Path | None = None, /, **context: str
    ) -> tuple[int | None, Job]:
        """Run a job of a workflow on the head; its exit code, None when it is skipped."""
        self.jobs += 1
        folder = self.origin.parent / f"github-{self.jobs}"
        folder.mkdir()
        environment = {
            **github_environment(folder, "", self.forge, self.head),
            "ACTIONS_ID_TOKEN_REQUEST_URL": f"{self.forge.address}/identity?api=1",
            "ACTIONS_ID_TOKEN_REQUEST_TOKEN": self.forge.token,
            **self.machine,
        }
        seen = {
            "github.sha": self.head,
            "github.repository": "o/r",
            "github.event.repository.default_branch": "main",
            "vars.RACKWRIGHT_TARGET": "local",
            "vars.RACKWRIGHT_STATE": str(self.state),
            **context,
        }
        job = Job(folder / "work", folder / "temp", environment, seen, self.origin, artefacts)
        text = (self.origin / f".github/workflows/rackwright-{workflow}.yml").read_text()
        return job.workflow(text, name), job

    def gitlab(self, name: str, folder: Path, **variables: str) -> tuple[int, str]:
        """Run a job of the pipeline in ``folder``; its exit code and what it wrote."""
        pipeline = Pipeline((self.origin / "rackwright.gitlab-ci.yml").read_text())
        given = {
            "CI_PROJECT_DIR": str(folder),
            "RACKWRIGHT_TARGET": "local",
            "RACKWRIGHT_STATE": str(self.state),
        }
        done = pipeline.run(name, folder, {**self.machine, **PROJECT, **given, **variables})
        return done.returncode, done.stdout + done.stderr

    def clone(self) -> Path:
        """What a runner of GitLab has checked out: the head, and every branch of the origin."""
        self.jobs += 1
        folder = self.origin.parent / f"gitlab-{self.jobs}"
        git(self.origin.parent, "clone", "--quiet", str(self.origin), str(folder))
        return folder


def a_team(folder: Path, state: Path, forge: FakeForge, blueprint: str) -> Team:
    """A team with ``blueprint`` and the CI files on its branch ``main``."""
    origin = folder / "team"
    (origin / BLUEPRINT).parent.mkdir(parents=True)
    (origin / BLUEPRINT).write_text(blueprint)
    machine = bare_machine(folder)
    write_ci_files(origin, of_index(machine))
    need_nothing_else(origin)
    git(origin, "init", "--quiet", "--initial-branch=main")
    git(origin, "add", "--all")
    git(origin, "commit", "--quiet", "--message=base")
    return Team(origin, machine, state, forge)
