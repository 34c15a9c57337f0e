"""Files of a git revision, read without a checkout.

Only object commands run (``rev-parse``, ``cat-file``, ``ls-tree``): no hook, filter, text
conversion or pager of the repository takes part, and nothing in the working tree changes.
"""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from rackwright.errors import ExternalToolError, RackwrightError
from rackwright.spec.yaml_reader import LARGEST_FILE

_TIMEOUT = 60
_LONGEST_NAME = 255
_EXPRESSIONS = (" ", ":", "..", "^{", "?", "*", "[", "\\")
"""Parts of what git understands that name no commit: paths, ranges, searches, patterns."""

_LINK = "120000"
_FILES = frozenset({"100644", "100755"})
_BORROWED = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX")
"""Set while a hook of git runs; they would hide the repository that the file is in."""


class RevisionError(RackwrightError):
    """A revision, or a file in it, cannot be read."""

    code = "revision"


@dataclass(frozen=True, slots=True)
class Revision:
    """A commit of a repository.

    Attributes:
        top: folder of the working tree, without links.
        name: as it was asked for, like ``origin/main``.
        commit: its full hash.
    """

    top: Path
    name: str
    commit: str

    def read(self, path: Path) -> str | None:
        """The text that the file ``path`` has in this revision; None where it has no such file.

        Args:
            path: of the file in the working tree, whether it exists there or not.

        Raises:
            RevisionError: the path is outside the repository, or is no text file in the revision.
        """
        inside = self._inside(path)
        shown = f"{self.name}:{inside}"
        entry = _git(self.top, "ls-tree", "-z", "--full-tree", self.commit, "--", f"{inside}")
        if not entry:
            return None
        mode, kind, blob = entry.rstrip(b"\0").split(b"\t", 1)[0].decode("ascii").split()
        if mode == _LINK:
            raise RevisionError(f"'{shown}' is a symbolic link", hint="commit the file itself")
        if kind != "blob" or mode not in _FILES:
            raise RevisionError(f"'{shown}' is not a file")
        if int(_git(self.top, "cat-file", "-s", blob)) > LARGEST_FILE:
            raise RevisionError(f"'{shown}' is larger than {LARGEST_FILE // 2**20} MiB")
        try:
            return _git(self.top, "cat-file", "blob", blob).decode("utf-8-sig")
        except UnicodeDecodeError:
            raise RevisionError(f"'{shown}' is not UTF-8") from None

    def describe(self, path: Path) -> str:
        """``path`` in this revision, like ``origin/main:policies/waivers.yaml``."""
        return f"{self.name}:{self._inside(path)}"

    def _inside(self, path: Path) -> PurePosixPath:
        absolute = Path(os.path.normpath(Path.cwd() / path))
        whole = absolute.parent.resolve() / absolute.name
        try:
            return PurePosixPath(whole.relative_to(self.top))
        except ValueError:
            raise RevisionError(
                f"'{path}' is not in the repository '{self.top}'",
                hint="a revision holds files of its own repository only",
            ) from None


def open_revision(name: str, near: Path) -> Revision:
    """The revision ``name`` of the repository that the folder ``near`` is in.

    Raises:
        RevisionError: there is no repository, or no such commit in it.
        ExternalToolError: git is not installed or does not answer.
    """
    _check_name(name)
    folder = _existing(near)
    try:
        top = _git(folder, "rev-parse", "--show-toplevel").decode().rstrip("\n")
    except RevisionError as error:
        raise RevisionError(
            f"'{folder}' is in no git repository that can be read", hint=error.hint
        ) from None
    try:
        found = _git(
            folder, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}"
        )
    except RevisionError:
        raise RevisionError(
            f"the repository has no revision '{name}'",
            hint="fetch it first; continuous integration often clones the last commit only",
        ) from None
    return Revision(Path(top).resolve(), name, found.decode("ascii").strip())


def _check_name(name: str) -> None:
    odd = not name.isprintable() or any(part in name for part in _EXPRESSIONS)
    if not name or name[0] in "-^" or len(name) > _LONGEST_NAME or odd:
        raise RevisionError(
            f"{name!a} is not the name of a revision",
            hint="give a branch, a tag or a commit, like 'origin/main'",
        )


def _existing(folder: Path) -> Path:
    """``folder``, or the nearest one above it that exists."""
    found = folder.resolve()
    while not found.is_dir():
        found = found.parent
    return found


def _git(folder: Path, *arguments: str) -> bytes:
    """What git prints.

    Raises:
        RevisionError: git refuses; the hint is what it said first.
        ExternalToolError: git is missing or does not end.
    """
    environment = {key: value for key, value in os.environ.items() if key not in _BORROWED}
    environment |= {"GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}
    # Replacement objects and lazy fetches would make the answer depend on more than the commit.
    environment |= {"GIT_NO_REPLACE_OBJECTS": "1", "GIT_NO_LAZY_FETCH": "1"}
    command = ["git", "--literal-pathspecs", "-C", str(folder), *arguments]
    try:
        done = subprocess.run(
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_TIMEOUT,
            check=False,
        )
    except FileNotFoundError:
        raise ExternalToolError("git is not installed", hint="install git") from None
    except subprocess.TimeoutExpired:
        raise ExternalToolError(f"git did not answer within {_TIMEOUT} seconds") from None
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise RevisionError(f"git {arguments[0]} failed", hint=said[0] if said else None)
    return done.stdout
