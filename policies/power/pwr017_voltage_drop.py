"""PWR-017: voltage drop leaves devices enough voltage."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated

from pydantic import Field

from rackwright.api import (
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
from rackwright.plan.missing import each_once, of_product
from rackwright.plan.racks.contributors import subject
from rackwright.plan.records.power import VoltageDrop
from rackwright.plan.records.racks import POWERED
from rackwright.policy.helpers.power import missing_of_facility
from rackwright.policy.helpers.racks import BelowSources, unknown_draw

_NO_CORD = frozenset({"hardwired", "busbar"})


@rule(
    "PWR-017",
    "Voltage drop leaves devices enough voltage",
    Severity.HIGH,
    since="0.3",
    stage="design",
    profile=Profile.PILOT,
)
class VoltageDrops(Policy):
    """The drop to each rack is small, and devices stay in their range with it and without load."""

    most_percent: Annotated[float, Field(ge=0, le=100)] = 5
    """Most drop between what regulates the voltage and the PDUs of a rack."""
    device_percent: Annotated[float, Field(ge=0, le=20)] = 10
    """How far devices work beyond the range of voltages on their plate, which is one of nominal ones."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield a measure for each feed of a class, and two for each product that is plugged in there."""
        for site in plan.onprem:
            below = BelowSources(site)
            behind: dict[RackClass, list[VoltageDrop]] = {}
            for row in site.power.voltage_drops:
                behind.setdefault(row.rack, []).append(row)
                yield Measure(
                    subject(site, row.rack, f"feed {row.feed}", row.path),
                    value=row.drop_percent,
                    limit=self.most_percent,
                    unit="%",
                    what="voltage drop under the worst load",
                    fix="use conductors of a larger cross-section, or shorter ones",
                    missing=_missing(site, below, row),
                )
            for rack, rows in behind.items():
                pdus = {feed.feed for feed in rack.kind.feeds if feed.pdu_entry is not None}
                of_pdus = [row for row in rows if row.feed in pdus]
                for device in _plugged_in(rack.kind) if of_pdus else ():
                    yield from self._device(site, below, of_pdus, device)

    def _device(
        self,
        site: SitePlan,
        below: BelowSources,
        rows: Sequence[VoltageDrop],
        device: RackDevice,
    ) -> Iterator[Measure]:
        """Yield the voltages at the outlets of a rack against what a product in it takes."""
        rack = rows[0].rack
        at = subject(site, rack, device.entry, rack.path_of(device))
        unsaid = [text for row in rows for text in row.lacks_tolerance]
        least, most = device.voltage_min_v, device.voltage_max_v
        no_least = [] if least is not None else [_range(device, "voltage_min", "lowest voltage")]
        no_most = [] if most is not None else [_range(device, "voltage_max", "highest voltage")]
        of_drop = [text for row in rows for text in _missing(site, below, row)]
        lowest = [row.lowest_outlet_v for row in rows]
        highest = [row.highest_outlet_v for row in rows]
        yield Measure(
            at,
            value=None if None in lowest else min(volts for volts in lowest if volts is not None),
            limit=None if least is None else least * (1 - self.device_percent / 100),
            unit="V",
            what="lowest voltage at an outlet, with drop and tolerance",
            sense="at_least",
            fix="use conductors of a larger cross-section, or a supply with a smaller tolerance",
            missing=each_once((*of_drop, *unsaid, *no_least)),
        )
        yield Measure(
            at,
            value=None if None in highest else max(volts for volts in highest if volts is not None),
            limit=None if most is None else most * (1 + self.device_percent / 100),
            unit="V",
            what="highest voltage at an outlet, with tolerance",
            fix="choose a lower supply voltage, or a supply with a smaller tolerance",
            missing=each_once((*unsaid, *no_most)),
        )


def _range(device: RackDevice, name: str, words: str) -> Missing:
    return of_product(device.entry, name, words)


def _missing(site: SitePlan, below: BelowSources, row: VoltageDrop) -> tuple[str, ...]:
    """Return the missing facts that make the drop to a feed unknown."""
    if row.drop_percent is not None:
        return ()
    missing = [*row.lacks, *unknown_draw(site, row.rack)]
    for source in site.power.named(row.unknown_loads):
        missing += missing_of_facility(site, source, below)
        missing += site.power.tree.missing or below.lacking(source.source)
    return each_once(missing)


def _plugged_in(kind: RackKind) -> Iterable[RackDevice]:
    """Return a device of each product that is plugged in by cords."""
    return {
        device.entry: device
        for device in kind.devices
        if device.kind in POWERED and device.psu_inlet not in _NO_CORD
    }.values()
