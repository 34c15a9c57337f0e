"""SEC-001: jobs and users cannot reach management controllers."""

from __future__ import annotations

from collections.abc import Iterator

from rackwright.api import Finding, Measure, Missing, Plan, Policy, Severity, Subject, rule
from rackwright.policy.helpers.attestation import declared


@rule(
    "SEC-001",
    "Jobs and users cannot reach management controllers",
    Severity.CRITICAL,
    since="0.2",
    stage="build",
)
class ManagementNetwork(Policy):
    """Every bare-metal site declares that its management network is isolated."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield one finding for each bare-metal site."""
        for site in plan.onprem:
            security = site.security
            yield declared(
                Subject(f"{site.name} management network", (*site.path, "security")),
                value=security.management_isolated if security else None,
                yes="management controllers are in a network that jobs and users cannot reach",
                no="jobs or users reach the management controllers",
                missing=Missing(
                    "'management_isolated' in the site's 'security'",
                    (*site.path, "security", "management_isolated"),
                ),
                fix="put the management controllers into a network of their own, filtered from "
                "nodes and users, and set 'management_isolated: true'",
            )
