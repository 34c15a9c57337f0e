"""PWR-001: every rack circuit carries its load continuously."""

from __future__ import annotations

from collections.abc import Iterator

from rackwright.api import Finding, Measure, Plan, Policy, Profile, Severity, rule
from rackwright.plan.racks.feeds.power_shares import circuit_contributors
from rackwright.policy.helpers.power import circuit_room
from rackwright.policy.helpers.racks import circuit, excess, unknown_draw, unrated
from rackwright.policy.helpers.remediation import either, held, hold, provide


@rule(
    "PWR-001",
    "Rack circuits carry their load continuously",
    Severity.CRITICAL,
    since="0.1",
    stage="concept",
    profile=Profile.LAB,
)
class FeedCapacity(Policy):
    """The busiest line of every rack circuit stays inside its continuous capacity."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield a measure for each circuit of each class of racks."""
        for site in plan.onprem:
            room = circuit_room(site, after_losses=False)
            for rack, row in ((own, row) for own in site.racks for row in own.kind.circuits):
                value, limit = row.implied_w, row.usable_w
                over = excess(value, limit)
                shares = circuit_contributors(rack, row.feed) if over else ()
                fewer = room.most(rack) if over else None
                missing = () if value is not None else unknown_draw(site, rack)
                if limit is None:
                    missing += (unrated(rack.feed_path(row.feed)),)
                yield Measure(
                    circuit(site, rack, row),
                    value=value,
                    limit=limit,
                    unit="W",
                    what="load implied by the busiest line",
                    contributors=shares,
                    fix=either(
                        hold(fewer),
                        provide(value, "W", "a circuit"),
                    )
                    if over
                    else None,
                    missing=missing,
                    suggest=held(fewer),
                )
