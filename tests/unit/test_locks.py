"""Locks: one process at a time."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

import pytest

from rackwright.errors import ExternalToolError
from rackwright.locks import exclusive, turn


def test_a_second_holder_is_refused_with_the_first_ones_pid(tmp_path: Path) -> None:
    with (
        exclusive(tmp_path / "lock", what="stack 'x'"),
        pytest.raises(ExternalToolError, match=f"process {os.getpid()}"),
        exclusive(tmp_path / "lock", what="stack 'x'"),
    ):
        pass
    with exclusive(tmp_path / "lock", what="stack 'x'"):
        pass


def test_the_file_names_its_holder_after_others_were_refused(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with exclusive(path, what="stack 'x'"):
        for _ in range(2):
            with (
                pytest.raises(ExternalToolError, match="stack 'x' is being changed by process"),
                exclusive(path, what="stack 'x'"),
            ):
                pass
        assert path.read_text() == str(os.getpid())


def test_a_lock_that_an_older_revision_holds_counts(tmp_path: Path) -> None:
    """It took ``flock`` itself."""
    path = tmp_path / "lock"
    with path.open("a+") as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        with (
            pytest.raises(ExternalToolError, match="process unknown"),
            exclusive(path, what="stack 'x'"),
        ):
            pass


def test_waiting_process_reports_it_and_is_next(tmp_path: Path) -> None:
    path, said = tmp_path / "lock", []
    holder = path.open("a+")
    fcntl.flock(holder, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def waiting() -> None:
        said.append("waiting")
        holder.close()

    with turn(path, waiting=waiting):
        assert said == ["waiting"]
    with turn(path, waiting=waiting):
        assert said == ["waiting"], "nobody held it"
