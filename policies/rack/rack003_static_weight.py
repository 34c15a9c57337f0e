"""RACK-003: a rack carries the weight of its contents."""

from __future__ import annotations

from collections.abc import Iterator

from rackwright.api import (
    Finding,
    Measure,
    Plan,
    Policy,
    Profile,
    RackClass,
    Severity,
    SitePlan,
    rule,
)
from rackwright.plan.racks.contributors import contributors, subject, unknowns
from rackwright.policy.helpers.racks import excess, of_weight_limit, weight_limit
from rackwright.policy.helpers.remediation import either, held_in, place_fewer, provide


@rule(
    "RACK-003",
    "A rack carries the weight of its contents",
    Severity.CRITICAL,
    since="0.1",
    stage="concept",
    profile=Profile.LAB,
    waivable=False,
)
class StaticWeight(Policy):
    """The content of a rack, or the rack with it, weighs no more than the rack is rated for."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield a measure at rest for each class of racks, and one in motion where a rating is known."""
        for site in plan.onprem:
            for rack in site.racks:
                limit = weight_limit(rack.kind, rack.kind.content_kg)
                yield _weight(site, rack, limit, rolled=False)
                if rack.kind.dynamic_rating_kg is not None:
                    yield _weight(site, rack, rack.kind.dynamic_rating_kg, rolled=True)


def _weight(site: SitePlan, rack: RackClass, limit: float | None, *, rolled: bool) -> Measure:
    value = rack.kind.content_kg
    over = excess(value, limit)
    shares = contributors(site, "weight_kg", [rack], per_rack=True) if over else ()
    missing = unknowns(site, "weight_kg", [rack])
    if limit is None:
        missing += (of_weight_limit(rack.kind),)
    what = (
        "weight of the rack with its content"
        if rack.kind.includes_rack
        else "weight of the content"
    )
    fix = None
    if over:
        later = "install devices after the rack stands"
        fix = either(
            place_fewer(shares, over),
            later if rolled else provide(value, "kg", "a rack with a rating"),
        )
    return Measure(
        subject(site, rack),
        value=value,
        limit=limit,
        unit="kg",
        what=f"{what} when the rack is rolled" if rolled else what,
        contributors=shares,
        fix=fix,
        missing=missing,
        advisory=rolled,
        suggest=held_in(site, rack, shares, over) if over and not rolled else None,
    )
