"""IAC-004: the facts about products are those that were reviewed."""

from __future__ import annotations

from collections.abc import Iterator

from rackwright.api import Finding, Measure, Missing, Plan, Policy, Profile, Severity, Subject, rule
from rackwright.plan.audit.catalogue_digest import catalogue_digest


@rule(
    "IAC-004",
    "The facts about products are those that were reviewed",
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
            message = "whether the facts about products are those that were reviewed"
            missing = (Missing(f"'catalogue_digest' in 'operations', now '{actual}'", path),)
        elif pinned != actual:
            message = "the catalogue says something else about the products than when it was pinned"
        else:
            message = "the catalogue is the pinned one"
        yield Finding(
            at,
            ok=None if pinned is None else pinned == actual,
            message=message,
            fix=f"review what the catalogue says, and set 'operations.catalogue_digest: {actual}'",
            missing=missing,
        )
