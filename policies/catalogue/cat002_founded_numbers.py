"""CAT-002: numbers in use are not estimates."""

from __future__ import annotations

from collections.abc import Iterator

from rackwright.api import Finding, Measure, Plan, Policy, Severity, Subject, rule
from rackwright.model.hardware import Confidence
from rackwright.plan.audit.catalogue_usage import used_entries


@rule(
    "CAT-002",
    "Numbers in use are not estimates",
    Severity.HIGH,
    since="0.1",
    stage="concept",
)
class FoundedNumbers(Policy):
    """No product in use rests on estimates, unless the site allows them."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield a measure of the estimates of each product of each site."""
        for use in used_entries(plan):
            if use.allow_estimates:
                continue
            sources = use.entry.sources
            guessed = [
                name
                for name, fact in use.entry.facts()
                if sources[fact.source].confidence is Confidence.ESTIMATE
            ]
            named = f" ({', '.join(guessed)})" if guessed else ""
            yield Measure(
                Subject(f"{use.site} {use.entry.id}", use.path),
                value=len(guessed),
                limit=0,
                unit="estimates",
                what=f"number of estimates in the catalogue entry of {use.entry.name}{named}",
                fix="find a source for them, measure them, or set 'allow_estimates: true'",
            )
