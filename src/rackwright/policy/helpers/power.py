"""Facts for rules about power: consumers, shelves, and missing facts of sources."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from rackwright.plan.base import Subject
from rackwright.plan.expansion import SitePlan
from rackwright.plan.listing import first_of
from rackwright.plan.missing import Missing
from rackwright.plan.plant_products import missing_rating
from rackwright.plan.racks.contributors import contributors, unknowns
from rackwright.plan.racks.feeds.power_shares import (
    plant_contributors,
    with_overhead,
)
from rackwright.plan.records.power import SourceLoad
from rackwright.policy.api import Measure
from rackwright.policy.helpers.racks import BelowSources, excess
from rackwright.policy.helpers.remediation import either, place_fewer, provide

if TYPE_CHECKING:
    from rackwright.plan.racks.capacity import CircuitRoom


def circuit_room(site: SitePlan, *, after_losses: bool) -> CircuitRoom:
    """Return the number of devices that the circuits of each rack of a site would carry.

    Args:
        site: with the racks.
        after_losses: whether the other circuits carry them after any feed or PDU is lost, too.
    """
    from rackwright.plan.racks.capacity import CircuitRoom

    return CircuitRoom(site, after_losses=after_losses)


def missing_of_racks(site: SitePlan, row: SourceLoad, below: BelowSources) -> tuple[str, ...]:
    """Return the missing facts that make the load of the racks on a source unknown, by its redundancy."""
    racks = row.worst_w if row.redundancy == "N-1" else row.load_w
    if racks is not None:
        return ()
    return site.power.tree.missing or below.lacking(row.source)


def missing_of_facility(site: SitePlan, row: SourceLoad, below: BelowSources) -> Iterator[str]:
    """Yield the missing facts that make the machines and losses on a source unknown.

    What the PUE says beyond the entries follows from the power of all racks, not of those below it.
    """
    if row.carries_facility and site.power.overhead.beyond is None:
        yield from site.power.overhead.missing or site.power.tree.missing or below.anywhere()
    if row.lacks is not None:
        yield row.lacks


def missing_of_charging(site: SitePlan, batteries: Iterable[str]) -> tuple[str, ...]:
    """Return the UPSs among ``batteries`` that do not say what charging takes, the first few by name."""
    tree = site.power.tree
    found = [
        tree.unsaid(name, "recharge") for name in batteries if tree.sources[name].recharge is None
    ]
    return first_of(found, "'recharge' of {} more UPSs")


def no_capacity(site: SitePlan, name: str) -> Missing:
    """Return the field of a source, of its modules or of its product that would state its capacity in W."""
    tree = site.power.tree
    modules = tree.sources[name].modules
    if modules is None or modules.spare is not None:
        return missing_rating(site, name)
    words = f"'spare' of the modules of '{name}', 0 where every module is needed"
    return Missing(words, tree.place(name, "modules", "spare"))


def has_no_contract(site: SitePlan) -> bool:
    """Return True if a site lives on its own generators and states no contract with a utility."""
    islanded = all(source.kind != "utility" for source in site.power.sources)
    return islanded and site.totals.contract_w is None


def measure_contract(site: SitePlan, at: Subject, what: str) -> Measure:
    """Return the measure of the facility's power in W against its contract: racks, cooling and losses.

    Args:
        site: whose power is measured.
        at: the subject of the measure.
        what: what is measured, in the words of the measure.
    """
    value, limit = site.totals.facility_w, site.totals.contract_w
    over = excess(value, limit)
    shares = contributors(site, "power_w", per_rack=False) if over else ()
    shares = with_overhead(shares, site.power.overhead)
    missing = unknowns(site, "power_w") + site.power.overhead.missing
    if value is None and not missing:
        missing = site.power.tree.missing
    if limit is None:
        place = (*site.path, "power", "contract")
        missing += (Missing("'contract' of the site's power", place),)
    return Measure(
        at,
        value=value,
        limit=limit,
        unit="W",
        what=what,
        contributors=(*shares, *plant_contributors(site)) if over else (),
        fix=either(place_fewer(shares, over), provide(value, "W", "a contract")) if over else None,
        missing=missing,
    )
