"""Documents of a base revision, by the paths that they have in the checkout."""

from __future__ import annotations

from pathlib import Path

from rackwright.errors import UsageError
from rackwright.reading.tree import Item
from rackwright.reading.versions import git
from rackwright.reading.yaml_reader import read_bytes


def read_base(path: Path, ref: str, blueprint: Path) -> Item | None:
    """Return the document at ``path`` in a revision of the blueprint's repository; None where there is none.

    Raises:
        SpecErrors: it is not acceptable YAML.
        UsageError: the path is not in that repository.
        RackwrightError: the revision cannot be read.
    """
    whole = path.absolute()
    folder = next(parent for parent in blueprint.absolute().parents if parent.is_dir())
    top = git.top_of(folder)
    commit = git.resolve(top, ref)
    try:
        # The file itself is not resolved: it may be a link now and none in the revision.
        inside = (whole.parent.resolve() / whole.name).relative_to(top.resolve()).as_posix()
    except ValueError:
        raise UsageError(
            f"'{path}' is not in the repository '{top}', so '{ref}' cannot approve it"
        ) from None
    try:
        raw = git.read_at(top, commit, inside)
    except git.FileMissingError:
        return None
    return read_bytes(raw, f"{ref}:{inside}")
