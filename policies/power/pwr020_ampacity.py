"""PWR-020: breakers protect the conductors behind them."""

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
from rackwright.plan.racks.contributors import subject
from rackwright.plan.records.power import LineRating
from rackwright.policy.helpers.racks import is_over


@rule(
    "PWR-020",
    "Breakers protect the conductors behind them",
    Severity.CRITICAL,
    since="0.4",
    stage="design",
    profile=Profile.LAB,
    waivable=False,
)
class Ampacity(Policy):
    """The breaker in front of conductors opens before they are too hot."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield a measure for the conductors to each source and to the racks of each feed."""
        for site in plan.onprem:
            for row in site.power.line_ratings:
                yield _line(site, row)


def _line(site: SitePlan, row: LineRating) -> Measure:
    at = Subject(f"{site.name} source {row.source}", row.path)
    if row.rack is not None:
        at = subject(site, row.rack, f"feed {row.feed}", row.path)
    limit, basis = row.protects_a, "by the site's cabling"
    if row.carries_a is None and is_over(row.breaker_a, row.highest_a):
        limit, basis = row.highest_a, "by the highest value of any standard's table"
    carried = ""
    if row.carries_a is not None and limit is not None:
        carried = f", which carry {row.carries_a:,.0f} A"
        if row.highest_a is not None and is_over(row.carries_a, row.highest_a):
            basis = "as stated, capped at 125 % of the highest value of any standard's table"
    elif row.carries_a is None and row.highest_a is not None and limit is None:
        carried = f", which carry at most {row.highest_a:,.0f} A by any standard's table,"
    fix = None
    if is_over(row.breaker_a, limit):
        fix = f"provide conductors that carry {row.breaker_a:,.0f} A where they are laid, or a breaker of {limit:,.0f} A at most"
    return Measure(
        at,
        value=row.breaker_a,
        limit=limit,
        unit="A",
        what=f"breaker in front of {row.line}{carried} {basis},"
        if limit is not None
        else f"breaker in front of {row.line}{carried}",
        fix=fix,
        missing=row.missing if limit is None or row.breaker_a is None else (),
    )
