"""A team's repository, and what a job on it finds: shared by the tests of the CI files."""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path

from forge_fake import FakeForge
from rackwright import __version__
from rackwright.files import cache_folder
from rackwright.locks import turn
from rackwright.render.ci import write_ci
from rackwright.team.ci_source import InstallSource, parse_source

BLUEPRINT = "site/blueprint.yaml"
WHEEL = f"rackwright-{__version__}-py3-none-any.whl"
SOME_SOURCE = parse_source(f"index:rackwright=={__version__}", [f"sha256:{'0' * 64}"])
"""For tests that install nothing."""
_PYTHON = """\
#!/bin/sh
case "$#/$1/$2/$3" in
  4/-I/-m/venv) test -e "$4" || {{ mkdir -p "$(dirname "$4")"; exec cp -a {kept} "$4"; }} ;;
esac
exec {real} "$@"
"""
"""Copies an environment: to install pip in each takes longer than most jobs."""
_LAUNCHER = """
import os


def main():
    os.execv({python!r}, [{python!r}, "-m", "rackwright", *__import__("sys").argv[1:]])
"""


def git(folder: Path, *arguments: str) -> str:
    identity = [
        "-c",
        "user.name=ada",
        "-c",
        "user.email=ada@example.com",
        "-c",
        "commit.gpgsign=false",
    ]
    done = subprocess.run(
        ["git", *identity, *arguments], cwd=folder, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def write_ci_files(folder: Path, source: InstallSource = SOME_SOURCE) -> None:
    """The files of both forges, in which CI installs from ``source``."""
    write_ci("github", folder, BLUEPRINT, source)
    (folder / ".pre-commit-config.yaml").unlink()
    write_ci("gitlab", folder, BLUEPRINT, source)


def of_index(machine: dict[str, str]) -> InstallSource:
    """The package of the index of a bare machine, by its digest."""
    wheel = Path(machine["PIP_FIND_LINKS"]) / WHEEL
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    return parse_source(f"index:rackwright=={__version__}", [f"sha256:{digest}"])


def need_nothing_else(folder: Path) -> None:
    """Take what Rackwright needs out of the requirements: the index of a bare machine lacks it."""
    for name in (
        ".github/actions/rackwright-setup/requirements.txt",
        "rackwright-requirements.txt",
    ):
        path = folder / name
        lines = path.read_text().splitlines(keepends=True)
        (package,) = [line for line in lines if line.startswith("rackwright==")]
        path.write_text(package)


def commit(folder: Path, change: Callable[[str], str]) -> None:
    """Commit a change of the blueprint."""
    path = folder / BLUEPRINT
    text = path.read_text()
    path.write_text(change(text))
    assert path.read_text() != text
    git(folder, "commit", "--quiet", "--all", "--message=change")


def github_environment(home: Path, path: str, forge: FakeForge, commit: str) -> dict[str, str]:
    """The variables of a job of the request 7 on GitHub."""
    event = home / "event.json"
    event.write_text('{"pull_request": {"number": 7}}')
    return {
        "PATH": path,
        "HOME": str(home),
        "GITHUB_ACTIONS": "true",
        "GITHUB_API_URL": forge.address,
        "GITHUB_EVENT_NAME": "pull_request",
        "GITHUB_EVENT_PATH": str(event),
        "GITHUB_REF": "refs/pull/7/merge",
        "GITHUB_REPOSITORY": "o/r",
        "GITHUB_RUN_ID": "99",
        "GITHUB_SERVER_URL": "https://forge.example",
        "GITHUB_SHA": commit,
    }


def bare_machine(folder: Path) -> dict[str, str]:
    """Variables of a machine that has Python and git, and an index that has this Rackwright.

    What pip gets from the index starts the tree under test, with the libraries that are here: the
    installation is real, but nothing is downloaded. The Pulumi CLI is the one of this machine.
    """
    programs, index, home = (folder / name for name in ("bin", "index", "home"))
    for made in (programs, index, home):
        made.mkdir()
    python = programs / "python3"
    python.write_text(
        _PYTHON.format(
            kept=shlex.quote(str(_kept_environment())),
            real=shlex.quote(str(Path(sys.executable).resolve())),
        )
    )
    python.chmod(0o755)
    _write_wheel(index)
    mine = str(Path(sys.executable).parent)
    path = [part for part in os.environ["PATH"].split(os.pathsep) if part != mine]
    cache = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    kept_modules = (
        "ANSIBLE_CALLBACK_PLUGINS",
        "RACKWRIGHT_KEPT_MODULES",
    )  # else packed by each run
    inherited = ("PYTHONPATH", "RACKWRIGHT_TOOLS_DIR", *kept_modules)
    return {
        **{name: os.environ[name] for name in inherited if name in os.environ},
        "PATH": os.pathsep.join([str(programs), *path]),
        "HOME": str(home),
        # Sockets of ssh would stand below this home, whose path is too long for them.
        "ANSIBLE_SSH_CONTROL_PATH_DIR": f"{tempfile.gettempdir()}/rackwright-ssh",
        "XDG_CACHE_HOME": cache,
        "NO_COLOR": "1",
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(index),
    }


def _kept_environment() -> Path:
    """Return a virtual environment of this Python with nothing but pip in it, made once."""
    python = Path(sys.executable).resolve()
    key = hashlib.sha256(f"{python} {sys.version}".encode()).hexdigest()[:12]
    folder = cache_folder("tests") / f"venv-{key}"
    with turn(folder.with_suffix(".lock")):
        if not folder.exists():
            unfinished = folder.with_suffix(".new")
            shutil.rmtree(unfinished, ignore_errors=True)
            subprocess.run([python, "-I", "-m", "venv", unfinished], check=True)
            unfinished.rename(folder)
    return folder


def _write_wheel(index: Path) -> None:
    info = f"rackwright-{__version__}.dist-info"
    with zipfile.ZipFile(index / WHEEL, "w") as wheel:
        wheel.writestr("rackwright_launcher.py", _LAUNCHER.format(python=sys.executable))
        wheel.writestr(
            f"{info}/METADATA",
            f"Metadata-Version: 2.1\nName: rackwright\nVersion: {__version__}\n",
        )
        wheel.writestr(
            f"{info}/WHEEL",
            "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        )
        wheel.writestr(
            f"{info}/entry_points.txt",
            "[console_scripts]\nrackwright = rackwright_launcher:main\n",
        )
        wheel.writestr(f"{info}/RECORD", "")
