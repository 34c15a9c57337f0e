"""Programs of npm that tests ask, each a folder of tests with its own lock, installed once and kept."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

from rackwright.files import cache_folder
from rackwright.locks import turn
from suites import ROOT

NPM, NODE = shutil.which("npm"), shutil.which("node")
QUIET = ("--no-audit", "--no-fund", "--no-update-notifier", "--ignore-scripts", "--omit=dev")
PATIENCE_S = 900.0
"""Seconds that an installation or an answer may take on a busy machine."""


def ask(name: str, program: str, question: Any) -> Any:
    """What a program of the folder ``tests/NAME`` answers to a question, both as plain data.

    Raises:
        AssertionError: it ends with an error, or nothing can be installed.
    """
    command = [str(NODE), str(installed(name) / program)]
    return json.loads(_run(command, text=json.dumps(question)))


def installed(name: str) -> Path:
    """The folder ``tests/NAME`` with its packages, in the versions and with the digests of its ``package-lock.json``.

    Raises:
        AssertionError: nothing can be installed.
    """
    source = ROOT / "tests" / name
    files = sorted(path for path in source.iterdir() if path.is_file())
    digest = hashlib.sha256()
    for path in files:
        digest.update(f"{path.name}\0".encode() + path.read_bytes() + b"\0")
    kept = cache_folder("tests")
    kept.mkdir(parents=True, exist_ok=True)
    folder = kept / f"{name}-{digest.hexdigest()[:12]}"
    with turn(kept / f"{name}.lock"):
        if not folder.exists():
            unfinished = folder.with_suffix(".new")
            shutil.rmtree(unfinished, ignore_errors=True)
            unfinished.mkdir()
            for path in files:
                shutil.copy(path, unfinished)
            _run([str(NPM), "ci", *QUIET], folder=unfinished)
            for old in kept.glob(f"{name}-*"):
                if old != unfinished:
                    shutil.rmtree(old, ignore_errors=True)
            unfinished.rename(folder)
    return folder


def _run(command: list[str], folder: Path | None = None, text: str | None = None) -> str:
    done = subprocess.run(
        command,
        cwd=folder,
        input=text,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_S,
    )
    assert done.returncode == 0, f"{command} ended with {done.returncode}\n{done.stderr}"
    return done.stdout
