"""Mistakes in a document in the short form, without those that merely follow from a misspelt key."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from contextlib import suppress

from rackwright.errors import SpecError, SpecErrors
from rackwright.model.cluster import Blueprint
from rackwright.model.intents import FABRIC_KEYS, POWER_KEYS
from rackwright.plan.base import Path
from rackwright.plan.derivation.derive import is_short
from rackwright.plan.derivation.draft import Draft
from rackwright.plan.derivation.written import WrittenNames
from rackwright.reading.loader import EXAMPLE, LAYERS
from rackwright.reading.problems import UnknownKey, unknown_keys, wrong_values
from rackwright.reading.tree import Item, KeyValue, Tree, to_data

_SITE_KEYS = frozenset({"fabric", "racks"})
"""Keys of a site that its full form does not have."""


def without_followers(
    tree: Tree, error: SpecErrors, retry: Callable[[Tree], SpecErrors | None]
) -> SpecErrors:
    """Return the mistakes of a document: its misspelt keys, and what is wrong once they are right.

    A key of the short form that is misspelt is one from which nothing follows. What then lacks is no
    mistake of its own.

    Args:
        tree: the document as it is written.
        error: what was found in it.
        retry: returns what is wrong with a document; None for nothing.
    """
    if not is_short(tree):
        return error
    # Keys that neither form knows; those inside ``fabric`` and ``racks`` are found when these are read.
    misspelt = unknown_keys(tree, Blueprint, _short_keys)
    wrong: Sequence[SpecError] = ()
    no_list = False
    with suppress(UnicodeEncodeError):  # half a character in plain data, which is told by itself
        wrong, no_list = wrong_values(tree, Blueprint)
    rest = retry(_corrected(tree, misspelt)) if misspelt else error
    # Nothing is derived from the items of a list that is none.
    others = as_written(tree, rest).errors if rest and not no_list else ()
    told = [*(key.error for key in misspelt), *others]
    known = {mistake.location for mistake in told}
    # The sources that follow from an element tell the same key, at its value.
    lines = {(_line(mistake), mistake.summary.rpartition(": ")[2]) for mistake in told}
    more = [mistake for mistake in wrong if mistake.location not in known]
    more += [
        mistake
        for mistake in _keys_of_elements(tree)
        if (_line(mistake), mistake.summary.rpartition(": ")[2]) not in lines
    ]
    return SpecErrors([*told, *more])


def _line(mistake: SpecError) -> tuple[str, int]:
    place = mistake.location
    return ("", 0) if place is None else (place.file, place.line)


def _keys_of_elements(tree: Tree) -> list[SpecError]:
    """Return the unknown keys of the elements of ``feed_path``, which are those of sources.

    Nothing is derived from an element whose kind is wrong, and so no source would tell them.
    """
    root = Draft(tree).tree.root
    for number, site in enumerate(_items(root, "sites")):
        power = site.value.get("power") if isinstance(site.value, dict) else None
        if power and isinstance(power.item.value, dict) and "feed_path" in power.item.value:
            root = _renamed(root, ("sites", number, "power", "sources"), None)
            root = _renamed(root, ("sites", number, "power", "feed_path"), "sources")
    moved = Tree(root, to_data(root), tree.files)
    found = []
    for key in unknown_keys(moved, Blueprint, _short_keys):
        if len(key.path) == 6 and key.path[2:4] == ("power", "sources"):
            text = key.error.summary.replace(".sources.", ".feed_path.", 1)
            found.append(SpecError(text, hint=key.error.hint, location=key.error.location))
    return found


def _items(root: Item, key: str) -> Sequence[Item]:
    entry = root.value.get(key) if isinstance(root.value, dict) else None
    return entry.item.value if entry and isinstance(entry.item.value, list) else ()


def as_written(tree: Tree, error: SpecErrors) -> SpecErrors:
    """Return mistakes by the names that fields have in the document, each once.

    One value of the short form is several of the full form, and each of them is as wrong.
    """
    if not is_short(tree):
        return error
    names = WrittenNames(tree, tree)
    found: dict[tuple[object, str], SpecError] = {}
    for mistake in error.errors:
        path, colon, text = mistake.summary.partition(": ")
        written = names.of_location(mistake.location)
        name = _renamed_path(path, written) if colon and written else path
        renamed = SpecError(f"{name}{colon}{text}", hint=mistake.hint, location=mistake.location)
        found.setdefault((renamed.location, text or name), renamed)
    return SpecErrors(list(found.values()))


def _renamed_path(path: str, written: str) -> str:
    """Return a path as it is written, where it leads to what is at its place, or just inside of it."""
    parts, last = path.split("."), written.rpartition(".")[2]
    for inside in range(1, min(3, len(parts)) + 1):
        if parts[-inside] == last:
            rest = parts[len(parts) - inside + 1 :]
            return ".".join([written, *rest])
    return path


def _short_keys(path: Path) -> Collection[str]:
    """Return the keys of the short form that the mapping at ``path`` may have."""
    match path:
        case ("sites", _):
            return _SITE_KEYS
        case ("sites", _, "power"):
            return POWER_KEYS
        case ("sites", _, "fabrics", _):
            return FABRIC_KEYS
        case _:
            return ()


def _corrected(tree: Tree, misspelt: Sequence[UnknownKey]) -> Tree:
    """Return the document with each misspelt key as it is meant, or without it where nothing is near."""
    root = Draft(tree).tree.root
    for key in misspelt:
        root = _renamed(root, key.path, key.meant)
    return Tree(root, to_data(root), tree.files)


def _renamed(item: Item, path: Path, name: str | None) -> Item:
    """Return ``item`` with the key at ``path`` called ``name``; the item that is given stays as it is."""
    head, *rest = path
    value = item.value
    if isinstance(value, list) and isinstance(head, int):
        value = [
            _renamed(child, tuple(rest), name) if index == head else child
            for index, child in enumerate(value)
        ]
    elif isinstance(value, dict):
        entries: dict[object, KeyValue] = {}
        for key, entry in value.items():
            if key != head:
                entries[key] = entry
            elif rest:
                inner = _renamed(entry.item, tuple(rest), name)
                entries[key] = KeyValue(inner, entry.line, entry.column)
            elif name is not None and name not in value and name not in {LAYERS, EXAMPLE}:
                entries[name] = entry
        value = entries
    return Item(value, item.file, item.line, item.column, blank=item.blank, derived=item.derived)
