"""Packs and catalogues that are installed as Python packages, found without running any of their code."""

from __future__ import annotations

from importlib import metadata
from pathlib import Path

from rackwright.errors import PolicyLoadError


def installed_folder(package: str, version: str, group: str) -> Path:
    """Return the folder that an installed package brings.

    Args:
        package: its name, as pip knows it.
        version: the only one that is taken.
        group: the entry points by which packages name such folders.

    Raises:
        PolicyLoadError: it is not installed in that version, or brings none.
    """
    try:
        found = metadata.distribution(package)
    except metadata.PackageNotFoundError:
        raise PolicyLoadError(
            f"the package '{package}' is not installed",
            hint=f"install '{package}=={version}' beside rackwright",
        ) from None
    if found.version != version:
        raise PolicyLoadError(
            f"the package '{package}' is installed in version '{found.version}', not '{version}'",
            hint=f"install '{package}=={version}', or review the other one and pin that",
        )
    named = [point.value for point in found.entry_points if point.group == group]
    if len(named) != 1 or not named[0].isidentifier():
        raise PolicyLoadError(
            f"the package '{package}' brings no '{group}'",
            hint=f"it has one entry point in the group '{group}', which names a top-level package",
        )
    folder = Path(str(found.locate_file(named[0])))
    if not folder.is_dir():
        raise PolicyLoadError(
            f"the package '{package}' has no folder '{named[0]}' where it is installed",
            hint="an editable installation has none; list its folder by 'path' instead",
        )
    return folder
