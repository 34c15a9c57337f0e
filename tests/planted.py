"""A git repository that a change brings along as plain files, to be taken for the real one."""

from __future__ import annotations

import tempfile
from pathlib import Path

from ci_team import git

PARTS = ("HEAD", "config", "objects", "refs")


def plant(folder: Path, worktree: str = ".") -> None:
    """Put a bare repository into ``folder`` in which ``folder`` as it is now has long been approved.

    Args:
        folder: where its parts lie, beside what is there.
        worktree: its ``core.worktree``; empty leaves it bare.
    """
    with tempfile.TemporaryDirectory() as made:
        store = Path(made)
        git(store, "init", "--quiet", "--bare", "--initial-branch=main")
        whole = ("--git-dir", made, "--work-tree", str(folder))
        git(folder, *whole, "add", "--all")
        git(folder, *whole, "commit", "--quiet", "--message=approved")
        for name in ("refs/remotes/origin/main", "refs/heads/change"):
            git(store, "update-ref", name, "HEAD")
        if worktree:
            git(store, "config", "core.bare", "false")
            git(store, "config", "core.worktree", worktree)
        for name in PARTS:
            (store / name).rename(folder / name)
