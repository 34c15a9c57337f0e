"""What several tests of packs and of approval start from."""

from __future__ import annotations

from pathlib import Path

import pytest

from policy_team import Team, a_team


@pytest.fixture
def team(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Team:
    """A team whose own pack holds a rule that its blueprint violates; the place is its repository."""
    made = a_team(tmp_path, capsys)
    monkeypatch.chdir(made.top)
    return made
