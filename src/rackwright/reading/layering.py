"""Layers: a file put over another one changes what it names and leaves the rest."""

from __future__ import annotations

import re

from rackwright.errors import Location, SpecError, SpecErrors
from rackwright.harmless import visible
from rackwright.reading.tree import Item, KeyValue

_Name = tuple[str, ...]


def merge(base: Item, layer: Item) -> Item:
    """Return ``base`` with ``layer`` over it; every value keeps the position that it came from.

    Mappings merge by key, and ``null`` removes a key. Lists whose items all have a ``name`` merge
    by name, and facts by product and field; new ones go to the end. Any other value is replaced,
    and so is a list by an empty one.

    Raises:
        SpecErrors: a layer gives a name twice, or a mapping where there is a list of named items.
    """
    if isinstance(base.value, dict) and isinstance(layer.value, dict):
        merged = dict(base.value)
        for key, entry in layer.value.items():
            if entry.item.value is None:
                merged.pop(key, None)
            elif key in merged:
                _refuse_lost_items(str(key), merged[key].item, entry.item)
                item = merge(merged[key].item, entry.item)
                kept = merged[key] if item.file == merged[key].item.file else entry
                merged[key] = KeyValue(item, kept.line, kept.column)
            else:
                merged[key] = entry
        return Item(merged, base.file, base.line, base.column)
    if _is_named(base) and _is_named(layer):
        return _merge_named(base, layer)
    return layer


def _is_named(item: Item) -> bool:
    items = item.value
    return isinstance(items, list) and bool(items) and all(_name(i) is not None for i in items)


def _refuse_lost_items(key: str, base: Item, layer: Item) -> None:
    """Refuse a layer that would take the place of a list of named items without naming one of them.

    Raises:
        SpecErrors: it gives a name twice, or is a mapping.
    """
    if not _is_named(base):
        return
    if isinstance(layer.value, dict):
        first = next(iter(layer.value), None)
        raise SpecErrors(
            [
                SpecError(
                    visible(f"{key}: a mapping is not a list"),
                    hint=visible(f"begin each item with '- name:', as in '- name: {first}'"),
                    location=layer.location,
                )
            ]
        )
    seen: set[_Name | None] = set()
    for child in layer.value if _is_named(layer) else ():
        if (name := _name(child)) in seen:
            text = f"{key}: '{' '.join(name or ())}' is given twice"
            hint = "write one item with all its keys"
            raise SpecErrors([SpecError(visible(text), hint=hint, location=child.location)])
        seen.add(name)


def _name(item: Item) -> _Name | None:
    """Return the identity of an item of a list: its name, or the subject of its fact."""
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


_REST_OF_A_NUMBER = re.compile(r"\d+(\s+\S.*)?")
"""Key that a comma has cut off a number, as in ``{altitude: 1,200 m}``: an error, and no blank."""


def _cut(key: object, place: Location) -> SpecError:
    hint = "a comma cuts a number: write '1200 m' for 1,200 m, and '1.5 m' for 1,5 m"
    return SpecError(f"unknown key '{visible(str(key))}'", hint=hint, location=place)


def without_blanks(layer: Item) -> tuple[Item, tuple[Location, ...]]:
    """Return a layer without the keys and items that have no value, and their places.

    Such a key is one that is still to be filled in. It neither removes what the file below has, as
    ``null`` does, nor adds anything: what holds nothing else goes with it, like a fact whose value is
    missing.

    Raises:
        SpecErrors: a key without a value is the rest of a number that a comma has cut.
    """
    places: list[Location] = []
    return _filled(layer, places) or Item({}, layer.file, layer.line, layer.column), tuple(places)


def _filled(item: Item, places: list[Location]) -> Item | None:
    """Return ``item`` without blanks; None if nothing is left of it but what identifies it.

    Raises:
        SpecErrors: a blank key is the rest of a number.
    """
    count, value = len(places), item.value
    if isinstance(value, dict):
        kept: dict[object, KeyValue] = {}
        for key, entry in value.items():
            if entry.item.blank and _REST_OF_A_NUMBER.fullmatch(str(key)):
                raise SpecErrors([_cut(key, Location(item.file, entry.line, entry.column))])
            if entry.item.blank:
                places.append(Location(item.file, entry.line, entry.column))
            elif (child := _filled(entry.item, places)) is not None:
                kept[key] = KeyValue(child, entry.line, entry.column)
        value = kept
        empty = set(kept) <= {"name", "product", "field"}
    elif isinstance(value, list):
        places.extend(child.location for child in value if child.blank)
        found = (None if child.blank else _filled(child, places) for child in value)
        value = [child for child in found if child is not None]
        empty = not value
    else:
        return item
    if len(places) == count:
        return item
    return None if empty else Item(value, item.file, item.line, item.column)
