"""The ``pack.yaml`` of a policy pack: what it is, and which Rackwright it needs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

from pydantic import Field

from rackwright import __version__
from rackwright.errors import PolicyLoadError
from rackwright.model.base import Model
from rackwright.reading.loader import load

NAME = "pack.yaml"


class PackManifest(Model):
    """Manifest of a pack."""

    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]*$")]
    description: str
    requires: Annotated[str, Field(pattern=r"^\d+(\.\d+){0,2}$")]
    """Oldest version of Rackwright whose policy API it is written for."""


def read_manifest(folder: Path) -> PackManifest | None:
    """Return the manifest of the pack in ``folder``, or None where it has none.

    Raises:
        SpecErrors: the manifest is not valid.
        PolicyLoadError: this Rackwright is too old for the pack.
    """
    path = folder / NAME
    if not path.is_file():
        return None
    loaded = load(path, PackManifest)
    if _numbers(loaded.value.requires) > _numbers(__version__):
        raise PolicyLoadError(
            f"the pack '{loaded.value.name}' needs rackwright '{loaded.value.requires}', "
            f"this is '{__version__}'",
            hint="install a newer rackwright, or an older version of the pack",
            location=loaded.tree.locate(("requires",)),
        )
    return loaded.value


def _numbers(version: str) -> tuple[int, ...]:
    """Return ``0.1.0`` as numbers that compare, without what follows them."""
    release = re.match(r"\d+(?:\.\d+)*", version)
    numbers = [int(part) for part in release.group().split(".")] if release else []
    return (*numbers, 0, 0, 0)[:3]
