"""The things that a blueprint is made of, by what they are called, as its document has them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, get_args, get_origin

from rackwright.model.base import Model
from rackwright.model.cluster import Blueprint
from rackwright.model.field_kinds import Direction, marked_fields, models_in
from rackwright.model.names import expand_hostlist
from rackwright.model.onprem import NodeGroup, RackGroup

Identity = tuple[Any, ...] | frozenset[str]
Chain = tuple[Any, ...]


@dataclass(frozen=True)
class Thing:
    """An entry of a list of the base.

    Attributes:
        chain: what it and all that it is part of are called.
    """

    model: type[Model]
    chain: Chain
    identity: Identity
    item: Mapping[str, Any]


def things_of(model: type[Model], item: Mapping[str, Any], chain: Chain) -> Iterator[Thing]:
    """Yield every entry of a list, inside and out, that can claim something."""
    for name in marked_fields(model).inside:
        models, value = granting(model, name), item.get(name)
        if not models:
            continue
        for child in value if isinstance(value, list) else [value]:
            if not isinstance(child, Mapping):
                continue
            inner = model_of(models, child)
            where = (*chain, name)
            if isinstance(value, list):
                identity = identity_of(inner, child)
                where = (*where, identity)
                yield Thing(inner, where, identity, child)
            yield from things_of(inner, child, where)


def gone_things(base: Mapping[str, Any], head: Mapping[str, Any]) -> Sequence[Thing]:
    """Return the things of ``base`` that ``head`` does not have where they were."""
    now = list(things_of(Blueprint, head, ()))
    here = {(thing.model, thing.chain) for thing in now}
    racks = {
        (thing.chain[1], name)
        for thing in now
        if isinstance(thing.identity, frozenset)
        for name in thing.identity
    }
    return [
        thing
        for thing in things_of(Blueprint, base, ())
        if (
            not any((thing.chain[1], name) in racks for name in thing.identity)
            if isinstance(thing.identity, frozenset)
            else (thing.model, thing.chain) not in here
        )
    ]


def has_site(document: Mapping[str, Any], name: str) -> bool:
    """Return True if a document has a site of that name."""
    return any(site.get("name") == name for site in mappings(document.get("sites")))


def is_there(item: Mapping[str, Any], document: Mapping[str, Any]) -> bool:
    """Return True if a document has the sites, node group and product that an entry refers to, if any."""
    group, site = item.get("group"), item.get("site")
    sites = item.get("sites")
    if not all(has_site(document, name) for name in (sites if isinstance(sites, list) else ())):
        return False
    if "type" in item and not any(
        item["type"] == one.get("type") for one in groups_of(document).values()
    ):
        return False
    return group is None or any(
        group == name and site in {None, place} for place, name in groups_of(document)
    )


def groups_of(document: Mapping[str, Any]) -> Mapping[tuple[Any, Any], Mapping[str, Any]]:
    """Return the node groups of a document, by their site and their name."""
    return {
        (site.get("name"), group.get("name")): group
        for site in mappings(document.get("sites"))
        for group in mappings(site.get("node_groups"))
    }


def is_account(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Return True if two sites are in one region of one account, as far as that is stated."""
    accounts = {one.get("account"), other.get("account")} - {None}
    return one.get("region") == other.get("region") and len(accounts) < 2


def is_built_alike(
    fabric: Mapping[str, Any], site: Mapping[str, Any], document: Mapping[str, Any]
) -> bool:
    """Return True if a document has the hardware of a fabric of ``site``, and that of its hosts.

    Args:
        fabric: the fabric, with the claims of the document.
        site: its site.
        document: a base.
    """

    def built(place: Mapping[str, Any], part: Mapping[str, Any]) -> Any:
        attached = [one.get("group") for one in mappings(part.get("attached"))]
        groups = [
            {name: group.get(name) for name in marked_fields(NodeGroup).hardware}
            for group in mappings(place.get("node_groups"))
            if group.get("name") in attached
        ]
        return {**part, "routing_run": None}, groups

    return any(
        built(before, other) == built(site, fabric)
        for before in mappings(document.get("sites"))
        if before.get("name") == site.get("name")
        for other in mappings(before.get("fabrics"))
    )


def identity_of(model: type[Model], item: Mapping[str, Any]) -> Identity:
    """Return the identity of an entry among the others of its list."""
    if model is RackGroup:
        return racks_of(item)
    return tuple(_hashable(item.get(name)) for name in marked_fields(model).identity)


def is_same(model: type[Model], now: Any, base: Mapping[str, Any]) -> bool:
    """Return True if a part equals the one in its place in the base."""
    return now is None or identity_of(model, now) == identity_of(model, base)


def _hashable(value: Any) -> Any:
    return tuple(map(_hashable, value)) if isinstance(value, list) else str(value)


def listed_racks(group: Mapping[str, Any]) -> Sequence[str]:
    """Return the racks of a group in the order in which they are filled."""
    try:
        return expand_hostlist(str(group.get("racks", "")))
    except ValueError:  # of a base that is no blueprint
        return ()


def racks_of(group: Mapping[str, Any]) -> frozenset[str]:
    """Return the names of the racks of a group."""
    return frozenset(listed_racks(group))


def cables_beside(
    item: Mapping[str, Any], base: Sequence[Mapping[str, Any]], head: Sequence[Mapping[str, Any]]
) -> Sequence[Mapping[str, Any]]:
    """Return the cables of a base between the ends of new ones, those that are gone if any are.

    The way is as long whatever the cables are called.
    """
    names = [one.get("name") for one in head]
    beside = [b for b in base if all(b.get(end) == item.get(end) for end in ("lower", "upper"))]
    return [b for b in beside if b.get("name") not in names] or beside


def cut_racks(
    group: Mapping[str, Any], bases: Sequence[Mapping[str, Any]]
) -> Iterator[tuple[Mapping[str, Any], Sequence[Mapping[str, Any]]]]:
    """Yield a group in the parts that several groups of a base have, each with its own.

    Racks that none of them has come last, with all of them.
    """
    if len(bases) < 2:
        yield group, bases
        return
    names = listed_racks(group)
    for base in bases:
        yield {**group, "racks": _racks_in(names, racks_of(base))}, [base]
    known = {rack for base in bases for rack in racks_of(base)}
    if rest := _racks_in(names, {*names} - known):
        yield {**group, "racks": rest}, bases


def _racks_in(names: Sequence[str], racks: Collection[str]) -> str:
    return ",".join(name for name in names if name in racks)


def rack_groups_of(site: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the rack groups of a site, whatever row they are in."""
    for hall in mappings(site.get("halls")):
        for row in mappings(hall.get("rows")):
            yield from mappings(row.get("rack_groups"))


def mappings(value: Any) -> Sequence[Mapping[str, Any]]:
    """Return the entries of a list that are mappings; of anything else, none."""
    entries = value if isinstance(value, list) else ()
    return [child for child in entries if isinstance(child, Mapping)]


@cache
def granting(model: type[Model], name: str) -> tuple[type[Model], ...]:
    """Return the models in a field, if any of them has claims or settings, or holds one that has."""
    inner = tuple(models_in(model.model_fields[name].annotation))
    return inner if any(map(_grants, inner)) else ()


@cache
def _grants(model: type[Model]) -> bool:
    fields = marked_fields(model)
    rules = (*fields.claims.values(), *fields.settings.values())
    if fields.asked or any(rule.direction is not Direction.APART for rule in rules):
        return True
    return any(granting(model, name) for name in (*fields.parts, *fields.statements))


def model_of(models: tuple[type[Model], ...], item: Mapping[str, Any]) -> type[Model]:
    """Return the one of several models that a document's part is; they differ in a fixed word."""
    for model in models:
        for name in ("provider", "kind"):
            info = model.model_fields.get(name)
            if (
                len(models) > 1
                and info is not None
                and get_origin(info.annotation) is Literal
                and item.get(name) in get_args(info.annotation)
            ):
                return model
    return models[0]


def alike(one: Mapping[str, Any], other: Mapping[str, Any]) -> int:
    """Return the number of values that two things have in common."""
    return (Counter(leaves(one)) & Counter(leaves(other))).total()


def leaves(data: Any, above: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield every value with the keys above it, wherever it stands in a list."""
    if isinstance(data, Mapping):
        for key, value in data.items():
            yield from leaves(value, (*above, key))
    elif isinstance(data, list):
        for value in data:
            yield from leaves(value, above)
    else:
        yield above, str(data)
