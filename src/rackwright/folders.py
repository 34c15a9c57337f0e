"""Folders of Rackwright for a user, by the XDG Base Directory Specification."""

from __future__ import annotations

import os
from pathlib import Path


def state_folder() -> Path:
    """Return the folder of state to keep: ``$RACKWRIGHT_STATE``, else ``rackwright`` in the user's state folder."""
    chosen = os.environ.get("RACKWRIGHT_STATE")
    return Path(chosen) if chosen else _base("XDG_STATE_HOME", ".local/state") / "rackwright"


def cache_folder(name: str) -> Path:
    """Return a folder that can be made again: ``rackwright/NAME`` in the user's cache folder."""
    return _base("XDG_CACHE_HOME", ".cache") / "rackwright" / name


def _base(variable: str, otherwise: str) -> Path:
    """Return the folder that ``variable`` names; a relative one is to be ignored."""
    base = Path(os.environ.get(variable, ""))
    return base if base.is_absolute() else Path.home() / otherwise
