"""PWR-032: the stated overload of a UPS is realistic."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from pydantic import Field

from rackwright.api import (
    Finding,
    Measure,
    Plan,
    Policy,
    Profile,
    Severity,
    Subject,
    rule,
)


@rule(
    "PWR-032",
    "The stated overload of a UPS is realistic",
    Severity.HIGH,
    since="0.5",
    stage="design",
    profile=Profile.PILOT,
)
class OverloadOfUps(Policy):
    """Peaks are not judged against an overload that no UPS carries for a minute."""

    most_percent: Annotated[float, Field(ge=100, le=400)] = 150.0
    """Largest overload in % of the rating of all modules."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield a measure for each UPS with an overload that the blueprint states."""
        for site in plan.onprem:
            for row in site.power.sources:
                source = site.power.tree.sources[row.source]
                if row.kind != "ups" or source.product is not None or row.overload_w is None:
                    continue
                rated, modules = row.capacity_w, source.modules
                if modules is not None and modules.capacity is not None:
                    rated = modules.count * modules.capacity
                yield Measure(
                    Subject(f"{site.name} source {row.source}", row.path),
                    value=row.overload_w,
                    limit=None if rated is None else rated * self.most_percent / 100,
                    unit="W",
                    what="stated overload for one minute",
                    fix="state the overload of its data sheet, or its 'product'",
                    missing=()
                    if rated is not None
                    else (site.power.tree.unsaid(row.source, "capacity"),),
                )
