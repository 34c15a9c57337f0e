"""PWR-004: breakers protect PDUs, and no outlet or branch is loaded beyond its continuous rating."""

from __future__ import annotations

from collections.abc import Iterator

from rackwright.api import (
    CircuitLoad,
    FeedLoad,
    Finding,
    Measure,
    Missing,
    Plan,
    Policy,
    Profile,
    Severity,
    SitePlan,
    rule,
)
from rackwright.policy.helpers.missing import of_product
from rackwright.policy.helpers.racks import RackNames, unknown_draw


@rule(
    "PWR-004",
    "Breakers, branches and outlets fit what is plugged in",
    Severity.HIGH,
    since="0.1",
    profile=Profile.LAB,
)
class BreakersAndCords(Policy):
    """Feed breakers, branch breakers and outlets fit what is plugged in."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Measures for each feed's breaker, and for the outlets and branches of each PDU."""
        for site in plan.onprem:
            names = RackNames(site)
            yield from _feed_breakers(site, names)
            feeds = {(row.rack_class, row.feed): row for row in site.feeds}
            for row in site.circuits:
                yield from _outlets(site, names, row, feeds[row.rack_class, row.feed])


def _feed_breakers(site: SitePlan, names: RackNames) -> Iterator[Measure]:
    for row in site.feeds:
        if row.current_a is None:
            continue
        yield Measure(
            names.subject(row.rack_class, f"feed {row.feed}", path=row.path),
            value=row.circuit_current_a,
            limit=row.current_a,
            unit="A",
            what=f"breaker of the circuit that feeds a {row.pdu_entry}",
            fix=f"protect the PDU with a breaker of {row.current_a:g} A at most",
            missing=(Missing("breaker of the circuit", (*row.path, "circuit")),),
        )


def _outlets(
    site: SitePlan, names: RackNames, row: CircuitLoad, feed: FeedLoad
) -> Iterator[Measure]:
    derate = site.power.continuous_derate / 100
    at = names.subject(row.rack_class, f"feed {row.feed} PDU {row.pdu + 1}", path=row.path)
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
            missing.append(Missing("voltage of the circuit", (*row.path, "circuit")))
        elif value is None:
            missing += unknown_draw(site, row.rack_class)
        if feed.pdu_entry is None:
            missing.append(Missing("PDU of the feed", (*row.path, "pdu")))
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
