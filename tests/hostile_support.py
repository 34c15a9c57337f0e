"""A team's repository, to which tests write pull requests of somebody hostile."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ci_team import git
from cli_support import Ended, run_here
from rackwright.render.blueprints import find_template, write_blueprint

MEMORY = 1536 * 1024 * 1024
"""Address space in bytes; a check of the example takes a third of it."""
BLUEPRINT = "demo/blueprint.yaml"


@dataclass(frozen=True)
class Repository:
    """A team's repository; what a test writes to it is a pull request that is checked out.

    Attributes:
        top: its folder.
        limited: whether commands run as the real program, under the kernel's limit of memory, and
            not in this process.
    """

    top: Path
    limited: bool = False

    @property
    def file(self) -> Path:
        return self.top / BLUEPRINT

    def git(self, *arguments: str) -> None:
        git(self.top, *arguments)

    def change(self, old: str, new: str) -> None:
        text = self.file.read_text(encoding="utf-8")
        assert old in text
        self.file.write_text(text.replace(old, new, 1), encoding="utf-8")

    def run(self, *arguments: str) -> Ended:
        return (_run_limited if self.limited else run_here)(self.top, *arguments)

    def check(self, *arguments: str) -> Ended:
        return self.run("check", "--isolated", *(arguments or (BLUEPRINT,)))

    def diff(self, *arguments: str) -> Ended:
        return self.run("diff", "--isolated", *(arguments or ("main", BLUEPRINT)))


def a_repository(top: Path, *, limited: bool = False) -> Repository:
    """A team's repository in the new folder ``top``, with one commit on ``main``."""
    folder, _ = _first_commit()
    shutil.copytree(folder, top)
    return Repository(top, limited)


@cache
def _first_commit() -> tuple[Path, tempfile.TemporaryDirectory[str]]:
    """A folder to copy, and what removes it when the tests end."""
    made = tempfile.TemporaryDirectory()
    top = Path(made.name) / "team"
    write_blueprint(find_template("hybrid-h100"), top / "demo", {})
    git(top, "init", "--quiet", "--initial-branch=main")
    git(top, "add", ".")
    git(top, "commit", "--quiet", "--message", "first")
    return top, made


def _run_limited(folder: Path, *arguments: str) -> Ended:
    done = subprocess.run(
        [sys.executable, "-m", "rackwright", *arguments],
        cwd=folder,
        env={**os.environ, "NO_COLOR": "1"},
        preexec_fn=_limit,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=300,  # what never ends; how much work a text may be is counted in unit tests
        check=False,
    )
    return Ended(done.returncode, done.stdout.decode(), done.stderr.decode())


def _limit() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
