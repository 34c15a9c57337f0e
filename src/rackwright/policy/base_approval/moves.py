"""Things of a base that lose hosts or loads in a change, though they stay where they are.

What is new in such a change may be where they go, so that it is held by what the base says of the
places that they leave. Else a refused hall would stay, empty, beside one that says better of itself.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import cycle, product
from typing import Any

from rackwright.model.aws import AwsSite
from rackwright.model.cluster import Blueprint
from rackwright.model.onprem import OnPremSite, RackGroup
from rackwright.policy.base_approval.things import (
    Thing,
    alike,
    groups_of,
    listed_racks,
    mappings,
    racks_of,
    things_of,
)

_WHOLE = ("fabrics", "file_systems")
"""Lists of things that lose what is said of their parts as well."""

_MOST_PAIRS = 10_000
"""Pairs of node groups that are compared; of more, the first goes with the first."""

Loads = Counter[tuple[str, str]]
"""Units by the thing that carries them, and by what they are: a product, or another thing."""


def left_things(base: Mapping[str, Any], head: Mapping[str, Any]) -> Sequence[Thing]:
    """Return the things of sites in both documents that hosts or loads leave, and what is said of groups."""
    now = {str(site.get("name")): site for site in mappings(head.get("sites"))}
    left = {
        name: _left(loads_of(site), loads_of(now[name]))
        for site in mappings(base.get("sites"))
        if (name := str(site.get("name"))) in now
    }
    if not any(left.values()):
        return ()
    return [thing for thing in things_of(Blueprint, base, ()) if _is_left(thing, left)]


def renamed_groups(
    base: Mapping[str, Any], head: Mapping[str, Any]
) -> Mapping[tuple[Any, Any], tuple[Any, Any]]:
    """Return the node groups that are gone, and the new one that each may be, by site and name."""
    before, now = groups_of(base), groups_of(head)
    gone = [place for place in before if place not in now]
    fresh = [place for place in now if place not in before]
    few = len(gone) * len(fresh) <= _MOST_PAIRS
    # One that kept its name at another site first, then the most alike.
    pairs = sorted(
        product(gone, fresh) if few else zip(gone, cycle(fresh), strict=False),
        key=lambda pair: (pair[0][1] != pair[1][1], -alike(before[pair[0]], now[pair[1]])),
    )
    found: dict[Any, Any] = {}
    for place, other in pairs:
        if place not in found and other not in found.values():
            found[place] = other
    return dict(reversed(pairs)) | found  # what is left over may be part of one that is paired


def _is_left(thing: Thing, left: Mapping[str, frozenset[str]]) -> bool:
    if thing.chain[0] != "sites":
        group, site = str(thing.item.get("group")), thing.item.get("site")
        places = left.values() if site is None else [left.get(str(site), frozenset())]
        return any(group in keys for keys in places)
    keys = left.get(thing.chain[1][0], frozenset())
    if thing.model in {OnPremSite, AwsSite}:
        return bool(keys)
    if thing.model is RackGroup:
        return not keys.isdisjoint(racks_of(thing.item))
    names = [part[0] for part in thing.chain[2:] if isinstance(part, tuple)]
    return (names[0] if thing.chain[2] in _WHOLE else "/".join(names)) in keys


def _left(base: Loads, head: Loads) -> frozenset[str]:
    """Return the things that carry less than they did, and all that carries those."""
    carriers: defaultdict[str, list[str]] = defaultdict(list)
    for carrier, load in base:
        carriers[load].append(carrier)
    lost = [carrier for carrier, _ in base - head]
    found: set[str] = set()
    while lost:
        key = lost.pop()
        if key not in found:
            found.add(key)
            lost += carriers[key]
    return frozenset(found)


def loads_of(site: Mapping[str, Any]) -> Loads:
    """Return the loads of all things of a site, by the names that stand in the document.

    A thing hangs on each name that is written in it; only a group hangs on what names it.
    """
    found: Loads = Counter()
    things: set[str] = set()

    def collect(part: Any, field: str, keys: Sequence[str]) -> None:
        if isinstance(part, list):
            for one in part:
                collect(one, field, keys)
        elif isinstance(part, Mapping):
            inner = keys
            if field == "rack_groups":
                inner = listed_racks(part)
                found.update((place, rack) for rack in inner for place in keys)
            elif isinstance(name := part.get("name"), str) and part is not site:
                inner = (*keys, f"{keys[-1]}/{name}" if keys else name)
            things.update(inner)
            if inner and ("count" in part or inner != keys):
                fill(part, field, inner[-1])
            for name, value in part.items():
                if name not in {"name", "racks"}:
                    collect(value, name, inner)
        elif isinstance(part, str):
            found.update((key, part) if field == "group" else (part, key) for key in keys)

    def fill(part: Mapping[str, Any], field: str, key: str) -> None:
        """Count the units of a product, in racks one rack after the other or as ``units`` has them."""
        count, most = _number(part, "count", 1), _number(part, "per_rack", 10**9)
        found[key, str(part.get("type", field))] += count
        stated = part.get("units")
        if isinstance(stated, Mapping):
            for names, units in stated.items():
                for rack in listed_racks({"racks": names}):
                    found[rack, key] += len(units) if isinstance(units, list) else 0
            return
        for rack in () if field == "rack_groups" else listed_racks(part):
            found[rack, key] += min(count, most)
            count -= min(count, most)

    collect(site, "", ())
    return Counter({pair: units for pair, units in found.items() if pair[0] in things})


def _number(item: Mapping[str, Any], name: str, default: int) -> int:
    value = item.get(name)
    if isinstance(value, Mapping):  # a group that grows and shrinks
        value = value.get("max")
    return value if isinstance(value, int) else default
