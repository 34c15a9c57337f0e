"""Nodes of a document that is read, changed without losing the places of what stays."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from rackwright.errors import Location
from rackwright.reading.tree import Item, KeyValue, Path


def entries(item: Item) -> dict[str, Item]:
    """Return the items of a mapping by key; none of what is no mapping."""
    value = item.value
    return {key: one.item for key, one in value.items()} if isinstance(value, dict) else {}


def made(value: Any, at: Location) -> Item:
    """Return the nodes for plain data in which nodes may stand that were read."""
    if isinstance(value, Item):
        return value
    inner: Any = value
    if isinstance(value, Mapping):
        inner = {key: KeyValue(made(one, at), at.line, at.column) for key, one in value.items()}
    elif isinstance(value, (list, tuple)):
        inner = [made(one, at) for one in value]
    return Item(inner, at.file, at.line, at.column)


def mapped(item: Item, change: Callable[[str, Item], Item]) -> Item:
    """Return ``item``, a mapping, with each of its values as ``change`` makes it by its key."""
    changed = {
        key: KeyValue(change(key, one.item), one.line, one.column)
        for key, one in item.value.items()
    }
    return holding(item, changed)


def holding(item: Item, value: Any) -> Item:
    """Return ``value`` at the place of ``item``."""
    return Item(value, item.file, item.line, item.column)


def changed(item: Item, path: Path, change: Callable[[Item], Item]) -> Item:
    """Return ``item`` in which the node at ``path``, which is there, is as ``change`` makes it."""
    if not path:
        return change(item)
    first, rest = path[0], path[1:]
    if isinstance(first, int):
        listed = list(item.value)
        listed[first] = changed(listed[first], rest, change)
        return holding(item, listed)
    return mapped(item, lambda key, one: changed(one, rest, change) if key == first else one)
