"""AWS-025: login nodes keep their address."""

from __future__ import annotations

from collections.abc import Iterator

from rackwright.api import Finding, Plan, Policy, Profile, Severity, Subject, rule


@rule(
    "AWS-025",
    "Login nodes keep their address",
    Severity.MEDIUM,
    since="0.5",
    stage="design",
    profile=Profile.PRODUCTION,
)
class LoginAddress(Policy):
    """Login nodes that are reached from outside have a public address that stays."""

    def check(self, plan: Plan) -> Iterator[Finding]:
        """Yield a finding for each site whose login nodes are reached from public networks."""
        for site in plan.aws:
            kind = site.login_address
            if kind is None:
                continue
            at = Subject(f"{site.name} login nodes", (*site.path, "login", "address"))
            if kind == "changing":
                yield Finding(
                    at,
                    ok=False,
                    message="login nodes get another public address each time they are stopped or replaced",
                    fix="set 'login.address' to 'elastic' or 'load-balancer'",
                )
            else:
                yield Finding(at, ok=True, message=f"the address stays ('{kind}')")
