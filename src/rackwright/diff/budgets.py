"""Measures before and after, with their limit and headroom."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from rackwright.diff.results import Pair, equal
from rackwright.policy.api import Outcome
from rackwright.report.overview.headroom import headroom


@dataclass(frozen=True, slots=True)
class Budget:
    """One measure of a policy that changed; None is unknown, or not there on that side.

    Attributes:
        headroom: what is left to the limit, negative when it is broken.
        used: share of the limit in percent, where that means something.
        outcome: of the head; None where the subject is gone.
        blocks: whether the head's measure stops a deployment.
        known: whether it would, and the baseline allows it.
    """

    policy: str
    subject: str
    what: str
    unit: str
    before: float | None
    after: float | None
    limit_before: float | None
    limit: float | None
    headroom_before: float | None
    headroom: float | None
    outcome: Outcome | None
    blocks: bool
    known: bool = False

    @property
    def used(self) -> float | None:
        """Share of an upper limit that is used, in percent."""
        if self.after is None or not self.limit or self.limit < 0 or self.headroom is None:
            return None
        upper = abs(self.limit - self.after - self.headroom) <= 1e-9 * self.limit
        return 100 * self.after / self.limit if upper else None


def budget_changes(pairs: Iterable[Pair]) -> tuple[Budget, ...]:
    """Return the measures whose value or limit changed: what blocks first, then by least headroom."""
    budgets = [_budget(pair) for pair in pairs if pair.result.is_measure]
    changed = [
        budget
        for budget in budgets
        if not (equal(budget.before, budget.after) and equal(budget.limit_before, budget.limit))
    ]
    return tuple(sorted(changed, key=_order))


def _budget(pair: Pair) -> Budget:
    old, new, result = pair.before, pair.after, pair.result
    return Budget(
        policy=result.policy,
        subject=pair.subject,
        what=result.what,
        unit=result.unit,
        before=old.value if old else None,
        after=new.value if new else None,
        limit_before=old.limit if old else None,
        limit=new.limit if new else None,
        headroom_before=headroom(old) if old else None,
        headroom=headroom(new) if new else None,
        outcome=new.outcome if new else None,
        blocks=new.blocks if new else False,
        known=bool(new and new.baseline_state and new.baseline_state.tolerated),
    )


def _order(budget: Budget) -> tuple[object, ...]:
    share = 2.0
    if budget.headroom is not None and budget.limit:
        share = budget.headroom / abs(budget.limit)
    return (
        not budget.blocks,
        budget.after is None,
        share,
        budget.policy,
        budget.subject,
        budget.what,
    )
