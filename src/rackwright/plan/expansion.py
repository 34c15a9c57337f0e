"""What a blueprint expands to: its sites, as records of equal things."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from rackwright.model.connections import Connector
from rackwright.model.hardware import Node, fact_value
from rackwright.plan.base import Path
from rackwright.plan.records.nodes import NodeGroupPlan
from rackwright.plan.records.products import ConnectorLimits

if TYPE_CHECKING:
    from rackwright.catalog.loader import Catalogue
    from rackwright.model.cluster import Blueprint, PolicySetting
    from rackwright.model.cost import Costs
    from rackwright.model.facts import ProductFact
    from rackwright.model.onprem import OnPremSite, RackGroup
    from rackwright.model.operations import Operations
    from rackwright.model.power import SitePower
    from rackwright.model.reliability import Reliability
    from rackwright.model.scheduler import Scheduler
    from rackwright.model.security import SiteSecurity
    from rackwright.model.storage import NfsShare
    from rackwright.model.users import Users
    from rackwright.plan.aws.site import AwsSitePlan
    from rackwright.plan.fabric.fabrics import FabricPlan
    from rackwright.plan.fabric.layout import Layout
    from rackwright.plan.fabric.lengths import CableRoutes
    from rackwright.plan.fabric.trays import TrayFill
    from rackwright.plan.power.distribution import PowerTree
    from rackwright.plan.power.flows import LoadsAfterLoss
    from rackwright.plan.power.overhead import Overhead
    from rackwright.plan.records.cooling import (
        CoolingStage,
        OutdoorUnits,
        RideThrough,
        UncooledWater,
    )
    from rackwright.plan.records.facility import (
        HallLoad,
        LoopLoad,
        LoopProduct,
        RowLoad,
        SiteTotals,
    )
    from rackwright.plan.records.power import (
        Autonomy,
        CircuitAfterLoss,
        CircuitLoad,
        DevicesAfterLoss,
        FaultCurrent,
        FeedLoad,
        SourceLoad,
        TapOffLoad,
        VoltageDrop,
    )
    from rackwright.plan.records.racks import (
        NvlinkDomains,
        RackClass,
        RackDelivery,
        RackDevice,
        RackPosition,
    )


_Row = TypeVar(
    "_Row", "RackDevice", "FeedLoad", "CircuitLoad", "CircuitAfterLoss", "DevicesAfterLoss"
)


@dataclass(frozen=True)
class SitePlan:
    """A bare-metal site, expanded to tables; ``rackwright.plan.records`` says what their fields mean.

    Racks of one group with the same content are one record of ``rack_classes``, so the work grows
    with the number of distinct racks. What follows from the blueprint is in records; what it merely
    says, like its security, has an attribute by the name that it has there.
    """

    site: OnPremSite
    path: Path
    catalogue: Catalogue = field(repr=False, compare=False)
    """Where its products are looked up; whoever reads the plan asks its records instead."""
    racks: tuple[RackPosition, ...] = field(repr=False)
    rack_classes: tuple[RackClass, ...] = field(repr=False)
    devices: tuple[RackDevice, ...] = field(repr=False)
    deliveries: tuple[RackDelivery, ...] = field(repr=False)
    nvlink_domains: tuple[NvlinkDomains, ...] = field(repr=False)
    feeds: tuple[FeedLoad, ...] = field(repr=False)
    circuits: tuple[CircuitLoad, ...] = field(repr=False)
    tap_offs: tuple[TapOffLoad, ...] = field(repr=False)
    losses: tuple[CircuitAfterLoss, ...] = field(repr=False)
    device_losses: tuple[DevicesAfterLoss, ...] = field(repr=False)
    sources: tuple[SourceLoad, ...] = field(repr=False)
    fault_currents: tuple[FaultCurrent, ...] = field(repr=False)
    voltage_drops: tuple[VoltageDrop, ...] = field(repr=False)
    autonomies: tuple[Autonomy, ...] = field(repr=False)
    rows: tuple[RowLoad, ...] = field(repr=False)
    halls: tuple[HallLoad, ...] = field(repr=False)
    loops: tuple[LoopLoad, ...] = field(repr=False)
    loop_products: tuple[LoopProduct, ...] = field(repr=False)
    cooling: tuple[CoolingStage, ...] = field(repr=False)
    outdoors: tuple[OutdoorUnits, ...] = field(repr=False)
    uncooled: tuple[UncooledWater, ...] = field(repr=False)
    ride_through: tuple[RideThrough, ...] = field(repr=False)
    totals: SiteTotals = field(repr=False)
    distribution: PowerTree = field(repr=False)
    """Its power sources."""
    overhead: Overhead = field(repr=False)
    """What it draws beside its racks."""
    after_loss: LoadsAfterLoss = field(repr=False, compare=False)
    """What its sources carry after each single loss, worked out when it is asked for."""

    def devices_of(self, rack_class: int) -> Sequence[RackDevice]:
        """The devices in one rack of a class."""
        return self._devices_by_class.get(rack_class, ())

    def feeds_of(self, rack_class: int) -> Sequence[FeedLoad]:
        """The feeds of one rack of a class."""
        return self._feeds_by_class.get(rack_class, ())

    def circuits_of(self, rack_class: int) -> Sequence[CircuitLoad]:
        """The circuits of one rack of a class."""
        return self._circuits_by_class.get(rack_class, ())

    def losses_of(self, rack_class: int) -> Sequence[CircuitAfterLoss]:
        """What living circuits of one rack of a class carry after each loss."""
        return self._losses_by_class.get(rack_class, ())

    def device_losses_of(self, rack_class: int) -> Sequence[DevicesAfterLoss]:
        """What becomes of the devices of one rack of a class after each loss."""
        return self._device_losses_by_class.get(rack_class, ())

    def classes_fed_by(self, source: str) -> AbstractSet[int]:
        """The classes of racks with a feed right from a source, not from one below it."""
        return self._classes_by_source.get(source, frozenset())

    @property
    def name(self) -> str:
        """Its name, unique in the blueprint."""
        return self.site.name

    @property
    def power(self) -> SitePower:
        """What the blueprint says of its power supply."""
        return self.site.power

    @property
    def security(self) -> SiteSecurity | None:
        """What the blueprint says of its security."""
        return self.site.security

    @property
    def nfs(self) -> tuple[NfsShare, ...]:
        """Directories that hosts export to others."""
        return self.site.nfs

    @property
    def altitude(self) -> float | None:
        """Height above sea level in m; None where nobody says it."""
        return self.site.altitude

    @property
    def pue_budget(self) -> float | None:
        """Power usage effectiveness that it is to keep."""
        return self.site.pue_budget

    def cable_routes(self, planned: FabricPlan) -> CableRoutes | None:
        """The ways of the cables of one of its fabrics; None while nothing is attached to it."""
        return self._cable_routes.get(planned.name)

    @cached_property
    def tray_fills(self) -> tuple[TrayFill, ...]:
        """How full the trays of its halls are; none of halls in which no cable goes from rack to rack."""
        from rackwright.plan.fabric.trays import tray_fills

        return tuple(tray_fills(self.site, self.path, tuple(self._cable_routes.values())))

    @cached_property
    def _cable_routes(self) -> Mapping[str, CableRoutes]:
        from rackwright.plan.fabric.lengths import CableRoutes, StandingRacks

        standing = StandingRacks(self.site, self.path, self.racks, self.devices, self.catalogue)
        return {
            each.name: CableRoutes(standing, each.path, each.layout)
            for each in self.fabrics
            if each.layout is not None
        }

    @cached_property
    def groups(self) -> tuple[NodeGroupPlan, ...]:
        """Its node groups, in the order of the blueprint."""
        return tuple(
            NodeGroupPlan(
                group=group,
                path=(*self.path, "node_groups", index),
                product=self.catalogue.get(Node, group.type),
            )
            for index, group in enumerate(self.site.node_groups)
        )

    @cached_property
    def groups_by_name(self) -> Mapping[str, NodeGroupPlan]:
        """Its node groups by their names."""
        return {group.name: group for group in self.groups}

    @cached_property
    def connectors(self) -> Mapping[str, ConnectorLimits]:
        """What the quick connectors of its devices stand, by catalogue id."""
        used = sorted({one.connector for one in self.devices if one.connector is not None})
        parts = [self.catalogue.get(Connector, name) for name in used]
        return {
            part.id: ConnectorLimits(
                connector=part.id,
                flow_lpm=fact_value(part.flow),
                fluid_max_c=fact_value(part.max_fluid),
                pressure_kpa=fact_value(part.max_pressure),
            )
            for part in parts
        }

    def rack_group(self, path: Path) -> RackGroup:
        """What the blueprint says of the racks of a class, by the place that its record has."""
        hall, row, group = (int(path[place]) for place in (-5, -3, -1))
        return self.site.halls[hall].rows[row].rack_groups[group]

    @cached_property
    def fabrics(self) -> tuple[FabricPlan, ...]:
        """Its fabrics, laid out, in the order of the blueprint."""
        from rackwright.plan.fabric.fabrics import plan_fabrics

        return plan_fabrics(self.site, self.path, self.catalogue)

    @property
    def layouts(self) -> tuple[Layout, ...]:
        """The layouts of its fabrics, without those to which nothing is attached."""
        return tuple(one.layout for one in self.fabrics if one.layout is not None)

    @cached_property
    def rack_counts(self) -> Mapping[int, int]:
        """Number of racks by rack class."""
        return {racks.rack_class: racks.count for racks in self.rack_classes}

    @cached_property
    def rack_classes_by_number(self) -> Mapping[int, RackClass]:
        """Its rack classes by their numbers."""
        return {racks.rack_class: racks for racks in self.rack_classes}

    @cached_property
    def source_places(self) -> Mapping[str, int]:
        """By its name, the index of a power source in ``sources``."""
        return {row.source: place for place, row in enumerate(self.sources)}

    @cached_property
    def _devices_by_class(self) -> Mapping[int, Sequence[RackDevice]]:
        return _by_class(self.devices)

    @cached_property
    def _feeds_by_class(self) -> Mapping[int, Sequence[FeedLoad]]:
        return _by_class(self.feeds)

    @cached_property
    def _circuits_by_class(self) -> Mapping[int, Sequence[CircuitLoad]]:
        return _by_class(self.circuits)

    @cached_property
    def _losses_by_class(self) -> Mapping[int, Sequence[CircuitAfterLoss]]:
        return _by_class(self.losses)

    @cached_property
    def _device_losses_by_class(self) -> Mapping[int, Sequence[DevicesAfterLoss]]:
        return _by_class(self.device_losses)

    @cached_property
    def _classes_by_source(self) -> Mapping[str, AbstractSet[int]]:
        found: dict[str, set[int]] = {}
        for row in self.feeds:
            found.setdefault(row.source, set()).add(row.rack_class)
        return found


@dataclass(frozen=True)
class Expansion:
    """A blueprint, the catalogue that it names, and its sites expanded.

    Sections of the blueprint that are not about one site are attributes by their names there.
    """

    blueprint: Blueprint
    catalogue: Catalogue = field(repr=False)
    onprem: tuple[SitePlan, ...] = ()
    aws: tuple[AwsSitePlan, ...] = ()

    @property
    def name(self) -> str:
        """Name of the cluster."""
        return self.blueprint.name

    @property
    def owner(self) -> str | None:
        """Team or address that answers for the cluster."""
        return self.blueprint.owner

    @property
    def site_names(self) -> tuple[str, ...]:
        """Names of all sites, in the order of the blueprint."""
        return tuple(site.name for site in self.blueprint.sites)

    @property
    def scheduler(self) -> Scheduler | None:
        """What the blueprint says of Slurm."""
        return self.blueprint.scheduler

    @property
    def users(self) -> Users | None:
        """Accounts on the hosts; None where somebody else manages them."""
        return self.blueprint.users

    @property
    def reliability(self) -> Reliability | None:
        """Rates of failure, jobs and what they need."""
        return self.blueprint.reliability

    @property
    def operations(self) -> Operations | None:
        """How the cluster is run: software, firmware, changes, health checks."""
        return self.blueprint.operations

    @property
    def costs(self) -> Costs | None:
        """Prices and budgets of the owner; what the cluster costs is ``cost`` of the plan."""
        return self.blueprint.costs

    @property
    def facts(self) -> tuple[ProductFact, ...]:
        """Numbers of products that the catalogue lacks."""
        return self.blueprint.facts

    @property
    def policies(self) -> Mapping[str, PolicySetting]:
        """Settings of policies, by id."""
        return self.blueprint.policies


def _by_class(rows: Iterable[_Row]) -> Mapping[int, Sequence[_Row]]:
    """Rows by their class of racks, in the order given."""
    found: dict[int, list[_Row]] = {}
    for row in rows:
        found.setdefault(row.rack_class, []).append(row)
    return found
