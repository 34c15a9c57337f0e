"""COOL-012: temperatures stay within limits until cooling restarts on generators."""

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
from rackwright.model.quantities import format_quantity
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
    "COOL-012",
    "Temperatures stay within limits until cooling restarts on generators",
    Severity.CRITICAL,
    since="0.3",
    stage="design",
    profile=Profile.PRODUCTION,
)
class CoolingRideThrough(Policy):
    """Nothing is warmer than it may be when generators have started and machines cool again."""

    still: Annotated[Seconds, Field(ge=0, le=600)] = 0.0
    """Time for which the makers of all products on a loop let their cold plates stand without flow."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield a measure for each hall, loop and circuit of water that holds heat."""
        for site in plan.onprem:
            for row in site.cooling.ride_through:
                if row.heat_w != 0 and row.cause == "generators":
                    yield self._held(site, row)

    def _held(self, site: SitePlan, row: RideThrough) -> Measure:
        value = row.gap_s
        limit = self.still if row.buffer == "flow" else row.holds_s
        what = _STOPPED[row.buffer]
        if row.buffer != "flow" and value and row.rise_k is not None:
            what += f", while it warms up by {format_quantity(row.rise_k, 'K')},"
        return Measure(
            Subject(f"{site.name} {_SUBJECTS[row.buffer].format(row.of)}", row.path),
            value=value,
            limit=limit,
            unit="s",
            what=what,
            fix=_fix(row, limit) if is_over(value, limit) else None,
            missing=missing_of_stage(site, row),
        )


def _fix(row: RideThrough, limit: float | None) -> str:
    ups = "feed enough of the machines through UPSs"
    if row.buffer == "flow":
        return ups
    more = "" if not limit or not row.gap_s else f" {row.gap_s / limit:.1f} times"
    store = "air" if row.buffer == "air" else "volume, as by a tank"
    return f"{ups}, provide{more} the {store}, or machines that restart sooner"
