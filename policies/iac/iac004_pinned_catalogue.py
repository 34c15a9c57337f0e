"""IAC-004: catalogue is pinned."""

from __future__ import annotations

from collections.abc import Iterator

from rackwright.api import Finding, Measure, Missing, Plan, Policy, Profile, Severity, Subject, rule
from rackwright.plan.audit.catalogue_digest import catalogue_digest


@rule(
    "IAC-004",
    "Catalogue is pinned",
    Severity.MEDIUM,
    since="0.2",
    stage="build",
    profile=Profile.PRODUCTION,
)
class PinnedCatalogue(Policy):
    """The blueprint names the digest of the catalogue entries that it uses."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield one finding for the blueprint."""
        operations = plan.operations
        pinned = operations.catalogue_digest if operations else None
        actual = catalogue_digest(plan)
        path = ("operations", "catalogue_digest")
        at = Subject(f"{plan.name} catalogue", path)
        missing: tuple[Missing, ...] = ()
        if pinned is None:
            message = "cannot tell if the catalogue changed since its review"
            missing = (Missing(f"'catalogue_digest' in 'operations', now '{actual}'", path),)
        elif pinned != actual:
            message = "facts about products in use have changed since the catalogue was pinned"
        else:
            message = "the catalogue is the one that was pinned"
        yield Finding(
            at,
            ok=None if pinned is None else pinned == actual,
            message=message,
            fix=f"review the changed facts, and set 'operations.catalogue_digest: {actual}'",
            missing=missing,
        )
