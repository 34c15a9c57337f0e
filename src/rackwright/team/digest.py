"""The digest of a folder: what a team pins a shared pack or catalogue to."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

from rackwright.errors import PolicyLoadError

MOST_FILES = 10_000
LARGEST_FOLDER = 64 * 1024 * 1024
"""Bytes of all files of a folder together."""

LEFT_OUT = frozenset({".git", "__pycache__"})
"""Names of what is not read of one: history, and bytecode, which the loader of packs does not use."""


def folder_digest(folder: Path) -> str:
    """Return ``sha256:`` and 64 hex digits over names and contents of all files in it.

    Neither dates nor owners nor the place of the folder count.

    Raises:
        PolicyLoadError: it is no folder, cannot be read, holds a link or something else that is no
            plain file, or is too large.
    """
    if not folder.is_dir():
        raise PolicyLoadError(f"'{folder}' is not a folder")
    try:
        return digest_of(_contents(folder))
    except OSError as error:
        reason = error.strerror or "unknown error"
        raise PolicyLoadError(f"the folder '{folder}' cannot be read: {reason}") from None


def digest_of(files: Iterable[tuple[str, bytes]]) -> str:
    """Return ``sha256:`` and 64 hex digits over names and contents, in the order in which they come."""
    whole = hashlib.sha256()
    for name, content in files:
        # Lengths first, so that no other split of names and contents gives the same bytes.
        for part in (os.fsencode(name), content):
            whole.update(len(part).to_bytes(8, "big"))
            whole.update(part)
    return f"sha256:{whole.hexdigest()}"


def _contents(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the files below ``folder`` with their contents, one at a time."""
    size = 0
    for name in _names(folder):
        content, size = _read(folder / name, size)
        yield name, content


def _names(folder: Path) -> list[str]:
    """Return the files below ``folder`` by their names from it, with ``/``, sorted.

    Raises:
        PolicyLoadError: something is no plain file or folder, or there are too many files.
    """
    found: list[str] = []
    waiting = [""]
    while waiting:
        prefix = waiting.pop()
        with os.scandir(folder / prefix) as entries:
            for entry in entries:
                if entry.name in LEFT_OUT:
                    continue
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(f"{prefix}{entry.name}/")
                elif entry.is_file(follow_symlinks=False):
                    found.append(f"{prefix}{entry.name}")
                else:
                    raise PolicyLoadError(
                        f"'{entry.path}' is not a plain file",
                        hint="a pack or catalogue holds files, no links",
                    )
                if len(found) + len(waiting) > MOST_FILES:
                    raise PolicyLoadError(
                        f"the folder '{folder}' has more than {MOST_FILES:,} files"
                    )
    return sorted(found, key=os.fsencode)


def _read(path: Path, so_far: int) -> tuple[bytes, int]:
    """Return the content of a file, and the size of all with it.

    Raises:
        PolicyLoadError: all files together are larger than ``LARGEST_FOLDER``, or this is no plain
            file.
    """
    with path.open("rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode) or so_far + status.st_size > LARGEST_FOLDER:
            raise PolicyLoadError(f"the folder is larger than {LARGEST_FOLDER // 2**20} MiB")
        content = file.read(LARGEST_FOLDER - so_far + 1)
    if so_far + len(content) > LARGEST_FOLDER:
        raise PolicyLoadError(f"the folder is larger than {LARGEST_FOLDER // 2**20} MiB")
    return content, so_far + len(content)
