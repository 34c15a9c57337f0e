"""PWR-014: no load step is more than a generator takes at once."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Set as AbstractSet

from rackwright.api import (
    Finding,
    Measure,
    Plan,
    Policy,
    Profile,
    Severity,
    SitePlan,
    Subject,
    rule,
)
from rackwright.plan.missing import each_once
from rackwright.plan.records.power import SourceLoad
from rackwright.policy.helpers.power import missing_of_charging, missing_of_facility
from rackwright.policy.helpers.racks import BelowSources, is_over
from rackwright.policy.helpers.remediation import provide


@rule(
    "PWR-014",
    "Generators take each load step after their start",
    Severity.HIGH,
    since="0.3",
    stage="design",
    profile=Profile.PILOT,
)
class GeneratorSteps(Policy):
    """Load that a generator takes in one step after its start is within its limit."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield a measure for each generator that carries load after any loss."""
        for site in plan.onprem:
            below = BelowSources(site)
            for row in site.power.sources:
                if row.step_number is not None:
                    yield _generator(site, row, row.step_number, below)


def _generator(site: SitePlan, row: SourceLoad, step: int, below: BelowSources) -> Measure:
    value, limit = row.step_w, row.step_limit_w
    missing: list[str] = []
    if value is None:
        missing += missing_of_facility(site, row, below)
        missing += _missing_below(site, row.source)
        if not missing:
            missing += site.power.tree.missing or below.lacking(row.source)
    if limit is None:
        missing.append(site.power.tree.unsaid(row.source, "step_load"))
    fix = (
        f"connect loads in more steps ('start_step'), let UPSs take their load back gradually "
        f"('walk_in'), or {provide(value, 'W', 'a generator that takes a step')}"
    )
    return Measure(
        Subject(f"{site.name} source {row.source}", row.path),
        value=value,
        limit=limit,
        unit="W",
        what=f"load connected at once in step {step}"
        + (f" after losing '{row.step_lost}'" if row.step_lost else ""),
        fix=fix if is_over(value, limit) else None,
        missing=each_once(missing),
    )


def _missing_below(site: SitePlan, generator: str) -> Iterator[str]:
    """Yield the numbers of what a generator carries at once that nobody says."""
    reached = _at_once(site, generator)
    rows = [row for row in site.power.sources if row.source in reached]
    yield from missing_of_charging(site, [row.source for row in rows if row.kind == "ups"])
    yield from each_once(row.lacks for row in rows if row.lacks is not None)


def _at_once(site: SitePlan, generator: str) -> AbstractSet[str]:
    """Return the sources below a generator whose load is in its steps: none behind a UPS that walks in."""
    tree, reached = site.power.tree, {generator}
    for name in reversed(tree.order):  # parents before children
        source = tree.sources.get(name)
        if source is not None and not source.walk_in and reached.intersection(tree.parents[name]):
            reached.add(name)
    return reached
