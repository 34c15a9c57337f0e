"""Derivation from the preset of a fabric: switches, tiers, cables, managers, addresses."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from pydantic import TypeAdapter, ValidationError

from rackwright.catalog.loader import Catalogue, UnknownEntryError
from rackwright.errors import Location
from rackwright.model.fabric import Fabric, Technology
from rackwright.model.hardware import Switch
from rackwright.model.intents import FabricIntent
from rackwright.model.onprem import MOST_NAMED, NodeGroup
from rackwright.model.units import GigabitsPerSecond
from rackwright.plan.base import Path
from rackwright.plan.derivation import rules
from rackwright.plan.derivation.draft import Draft
from rackwright.plan.derivation.reading import TRIAL, read, refused
from rackwright.plan.derivation.sizing import TIERS, Shape, UnsizedError, shape
from rackwright.plan.fabric.addresses import prefix_for
from rackwright.reading.suggest import did_you_mean

Said = Mapping[str, Location]
"""Where each word of the short form is written."""

SEGMENT = "default"
"""Name of the segment that the hosts' interfaces are in."""

Gbps: TypeAdapter[float] = TypeAdapter(GigabitsPerSecond)

SWITCHES: Final[Mapping[tuple[Technology, float], str]] = {
    ("infiniband", 200.0): "qm8700",
    ("infiniband", 400.0): "qm9700",
    ("infiniband", 800.0): "q3400-ra",
    ("ethernet", 100.0): "sn4600c",
    ("ethernet", 200.0): "sn5610",
    ("ethernet", 400.0): "sn5610",
    ("ethernet", 800.0): "sn5610",
}
"""What set 1 takes, by technology and rate in Gbps: of the catalogue's switches of fixed configuration, the
managed one, whose ports run at the rate or can be split to it. Another one is written as ``switch``."""

_SIZED_BY = (
    "name",
    "role",
    "technology",
    "rate",
    "rail_optimized",
    "unit_hosts",
    "last_unit_hosts",
    "oversubscription",
    "attached",
)
"""Fields of a fabric that its number of switches depends on."""

_MOST_PORTS = 4_096
"""Ports of one switch, with those that its ports are split into; none has a tenth of them."""

_DEFAULT_PARTITION = 0x7FFF
"""Partition that every port of InfiniBand is in, as ``Segment.pkey`` counts them."""


def derive_fabric(
    draft: Draft,
    path: Path,
    intent: FabricIntent,
    said: Said,
    groups: Sequence[NodeGroup],
    catalogue: Catalogue,
) -> None:
    """Put what follows from the preset of a fabric.

    Args:
        draft: the document, in which the fabric is without the words of the short form.
        path: where the fabric is.
        intent: what is said of it.
        said: where those words are.
        groups: the node groups of its site.
        catalogue: where products are looked up.

    Raises:
        SpecErrors: something that is said contradicts the rest, or is not enough.
    """
    place = said["preset"]
    draft.put((*path, "name"), intent.role, rules.NAME, "the role of the fabric", place)
    draft.put((*path, "role"), intent.role, rules.ROLE, "no other role is written", place)
    rails = intent.preset == "rail-optimized"
    why = f"the preset is '{intent.preset}'"
    draft.put((*path, "rail_optimized"), rails, rules.RAILS, why, place)
    attached = _attached(draft, path, intent, said, groups)
    why = "named in 'groups'" if intent.groups else "each node group with the role 'compute'"
    at = said.get("groups", place)
    draft.put((*path, "attached"), [{"group": one} for one in attached], rules.GROUPS, why, at)
    _tiers_are_known(draft, path)
    entry = _switch(draft, path, intent, said, catalogue)
    products = _products(draft, path, entry, catalogue)
    why = f"that of {entry.id}"
    draft.put((*path, "technology"), entry.technology, rules.TECHNOLOGY, why, place)
    draft.put((*path, "rate"), f"{entry.rate.value:g} Gbps", rules.RATE, why, place)
    least = 2 if rails else 1
    found = _shape(draft, path, products, groups, catalogue, place=place, least=least)
    _put_tiers(draft, path, found, products, said.get("switch", place))
    _put_links(draft, path, found, place)
    if rails:
        why = f"a leaf gives {found.leaf[0]} of its {found.layout.tiers[0].radix} ports to hosts"
        draft.put((*path, "unit_hosts"), found.layout.unit_hosts, rules.UNIT, why, place)
    if draft.data((*path, "technology")) == "infiniband":
        if products[0].id in SWITCHES.values():  # others may have no manager
            managers = [{"at": TIERS[0], "count": min(2, found.layout.tiers[0].switches)}]
            why = f"one {products[0].id} manages the fabric, and another one takes over"
            draft.put((*path, "subnet_managers"), managers, rules.MANAGERS, why, place)
        why = "the fabric is a fat tree"
        draft.put((*path, "routing_engine"), "ftree", rules.ENGINE, why, place)
    if intent.network is not None:
        _put_addresses(draft, path, intent.network, found, said["network"])


def _attached(
    draft: Draft, path: Path, intent: FabricIntent, said: Said, groups: Sequence[NodeGroup]
) -> list[str]:
    """Return the names of the node groups on a fabric.

    Raises:
        SpecErrors: a group that is named is none of the site, or none is named, attached or for
            compute.
    """  # noqa: DOC501 - refused() makes the SpecErrors
    known = [group.name for group in groups]
    for name in intent.groups or ():
        if name not in known:
            message = f"'groups' names '{name}', which is no node group of the site"
            raise refused(draft, path, message, did_you_mean(name, known), said["groups"])
    found = list(intent.groups or (g.name for g in groups if g.role == "compute"))
    if not found and draft.data((*path, "attached")) is None:
        message = "no node group of the site has the role 'compute'"
        hint = "name those that are on the fabric: 'groups'"
        raise refused(draft, path, message, hint, said["preset"])
    return found


def _tiers_are_known(draft: Draft, path: Path) -> None:
    """Refuse tiers that no preset has.

    Raises:
        SpecErrors: there is one.
    """  # noqa: DOC501 - refused() makes the SpecErrors
    listed = draft.data((*path, "tiers"))
    for index, tier in enumerate(listed if isinstance(listed, list) else ()):
        name = tier.get("name") if isinstance(tier, dict) else None
        if isinstance(name, str) and name not in TIERS:
            raise refused(
                draft,
                (*path, "tiers", index),
                f"a preset has the tiers {', '.join(TIERS)}, and none called '{name}'",
                did_you_mean(name, TIERS) or "write the fabric in full, without 'preset'",
            )


def _switch(
    draft: Draft, path: Path, intent: FabricIntent, said: Said, catalogue: Catalogue
) -> Switch:
    """Return the product of the tiers that name no other.

    Raises:
        SpecErrors: none follows, or the catalogue does not have it.
    """  # noqa: DOC501 - refused() makes the SpecErrors
    name = intent.switch
    if name is None and intent.technology is not None and intent.rate is not None:
        name = SWITCHES.get((intent.technology, intent.rate))
    if name is None:
        lacks = [f"'{key}'" for key in ("technology", "rate") if getattr(intent, key) is None]
        message = (
            f"which switch it has does not follow without {' and '.join(lacks)}"
            if lacks
            else f"no rule chooses a switch for {intent.rate:g} Gbps {intent.technology}"
        )
        known = ", ".join(f"{kind} at {rate:g} Gbps" for kind, rate in SWITCHES)
        hint = f"write 'switch', a catalogue id; there is a rule for {known}"
        raise refused(draft, path, message, hint, said["preset"])
    return _product(draft, path, name, said.get("switch", said["preset"]), catalogue)


def _product(draft: Draft, path: Path, name: str, place: Location, catalogue: Catalogue) -> Switch:
    try:
        entry = catalogue.get(Switch, name)
    except UnknownEntryError as error:
        raise refused(draft, path, error.summary, error.hint, place) from None
    if entry.uplinks:
        raise refused(
            draft,
            path,
            f"the ports of {entry.id} that lead upwards are of another kind, and no preset knows "
            "what is above them",
            "write the tiers and links in full, without 'preset'",
            place,
        )
    return entry


def _products(
    draft: Draft, path: Path, default: Switch, catalogue: Catalogue
) -> tuple[Switch, ...]:
    """Return the product of each tier: the one that is written for it, or the default."""
    found = dict.fromkeys(TIERS, default)
    for index, tier in enumerate(_mappings(draft.data((*path, "tiers")))):
        name, kind = tier.get("name"), tier.get("type")
        if name in found and isinstance(kind, str):
            at = (*path, "tiers", index)
            found[name] = _product(draft, at, kind, draft.place((*at, "type")), catalogue)
    return tuple(found.values())


def _shape(
    draft: Draft,
    path: Path,
    products: Sequence[Switch],
    groups: Sequence[NodeGroup],
    catalogue: Catalogue,
    *,
    place: Location,
    least: int,
) -> Shape:
    """Return the fabric with its tiers counted.

    Raises:
        SpecErrors: what it is sized by is not valid or not known.
    """  # noqa: DOC501 - refused() makes the SpecErrors
    data = draft.data(path)
    sized: dict[str, Any] = {key: data[key] for key in _SIZED_BY if key in data}
    said = {tier["name"]: tier for tier in _mappings(data.get("tiers")) if "name" in tier}
    tiers = [
        {
            "split": _split(product, sized.get("rate")),
            **{key: said[name][key] for key in ("split", "count") if key in said.get(name, {})},
            "name": name,
            "type": product.id,
            "racks": TRIAL,
            "per_rack": 1,
        }
        for name, product in zip(TIERS, products, strict=True)
    ]
    fabric = read(draft, Fabric, {**sized, "tiers": [{"count": 1, **one} for one in tiers]}, path)
    for number, tier in enumerate(fabric.tiers):
        ports = products[number].radix * tier.split
        for key, value, most in (("count", tier.count, MOST_NAMED), ("split", ports, _MOST_PORTS)):
            if value > most:
                what = f"{value:,} ports" if key == "split" else f"{value:,} switches"
                message = (
                    f"'{key}' of '{tier.name}' makes {what}, and a preset has at most {most:,}"
                )
                raise refused(draft, (*path, "tiers"), message, f"write a smaller '{key}'")
    known = [group.name for group in groups]
    for index, attachment in enumerate(fabric.attached):
        if attachment.group not in known:
            message = f"'{attachment.group}' is no node group of the site"
            hint = did_you_mean(attachment.group, known)
            raise refused(draft, (*path, "attached", index, "group"), message, hint)
    written = {
        name: fabric.tiers[n].count for n, name in enumerate(TIERS) if "count" in said.get(name, {})
    }
    least = max([least, *(n for n, name in enumerate(TIERS, 1) if name in said)])
    try:
        return shape(fabric, groups, catalogue, written, least=least)
    except UnsizedError as error:
        raise refused(draft, path, error.summary, error.hint, place) from None
    except UnknownEntryError as error:
        raise refused(draft, path, error.summary, error.hint, place) from None


def _split(product: Switch, rate: Any) -> int:
    """Return the parts that a port is split into, so that each runs at the rate that is written."""
    try:
        wanted = Gbps.validate_python(rate)
    except ValidationError:
        return 1  # the model says so
    times = product.rate.value / wanted if wanted else 1.0
    return int(times) if times >= 1 and times == int(times) else 1


def _put_tiers(
    draft: Draft, path: Path, found: Shape, products: Sequence[Switch], place: Location
) -> None:
    layout = found.layout
    names = TIERS[: len(layout.tiers)]
    why = f"{layout.endpoints:,} ports of hosts"
    indexes = draft.named((*path, "tiers"), names, rules.TIERS, why, place)
    if not indexes:
        return
    reasons = tuple(_reasons(found))
    for number, name in enumerate(names):
        here, product = (*path, "tiers", indexes[name]), products[number]
        why = f"{product.technology} at {product.rate.value:g} Gbps a port"
        draft.put((*here, "type"), product.id, rules.SWITCH, why, place)
        split = round(product.rate.value / layout.tiers[number].rate)
        if split > 1:
            why = f"{product.rate.value:g} Gbps a port are {split} links"
            draft.put((*here, "split"), split, rules.SPLIT, why, place)
        draft.put((*here, "count"), found.counts[number], rules.COUNT, reasons[number], place)


def _reasons(found: Shape) -> Iterator[str]:
    """Yield the reason for the number of switches in each tier."""
    layout, (down, up) = found.layout, found.leaf
    units = ""
    if any(hosts.rails for hosts in layout.hosts):
        units = f", one for each rail of each unit of {layout.unit_hosts} hosts"
    yield f"{layout.endpoints:,} ports of hosts, {down} on a leaf{units}"
    sizes = [tier.switches for tier in layout.tiers]
    for number in range(1, len(sizes)):
        lower, radix = sizes[number - 1], layout.tiers[number].radix
        ports = up if number == 1 else layout.up_ports(number - 1)
        yield f"{lower:,} switches below with {ports} uplinks each, on {radix} ports, spread evenly"


def _put_links(draft: Draft, path: Path, found: Shape, place: Location) -> None:
    layout = found.layout
    attached = [hosts.group.name for hosts in layout.hosts]
    of_nodes = {f"nodes-{group}" if n else "nodes": group for n, group in enumerate(attached)}
    between = [f"{name}s" for name in TIERS[1 : len(layout.tiers)]]
    names, why = [*of_nodes, *between], "what is attached, and the tiers"
    indexes = draft.named((*path, "links"), names, rules.LINKS, why, place)
    if not indexes:
        return
    for name, group in of_nodes.items():
        _put_ends(draft, (*path, "links", indexes[name]), group, TIERS[0], place)
    for number, name in enumerate(between):
        here, link = (*path, "links", indexes[name]), found.links[number]
        lower, upper = TIERS[number], TIERS[number + 1]
        _put_ends(draft, here, lower, upper, place)
        for key in ("pods", "pod_switches", "planes"):
            if key in link:
                why = f"'{upper}' has {layout.tiers[number + 1].switches:,} switches"
                draft.put((*here, key), link[key], rules.PODS, why, place)
        switches = layout.tiers[number + 1].switches // (
            link.get("pods") or link.get("planes") or 1
        )
        ports = found.leaf[1] if number == 0 else layout.up_ports(number)
        why = f"{ports} uplinks of a '{lower}' over {switches} of '{upper}'"
        draft.put((*here, "parallel"), link["parallel"], rules.PARALLEL, why, place)


def _put_ends(draft: Draft, path: Path, lower: str, upper: str, place: Location) -> None:
    why = f"'{lower}' is below '{upper}'"
    draft.put((*path, "lower"), lower, rules.LINKS, why, place)
    draft.put((*path, "upper"), upper, rules.LINKS, why, place)


def _put_addresses(draft: Draft, path: Path, network: str, found: Shape, place: Location) -> None:
    """Put the prefix of the hosts' interfaces.

    Raises:
        SpecErrors: the network has no room for them.
    """  # noqa: DOC501 - refused() makes the SpecErrors
    whole = ipaddress.ip_network(network)
    ports = found.layout.endpoints or 0
    length = prefix_for(ports, whole.version)
    if length < whole.prefixlen:
        message = f"'network' is a /{whole.prefixlen}, and {ports:,} interfaces need a /{length}"
        raise refused(draft, path, message, f"write a network of /{length} or larger", place)
    why = "the hosts have addresses"
    indexes = draft.named((*path, "segments"), [SEGMENT], rules.PREFIX, why, place)
    if not indexes:
        return
    here = (*path, "segments", indexes[SEGMENT])
    prefix = f"{whole.network_address}/{length}"
    why = f"a /{length} has an address for each of {ports:,} interfaces"
    draft.put((*here, "prefix"), prefix, rules.PREFIX, why, place)
    attached = [hosts.group.name for hosts in found.layout.hosts]
    draft.put((*here, "groups"), attached, rules.PREFIX, "all that is attached", place)
    if draft.data((*path, "technology")) == "infiniband":
        why = "the partition that every port is in"
        draft.put((*here, "pkey"), _DEFAULT_PARTITION, rules.PREFIX, why, place)


def _mappings(value: Any) -> list[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []
