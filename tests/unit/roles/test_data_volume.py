"""How the files of a folder come onto a data volume: whole, once, and never an old copy for a newer one."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from collection_support import ROOT

PROGRAM = ROOT / "roles/data_volume/files/place_folder.sh"


class Place:
    """A folder of a host and a volume, both in a folder of the test."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "spool"
        self.volume = folder / "volume"
        self.volume.mkdir()
        self.programs = folder / "programs"
        self.programs.mkdir()

    def put(self, *, ok: bool = True) -> str:
        """Run the program; what it says on failure."""
        done = subprocess.run(
            ["/bin/sh", PROGRAM, self.path, self.volume, "spool"],
            env={"PATH": f"{self.programs}:{os.environ['PATH']}"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode == 0) is ok, done.stderr
        return done.stderr

    def fails(self, name: str, when: str) -> Path:
        """Let a program fail where ``when``, a test of sh, holds of its arguments."""
        stand_in = self.programs / name
        real = next(
            found
            for folder in os.environ["PATH"].split(":")
            if (found := Path(folder) / name).exists()
        )
        stand_in.write_text(f'#!/bin/sh\nif {when}; then exit 1; fi\nexec {real} "$@"\n')
        stand_in.chmod(0o755)
        return stand_in

    @property
    def aside(self) -> list[Path]:
        """What of the host was put aside."""
        return sorted(self.path.parent.glob("spool.before-*"))


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def texts(folder: Path) -> dict[str, str]:
    return {one.name: one.read_text() for one in folder.iterdir()}


def test_files_of_the_host_are_copied_and_kept_aside(place: Place) -> None:
    place.path.mkdir(mode=0o700)
    (place.path / "job_state").write_text("jobs")
    place.put()
    assert texts(place.volume / "spool") == {"job_state": "jobs"}
    assert (place.volume / "spool").stat().st_mode & 0o777 == 0o700
    assert list(place.path.iterdir()) == []
    (kept,) = place.aside
    assert texts(kept) == {"job_state": "jobs"}
    assert sorted(one.name for one in place.volume.iterdir()) == ["spool"]


def test_a_host_without_the_folder_gets_an_empty_one(place: Place) -> None:
    place.put()
    assert list((place.volume / "spool").iterdir()) == []
    assert (place.path.is_dir(), place.aside) == (True, [])


def test_content_of_the_volume_decides(place: Place) -> None:
    (place.volume / "spool").mkdir()
    (place.volume / "spool/job_state").write_text("restored")
    place.path.mkdir()
    (place.path / "job_state").write_text("of the image")
    place.put()
    assert texts(place.volume / "spool") == {"job_state": "restored"}
    (kept,) = place.aside
    assert texts(kept) == {"job_state": "of the image"}


@pytest.mark.parametrize(
    ("program", "when"),
    [
        ("cp", 'test "$1" = -a'),
        ("mv", 'case "$2" in *.whole) true ;; *) false ;; esac'),
        ("mv", 'case "$2" in *.before-*) true ;; *) false ;; esac'),
    ],
    ids=["while it copies", "before the copy is whole", "before the host's are aside"],
)
def test_cut_off_before_the_host_lost_its_files_newer_ones_are_copied(
    place: Place, program: str, when: str
) -> None:
    place.path.mkdir()
    (place.path / "job_state").write_text("old")
    stand_in = place.fails(program, when)
    place.put(ok=False)
    assert texts(place.path) == {"job_state": "old"}
    # Its service goes on with the files of the host, as nothing is mounted over them.
    (place.path / "job_state").write_text("new")
    stand_in.unlink()
    place.put()
    assert texts(place.volume / "spool") == {"job_state": "new"}


@pytest.mark.parametrize(
    ("program", "when"),
    [("mkdir", 'test "$1" != -p'), ("mv", 'case "$1" in *.whole) true ;; *) false ;; esac')],
    ids=["before the folder is there again", "before the copy has its name"],
)
def test_cut_off_later_the_whole_copy_is_taken(place: Place, program: str, when: str) -> None:
    place.path.mkdir()
    (place.path / "job_state").write_text("jobs")
    stand_in = place.fails(program, when)
    place.put(ok=False)
    stand_in.unlink()
    place.put()
    assert texts(place.volume / "spool") == {"job_state": "jobs"}
    assert len(place.aside) == 1
