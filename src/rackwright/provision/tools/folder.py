"""The tools folder: what Rackwright installed there, with its checksums.

``bin/`` holds the programs and ``manifest.json`` says which of them are complete. Programs are
moved into place first and the manifest is replaced last, so an installation that was killed
never looks finished.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from rackwright.folders import cache_folder

SCHEMA = "rackwright.tools/v1"
CLI = "pulumi"
LANGUAGE_HOST = "pulumi-language-python"
RECEPTOR = "receptor"
_STAGING = ".staging-"


@dataclass(frozen=True)
class InstalledFile:
    """A program as it was installed."""

    sha256: str
    size: int


@dataclass(frozen=True)
class Manifest:
    """What the tools folder holds.

    Attributes:
        pulumi: version of the CLI, or None where only its language host was installed.
        installed_by: ``vendor`` or ``built``.
        files: programs in ``bin`` by name.
    """

    pulumi: str | None = None
    installed_by: str = "built"
    files: Mapping[str, InstalledFile] = field(default_factory=dict)


def tools_dir() -> Path:
    """The folder of programs that Rackwright installs: ``$RACKWRIGHT_TOOLS_DIR`` or the cache."""
    if chosen := os.environ.get("RACKWRIGHT_TOOLS_DIR"):
        return Path(chosen).absolute()
    return cache_folder("tools")


def read_manifest(folder: Path) -> Manifest:
    """The manifest of ``folder``; an empty one where it is missing or damaged."""
    try:
        document: dict[str, Any] = json.loads((folder / "manifest.json").read_text("utf-8"))
        if document["schema"] != SCHEMA:
            return Manifest()
        return Manifest(
            pulumi=document["pulumi"],
            installed_by=document["installed_by"],
            files={name: InstalledFile(**entry) for name, entry in document["files"].items()},
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return Manifest()


def installed(folder: Path, manifest: Manifest, name: str) -> Path | None:
    """The path of the program ``name``, or None unless it is there with the recorded size."""
    path = folder / "bin" / name
    entry = manifest.files.get(name)
    try:
        complete = entry is not None and path.stat().st_size == entry.size
    except OSError:
        return None
    return path if complete and os.access(path, os.X_OK) else None


def damaged(folder: Path, manifest: Manifest) -> tuple[str, ...]:
    """Names of the programs whose content is not what was installed."""
    return tuple(
        name
        for name, entry in sorted(manifest.files.items())
        if not (folder / "bin" / name).is_file() or _sha256(folder / "bin" / name) != entry.sha256
    )


@contextmanager
def staging(folder: Path) -> Iterator[Path]:
    """A folder beside ``bin`` to prepare programs in; those of killed runs are removed.

    Hold :func:`locked` meanwhile: only then is every other staging folder known to be dead.
    """
    for dead in folder.glob(f"{_STAGING}*"):
        _remove(dead)
    path = Path(tempfile.mkdtemp(prefix=_STAGING, dir=folder))
    try:
        yield path
    finally:
        _remove(path)


def commit(folder: Path, prepared: Path, manifest: Manifest) -> Manifest:
    """The manifest after every file of ``prepared`` was moved into ``bin``.

    Args:
        folder: the tools folder.
        prepared: a folder of finished programs on the same file system.
        manifest: version and origin to record; its files are kept and added to.
    """
    target = folder / "bin"
    target.mkdir(exist_ok=True)
    files = dict(manifest.files)
    for path in sorted(path for path in prepared.iterdir() if path.is_file()):
        path.chmod(0o755)
        files[path.name] = InstalledFile(sha256=_sha256(path), size=path.stat().st_size)
        path.replace(target / path.name)
    recorded = Manifest(manifest.pulumi, manifest.installed_by, files)
    document = {"schema": SCHEMA, **asdict(recorded)}
    draft = folder / f"{_STAGING}manifest.json"
    draft.write_text(json.dumps(document, indent=2, sort_keys=True) + "\n", "utf-8")
    draft.replace(folder / "manifest.json")
    return recorded


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
