"""The file of journal and ledger: versions, locks and damage, each in words."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

import pytest

from rackwright.errors import ExternalToolError, StateError
from rackwright.nodelife import store
from rackwright.nodelife.store import Part, open_store, sole_controller, transaction

FIRST = Part("parts of a test", ("CREATE TABLE things (name TEXT) STRICT;",))
SECOND = Part(FIRST.name, (*FIRST.migrations, "ALTER TABLE things ADD COLUMN serial TEXT;"))


def write(path: Path, name: str, part: Part = FIRST) -> None:
    with open_store(path, [part]) as connection, transaction(connection):
        connection.execute("INSERT INTO things (name) VALUES (?)", (name,))


def names(path: Path, part: Part = FIRST) -> list[str]:
    with open_store(path, [part], create=False) as connection:
        return [row["name"] for row in connection.execute("SELECT name FROM things")]


def test_rows_outlive_the_process_and_a_migration(tmp_path: Path) -> None:
    path = tmp_path / "deep/life.sqlite"
    write(path, "gpu")
    write(path, "optic", SECOND)
    assert names(path, SECOND) == ["gpu", "optic"]
    assert path.stat().st_mode & 0o077 == 0


def test_newer_tables_are_refused_with_both_versions(tmp_path: Path) -> None:
    write(tmp_path / "life.sqlite", "gpu", SECOND)
    with pytest.raises(StateError, match=r"version 2 .* knows version 1"):
        names(tmp_path / "life.sqlite")


def test_a_part_that_is_not_asked_for_stays_as_it_is(tmp_path: Path) -> None:
    write(tmp_path / "life.sqlite", "gpu", SECOND)
    with open_store(tmp_path / "life.sqlite", [Part("other", ("CREATE TABLE o (x TEXT)",))]):
        pass
    assert names(tmp_path / "life.sqlite", SECOND) == ["gpu"]


@pytest.mark.parametrize("size", [0, 17, 100, 4096, 6000])
def test_a_cut_file_is_refused(tmp_path: Path, size: int) -> None:
    path = tmp_path / "life.sqlite"
    write(path, "gpu" * 10_000)
    os.truncate(path, size)
    with pytest.raises(StateError, match=r"life.sqlite' is damaged"):
        names(path)


def test_other_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "life.sqlite"
    path.write_text("not a database, but long enough to have what could be a header " * 20)
    with pytest.raises(StateError, match="damaged"):
        names(path)
    path.unlink()
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE somebody (x)")
    other.close()
    with pytest.raises(StateError, match="another program"):
        names(path)


def test_a_missing_file_is_no_empty_one(tmp_path: Path) -> None:
    with pytest.raises(StateError, match="does not exist"):
        names(tmp_path / "life.sqlite")


def test_a_held_file_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "BUSY_S", 0.1)
    path = tmp_path / "life.sqlite"
    write(path, "gpu")
    with (
        open_store(path, [FIRST]) as holder,
        transaction(holder),
        pytest.raises(ExternalToolError, match="held by another process"),
    ):
        write(path, "optic")
    assert names(path) == ["gpu"]


def test_an_error_inside_undoes_the_transaction(tmp_path: Path) -> None:
    path = tmp_path / "life.sqlite"
    write(path, "gpu")
    with open_store(path, [FIRST]) as connection:
        with pytest.raises(ZeroDivisionError), transaction(connection):  # noqa: PT012
            connection.execute("INSERT INTO things (name) VALUES ('optic')")
            raise ZeroDivisionError
        assert names(path) == ["gpu"]


def test_two_controllers_at_once_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "life.sqlite"
    with (
        sole_controller(path),
        pytest.raises(ExternalToolError, match=f"by process {os.getpid()}"),
        sole_controller(path),
    ):
        pass
