"""Templates in git repositories, at tags: fetched into a folder of our own, and read as objects.

Nothing is checked out, so no filter, hook or attribute of the repository does anything; links and
submodules are refused. Git runs as it does for the gate: without settings of user and machine.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from rackwright.errors import ExternalToolError, UsageError
from rackwright.harmless import visible
from rackwright.reading.versions.git import RevisionError, files_at, resolve
from rackwright.reading.versions.git_command import run_apart, said
from rackwright.templates.contents import LARGEST_TEMPLATE, MOST_FILES, check_files

SCHEMES = ("https", "ssh", "file")
"""Ways to a repository, as in ``git+https://…``."""
_SSH = "ssh -oBatchMode=yes"
"""Asks for no password; keys are those of the user's agent."""
_VERSION = re.compile(r"v?(\d{1,9})(?:\.(\d{1,9}))?(?:\.(\d{1,9}))?")
_TAG = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_./+-]{0,199}")


@dataclass(frozen=True, slots=True)
class TaggedFiles:
    """The files of a repository at a tag, with the commit that it names."""

    commit: str
    files: dict[str, bytes]


def check_tag(tag: str) -> str:
    """Return ``tag``, where it can be the name of one.

    Raises:
        UsageError: it cannot.
    """
    if not _TAG.fullmatch(tag) or ".." in tag or tag.endswith(("/", ".", ".lock")):
        raise UsageError(f"'{visible(tag)}' cannot be the name of a tag")
    return tag


def version_of(tag: str) -> tuple[int, int, int] | None:
    """Return the version that a tag like ``v1.2`` names; None for any other tag, drafts of versions too."""
    found = _VERSION.fullmatch(tag)
    if found is None:
        return None
    major, minor, patch = (int(part or 0) for part in found.groups())
    return major, minor, patch


def newest_of(tags: Iterable[str]) -> str | None:
    """Return the tag that names the highest version; None where none names one."""
    named = [(version, tag) for tag in tags if (version := version_of(tag)) is not None]
    return max(named)[1] if named else None


def newest_tag(url: str) -> str:
    """Return the tag of a repository with the highest version.

    Raises:
        ExternalToolError: it cannot be reached.
        UsageError: it has no tag that names a version.
    """
    with tempfile.TemporaryDirectory(prefix="rackwright-git-") as made:
        listed = _reach(Path(made), url, "ls-remote", "--tags", "--refs", "--", url)
    names = [line.partition("\trefs/tags/")[2] for line in listed.splitlines()]
    newest = newest_of(name for name in names if name)
    if newest is None:
        raise UsageError(
            f"'{visible(url)}' has no tag that names a version",
            hint="name the tag: git+URL@TAG; versions are tags like 'v1.2'",
        )
    return newest


def fetch_tag(url: str, tag: str, folder: str = ".") -> TaggedFiles:
    """Return the files in ``folder`` of a repository at ``tag``.

    Raises:
        ExternalToolError: it cannot be reached, or has no such tag.
        RackwrightError: it holds what no template may hold.
        UsageError: the tag names no commit.
    """
    ref = f"refs/tags/{check_tag(tag)}"
    with tempfile.TemporaryDirectory(prefix="rackwright-git-") as made:
        top = Path(made)
        _done(top, "init", "--quiet", "--template=", ".")
        own = f"--git-dir={top / '.git'}"
        fetch = ("fetch", "--quiet", "--depth=1", "--no-tags", "--no-recurse-submodules")
        _reach(top, url, own, *fetch, "--no-write-fetch-head", "--", url, f"+{ref}:{ref}")
        try:
            commit = resolve(top, ref)
        except RevisionError:
            raise UsageError(f"the tag '{visible(tag)}' names no commit") from None
        found = files_at(top, commit, folder, most=MOST_FILES, largest=LARGEST_TEMPLATE)
        return TaggedFiles(commit, check_files(found))


def _reach(folder: Path, url: str, *arguments: str) -> str:
    """Run git against another repository, and return its output.

    Raises:
        ExternalToolError: it cannot be read.
    """
    done = run_apart(folder, *arguments, protocols=SCHEMES, ssh=_SSH)
    if done.returncode:
        hint = said(done.stderr) or "git says nothing of it"
        raise ExternalToolError(f"'{visible(url)}' cannot be read", hint=hint)
    return done.stdout.decode("utf-8", "replace")


def _done(folder: Path, *arguments: str) -> None:
    done = run_apart(folder, *arguments)
    if done.returncode:
        raise ExternalToolError(f"git {arguments[0]} failed", hint=said(done.stderr))
