"""An interrupt while the command line is imported, and an ``init`` that cannot write all of its files."""

from __future__ import annotations

import errno
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from rackwright.cli import main
from rackwright.exit_codes import ExitCode
from rackwright.files import missing
from rackwright.templates import making

INTERRUPTED = """
import os, signal, sys


class Interrupt:
    def find_spec(self, name, path=None, target=None):
        if name == "rackwright.cli":
            os.kill(os.getpid(), signal.SIGINT)


sys.meta_path.insert(0, Interrupt())
from rackwright.__main__ import main

sys.argv = ["rackwright", "--version"]
sys.exit(main())
"""


def test_interrupt_during_imports_ends_without_a_traceback() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, check=False
    )
    assert ended.returncode == -signal.SIGINT
    assert (ended.stdout, ended.stderr) == ("", "")


SCHEMA = "one/site/.schemas/blueprint.schema.json"


def init(folder: Path, most: int) -> subprocess.CompletedProcess[str]:
    """Run ``init`` where no file may be larger than ``most`` bytes, as if the disk were full."""

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, resource.RLIM_INFINITY))

    return subprocess.run(
        [
            sys.executable,
            "-m",
            "rackwright",
            "init",
            "one/site",
            "--template",
            "hybrid-h100",
            "--example",
        ],
        cwd=folder,
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=limited,
    )


def test_init_on_a_full_disk_leaves_nothing_half_written(tmp_path: Path) -> None:
    ended = init(tmp_path, 32 << 10)
    assert ended.returncode == ExitCode.USAGE
    assert ended.stderr == f"error: '{SCHEMA}' cannot be written: file too large\n"
    assert list(tmp_path.iterdir()) == []
    assert init(tmp_path, resource.RLIM_INFINITY).returncode == ExitCode.CLEAN


def test_init_on_a_full_disk_keeps_what_was_there(tmp_path: Path) -> None:
    site = tmp_path / "one/site"
    (site / ".schemas").mkdir(parents=True)
    (site / "README.md").write_text("ours")
    assert init(tmp_path, 32 << 10).returncode == ExitCode.USAGE
    assert sorted(path.name for path in site.rglob("*")) == [".gitignore", ".schemas", "README.md"]


def test_init_that_keeps_no_record_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(folder: Path, kept: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", str(folder / "record"))

    monkeypatch.setattr(making, "write_kept", full)
    monkeypatch.chdir(tmp_path)
    assert main(["init", "site", "--template", "lab", "--example"]) == ExitCode.USAGE
    assert "'site/record' cannot be written: no space left" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_init_that_loses_a_race_leaves_the_files_of_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other one writes its files after this one has looked for them."""
    site = tmp_path / "site"

    def other_first(*paths: Path) -> list[Path]:
        found = missing(*paths)
        if not site.exists():
            site.mkdir()
            (site / "blueprint.yaml").write_text("theirs")
        return found

    monkeypatch.setattr(making, "missing", other_first)
    monkeypatch.chdir(tmp_path)
    assert main(["init", "site", "--template", "lab", "--example"]) == ExitCode.USAGE
    assert [path.read_text() for path in site.iterdir()] == ["theirs"]
