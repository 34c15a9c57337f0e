"""RACK-015: shipping weight is at least that of the empty rack."""

from __future__ import annotations

from collections.abc import Iterator

from rackwright.api import Finding, Measure, Plan, Policy, Profile, Severity, rule
from rackwright.plan.missing import of_product
from rackwright.plan.racks.contributors import subject


@rule(
    "RACK-015",
    "Shipping weight is at least that of the empty rack",
    Severity.MEDIUM,
    since="0.5",
    stage="build",
    profile=Profile.PILOT,
)
class ShippingWeight(Policy):
    """Floors and lifts on the way are judged by a weight that the rack can have."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield a measure for each class of racks with a stated weight on its way."""
        for site in plan.onprem:
            for rack in site.racks:
                row = rack.kind.delivery
                if row.weight_kg is None:
                    continue
                yield Measure(
                    subject(site, rack, "shipping", (*rack.path, "shipping", "weight")),
                    value=row.weight_kg,
                    limit=row.empty_kg,
                    unit="kg",
                    what="weight on the delivery route, against the empty rack,",
                    sense="at_least",
                    fix="state the weight of the rack with its content and its transport",
                    missing=()
                    if row.empty_kg is not None
                    else (of_product(rack.kind.type, "weight", "weight"),),
                )
