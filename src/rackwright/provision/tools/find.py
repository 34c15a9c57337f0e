"""Finding a Pulumi CLI of a supported version."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from rackwright.provision.tools.folder import (
    CLI,
    LANGUAGE_HOST,
    installed,
    read_manifest,
    tools_dir,
)

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
        """Whether Rackwright can drive it."""
        return self.version is not None and is_supported(self.version)


def find_pulumi() -> PulumiTool | None:
    """The first Pulumi CLI of a supported version: PATH, ``$PULUMI_HOME/bin``, tools folder."""
    own = tools_dir() / "bin"
    for candidate in candidates():
        if candidate.path.parent != own and candidate.supported:
            return PulumiTool(
                path=candidate.path,
                version=candidate.version or "",
                origin=candidate.origin,
                language_python=_language_host(candidate.path.parent),
            )
    return find_installed()


def find_installed() -> PulumiTool | None:
    """The CLI in the tools folder, or None unless it is complete."""
    folder = tools_dir()
    manifest = read_manifest(folder)
    path = installed(folder, manifest, CLI)
    if path is None or manifest.pulumi is None or not is_supported(manifest.pulumi):
        return None
    return PulumiTool(path, manifest.pulumi, "tools", _language_host(path.parent))


def candidates() -> Iterator[Candidate]:
    """Every ``pulumi`` on PATH and in Pulumi's home, in order; each one is asked its version."""
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
    """The version that the CLI at ``path`` answers, or None where it answers none."""
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
    """Whether ``version`` lies within the supported range."""
    match = _VERSION.match(version)
    if match is None:
        return False
    return OLDEST <= tuple(int(part) for part in match.groups()) < NEWEST


def _language_host(beside: Path) -> Path | None:
    """The language host beside the CLI, else on PATH, else in the tools folder."""
    for folder in (beside, *_search_path()):
        if _is_executable(folder / LANGUAGE_HOST):
            return folder / LANGUAGE_HOST
    folder = tools_dir()
    return installed(folder, read_manifest(folder), LANGUAGE_HOST)


def _search_path() -> list[Path]:
    entries = os.environ.get("PATH", "").split(os.pathsep)
    return [Path(entry).absolute() for entry in entries if entry]


def _is_executable(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)
