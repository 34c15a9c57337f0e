"""CAT-005: numbers in use were read in a document."""

from __future__ import annotations

from collections.abc import Iterator

from rackwright.api import Finding, Measure, Plan, Policy, Profile, Severity, Subject, rule
from rackwright.model.hardware import Confidence
from rackwright.plan.audit.catalogue_usage import used_entries

UNOPENED = frozenset({Confidence.COMMON, Confidence.EXAMPLE})


@rule(
    "CAT-005",
    "Numbers in use were read in a document",
    Severity.MEDIUM,
    since="0.4",
    stage="build",
    profile=Profile.PRODUCTION,
)
class OpenedDocuments(Policy):
    """No product of a hall rests on numbers whose document no one has opened, unless the site allows them."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """A measure of such numbers for each product of each site."""
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
            named = f" ({', '.join(unread)})" if unread else ""
            yield Measure(
                Subject(f"{use.site} {use.entry.id}", use.path),
                value=len(unread),
                limit=0,
                unit="values",
                what=f"count of values of {use.entry.name} that no one read in a document{named}",
                fix="read them in the maker's document and state them under 'facts', "
                "or set 'allow_common: true' at the site",
            )


SPECIFICATION = "Rackwright reference specification"
"""Title of what a site must buy: a requirement, not a fact about a product."""
