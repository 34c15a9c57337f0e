"""Generated files are touched only where something changes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from rackwright.files import write_changed


def mark(path: Path) -> tuple[int, int]:
    found = path.lstat()
    return found.st_ino, found.st_mtime_ns


def test_a_file_that_is_right_is_not_touched(tmp_path: Path) -> None:
    path = tmp_path / "a"
    assert write_changed(path, "höst\n", 0o640)
    os.utime(path, ns=(1, 1))
    before = mark(path)
    assert not write_changed(path, "höst\n".encode(), 0o640)
    assert mark(path) == before


@pytest.mark.parametrize(("content", "mode"), [("two", 0o644), ("one", 0o600), ("one!", 0o644)])
def test_content_and_mode_are_what_is_wanted(tmp_path: Path, content: str, mode: int) -> None:
    path = tmp_path / "a"
    write_changed(path, "one", 0o644)
    before = mark(path)
    with path.open() as reader:
        assert write_changed(path, content, mode)
        assert reader.read() == "one", "who reads it has the former file as a whole"
    assert mark(path) != before
    assert (path.read_text(), path.stat().st_mode & 0o7777) == (content, mode)
    assert [one.name for one in tmp_path.iterdir()] == ["a"]


def test_the_mask_of_the_process_does_not_matter(tmp_path: Path) -> None:
    before = os.umask(0o077)
    try:
        write_changed(tmp_path / "a", "x", 0o644)
    finally:
        os.umask(before)
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o644


def test_a_link_is_replaced_and_not_followed(tmp_path: Path) -> None:
    other, path = tmp_path / "other", tmp_path / "a"
    other.write_text("one")
    path.symlink_to(other)
    assert write_changed(path, "one")
    assert not path.is_symlink()
    assert write_changed(path, "two")
    assert other.read_text() == "one"


def test_the_former_file_stays_when_the_new_one_cannot_be_put_there(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.mkdir()
    (path / "inside").write_text("x")
    with pytest.raises(OSError, match="a"):
        write_changed(path, "one")
    assert [one.name for one in tmp_path.iterdir()] == ["a"], "nothing half-written stays"
