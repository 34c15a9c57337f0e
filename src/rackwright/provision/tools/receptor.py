"""Receptor, which carries runs of Ansible to other machines: where it is, and how it is built."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

from rackwright.errors import ExternalToolError
from rackwright.provision.locks import turn
from rackwright.provision.tools import gobuild
from rackwright.provision.tools.folder import (
    RECEPTOR,
    commit,
    damaged,
    installed,
    read_manifest,
    staging,
    tools_dir,
)

COMPILERS = ("go1.20", "/usr/lib/go-1.20/bin/go", "go1.19", "/usr/lib/go-1.19/bin/go", "go")
"""Where a compiler that builds Receptor may be: its own name, Debian's folder, or the default."""

_FITTING = re.compile(r"go version go1\.(19|20)(\.\d+)? ")
"""Receptor's quic library refuses 1.21 and newer."""

_ANSWER_WITHIN_S = 30


def find_receptor() -> Path | None:
    """The program ``receptor``: that of PATH, else the one in the tools folder, else None."""
    if (found := shutil.which(RECEPTOR)) is not None:
        return Path(found).absolute()
    folder = tools_dir()
    return installed(folder, read_manifest(folder), RECEPTOR)


def need_receptor() -> Path:
    """The program ``receptor``.

    Raises:
        ExternalToolError: there is none.
    """
    found = find_receptor()
    if found is None:
        raise ExternalToolError(
            "'receptor' is not installed", hint="run 'rackwright tools install receptor'"
        )
    return found


def install_receptor(*, progress: gobuild.Progress) -> Path:
    """The program ``receptor``, built into the tools folder where it was missing.

    Two calls at once build it once, and a call that is killed leaves nothing that looks finished.

    Raises:
        ExternalToolError: there is no fitting compiler, or the build failed.
    """
    folder = tools_dir()
    if (found := _sound(folder)) is not None:
        return found
    try:
        with turn(folder / "lock", waiting=lambda: progress("waiting for another installation")):
            if (found := _sound(folder)) is not None:
                return found
            compiler = find_compiler()
            with staging(folder) as workspace:
                programs = workspace / "receptor-bin"
                programs.mkdir()
                gobuild.build_receptor(compiler, workspace, programs, progress)
                commit(folder, programs, read_manifest(folder))
    except OSError as error:
        raise ExternalToolError(
            f"the tools folder '{folder}' cannot be written: {error.strerror or error}",
            hint="set RACKWRIGHT_TOOLS_DIR to a folder that you can write",
        ) from error
    return folder / "bin" / RECEPTOR


def find_compiler() -> str:
    """A ``go`` that builds Receptor.

    Raises:
        ExternalToolError: there is none.
    """
    for name in COMPILERS:
        path = shutil.which(name)
        if path is not None and _FITTING.match(_version(path)):
            return path
    raise ExternalToolError(
        f"Receptor {gobuild.receptor_version()} is built by Go 1.19 or 1.20, which is not installed",
        hint=gobuild.RECEPTOR_HINT,
    )


def _sound(folder: Path) -> Path | None:
    found = find_receptor()
    if found is not None and found.parent == folder / "bin":
        return None if RECEPTOR in damaged(folder, read_manifest(folder)) else found
    return found


def _version(path: str) -> str:
    try:
        done = subprocess.run(
            [path, "version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_ANSWER_WITHIN_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout
