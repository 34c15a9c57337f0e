"""One mistake instead of one for every member of a union that did not fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rackwright.reading.tree import Path
from rackwright.reading.type_paths import TypePlace

Found = tuple[Mapping[str, Any], TypePlace]
"""An error of pydantic and where it leads."""

NO_MEMBER = "no_member"
"""Kind of the error that stands for several: the value is of none of the kinds allowed."""

_OTHER_KINDS = frozenset({"literal_error", "enum", "int_from_float", "is_instance_of"})


def collapse(found: Sequence[Found]) -> list[Found]:
    """Return ``found`` with the errors of one member only where a plain union did not fit.

    The member that fits best is the one whose own shape is right, whose fixed words are right,
    and that has the fewest mistakes. When the shape of none is right, one error of the kind
    ``NO_MEMBER`` carries those of the members as ``members``.
    """
    level = 0
    kept = list(found)
    while any(len(place.labels) > level for _, place in kept):
        kept = _collapse_level(kept, level)
        level += 1
    return kept


def _collapse_level(found: Sequence[Found], level: int) -> list[Found]:
    unions: dict[tuple[Any, ...], dict[Any, list[Found]]] = {}
    for detail, place in found:
        if len(place.labels) > level:
            at = place.labels[level]
            members = unions.setdefault(detail["loc"][:at], {})
            members.setdefault(detail["loc"][at], []).append((detail, place))
    kept: list[Found] = []
    for detail, place in found:
        if len(place.labels) <= level:
            kept.append((detail, place))
        elif tried := unions.pop(detail["loc"][: place.labels[level]], None):
            kept += _best(list(tried.values()), level)
    return kept


def _best(members: list[list[Found]], level: int) -> list[Found]:
    if len(members) > 1:
        if all(_is_of_another_kind(member, level) for member in members):
            return [_one_of(members[0][0][1].path, [member[0] for member in members], level)]
        words = [_wrong_words(member, level) for member in members]
        paths = {place.path for found in words for _, place in found}
        if all(words) and len(paths) == 1:  # the word that tells the members apart is wrong
            return [_one_of(paths.pop(), [found[0] for found in words], level)]
    return min(members, key=lambda member: _distance(member, level))


def _one_of(path: Path, found: list[Found], level: int) -> Found:
    detail, place = found[0]
    one = {
        "type": NO_MEMBER,
        "loc": detail["loc"],
        "input": detail.get("input"),
        "members": [member for member, _ in found],
    }
    return one, TypePlace(path, (), at_key=False, labels=place.labels[:level])


def _distance(member: list[Found], level: int) -> tuple[bool, int, int]:
    wrong = len(_wrong_words(member, level))
    return _is_of_another_kind(member, level), wrong, len(member)


def _wrong_words(member: list[Found], level: int) -> list[Found]:
    """Return the errors about fixed words directly inside the member."""
    return [
        (detail, place)
        for detail, place in member
        if detail["type"] in {"literal_error", "enum"}
        and len(detail["loc"]) == place.labels[level] + 2
    ]


def _is_of_another_kind(member: list[Found], level: int) -> bool:
    detail, place = member[0]
    kind = detail["type"]
    return len(detail["loc"]) == place.labels[level] + 1 and (
        kind in _OTHER_KINDS or kind.endswith(("_type", "_parsing"))
    )
