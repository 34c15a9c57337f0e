"""PWR-014: no load step is more than a generator takes at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from rackwright.plan.listing import listed
from rackwright.plan.model import Plan, SitePlan, Subject
from rackwright.plan.records.power import SourceLoad
from rackwright.policy.api import Finding, Measure, Policy, Profile, Severity
from rackwright.policy.fixes import provide
from rackwright.policy.racks import is_over
from rackwright.policy.sources import missing_of_facility


class GeneratorSteps(Policy):
    """What is connected to a generator at once after its start is no more than it takes."""

    id: ClassVar[str] = "PWR-014"
    title: ClassVar[str] = "Generators take each load step after their start"
    severity: ClassVar[Severity] = Severity.HIGH
    since: ClassVar[str] = "0.3"
    family: ClassVar[str] = "power"
    profile: ClassVar[Profile] = Profile.PILOT

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """A measure for each generator that carries load after any loss."""
        for site in plan.onprem:
            for row in site.sources:
                if row.step_number is not None:
                    yield _generator(site, row, row.step_number)


def _generator(site: SitePlan, row: SourceLoad, step: int) -> Measure:
    value, limit = row.step_w, row.step_limit_w
    missing: list[str] = []
    if value is None:
        missing += missing_of_facility(site, row)
        missing += _missing_below(site, row.source)
        missing += (
            ()
            if missing
            else site.distribution.missing or ("maximum power of a product that it feeds",)
        )
    if limit is None:
        missing.append(f"'step_load' of '{row.source}'")
    fix = (
        f"connect loads in more steps ('start_step'), let UPSs take theirs back little by little "
        f"('walk_in'), or {provide(value, 'W', 'a generator that takes a step')}"
    )
    return Measure(
        Subject(f"{site.site.name} source {row.source}", row.path),
        value=value,
        limit=limit,
        unit="W",
        what=f"load connected at once in step {step}"
        + (f" after losing '{row.step_lost}'" if row.step_lost else ""),
        fix=fix if is_over(value, limit) else None,
        missing=tuple(missing),
    )


def _missing_below(site: SitePlan, generator: str) -> Iterator[str]:
    """Numbers of the UPSs on a generator without which their step is unknown."""
    sources = site.distribution.sources
    steps = [
        row
        for row in site.sources
        if row.kind == "ups" and not sources[row.source].walk_in and generator in row.ancestors
    ]
    silent = [f"'{row.source}'" for row in steps if sources[row.source].recharge is None]
    if silent:
        yield f"'recharge' of {listed(silent)}"
    yield from dict.fromkeys(row.lacks for row in steps if row.lacks is not None)
