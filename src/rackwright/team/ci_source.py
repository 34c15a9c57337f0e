"""Source from which a team's CI installs Rackwright: an index, a wheel or a commit, each by its digest."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from rackwright import __version__
from rackwright.errors import UsageError

FORMS = (
    f"index:rackwright=={__version__} with --hash sha256:DIGEST, "
    "wheel:URL-or-path#sha256=DIGEST, or git+https://HOST/PATH@COMMIT"
)
"""What may be written; there is no default, since the package is on no public index."""
_HASH = re.compile(r"sha256:[0-9a-f]{64}")
_INDEX = re.compile(r"(?P<name>[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)==(?P<version>[^=]*)")
_VERSION = re.compile(r"[0-9]+(?:\.[0-9]+)*(?:(?:a|b|rc|\.post|\.dev)[0-9]+)*(?:\+[a-z0-9.]+)?")
_WHEEL = re.compile(
    r"(?P<name>[A-Za-z0-9_.]+)-(?P<version>[A-Za-z0-9_.+!]+)(?:-[0-9][A-Za-z0-9_]*)?"
    r"(?:-[A-Za-z0-9_.]+){3}\.whl"
)
_URL = re.compile(r"https://[A-Za-z0-9.-]+(?::[0-9]+)?(?:/[A-Za-z0-9._~%+-]+)+")
_PATH = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._+-]*(?:/[A-Za-z0-9_][A-Za-z0-9._+-]*)*")
_GIT = re.compile(
    r"git\+(?:https://|ssh://(?:[A-Za-z0-9_-]+@)?)[A-Za-z0-9.-]+(?::[0-9]+)?"
    r"(?:/[A-Za-z0-9._~%+-]+)+"
)
_COMMIT = re.compile(r"[0-9a-f]{40}")


@dataclass(frozen=True)
class InstallSource:
    """Arguments of pip.

    Attributes:
        requirement: a line for a file of requirements with digests; empty for a commit.
        git: the address with its commit, which pip cannot check by a digest of a file; else empty.
    """

    requirement: str
    git: str = ""


def parse_source(text: str | None, hashes: Sequence[str] = ()) -> InstallSource:
    """Return the source that ``--install-from`` and ``--hash`` name.

    Raises:
        UsageError: something is missing or not pinned; all that is wrong, in one sentence.
    """
    if text is None:
        raise UsageError(
            "'ci init' is not told where CI installs Rackwright from",
            hint=f"give --install-from {FORMS}",
        )
    for prefix, read in _READERS.items():
        if text.startswith(prefix):
            source, wrong = read(text, hashes)
            break
    else:
        source, wrong = InstallSource(""), ["it is neither an index, nor a wheel, nor a commit"]
    if wrong:
        raise UsageError(
            f"'{text}' is nothing to install from: {'; '.join(wrong)}", hint=f"write {FORMS}"
        )
    return source


def _index(text: str, hashes: Sequence[str]) -> tuple[InstallSource, list[str]]:
    pinned = text.removeprefix("index:")
    match = _INDEX.fullmatch(pinned)
    wrong = []
    if match is None or not _VERSION.fullmatch(match["version"]):
        wrong.append("the package is not written NAME==VERSION")
    else:
        wrong += _other_version(match["version"])
    if not hashes:
        wrong.append("there is no --hash of its files")
    wrong += [f"--hash '{given}' is not sha256:DIGEST" for given in hashes if not _is_hash(given)]
    return InstallSource(" ".join([pinned, *(f"--hash={given}" for given in hashes)])), wrong


def _wheel(text: str, hashes: Sequence[str]) -> tuple[InstallSource, list[str]]:
    place, _, fragment = text.removeprefix("wheel:").partition("#")
    digest = fragment.replace("sha256=", "sha256:", 1)
    wrong = _no_hash(hashes)
    match = _WHEEL.fullmatch(place.rpartition("/")[2].replace("%2B", "+"))
    remote = "://" in place
    if not (_URL if remote else _PATH).fullmatch(place):
        wrong.append("it is no https address without a password, and no path in the repository")
    if match is None:
        wrong.append("its file is not named like a wheel")
    else:
        wrong += _other_version(match["version"])
    if not _is_hash(digest):
        wrong.append("it does not end with #sha256=DIGEST, of 64 digits")
    name = match["name"] if match else ""
    where = f"{name} @ {place}" if remote else f"./{place}"
    return InstallSource(f"{where} --hash={digest}"), wrong


def _git(text: str, hashes: Sequence[str]) -> tuple[InstallSource, list[str]]:
    address, at, commit = text.rpartition("@")
    wrong = _no_hash(hashes)
    if not at or not _COMMIT.fullmatch(commit):
        wrong.append("it does not end with @COMMIT, all 40 digits of one")
        address = address if at and "/" not in commit else text
    if not _GIT.fullmatch(address):
        wrong.append("it is no address git+https:// or git+ssh:// without a password")
    return InstallSource("", text), wrong


_READERS: Mapping[str, Callable[[str, Sequence[str]], tuple[InstallSource, list[str]]]] = {
    "index:": _index,
    "wheel:": _wheel,
    "git+": _git,
}


def _is_hash(text: str) -> bool:
    return _HASH.fullmatch(text) is not None


def _no_hash(hashes: Sequence[str]) -> list[str]:
    return ["--hash is for an index only"] if hashes else []


def _other_version(version: str) -> list[str]:
    """Return the error of a lock for another version than the one that writes the files."""
    if version.partition("+")[0] == __version__:
        return []
    return [f"it is not of version {__version__}, whose 'ci init' this is"]
