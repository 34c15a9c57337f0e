"""Mistakes in a document in the short form, without those that merely follow from a misspelt key."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from rackwright.errors import SpecErrors
from rackwright.model.cluster import Blueprint
from rackwright.model.intents import FABRIC_KEYS, POWER_KEYS
from rackwright.plan.base import Path
from rackwright.plan.derivation.derive import is_short
from rackwright.plan.derivation.draft import Draft
from rackwright.reading.problems import UnknownKey, unknown_keys
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
    misspelt = _misspelt(tree) if is_short(tree) else ()
    if not misspelt:
        return error
    rest = retry(_corrected(tree, misspelt))
    return SpecErrors([*(key.error for key in misspelt), *(rest.errors if rest else ())])


def _misspelt(tree: Tree) -> Sequence[UnknownKey]:
    """Return the keys that neither the full nor the short form knows.

    Those inside ``fabric`` and ``racks`` are found when these are read.
    """
    return unknown_keys(tree, Blueprint, _short_keys)


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
            elif name is not None and name not in value:
                entries[name] = entry
        value = entries
    return Item(value, item.file, item.line, item.column, blank=item.blank, derived=item.derived)
