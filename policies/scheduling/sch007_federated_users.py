"""SCH-007: federated clusters have one user map."""

from __future__ import annotations

from collections.abc import Iterator

from rackwright.api import Finding, Missing, Plan, Policy, Severity, Subject, rule
from rackwright.plan.federation.checks import shared_uids, uid_differences


@rule("SCH-007", "Federated clusters have one user map", Severity.HIGH, since="0.4", stage="design")
class FederatedUsers(Policy):
    """Accounts have the same number at every site of a federation."""

    def check(self, plan: Plan) -> Iterator[Finding]:
        """Yield a finding for each site of the federation."""
        for member in plan.members:
            site = member.spec.site
            at = Subject(f"{member.cluster} users", (*member.path, "uids"))
            found = uid_differences(plan, site)
            if found is None:
                yield Finding(
                    at,
                    ok=None,
                    message="the uids of its accounts are not stated",
                    missing=(Missing("accounts or a directory of all sites", ("users",)),),
                )
            elif found:
                first = found[0]
                yield Finding(
                    at,
                    ok=False,
                    message=f"'{first.account}' has the uid {first.own} here and {first.number} "
                    f"elsewhere ({len(found)} of its accounts differ): jobs would run as another user",
                    fix=f"give '{first.account}' the uid {first.number} at '{site}', and its files to it",
                )
            elif shared := shared_uids(plan, site):
                one = shared[0]
                yield Finding(
                    at,
                    ok=False,
                    message=f"the uid {one.number} is '{one.account}' here and '{one.other}' at '{one.site}': "
                    "jobs would run as another user",
                    fix=f"give '{one.account}' a uid of its own at every site, and its files to it",
                )
            else:
                yield Finding(at, ok=True, message="its accounts have the uids of the other sites")
