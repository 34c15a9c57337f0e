"""AWS-010: service quotas cover interfaces, storage, addresses and VPCs."""

from __future__ import annotations

from collections.abc import Iterator

from rackwright.api import Finding, Measure, Plan, Policy, Profile, Severity, Subject, rule
from rackwright.plan.aws.quotas import QuotaUse, quota_uses


@rule(
    "AWS-010",
    "Service quotas cover interfaces, storage, addresses and VPCs",
    Severity.HIGH,
    since="0.3",
    stage="build",
    profile=Profile.LAB,
)
class ServiceQuotas(Policy):
    """Resources of the sites of a region stay inside the quotas of their account."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield a measure for each region and quota of which something is taken."""
        for use in quota_uses(plan.aws):
            yield _measure(use)


def _measure(use: QuotaUse) -> Measure:
    quota = use.quota
    basis = "as recorded" if use.recorded is not None else "AWS's default"
    return Measure(
        Subject(f"{use.region} quota {quota.code}", (*use.sites[0].path, "limits")),
        value=use.total,
        limit=use.limit,
        unit=quota.unit,
        what=f"{quota.what} ({basis})",
        contributors=use.taken,
        fix=f"ask for a higher quota {quota.code} in {use.region} and record it in 'limits'",
        missing=use.missing,
    )
