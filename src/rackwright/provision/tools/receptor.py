"""Receptor, which carries runs of Ansible to other machines: where it is, and how it is built."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from rackwright.errors import ExternalToolError
from rackwright.provision.tools import gobuild
from rackwright.provision.tools.built import install_built
from rackwright.provision.tools.folder import RECEPTOR, tools_dir
from rackwright.provision.tools.go import Progress, compiler_version

COMPILERS = ("go1.20", "/usr/lib/go-1.20/bin/go", "go1.19", "/usr/lib/go-1.19/bin/go", "go")
"""Where a compiler that builds Receptor may be: its own name, Debian's folder, or the default."""

_FITTING = re.compile(r"go1\.(19|20)(\.\d+)? ")
"""Receptor's quic library refuses 1.21 and newer."""


def find_receptor() -> Path | None:
    """The program ``receptor``: that of PATH, else the one in the tools folder, else None."""
    if (found := shutil.which(RECEPTOR)) is not None:
        return Path(found).absolute()
    return gobuild.receptor().shelf(tools_dir()).program()


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


def install_receptor(*, progress: Progress) -> Path:
    """The program ``receptor``, built into the tools folder where there is none on PATH.

    Raises:
        ExternalToolError: there is no fitting compiler, or the build failed.
    """
    if (found := shutil.which(RECEPTOR)) is not None:
        return Path(found).absolute()
    return install_built(gobuild.receptor(), tools_dir(), find_compiler, progress)


def find_compiler() -> str | None:
    """A ``go`` that builds Receptor, or None."""
    for name in COMPILERS:
        path = shutil.which(name)
        if path is not None and _FITTING.match(compiler_version(path) or ""):
            return path
    return None
