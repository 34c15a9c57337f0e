"""Layers: a file put over another one changes what it names and leaves the rest."""

from __future__ import annotations

from collections.abc import Iterator

from rackwright.errors import Location
from rackwright.reading.tree import Item, KeyValue

_Name = tuple[str, ...]


def merge(base: Item, layer: Item) -> Item:
    """``base`` with ``layer`` over it; every value keeps the position that it came from.

    Mappings merge by key, and ``null`` removes a key. Lists whose items all have a ``name`` merge
    by name, and facts by product and field; new ones go to the end. Any other value is replaced,
    and so is a list by an empty one or by one that gives a name twice.
    """
    if isinstance(base.value, dict) and isinstance(layer.value, dict):
        merged = dict(base.value)
        for key, entry in layer.value.items():
            if entry.item.value is None:
                merged.pop(key, None)
            elif key in merged:
                item = merge(merged[key].item, entry.item)
                kept = merged[key] if item.file == merged[key].item.file else entry
                merged[key] = KeyValue(item, kept.line, kept.column)
            else:
                merged[key] = entry
        return Item(merged, base.file, base.line, base.column)
    if _is_named(base) and _is_named(layer) and not _has_twins(layer):
        return _merge_named(base, layer)
    return layer


def _is_named(item: Item) -> bool:
    items = item.value
    return isinstance(items, list) and bool(items) and all(_name(i) is not None for i in items)


def _has_twins(item: Item) -> bool:
    return len({_name(child) for child in item.value}) < len(item.value)


def _name(item: Item) -> _Name | None:
    """What tells an item of a list from the others: its name, or what it is a fact about."""
    if not isinstance(item.value, dict):
        return None
    for keys in (("name",), ("product", "field")):
        found = tuple(item.value[key].item.value for key in keys if key in item.value)
        if len(found) == len(keys) and all(isinstance(one, str) for one in found):
            return found
    return None


def _merge_named(base: Item, layer: Item) -> Item:
    changes: dict[_Name | None, Item] = {_name(child): child for child in layer.value}
    merged = []
    for child in base.value:
        change = changes.pop(_name(child), None)
        merged.append(child if change is None else merge(child, change))
    return Item([*merged, *changes.values()], base.file, base.line, base.column)


def blanks(item: Item) -> Iterator[tuple[str, Location]]:
    """The keys of a layer that have no value, each with its place, and items of lists without one.

    Such a key is one that somebody meant to fill in, or what is left of a thing whose fields were
    taken out; it is not meant to remove what the file below says.
    """
    if isinstance(item.value, dict):
        for key, entry in item.value.items():
            if entry.item.blank:
                yield f"'{key}'", Location(item.file, entry.line, entry.column)
            yield from blanks(entry.item)
    elif isinstance(item.value, list):
        for child in item.value:
            if child.blank:
                yield "an item", child.location
            yield from blanks(child)
