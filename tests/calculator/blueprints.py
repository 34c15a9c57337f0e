"""A site of the calculator as a blueprint and a catalogue, which is what the plan is made from."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from calculator.things import (
    Cables,
    Circuit,
    Fabric,
    Feed,
    Frame,
    Hall,
    NodeGroup,
    Number,
    Pdu,
    Product,
    RackGroup,
    Shelf,
    Site,
    Source,
    Unit,
)
from rackwright.catalog.loader import Catalogue
from rackwright.model.cluster import Blueprint
from rackwright.model.hardware import Entry, Node, PowerShelf, Switch
from rackwright.model.hardware import Pdu as PduEntry
from rackwright.model.plant import AirHandler, Cdu
from rackwright.model.racks import RackType

SOURCES = {"made": {"title": "A number of a test", "date": "2026-01-01", "confidence": "official"}}


def said(**fields: Any) -> dict[str, Any]:
    """The fields that are known."""
    return {name: value for name, value in fields.items() if value is not None}


def quantity(number: Number, unit: str) -> str | None:
    """``number`` with its unit, to the last digit."""
    return None if number is None else f"{number!r} {unit}"


def fact(number: Number, unit: str) -> dict[str, Any] | None:
    return None if number is None else {"value": quantity(number, unit), "source": "made"}


def blueprint_of(site: Site) -> dict[str, Any]:
    """The blueprint of one site, as YAML has it."""
    groups: list[dict[str, Any]] = [_group(site, group) for group in site.groups]
    made = said(
        name="lab",
        provider="onprem",
        altitude=quantity(site.altitude, "m"),
        pue=site.pue,
        power={
            "continuous_derate": f"{site.derate * 100!r} %",
            "power_factor": site.power_factor,
            "sources": [_source(source) for source in site.sources],
        },
        halls=[_hall(hall) for hall in site.halls],
        loops=[
            said(
                name=loop.name, cdu=loop.unit.id, count=loop.count, fluid=loop.fluid,
                temperature_rise=quantity(loop.rise, "K"),
                supply_temperature=quantity(loop.supply, "°C"), fed_by=list(loop.fed_by),
                heat_capacity=quantity(loop.heat_capacity, "kJ/L/K"), in_rack=loop.in_rack or None,
            )
            for loop in site.loops
        ],
        plant=None if site.plant is None else [
            said(name=one.name, kind="other", count=one.count, power=quantity(one.power, "W"),
                 fed_by=list(one.fed_by))
            for one in site.plant
        ],
        node_groups=groups,
        fabrics=[_fabric(fabric) for fabric in site.fabrics],
    )  # fmt: skip
    return {"apiVersion": "rackwright/v1", "name": "made", "sites": [made]}


def model_of(site: Site) -> Blueprint:
    """The same, read and validated."""
    return Blueprint.model_validate(blueprint_of(site))


def _circuit(circuit: Circuit | None) -> dict[str, Any] | None:
    if circuit is None:
        return None
    return {
        "voltage": quantity(circuit.voltage, "V"), "current": quantity(circuit.current, "A"),
        "phases": circuit.phases, "continuous_rated": circuit.continuous,
    }  # fmt: skip


def _source(source: Source) -> dict[str, Any]:
    modules = None
    if source.modules is not None:
        count, capacity, spare = source.modules
        modules = {"count": count, "capacity": quantity(capacity, "W"), "spare": spare}
    percent = None if source.efficiency is None else f"{source.efficiency * 100!r} %"
    return said(
        name=source.name, kind=source.kind, fed_by=list(source.fed_by), modules=modules,
        capacity=quantity(source.capacity, "W"), circuit=_circuit(source.circuit), efficiency=percent,
    )  # fmt: skip


def _hall(hall: Hall) -> dict[str, Any]:
    air = hall.air
    made = air and said(
        type=air.unit.id, count=air.count, inlet_temperature=quantity(air.inlet, "°C"),
        temperature_rise=quantity(air.rise, "K"), ashrae_class="A2", containment=air.containment,
        fed_by=list(air.fed_by),
    )  # fmt: skip
    row = {"name": "row-1", "rack_groups": [_rack_group(group) for group in hall.groups]}
    return said(name=hall.name, air=made, rows=[row])


def _feed(feed: Feed) -> dict[str, Any]:
    return said(
        name=feed.name, source=feed.source, pdu=feed.pdu and feed.pdu.id, pdus=feed.pdus,
        circuit=_circuit(feed.circuit), tap_off=feed.tap_off and {
            "current": quantity(feed.tap_off.current, "A"), "racks": feed.tap_off.racks,
            "continuous_rated": feed.tap_off.continuous,
        },
    )  # fmt: skip


def _rack_group(group: RackGroup) -> dict[str, Any]:
    door, shelves = group.door, None
    cooling = said(mode=group.mode, loop=group.loop, rear_door_loop=group.door_loop)
    if group.manifolds is not None:
        cooling["manifolds"] = said(
            count=group.manifolds.count, height=quantity(group.manifolds.height, "U"),
            weight=quantity(group.manifolds.weight, "kg"),
        )  # fmt: skip
    if door is not None:
        cooling |= said(
            rear_door_capacity=quantity(door.capacity, "W"),
            rear_door_difference=quantity(door.difference, "K"),
            rear_door_weight=quantity(door.weight, "kg"),
        )
    if group.shelves is not None:
        names = [feed.name for feed in group.feeds]
        per_feed = group.shelves.per_feed
        shelves = said(
            type=group.shelves.shelf.id, count=group.shelves.count,
            per_feed=None if per_feed is None else dict(zip(names, per_feed, strict=True)),
        )  # fmt: skip
    return said(
        racks=",".join(group.racks), type=group.frame.id, feeds=[_feed(f) for f in group.feeds],
        cooling=cooling, shelves=shelves, aisle_depth=quantity(group.aisle, "m"),
    )  # fmt: skip


def _group(site: Site, group: NodeGroup) -> dict[str, Any]:
    per_feed = None
    if group.per_feed is not None:
        (feeds,) = {one.feeds for one in site.rack_groups() if set(one.racks) & set(group.racks)}
        per_feed = {feed.name: count for feed, count in zip(feeds, group.per_feed, strict=True)}
    return said(
        name=group.name, role="compute", type=group.product.id, count=group.count,
        racks=",".join(group.racks), per_rack=group.per_rack,
        power_cap=quantity(group.cap, "W"), psus_per_feed=per_feed,
    )  # fmt: skip


def _fabric(fabric: Fabric) -> dict[str, Any]:
    tiers = [
        said(
            name=tier.name, type=tier.product.id, count=tier.count, racks=",".join(tier.racks),
            per_rack=tier.per_rack, split=tier.split, oversubscription=tier.oversubscription,
        )
        for tier in fabric.tiers
    ]  # fmt: skip
    attached = [
        said(group=one.group, interfaces=one.interfaces, split=one.split, rails=one.rails)
        for one in fabric.attached
    ]
    return said(
        name=fabric.name, role="compute", tiers=tiers, attached=attached,
        links=[_link(link) for link in fabric.links], rail_optimized=fabric.rails,
        unit_hosts=fabric.unit_hosts, last_unit_hosts=fabric.last_unit_hosts,
        top_of_rack=fabric.top_of_rack, shared_racks=[",".join(r) for r in fabric.shared_racks],
        oversubscription=fabric.oversubscription,
    )  # fmt: skip


def _link(link: Cables) -> dict[str, Any]:
    return said(
        name=link.name, lower=link.lower, upper=link.upper, parallel=link.parallel,
        pods=link.pods if link.pods > 1 else None, pod_switches=link.pod_switches,
        planes=link.planes if link.planes > 1 else None,
    )  # fmt: skip


def catalogue_of(site: Site) -> Catalogue:
    """A catalogue of the products of a site alone; no file of it is read."""
    groups = site.rack_groups()
    found: list[Entry] = [*map(_frame, {group.frame for group in groups})]
    found += map(_pdu, {feed.pdu for group in groups for feed in group.feeds if feed.pdu})
    found += map(_shelf, {group.shelves.shelf for group in groups if group.shelves})
    found += map(_handler, {hall.air.unit for hall in site.halls if hall.air})
    found += map(_cdu, {loop.unit for loop in site.loops})
    found += map(_node, {group.product for group in site.groups})
    found += map(_switch, {tier.product for fabric in site.fabrics for tier in fabric.tiers})
    return _catalogue(found)


def _catalogue(entries: Iterable[Entry]) -> Catalogue:
    held = {(type(entry), entry.id): entry for entry in entries}
    files: dict[type[Entry], dict[str, Path]] = {}
    for kind, name in held:
        files.setdefault(kind, {})[name] = Path("made") / f"{name}.yaml"
    return Catalogue(files, held=held)


def _named(name: str, kind: str, **fields: Any) -> dict[str, Any]:
    known = said(**fields)
    cites = "'source': 'made'" in repr(known)
    sources = SOURCES if cites else {}
    return {"id": name, "kind": kind, "vendor": "Made", "name": name, "sources": sources, **known}


def _frame(frame: Frame) -> Entry:
    made = _named(
        frame.id, "rack", height=fact(frame.height, "U"), width=fact(frame.width, "m"),
        depth=fact(frame.depth, "m"), weight=fact(frame.weight, "kg"),
        immersion=said(fluid_weight=fact(frame.fluid_weight, "kg")) if frame.tank else None,
    )  # fmt: skip
    return RackType.model_validate(made)


def _pdu(pdu: Pdu) -> Entry:
    outlets = [
        {"type": kind, "count": count, "rating": fact(rating, "A")}
        for kind, count, rating in (("C13", pdu.c13, 15.0), ("C19", pdu.c19, 20.0))
        if count
    ]
    made = _named(
        pdu.id, "pdu", voltage=fact(pdu.voltage, "V"), current=fact(pdu.current, "A"),
        phases=pdu.phases, wiring=pdu.wiring, outlets=outlets, height=fact(pdu.height, "U"),
        weight=fact(pdu.weight, "kg"),
    )  # fmt: skip
    return PduEntry.model_validate(made)


def _shelf(shelf: Shelf) -> Entry:
    made = _named(
        shelf.id, "power-shelf", rating=fact(shelf.rating, "W"), supplies=6,
        rating_n_plus_1=fact(shelf.rating_n1, "W"), height=fact(shelf.height, "U"),
        weight=fact(shelf.weight, "kg"),
    )  # fmt: skip
    return PowerShelf.model_validate(made)


def _handler(unit: Unit) -> Entry:
    made = _named(
        unit.id, "air-handler", capacity=fact(unit.capacity, "W"),
        airflow=fact(unit.flow, "CFM"), power=fact(unit.power, "W"),
    )  # fmt: skip
    return AirHandler.model_validate(made)


def _cdu(unit: Unit) -> Entry:
    inside: dict[str, Any] = {}
    if unit.in_rack is not None:
        described = _device(unit.in_rack)
        taken = ("height", "weight", "airflow", "power_supplies")
        inside = {name: described.get(name) for name in taken}
        inside |= {"in_rack": True, "flow_pump_lost": fact(unit.pump_lost, "L/min")}
    made = _named(
        unit.id, "cdu", capacity=fact(unit.capacity, "W"), flow=fact(unit.flow, "L/min"),
        power=fact(unit.power, "W"), **inside,
    )  # fmt: skip
    return Cdu.model_validate(made)


def _device(product: Product) -> dict[str, Any]:
    supplies, liquid = product.supplies, None
    if product.medium != "air":
        liquid = said(heat=fact(product.liquid_heat, "W"), flow=fact(product.flow, "L/min"))
    return said(
        height=fact(product.height, "U"), depth=fact(product.depth, "m"),
        weight=fact(product.weight, "kg"), max_power=fact(product.power, "W"),
        peak_power=fact(product.peak, "W"), heat=fact(product.heat, "W"), medium=product.medium,
        airflow=fact(product.airflow, "CFM"), liquid=liquid,
        power_supplies=supplies and said(
            count=supplies.count, inlet=supplies.inlet,
            full_performance=supplies.full and {"value": supplies.full, "source": "made"},
            degraded=supplies.degraded and {"value": supplies.degraded, "source": "made"},
            degraded_power=fact(supplies.degraded_power, "W"),
        ),
    )  # fmt: skip


def _node(product: Product) -> Entry:
    accelerators = product.accelerators and said(
        count=product.accelerators, model="Made", vendor="nvidia", gres="made",
        tdp=fact(product.tdp, "W"),
    )  # fmt: skip
    ports = [{"role": "compute", "count": product.ports, "technology": "ethernet",
              "rate": fact(product.rate, "Gbps")}] if product.ports else []  # fmt: skip
    made = _named(
        product.id, "node", **_device(product), hosts=product.hosts, ports=ports,
        accelerators=accelerators or None, whole_rack=product.whole_rack,
        rack_weight_included=product.rack_included,
    )  # fmt: skip
    return Node.model_validate(made)


def _switch(product: Product) -> Entry:
    made = _named(
        product.id, "switch", **_device(product), technology="ethernet", radix=product.radix,
        rate=fact(product.rate, "Gbps"),
    )  # fmt: skip
    return Switch.model_validate(made)
