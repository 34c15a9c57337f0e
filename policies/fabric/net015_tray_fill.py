"""NET-015: cable trays are not overfilled."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from pydantic import Field

from rackwright.api import (
    Contributor,
    Finding,
    Measure,
    Plan,
    Policy,
    Profile,
    Severity,
    Subject,
    rule,
)
from rackwright.plan.fabric.trays import TrayFill
from rackwright.plan.missing import each_once
from rackwright.policy.helpers.fabrics import FabricAt, fabrics_of, unattached, unknown_cables

_SHOWN = 5
"""Cables that a finding names as contributors."""


@rule(
    "NET-015",
    "Cable trays are not overfilled",
    Severity.MEDIUM,
    since="0.3",
    stage="design",
    profile=Profile.PRODUCTION,
)
class FilledTrays(Policy):
    """The fullest section of the trays of a hall is no fuller than trays may be."""

    most_percent: Annotated[float, Field(gt=0, le=100)] = 50
    """Most share of the inside of a tray that sections of cables take."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield a measure for each hall with cables from rack to rack; a finding for fabrics without hosts."""
        found = list(fabrics_of(plan))
        for fabric in found:
            if fabric.layout is None:
                yield unattached(fabric, "how full trays are")
        for site in plan.onprem:
            fabrics = {one.fabric.name: one for one in found if one.site is site}
            for fill in site.tray_fills:
                at = Subject(f"{site.name} hall {fill.hall}", fill.path)
                yield self._hall(at, fill, fabrics)

    def _hall(self, at: Subject, fill: TrayFill, fabrics: dict[str, FabricAt]) -> Measure:
        missing: list[str] = list(fill.missing)
        if fill.place:  # what is not known of cables matters where their places are counted
            for one in (fabrics[name] for name in fill.fabrics):
                if one.layout is not None:
                    missing += unknown_cables(one.layout, one.path)
        value = None if missing else fill.percent
        fix = None
        if value is not None and value > self.most_percent:
            width = (fill.width_m or 0.0) * value / self.most_percent
            trays = (
                f"trays of at least {1000 * width:.0f} mm of this depth"
                if width
                else "larger trays"
            )
            fix = f"provide {trays}, or lead cables another way"
        return Measure(
            at,
            value=value,
            limit=self.most_percent,
            unit="%",
            what=f"fill of the {fill.place or 'fullest tray'}",
            contributors=tuple(
                Contributor(f"{share.fabric} {share.kind}".strip(), share.cables, share.percent)
                for share in fill.shares[:_SHOWN]
            ),
            fix=fix,
            missing=each_once(missing),
        )
