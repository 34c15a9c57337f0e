"""Reading files of a git revision, without a checkout.

Only objects and refs are read: no hook, filter, text conversion or pager of the repository runs, so
that a foreign revision can be read. A name is taken where it means one thing only.
"""

from __future__ import annotations

import io
import os
import re
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path

from rackwright.errors import ExternalToolError, RackwrightError, UsageError
from rackwright.harmless import visible
from rackwright.reading.versions.git_command import find_top, refuse_nested, run_git, said

LARGEST_FILE = 16 * 1024 * 1024
"""Bytes of the largest file that is read, as for files on disk."""

_BATCH = 64 * 1024 * 1024
"""Bytes of the files that are read by one call of git, unless one file is larger."""

_COMMIT = re.compile(r"[0-9a-f]{40}([0-9a-f]{24})?")
_REGULAR = ("100644", "100755")
_SUFFIX = re.compile(r"[~^]|@\{")
"""Where the name of a ref ends and git's way from there to a commit begins."""
_OF_A_BRANCH = re.compile(r"@\{(u|upstream|push)\}", re.IGNORECASE)
"""Behind the short name of a branch, which git takes for no other ref: what it follows."""
_PLACES = ("refs/{}", "refs/tags/{}", "refs/heads/{}", "refs/remotes/{}", "refs/remotes/{}/HEAD")
"""Where git looks for a short name; it takes the first."""
_OTHERWISE = (
    (re.compile(r"(.*-g)?[0-9a-fA-F]{4,64}"), "the id of a commit"),
    (re.compile(r"[A-Z_]+_HEAD"), "a file of git's own"),
)
"""What else a short name may be, as 'git rev-parse' reads it."""


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
    """Return the content of the file ``path`` at ``revision``.

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


def files_at(
    repository: Path, revision: str, folder: str, *, most: int, largest: int
) -> Iterator[tuple[str, bytes]]:
    """Yield the files in ``folder`` at ``revision``: the path of each from the folder, and its content.

    Args:
        repository: a folder in the repository.
        revision: any name of a commit that git understands.
        folder: from the top of the repository, with ``/``; ``.`` is the top.
        most: number of files that are read.
        largest: bytes of all of them together.

    Raises:
        RevisionError: there is no such commit.
        FileMissingError: the commit has no such folder.
        UnreadableFileError: the folder holds a link or a submodule, or more than may be read.
        ExternalToolError: git is missing or failed.
    """
    commit = resolve(repository, revision)
    prefix = "" if folder == "." else f"{folder}/"
    within = (prefix,) if prefix else ()
    listed = _git(repository, "ls-tree", "-r", "-l", "-z", "--full-tree", commit, "--", *within)
    entries = [entry.partition(b"\t") for entry in listed.split(b"\0") if entry]
    if not entries:
        raise FileMissingError(f"there is no folder '{folder}' at '{revision}'")
    found, size = [], 0
    for facts, _, path in entries:
        mode, _, identity, length = facts.decode("ascii").split()
        name = os.fsdecode(path)
        if mode not in _REGULAR or not {"", ".", "..", ".git"}.isdisjoint(name.split("/")):
            raise UnreadableFileError(f"'{visible(name)}' at '{revision}' is not a regular file")
        found.append((name.removeprefix(prefix), identity))
        size += int(length)
    if len(found) > most or size > largest:
        raise UnreadableFileError(
            f"'{visible(folder)}' at '{revision}' has more than {most:,} files, or than "
            f"{largest // 2**20} MiB"
        )
    yield from _contents(repository, found)


def files_with(
    repository: Path, revision: str, words: re.Pattern[bytes]
) -> Iterator[tuple[str, bytes]]:
    """Yield the regular files of ``revision`` that contain ``words``: path from the top, and content.

    Trees and blobs alone are read. A command like 'git grep' would skip what the attributes of the
    checkout call binary, and the checkout is the change's.

    Args:
        repository: a folder in the repository.
        revision: any name of a commit that git understands.
        words: the bytes to look for.

    Raises:
        RevisionError: there is no such commit.
        ExternalToolError: git is missing or failed.
    """
    commit = resolve(repository, revision)
    listed = _git(repository, "ls-tree", "-r", "-l", "-z", "--full-tree", commit)
    batch: list[tuple[str, str]] = []
    size = 0
    for entry in filter(None, listed.split(b"\0")):
        facts, _, path = entry.partition(b"\t")
        name = os.fsdecode(path)
        mode, _, identity, length = facts.decode("ascii").split()
        if mode not in _REGULAR or int(length) > LARGEST_FILE:
            continue
        if size + int(length) > _BATCH:
            yield from _those_with(words, _contents(repository, batch))
            batch, size = [], 0
        batch.append((name, identity))
        size += int(length)
    yield from _those_with(words, _contents(repository, batch))


def _those_with(
    words: re.Pattern[bytes], files: Iterator[tuple[str, bytes]]
) -> Iterator[tuple[str, bytes]]:
    return ((name, content) for name, content in files if words.search(content))


def _contents(repository: Path, blobs: Sequence[tuple[str, str]]) -> Iterator[tuple[str, bytes]]:
    """Yield the content of each blob with its name."""
    asked = "".join(f"{identity}\n" for _, identity in blobs).encode()
    answers = io.BytesIO(_git(repository, "cat-file", "--batch", given=asked) if blobs else b"")
    for name, _ in blobs:
        content = answers.read(int(answers.readline().split()[-1]))
        answers.read(1)  # the line break after it
        yield name, content


def resolve(repository: Path, revision: str) -> str:
    """Return the full id of the commit that ``revision`` names.

    Raises:
        RevisionError: there is no such commit, the name may mean several things, or it could be
            taken for an option.
        ExternalToolError: git is missing or failed.
    """
    if not revision or revision.startswith(("-", ":")) or not revision.isprintable():
        raise RevisionError(f"'{visible(revision)}' cannot be the name of a revision")
    begin = _SUFFIX.search(revision)
    end = begin.start() if begin else len(revision)
    name, suffix = revision[:end], revision[end:]
    whole_id = _COMMIT.fullmatch(name) and _commit(repository, name) == name
    if not whole_id and not _OF_A_BRANCH.match(suffix):
        name = _full_name(repository, name, revision)
    commit = _commit(repository, name + suffix)
    if commit is None:
        raise RevisionError(
            f"there is no revision '{revision}'",
            hint="fetch it first; a shallow clone holds few ('git fetch --unshallow')",
        )
    return commit


def _commit(repository: Path, name: str) -> str | None:
    """Return the id of the commit that git finds by ``name``; None where there is none."""
    words = ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
    done = run_git(repository, *words)
    commit = done.stdout.decode("ascii", "replace").strip()
    return commit if not done.returncode and _COMMIT.fullmatch(commit) else None


def _full_name(repository: Path, name: str, revision: str) -> str:
    """Return the full name of the ref that ``name`` means; ``name`` itself where it is another thing.

    Git takes the first of several: a tag that is pushed as ``origin/main`` comes before the
    branch of the remote.

    Raises:
        RevisionError: it may mean several, or is a full name and there is no such ref.
    """
    if name in ("", "@", "HEAD"):
        return name
    full = name.startswith("refs/")
    names = [name] if full else [place.format(name) for place in _PLACES]
    listed = _git(repository, "for-each-ref", "--format=%(refname)", *names)
    existing = set(listed.decode("utf-8", "replace").splitlines())
    found = [ref for ref in names if ref in existing]
    if full:
        # Git would go on to look for a tag or a branch that is called like this.
        if not found:
            raise RevisionError(f"there is no revision '{revision}'", hint="fetch it first")
        return name
    other = [what for form, what in _OTHERWISE if found and form.fullmatch(name)]
    if len(found) + len(other) > 1:
        raise RevisionError(
            f"'{revision}' is ambiguous: it may mean {' or '.join([*map(repr, found), *other])}",
            hint="write a full name like 'refs/remotes/origin/main', or the whole id of a commit",
        )
    return found[0] if found else name


def path_inside(top: Path, path: Path) -> str | None:
    """Return ``path`` from the top of its repository, with ``/``; None where it is not in there.

    Links below the top are not followed: those of the checkout are the change's, and would lead to
    what a revision has elsewhere.

    Args:
        top: the top folder, without links.
        path: a file or folder, whether it exists or not.
    """
    whole = Path(os.path.abspath(path))  # noqa: PTH100 - resolves no link
    above = next((at for at in reversed(whole.parents) if os.path.realpath(at) == str(top)), None)
    return None if above is None else whole.relative_to(above).as_posix()


def merge_base(repository: Path, one: str, other: str) -> str:
    """Return the id of the best common ancestor of two revisions.

    Raises:
        RevisionError: one does not exist, or they have no common ancestor.
        ExternalToolError: git is missing or failed.
    """
    commits = resolve(repository, one), resolve(repository, other)
    done = run_git(repository, "merge-base", *commits)
    found = done.stdout.decode("ascii", "replace").strip()
    if done.returncode or not _COMMIT.fullmatch(found):
        raise RevisionError(
            f"'{one}' and '{other}' have no common ancestor",
            hint="fetch more history; a shallow clone may lack it ('git fetch --unshallow')",
        )
    return found


def left_out(top: Path) -> AbstractSet[str]:
    """Return the files that a sparse checkout leaves out, from the top of the repository, with ``/``.

    Raises:
        ExternalToolError: git failed.
    """
    listed = _git(top, "ls-files", "-t", "-z").split(b"\0")
    return {os.fsdecode(entry[2:]) for entry in listed if entry.startswith(b"S ")}


def top_of(folder: Path) -> Path:
    """Return the top folder of the repository that ``folder`` is in: the nearest that holds ``.git``.

    Raises:
        UsageError: it is in none that can be trusted, or in one inside another one while the
            working directory is not in it.
        ExternalToolError: git is missing.
    """
    top = find_top(folder)
    refuse_nested(top)
    return top


def _git(repository: Path, *arguments: str, given: bytes = b"") -> bytes:
    done = run_git(repository, *arguments, given=given)
    if done.returncode:
        raise ExternalToolError(f"git {arguments[0]} failed", hint=said(done.stderr))
    return done.stdout
