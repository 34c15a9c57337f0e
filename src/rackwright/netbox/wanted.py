"""Objects that NetBox is to have by a plan, in the order in which they depend on each other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from rackwright.catalog.loader import KINDS, Catalogue
from rackwright.model.hardware import Entry, fact_value
from rackwright.model.racks import RackType
from rackwright.netbox.kinds import in_order, slug
from rackwright.plan.expansion import SitePlan
from rackwright.plan.fabric.cables import wires
from rackwright.plan.fabric.layout import Layout, find_host, port_rate
from rackwright.plan.model import Plan
from rackwright.plan.records.racks import RackClass
from rackwright.render.sheets import port_name
from rackwright.report.overview.rack import StandingDevice, view_rack

_LANES: Mapping[float, str] = {100: "edr", 200: "hdr", 400: "ndr", 800: "xdr"}
"""NetBox's words for interfaces of InfiniBand with four lanes, by their rate in Gbps."""
_COLOR = "9e9e9e"
_KBPS = 1_000_000
"""Kbps of one Gbps."""
_STANDARD_UNITS = 42
"""Height of a new rack whose product has none, as NetBox has it."""
_FACES = ("front", "rear")
_DEVICES = ("node", "switch", "pdu", "shelf", "cdu")


@dataclass(frozen=True, slots=True)
class Reference:
    """An object that another one names."""

    kind: str
    key: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class WantedObject:
    """An object of NetBox.

    Attributes:
        kind: of ``netbox.kinds``.
        key: by which NetBox has it once, with those of the objects that it belongs to.
        fields: that it is to have; a ``Reference`` for each object that it names.
        first: fields that only a new object gets, since others may keep them otherwise.
    """

    kind: str
    key: tuple[str, ...]
    fields: Mapping[str, Any]
    first: Mapping[str, Any] = field(default_factory=dict)


def wanted_of(plan: Plan, site: SitePlan, catalogue: Catalogue) -> Iterator[WantedObject]:
    """Yield the objects of a site."""
    yield WantedObject(
        "site", (site.name,), {"name": site.name}, {"slug": slug(site.name), "status": "active"}
    )
    at = Reference("site", (site.name,))
    for hall in dict.fromkeys(own.hall for own in site.racks):
        yield WantedObject(
            "location",
            (site.name, hall),
            {"name": hall, "site": at},
            {"slug": slug(hall), "status": "active"},
        )
    stands = [
        (own, name, one)
        for own in site.racks
        for name in own.names
        for one in _standing(plan, site, own, name)
    ]
    yield from _types(catalogue, stands)
    for own in site.racks:
        height = fact_value(catalogue.get(RackType, own.kind.type).height)
        for name in own.names:
            yield WantedObject(
                "rack",
                (site.name, name),
                {"name": name, "site": at},
                {
                    "location": Reference("location", (site.name, own.hall)),
                    "u_height": int(height or _STANDARD_UNITS),
                    "status": "active",
                },
            )
    names: dict[str, str] = {}
    counts: dict[tuple[str, str], int] = {}
    for own, rack, one in stands:
        wanted = _device(catalogue, site, own, rack, one, counts)
        names |= dict.fromkeys(one.names, wanted.key[1])
        yield wanted
    yield from _interfaces(site, names)
    yield from _feeds(site)
    yield from _addresses(plan, site, names)


def _standing(plan: Plan, site: SitePlan, own: RackClass, name: str) -> list[StandingDevice]:
    view = view_rack(plan, site, own, name)
    devices = (one for one in (*view.devices, *view.beside) if one.device.kind in _DEVICES)
    return sorted(devices, key=lambda one: one.number)


def _types(
    catalogue: Catalogue, stands: list[tuple[RackClass, str, StandingDevice]]
) -> Iterator[WantedObject]:
    entries: dict[str, tuple[Entry, StandingDevice]] = {}
    for _, _, one in stands:
        entries.setdefault(one.device.entry, (_entry(catalogue, one.device.entry), one))
    halves = {one.device.entry for _, _, one in stands if one.device.share in _FACES}
    for vendor in dict.fromkeys(entry.vendor for entry, _ in entries.values()):
        yield WantedObject(
            "manufacturer", (slug(vendor),), {}, {"name": vendor, "slug": slug(vendor)}
        )
    for role in dict.fromkeys(_role(one) for _, _, one in stands):
        yield WantedObject(
            "role", (slug(role),), {}, {"name": role, "slug": slug(role), "color": _COLOR}
        )
    for entry, one in entries.values():
        vendor = slug(entry.vendor)
        yield WantedObject(
            "type",
            (vendor, entry.id),
            {},
            {
                "manufacturer": Reference("manufacturer", (vendor,)),
                "model": entry.name,
                "slug": slug(entry.id),
                "u_height": one.device.height_u or 0,
                **({"is_full_depth": False} if entry.id in halves else {}),
            },
        )


def _entry(catalogue: Catalogue, entry_id: str) -> Entry:
    kind = next(kind for kind in KINDS if entry_id in catalogue.ids(kind))
    return catalogue.get(kind, entry_id)


def _role(one: StandingDevice) -> str:
    """Return the role of a device: the tier of a switch, the group of a node, else its kind."""
    return one.device.group if one.device.kind in {"node", "switch"} else one.device.kind


def _device(
    catalogue: Catalogue,
    site: SitePlan,
    own: RackClass,
    rack: str,
    one: StandingDevice,
    counts: dict[tuple[str, str], int],
) -> WantedObject:
    if one.names:
        name = one.names[0] if len(one.names) == 1 else f"{one.names[0]} … {one.names[-1]}"
    else:
        group = slug(one.device.group or one.device.kind)
        counts[rack, group] = counts.get((rack, group), 0) + 1
        name = f"{rack}-{one.device.kind}-{group}-{counts[rack, group]}"
    entry = _entry(catalogue, one.device.entry)
    fields: dict[str, Any] = {
        "name": name,
        "device_type": Reference("type", (slug(entry.vendor), entry.id)),
        "site": Reference("site", (site.name,)),
        "rack": Reference("rack", (site.name, rack)),
        # NetBox has one device at a face of a unit: the second of two side by side is in the rack alone.
        "position": None if one.device.share == "right" else one.low,
    }
    first: dict[str, Any] = {"status": "active"}
    first["role"] = Reference("role", (slug(_role(one)),))
    first["location"] = Reference("location", (site.name, own.hall))
    if fields["position"] is not None:
        first["face"] = one.device.share if one.device.share in _FACES else "front"
    return WantedObject("device", (site.name, name), fields, first)


def _interfaces(site: SitePlan, names: Mapping[str, str]) -> Iterator[WantedObject]:
    """Yield interfaces and cables of the fabrics."""
    made: dict[tuple[str, str], WantedObject] = {}
    cables: list[WantedObject] = []
    for planned in site.fabrics:
        if planned.layout is None:
            continue
        for wire in wires(planned.layout):
            ends = []
            for device, port, rate in _ends(planned.layout, wire, planned.name):
                owner = names.get(device)
                if owner is None:
                    break
                name = port if owner == device else f"{device} {port}"
                technology = planned.layout.technology
                made.setdefault((owner, name), _interface(site, owner, name, technology, rate))
                ends.append((owner, name))
            if len(ends) == 2:
                one, other = in_order(ends)
                key = (site.name, *one, *other)
                cables.append(WantedObject("cable", key, {}, {"status": "planned"}))
    yield from made.values()
    yield from cables


def _ends(layout: Layout, wire: Any, fabric: str) -> Iterator[tuple[str, str, float | None]]:
    """Yield device, name of its port and rate of both ends of a cable."""
    tiers = {name: tier for tier in layout.tiers for name in tier.names()}
    host = find_host(layout, wire.lower)
    if host is None:
        lower = tiers[wire.lower]
        yield wire.lower, str(wire.lower_port), lower.up_rate if lower.uplinks else lower.rate
    else:
        port = port_name(layout, wire)
        name = (
            port
            if isinstance(port, str) and layout.hosts[host[0]].parts == 1
            else f"{fabric}-{wire.lower_port}"
        )
        yield wire.lower, name, port_rate(layout.hosts[host[0]])
    yield wire.upper, str(wire.upper_port), tiers[wire.upper].rate


def _interface(
    site: SitePlan, device: str, port: str, technology: str | None, rate: float | None
) -> WantedObject:
    word = "other"
    if technology == "infiniband" and rate is not None and rate in _LANES:
        word = f"infiniband-{_LANES[rate]}"
    first: dict[str, Any] = {"type": word}
    if rate is not None:
        first["speed"] = int(rate * _KBPS)
    fields = {"name": port, "device": Reference("device", (site.name, device))}
    return WantedObject("interface", (site.name, device, port), fields, first)


def _feeds(site: SitePlan) -> Iterator[WantedObject]:
    """Yield a panel for each source, and the feeds of racks from it."""
    panels: dict[str, None] = {}
    feeds: list[WantedObject] = []
    for own in site.racks:
        for feed, source, _ in own.feeds:
            if not source or feed.voltage_v is None:
                continue
            panels.setdefault(source)
            current = feed.circuit_current_a or feed.current_a
            for rack in own.names:
                for number in range(1, feed.pdus + 1):
                    name = f"{rack} {feed.feed}" + (f" {number}" if feed.pdus > 1 else "")
                    fields: dict[str, Any] = {
                        "name": name,
                        "power_panel": Reference("panel", (site.name, source)),
                        "rack": Reference("rack", (site.name, rack)),
                        "voltage": round(feed.voltage_v),
                        "phase": "three-phase" if feed.phases == 3 else "single-phase",
                    }
                    if current is not None:
                        fields["amperage"] = round(current)
                    feeds.append(
                        WantedObject(
                            "feed", (site.name, source, name), fields, {"status": "active"}
                        )
                    )
    at = Reference("site", (site.name,))
    for source in panels:
        yield WantedObject("panel", (site.name, source), {"name": source, "site": at})
    yield from feeds


def _addresses(plan: Plan, site: SitePlan, names: Mapping[str, str]) -> Iterator[WantedObject]:
    """Yield the addresses of hosts and switches, each on an interface of its own."""
    seen: set[tuple[str, str]] = set()
    for network in plan.names.networks:
        if network.site != site.name:
            continue
        for address in network.addresses():
            owner = names.get(address.owner)
            if owner is None:
                continue
            port = network.name if owner == address.owner else f"{address.owner} {network.name}"
            if (owner, port) not in seen:
                seen.add((owner, port))
                yield _interface(site, owner, port, None, None)
            text = f"{address.address}/{network.prefix.prefixlen}"
            yield WantedObject(
                "address",
                (text,),
                {
                    "address": text,
                    "dns_name": address.name.lower(),
                    "assigned_object_type": "dcim.interface",
                    "assigned_object_id": Reference("interface", (site.name, owner, port)),
                },
                {"status": "active"},
            )
