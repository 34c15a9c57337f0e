"""COOL-016: water is colder than the air or coolant that it cools."""

from __future__ import annotations

from collections.abc import Iterator

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
from rackwright.plan.records.cooling import WaterFit
from rackwright.plan.records.facility import LoopLoad
from rackwright.policy.helpers.racks import is_over

_WORDS = {
    "coil": (
        "water in the coils, against the air that they supply,",
        "supply colder water",
    ),
    "class": (
        "facility water, against its declared class,",
        "declare the actual class",
    ),
    "door": (
        "water in the doors, against the air behind the racks,",
        "supply colder water to the doors",
    ),
}
"""Words for the measure and for the fix, by the kind of fit."""


@rule(
    "COOL-016",
    "Water is colder than the air or coolant that it cools",
    Severity.HIGH,
    since="0.4",
    stage="design",
    profile=Profile.PILOT,
)
class WaterFits(Policy):
    """Coils, CDUs and rear doors get water that can take their heat, and say truly where it goes."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield a measure for each coil, class and door, and a finding for the CDUs of each loop."""
        for site in plan.onprem:
            for row in site.cooling.water_fits:
                yield _fit(site, row)
            for loop in site.cooling.loops:
                if loop.water is not None:
                    yield _sink(site, loop, loop.water)


def _fit(site: SitePlan, row: WaterFit) -> Measure:
    what, fix = _WORDS[row.kind]
    value, limit = row.water_c, row.limit_c
    return Measure(
        Subject(f"{site.name} {row.machine}", row.path),
        value=value,
        limit=limit,
        unit="°C",
        what=f"temperature of the {what}",
        fix=fix if is_over(value, limit) else None,
        missing=row.missing,
    )


def _sink(site: SitePlan, loop: LoopLoad, water: str) -> Finding:
    """Return the finding about where the CDUs of a loop give their heat to."""
    into_air, planned = loop.cdu_rejects_to == "air", water == "indoors"
    medium = "the air of the hall" if into_air else "facility water"
    where = {"indoors": "the air of the hall", "outdoors": "the air outside"}.get(
        water, f"the water '{water}'"
    )
    return Finding(
        Subject(f"{site.name} loop {loop.loop}", (*loop.path, "water")),
        ok=into_air == planned and water != "outdoors",
        message=f"{loop.cdu} gives its heat to {medium}, and 'water' says that it goes to {where}",
        what="where the heat of the CDUs goes",
        fix="set 'water: indoors', so that the air handlers of the hall carry it"
        if into_air
        else "name the circuit of 'facility_water' that takes it, or a CDU from liquid to air",
    )
