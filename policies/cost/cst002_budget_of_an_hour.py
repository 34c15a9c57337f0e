"""CST-002: the hourly cost of all sites stays within the budget."""

from __future__ import annotations

from collections.abc import Iterator

from rackwright.api import Finding, Measure, Plan, Policy, Severity, Subject, rule
from rackwright.policy.helpers.budgets import measure_budget


@rule(
    "CST-002",
    "The hourly cost of all sites stays within the budget",
    Severity.HIGH,
    since="0.2",
    stage="concept",
)
class BudgetOfAnHour(Policy):
    """All sites together cost no more in an hour than the budget."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield one measure where there is a budget of an hour."""
        costs = plan.costs
        if costs is None or costs.budget_per_hour is None:
            return
        at = Subject("budget of an hour", ("costs", "budget_per_hour"))
        yield measure_budget(plan.cost, costs.budget_per_hour, at, "hour")
