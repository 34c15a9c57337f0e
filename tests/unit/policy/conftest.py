"""What several tests of packs and of approval start from."""

from __future__ import annotations

from pathlib import Path

import pytest

from ci_team import git
from policy_team import Team, a_team
from pull_request import Pull


@pytest.fixture
def team(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Team:
    """A team whose own pack holds a rule that its blueprint violates; the place is its repository."""
    made = a_team(tmp_path, capsys)
    monkeypatch.chdir(made.top)
    return made


@pytest.fixture
def pull(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Pull:
    top = tmp_path / "team"
    git(tmp_path, "init", "--quiet", "--initial-branch=main", str(top))
    monkeypatch.chdir(top)
    return Pull(top, capsys)
