"""Positions relative to the top of the repository."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from rackwright.errors import Location
from rackwright.policy.engine import Report
from rackwright.report.paths import relative_path, relative_to, repository_root
from report_factories import CRASH, EXCEPTED, FAIL


def test_the_repository_is_the_nearest_folder_with_git(tmp_path: Path) -> None:
    (tmp_path / "a/b").mkdir(parents=True)
    assert repository_root(tmp_path / "a/b") != tmp_path
    (tmp_path / ".git").write_text("gitdir: elsewhere")  # as in a worktree
    assert repository_root(tmp_path / "a/b") == tmp_path


def test_paths_are_from_the_root_whatever_the_folder(tmp_path: Path) -> None:
    root, cwd = tmp_path, tmp_path / "sites"
    cwd.mkdir()
    assert relative_path("a.yaml", root=root, cwd=cwd) == "sites/a.yaml"
    assert relative_path("../a.yaml", root=root, cwd=cwd) == "a.yaml"
    assert relative_path(str(cwd / "x/../a.yaml"), root=root, cwd=cwd) == "sites/a.yaml"
    assert relative_path("/elsewhere/a.yaml", root=root, cwd=cwd) == "/elsewhere/a.yaml"


def test_every_position_moves(tmp_path: Path) -> None:
    there = replace(FAIL, location=Location("a.yaml", 3, 4))
    moved = relative_to(
        Report("atlas", (there, CRASH), 2), root=tmp_path, cwd=tmp_path / "sites"
    ).results
    assert [result.location for result in moved] == [Location("sites/a.yaml", 3, 4), None]


def test_notices_move_and_those_of_another_revision_stay(tmp_path: Path) -> None:
    moved = relative_to(EXCEPTED, root=tmp_path, cwd=tmp_path / "sites").hygiene
    assert moved
    files = [notice.location.file for notice in moved.notices if notice.location]
    assert files == ["sites/policies/waivers.yaml", "main:policies/waivers.yaml"]
