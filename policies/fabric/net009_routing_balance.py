"""NET-009: the routes of a fabric load its links evenly."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from pydantic import Field

from rackwright.api import Finding, Measure, Missing, Plan, Policy, Profile, Severity, rule
from rackwright.plan.fabric.cables import digest
from rackwright.policy.helpers.fabrics import FabricAt, fabrics_of, missing_run, unattached


@rule(
    "NET-009",
    "Routes load the links of a fabric evenly",
    Severity.MEDIUM,
    since="0.2",
    stage="build",
    profile=Profile.PRODUCTION,
)
class RoutingBalance(Policy):
    """No link carries many more destinations than the mean of its kind."""

    ratio: Annotated[float, Field(ge=1, le=10)] = 1.05
    """Most destinations on one link over the mean of its kind."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield a measure for each InfiniBand fabric of more than one tier."""
        for found in fabrics_of(plan):
            if found.technology == "ethernet" or len(found.fabric.tiers) < 2:
                continue
            if found.layout is None:
                yield unattached(found, "how evenly the links are loaded")
            else:
                yield self._measure(found, digest(found.layout))

    def _measure(self, found: FabricAt, now: str) -> Measure:
        run = found.fabric.routing_run
        missing = missing_run(found, now)
        value = None if missing or run is None else run.balance
        if not missing and value is None:
            place = found.at("routing_run", "balance").path
            missing = (Missing("'balance' of the routing run", place),)
        over = value is not None and value > self.ratio
        return Measure(
            found.at("routing_run"),
            value=value,
            limit=self.ratio,
            unit="times the mean",
            what="number of destinations on the busiest link",
            fix="even out the cables between the tiers, or choose another engine, and route again"
            if over
            else None,
            missing=missing,
        )
