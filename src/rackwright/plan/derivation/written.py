"""Names of fields as a document in the short form has them.

A rule speaks of the full form. A user of the short form has neither ``rack_groups.0`` nor the source
``ups-a``, but ``racks`` and an entry of ``power.feed_path``, from which they follow.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from rackwright.errors import Location
from rackwright.model.base import Model
from rackwright.plan.base import Path
from rackwright.reading.sheet_reader import entry_name
from rackwright.reading.tree import Item, Tree

if TYPE_CHECKING:
    from rackwright.plan.model import Plan


class WrittenNames:
    """Names of places of a full document in the words of the document that it follows from.

    Args:
        written: the document as it is written.
        full: the same in its full form.
    """

    def __init__(self, written: Tree, full: Tree) -> None:
        self._written, self._full = written, full
        self._made: dict[Path, str] = {}

    def __call__(self, path: Path) -> str:
        """Return the dotted name of a place, which may be one that is not there yet."""
        if path not in self._made:
            self._made[path] = self._name(path)
        return self._made[path]

    def _name(self, path: Path) -> str:
        names = steps(self._full.data, path)
        if self._written is self._full:
            return ".".join(names)
        for length in range(len(path) - 1, 0, -1):
            item = self._full.find(path[:length])
            place = item and self._places.get((item.file, item.line, item.column))
            if place:
                return ".".join(_short((*place, *names[length:])))
        return ".".join(names)

    def of_location(self, location: Location | None) -> str | None:
        """Return the name of what is written at a place; None where nothing begins there."""
        if location is None:
            return None
        found = self._every.get((location.file, location.line, location.column))
        return None if found is None else ".".join(found)

    @cached_property
    def _places(self) -> Mapping[tuple[str, int, int], tuple[str, ...]]:
        """Names of the mappings that are written, by their file, line and column."""
        return self._named(mappings_only=True)

    @cached_property
    def _every(self) -> Mapping[tuple[str, int, int], tuple[str, ...]]:
        """Names of all values that are written, by their file, line and column."""
        return self._named(mappings_only=False)

    def _named(self, *, mappings_only: bool) -> Mapping[tuple[str, int, int], tuple[str, ...]]:
        found: dict[tuple[str, int, int], tuple[str, ...]] = {}

        def walk(item: Item, names: tuple[str, ...]) -> None:
            if isinstance(item.value, dict) or not mappings_only:
                found[item.file, item.line, item.column] = names
            if isinstance(item.value, dict):
                for key, entry in item.value.items():
                    walk(entry.item, (*names, str(key)))
            elif isinstance(item.value, list):
                named = [
                    {key: e.item.value for key, e in _entries(child).items()}
                    for child in item.value
                ]
                for index, child in enumerate(item.value):
                    walk(child, (*names, entry_name(named, index)))

        walk(self._written.root, ())
        return found


def _short(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return a name where the field of every feed is that of the power of its site."""
    for index in range(len(names) - 2):
        if names[index] == "racks" and names[index + 1] == "feeds":
            return (*names[:index], "power", *names[index + 3 :])
    return names


def name_in_full(plan: Plan, path: Path) -> str:
    """Return the name of a field in the full form of the blueprint of a plan."""
    return ".".join(steps(plan.blueprint, path))


def steps(value: Any, path: Path) -> list[str]:
    """Return the names of the steps of a path into a document or a model."""
    names: list[str] = []
    for part in path:
        names.append(_step(value, part))
        value = _child(value, part)
    return names


def _entries(item: Item) -> Mapping[str, Any]:
    return item.value if isinstance(item.value, dict) else {}


def _step(value: Any, part: str | int) -> str:
    """Return the name of a step from ``value`` to its child ``part``."""
    if not isinstance(part, int) or not isinstance(value, (list, tuple)) or part >= len(value):
        return str(part)
    entries = [_fields(one) for one in value]
    return entry_name(entries, part)


def _fields(value: Any) -> Mapping[str, Any]:
    if isinstance(value, Model):
        return value.__dict__
    return value if isinstance(value, Mapping) else {}


def _child(value: Any, part: str | int) -> Any:
    if isinstance(value, Mapping):
        return value.get(part)
    if isinstance(value, Model):
        return getattr(value, str(part), None)
    if isinstance(value, (list, tuple)) and isinstance(part, int) and 0 <= part < len(value):
        return value[part]
    return None
