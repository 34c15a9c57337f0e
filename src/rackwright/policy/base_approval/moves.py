"""What of a base loses hosts or loads in a change, though it stays where it is.

What is new in such a change may be where they go, so that it is held by what the base says of the
places that they leave. Else a refused hall would stay, empty, beside one that says better of itself.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rackwright.model.aws import AwsSite
from rackwright.model.aws_instances import AwsNodeGroup
from rackwright.model.cluster import Blueprint
from rackwright.model.onprem import Hall, NodeGroup, OnPremSite, RackGroup, Row
from rackwright.policy.base_approval.things import (
    Thing,
    listed_racks,
    mappings,
    racks_of,
    things_of,
)

Key = tuple[str, ...]
"""A thing of a site: the word for what it is, and its name."""

_RACK, _GROUP, _HALL, _ROW, _NAMED = "rack", "group", "hall", "row", "named"
_WHOLE = ("fabrics", "file_systems")
"""Lists of things that lose what is said of their parts as well."""


def left_things(base: Mapping[str, Any], head: Mapping[str, Any]) -> Sequence[Thing]:
    """The things of sites in both documents that hosts or loads leave, and what is said of groups."""
    now = {str(site.get("name")): site for site in mappings(head.get("sites"))}
    left = {
        name: _left(site, now[name])
        for site in mappings(base.get("sites"))
        if (name := str(site.get("name"))) in now
    }
    if not any(left.values()):
        return ()
    return [thing for thing in things_of(Blueprint, base, ()) if _is_left(thing, left)]


def _is_left(thing: Thing, left: Mapping[str, frozenset[Key]]) -> bool:
    if thing.chain[0] != "sites":
        group, site = str(thing.item.get("group")), thing.item.get("site")
        places = left.values() if site is None else [left.get(str(site), frozenset())]
        return any((_GROUP, group) in keys for keys in places)
    keys = left.get(thing.chain[1][0], frozenset())
    if thing.model in {OnPremSite, AwsSite}:
        return bool(keys)
    return not keys.isdisjoint(_keys_of(thing))


def _keys_of(thing: Thing) -> Iterator[Key]:
    """What a thing inside a site is called in this module."""
    name = str(thing.item.get("name"))
    if thing.model is RackGroup:
        yield from ((_RACK, rack) for rack in racks_of(thing.item))
    elif thing.model in (NodeGroup, AwsNodeGroup):
        yield _GROUP, name
    elif thing.model is Hall:
        yield _HALL, name
    elif thing.model is Row:
        yield _ROW, thing.chain[3][0], name
    else:
        yield _NAMED, thing.chain[3][0] if thing.chain[2] in _WHOLE else name


def _left(base: Mapping[str, Any], head: Mapping[str, Any]) -> frozenset[Key]:
    """What of a site has fewer hosts, fewer loads or fewer units, and all that carries it."""
    links = Counter(_links(base))
    carriers: defaultdict[Key, list[Key]] = defaultdict(list)
    for user, target in links:
        carriers[user].append(target)
    lost = [key for key, _ in _units(base) - _units(head)]
    lost += [target for _, target in links - Counter(_links(head))]
    found: set[Key] = set()
    while lost:
        key = lost.pop()
        if key not in found:
            found.add(key)
            lost += carriers[key]
    return frozenset(found)


def _units(site: Mapping[str, Any]) -> Counter[tuple[Key, str]]:
    """How many units of each product there are, of a group and in a rack, and of cooling in its place."""
    found: Counter[tuple[Key, str]] = Counter()
    groups = mappings(site.get("node_groups"))
    tiers = [
        tier for fabric in mappings(site.get("fabrics")) for tier in mappings(fabric.get("tiers"))
    ]
    for group in groups:
        found[(_GROUP, str(group.get("name"))), str(group.get("type"))] += _number(group, "count")
    for group in (*groups, *tiers):
        count, most = _number(group, "count"), _number(group, "per_rack")
        for rack in listed_racks(group):
            units = min(count, most)
            found[(_RACK, rack), str(group.get("type"))] += units
            count -= units
    for key, machine in _cooling(site):
        found[key, ""] += _number(machine, "count")
    return found


def _links(site: Mapping[str, Any]) -> Iterator[tuple[Key, Key]]:
    """What hangs on what: racks on halls, rows, sources and loops, and so on."""
    for hall in mappings(site.get("halls")):
        for row in mappings(hall.get("rows")):
            places = [
                (_HALL, str(hall.get("name"))),
                (_ROW, str(hall.get("name")), str(row.get("name"))),
            ]
            for group in mappings(row.get("rack_groups")):
                feeds = [feed.get("source") for feed in mappings(group.get("feeds"))]
                cooling = _mapping(group.get("cooling"))
                names = [*feeds, cooling.get("loop"), cooling.get("rear_door_loop")]
                for rack in racks_of(group):
                    yield from (((_RACK, rack), place) for place in places)
                    yield from (((_RACK, rack), (_NAMED, str(name))) for name in names if name)
    power = mappings(_mapping(site.get("power")).get("sources"))
    for key, machine in (*_cooling(site), *(((_NAMED, str(s.get("name"))), s) for s in power)):
        names = [*_list(machine.get("fed_by")), machine.get("water"), machine.get("rejects_to")]
        names += [
            name for one in mappings(machine.get("supplies")) for name in _list(one.get("fed_by"))
        ]
        yield from ((key, (_NAMED, str(name))) for name in names if name)
    for name, users in (("fabrics", "attached"), ("file_systems", "clients")):
        for thing in mappings(site.get(name)):
            for user in mappings(thing.get(users)):
                yield (_GROUP, str(user.get("group"))), (_NAMED, str(thing.get("name")))


def _cooling(site: Mapping[str, Any]) -> Iterator[tuple[Key, Mapping[str, Any]]]:
    """Air handlers, coolant loops and plant."""
    for hall in mappings(site.get("halls")):
        yield (_HALL, str(hall.get("name"))), _mapping(hall.get("air"))
    for name in ("loops", "plant"):
        yield from (((_NAMED, str(one.get("name"))), one) for one in mappings(site.get(name)))


def _number(item: Mapping[str, Any], name: str) -> int:
    value = item.get(name)
    return value if isinstance(value, int) else 0


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _list(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list) else ()
