"""NET-004: cables are within the reach of their transceivers."""

from __future__ import annotations

from collections.abc import Iterator

from rackwright.api import (
    FieldPath,
    Finding,
    Measure,
    Missing,
    Plan,
    Policy,
    Severity,
    Subject,
    rule,
)
from rackwright.model.connections import Cable
from rackwright.model.fabric import Cables
from rackwright.plan.fabric.cables import ends, reach, reaching
from rackwright.plan.fabric.layout import Layout
from rackwright.plan.fabric.lengths import CableLength
from rackwright.plan.missing import each_once, of_product
from rackwright.policy.helpers.fabrics import fabrics_of, unattached, uncabled


@rule(
    "NET-004",
    "Cables are within the reach of their transceivers",
    Severity.HIGH,
    since="0.2",
    stage="design",
)
class CableReach(Policy):
    """The longest cable of each kind is within the reach of the parts at both ends."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield a measure for each kind of cables, and a finding where there are none."""
        for found in fabrics_of(plan):
            if found.layout is None:
                yield unattached(found, "how far the cables reach")
                continue
            for at, link in found.links():
                yield _measure(at, found.layout, link, found.length(link, at.path))
            if missing := uncabled(found.layout, found.path):
                yield Finding(found.at(), ok=None, message="cables", missing=missing)


def _measure(at: Subject, layout: Layout, link: Cables, longest: CableLength) -> Measure:
    lower, upper = ends(layout, link)
    length, parts = longest.metres, [end.cable for end in (lower, upper) if end.cable]
    reaches = [reach(part, link.fibre) for part in parts]
    limit = None if not parts or None in reaches else min(r for r in reaches if r is not None)
    fix = None
    if length is not None and limit is not None and length > limit:
        better = reaching(layout, link, length, parts[0])
        fix = f"use {better}, or" if better else "bring both ends closer:"
        fix += f" route the cables in {limit:g} m"
    return Measure(
        at,
        value=length,
        limit=limit,
        unit="m",
        what=f"longest cable {link.cable or 'of an unnamed part'}",
        fix=fix,
        missing=_missing(at.path, link, longest, parts),
    )


def _missing(
    path: FieldPath, link: Cables, longest: CableLength, parts: list[Cable]
) -> tuple[str, ...]:
    missing = list(longest.missing)
    if not parts:
        missing.append(Missing("'cable'", (*path, "cable")))
    for part in parts:
        if reach(part, link.fibre) is None:
            field = "reach_om3" if link.fibre == "OM3" else "reach"
            missing.append(
                of_product(part.id, field, f"reach on {link.fibre}")
                if link.fibre
                else Missing("'fibre'", (*path, "fibre"))
            )
    return each_once(missing)
