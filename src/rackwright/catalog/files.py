"""The files of a folder of products or prices, and what would never be read of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from rackwright.errors import Location, SpecError

LIKE_YAML = frozenset({".yaml", ".yml", ".json"})
"""Endings of files that could be mistaken for YAML that is read; only the first one is."""
NO_LINK = "put the file itself there"
"""What to do where a link is found; none is followed."""


def own_files(folder: Path, errors: list[SpecError]) -> Iterator[Path]:
    """Yield the YAML files of a foreign folder, and what would never be read of it."""
    for path in sorted(folder.iterdir()):
        if path.name.startswith((".", "__")):
            continue
        if path.is_symlink():
            errors.append(at_top(path, f"'{path}' is a link", NO_LINK))
        elif path.is_dir():
            errors.append(at_top(path, f"'{path}' is not read", "files lie in the folder itself"))
        elif path.suffix == ".yaml":
            yield path
        elif path.suffix in LIKE_YAML:
            errors.append(
                at_top(path, f"'{path}' is not read", f"call the file '{path.stem}.yaml'")
            )


def at_top(path: Path, text: str, hint: str) -> SpecError:
    """Return the error ``text`` about the file ``path`` as a whole."""
    return SpecError(text, hint=hint, location=Location(str(path), 1, 1))
