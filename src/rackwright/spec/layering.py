"""Layers: a file put over another one changes what it names and leaves the rest."""

from __future__ import annotations

from rackwright.spec.tree import Entry, Item


def merge(base: Item, layer: Item) -> Item:
    """``base`` with ``layer`` over it; every value keeps the position that it came from.

    Mappings merge by key, and ``null`` removes a key. Lists whose items all have a ``name`` merge
    by name, new names go to the end. Any other value is replaced, and so is a list by an
    empty one or by one that gives a name twice.
    """
    if isinstance(base.value, dict) and isinstance(layer.value, dict):
        merged = dict(base.value)
        for key, entry in layer.value.items():
            if entry.item.value is None:
                merged.pop(key, None)
            elif key in merged:
                item = merge(merged[key].item, entry.item)
                kept = merged[key] if item.file == merged[key].item.file else entry
                merged[key] = Entry(item, kept.line, kept.column)
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


def _name(item: Item) -> str | None:
    if not isinstance(item.value, dict) or "name" not in item.value:
        return None
    name = item.value["name"].item.value
    return name if isinstance(name, str) else None


def _merge_named(base: Item, layer: Item) -> Item:
    changes: dict[str | None, Item] = {_name(child): child for child in layer.value}
    merged = []
    for child in base.value:
        change = changes.pop(_name(child), None)
        merged.append(child if change is None else merge(child, change))
    return Item([*merged, *changes.values()], base.file, base.line, base.column)
