"""The tools folder: what Rackwright installed there, each program under the key of its recipe.

Versions of Rackwright that build a program differently have a shelf each, so that none of them
takes away what another one runs. ``bin/`` of a shelf holds the programs and ``manifest.json`` says
which of them are complete. Programs are moved into place first and the manifest is replaced last,
so an installation that was killed never looks finished.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from rackwright.errors import ExternalToolError
from rackwright.files import cache_folder
from rackwright.locks import turn

SCHEMA = "rackwright.tools/v2"
CLI = "pulumi"
LANGUAGE_HOST = "pulumi-language-python"
AWS_PROVIDER = "pulumi-resource-aws"
_STAGING = ".staging-"
_MANIFEST = "manifest.json"
_UNUSED_S = 90 * 24 * 3600
"""What nobody looked for in so long may go when something is installed."""


@dataclass(frozen=True)
class InstalledFile:
    """A program as it was installed."""

    sha256: str
    size: int


@dataclass(frozen=True)
class ToolManifest:
    """Content of a shelf.

    Attributes:
        key: what decided how it came out.
        compiler: version of the compiler that built it, or None where nobody built it here.
        version: the version that the program answers, where it was asked.
        files: programs in ``bin`` by name.
    """

    key: str
    compiler: str | None = None
    version: str | None = None
    files: Mapping[str, InstalledFile] = field(default_factory=dict)


@dataclass(frozen=True)
class Shelf:
    """The folder below ``root`` of what is installed under one key.

    Attributes:
        root: the tools folder.
        name: the program that it is about.
        key: what decides how the program comes out.
    """

    root: Path
    name: str
    key: str

    @property
    def folder(self) -> Path:
        """Folder of the shelf."""
        return self.root / f"{self.name}-{self.key}"

    @property
    def bin(self) -> Path:
        """The folder of its programs."""
        return self.folder / "bin"

    @property
    def manifest(self) -> ToolManifest:
        """Content of the shelf; empty if it is missing, damaged or made by another recipe."""
        manifest = _read(self.folder)
        return manifest if manifest.key == self.key else ToolManifest(self.key)

    def program(self) -> Path | None:
        """Return the program of the shelf, or None unless it has its size.

        To ask for it counts as use.
        """
        path = self.bin / self.name
        entry = self.manifest.files.get(self.name)
        try:
            complete = entry is not None and path.stat().st_size == entry.size
        except OSError:
            return None
        if not (complete and os.access(path, os.X_OK)):
            return None
        with suppress(OSError):  # another user's: who may not write there may not remove it either
            os.utime(self.folder / _MANIFEST)
        return path

    def damaged(self) -> tuple[str, ...]:
        """Return names of the programs whose content is not what was installed."""
        return tuple(
            name
            for name, entry in sorted(self.manifest.files.items())
            if not (self.bin / name).is_file() or _sha256(self.bin / name) != entry.sha256
        )

    def is_current(self, compiler: str | None) -> bool:
        """Return True if the program exists, is undamaged and was built by ``compiler``.

        Where that is None there is nothing to build with, and what another one built will do.
        """
        if self.program() is None or self.damaged():
            return False
        return compiler is None or self.manifest.compiler in (None, compiler)

    def put(
        self, prepared: Path, *, compiler: str | None = None, version: str | None = None
    ) -> None:
        """Move every file of ``prepared``, a folder on the same file system, onto the shelf."""
        self.bin.mkdir(parents=True, exist_ok=True)
        files = {}
        for path in sorted(path for path in prepared.iterdir() if path.is_file()):
            path.chmod(0o755)
            files[path.name] = InstalledFile(sha256=_sha256(path), size=path.stat().st_size)
            path.replace(self.bin / path.name)
        document = {"schema": SCHEMA, **asdict(ToolManifest(self.key, compiler, version, files))}
        draft = self.folder / f"{_STAGING}{_MANIFEST}"
        draft.write_text(json.dumps(document, indent=2, sort_keys=True) + "\n", "utf-8")
        draft.replace(self.folder / _MANIFEST)

    def remove_damaged(self) -> None:
        """Remove the shelf where a program on it is not what was installed."""
        if self.damaged():
            shutil.rmtree(self.folder)


def tools_dir() -> Path:
    """Return the folder of programs that Rackwright installs: ``$RACKWRIGHT_TOOLS_DIR`` or the cache."""
    if chosen := os.environ.get("RACKWRIGHT_TOOLS_DIR"):
        return Path(chosen).absolute()
    return cache_folder("tools")


@contextmanager
def installing(root: Path, progress: Callable[[str], None]) -> Iterator[Path]:
    """Return a folder in ``root`` to prepare programs in, while nobody else installs anything there.

    What killed runs left is removed, and so are shelves that nobody used for long.

    Raises:
        ExternalToolError: the folder cannot be written.
    """
    try:
        with turn(root / "lock", waiting=lambda: progress("waiting for another installation")):
            for dead in root.glob(f"{_STAGING}*"):
                _remove(dead)
            workspace = Path(tempfile.mkdtemp(prefix=_STAGING, dir=root))
            try:
                yield workspace
            finally:
                _remove(workspace)
            _remove_unused(root, time.time() - _UNUSED_S)
    except OSError as error:
        raise ExternalToolError(
            f"the tools folder '{root}' cannot be written: {error.strerror or error}",
            hint="set RACKWRIGHT_TOOLS_DIR to a folder that you can write",
        ) from error


def _remove_unused(root: Path, since: float) -> None:
    """Remove the shelves in ``root`` that nobody looked at ``since`` then, in seconds of the epoch."""
    for path in root.glob(f"*/{_MANIFEST}"):
        if _read(path.parent).key and path.stat().st_mtime < since:
            _remove(path.parent)


def _read(folder: Path) -> ToolManifest:
    """Return the manifest in ``folder``; one with an empty key where it is missing or damaged."""
    try:
        document: dict[str, Any] = json.loads((folder / _MANIFEST).read_text("utf-8"))
        if document["schema"] != SCHEMA:
            return ToolManifest("")
        return ToolManifest(
            key=document["key"],
            compiler=document["compiler"],
            version=document["version"],
            files={name: InstalledFile(**entry) for name, entry in document["files"].items()},
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return ToolManifest("")


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
