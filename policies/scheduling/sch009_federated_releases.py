"""SCH-009: Slurm releases are compatible within a federation."""

from __future__ import annotations

from collections.abc import Iterator

from rackwright.api import Finding, Missing, Plan, Policy, Severity, Subject, rule
from rackwright.plan.federation.checks import release_fits


@rule(
    "SCH-009",
    "Slurm releases are compatible within a federation",
    Severity.HIGH,
    since="0.4",
    stage="design",
)
class FederatedReleases(Policy):
    """slurmdbd is at least as new as every slurmctld, and supports its release."""

    def check(self, plan: Plan) -> Iterator[Finding]:
        """Yield a finding for each site of the federation."""
        for entry in release_fits(plan):
            at = Subject(f"{plan.name} {entry.site} release", entry.path)
            if entry.fits is None:
                names = " and ".join(dict.fromkeys((entry.version, entry.database)))
                yield Finding(
                    at,
                    ok=None,
                    message=f"not in the list of Slurm releases: {names}",
                    missing=(Missing("a release of Slurm that exists", entry.path),),
                )
            elif entry.fits:
                yield Finding(
                    at,
                    ok=True,
                    message=f"slurmdbd {entry.database} supports slurmctld {entry.version}",
                )
            else:
                yield Finding(
                    at,
                    ok=False,
                    message=f"slurmdbd {entry.database} supports slurmctld {entry.window} to {entry.database}, not "
                    f"{entry.version}",
                    fix=f"upgrade slurmdbd first, then '{entry.site}' to at least {entry.window}",
                )
