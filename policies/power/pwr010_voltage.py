"""PWR-010: the voltage at the outlets suits the devices."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from rackwright.api import (
    FieldPath,
    Finding,
    Measure,
    Missing,
    Plan,
    Policy,
    Profile,
    RackClass,
    RackDevice,
    RackKind,
    Severity,
    SitePlan,
    rule,
)
from rackwright.plan.missing import of_product
from rackwright.plan.racks.contributors import subject
from rackwright.plan.records.racks import POWERED

_NO_CORD = frozenset({"hardwired", "busbar"})


@rule(
    "PWR-010",
    "The voltage at the outlets suits the devices",
    Severity.HIGH,
    since="0.1",
    stage="design",
    profile=Profile.LAB,
)
class OutletVoltage(Policy):
    """Every device gets a voltage inside its range."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield the voltage of each PDU's circuit, and the lowest and highest at each product's inlet."""
        for site in plan.onprem:
            for rack in site.racks:
                yield from _circuits_of_pdus(site, rack)
            for rack in site.racks:
                found = [
                    (feed.outlet_voltage_v, path)
                    for feed, _, path in rack.feeds
                    if feed.pdu_entry is not None
                ]
                for device in _products(rack.kind) if found else ():
                    yield from _device(site, rack, device, found)


def _device(
    site: SitePlan,
    rack: RackClass,
    device: RackDevice,
    found: Sequence[tuple[float | None, FieldPath]],
) -> Iterator[Measure]:
    """Yield the highest and the lowest voltage at a product's inlet.

    Args:
        site: the site.
        rack: the racks that hold it.
        device: the product.
        found: voltage at the outlets of each feed with a PDU, and the feed's place.
    """
    at = subject(site, rack, device.entry, rack.path_of(device))
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
        missing=unknown or (of_product(device.entry, "voltage_max", "highest voltage"),),
    )
    yield Measure(
        at,
        value=None if unknown else min(known),
        limit=device.voltage_min_v,
        unit="V",
        what="lowest voltage at an outlet",
        sense="at_least",
        fix="choose a PDU that gives line to line, or a higher supply voltage",
        missing=unknown or (of_product(device.entry, "voltage_min", "lowest voltage"),),
    )


def _circuits_of_pdus(site: SitePlan, rack: RackClass) -> Iterator[Measure]:
    for feed, _, path in rack.feeds:
        if feed.pdu_voltage_v is None:
            continue
        yield Measure(
            subject(site, rack, f"feed {feed.feed}", path),
            value=feed.voltage_v,
            limit=feed.pdu_voltage_v,
            unit="V",
            what=f"voltage of the circuit that feeds a {feed.pdu_entry}",
            fix="choose a PDU for the voltage of the circuit",
            missing=(Missing("voltage of the circuit", (*path, "circuit")),)
            if feed.voltage_v is None
            else (),
        )


def _products(kind: RackKind) -> Iterable[RackDevice]:
    """Return a device of each product that is plugged in by cords."""
    return {
        device.entry: device
        for device in kind.devices
        if device.kind in POWERED and device.psu_inlet not in _NO_CORD
    }.values()
