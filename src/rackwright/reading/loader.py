"""Loading of a YAML file, with layers, into a pydantic model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ValidationError

from rackwright.errors import SpecError, SpecErrors
from rackwright.reading.layering import blanks, merge
from rackwright.reading.tree import Item, Tree, to_data
from rackwright.reading.tree import Path as PathInTree
from rackwright.reading.yaml_reader import read_file, read_text

M = TypeVar("M", bound=BaseModel)

_TO_FILL_IN = "write what holds, or take the key out; 'null' removes what the blueprint says"

Reader = Callable[[Path], Item]
"""Reads the document in a file: of the disk, or of a revision that is not checked out."""


@dataclass(frozen=True)
class Loaded(Generic[M]):
    """A model and the document it was read from."""

    value: M
    tree: Tree


def load_tree(path: Path, *, layers: Sequence[Path] = (), read: Reader = read_file) -> Tree:
    """The document in ``path`` with ``layers`` over it, the last one on top.

    Raises:
        SpecErrors: a file is missing or is not acceptable YAML.
    """
    return tree_of([read(file) for file in (path, *layers)])


def tree_of(items: Sequence[Item], *, lenient: bool = False) -> Tree:
    """The first of documents that are read already, with the others over it.

    Args:
        items: the documents.
        lenient: take a key of a layer that has no value for one that is removed, as a revision may
            have it that nobody can change any more.

    Raises:
        SpecErrors: a key of a layer has no value.
    """
    root = items[0]
    errors = [
        SpecError(f"{what} has no value", hint=_TO_FILL_IN, location=place)
        for layer in (() if lenient else items[1:])
        for what, place in blanks(layer)
    ]
    if errors:
        raise SpecErrors(errors)
    for layer in items[1:]:
        root = merge(root, layer)
    return _tree(root, tuple(item.file for item in items))


def load(path: Path, model: type[M], *, layers: Sequence[Path] = ()) -> Loaded[M]:
    """The model in ``path`` with ``layers`` over it.

    Raises:
        SpecErrors: every mistake, each with its position.
    """
    return validate(load_tree(path, layers=layers), model)


def load_text(text: str, model: type[M], *, name: str = "<text>") -> Loaded[M]:
    """The model in ``text``, as ``load``."""
    return validate(_tree(read_text(text, name), (name,)), model)


def validate(tree: Tree, model: type[M]) -> Loaded[M]:
    """The model of a document that is read already, as ``load``."""
    return Loaded(validate_part(tree, model, tree.data, ()), tree)


def validate_part(tree: Tree, model: type[M], data: Any, path: PathInTree) -> M:
    """The model of a part of a document.

    Args:
        tree: the document; mistakes are named and located in it.
        model: what the part is.
        data: the part, which may lack some of what the document has, or have more.
        path: where the part is.

    Raises:
        SpecErrors: every mistake, each with its position.
    """
    try:
        return model.model_validate(data)
    except ValidationError as error:
        from rackwright.reading.problems import to_spec_errors

        try:
            found = to_spec_errors(error, tree, model, path)
        except UnicodeEncodeError:  # half a character in plain data; no file holds one
            text = "the document holds text that is not Unicode"
            raise SpecErrors([SpecError(text, location=tree.locate(path))]) from None
        raise found from None


def _tree(root: Item, files: tuple[str, ...]) -> Tree:
    return Tree(root, to_data(root), files)
