"""CAT-005: numbers in use come from a document."""

from __future__ import annotations

from collections.abc import Iterator

from rackwright.api import Finding, Measure, Plan, Policy, Profile, Severity, Subject, rule
from rackwright.model.hardware import Confidence
from rackwright.plan.audit.catalogue_usage import used_entries
from rackwright.plan.missing import of_product

UNOPENED = frozenset({Confidence.COMMON, Confidence.EXAMPLE})


@rule(
    "CAT-005",
    "Numbers in use come from a document",
    Severity.MEDIUM,
    since="0.4",
    stage="build",
    profile=Profile.PRODUCTION,
)
class OpenedDocuments(Policy):
    """No product of a hall rests on numbers whose document no one has opened, unless the site allows them."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield a finding for each product of each site."""
        for use in used_entries(plan):
            if use.allow_common:
                continue
            sources = use.entry.sources
            unread = [
                name
                for name, fact in use.entry.facts()
                if sources[fact.source].confidence in UNOPENED
                and not sources[fact.source].title.startswith(SPECIFICATION)
            ]
            at = Subject(f"{use.site} {use.entry.id}", use.path)
            if unread:
                yield Finding(
                    at,
                    ok=None,
                    message=f"values of {use.entry.name} that no one read in a document",
                    fix="set 'allow_common: true' at the site, or state what is read under 'facts'",
                    missing=tuple(
                        of_product(use.entry.id, name, name.replace("_", " ")) for name in unread
                    ),
                )
            else:
                yield Finding(at, ok=True, message="every value was read in a document")


SPECIFICATION = "Rackwright reference specification"
"""Title of what a site must buy: a requirement, not a fact about a product."""
