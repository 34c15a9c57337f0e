"""Where the plan of a site differs from the calculator: one line each, both numbers in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import isclose
from typing import Any

from calculator import blueprints, cooling, fabric, power, sources, weight
from calculator.things import Device, Hall, Number, RackGroup, Site, times, total
from rackwright.api import Measure, Plan, RackClass, RackKind, SitePlan
from rackwright.plan.expand import expand
from rackwright.plan.fabric.cables import wires
from rackwright.plan.fabric.layout import lay_out
from rackwright.policy.packs.loader import builtin_rules


@dataclass(frozen=True, slots=True)
class Difference:
    """A number that the plan has otherwise."""

    where: str
    what: str
    calculated: object
    planned: object

    def __str__(self) -> str:
        return f"{self.where}: {self.what}: {self.calculated} by the calculator, {self.planned} by the plan"


Pairs = Iterator[Difference]


def plan_of(site: Site) -> Plan:
    """The plan of a site."""
    return expand(blueprints.model_of(site), blueprints.catalogue_of(site))


def differences(site: Site, plan: Plan | None = None) -> list[Difference]:
    """All of one site; the plan is made where none is given."""
    made = plan or plan_of(site)
    found = [*_site(site, made.onprem[0])]
    if site.fabrics:
        found += _fabrics(site, made)
    return found


def same(first: object, second: object) -> bool:
    """Whether two numbers are one but for rounding; unknown is equal to unknown alone."""
    if isinstance(first, float | int) and isinstance(second, float | int):
        return isclose(first, second, rel_tol=1e-9, abs_tol=1e-6)
    return first == second


def _pair(where: str, what: str, calculated: object, planned: object) -> Pairs:
    if not same(calculated, planned):
        yield Difference(where, what, calculated, planned)


def _site(site: Site, plan: SitePlan) -> Pairs:
    by_rack = {rack: one for one in plan.racks for rack in one.names}
    sums: dict[str, list[Any]] = {}
    for hall in site.halls:
        for group in hall.groups:
            done: set[RackClass] = set()
            for rack in group.racks:
                planned = by_rack[rack]
                devices = power.devices_in(site, rack, group)
                _collect(sums, devices, group, hall, site)
                if planned not in done:
                    done.add(planned)
                    yield from _rack(rack, devices, group, hall, site, plan, planned)
    yield from _facility(site, plan, sums)
    carried, named = sources.carried(site), {source.name: source for source in site.sources}
    for one in plan.power.sources:
        wanted, where = carried[one.source], f"source {one.source}"
        capacity = sources.capacity(named[one.source], site)
        yield from _pair(where, "capacity_w", capacity, one.capacity_w)
        yield from _pair(where, "load_w", wanted.racks, one.load_w)
        yield from _pair(where, "worst_w", wanted.racks_worst, one.worst_w)
        if sources.is_described(site) and plan.totals.it_power_w is not None:
            yield from _pair(where, "facility_w", wanted.facility, one.facility_w)
            yield from _pair(where, "facility_worst_w", wanted.facility_worst, one.facility_worst_w)


def _rack(
    rack: str,
    devices: list[Device],
    group: RackGroup,
    hall: Hall,
    site: Site,
    plan: SitePlan,
    planned: RackClass,
) -> Pairs:
    where = f"rack {rack}"
    heat = cooling.rack_heat(devices, group, hall, site)
    bulk = weight.bulk(devices, group)
    for what, calculated in (
        ("power_w", total(device.watts for device in devices)),
        ("peak_w", total(device.peak for device in devices)),
        ("heat_w", heat.whole),
        ("heat_air_w", heat.air),
        ("heat_liquid_w", heat.liquid),
        ("air_into_loop_w", heat.caught),
        ("airflow_cfm", heat.airflow),
        ("flow_lpm", heat.flow),
        ("used_u", bulk.units),
        ("content_kg", bulk.content),
        ("weight_kg", bulk.weight),
        ("footprint_m2", bulk.footprint),
    ):
        yield from _pair(where, what, calculated, getattr(planned.kind, what))
    yield from _circuits(where, devices, group, site, planned.kind)
    yield from _losses(where, devices, group, planned.kind)
    for at, feed in enumerate(group.feeds):
        if feed.tap_off is None:
            continue
        (box,) = (
            one for one in plan.power.tap_offs if (one.rack, one.feed) == (planned, feed.name)
        )
        wanted, here = (
            power.boxed(devices, group.feeds, at, len(group.racks), site),
            f"{where} box of {feed.name}",
        )
        yield from _pair(here, "racks", wanted.racks, box.racks)
        yield from _pair(here, "usable_w", wanted.usable, box.usable_w)
        yield from _pair(here, "load_w", wanted.load, box.load_w)
        yield from _pair(here, "implied_w", wanted.implied, box.implied_w)
        yield from _pair(here, "worst_w", wanted.worst, box.worst_w)


def _circuits(
    where: str,
    devices: list[Device],
    group: RackGroup,
    site: Site,
    kind: RackKind,
) -> Pairs:
    feeds = group.feeds
    normal = power.loaded(devices, feeds)
    peak = power.loaded(devices, feeds, peak=True)
    used = power.outlets_used(devices, feeds)
    planned = {(one.feed, one.pdu): one for one in kind.circuits}
    by_feed = {one.feed: one for one in kind.feeds}
    known = all(device.supplies is not None for device in devices)
    for at, feed in enumerate(feeds):
        one, at_feed = by_feed[feed.name], f"{where} feed {feed.name}"
        pdus = range(feed.pdus)
        yield from _pair(at_feed, "load_w", total(normal.load[at, pdu] for pdu in pdus), one.load_w)
        yield from _pair(at_feed, "peak_w", total(peak.load[at, pdu] for pdu in pdus), one.peak_w)
        yield from _pair(at_feed, "usable_w", power.usable(feed, site), one.usable_w)
        voltage = power.outlet_voltage(feed)
        yield from _pair(at_feed, "outlet_voltage_v", voltage, one.outlet_voltage_v)
        for pdu in pdus:
            circuit, here = planned[feed.name, pdu], f"{at_feed} PDU {pdu + 1}"
            key = at, pdu
            yield from _pair(here, "load_w", normal.load[key], circuit.load_w)
            yield from _pair(here, "implied_w", normal.implied[key], circuit.implied_w)
            yield from _pair(here, "peak_w", peak.load[key], circuit.peak_w)
            yield from _pair(here, "usable_w", power.usable(feed, site), circuit.usable_w)
            if known and feed.pdu is not None:
                c13, c19 = used.get((at, pdu, "C13"), 0), used.get((at, pdu, "C19"), 0)
                yield from _pair(here, "c13_used", c13, circuit.c13_used)
                yield from _pair(here, "c19_used", c19, circuit.c19_used)


def _losses(where: str, devices: list[Device], group: RackGroup, kind: RackKind) -> Pairs:
    feeds = group.feeds
    planned = {(one.lost, one.feed, one.pdu): one for one in kind.losses}
    seen = set()
    for name, circuits in power.losses(feeds):
        after = power.loaded(devices, feeds, circuits)
        for at, pdu in after.load:
            key = name, feeds[at].name, pdu
            seen.add(key)
            here = f"{where} feed {feeds[at].name} PDU {pdu + 1} without {name}"
            if key not in planned:
                yield Difference(here, "is judged", True, False)
                continue
            yield from _pair(here, "load_w", after.load[at, pdu], planned[key].load_w)
            yield from _pair(here, "implied_w", after.implied[at, pdu], planned[key].implied_w)
        fates = Counter(
            (device.product.id, alive, power.state(device, alive))
            for device, alive in zip(devices, after.alive, strict=True)
            if not device.on_bus
        )
        told: Counter[tuple[str, int | None, str]] = Counter()
        for one in kind.fates:
            if one.lost == name and one.entry in {e for e, _, _ in fates}:
                told[one.entry, one.alive, one.state] += one.devices
        yield from _pair(f"{where} without {name}", "fates of devices", dict(fates), dict(told))
    for lost, feed, pdu in sorted(set(planned) - seen):
        yield Difference(
            f"{where} feed {feed} PDU {pdu + 1} without {lost}", "is judged", False, True
        )


def _collect(
    sums: dict[str, list[Any]], devices: list[Device], group: RackGroup, hall: Hall, site: Site
) -> None:
    """Add the numbers of one rack to those of its hall, its loop and the site."""
    heat = cooling.rack_heat(devices, group, hall, site)
    numbers = {
        "power_w": total(device.watts for device in devices),
        "heat_air_w": heat.air,
        "heat_liquid_w": heat.liquid,
        "airflow_cfm": heat.airflow,
        "weight_kg": weight.bulk(devices, group).weight,
    }
    for name, number in numbers.items():
        sums.setdefault(f"{hall.name} {name}", []).append(number)
        sums.setdefault(f"site {name}", []).append(number)
    for loop, flow in heat.flows.items():
        sums.setdefault(f"{loop} heat_w", []).append(heat.into[loop])
        sums.setdefault(f"{loop} flow_lpm", []).append(flow)
    cold = {loop.name: loop for loop in site.loops}.get(group.loop or "")
    if cold is None or group.mode not in cooling.PLATES:
        return
    for device in devices:
        if device.product.medium != "air":
            into = cooling.heat_of(device, cold=True).liquid
            one = device.product.id, into, cooling.flow_of(device, cold)
            sums.setdefault(f"{cold.name} products", []).append(one)


def _facility(site: Site, plan: SitePlan, sums: dict[str, list[Any]]) -> Pairs:
    for hall, planned in zip(site.halls, plan.cooling.halls, strict=True):
        where = f"hall {hall.name}"
        for name in ("power_w", "heat_air_w", "heat_liquid_w", "airflow_cfm", "weight_kg"):
            wanted = total(sums[f"{hall.name} {name}"])
            yield from _pair(where, name, wanted, getattr(planned, name))
        ratio = cooling.density_ratio(site.altitude)
        yield from _pair(where, "density_ratio", ratio, planned.density_ratio)
        if hall.air is not None:
            air = cooling.hall_air(hall.air, total(sums[f"{hall.name} airflow_cfm"]), ratio)
            yield from _pair(where, "air_capacity_w", air.capacity, planned.air_capacity_w)
            yield from _pair(where, "air_capacity_n1_w", air.capacity_n1, planned.air_capacity_n1_w)
            yield from _pair(where, "air_supply_cfm", air.supply, planned.air_supply_cfm)
            yield from _pair(where, "air_supply_n1_cfm", air.supply_n1, planned.air_supply_n1_cfm)
            yield from _pair(where, "supply_cfm", air.needed, planned.supply_cfm)
    for loop, carried in zip(site.loops, plan.cooling.loops, strict=True):
        where = f"loop {loop.name}"
        for name in ("heat_w", "flow_lpm"):
            each = sums.get(f"{loop.name} {name}", [])
            wanted = _most(each) if loop.in_rack else total(each)
            yield from _pair(where, name, wanted, getattr(carried, name))
        mine = Counter(sums.get(f"{loop.name} products", []))
        listed = {
            (one.entry, one.heat_w, one.flow_lpm): one.devices
            for one in plan.cooling.loop_products
            if one.loop == loop.name
        }
        yield from _products(where, mine, listed)
        numbers: list[tuple[str, Number]] = [
            ("capacity_w", loop.unit.capacity * loop.count),
            ("capacity_n1_w", loop.unit.capacity * (loop.count - 1)),
        ]
        if loop.unit.flow is not None:
            numbers.append(("cdu_flow_lpm", loop.unit.flow * loop.count))
            numbers.append(("cdu_flow_n1_lpm", loop.unit.flow * (loop.count - 1)))
        if loop.in_rack:
            rest = 0.0 if loop.count == 1 else times(loop.unit.flow, loop.count - 1)
            numbers.append(("pump_lost_lpm", total((rest, loop.unit.pump_lost))))
        for name, number in numbers:
            yield from _pair(where, name, number, getattr(carried, name))
    for name in ("heat_air_w", "heat_liquid_w", "weight_kg"):
        yield from _pair("site", name, total(sums[f"site {name}"]), getattr(plan.totals, name))
    yield from _pair("site", "it_power_w", total(sums["site power_w"]), plan.totals.it_power_w)
    counted = all(group.product.supplies is not None for group in site.groups)
    if counted and sources.is_described(site):
        facility = sources.drawn_by_facility(site)
        yield from _pair("site", "facility_w", facility, plan.totals.facility_w)


def _most(numbers: list[Number]) -> Number:
    """The largest; unknown where one of them is, and nothing of none."""
    known = [number for number in numbers if number is not None]
    return max(known, default=0.0) if len(known) == len(numbers) else None


Product = tuple[str, Number, Number]
"""What is on a loop: its id, the W of one into the loop and its L/min."""


def _products(where: str, mine: Mapping[Product, int], planned: Mapping[Product, int]) -> Pairs:
    """Products on a loop, and how many of each; numbers that rounding tells apart are one."""
    left = dict(planned)
    for one, count in mine.items():
        match = next((p for p in left if all(map(same, one, p))), None)
        yield from _pair(where, f"number of {one}", count, None if match is None else left[match])
        if match is not None:
            del left[match]
    for one, count in left.items():
        yield from _pair(where, f"number of {one}", 0, count)


RULES = {rule.id: rule for rule in builtin_rules() if rule.id in {"NET-001", "NET-002", "NET-010"}}


def _measures(plan: Plan, rule: str) -> dict[tuple[Any, ...], list[Measure]]:
    """Measures of a rule by their place."""
    made: dict[tuple[Any, ...], list[Measure]] = {}
    for item in RULES[rule]().check(plan):
        if isinstance(item, Measure):
            made.setdefault(item.at.path, []).append(item)
    return made


def _fabrics(site: Site, plan: Plan) -> Pairs:
    counts, ratios, ports = (_measures(plan, rule) for rule in RULES)
    planned_site = plan.onprem[0].spec
    for number, one in enumerate(site.fabrics):
        wanted = fabric.counted(site, one)
        layout = lay_out(planned_site, planned_site.fabrics[number], plan.catalogue)
        if layout is None:
            yield Difference(f"fabric {one.name}", "is laid out", True, False)
            continue
        yield from _pair(f"fabric {one.name}", "homeless", wanted.homeless, sum(layout.unplaced))
        place = ("sites", 0, "fabrics", number, "tiers")
        for index, tier in enumerate(one.tiers):
            where = f"fabric {one.name} tier {tier.name}"
            at = (*place, index)
            yield from _pair(where, "switches needed", wanted.needed[index], counts[at][0].limit)
            yield from _pair(where, "ports in use", wanted.used[index], ports[at][0].value)
            if index < len(wanted.ratio):
                yield from _pair(where, "down over up", wanted.ratio[index], ratios[at][0].value)
        cables = {(w.lower, w.lower_port, w.upper, w.upper_port) for w in wires(layout)}
        mine = {(c.lower, c.lower_port, c.upper, c.upper_port) for c in wanted.cables}
        yield from _pair(f"fabric {one.name}", "number of cables", wanted.number, len(cables))
        if mine != cables:
            first, second = sorted(mine - cables)[:3], sorted(cables - mine)[:3]
            yield Difference(
                f"fabric {one.name}", f"cables ({len(mine - cables)} differ)", first, second
            )
