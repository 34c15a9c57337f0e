"""CST-004: owned accelerators cost no more than the same ones rented."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rackwright.api import (
    Contributor,
    Enforcement,
    Finding,
    Measure,
    Plan,
    Policy,
    Severity,
    Subject,
    rule,
)
from rackwright.model.quantities import format_quantity
from rackwright.policy.helpers.budgets import compare_with_rent, judged_value

if TYPE_CHECKING:
    from rackwright.plan.cost.comparison import RentComparison


@rule(
    "CST-004",
    "Owned accelerators cost no more than rented ones",
    Severity.LOW,
    since="0.2",
    stage="concept",
    enforcement=Enforcement.ADVISORY,
)
class OwnedOrRented(Policy):
    """A bare-metal site costs no more in a year than its accelerators on AWS."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield a measure for each bare-metal site with accelerators."""
        if plan.costs is None:
            return
        for comparison in compare_with_rent(plan):
            yield _judge(comparison)


def _judge(comparison: RentComparison) -> Measure:
    limit = comparison.rented.per_year
    value = judged_value(comparison.owned, limit, "year")
    fix = None
    if value is not None and limit is not None and value > limit:
        saved = format_quantity(value - float(limit), "USD/year")
        rented = ", ".join(f"{m.instances:,} × {m.instance}" for m in comparison.matches)
        fix = f"save {saved}, or rent {rented} in {comparison.region}"
    return Measure(
        Subject(f"site {comparison.site}", comparison.path),
        value=value,
        limit=None if limit is None else float(limit),
        unit="USD/year",
        what="cost of owning, against renting,",
        contributors=tuple(
            Contributor(match.instance, match.instances, match.line.micros / 1e6 / match.instances)
            for match in comparison.matches
            if match.instance and match.instances and match.line.micros is not None
        ),
        fix=fix,
        missing=(*comparison.owned.missing, *comparison.rented.missing),
    )
