"""CST-001: the yearly cost of all sites stays within the budget."""

from __future__ import annotations

from collections.abc import Iterator

from rackwright.api import Finding, Measure, Plan, Policy, Severity, Subject, rule
from rackwright.policy.helpers.budgets import measure_budget


@rule(
    "CST-001",
    "The yearly cost of all sites stays within the budget",
    Severity.HIGH,
    since="0.2",
    stage="concept",
)
class BudgetOfAYear(Policy):
    """All sites together cost no more in a year than the budget."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield one measure, unless the costs have a budget of an hour only."""
        costs = plan.costs
        if costs is None or (costs.budget_per_year is None and costs.budget_per_hour is not None):
            return
        at = Subject("budget of a year", ("costs", "budget_per_year"))
        yield measure_budget(plan.cost, costs.budget_per_year, at, "year")
