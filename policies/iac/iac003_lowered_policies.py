"""IAC-003: a lowered policy has a reason and an owner."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from pydantic import Field

from rackwright.api import Finding, Measure, Plan, Policy, Profile, Severity, Subject, rule

LOWERED = ("advisory", "disabled")


@rule(
    "IAC-003",
    "A lowered policy has a reason and an owner",
    Severity.HIGH,
    since="0.2",
    stage="concept",
    profile=Profile.LAB,
)
class LoweredPolicies(Policy):
    """Every setting that makes a policy advisory or disables it has a reason and an owner."""

    shortest_reason: Annotated[int, Field(ge=1, le=200)] = 15
    """Least number of characters of a reason, blanks at its ends aside."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield a measure and a finding for each lowered policy."""
        for policy, setting in plan.policies.items():
            if setting.enforcement not in LOWERED:
                continue
            at = Subject(f"{plan.name} {policy}", ("policies", policy))
            yield Measure(
                at,
                value=len((setting.reason or "").strip()),
                limit=self.shortest_reason,
                unit="characters",
                what=f"length of the reason why {policy} is {setting.enforcement}",
                sense="at_least",
                fix="say what is accepted, why, and until when",
            )
            owner = (setting.owner or plan.owner or "").strip()
            yield Finding(
                at,
                ok=bool(owner),
                message=f"'{owner}' is its owner"
                if owner
                else f"{policy} is {setting.enforcement} without an owner",
                fix="name a person or a team as its 'owner', or as that of the blueprint",
            )
