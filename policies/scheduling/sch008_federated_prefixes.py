"""SCH-008: prefixes of federated sites do not overlap."""

from __future__ import annotations

from collections.abc import Iterator

from rackwright.api import Finding, Missing, Plan, Policy, Severity, Subject, rule
from rackwright.plan.federation.checks import overlapping, site_networks


@rule(
    "SCH-008",
    "Prefixes of federated sites do not overlap",
    Severity.HIGH,
    since="0.4",
    stage="design",
)
class FederatedPrefixes(Policy):
    """Addresses that sites route to each other belong to one site only."""

    def check(self, plan: Plan) -> Iterator[Finding]:
        """Yield a finding for each site of the federation."""
        sites = site_networks(plan, plan.names)
        taken = {site.site: (own, its, other) for site, own, its, other in overlapping(sites)}
        for site in sites:
            at = Subject(f"{site.site} prefixes", site.path)
            if site.prefixes is None:
                yield Finding(
                    at,
                    ok=None,
                    message="it has no management network with addresses",
                    missing=(Missing(f"'addresses' of the site '{site.site}'", site.path),),
                )
            elif site.site in taken:
                own, its, other = taken[site.site]
                yield Finding(
                    at,
                    ok=False,
                    message=f"{own} overlaps {its} of '{other}': slurmctld of one reaches hosts of the other",
                    fix=f"give '{site.site}' a prefix that does not overlap {its}",
                )
            else:
                prefixes = ", ".join(map(str, site.prefixes))
                yield Finding(at, ok=True, message=f"{prefixes} is used by this site only")
