"""One mistake instead of one for every member of a union that did not fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rackwright.spec.typewalk import Place

Found = tuple[Mapping[str, Any], Place]
"""An error of pydantic and where it leads."""

NO_MEMBER = "no_member"
"""Kind of the error that stands for several: the value is of none of the kinds allowed."""

_OTHER_KINDS = frozenset({"literal_error", "enum", "int_from_float", "is_instance_of"})


def collapse(found: Sequence[Found]) -> list[Found]:
    """``found`` with the errors of one member only where a plain union did not fit.

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
    if len(members) > 1 and all(_is_of_another_kind(member, level) for member in members):
        firsts = [member[0][0] for member in members]
        _, place = members[0][0]
        union = firsts[0]["loc"][: place.labels[level]]
        one = {"type": NO_MEMBER, "loc": union, "input": firsts[0].get("input"), "members": firsts}
        return [(one, Place(place.path, (), at_key=False, labels=place.labels[:level]))]
    return min(members, key=lambda member: _distance(member, level))


def _distance(member: list[Found], level: int) -> tuple[bool, int, int]:
    words = sum(
        1
        for detail, place in member
        if detail["type"] in {"literal_error", "enum"}
        and len(detail["loc"]) == place.labels[level] + 2
    )
    return _is_of_another_kind(member, level), words, len(member)


def _is_of_another_kind(member: list[Found], level: int) -> bool:
    detail, place = member[0]
    kind = detail["type"]
    return len(detail["loc"]) == place.labels[level] + 1 and (
        kind in _OTHER_KINDS or kind.endswith(("_type", "_parsing"))
    )
