"""Installation of uv by the role ``skypilot``: which wheel root takes from a folder that hosts share."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="the wheels belong to root")
PROGRAM = Path(__file__).parents[3] / "roles/skypilot/files/uv_of_wheel.py"
MACHINE = os.uname().machine


def add_wheel(folder: Path, release: str, content: str = "") -> str:
    """Write a wheel of uv; return its digest."""
    path = folder / f"uv-{release}-py3-none-manylinux_2_17_{MACHINE}.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        wheel.writestr(f"uv-{release}.data/scripts/uv", content or f"uv {release}")
    path.chmod(0o644)
    return f"sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "wheels"
    made.mkdir()
    made.chmod(0o755)
    return made


def install(folder: Path, *words: str) -> tuple[str, str]:
    """Return the content of the installed program, and what the installation prints."""
    program = folder.parent / "uv-program"
    done = subprocess.run(
        [sys.executable, PROGRAM, folder, program, *words],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode == 0) == (done.stderr == "")
    return program.read_text() if program.is_file() else "", (done.stdout or done.stderr).strip()


def test_the_pinned_release_of_uv_is_installed_and_not_the_newest(folder: Path) -> None:
    digest = add_wheel(folder, "0.9.8")
    add_wheel(folder, "0.9.8rc1")
    add_wheel(folder, "0.10.0")
    assert install(folder, "0.9.8", digest, "--check") == ("", "changed")
    assert install(folder, "0.9.8", "sha256:" + 64 * "0", digest) == ("uv 0.9.8", "changed")
    assert install(folder, "0.9.8", digest) == ("uv 0.9.8", "unchanged")


def test_a_wheel_of_uv_with_another_digest_is_refused(folder: Path) -> None:
    digest = add_wheel(folder, "0.9.8")
    other = add_wheel(folder, "0.9.8", "#!/bin/sh")
    message = f"the wheel of uv 0.9.8 in '{folder}' has {other}, not {digest}"
    for check in ((), ("--check",)):
        assert install(folder, "0.9.8", digest, *check) == ("", message)


def test_a_release_of_uv_without_a_wheel_is_refused(folder: Path) -> None:
    digest = add_wheel(folder, "0.9.8rc1")
    assert install(folder, "0.9.8", digest) == (
        "",
        f"'{folder}' has no wheel of uv 0.9.8 for {MACHINE}",
    )


@pytest.mark.parametrize(("owner", "mode"), [(0, 0o775), (0, 0o757), (65_534, 0o755)])
@pytest.mark.parametrize("wheel", ["", "pip-1.0-py3-none-any.whl"])
def test_wheels_that_others_than_root_can_write_are_refused(
    folder: Path, wheel: str, owner: int, mode: int
) -> None:
    digest = add_wheel(folder, "0.9.8")
    path = folder / wheel
    if wheel:
        path.touch()
    path.chmod(mode)
    os.chown(path, owner, 0)
    program, message = install(folder, "0.9.8", digest)
    assert program == ""
    assert message == (
        f"'{path}' belongs to user {owner} with mode {mode:04o}: root must own it and only root may write it"
    )
