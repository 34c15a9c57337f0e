"""Loading of a YAML file, with layers, into a pydantic model."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ValidationError

from rackwright.errors import Location, SpecError, SpecErrors
from rackwright.harmless import visible
from rackwright.reading.layering import merge, without_blanks
from rackwright.reading.links import leads_out
from rackwright.reading.sheet_reader import with_answers
from rackwright.reading.tree import Item, KeyValue, Tree, to_data
from rackwright.reading.tree import Path as PathInTree
from rackwright.reading.yaml_reader import is_table, read_file, read_raw, read_text

M = TypeVar("M", bound=BaseModel)

_VERSION = "apiVersion"
LAYERS = "layers"
"""Key of a document that names the files over it."""
EXAMPLE = "example"
"""Key of a blueprint or a layer whose values are examples, to be replaced by facts."""

Reader = Callable[[Path], Item]
"""Reads the document in a file: of the disk, or of a revision that is not checked out."""


@dataclass(frozen=True)
class Loaded(Generic[M]):
    """A model and the document it was read from."""

    value: M
    tree: Tree


def load_tree(path: Path, *, layers: Sequence[Path] = (), read: Reader = read_file) -> Tree:
    """Return the document in ``path``, with the layers that it names and then ``layers`` over it.

    Args:
        path: the file; its key ``layers`` names files beside it that belong to it.
        layers: files over those, the last one on top.
        read: reads a file.

    Raises:
        SpecErrors: a file is missing or is not acceptable YAML, or ``layers`` names none.
    """
    base = read(path)
    keys = base.value if isinstance(base.value, dict) else {}
    place = keys[LAYERS].item.location if LAYERS in keys else None
    own = take_layers(base, path)
    items = [base, *(_read_layer(file, read, place) for file in own)]
    return tree_of([*items, *(_read_layer(file, read) for file in layers if file not in own)])


def _read_layer(file: Path, read: Reader, place: Location | None = None) -> Item:
    """Return a layer that a document names at ``place``, or the command line.

    Raises:
        SpecErrors: it cannot be read; what has no place of its own is at that one.
    """
    instead = "take its name out of 'layers'" if place else f"leave out '--layer {file}'"
    try:
        return read(file)
    except SpecErrors as error:
        raise SpecErrors(
            [
                one
                if one.location
                else SpecError(
                    f"layers: {one.summary}" if place else one.summary,
                    hint=one.hint or f"write the file, or {instead}",
                    location=place,
                )
                for one in error.errors
            ]
        ) from None


def layers_of(path: Path) -> tuple[Path, ...]:
    """Return the layers that the document in ``path`` names; none if it cannot be read.

    Raises:
        SpecErrors: as ``load_tree``.
    """
    try:
        named = LAYERS.encode() in read_raw(path)
    except SpecErrors:
        return ()
    return take_layers(read_file(path), path) if named else ()


def take_layers(document: Item, path: Path, *, on_disk: bool = True) -> tuple[Path, ...]:
    """Return the files that the key ``layers`` of a document names, and take the key out of it.

    Args:
        document: what was read.
        path: where it was read; names are relative to its folder.
        on_disk: the files are those of the checkout, which must not lead out of the repository.

    Raises:
        SpecErrors: ``layers`` is no list of relative file names, each named once.
    """
    keys = document.value if isinstance(document.value, dict) else {}
    if LAYERS not in keys or not _is_blueprint(keys):
        return ()  # no document that has layers
    entry = keys.pop(LAYERS)
    named = entry.item.value
    errors: list[SpecError] = []
    found: list[Path] = []
    for item in named if isinstance(named, list) else [entry.item]:
        name = item.value
        if not isinstance(named, list) or not isinstance(name, str) or not name.strip():
            problem, hint = "layers is not a list of file names", "write 'layers: [facility.yaml]'"
        elif PurePath(name).is_absolute():
            problem, hint = f"the layer '{name}' is not beside the blueprint", "name it from there"
        elif (file := path.parent / name) in found or file == path:
            problem, hint = f"the layer '{name}' is named twice", "a file is a layer once"
        elif on_disk and leads_out(file, path):
            problem, hint = f"the layer '{name}' leads out of the repository", "put it in there"
        else:
            found.append(file)
            continue
        errors.append(SpecError(visible(problem), hint=hint, location=item.location))
    if errors:
        raise SpecErrors(errors)
    return tuple(found)


def tree_of(items: Sequence[Item]) -> Tree:
    """Return the first of documents that are read already, with the others over it.

    Raises:
        SpecErrors: the key ``example`` of one is neither true nor false, or an answer of a sheet does not
            fit.
    """
    root = items[0]
    if is_table(root.file) and isinstance(root.value, str):
        hint = "a sheet of answers is a layer: 'rackwright check blueprint.yaml --layer todo.csv'; 'init --from FILE' reads other tables"
        text = "this is not a document of Rackwright: it is a table"
        raise SpecErrors([SpecError(text, hint=hint, location=root.location)])
    unfilled: list[Location] = []
    examples = [item.file for item in items if _take_example(item, is_layer=item is not root)]
    for layer in items[1:]:
        if is_table(layer.file) and isinstance(layer.value, str):
            root, places = with_answers(root, layer)
            unfilled += places
            continue
        filled, places = without_blanks(layer)
        root = merge(root, filled)
        unfilled += places
    files = tuple(item.file for item in items)
    return Tree(root, to_data(root), files, tuple(unfilled), tuple(examples))


def _take_example(document: Item, *, is_layer: bool) -> bool:
    """Take the key ``example`` out of a document; return True if its values are examples.

    Raises:
        SpecErrors: it is neither true nor false.
    """
    keys = document.value if isinstance(document.value, dict) else {}
    if EXAMPLE not in keys or not (is_layer or _is_blueprint(keys)):
        return False
    entry = keys.pop(EXAMPLE)
    if not isinstance(entry.item.value, bool):
        text = "example is neither 'true' nor 'false'"
        raise SpecErrors([SpecError(text, location=entry.item.location)])
    return entry.item.value


def _is_blueprint(keys: Mapping[str, KeyValue]) -> bool:
    version = keys[_VERSION].item.value if _VERSION in keys else None
    return isinstance(version, str) and version.startswith("rackwright/")


def load(path: Path, model: type[M], *, layers: Sequence[Path] = ()) -> Loaded[M]:
    """Return the model in ``path`` with ``layers`` over it.

    Raises:
        SpecErrors: every mistake, each with its position.
    """
    return validate(load_tree(path, layers=layers), model)


def load_text(text: str, model: type[M], *, name: str = "<text>") -> Loaded[M]:
    """Return the model in ``text``, as ``load``."""
    root = read_text(text, name)
    return validate(Tree(root, to_data(root), (name,)), model)


def validate(tree: Tree, model: type[M]) -> Loaded[M]:
    """Return the model of a document that is read already, as ``load``."""
    return Loaded(validate_part(tree, model, tree.data, ()), tree)


def validate_part(
    tree: Tree,
    model: type[M],
    data: Any,
    path: PathInTree,
    also: Callable[[PathInTree], Collection[str]] = lambda path: (),
) -> M:
    """Return the model of a part of a document.

    Args:
        tree: the document; mistakes are named and located in it.
        model: what the part is.
        data: the part, which may lack some of what the document has, or have more.
        path: where the part is.
        also: keys that another form of the model allows in the mapping at a path.

    Raises:
        SpecErrors: every mistake, each with its position.
    """
    try:
        return model.model_validate(data)
    except ValidationError as error:
        from rackwright.reading.problems import to_spec_errors

        try:
            found = to_spec_errors(error, tree, model, path, also)
        except UnicodeEncodeError:  # half a character in plain data; no file holds one
            text = "the document holds text that is not Unicode"
            raise SpecErrors([SpecError(text, location=tree.locate(path))]) from None
        raise found from None
