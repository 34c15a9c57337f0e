"""Finding a Pulumi CLI of a supported version."""

from __future__ import annotations

import os
import platform
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from rackwright.provision.tools import gobuild
from rackwright.provision.tools.folder import CLI, LANGUAGE_HOST, Shelf, tools_dir

Origin = Literal["PATH", "tools", "vendor", "built"]
OLDEST = (3, 250, 0)
NEWEST = (4, 0, 0)
"""The first version that is not supported."""
SUPPORTED = ">=3.250,<4"
_VERSION = re.compile(r"v?(\d+)\.(\d+)\.(\d+)(?:[-+.][0-9A-Za-z.+-]*)?\Z")
_ANSWER_WITHIN_S = 30


@dataclass(frozen=True)
class PulumiTool:
    """A usable Pulumi CLI.

    Attributes:
        path: the executable.
        version: as it answers, without a leading ``v``.
        origin: where it was found, or how it was just installed.
        language_python: the Python language host that plain ``pulumi up`` needs, if there is one.
    """

    path: Path
    version: str
    origin: Origin
    language_python: Path | None


@dataclass(frozen=True)
class Candidate:
    """An executable called ``pulumi`` outside the tools folder; version None: it gave none."""

    path: Path
    origin: Origin
    version: str | None

    @property
    def supported(self) -> bool:
        """True if Rackwright supports the version."""
        return self.version is not None and is_supported(self.version)


def find_pulumi() -> PulumiTool | None:
    """Return the first Pulumi CLI of a supported version: PATH, ``$PULUMI_HOME/bin``, tools folder."""
    for candidate in candidates():
        # What stands in the tools folder is chosen by its key, also where PATH leads there.
        if not candidate.path.is_relative_to(tools_dir()) and candidate.supported:
            return PulumiTool(
                path=candidate.path,
                version=candidate.version or "",
                origin=candidate.origin,
                language_python=_language_host(candidate.path.parent),
            )
    return _find_installed()


def _find_installed() -> PulumiTool | None:
    """Return the CLI in the tools folder, or None unless it is complete."""
    for shelf in (vendor_shelf(), built_shelf()):
        path, version = shelf.program(), shelf.manifest.version
        if path is not None and version is not None and is_supported(version):
            return PulumiTool(path, version, "tools", _language_host(path.parent))
    return None


def own_shelves() -> tuple[Shelf, ...]:
    """Return the shelves of this version of Rackwright for the Pulumi CLI and its language host."""
    return vendor_shelf(), built_shelf(), host_shelf()


def vendor_shelf() -> Shelf:
    """Return the shelf of a vendor's CLI, which is named by its version."""
    return Shelf(tools_dir(), CLI, f"{gobuild.pinned_version()}-{platform.machine()}")


def built_shelf() -> Shelf:
    """Return the shelf of a CLI that was built."""
    return gobuild.cli().shelf(tools_dir())


def host_shelf() -> Shelf:
    """Return the shelf of a language host that was built."""
    return gobuild.language_host().shelf(tools_dir())


def candidates() -> Iterator[Candidate]:
    """Yield every ``pulumi`` on PATH and in Pulumi's home, in order; each one is asked its version."""
    seen = set()
    places: list[tuple[Path, Origin]] = [(folder, "PATH") for folder in _search_path()]
    home = os.environ.get("PULUMI_HOME") or str(Path.home() / ".pulumi")
    places.append((Path(home).absolute() / "bin", "vendor"))
    for folder, origin in places:
        path = folder / CLI
        if path not in seen and _is_executable(path):
            seen.add(path)
            yield Candidate(path, origin, version_of(path))


def version_of(path: Path) -> str | None:
    """Return the version that the CLI at ``path`` answers, or None where it answers none."""
    try:
        done = subprocess.run(
            [str(path), "version"],
            env={**os.environ, "PULUMI_SKIP_UPDATE_CHECK": "true"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_ANSWER_WITHIN_S,
            check=False,
        )
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return None
    answer = done.stdout.strip()
    return answer.removeprefix("v") if done.returncode == 0 and _VERSION.match(answer) else None


def is_supported(version: str) -> bool:
    """Return True if ``version`` is in the supported range."""
    match = _VERSION.match(version)
    if match is None:
        return False
    return OLDEST <= tuple(int(part) for part in match.groups()) < NEWEST


def _language_host(beside: Path) -> Path | None:
    """Return the language host beside the CLI, else on PATH, else in the tools folder."""
    elsewhere = (path for path in _search_path() if not path.is_relative_to(tools_dir()))
    for folder in (beside, *elsewhere):
        if _is_executable(folder / LANGUAGE_HOST):
            return folder / LANGUAGE_HOST
    return host_shelf().program()


def _search_path() -> list[Path]:
    entries = os.environ.get("PATH", "").split(os.pathsep)
    return [Path(entry).absolute() for entry in entries if entry]


def _is_executable(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)
