"""Templates in git repositories at tags, fetched into a temporary folder and read as objects.

Without a checkout, filters, hooks and attributes of the repository have no effect. Links and submodules are rejected. As
for the gate, git runs without the settings of the user and the machine.
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
"""Supported schemes of repositories, as in ``git+https://…``."""
_SSH = "ssh -oBatchMode=yes"
"""SSH command that uses the keys of the agent and never asks for a password."""
_VERSION = re.compile(r"v?(\d{1,9})(?:\.(\d{1,9}))?(?:\.(\d{1,9}))?")
_TAG = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_./+-]{0,199}")


@dataclass(frozen=True, slots=True)
class TaggedFiles:
    """Files of a repository at a tag, with the commit of the tag."""

    commit: str
    files: dict[str, bytes]


def check_tag(tag: str) -> str:
    """Return ``tag`` if it is a valid name of a tag.

    Raises:
        UsageError: the name is not valid.
    """
    if not _TAG.fullmatch(tag) or ".." in tag or tag.endswith(("/", ".", ".lock")):
        raise UsageError(f"'{visible(tag)}' cannot be the name of a tag")
    return tag


def version_of(tag: str) -> tuple[int, int, int] | None:
    """Return the version of a tag like ``v1.2``; None for other tags and for pre-releases."""
    found = _VERSION.fullmatch(tag)
    if found is None:
        return None
    major, minor, patch = (int(part or 0) for part in found.groups())
    return major, minor, patch


def newest_of(tags: Iterable[str]) -> str | None:
    """Return the tag with the highest version; None if no tag is a version."""
    named = [(version, tag) for tag in tags if (version := version_of(tag)) is not None]
    return max(named)[1] if named else None


def newest_tag(url: str) -> str:
    """Return the tag of a repository with the highest version.

    Raises:
        ExternalToolError: the repository cannot be reached.
        UsageError: no tag is a version.
    """
    with tempfile.TemporaryDirectory(prefix="rackwright-git-") as made:
        listed = _reach(Path(made), url, "ls-remote", "--tags", "--refs", "--", url)
    names = [line.partition("\trefs/tags/")[2] for line in listed.splitlines()]
    newest = newest_of(name for name in names if name)
    if newest is None:
        raise UsageError(
            f"'{visible(url)}' has no tag that is a version",
            hint="name the tag: git+URL@TAG; versions are tags like 'v1.2'",
        )
    return newest


def fetch_tag(url: str, tag: str, folder: str = ".") -> TaggedFiles:
    """Return the files in ``folder`` of a repository at ``tag``.

    Raises:
        ExternalToolError: the repository cannot be reached, or has no such tag.
        RackwrightError: the files are not allowed in a template.
        UsageError: the tag does not point to a commit.
    """
    ref = f"refs/tags/{check_tag(tag)}"
    with tempfile.TemporaryDirectory(prefix="rackwright-git-") as made:
        top = Path(made)
        # Without a template folder, no hook of the machine gets into the repository.
        _done(top, "init", "--quiet", "--template=", ".")
        # run_apart lets git search for no repository: name the one to use.
        own = f"--git-dir={top / '.git'}"
        fetch = ("fetch", "--quiet", "--depth=1", "--no-tags", "--no-recurse-submodules")
        _reach(top, url, own, *fetch, "--no-write-fetch-head", "--", url, f"+{ref}:{ref}")
        try:
            commit = resolve(top, ref)
        except RevisionError:
            raise UsageError(f"the tag '{visible(tag)}' does not point to a commit") from None
        found = files_at(top, commit, folder, most=MOST_FILES, largest=LARGEST_TEMPLATE)
        return TaggedFiles(commit, check_files(found))


def _reach(folder: Path, url: str, *arguments: str) -> str:
    """Run git on a remote repository and return its output.

    Raises:
        ExternalToolError: the repository cannot be read.
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
