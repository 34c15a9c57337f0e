"""RACK-002: a rack stays within its power density limit."""

from __future__ import annotations

from collections.abc import Iterator

from rackwright.api import Finding, Measure, Missing, Plan, Policy, Profile, Severity, rule
from rackwright.plan.racks.contributors import contributors, subject, unknowns
from rackwright.policy.helpers.racks import excess
from rackwright.policy.helpers.remediation import either, held_in, place_fewer, provide


@rule(
    "RACK-002",
    "A rack stays within its power density limit",
    Severity.CRITICAL,
    since="0.1",
    stage="concept",
    profile=Profile.LAB,
)
class Density(Policy):
    """The power of a rack stays inside the limit of its cooling mode."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield a measure for each class of racks."""
        for site in plan.onprem:
            for rack in site.racks:
                value, limit = rack.kind.power_w, rack.kind.power_limit_w
                over = excess(value, limit)
                shares = contributors(site, "power_w", [rack], per_rack=True) if over else ()
                missing = unknowns(site, "power_w", [rack])
                if limit is None:
                    place = (*rack.path, "cooling", "power_limit")
                    missing += (Missing("'power_limit' in the cooling of the racks", place),)
                yield Measure(
                    subject(site, rack),
                    value=value,
                    limit=limit,
                    unit="W",
                    what=f"power with cooling mode '{rack.kind.mode}'",
                    contributors=shares,
                    fix=either(
                        place_fewer(shares, over),
                        provide(value, "W", "cooling and a 'power_limit'"),
                    )
                    if over
                    else None,
                    missing=missing,
                    suggest=held_in(site, rack, shares, over) if over else None,
                )
