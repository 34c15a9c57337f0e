"""The cooling of a site: its halls, loops and machines, and what of them is left after a loss."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from rackwright.catalog.loader import Catalogue
from rackwright.model.onprem import OnPremSite
from rackwright.plan.base import Path
from rackwright.plan.cooling.after_loss import StagesInMaintenance, stage_rows
from rackwright.plan.cooling.facility import hall_rows, loop_rows, row_rows
from rackwright.plan.cooling.loop_products import loop_products
from rackwright.plan.cooling.outdoors import freezing_rows, outdoor_rows, water_rows
from rackwright.plan.cooling.products import uncarried
from rackwright.plan.cooling.ride_through import ride_through_rows
from rackwright.plan.cooling.stages import HeatPaths
from rackwright.plan.cooling.water_fits import warmed_fits, water_fits
from rackwright.plan.power.consumers import Consumer
from rackwright.plan.power.distribution import PowerTree
from rackwright.plan.records.cooling import (
    CoolingStage,
    FreezingUnits,
    OutdoorUnits,
    RideThrough,
    UncooledWater,
    WaterFit,
)
from rackwright.plan.records.facility import HallLoad, LoopLoad, LoopProduct, RowLoad
from rackwright.plan.records.racks import RackClass


@dataclass(frozen=True, slots=True)
class CoolingPlan:
    """The cooling of a site, from its racks to the air outside.

    Attributes:
        rows: racks of each row together.
        halls: racks of each hall together, against its air handlers.
        loops: coolant loops with their racks and CDUs.
        loop_products: what the loops cool, by product.
        consumers: machines that draw power beside the racks, by what feeds them.
        stages: machines that carry heat away, from the halls and loops to the air outside.
        outdoors: machines that reject heat to the air outside.
        uncooled: facility water that no chiller cools.
        freezing: machines with water in the open air.
        water_fits: water and what it is to cool, or is declared to be.
        warmed_fits: the same with water that has stored as much heat as it may.
        ride_through: what holds heat back while machines are without power.
        maintenance: the stages while a source is maintained, worked out when they are asked for.
    """

    rows: tuple[RowLoad, ...]
    halls: tuple[HallLoad, ...]
    loops: tuple[LoopLoad, ...]
    loop_products: tuple[LoopProduct, ...]
    consumers: tuple[Consumer, ...]
    stages: tuple[CoolingStage, ...]
    outdoors: tuple[OutdoorUnits, ...]
    uncooled: tuple[UncooledWater, ...]
    freezing: tuple[FreezingUnits, ...]
    water_fits: tuple[WaterFit, ...]
    warmed_fits: tuple[WaterFit, ...]
    ride_through: tuple[RideThrough, ...]
    maintenance: StagesInMaintenance = field(compare=False)


def plan_cooling(
    site: OnPremSite,
    path: Path,
    racks: Sequence[RackClass],
    consumers: Sequence[Consumer],
    tree: PowerTree,
    catalogue: Catalogue,
) -> CoolingPlan:
    """Return the cooling of a site.

    Args:
        site: the site.
        path: its place in the blueprint.
        racks: its racks by class.
        consumers: what draws power beside the racks.
        tree: the power sources.
        catalogue: where products are looked up.

    Raises:
        UnknownEntryError: a product is not in the catalogue.
    """
    halls = hall_rows(site, path, racks, catalogue)
    loops = loop_rows(site, path, racks, catalogue)
    products = tuple(loop_products(site.loops, racks))
    heat = HeatPaths(site, path, consumers, racks, halls, loops, uncarried(site, path, catalogue))
    fits = tuple(water_fits(site, path, racks, catalogue))
    return CoolingPlan(
        rows=row_rows(site, path, racks),
        halls=halls,
        loops=loops,
        loop_products=products,
        consumers=tuple(consumers),
        stages=stage_rows(heat, tree),
        outdoors=outdoor_rows(site, path, catalogue),
        uncooled=water_rows(site, path),
        freezing=tuple(freezing_rows(site, path)),
        water_fits=fits,
        warmed_fits=tuple(warmed_fits(site, path, fits, products)),
        ride_through=ride_through_rows(site, path, heat, tree, racks, products),
        maintenance=StagesInMaintenance(heat, tree),
    )
