"""A YAML document as data with a position for every key and value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from rackwright.errors import Location

Path = tuple[str | int, ...]


class Item:
    """One node: a scalar, a list of items or a mapping of keys to entries.

    Attributes:
        blank: nothing stands there, not even the word ``null``.
        derived: it follows from what stands at its place, and is not itself written there.
    """

    __slots__ = ("blank", "column", "derived", "file", "line", "value")

    def __init__(
        self,
        value: Any,
        file: str,
        line: int,
        column: int,
        *,
        blank: bool = False,
        derived: bool = False,
    ) -> None:
        self.value = value
        self.blank = blank
        self.derived = derived
        self.file = file
        self.line = line
        self.column = column

    @property
    def location(self) -> Location:
        """Position of its first character."""
        return Location(self.file, self.line, self.column)

    def leaves(self, *, but: str = "") -> Iterator[Item]:
        """Yield the scalars in it, those of the key ``but`` left out."""
        if isinstance(self.value, dict):
            for key, entry in self.value.items():
                if key != but:
                    yield from entry.item.leaves(but=but)
        elif isinstance(self.value, list):
            for child in self.value:
                yield from child.leaves(but=but)
        else:
            yield self


class KeyValue:
    """A key of a mapping with its value."""

    __slots__ = ("column", "item", "line")

    def __init__(self, item: Item, line: int, column: int) -> None:
        self.item = item
        self.line = line
        self.column = column


def to_data(item: Item) -> Any:
    """Return the plain Python value of ``item``."""
    value = item.value
    if type(value) is dict:
        return {key: to_data(entry.item) for key, entry in value.items()}
    if type(value) is list:
        return [to_data(child) for child in value]
    return value


@dataclass(frozen=True)
class Tree:
    """A document, possibly merged from several layers.

    Attributes:
        data: plain mappings, lists and scalars.
        files: the files it was read from, the base first.
        unfilled: places of layers where a key or an item has no value, which changes nothing.
        examples: files whose values are examples.
    """

    root: Item
    data: Any
    files: tuple[str, ...]
    unfilled: tuple[Location, ...] = ()
    examples: tuple[str, ...] = ()

    def find(self, path: Path) -> Item | None:
        """Return the node at ``path``; None when there is none."""
        item = self.root
        for part in path:
            value = item.value
            if isinstance(value, dict) and part in value:
                item = value[part].item
            elif isinstance(value, list) and isinstance(part, int) and 0 <= part < len(value):
                item = value[part]
            else:
                return None
        return item

    def locate(self, path: Path, *, key: bool = False) -> Location:
        """Return the position of the value at ``path``, or of its key; the nearest ancestor's if it is absent."""
        item = self.root
        entry: KeyValue | None = None
        for part in path:
            value = item.value
            if isinstance(value, dict) and part in value:
                entry = value[part]
                item = entry.item
            elif isinstance(value, list) and isinstance(part, int) and 0 <= part < len(value):
                entry, item = None, value[part]
            else:
                break
        if key and entry is not None:
            return Location(item.file, entry.line, entry.column)
        return item.location

    def describe(self, path: Path) -> str:
        """Return ``path`` with dots, list items by their ``name`` where they have one."""
        parts: list[str] = []
        value: Any = self.data
        for part in path:
            child = _child(value, part)
            if isinstance(part, int):
                name = child.get("name") if isinstance(child, Mapping) else None
                parts.append(name if isinstance(name, str) else str(part))
            else:
                parts.append(part)
            value = child
        return ".".join(parts)


def _child(value: Any, part: str | int) -> Any:
    if isinstance(value, Mapping):
        return value.get(part)
    if isinstance(value, list) and isinstance(part, int) and 0 <= part < len(value):
        return value[part]
    return None
