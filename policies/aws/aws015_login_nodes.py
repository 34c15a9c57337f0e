"""AWS-015: users can log in after the loss of a login node."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from pydantic import Field

from rackwright.api import Finding, Measure, Plan, Policy, Profile, Severity, Subject, rule


@rule(
    "AWS-015",
    "Users can log in after the loss of a login node",
    Severity.MEDIUM,
    since="0.3",
    stage="design",
    profile=Profile.PRODUCTION,
)
class LoginNodes(Policy):
    """A site with login nodes has more than one."""

    least: Annotated[int, Field(ge=1, le=100)] = 2
    """Login nodes of a site that has any."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield a measure for each site with login nodes."""
        for site in plan.aws:
            if site.login is None:
                continue
            path = (*site.path, "login", "count")
            yield Measure(
                Subject(f"{site.name} login nodes", path),
                value=site.login.count,
                limit=self.least,
                unit="login nodes",
                what="number of login nodes",
                sense="at_least",
                fix=f"set 'count' of 'login' to {self.least}",
            )
