"""PWR-034: racks survive a failure during maintenance of another source."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from rackwright.api import (
    Finding,
    Measure,
    Plan,
    Policy,
    Profile,
    RackClass,
    Severity,
    SitePlan,
    Subject,
    rule,
)
from rackwright.model.power import SourceKind
from rackwright.plan.missing import of_product
from rackwright.plan.racks.contributors import subject
from rackwright.plan.racks.feeds.shelves import SHELF_INLETS, carried_after, shelves_of
from rackwright.plan.racks.heat_unknowns import missing_of_stage
from rackwright.plan.records.circuits import DevicesAfterLoss
from rackwright.plan.records.cooling import CoolingStage
from rackwright.policy.helpers.power import (
    missing_of_facility,
    no_capacity,
)
from rackwright.policy.helpers.racks import BelowSources, is_over, unknown_draw, unrated
from rackwright.policy.helpers.remediation import provide

if TYPE_CHECKING:
    from rackwright.plan.racks.rack import Loss

_Losses = Mapping[frozenset[int], tuple[str, ...]]
"""Sets of dead feeds, by number, each with the sources that are out."""


@rule(
    "PWR-034",
    "Racks survive a failure during maintenance of another source",
    Severity.HIGH,
    since="0.5",
    stage="design",
    profile=Profile.PRODUCTION,
)
class MaintenanceAndFailure(Policy):
    """With one source maintained and another one failed, all that remains carries power and heat."""

    required: bool = False
    """True where the hall is meant to live through both at once. Nothing is judged otherwise."""
    maintained: tuple[SourceKind, ...] = (
        "utility",
        "generator",
        "transformer",
        "switchgear",
        "ups",
    )
    """Kinds of sources that are maintained while racks run; any other source may fail meanwhile."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield measures for racks, sources and cooling, where the parameter asks for it."""
        from rackwright.plan.power.maintenance import dead_feeds

        for site in plan.onprem if self.required else ():
            losses: dict[tuple[str, ...], _Losses] = {}
            for rack in site.racks:
                if rack.sources not in losses:
                    losses[rack.sources] = dead_feeds(
                        site.power.tree, rack.sources, self.maintained
                    )
                yield _feeds(site, rack, losses[rack.sources])
                yield from _circuits(site, rack, losses[rack.sources])
            yield from self._sources(site)
            for stage in site.cooling.maintenance.rows(self.maintained):
                if stage.heat_w != 0:
                    yield _stage(site, stage)

    def _sources(self, site: SitePlan) -> Iterator[Measure]:
        worst = site.power.maintenance.worst_loads(self.maintained)
        below = BelowSources(site)
        for row in site.power.sources:
            found = worst.get(row.source)
            if row.idle or found is None or found.load == 0:
                continue
            value, limit = found.load, row.capacity_w
            if not found.known and not is_over(value, limit):
                value = None
            missing = list(missing_of_facility(site, row, below))
            if value is None and not missing:
                missing += site.power.tree.missing or below.lacking(row.source)
            if limit is None:
                missing.append(no_capacity(site, row.source))
            yield Measure(
                Subject(f"{site.name} source {row.source}", row.path),
                value=value,
                limit=limit,
                unit="W",
                what=f"load of the source with {_out(found.lost)}",
                fix=f"{provide(value, 'W', 'sources')} in that state, or feed its load from more systems"
                if is_over(value, limit)
                else None,
                missing=tuple(missing) if value is None or limit is None else (),
            )


def _out(lost: Sequence[str]) -> str:
    return f"{' and '.join(lost)} out"


def _feeds(site: SitePlan, rack: RackClass, losses: _Losses) -> Measure:
    dead, lost = next(iter(losses.items()), (frozenset[int](), ()))
    unfed = site.power.tree.missing
    return Measure(
        subject(site, rack),
        value=None if unfed else len(rack.sources) - len(dead),
        limit=1,
        unit="feeds",
        what="lowest number of working feeds" + (f" with {_out(lost)}" if dead else ""),
        sense="at_least",
        fix="feed the rack from a third system, or give its sources another parent in 'fed_by'",
        missing=unfed,
    )


def _circuits(site: SitePlan, rack: RackClass, losses: _Losses) -> Iterator[Measure]:
    """Yield the worst case of circuits, power supplies and shelves with several feeds lost, but not all.

    PWR-002, PWR-003 and PWR-012 check the loss of one feed.
    """
    from rackwright.plan.racks.capacity import wired_rack
    from rackwright.plan.racks.kinds import circuits_after, devices_after

    several = {dead: lost for dead, lost in losses.items() if 1 < len(dead) < len(rack.sources)}
    if not several:
        return
    wired = wired_rack(site, rack)
    cases: list[Loss] = []
    for dead, lost in several.items():
        gone = frozenset(n for n, circuit in enumerate(wired.circuits) if circuit.feed in dead)
        cases.append((_out(lost), "feed", gone))
    circuits = list(circuits_after(wired, cases))
    if circuits:
        row = max(circuits, key=lambda one: _share(one.implied_w, one.usable_w))
        unknown = unknown_draw(site, rack) if row.implied_w is None else ()
        if row.usable_w is None:
            unknown = (*unknown, unrated(rack.feed_path(row.feed)))
        yield Measure(
            subject(site, rack, f"feed {row.feed}"),
            value=row.implied_w,
            limit=row.usable_w,
            unit="W",
            what=f"load implied by the busiest line with {row.lost}",
            fix=f"{provide(row.implied_w, 'W', 'circuits')}, or give the rack one more feed"
            if is_over(row.implied_w, row.usable_w)
            else None,
            missing=unknown,
        )
    yield from _supplies(site, rack, [*devices_after(wired, cases)])
    shelves = shelves_of(site, rack)
    if shelves is not None:
        dead, lost = min(
            several.items(),
            key=lambda one: carried_after(shelves.rating_w, shelves.on_feeds, one[0]),
        )
        yield Measure(
            subject(site, rack),
            value=rack.power_w,
            limit=carried_after(shelves.rating_w, shelves.on_feeds, dead),
            unit="W",
            what=f"power on the {shelves.shelf} with {_out(lost)}",
            fix="install more shelves on each feed",
            missing=() if rack.power_w is not None else unknown_draw(site, rack),
        )


def _share(value: float | None, limit: float | None) -> float:
    """Return the used share of a circuit; one of unknown load or rating is the worst but one that fails."""
    return 1.0 if value is None or limit is None else value / limit if limit else float("inf")


def _supplies(
    site: SitePlan, rack: RackClass, rows: Iterable[DevicesAfterLoss]
) -> Iterator[Measure]:
    facts = {device.entry: device for device in rack.kind.devices}
    worst: dict[tuple[str, str], DevicesAfterLoss] = {}
    for row in rows:
        so_far = worst.get((row.entry, row.group))
        if facts[row.entry].psu_inlet not in SHELF_INLETS and (
            so_far is None or (row.alive or 0) < (so_far.alive or 0)
        ):
            worst[row.entry, row.group] = row
    for row in worst.values():
        missing = []
        if row.needed_full is None:
            words = "supplies that full performance needs"
            missing.append(of_product(row.entry, "power_supplies.full_performance", words))
        if row.alive is None:
            missing.append(
                of_product(row.entry, "power_supplies.count", "number of power supplies")
            )
        yield Measure(
            subject(site, rack, f"{row.entry} {row.group}", row.path),
            value=row.alive,
            limit=row.needed_full,
            unit="power supplies",
            what=f"power supplies left in each node with {row.lost}",
            sense="at_least",
            fix="give feeds a second source in 'fed_by', such as a reserve UPS, so that fewer are lost together",
            missing=tuple(missing),
        )


def _stage(site: SitePlan, stage: CoolingStage) -> Measure:
    value, limit = stage.lost_heat_w, stage.lost_capacity_w
    what = f"heat load of the {stage.kind} with any two sources out"
    if stage.lost is not None:
        what = f"heat load of the {stage.kind} with {stage.lost} out, which takes {stage.lost_units:,} of {stage.units:,} units,"
    return Measure(
        Subject(f"{site.name} {stage.kind} of {stage.of}", stage.path),
        value=value,
        limit=limit,
        unit="W",
        what=what,
        fix=f"feed units from more sources ('supplies', 'fed_by'), or {provide(value, 'W', stage.kind)} in that state"
        if is_over(value, limit)
        else None,
        missing=missing_of_stage(site, stage),
    )
