"""Files of a template: plain files within limits of number and size, with safe names."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable
from pathlib import Path

from rackwright.errors import RackwrightError
from rackwright.harmless import visible

MOST_FILES = 200
LARGEST_TEMPLATE = 4 * 1024 * 1024
"""Maximum total size of the files of a template, in bytes."""
DEEPEST = 8
"""Maximum depth of nested folders."""
RECORD_FOLDER = ".rackwright-template"
"""Folder of the record in a cluster; a template cannot contain a folder with this name."""

_NAME = re.compile(r"\.?[A-Za-z0-9_][A-Za-z0-9._-]*")
_HINT = "a template holds plain files whose names are letters, digits, '.', '_' and '-'"


class TemplateContentError(RackwrightError):
    """A template contains something that templates may not contain."""

    code = "template-content"


def read_folder(folder: Path) -> dict[str, bytes]:
    """Return the files below ``folder`` by their relative names with ``/``, without ``.git`` at the top.

    Raises:
        TemplateContentError: the folder does not exist, cannot be read, contains a link or a forbidden name, or
            exceeds the limits.
    """
    shown = visible(str(folder))
    if not folder.is_dir():
        raise TemplateContentError(f"'{shown}' is not a folder")
    found: dict[str, bytes] = {}
    size = 0
    waiting = [""]
    try:
        while waiting:
            prefix = waiting.pop()
            with os.scandir(folder / prefix) as entries:
                for entry in entries:
                    name = f"{prefix}{entry.name}"
                    # A template in development is often a repository itself.
                    if name == ".git":
                        continue
                    check_name(name)
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(f"{name}/")
                        continue
                    found[name] = _read(folder / name, name, LARGEST_TEMPLATE - size)
                    size += len(found[name])
                    if len(found) + len(waiting) > MOST_FILES:
                        raise TemplateContentError(f"'{shown}' has more than {MOST_FILES} files")
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise TemplateContentError(f"'{shown}' cannot be read: {reason}") from None
    return dict(sorted(found.items()))


def check_files(files: Iterable[tuple[str, bytes]]) -> dict[str, bytes]:
    """Return files of another source sorted by name, with the same limits as ``read_folder``.

    Raises:
        TemplateContentError: a name is forbidden, or the files exceed the limits.
    """
    found: dict[str, bytes] = {}
    size = 0
    for name, content in files:
        check_name(name)
        found[name] = content
        size += len(content)
        if len(found) > MOST_FILES or size > LARGEST_TEMPLATE:
            raise TemplateContentError(
                f"the template has more than {MOST_FILES} files, or than "
                f"{LARGEST_TEMPLATE // 2**20} MiB"
            )
    return dict(sorted(found.items()))


def check_name(name: str) -> None:
    """Raise if a file name could lead out of the folder, or into the files of git or of Rackwright.

    Raises:
        TemplateContentError: the name is forbidden.
    """
    parts = name.split("/")
    refused = {".git", RECORD_FOLDER}
    if (
        len(parts) > DEEPEST
        # Some file systems ignore case: '.GIT' is a git folder there.
        or any(not _NAME.fullmatch(part) or part.lower() in refused for part in parts)
        or len(name) > 200
    ):
        raise TemplateContentError(f"'{visible(name)}' cannot be part of a template", hint=_HINT)


def label_of(version: str | None, digest: str) -> str:
    """Return the label of files for messages: their version, or else the start of their digest."""
    return version or digest[:19]


def text_of(content: bytes, name: str) -> str:
    """Return the content of a file as text.

    Raises:
        TemplateContentError: the content is not UTF-8.
    """
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        raise TemplateContentError(f"'{name}' is not UTF-8") from None


def _read(path: Path, name: str, most: int) -> bytes:
    descriptor = -1
    try:
        # NOFOLLOW: the entry may have become a link since the listing. NONBLOCK: a FIFO would block forever.
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        if path.is_symlink():
            raise TemplateContentError(f"'{visible(name)}' is a link", hint=_HINT) from None
        raise
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise TemplateContentError(f"'{visible(name)}' is not a plain file", hint=_HINT)
        # One byte more than allowed shows that the file is too large, without reading all of it.
        content = file.read(most + 1)
    if len(content) > most:
        raise TemplateContentError(
            f"the template is larger than {LARGEST_TEMPLATE // 2**20} MiB", hint=_HINT
        )
    return content
