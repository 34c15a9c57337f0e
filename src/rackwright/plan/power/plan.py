"""The power of a site: what its sources carry, and what faults, conductors and batteries make of it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from rackwright.model.onprem import OnPremSite
from rackwright.model.power import SitePower
from rackwright.plan.base import Path
from rackwright.plan.power.autonomy import autonomies
from rackwright.plan.power.consumers import Consumer
from rackwright.plan.power.demand import FedRacks
from rackwright.plan.power.distribution import PowerTree
from rackwright.plan.power.flows import LoadsAfterLoss
from rackwright.plan.power.lines.conductors import OfFeeds
from rackwright.plan.power.lines.fault_currents import fault_currents
from rackwright.plan.power.lines.ratings import line_ratings
from rackwright.plan.power.lines.voltage_drops import voltage_drops
from rackwright.plan.power.lines.voltage_zones import voltage_zones
from rackwright.plan.power.maintenance import Maintenance
from rackwright.plan.power.overhead import Overhead
from rackwright.plan.power.sources import plan_sources
from rackwright.plan.records.power import (
    Autonomy,
    FaultCurrent,
    LineRating,
    SourceLoad,
    TapOffLoad,
    VoltageDrop,
    VoltageZone,
)
from rackwright.plan.records.racks import RackClass


@dataclass(frozen=True)
class PowerPlan:
    """The power of a site, from its utilities to the feeds of its racks.

    Attributes:
        settings: what the blueprint states of the power supply.
        tree: the sources as the blueprint has them, with what feeds them.
        sources: what each of them carries, in the order of the blueprint.
        tap_offs: tap-off boxes of busways, by class of racks and feed.
        fault_currents: short circuits at the sources, then at the PDUs of the racks.
        line_ratings: conductors to the sources and to the racks, with what protects them.
        voltage_drops: voltage at the end of each feed of each class of racks.
        voltage_zones: sources and feeds that no transformer parts.
        autonomies: UPSs and generators; none of a site without generators.
        overhead: what the site draws beside its racks.
        after_loss: what the sources carry after each single loss, worked out when it is asked for.
        maintenance: what they carry while another one is maintained, worked out when it is asked for.
    """

    settings: SitePower
    tree: PowerTree
    sources: tuple[SourceLoad, ...]
    tap_offs: tuple[TapOffLoad, ...]
    fault_currents: tuple[FaultCurrent, ...]
    line_ratings: tuple[LineRating, ...]
    voltage_drops: tuple[VoltageDrop, ...]
    voltage_zones: tuple[VoltageZone, ...]
    autonomies: tuple[Autonomy, ...]
    overhead: Overhead
    after_loss: LoadsAfterLoss = field(compare=False)
    maintenance: Maintenance = field(compare=False)

    def named(self, names: Iterable[str]) -> list[SourceLoad]:
        """Return some of the sources by their names, in the order of the blueprint."""
        return [self.sources[place] for place in sorted({self._places[name] for name in names})]

    @cached_property
    def _places(self) -> Mapping[str, int]:
        return {row.source: place for place, row in enumerate(self.sources)}


def plan_power(
    site: OnPremSite,
    path: Path,
    consumers: tuple[Consumer, ...],
    racks: Sequence[RackClass],
    fed: Sequence[FedRacks],
    conductors: OfFeeds,
    tap_offs: Iterable[TapOffLoad],
) -> PowerPlan:
    """Return the power of a site.

    Args:
        site: the site.
        path: its place in the blueprint.
        consumers: what draws power beside the racks.
        racks: its racks by class.
        fed: what each class asks of its sources, in the same order.
        conductors: those of the circuits of its feeds.
        tap_offs: its tap-off boxes.
    """
    drawn = _power_of(racks)
    plant = plan_sources(site, path, consumers, fed, drawn)
    return PowerPlan(
        settings=site.power,
        tree=plant.tree,
        sources=plant.rows,
        tap_offs=tuple(tap_offs),
        fault_currents=tuple(fault_currents(plant.tree, racks, conductors)),
        line_ratings=tuple(
            line_ratings(site.power, path, plant.tree, plant.rows, racks, conductors)
        ),
        voltage_drops=tuple(
            voltage_drops(plant.tree, site.power.power_factor, plant.rows, racks, conductors)
        ),
        voltage_zones=tuple(voltage_zones(plant.tree, racks)),
        autonomies=tuple(autonomies(plant.tree, plant.rows)),
        overhead=plant.overhead,
        after_loss=plant.after_loss,
        maintenance=Maintenance(plant.tree, plant.after_loss, [cls.sources for cls in fed]),
    )


def _power_of(racks: Iterable[RackClass]) -> float | None:
    """Return the W that all racks draw; None as soon as the power of one is unknown."""
    powers = []
    for own in racks:
        if own.power_w is None:
            return None
        powers.append(own.power_w * own.count)
    return math.fsum(powers)
