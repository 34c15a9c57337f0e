"""Place of a team's configuration, which every command looks for."""

from __future__ import annotations

import os
from pathlib import Path

from rackwright.errors import UsageError

NAME = "rackwright.yaml"


def find_config(blueprint: Path) -> Path | None:
    """Return the ``rackwright.yaml`` that holds for ``blueprint``, or None.

    It lies beside the blueprint, or above it inside the same git repository.

    Raises:
        UsageError: the nearest one has a name that nothing reads, or is a folder.
    """
    for folder in config_folders(blueprint):
        if (path := folder / NAME).is_file():
            return path
        if path.is_dir():
            raise UsageError(f"'{path}' is a folder", hint="the configuration of a team is a file")
        if (other := path.with_suffix(".yml")).is_file():
            raise UsageError(f"'{other}' is not read", hint=f"rename it to '{NAME}'")
    return None


def config_folders(blueprint: Path) -> list[Path]:
    """Return the folder of ``blueprint`` and those above it inside the same git repository."""
    folder = real(blueprint).parent
    chain = [folder, *folder.parents]
    top = next((n for n, above in enumerate(chain) if (above / ".git").exists()), 0)
    return chain[: top + 1]


def top_folder(path: Path) -> Path:
    """Return the nearest folder above ``path`` with ``.git``; else its own."""
    return next((f for f in path.parents if os.path.lexists(f / ".git")), path.parent)


def plain(path: Path) -> Path:
    """Return ``path`` from the root, with the links that are in it."""
    return Path(os.path.abspath(path))  # noqa: PTH100 - resolves no link


def real(path: Path) -> Path:
    """Return ``path`` without links; unlike ``Path.resolve``, links that go round are no error."""
    return Path(os.path.realpath(path))
