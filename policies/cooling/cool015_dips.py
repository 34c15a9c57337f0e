"""COOL-015: temperatures stay within limits through voltage dips and source transfers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from pydantic import Field

from rackwright.api import (
    Finding,
    Measure,
    Plan,
    Policy,
    Profile,
    Severity,
    SitePlan,
    Subject,
    rule,
)
from rackwright.model.units import Seconds
from rackwright.plan.racks.heat_unknowns import missing_of_stage
from rackwright.plan.records.cooling import RideThrough
from rackwright.policy.helpers.racks import is_over

_SUBJECTS = {
    "flow": "cold plates of {}",
    "air": "air of {}",
    "coolant": "coolant of {}",
    "water": "facility water {}",
}
_STOPPED = {
    "flow": "time without the CDUs that the load needs",
    "air": "time without air handlers or their water",
    "coolant": "time without facility water",
    "water": "time without heat rejection",
}


@rule(
    "COOL-015",
    "Temperatures stay within limits through voltage dips and source transfers",
    Severity.CRITICAL,
    since="0.4",
    stage="design",
    profile=Profile.PRODUCTION,
)
class Dips(Policy):
    """Nothing is warmer than it may be when machines cool again after a dip or a transfer."""

    still: Annotated[Seconds, Field(ge=0, le=600)] = 0.0
    """Time for which the makers of all products on a loop let their cold plates stand without flow."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield a measure for each hall, loop and circuit of water that a dip or a transfer leaves without cooling."""
        for site in plan.onprem:
            for row in site.cooling.ride_through:
                if row.heat_w != 0 and row.cause != "generators":
                    yield self._held(site, row)

    def _held(self, site: SitePlan, row: RideThrough) -> Measure:
        value = row.gap_s
        limit = self.still if row.buffer == "flow" else row.holds_s
        at_least = ""
        if value is None and is_over(row.least_gap_s, limit):
            value, at_least = row.least_gap_s, "lower bound of the "
        event = "after a dip of the utility's voltage"
        if row.cause == "transfer":
            event = "while they change to another source"
        return Measure(
            Subject(f"{site.name} {_SUBJECTS[row.buffer].format(row.of)}", row.path),
            value=value,
            limit=limit,
            unit="s",
            what=f"{at_least}{_STOPPED[row.buffer]} {event}",
            fix="feed as many of them as are needed through UPSs, from different sources ('supplies'), state what "
            "they ride through ('rides_through'), or provide more air, coolant or water"
            if is_over(value, limit)
            else None,
            missing=() if at_least else missing_of_stage(site, row),
        )
