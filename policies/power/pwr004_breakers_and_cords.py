"""PWR-004: breakers, branches and outlets are rated for their load."""

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
from rackwright.plan.records.circuits import CircuitLoad, FeedLoad
from rackwright.policy.helpers.racks import unknown_draw, without_inlet


@rule(
    "PWR-004",
    "Breakers, branches and outlets are rated for their load",
    Severity.HIGH,
    since="0.1",
    stage="design",
    profile=Profile.LAB,
)
class BreakersAndCords(Policy):
    """Feed breakers, branch breakers and outlets fit what is plugged in."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield measures for each feed's breaker, and for the outlets and branches of each PDU."""
        for site in plan.onprem:
            for rack in site.racks:
                yield from _feed_breakers(site, rack)
            for rack in site.racks:
                feeds = {feed.feed: feed for feed in rack.kind.feeds}
                for row in rack.kind.circuits:
                    yield from _outlets(site, rack, row, feeds[row.feed])


def _feed_breakers(site: SitePlan, rack: RackClass) -> Iterator[Measure]:
    for feed, _, path in rack.feeds:
        if feed.current_a is None:
            continue
        yield Measure(
            subject(site, rack, f"feed {feed.feed}", path),
            value=feed.circuit_current_a,
            limit=feed.current_a,
            unit="A",
            what=f"breaker of the circuit that feeds a {feed.pdu_entry}",
            fix=f"protect the PDU with a breaker of {feed.current_a:g} A at most",
            missing=(Missing("breaker of the circuit", (*path, "circuit")),),
        )


def _outlets(
    site: SitePlan, rack: RackClass, row: CircuitLoad, feed: FeedLoad
) -> Iterator[Measure]:
    derate = site.power.settings.continuous_derate / 100
    path = rack.feed_path(row.feed)
    at = subject(site, rack, f"feed {row.feed} PDU {row.pdu + 1}", path)
    parts = [
        (f"current at a {kind} outlet", worst, rating, "outlets")
        for kind, used, worst, rating in (
            ("C13", row.c13_used, row.c13_worst_a, row.c13_rating_a),
            ("C19", row.c19_used, row.c19_worst_a, row.c19_rating_a),
        )
        if used != 0
    ]
    if row.branches is not None:
        what = "current of the busiest branch breaker"
        parts.append((what, row.branch_worst_a, row.branch_rating_a, "branch_rating"))
    for what, value, rating, field in parts:
        limit = None if rating is None else rating * derate
        missing: list[str] = []
        if feed.voltage_v is None:
            missing.append(Missing("voltage of the circuit", (*path, "circuit")))
        elif value is None:
            missing += unknown_draw(site, rack)
            missing += without_inlet(rack.kind) if field == "outlets" else ()
        if feed.pdu_entry is None:
            missing.append(Missing("PDU of the feed", (*path, "pdu")))
        elif rating is None:
            missing.append(of_product(feed.pdu_entry, field, "rating of the outlets"))
        yield Measure(
            at,
            value=value,
            limit=limit,
            unit="A",
            what=what,
            fix=None
            if value is None
            else f"use outlets and branches of at least {value / derate:.1f} A",
            missing=tuple(missing),
        )
