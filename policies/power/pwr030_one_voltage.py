"""PWR-030: a circuit has the voltage of its source and the phases of its PDU."""

from __future__ import annotations

from collections.abc import Iterator
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
    Severity,
    SitePlan,
    Subject,
    rule,
)
from rackwright.plan.racks.contributors import subject
from rackwright.plan.records.power import VoltageZone


@rule(
    "PWR-030",
    "A circuit has the voltage of its source and the phases of its PDU",
    Severity.CRITICAL,
    since="0.5",
    stage="design",
    profile=Profile.LAB,
)
class OneVoltage(Policy):
    """Sources and circuits that are joined without a transformer state one nominal voltage."""

    most_percent: Annotated[float, Field(gt=0, le=20)] = 10.0
    """Largest difference of two stated voltages of one system: 380, 400 and 415 V name the same one."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield a measure for each set of sources and feeds that no transformer parts, and PDUs of other phases."""
        for site in plan.onprem:
            for zone in site.power.voltage_zones:
                yield self._zone(site, zone)
            for rack in site.racks:
                yield from _phases(site, rack)

    def _zone(self, site: SitePlan, zone: VoltageZone) -> Measure:
        high, low = zone.highest_v, zone.lowest_v
        value: float | None = None
        what = "difference of the voltages of what it feeds"
        if high is not None and low is not None:
            value = 100 * (high / low - 1)
            what = (
                f"difference between the voltage of {zone.highest} ({high:g} V) and that of "
                f"{zone.lowest} ({low:g} V), without a transformer between them,"
            )
        return Measure(
            Subject(f"{site.name} source {zone.source}", zone.path),
            value=value,
            limit=self.most_percent,
            unit="%",
            what=what,
            fix="correct the voltage, or state the transformer between them",
            missing=()
            if value is not None
            else (Missing(f"'voltage' of '{zone.source}'", (*zone.path, "voltage")),),
        )


def _phases(site: SitePlan, rack: RackClass) -> Iterator[Finding]:
    """Yield the feeds whose PDU is made for other phases than its circuit has."""
    from rackwright.plan.racks.capacity import pdu_phases

    for feed, _, path in rack.feeds:
        if feed.pdu_entry is None or feed.phases is None:
            continue
        made_for = pdu_phases(site, feed.pdu_entry)
        if made_for != feed.phases:
            words = {1: "one phase", 3: "three phases"}
            yield Finding(
                subject(site, rack, f"feed {feed.feed}", path),
                ok=False,
                message=f"the circuit has {words[feed.phases]}, and {feed.pdu_entry} is made for {words[made_for]}",
                what="phases of the circuit",
                fix=f"feed the PDU by a circuit with 'phases: {made_for}', or choose another PDU",
            )
