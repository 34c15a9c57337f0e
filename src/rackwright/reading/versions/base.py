"""Documents of a base revision, by the paths that they have in the checkout."""

from __future__ import annotations

from pathlib import Path

from rackwright.errors import UsageError
from rackwright.reading.loader import take_layers
from rackwright.reading.tree import Item
from rackwright.reading.versions import git
from rackwright.reading.yaml_reader import read_bytes


def repository_of(blueprint: Path) -> Path:
    """Return the top folder of the repository of ``blueprint``, whose own folder may be gone.

    Raises:
        UsageError: it is in none that can be trusted.
        ExternalToolError: git is missing.
    """
    return git.top_of(next(at for at in blueprint.absolute().parents if at.is_dir()))


def layers_at(document: Item, path: Path, ref: str, blueprint: Path) -> dict[Path, Item]:
    """Return the layers that a document of a revision names, by path, and take the key out of it.

    Args:
        document: what was read of the revision.
        path: where the revision has it.
        ref: the revision.
        blueprint: a file of its repository.

    Returns:
        Layers in the order of the document; those that the revision does not have are left out.

    Raises:
        SpecErrors: ``layers`` is no list of file names, or a layer is not acceptable YAML.
        UsageError: a layer is not in the repository.
        RackwrightError: the revision cannot be read.
    """
    files = take_layers(document, path, on_disk=False)
    found = ((file, read_base(file, ref, blueprint)) for file in files)
    return {file: item for file, item in found if item is not None}


def read_base(path: Path, ref: str, blueprint: Path) -> Item | None:
    """Return the document at ``path`` in a revision of the blueprint's repository; None where there is none.

    Raises:
        SpecErrors: it is not acceptable YAML.
        UsageError: the path is not in that repository.
        RackwrightError: the revision cannot be read.
    """
    top = repository_of(blueprint)
    commit = git.resolve(top, ref)
    inside = git.path_inside(top, path)
    if inside is None:
        raise UsageError(f"'{path}' is not in the repository '{top}', so '{ref}' cannot approve it")
    try:
        raw = git.read_at(top, commit, inside)
    except git.FileMissingError:
        return None
    return read_bytes(raw, f"{ref}:{inside}")
