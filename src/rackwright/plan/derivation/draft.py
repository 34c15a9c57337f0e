"""A document that is being completed: what is written holds, and what follows is put beside it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rackwright.errors import Location
from rackwright.plan.base import Path
from rackwright.reading.tree import Item, KeyValue, Tree, to_data


@dataclass(frozen=True, slots=True)
class Derivation:
    """A value that follows from what is written.

    Attributes:
        path: its place in the full form.
        rule: the name of the rule that gave it (``rackwright.plan.derivation.rules``).
        why: how it came to be, with its numbers, in words.
        location: what is written, from which it follows.
    """

    path: Path
    value: Any
    rule: str
    why: str
    location: Location


class Draft:
    """The full form of a document, as far as it is known."""

    def __init__(self, tree: Tree) -> None:
        self._root = _copy(_positioned(tree))
        self._files, self._unfilled = tree.files, tree.unfilled
        self._found: dict[Path, Derivation] = {}
        self._left_out: set[Path] = set()

    @property
    def derivations(self) -> tuple[Derivation, ...]:
        """Derived values in the order of the full form."""
        order = {path: number for number, path in enumerate(_paths(self._root, ()))}
        return tuple(sorted(self._found.values(), key=lambda one: order[one.path]))

    @property
    def tree(self) -> Tree:
        """The document as it is now."""
        return Tree(self._root, to_data(self._root), self._files, self._unfilled)

    def data(self, path: Path) -> Any:
        """Return the plain data at ``path``; None if there is none."""
        item = self.item(path)
        return None if item is None else to_data(item)

    def item(self, path: Path) -> Item | None:
        """Return the node at ``path``; None where nothing is."""
        return Tree(self._root, None, ()).find(path)

    def place(self, path: Path) -> Location:
        """Return the position of the value at ``path``, or of the nearest value around it."""
        return Tree(self._root, None, ()).locate(path)

    def take(self, path: Path) -> Item | None:
        """Take out what is at ``path``, which the full form does not have; None where nothing is."""
        *above, key = path
        around = self.item(tuple(above))
        if around is None or not isinstance(around.value, dict) or key not in around.value:
            return None
        taken: KeyValue = around.value.pop(key)
        return taken.item

    def put(self, path: Path, value: Any, rule: str, why: str, place: Location) -> None:
        """Put a value where nothing is written; a ``null`` that is written there leaves it out.

        Args:
            path: its place; what is around it is there.
            value: plain data.
            rule: name of the rule.
            why: how the value came to be.
            place: what it follows from.
        """
        if self._add(path, value, place):
            self._found[path] = Derivation(path, value, rule, why, place)

    def mapping(self, path: Path, place: Location) -> bool:
        """Make a mapping where nothing is written; whether one is there, to be put into."""
        self._add(path, {}, place)
        found = self.item(path)
        return found is not None and isinstance(found.value, dict)

    def named(
        self,
        path: Path,
        names: Sequence[str],
        rule: str,
        why: str,
        place: Location,
        places: Sequence[Location] = (),
    ) -> Mapping[str, int]:
        """Make a list whose items have ``names``, in this order; what else is written comes after them.

        Args:
            path: where the list is; what is around it is there.
            names: of its items, by which those are known that are written.
            rule: name of the rule by which they are there.
            why: the same in words.
            place: what they follow from.
            places: the same of each item; ``place`` if empty.

        Returns:
            The index of each; empty where something that is no list of named mappings is written.
        """
        self._add(path, [], place)
        around = self.item(path)
        if around is None or not isinstance(around.value, list):
            return {}
        written: dict[str, Item] = {}
        for child in around.value:
            name = to_data(child).get("name") if isinstance(child.value, dict) else None
            if not isinstance(name, str) or name in written:
                return {}  # no list of named things: the model says so
            written[name] = child
        places = places or [place] * len(names)
        made = [
            written.pop(name) if name in written else _made({"name": name}, origin)
            for name, origin in zip(names, places, strict=True)
        ]
        for index, (name, item) in enumerate(zip(names, made, strict=True)):
            if item.derived:
                here = (*path, index, "name")
                self._found[here] = Derivation(here, name, rule, why, places[index])
        around.value[:] = [*made, *written.values()]
        return {name: index for index, name in enumerate(names)}

    def listed(self, path: Path, count: int, place: Location) -> None:
        """Make a list of so many empty mappings where nothing is written."""
        self._add(path, [{} for _ in range(count)], place)

    def move_first(self, item: Item, path: Path) -> None:
        """Put a node that is written elsewhere at the beginning of the list at ``path``."""
        self._add(path, [], item.location)
        around = self.item(path)
        if around is not None and isinstance(around.value, list):
            around.value.insert(0, item)

    def pop(self, path: Path, index: int) -> Item:
        """Take an item out of the list at ``path``."""
        around = self.item(path)
        assert around is not None  # noqa: S101 - the caller has found the item in it
        taken: Item = around.value.pop(index)
        return taken

    def _add(self, path: Path, value: Any, place: Location) -> bool:
        *above, key = path
        around = self.item(tuple(above))
        if around is None or not isinstance(around.value, dict) or not isinstance(key, str):
            return False
        if key in around.value:
            if around.value[key].item.value is None:
                del around.value[key]
                self._left_out.add(path)
            return False
        if path in self._left_out:
            return False
        around.value[key] = KeyValue(_made(value, place), place.line, place.column)
        return True


def _copy(item: Item) -> Item:
    """Return ``item`` with nodes of its own, so that the document that was read stays as it is."""
    value = item.value
    if isinstance(value, dict):
        value = {key: KeyValue(_copy(e.item), e.line, e.column) for key, e in value.items()}
    elif isinstance(value, list):
        value = [_copy(child) for child in value]
    return Item(value, item.file, item.line, item.column, blank=item.blank, derived=item.derived)


def _positioned(tree: Tree) -> Item:
    """Return the nodes of a document; of one that is plain data, each at the nearest place that is known."""
    if to_data(tree.root) == tree.data:
        return tree.root

    def node(value: Any, path: Path) -> Item:
        place = tree.locate(path)
        made: Any = value
        if isinstance(value, Mapping):
            made = {
                key: KeyValue(node(child, (*path, key)), place.line, place.column)
                for key, child in value.items()
            }
        elif isinstance(value, (list, tuple)):
            made = [node(child, (*path, index)) for index, child in enumerate(value)]
        return Item(made, place.file, place.line, place.column)

    return node(tree.data, ())


def _made(value: Any, place: Location) -> Item:
    """Return the nodes for a value that is derived."""
    made: Any = value
    if isinstance(value, Mapping):
        made = {
            key: KeyValue(_made(child, place), place.line, place.column)
            for key, child in value.items()
        }
    elif isinstance(value, (list, tuple)):
        made = [_made(child, place) for child in value]
    return Item(made, place.file, place.line, place.column, derived=True)


def _paths(item: Item, path: Path) -> Iterator[Path]:
    """Yield every path of a document, in its order."""
    yield path
    if isinstance(item.value, dict):
        for key, entry in item.value.items():
            yield from _paths(entry.item, (*path, key))
    elif isinstance(item.value, list):
        for index, child in enumerate(item.value):
            yield from _paths(child, (*path, index))
