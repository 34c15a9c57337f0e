"""Policies and plans for tests of the engine; what they judge is a blueprint's name only."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any, ClassVar

from rackwright.errors import Location
from rackwright.plan.base import Subject
from rackwright.policy.api import Enforcement, Finding, Measure, Policy, Severity
from rackwright.policy.engine import Report, evaluate
from rackwright.policy.policy_sets import STRICTEST, Regime, standing_with

HERE = Subject("sjc1 racks c[01-08]", ("sites", 0))


def a_policy(
    *items: Any,
    policy_id: str = "TST-001",
    enforcement: Enforcement = Enforcement.MANDATORY,
    check: Callable[[], Any] | None = None,
) -> Policy:
    """A policy that yields ``items``, or whatever ``check`` returns."""
    names = {"id": policy_id, "enforcement": enforcement}

    class Made(Policy):
        title: ClassVar[str] = "A policy of a test"
        severity: ClassVar[Severity] = Severity.HIGH
        since: ClassVar[str] = "0.1"
        family: ClassVar[str] = "test"

        def check(self, plan: Any) -> Iterator[Measure | Finding]:
            return iter(items) if check is None else check()

    for name, value in names.items():
        setattr(Made, name, value)
    return Made()


def a_measure(value: float | None = 1.0, limit: float | None = 2.0, **changes: Any) -> Measure:
    """A measure in watts of the usual subject."""
    given: dict[str, Any] = {"at": HERE, "unit": "W", "what": "load"} | changes
    return Measure(value=value, limit=limit, **given)


def report_of(
    *policies: Policy, settings: Any = None, name: str = "atlas", regime: Regime = STRICTEST
) -> Report:
    """The report of ``policies`` about a plan without sites."""
    plan: Any = SimpleNamespace(name=name)
    here = Location("atlas.yaml", 42, 9)
    standings = {policy.id: standing_with(policy, settings or {}, regime) for policy in policies}
    return evaluate(plan, policies, standings, lambda _: here, regime)
