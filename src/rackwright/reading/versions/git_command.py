"""Running git so that it reads the repository that is meant, and runs nothing else.

The files of a checkout are what a change made of them, so git is not let search for a repository:
a bare one may be committed beside a blueprint as plain files, and git would take it for the one
around it. A folder or file called ``.git`` cannot be committed. The nearest one decides, and what
it leads to is named to git. Only commands that read objects and refs are called, without the
settings of user and machine, and with those of the repository overridden that name programs.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from rackwright.errors import ExternalToolError, UsageError
from rackwright.harmless import visible

TIMEOUT = 60
"""Seconds after which git is given up."""

_QUIET = {
    "safe.bareRepository": "explicit",
    "core.alternateRefsCommand": "false",
    "core.askPass": "false",
    "core.fsmonitor": "false",
    "core.gitProxy": "false",
    "core.hooksPath": os.devnull,
    "core.sshCommand": "false",
    "credential.helper": "",
    "diff.external": "false",
    "gc.auto": "0",
    "gpg.program": "false",
    "maintenance.auto": "false",
}
"""Settings over those of the repository that name programs; ``false`` is one that does nothing."""
_OPTIONS = (
    "--no-pager",
    "--no-replace-objects",
    "--literal-pathspecs",
    *(word for name, value in _QUIET.items() for word in ("-c", f"{name}={value}")),
)
_ENVIRONMENT = {
    "HOME": os.devnull,  # without one, '~' in the repository's configuration is an error
    "XDG_CONFIG_HOME": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_GRAFT_FILE": os.devnull,
    # Nothing may ask for a password or fetch missing objects behind the user's back. A git that
    # does not know GIT_NO_LAZY_FETCH may use none of the protocols.
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "",
}
_GIT_DIR = ("rev-parse", "--absolute-git-dir")
_FOREIGN = (b"dubious ownership", b"unsafe repository")
"""What git says where the files belong to another user: today's words, and those of 2.35."""


def run_git(
    folder: Path, *arguments: str, given: bytes = b""
) -> subprocess.CompletedProcess[bytes]:
    """Run a git command on the repository of ``folder``; its input is ``given``.

    Raises:
        UsageError: the folder is in no repository that can be trusted.
        ExternalToolError: git is missing or takes too long.
    """
    top = find_top(folder)
    return _run(top, _git_dir(top), *arguments, given=given)


def run_apart(
    folder: Path, *arguments: str, protocols: Sequence[str] = (), ssh: str = "false"
) -> subprocess.CompletedProcess[bytes]:
    """Run a git command that looks for no repository: none, or the one that it names.

    Args:
        folder: its working directory.
        arguments: the command; settings may go before it.
        protocols: those by which it may reach another machine.
        ssh: the program that connects to one by SSH.

    Raises:
        ExternalToolError: git is missing or takes too long.
    """
    allowed = {"GIT_ALLOW_PROTOCOL": ":".join(protocols), "GIT_CEILING_DIRECTORIES": str(folder)}
    words = ("-c", f"core.sshCommand={ssh}", *arguments)
    return _call(folder, words, _environment() | _ENVIRONMENT | allowed)


def find_top(folder: Path) -> Path:
    """Return the nearest folder at or above ``folder`` that holds ``.git``, without links.

    Raises:
        UsageError: there is none, or what it holds cannot be trusted.
        ExternalToolError: git is missing or takes too long.
    """
    top = _nearest(folder)
    if top is None:
        raise UsageError(
            f"'{visible(str(folder))}' is not in a git repository",
            hint="neither it nor a folder above it holds '.git'",
        )
    _git_dir(top)
    return top


def refuse_nested(top: Path) -> None:
    """Refuse a repository inside another one, unless the working directory is in it.

    The one around it says what a submodule is, so that a change can put one instead of a
    folder, with a base of its own. A linked worktree has the same base wherever it lies.

    Raises:
        UsageError: it is one.
        ExternalToolError: git is missing or takes too long.
    """
    around = _nearest(top.parent)
    if around is None or Path(os.path.realpath(".")).is_relative_to(top):
        return
    if _common_dir(top) != _common_dir(around):
        raise UsageError(
            f"'{visible(str(top))}' is a repository inside another one, '{visible(str(around))}', "
            "whose changes may replace it",
            hint=f"if its own revisions are meant, change to '{visible(str(top))}' first",
        )


def said(stderr: bytes) -> str | None:
    """Return the first line that git printed."""
    lines = stderr.decode("utf-8", "replace").strip().splitlines()
    return visible(lines[0].removeprefix("fatal: ")) if lines else None


def _nearest(folder: Path) -> Path | None:
    real = Path(os.path.realpath(folder))
    return next((at for at in (real, *real.parents) if os.path.lexists(at / ".git")), None)


@lru_cache(maxsize=64)
def _git_dir(top: Path) -> Path:
    """Return the folder of git's own files for the checkout at ``top``.

    Raises:
        UsageError: ``.git`` is a link, is no repository, leads into the checkout, or belongs to
            another user, whom the user's own settings do not trust.
    """
    entry = top / ".git"
    shown = visible(str(entry))
    if entry.is_symlink():
        raise UsageError(
            f"'{shown}' is a link",
            hint="git makes a folder or a file there; 'git worktree add' makes a second checkout",
        )
    done = _run(top, entry, *_GIT_DIR)
    if done.returncode:
        raise UsageError(f"'{shown}' is not a git repository", hint=said(done.stderr))
    found = _path(done.stdout)
    if found != entry and found.is_relative_to(top):
        raise UsageError(
            f"'{shown}' leads to files of the checkout, '{visible(str(found))}'",
            hint="a change of them would choose the base; clone the repository again",
        )
    _require_trust(top, found)
    return found


def _require_trust(top: Path, git_dir: Path) -> None:
    """Refuse files of another user, unless the user trusts the folder.

    Git is asked, because a folder that is named to it is not checked: it compares the owner, and
    reads ``safe.directory`` in the settings of machine, user and environment, as CI writes them,
    but not in those of the repository.

    Raises:
        UsageError: they belong to another user and the folder is not trusted, or git does not take
            it for a repository.
    """
    kept = {name: text for name, text in os.environ.items() if name.startswith("GIT_CONFIG")}
    done = _call(top, _GIT_DIR, _environment() | kept | {"LC_ALL": "C"})
    if any(words in done.stderr for words in _FOREIGN):
        raise UsageError(
            f"the repository '{visible(str(top))}' belongs to another user",
            hint=f"if you trust it: git config --global --add safe.directory '{visible(str(top))}'",
        )
    if done.returncode or _path(done.stdout) != git_dir:
        raise UsageError(
            f"git does not take '{visible(str(top))}' for a repository", hint=said(done.stderr)
        )


def _common_dir(top: Path) -> Path | None:
    """Return the folder that all worktrees of a repository share; None where it cannot be trusted."""
    try:
        done = run_git(top, "rev-parse", "--git-common-dir")
    except UsageError:
        return None
    return Path(os.path.realpath(top / _path(done.stdout)))


def _run(
    top: Path, git_dir: Path, *arguments: str, given: bytes = b""
) -> subprocess.CompletedProcess[bytes]:
    named = (f"--git-dir={git_dir}", f"--work-tree={top}")
    return _call(top, (*named, *arguments), _environment() | _ENVIRONMENT, given)


def _environment() -> dict[str, str]:
    """Return the variables of this process without git's: a hook's name another folder's repository."""
    return {name: text for name, text in os.environ.items() if not name.startswith("GIT_")}


def _call(
    top: Path, words: Sequence[str], environment: Mapping[str, str], given: bytes = b""
) -> subprocess.CompletedProcess[bytes]:
    command = ["git", "-C", str(top), *_OPTIONS, *words]
    try:
        return subprocess.run(
            command,
            input=given,
            capture_output=True,
            env=environment,
            timeout=TIMEOUT,
            check=False,
        )
    except FileNotFoundError:
        raise ExternalToolError("git is not installed", hint="install git") from None
    except subprocess.TimeoutExpired:
        raise ExternalToolError(f"git took longer than {TIMEOUT} s") from None


def _path(stdout: bytes) -> Path:
    return Path(os.fsdecode(stdout.removesuffix(b"\n")))
