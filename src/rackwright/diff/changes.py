"""Differences between two blueprints, field by field.

Values are compared as the model understands them: ``1 kW`` and ``1000 W`` are the same, and so are a
default and the same value written out. Items of lists are known by their names, so that a file may
be reordered freely.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from rackwright.diff.rollouts import ORDER, is_ordered
from rackwright.errors import Location
from rackwright.harmless import visible
from rackwright.model.names import expand_hostlist
from rackwright.plan.load import LoadedPlan
from rackwright.reading.tree import Path, Tree

Kind = Literal["added", "removed", "changed"]

NOT_SET = "not set"

LONGEST_VALUE = 80
"""Characters of a value that are shown."""

_KEYS = ("name", "path", "id", "of", "racks", "type")
"""Fields that tell items of a list apart, the first one that all items have."""

_SETS = frozenset(f"sites/aws/network/{name}" for name in ("endpoints", "ssh_from", "on_premises"))
"""Lists of words in which the order means nothing."""


@dataclass(frozen=True, slots=True)
class Change:
    """One difference.

    Attributes:
        path: the field with items by name, like ``sites.sjc1.node_groups.dgx.count``.
        pattern: the field with ``*`` for items and the site's provider for its name, like
            ``sites/onprem/node_groups/*/count``.
        before: as the model holds it; None where it is absent.
        shown_before: as people wrote it.
        location: in the head; of what was removed, in the base.
        owner: the nearest list item that the field is in, as it was before.
    """

    path: str
    pattern: str
    kind: Kind
    before: Any
    after: Any
    shown_before: str
    shown_after: str
    location: Location | None
    owner: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _Place:
    """Position of the walk in both documents, and in words."""

    before: Path
    after: Path
    words: tuple[str, ...]
    pattern: tuple[str, ...]
    owner: Mapping[str, Any]

    def key(self, key: str) -> _Place:
        before, after = (*self.before, key), (*self.after, key)
        return _Place(before, after, (*self.words, key), (*self.pattern, key), self.owner)

    def item(
        self, before: int | None, after: int | None, word: str, mark: str, owner: Mapping[str, Any]
    ) -> _Place:
        return _Place(
            (*self.before, -1 if before is None else before),
            (*self.after, -1 if after is None else after),
            (*self.words, word),
            (*self.pattern, mark),
            owner,
        )


def compare(before: LoadedPlan, after: LoadedPlan) -> tuple[Change, ...]:
    """Return every difference, in the order of the model."""
    one = before.plan.blueprint.model_dump(mode="json")
    other = after.plan.blueprint.model_dump(mode="json")
    return tuple(_Comparison(before.tree, after.tree).walk(one, other, _start(one)))


def reorderings(before: LoadedPlan, after: LoadedPlan) -> tuple[Change, ...]:
    """Return the lists in which the same items stand in another order that may mean something."""
    one = before.plan.blueprint.model_dump(mode="json")
    other = after.plan.blueprint.model_dump(mode="json")
    comparison = _Comparison(before.tree, after.tree)
    for _ in comparison.walk(one, other, _start(one)):
        pass
    return tuple(comparison.reordered)


def _start(blueprint: Mapping[str, Any]) -> _Place:
    return _Place((), (), (), (), blueprint)


def whole(before: LoadedPlan | None, after: LoadedPlan | None) -> tuple[Change, ...]:
    """Return the sites of a blueprint that is added or removed as a whole."""
    loaded = before or after
    kind: Literal["added", "removed"] = "removed" if before else "added"
    if loaded is None:
        return ()
    return tuple(_whole(loaded, index, kind) for index in range(len(loaded.plan.blueprint.sites)))


def _whole(loaded: LoadedPlan, index: int, kind: Literal["added", "removed"]) -> Change:
    site = loaded.plan.blueprint.sites[index]
    data = site.model_dump(mode="json")
    text = shorten(_flow(data))
    gone = kind == "removed"
    return Change(
        path=f"sites.{site.name}",
        pattern=f"sites/{site.provider}",
        kind=kind,
        before=data if gone else None,
        after=None if gone else data,
        shown_before=text if gone else NOT_SET,
        shown_after=NOT_SET if gone else text,
        location=loaded.tree.locate(("sites", index)),
        owner=data if gone else {},
    )


class _Comparison:
    """The walk through two documents of the same model."""

    def __init__(self, before: Tree, after: Tree) -> None:
        self._before = before
        self._after = after
        self.reordered: list[Change] = []
        """Filled by ``walk``."""

    def walk(self, one: Any, other: Any, place: _Place) -> Iterator[Change]:
        """Yield the differences below ``place``."""
        if one == other:
            return
        if isinstance(one, Mapping) and isinstance(other, Mapping):
            for key in [*one, *(key for key in other if key not in one)]:
                yield from self.walk(one.get(key), other.get(key), place.key(key))
            return
        pattern = "/".join(place.pattern)
        if pattern in _SETS and _is_list(one) and _is_list(other) and set(one) == set(other):
            return
        if _is_list(one) and _is_list(other) and (pairs := _match(one, other)) is not None:
            if is_ordered(pattern):
                self._note_order(pairs, place)
            for before, after, word in pairs:
                yield from self._item(one, other, before, after, word, place)
            return
        kind: Kind = "changed"
        if any(isinstance(value, Mapping) for value in (one, other)):
            kind = "added" if one is None else "removed" if other is None else "changed"
        yield self._change(kind, one, other, place)

    def _item(
        self,
        one: Sequence[Any],
        other: Sequence[Any],
        before: int | None,
        after: int | None,
        word: str,
        place: _Place,
    ) -> Iterator[Change]:
        old: Any = None if before is None else one[before]
        new: Any = None if after is None else other[after]
        mark = (new if old is None else old)["provider"] if place.pattern == ("sites",) else "*"
        here = place.item(before, after, word, mark, old or {})
        if old is None or new is None:
            yield self._change("added" if old is None else "removed", old, new, here)
        elif old.get("provider") != new.get("provider"):  # a site became one of another kind
            gone = place.item(before, None, word, old["provider"], old)
            yield self._change("removed", old, None, gone)
            come = place.item(None, after, word, new["provider"], {})
            yield self._change("added", None, new, come)
        else:
            yield from self.walk(old, new, here)

    def _note_order(
        self, pairs: Sequence[tuple[int | None, int | None, str]], place: _Place
    ) -> None:
        """Remember that the items on both sides stand in another order."""
        kept = [
            (index, word) for was, index, word in pairs if was is not None and index is not None
        ]
        words = [word for _, word in kept]
        moved = [word for _, word in sorted(kept)]
        if words != moved:
            here = place.key(ORDER)
            self.reordered.append(self._change("changed", words, moved, here))

    def _change(self, kind: Kind, one: Any, other: Any, place: _Place) -> Change:
        removed = kind == "removed"
        tree, path = (self._before, place.before) if removed else (self._after, place.after)
        return Change(
            path=".".join(place.words),
            pattern="/".join(place.pattern),
            kind=kind,
            before=one,
            after=other,
            shown_before=_show(one, self._before, place.before),
            shown_after=_show(other, self._after, place.after),
            location=tree.locate(path),
            owner=place.owner,
        )


def _is_list(value: Any) -> bool:
    return isinstance(value, list)


def _match(
    one: Sequence[Any], other: Sequence[Any]
) -> list[tuple[int | None, int | None, str]] | None:
    """Return the pairs of equal things in two lists; None if nothing tells their items apart."""
    items = [*one, *other]
    if not all(isinstance(item, Mapping) for item in items):
        return None
    for key in _KEYS:
        if all(isinstance(item.get(key), str) for item in items):
            names = [[str(item[key]) for item in side] for side in (one, other)]
            if key == "racks":
                return _by_racks(names[0], names[1])
            if all(len(set(side)) == len(side) for side in names):
                return _by_name(names[0], names[1])
    return None


def _by_name(one: Sequence[str], other: Sequence[str]) -> list[tuple[int | None, int | None, str]]:
    places = {name: index for index, name in enumerate(other)}
    kept: list[tuple[int | None, int | None, str]] = [
        (index, places.get(name), name) for index, name in enumerate(one)
    ]
    known = set(one)
    return kept + [(None, index, name) for name, index in places.items() if name not in known]


def _by_racks(one: Sequence[str], other: Sequence[str]) -> list[tuple[int | None, int | None, str]]:
    """Return the same rack group of the other side, which has no name: the one with which it shares most racks."""
    group_of: dict[str, int] = {}
    for index, racks in enumerate(other):
        group_of |= dict.fromkeys(expand_hostlist(racks), index)
    taken: set[int] = set()
    pairs: list[tuple[int | None, int | None, str]] = []
    for index, racks in enumerate(one):
        shared = Counter(group_of[name] for name in expand_hostlist(racks) if name in group_of)
        ranked = sorted((-count, place) for place, count in shared.items() if place not in taken)
        best = ranked[0][1] if ranked else None
        if best is not None:
            taken.add(best)
        pairs.append((index, best, racks))
    rest = (index for index in range(len(other)) if index not in taken)
    return pairs + [(None, index, other[index]) for index in rest]


def _show(value: Any, tree: Tree, path: Path) -> str:
    """Return the value in one line: in the words of the file where it is a scalar there."""
    if value is None:
        return NOT_SET
    written = _written(tree, path)
    return shorten(written if written is not None else _flow(value))


def _written(tree: Tree, path: Path) -> str | None:
    value: Any = tree.data
    for part in path:
        try:
            value = value[part]
        except (LookupError, TypeError):
            return None  # a default, which the file does not mention
    return None if value is None or isinstance(value, (Mapping, list)) else _flow(value)


def _flow(value: Any) -> str:
    """Return the value as YAML would have it in one line; what is not set is left out."""
    if isinstance(value, Mapping):
        inside = ", ".join(f"{k}: {_flow(v)}" for k, v in value.items() if v not in (None, [], {}))
        return f"{{{inside}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(_flow, value))}]"
    return value if isinstance(value, str) else json.dumps(value)


def shorten(text: str) -> str:
    """Return ``text`` in one line that fits a table, without what would steer a terminal."""
    shown = visible(" ".join(text.split()))
    return shown if len(shown) <= LONGEST_VALUE else shown[: LONGEST_VALUE - 1] + "…"
