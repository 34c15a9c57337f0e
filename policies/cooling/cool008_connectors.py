"""COOL-008: quick connectors are rated for flow, temperature and pressure."""

from __future__ import annotations

from collections.abc import Iterator

from rackwright.api import (
    Enforcement,
    Finding,
    Measure,
    Missing,
    Plan,
    Policy,
    Profile,
    RackClass,
    RackDevice,
    Severity,
    SitePlan,
    Subject,
    rule,
)
from rackwright.model.quantities import format_quantity
from rackwright.plan.cooling.thermal import coolant_flow
from rackwright.plan.missing import of_product
from rackwright.plan.racks.contributors import NAMES, fields_lacking, subject
from rackwright.plan.records.facility import LoopLoad
from rackwright.policy.helpers.racks import is_over


@rule(
    "COOL-008",
    "Quick connectors are rated for flow, temperature and pressure",
    Severity.MEDIUM,
    since="0.1",
    stage="design",
    enforcement=Enforcement.ADVISORY,
    mandatory_since="0.4",
    profile=Profile.PRODUCTION,
)
class Connectors(Policy):
    """The coolant through a device's quick connector stays inside the connector's limits."""

    flow: bool = True
    """False if the maker of the device states connectors for its flow that no catalogue has. Temperature and pressure
    are checked all the same."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield three measures for each group of liquid-cooled devices on a loop."""
        for site in plan.onprem:
            loops = {row.loop: row for row in site.cooling.loops}
            for rack in site.racks:
                loop = loops.get(rack.kind.loop or "")
                if loop is None:
                    continue
                for device, at in _liquid(site, rack):
                    yield from _device(site, loop, device, at, with_flow=self.flow)


def _liquid(site: SitePlan, rack: RackClass) -> Iterator[tuple[RackDevice, Subject]]:
    """Yield the liquid-cooled devices of a rack, each group once."""
    seen = set()
    name = subject(site, rack).name
    for device in rack.kind.devices:
        path = rack.path_of(device)
        if device.medium not in {"air", "immersion"} and path not in seen:
            seen.add(path)
            yield device, Subject(f"{name} {device.group}", path)


def _device(
    site: SitePlan, loop: LoopLoad, device: RackDevice, at: Subject, *, with_flow: bool
) -> Iterator[Measure | Finding]:
    entry = device.entry
    if device.connector is None:
        yield Finding(
            at,
            ok=None,
            message=f"whether the quick connectors of {entry} stand the loop",
            missing=(of_product(entry, "liquid.connector", "connector"),),
        )
        return
    part = site.connectors[device.connector]
    flow, heat = device.flow_lpm, device.heat_liquid_w
    if heat is not None:
        needed = coolant_flow(heat, loop.rise_k, loop.heat_capacity)
        flow = None if needed is None else max(needed, flow or 0.0)
    supply, rise = loop.supply_c, loop.rise_k
    warm = None if supply is None else supply + rise
    lacks = fields_lacking(device, "heat_liquid_w")
    unsaid = tuple(of_product(entry, name, NAMES[name]) for name in lacks)
    if loop.heat_capacity is None:
        unsaid = (_of_loop(loop, "heat_capacity"),)
    if with_flow:
        yield _measure(at, part.connector, "flow", flow, part.flow_lpm, "L/min", unsaid)
    lacking = (_of_loop(loop, "supply_temperature"),)
    yield _measure(at, part.connector, "temperature", warm, part.fluid_max_c, "°C", lacking)
    pressure, most = loop.pressure_kpa, part.pressure_kpa
    lacking = (_of_loop(loop, "pressure"),)
    yield _measure(at, part.connector, "pressure", pressure, most, "kPa", lacking)


_REMEDIES = {
    "flow": "choose a connector for {0}, or raise 'temperature_rise'",
    "temperature": "lower the return temperature to {1}",
    "pressure": "lower the loop's 'pressure' to {1}",
}


_LIMITS = {"flow": "flow", "temperature": "max_fluid", "pressure": "max_pressure"}
"""Fields of a connector."""


def _of_loop(loop: LoopLoad, name: str) -> Missing:
    return Missing(f"'{name}' of the loop '{loop.loop}'", (*loop.path, name))


def _measure(
    at: Subject,
    part: str,
    what: str,
    value: float | None,
    limit: float | None,
    unit: str,
    lacking: tuple[Missing, ...],
) -> Measure:
    fix = None
    if value is not None and limit is not None and is_over(value, limit):
        fix = _REMEDIES[what].format(format_quantity(value, unit), format_quantity(limit, unit))
    missing = lacking if value is None else ()
    if limit is None:
        missing = (*missing, of_product(part, _LIMITS[what], f"published {what}"))
    return Measure(
        at,
        value=value,
        limit=limit,
        unit=unit,
        what=f"coolant {what} at the connector {part}",
        fix=fix,
        missing=missing,
    )
