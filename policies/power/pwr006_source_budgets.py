"""PWR-006: sources, rows and halls stay within their power budgets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rackwright.api import (
    Contributor,
    Finding,
    Measure,
    Missing,
    Plan,
    Policy,
    Profile,
    RackClass,
    Severity,
    SitePlan,
    Subject,
    rule,
)
from rackwright.plan.missing import each_once
from rackwright.plan.racks.contributors import unknowns
from rackwright.plan.racks.feeds.power_shares import (
    plant_contributors,
    source_contributors,
    with_overhead,
)
from rackwright.plan.records.power import SourceLoad
from rackwright.policy.helpers.power import (
    has_no_contract,
    measure_contract,
    missing_of_facility,
    missing_of_racks,
    no_capacity,
)
from rackwright.policy.helpers.racks import BelowSources, excess
from rackwright.policy.helpers.remediation import a_source, either, place_fewer, provide


@rule(
    "PWR-006",
    "Sources, rows and halls stay within their power budgets",
    Severity.CRITICAL,
    since="0.1",
    stage="concept",
    profile=Profile.LAB,
)
class SourceBudgets(Policy):
    """Each source carries its load, and that of any other single source that is lost."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield measures for each source by its redundancy class, each row and hall, and the contract."""
        for site in plan.onprem:
            below = BelowSources(site)
            for row in site.power.sources:
                at = Subject(f"{site.name} source {row.source}", row.path)
                yield _source(site, row, at, below)
                if row.missing_parents:
                    yield _parents(row, at)
                if row.idle:
                    yield _idle(row, at)
            yield from _areas(site)
            if not has_no_contract(site):
                yield measure_contract(
                    site,
                    Subject(f"{site.name} contract", (*site.path, "power", "contract")),
                    "power of the facility (IT power × PUE), against the utility contract,",
                )


def _source(site: SitePlan, row: SourceLoad, at: Subject, below: BelowSources) -> Measure:
    survives = row.redundancy == "N-1"
    value = row.facility_worst_w if survives else row.facility_w
    lost = row.facility_lost if survives else None
    limit = row.capacity_w
    over = excess(value, limit)
    shares = source_contributors(site, row.source, lost) if over else ()
    if row.carries_facility:
        shares = with_overhead(shares, site.power.overhead)
    plant = plant_contributors(site, row.source, lost) if over else ()
    missing = [*missing_of_racks(site, row, below), *missing_of_facility(site, row, below)]
    if limit is None:
        missing.append(no_capacity(site, row.source))
    return Measure(
        at,
        value=value,
        limit=limit,
        unit="W",
        what=("load of the facility" if row.carries_facility else "load")
        + (f" after losing '{lost}'" if lost else ""),
        contributors=(*shares, *plant),
        fix=either(place_fewer(shares, over), provide(value, "W", a_source(row.kind)))
        if over
        else None,
        missing=each_once(missing),
    )


def _parents(row: SourceLoad, at: Subject) -> Finding:
    """Return a source whose load nobody carries, as far as the blueprint says."""
    name = f"'fed_by' of '{row.source}'"
    if row.kind == "sts":
        missing = f"{name}: name the two sources that the transfer switch chooses between"
    else:
        missing = f"{name}: name what feeds this {row.kind}; power begins at a utility or generator"
    what = f"what carries the load of '{row.source}'"
    place = (*row.path, "fed_by")
    return Finding(at, ok=None, message=what, what=what, missing=(Missing(missing, place),))


def _idle(row: SourceLoad, at: Subject) -> Finding:
    """Return a source that nothing hangs on: planned for later, or the line to it is forgotten."""
    return Finding(
        at,
        ok=False,
        message=f"'{row.source}' feeds nothing: no rack and no other source names it",
        fix="name it in 'fed_by' or 'feeds' of the equipment behind it, or remove it",
        advisory=True,
        what="something hangs on the source",
    )


def _areas(site: SitePlan) -> Iterator[Measure]:
    for noun, areas in (
        ("row", [(row.row, row) for row in site.cooling.rows]),
        ("hall", [(hall.hall, hall) for hall in site.cooling.halls]),
    ):
        for name, area in areas:
            value, limit = area.power_w, area.power_limit_w
            if limit is None:
                continue
            inside = [
                racks
                for racks in site.racks
                if name == (racks.row if noun == "row" else racks.hall)
            ]
            over = excess(value, limit)
            shares = _nodes(inside) if over else ()
            yield Measure(
                Subject(f"{site.name} {noun} {name}", area.path),
                value=value,
                limit=limit,
                unit="W",
                what=f"power of the {noun}",
                contributors=shares,
                fix=place_fewer(shares, over) if over else None,
                missing=() if value is not None else unknowns(site, "power_w", inside),
            )


def _nodes(inside: Iterable[RackClass]) -> tuple[Contributor, ...]:
    """Return the devices of a row or hall by product."""
    found: dict[tuple[str, float], int] = {}
    for racks in inside:
        for device in racks.kind.devices:
            if device.power_w:
                key = (device.entry, device.power_w)
                found[key] = found.get(key, 0) + racks.count
    return tuple(Contributor(entry, count, each) for (entry, each), count in found.items())
