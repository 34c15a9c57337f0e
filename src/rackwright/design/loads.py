"""Loads of racks on the budgets of a facility by the plan: one number for each budget."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Literal

from rackwright.design.model import DesignFacility, DesignReserve
from rackwright.plan.expansion import SitePlan

BudgetKind = Literal[
    "source",
    "charging",
    "contract",
    "row",
    "hall",
    "air",
    "airflow",
    "heat",
    "flow",
    "stage",
    "cost",
]

Key = tuple[BudgetKind, str, str | None]
"""Kind and name of what has a budget, and the source that is lost meanwhile; None for none."""


@dataclass(frozen=True)
class LoadBudget:
    """Highest load of a part of the facility by the plan.

    Attributes:
        key: what it is.
        kind: in words, like ``ups``.
        what: what is counted, in words.
        limit: most that it carries, in ``unit``.
        unit: canonical unit.
    """

    key: Key
    kind: str
    what: str
    limit: float
    unit: str


JUDGED_BY: Mapping[BudgetKind, str] = {
    **dict.fromkeys(("source", "contract", "row", "hall"), "PWR-006"),
    "charging": "PWR-013",
    "air": "COOL-001",
    "airflow": "COOL-002",
    **dict.fromkeys(("heat", "flow"), "COOL-004"),
    "stage": "COOL-013",
    "cost": "CST-001",
}
"""The rule that compares a load with its budget."""

LoadBudgets = Mapping[Key, LoadBudget]
"""What there is, by what it is."""


def budgets_of(
    site: SitePlan, facility: DesignFacility, reserve: DesignReserve, enforced: AbstractSet[str]
) -> LoadBudgets:
    """Return the budgets of a site whose limits are known and hold, less the reserves.

    Args:
        site: the site; what stands there changes none of them.
        facility: what it was made from.
        reserve: what stays free.
        enforced: the rules that block; the budgets of others hold where a reserve is asked for.
    """
    shares = {
        **dict.fromkeys(("source", "contract", "row", "hall"), 1 - reserve.power / 100),
        **dict.fromkeys(("air", "airflow", "heat", "flow"), 1 - reserve.cooling / 100),
    }
    found: dict[Key, LoadBudget] = {}
    for budget in (*_electric(site), *_thermal(site), *_stages(site, facility)):
        share = shares.get(budget.key[0], 1.0)
        if share < 1 or JUDGED_BY[budget.key[0]] in enforced:
            found[budget.key] = replace(budget, limit=budget.limit * share)
    return found


def _electric(site: SitePlan) -> Iterator[LoadBudget]:
    for source in site.power.sources:
        limit = source.capacity_w
        if limit is None:
            continue
        lost = [other.source for other in site.power.sources if other.source != source.source]
        for one in (None, *(lost if source.redundancy == "N-1" else ())):
            what = f"{source.source} after losing '{one}'" if one else source.source
            yield LoadBudget(("source", source.source, one), source.kind, what, limit, "W")
        if source.batteries:
            what = f"{source.source} while batteries are charged"
            key: Key = ("charging", source.source, None)
            yield LoadBudget(key, source.kind, what, limit, "W")
    if site.totals.contract_w is not None:
        yield LoadBudget(
            ("contract", "", None), "contract", "contract", site.totals.contract_w, "W"
        )
    for row in site.cooling.rows:
        if row.power_limit_w is not None:
            key = ("row", f"{row.hall}/{row.row}", None)
            yield LoadBudget(key, "row", f"power of the row {row.row}", row.power_limit_w, "W")
    for hall in site.cooling.halls:
        if hall.power_limit_w is not None:
            key = ("hall", hall.hall, None)
            yield LoadBudget(key, "hall", f"power of {hall.hall}", hall.power_limit_w, "W")


def _thermal(site: SitePlan) -> Iterator[LoadBudget]:
    for hall in site.cooling.halls:
        name = hall.hall
        if hall.air_capacity_n1_w is not None:
            what = f"air handlers of {name}, one lost"
            yield LoadBudget(("air", name, None), "air handlers", what, hall.air_capacity_n1_w, "W")
        if hall.air_supply_n1_cfm is not None:
            what = f"airflow of {name}, one air handler lost"
            yield LoadBudget(
                ("airflow", name, None), "airflow", what, hall.air_supply_n1_cfm, "CFM"
            )
    for loop in site.cooling.loops:
        if loop.in_rack:
            continue
        what = f"CDUs of {loop.loop}, one lost"
        yield LoadBudget(("heat", loop.loop, None), "CDUs", what, loop.capacity_n1_w, "W")
        flows = [one for one in (loop.cdu_flow_n1_lpm, loop.flow_limit_lpm) if one is not None]
        if flows:
            what = f"flow of {loop.loop}, one CDU lost"
            yield LoadBudget(("flow", loop.loop, None), "flow", what, min(flows), "L/min")


def _stages(site: SitePlan, facility: DesignFacility) -> Iterator[LoadBudget]:
    """Return the loads of pumps and heat rejection."""
    # Chillers pass on no more than they carry, and CDUs in racks tell of one rack: no sums of racks.
    second = {plant.rejects_to for plant in facility.plant or ()}
    apart = {loop.name for loop in facility.loops if loop.in_rack}
    for stage in site.cooling.stages:
        summed = stage.of not in second and apart.isdisjoint(stage.loops)
        # Of a circuit of water, COOL-013 asks for one unit more than the heat needs.
        on_water = stage.kind in {"pumps", "heat rejection"}
        if on_water and summed and stage.capacity_n1_w is not None and not stage.missing:
            key: Key = ("stage", f"{stage.kind} of {stage.of}", None)
            what = f"{stage.kind} of {stage.of}, the largest lost"
            yield LoadBudget(key, stage.kind, what, stage.capacity_n1_w, "W")


Loads = Mapping[Key, float | None]
"""Load by budget; None where it is unknown."""


def loads_of(site: SitePlan) -> Loads:
    """Return the load of each budget of a site, in the unit of the budget.

    What a source carries after a loss is there where the loss changes it.
    """
    found: dict[Key, float | None] = {}
    for source in site.power.sources:
        found["source", source.source, None] = source.facility_w
        found["charging", source.source, None] = source.charging_w
    for source in site.power.sources:
        for name, load in site.power.after_loss.without(source.source).items():
            if name != source.source:
                found["source", name, source.source] = load
    found["contract", "", None] = site.totals.facility_w
    for row in site.cooling.rows:
        found["row", f"{row.hall}/{row.row}", None] = row.power_w
    for hall in site.cooling.halls:
        supply, density = hall.supply_cfm, hall.density_ratio
        found["hall", hall.hall, None] = hall.power_w
        found["air", hall.hall, None] = hall.heat_air_w
        found["airflow", hall.hall, None] = (
            None if supply is None or not density else supply / density
        )
    for loop in site.cooling.loops:
        found["heat", loop.loop, None] = loop.heat_w
        found["flow", loop.loop, None] = loop.flow_lpm
    for stage in site.cooling.stages:
        found["stage", f"{stage.kind} of {stage.of}", None] = stage.heat_w
    return found


def heat_into(site: SitePlan) -> Mapping[Key, float]:
    """Return the heat of a site's racks into each stage of its cooling in W, without the machines' power."""
    found: dict[Key, float] = {}
    for stage in site.cooling.stages:
        heats = [hall.heat_air_w for hall in site.cooling.halls if hall.hall in stage.halls]
        heats += [loop.heat_w for loop in site.cooling.loops if loop.loop in stage.loops]
        known = [heat for heat in heats if heat is not None]
        if len(known) == len(heats):
            found["stage", f"{stage.kind} of {stage.of}", None] = sum(known)
    return found


@dataclass(frozen=True)
class LoadLine:
    """A budget as a sum over racks, which is never more than what the plan says of them.

    Attributes:
        budget: the budget.
        fixed: what it carries without the racks.
        each: what one rack of each option adds.
    """

    budget: LoadBudget
    fixed: float
    each: Sequence[float]

    def load(self, racks: Sequence[int]) -> float:
        """Return the load with so many racks of each option."""
        return self.fixed + sum(one * count for one, count in zip(self.each, racks, strict=True))


@dataclass(frozen=True)
class Probe:
    """Plan's numbers of a facility with one rack, or with none.

    Attributes:
        loads: of each budget.
        into: heat that racks give to each stage of cooling.
        it_w: power of all racks, in W.
        facility_w: the same with cooling and losses, in W.
        beyond: W for each W of racks that the PUE says beyond the entries.
        carriers: sources that carry what the PUE says.
        root: the only source that nothing feeds; None where there are several.
    """

    loads: Loads
    into: Mapping[Key, float]
    it_w: float | None
    facility_w: float | None
    beyond: float | None
    carriers: frozenset[str]
    root: str | None


def probe_of(site: SitePlan) -> Probe:
    """Return the numbers of a site's plan."""
    totals, overhead = site.totals, site.power.overhead
    roots = [source.source for source in site.power.sources if len(source.ancestors) == 1]
    return Probe(
        loads_of(site),
        heat_into(site),
        totals.it_power_w,
        totals.facility_w,
        overhead.beyond,
        frozenset(overhead.carriers),
        roots[0] if len(roots) == 1 else None,
    )


def lines_of(
    budgets: LoadBudgets, bare: Probe, probes: Sequence[Probe], pue: float | None
) -> tuple[LoadLine, ...]:
    """Return the budgets as sums over racks; those with something unknown are left to the policies.

    Args:
        budgets: the limits.
        bare: the facility without accelerators.
        probes: the same with one rack of each option.
        pue: what the facility states.
    """
    found: dict[object, LoadLine] = {}
    for key, budget in budgets.items():
        line = (
            _stage(budget, bare, probes) if key[0] == "stage" else _sum(budget, bare, probes, pue)
        )
        if line is not None and any(line.each):
            name = (key[:2], line.fixed, *line.each)
            found.setdefault(name, line)  # most losses change nothing
        if pue is not None and key[0] in {"source", "contract"}:
            whole = _by_pue(budget, bare, probes, pue)
            if whole is not None:
                found.setdefault((key[:2], whole.fixed, *whole.each), whole)
    return tuple(found.values())


def _at(probe: Probe, key: Key, bare: Probe) -> float | None:
    kind, name, _ = key
    if kind == "row" and key not in probe.loads:
        return 0.0  # a row in which nothing stands is in no plan
    if kind == "source" and (kind, name, None) not in probe.loads:
        probe = bare  # so is a source on which the rack cannot hang
    return probe.loads[key] if key in probe.loads else probe.loads.get((kind, name, None))


def _sum(
    budget: LoadBudget, bare: Probe, probes: Sequence[Probe], pue: float | None
) -> LoadLine | None:
    key = budget.key
    if key[2] is not None and not any(key in probe.loads for probe in (bare, *probes)):
        return None  # the loss changes nothing, or takes this source too
    fixed = _at(bare, key, bare)
    values = [_at(probe, key, bare) for probe in probes]
    known = [value for value in values if value is not None]
    if fixed is None or len(known) != len(values):
        return None
    each = [value - fixed for value in known]
    if pue is not None and (key[0] == "contract" or key[1] in bare.carriers):
        # The more racks there are, the more the PUE says beyond the entries: count the least of it.
        least = min((probe.beyond or 0.0 for probe in probes), default=0.0)
        for number, probe in enumerate(probes):
            rack = (probe.it_w or 0.0) - (bare.it_w or 0.0)
            over = (probe.beyond or 0.0) - least
            each[number] -= min(each[number], rack) * over
        fixed -= (bare.it_w or 0.0) * max(0.0, (bare.beyond or 0.0) - least)
    return LoadLine(budget, fixed, [max(0.0, one) for one in each])


def _by_pue(
    budget: LoadBudget, bare: Probe, probes: Sequence[Probe], pue: float
) -> LoadLine | None:
    """Return the least that the PUE says of a source that carries the whole facility, and of the contract."""
    if budget.key[0] == "source" and budget.key != ("source", bare.root, None):
        for probe in (bare, *probes):
            load, whole = _at(probe, budget.key, bare), probe.facility_w
            if load is None or whole is None or abs(load - whole) > 1e-6 * max(1.0, whole):
                return None
    if any(probe.it_w is None for probe in (bare, *probes)):
        return None
    fixed = (bare.it_w or 0.0) * pue
    each = [(probe.it_w or 0.0) * pue - fixed for probe in probes]
    return LoadLine(budget, fixed, each)


def _stage(budget: LoadBudget, bare: Probe, probes: Sequence[Probe]) -> LoadLine | None:
    """Return the heat of racks, and what machines draw on its way, which is there as soon as one rack is."""
    key = budget.key
    before = bare.into.get(key)
    drawn: list[float] = []
    heats: list[float] = []
    for probe in probes:
        load, into = probe.loads.get(key), probe.into.get(key)
        if load is None or into is None or before is None:
            return None
        heats.append(max(0.0, into - before))
        if into:
            drawn.append(load - into)
    if not drawn:
        return None
    # Where machines alone are too much, no rack may give heat, and others may stand.
    return LoadLine(budget, min(min(drawn) + (before or 0.0), budget.limit), heats)
