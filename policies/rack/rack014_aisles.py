"""RACK-014: aisles are wide enough to work in and to pull out the deepest device."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from pydantic import Field

from rackwright.api import Finding, Measure, Missing, Plan, Policy, Profile, Severity, rule
from rackwright.model.units import Metres
from rackwright.plan.racks.contributors import subject
from rackwright.policy.helpers.racks import is_over


@rule(
    "RACK-014",
    "Aisles are wide enough to work in and to pull out the deepest device",
    Severity.HIGH,
    since="0.4",
    stage="design",
    profile=Profile.PILOT,
)
class Aisles(Policy):
    """People can open doors, work on live circuits and take devices out of the racks."""

    least: Annotated[Metres, Field(ge=0.5, le=3)] = 0.9
    """Width that every aisle needs."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield a measure for each class of racks but tanks."""
        for site in plan.onprem:
            for rack in site.racks:
                if rack.kind.mode == "immersion":
                    continue
                value, limit = rack.kind.aisle_m, max(self.least, rack.kind.deepest_m or 0.0)
                deepest = (
                    "" if limit == self.least else ", out of which the deepest device is drawn,"
                )
                yield Measure(
                    subject(site, rack),
                    value=value,
                    limit=limit,
                    unit="m",
                    what=f"width of the aisles{deepest}",
                    sense="at_least",
                    fix=f"leave aisles of {limit:g} m at least, and set 'aisle_depth' to half of them"
                    if is_over(limit, value)
                    else None,
                    missing=()
                    if value is not None
                    else (Missing("'aisle_depth' of the racks", (*rack.path, "aisle_depth")),),
                )
