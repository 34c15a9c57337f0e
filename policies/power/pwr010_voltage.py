"""PWR-010: the voltage at the outlets suits the devices."""

from __future__ import annotations

from collections.abc import Iterator

from rackwright.api import (
    FieldPath,
    Finding,
    Measure,
    Missing,
    Plan,
    Policy,
    Profile,
    RackDevice,
    Severity,
    SitePlan,
    rule,
)
from rackwright.policy.helpers.missing import of_product
from rackwright.policy.helpers.racks import POWERED, RackNames

_NO_CORD = frozenset({"hardwired", "busbar"})


@rule(
    "PWR-010",
    "The voltage at the outlets suits the devices",
    Severity.HIGH,
    since="0.1",
    profile=Profile.LAB,
)
class OutletVoltage(Policy):
    """Every device gets a voltage inside its range."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """The voltage of each PDU's circuit, and the lowest and highest at each product's inlet."""
        for site in plan.onprem:
            names = RackNames(site)
            yield from _circuits_of_pdus(site, names)
            voltages = _voltages(site)
            for (number, entry), device in _products(site).items():
                found = voltages.get(number, [])
                if not found:
                    continue
                at = names.subject(number, entry, path=device.path)
                known = [volts for volts, _ in found if volts is not None]
                unknown = tuple(
                    Missing(f"voltage of feed {path[-1]}", (*path, "circuit"))
                    for volts, path in found
                    if volts is None
                )
                yield Measure(
                    at,
                    value=None if unknown else max(known),
                    limit=device.voltage_max_v,
                    unit="V",
                    what="highest voltage at an outlet",
                    fix="choose a PDU that gives line to neutral, or a lower supply voltage",
                    missing=unknown or (of_product(entry, "voltage_max", "highest voltage"),),
                )
                yield Measure(
                    at,
                    value=None if unknown else min(known),
                    limit=device.voltage_min_v,
                    unit="V",
                    what="lowest voltage at an outlet",
                    sense="at_least",
                    fix="choose a PDU that gives line to line, or a higher supply voltage",
                    missing=unknown or (of_product(entry, "voltage_min", "lowest voltage"),),
                )


def _circuits_of_pdus(site: SitePlan, names: RackNames) -> Iterator[Measure]:
    for row in site.feeds:
        if row.pdu_voltage_v is None:
            continue
        yield Measure(
            names.subject(row.rack_class, f"feed {row.feed}", path=row.path),
            value=row.voltage_v,
            limit=row.pdu_voltage_v,
            unit="V",
            what=f"voltage of the circuit that feeds a {row.pdu_entry}",
            fix="choose a PDU for the voltage of the circuit",
            missing=(Missing("voltage of the circuit", (*row.path, "circuit")),)
            if row.voltage_v is None
            else (),
        )


def _voltages(site: SitePlan) -> dict[int, list[tuple[float | None, FieldPath]]]:
    """The voltage at the outlets of each feed of a class of racks, and the feed's place."""
    found: dict[int, list[tuple[float | None, FieldPath]]] = {}
    for row in site.feeds:
        if row.pdu_entry is not None:
            found.setdefault(row.rack_class, []).append((row.outlet_voltage_v, row.path))
    return found


def _products(site: SitePlan) -> dict[tuple[int, str], RackDevice]:
    return {
        (row.rack_class, row.entry): row
        for row in site.devices
        if row.kind in POWERED and row.psu_inlet not in _NO_CORD
    }
