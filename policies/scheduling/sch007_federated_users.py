"""SCH-007: federated clusters have one user map."""

from __future__ import annotations

from collections.abc import Iterator

from rackwright.api import Finding, Missing, Plan, Policy, Severity, Subject, rule
from rackwright.plan.federation.checks import shared_uids, uid_differences


@rule("SCH-007", "Federated clusters have one user map", Severity.HIGH, since="0.4", stage="design")
class FederatedUsers(Policy):
    """Accounts have the same UID at every site of a federation."""

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
                    message="the UIDs of its accounts are not set",
                    missing=(Missing("accounts or a directory of all sites", ("users",)),),
                )
            elif found:
                first = found[0]
                yield Finding(
                    at,
                    ok=False,
                    message=f"'{first.account}' has UID {first.own} here and UID {first.number} at other sites "
                    f"(accounts that differ: {len(found)}): jobs would run as another user",
                    fix=f"change '{first.account}' to UID {first.number} at '{site}', and 'chown' its files",
                )
            elif shared := shared_uids(plan, site):
                one = shared[0]
                yield Finding(
                    at,
                    ok=False,
                    message=f"UID {one.number} belongs to '{one.account}' here and to '{one.other}' at '{one.site}': "
                    "jobs would run as another user",
                    fix=f"change '{one.account}' to an unused UID at every site, and 'chown' its files",
                )
            else:
                yield Finding(
                    at, ok=True, message="its accounts have the same UIDs as at the other sites"
                )
