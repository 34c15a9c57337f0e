"""NET-005: medium, fibre, shell and technology match at both ends of every cable."""

from __future__ import annotations

from collections.abc import Iterator

from rackwright.api import Finding, Measure, Plan, Policy, Severity, Subject, rule
from rackwright.model.fabric import Cables
from rackwright.plan.fabric.cables import mismatches, unsaid
from rackwright.plan.fabric.layout import Layout
from rackwright.policy.helpers.fabrics import fabrics_of, unattached, uncabled


@rule(
    "NET-005",
    "Medium, fibre, shell and technology match along every cable",
    Severity.HIGH,
    since="0.2",
    stage="design",
)
class CableEnds(Policy):
    """Cables that are ordered fit the ports at both ends and light up."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield a finding for each mismatch of a kind of cables, or one that it fits."""
        for found in fabrics_of(plan):
            if found.layout is None:
                yield unattached(found, "whether the cables fit")
                continue
            for at, link in found.links():
                yield from _judge(at, found.layout, link)
            if missing := uncabled(found.layout, found.path):
                yield Finding(
                    found.at(), ok=None, message="whether the cables fit", missing=missing
                )


def _judge(at: Subject, layout: Layout, link: Cables) -> Iterator[Finding]:
    wrong = mismatches(layout, link)
    missing = unsaid(layout, link, at.path)
    for message, fix in wrong:
        yield Finding(at, ok=False, message=message, fix=fix)
    if missing:
        yield Finding(at, ok=None, message="whether both ends fit", missing=missing)
    elif not wrong:
        yield Finding(at, ok=True, message=f"{link.cable} fits at both ends")
