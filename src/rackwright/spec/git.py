"""Reading files of a git revision, without a checkout.

Only objects are read: no hook, filter, text conversion or pager of the repository runs, so that a
revision of somebody else can be looked at.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

from rackwright.errors import ExternalToolError, RackwrightError, UsageError, visible

LARGEST_FILE = 16 * 1024 * 1024
"""Bytes of the largest file that is read, as for files on disk."""
TIMEOUT = 60
"""Seconds after which git is given up."""

_COMMIT = re.compile(r"[0-9a-f]{40}([0-9a-f]{24})?")
_REGULAR = ("100644", "100755")
_BORROWED = frozenset({"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX"})
"""Set while a hook of git runs, as under pre-commit; they name another folder's repository."""
_SAFE = ("--no-pager", "--no-replace-objects", "--literal-pathspecs")


class RevisionError(UsageError):
    """A revision does not exist, or cannot be named like this."""

    code = "git-revision"


class FileMissingError(RackwrightError):
    """A revision does not hold a file."""

    code = "git-file-missing"


class UnreadableFileError(RackwrightError):
    """A revision holds something at a path that cannot be read as a file."""

    code = "git-file-unreadable"


def read_at(repository: Path, revision: str, path: str) -> bytes:
    """The content of the file ``path`` at ``revision``.

    Args:
        repository: a folder in the repository.
        revision: any name of a commit that git understands.
        path: the file, from the top of the repository, with ``/``.

    Raises:
        RevisionError: there is no such commit.
        FileMissingError: the commit does not hold the file.
        UnreadableFileError: it is a link, a folder or a submodule, or is too large.
        ExternalToolError: git is missing or failed.
    """
    commit = resolve(repository, revision)
    found = _git(repository, "ls-tree", "-z", "--full-tree", commit, "--", path)
    entries = [entry for entry in found.split(b"\0") if entry]
    if len(entries) != 1:
        raise FileMissingError(
            f"there is no '{path}' at '{revision}'",
            hint=f"'git ls-tree -r --name-only {revision}' lists its files",
        )
    mode, _, identity = entries[0].partition(b"\t")[0].decode("ascii").split(" ")
    if mode not in _REGULAR:
        raise UnreadableFileError(f"'{path}' at '{revision}' is not a regular file")
    size = int(_git(repository, "cat-file", "-s", identity))
    if size > LARGEST_FILE:
        raise UnreadableFileError(
            f"'{path}' at '{revision}' is larger than {LARGEST_FILE // 2**20} MiB"
        )
    return _git(repository, "cat-file", "blob", identity)


def resolve(repository: Path, revision: str) -> str:
    """The full id of the commit that ``revision`` names.

    Raises:
        RevisionError: there is no such commit, or the name could be taken for an option.
        ExternalToolError: git is missing or failed.
    """
    if not revision or revision.startswith("-") or not revision.isprintable():
        raise RevisionError(f"'{visible(revision)}' cannot be the name of a revision")
    done = _run(
        repository, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}"
    )
    commit = done.stdout.decode("ascii", "replace").strip()
    if done.returncode or not _COMMIT.fullmatch(commit):
        _require_repository(repository)
        raise RevisionError(
            f"there is no revision '{revision}'",
            hint="fetch it first; a shallow clone holds few ('git fetch --unshallow')",
        )
    return commit


def merge_base(repository: Path, one: str, other: str) -> str:
    """The id of the best common ancestor of two revisions.

    Raises:
        RevisionError: one does not exist, or they have no common ancestor.
        ExternalToolError: git is missing or failed.
    """
    commits = resolve(repository, one), resolve(repository, other)
    done = _run(repository, "merge-base", *commits)
    found = done.stdout.decode("ascii", "replace").strip()
    if done.returncode or not _COMMIT.fullmatch(found):
        raise RevisionError(
            f"'{one}' and '{other}' have no common ancestor",
            hint="fetch more history; a shallow clone may lack it ('git fetch --unshallow')",
        )
    return found


def top_of(folder: Path) -> Path:
    """The top folder of the repository that ``folder`` is in.

    Raises:
        UsageError: it is in none.
        ExternalToolError: git is missing.
    """
    done = _run(folder, "rev-parse", "--show-toplevel")
    if done.returncode:
        _require_repository(folder)
        raise UsageError(f"'{folder}' is in a repository without files of its own")
    return Path(os.fsdecode(done.stdout).rstrip("\n"))


def _require_repository(folder: Path) -> None:
    done = _run(folder, "rev-parse", "--git-dir")
    if done.returncode:
        raise UsageError(
            f"'{folder}' is not in a git repository that can be read", hint=_said(done.stderr)
        )


def _git(repository: Path, *arguments: str) -> bytes:
    done = _run(repository, *arguments)
    if done.returncode:
        raise ExternalToolError(f"git {arguments[0]} failed", hint=_said(done.stderr))
    return done.stdout


def _run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    command = ["git", *_SAFE, "-C", str(folder), *arguments]
    # Nothing may ask for a password or fetch missing objects behind the user's back.
    environment = {key: value for key, value in os.environ.items() if key not in _BORROWED}
    environment |= {"GIT_TERMINAL_PROMPT": "0", "GIT_NO_LAZY_FETCH": "1"}
    try:
        return subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            env=environment,
            timeout=TIMEOUT,
            check=False,
        )
    except FileNotFoundError:
        raise ExternalToolError("git is not installed", hint="install git") from None
    except subprocess.TimeoutExpired:
        raise ExternalToolError(f"git {arguments[0]} took longer than {TIMEOUT} s") from None


def _said(stderr: bytes) -> str | None:
    """The first line that git printed."""
    lines = stderr.decode("utf-8", "replace").strip().splitlines()
    return visible(lines[0].removeprefix("fatal: ")) if lines else None
