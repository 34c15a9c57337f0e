"""PWR-008: PDUs have enough outlets for their racks."""

from __future__ import annotations

from collections.abc import Iterator

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
    rule,
)
from rackwright.plan.missing import of_product
from rackwright.plan.racks.contributors import subject
from rackwright.plan.records.circuits import CircuitLoad
from rackwright.policy.helpers.racks import uncounted, without_inlet


@rule(
    "PWR-008",
    "PDUs have enough outlets for their racks",
    Severity.MEDIUM,
    since="0.1",
    stage="design",
    profile=Profile.LAB,
)
class OutletCount(Policy):
    """Outlets of each type suffice on every PDU."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield a measure for each type of outlet that is used on each PDU."""
        for site in plan.onprem:
            for rack in site.racks:
                pdus = {feed.feed: feed.pdu_entry for feed in rack.kind.feeds}
                for row in rack.kind.circuits:
                    yield from _outlets(site, rack, row, pdus[row.feed])


def _outlets(
    site: SitePlan, rack: RackClass, row: CircuitLoad, pdu: str | None
) -> Iterator[Measure]:
    path = rack.feed_path(row.feed)
    at = subject(site, rack, f"feed {row.feed} PDU {row.pdu + 1}", path)
    unlisted = Missing("PDU of the feed", (*path, "pdu"))
    if pdu is not None:
        unlisted = of_product(pdu, "outlets", "outlets")
    for kind, used, available in (
        ("C13", row.c13_used, row.c13_available),
        ("C19", row.c19_used, row.c19_available),
    ):
        if used == 0:
            continue
        missing = () if used is not None else (*uncounted(rack.kind), *without_inlet(rack.kind))
        if available is None:
            missing += (unlisted,)
        yield Measure(
            at,
            value=used,
            limit=available,
            unit="outlets",
            what=f"{kind} outlets in use",
            fix=f"choose a PDU with at least {used} {kind} outlets, or a second PDU on the feed",
            missing=missing,
        )
