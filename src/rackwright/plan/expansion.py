"""Sites of a blueprint in full, with racks that are alike made once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from rackwright.model.connections import Connector
from rackwright.model.hardware import Node, fact_value
from rackwright.plan.base import Path
from rackwright.plan.records.federation import Membership
from rackwright.plan.records.nodes import NodeGroupPlan
from rackwright.plan.records.products import ConnectorLimits

if TYPE_CHECKING:
    from rackwright.catalog.fault_table import FaultTable
    from rackwright.catalog.loader import Catalogue
    from rackwright.model.cluster import Blueprint, PolicySetting
    from rackwright.model.cooling import FacilityWater, MechanicalPlant
    from rackwright.model.cost import Costs
    from rackwright.model.facts import ProductFact
    from rackwright.model.onprem import OnPremSite, RackGroup
    from rackwright.model.operations import Operations
    from rackwright.model.provisioning import Provisioning
    from rackwright.model.reliability import Reliability
    from rackwright.model.scheduler import Scheduler
    from rackwright.model.security import SiteSecurity
    from rackwright.model.storage import NfsShare
    from rackwright.model.users import Users
    from rackwright.model.workloads import TrainingWorkload
    from rackwright.plan.aws.site import AwsSitePlan
    from rackwright.plan.cooling.plan import CoolingPlan
    from rackwright.plan.fabric.fabrics import FabricPlan
    from rackwright.plan.fabric.layout import Layout
    from rackwright.plan.fabric.lengths import CableRoutes
    from rackwright.plan.fabric.trays import TrayFill
    from rackwright.plan.power.plan import PowerPlan
    from rackwright.plan.records.facility import (
        SiteTotals,
    )
    from rackwright.plan.records.racks import NvlinkDomains, RackClass


@dataclass(frozen=True)
class SitePlan:
    """A bare-metal site, expanded; ``rackwright.plan.records`` describes the fields of its records.

    Racks of one group with the same content are one ``RackClass``, and classes that are alike share one
    ``RackKind``, so the work grows with the number of distinct racks. What follows from the blueprint is
    in records; what it merely states, like its security, has an attribute by the name that it has there.
    """

    spec: OnPremSite
    """The site as the blueprint declares it, with the numbers of its products."""
    path: Path
    catalogue: Catalogue = field(repr=False, compare=False)
    """Where its products are looked up; readers of the plan ask its records instead."""
    racks: tuple[RackClass, ...] = field(repr=False)
    """Its racks, equal ones of one rack group together, in the order of the blueprint."""
    power: PowerPlan = field(repr=False)
    """Sources of the site, their loads, and the records that depend on them."""
    cooling: CoolingPlan = field(repr=False)
    """Its rows, halls and coolant loops, and the machines that carry heat away."""
    nvlink_domains: tuple[NvlinkDomains, ...] = field(repr=False)
    totals: SiteTotals = field(repr=False)

    def racks_fed_by(self, source: str) -> Sequence[RackClass]:
        """Return the racks with a feed right from a source, not from one below it."""
        return self._racks_by_source.get(source, ())

    def racks_below(self, source: str) -> Sequence[RackClass]:
        """Return the racks with a feed from a source or from one below it, in the order of the blueprint."""
        names = self.power.tree.below(source)
        found = {racks for name in names for racks in self.racks_fed_by(name)}
        return sorted(found, key=lambda racks: racks.order)

    @property
    def name(self) -> str:
        """Its name, unique in the blueprint."""
        return self.spec.name

    @property
    def security(self) -> SiteSecurity | None:
        """Security of the cluster as the blueprint declares it."""
        return self.spec.security

    @property
    def provisioning(self) -> Provisioning | None:
        """Provisioning of its hosts from their management controllers on; None where others do it."""
        return self.spec.provisioning

    @property
    def nfs(self) -> tuple[NfsShare, ...]:
        """Directories that hosts export to others."""
        return self.spec.nfs

    @property
    def plant(self) -> tuple[MechanicalPlant, ...]:
        """Return the machines outside the halls that carry heat away."""
        return self.spec.plant or ()

    @property
    def facility_water(self) -> tuple[FacilityWater, ...]:
        """Return the water circuits of the building."""
        return self.spec.facility_water

    @property
    def altitude(self) -> float | None:
        """Height above sea level in m; None if unknown."""
        return self.spec.altitude

    @property
    def pue_budget(self) -> float | None:
        """Power usage effectiveness that it is to keep."""
        return self.spec.pue_budget

    def cable_routes(self, planned: FabricPlan) -> CableRoutes | None:
        """Return the ways of the cables of one of its fabrics; None while nothing is attached to it."""
        return self._cable_routes.get(planned.name)

    @cached_property
    def tray_fills(self) -> tuple[TrayFill, ...]:
        """Fill of the trays of its halls; none for halls in which no cable goes from rack to rack."""
        from rackwright.plan.fabric.trays import tray_fills

        return tuple(tray_fills(self.spec, self.path, tuple(self._cable_routes.values())))

    @cached_property
    def _cable_routes(self) -> Mapping[str, CableRoutes]:
        from rackwright.plan.fabric.lengths import CableRoutes, StandingRacks

        standing = StandingRacks(self.spec, self.path, self.racks, self.catalogue)
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
                spec=group,
                path=(*self.path, "node_groups", index),
                product=self.catalogue.get(Node, group.type),
            )
            for index, group in enumerate(self.spec.node_groups)
        )

    @cached_property
    def groups_by_name(self) -> Mapping[str, NodeGroupPlan]:
        """Its node groups by their names."""
        return {group.name: group for group in self.groups}

    @cached_property
    def connectors(self) -> Mapping[str, ConnectorLimits]:
        """Limits of the quick connectors of its devices, by catalogue id."""
        kinds = {racks.kind for racks in self.racks}
        devices = (device for kind in kinds for device in kind.devices)
        used = sorted({device.connector for device in devices if device.connector is not None})
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
        """Return the blueprint's words about the racks of a class, by the place in its record."""
        hall, row, group = (int(path[place]) for place in (-5, -3, -1))
        return self.spec.halls[hall].rows[row].rack_groups[group]

    @cached_property
    def fabrics(self) -> tuple[FabricPlan, ...]:
        """Its fabrics, laid out, in the order of the blueprint."""
        from rackwright.plan.fabric.fabrics import plan_fabrics

        return plan_fabrics(self.spec, self.path, self.catalogue)

    @property
    def layouts(self) -> tuple[Layout, ...]:
        """The layouts of its fabrics, without those to which nothing is attached."""
        return tuple(one.layout for one in self.fabrics if one.layout is not None)

    @cached_property
    def _racks_by_source(self) -> Mapping[str, Sequence[RackClass]]:
        found: dict[str, list[RackClass]] = {}
        for racks in self.racks:
            for source in dict.fromkeys(racks.sources):
                found.setdefault(source, []).append(racks)
        return found


@dataclass(frozen=True)
class Expansion:
    """A blueprint, the catalogue that it names, and its sites expanded.

    Sections of the blueprint that are not about one site are attributes by their names there.

    Attributes:
        membership: part that it takes in a federation, where it is the plan of one of its clusters.
    """

    blueprint: Blueprint
    catalogue: Catalogue = field(repr=False)
    onprem: tuple[SitePlan, ...] = ()
    aws: tuple[AwsSitePlan, ...] = ()
    membership: Membership | None = None

    @property
    def is_federated(self) -> bool:
        """True for the plan of a whole federation, whose clusters have plans of their own."""
        return self.blueprint.federation is not None and self.membership is None

    @property
    def name(self) -> str:
        """Name of the cluster."""
        return self.blueprint.name

    @property
    def owner(self) -> str | None:
        """Team or address that answers for the cluster."""
        return self.blueprint.owner

    @property
    def stage(self) -> str | None:
        """Return how far the design is; None where the blueprint states no stage."""
        return self.blueprint.stage

    @property
    def site_names(self) -> tuple[str, ...]:
        """Names of all sites, in the order of the blueprint."""
        return tuple(site.name for site in self.blueprint.sites)

    @property
    def scheduler(self) -> Scheduler | None:
        """Slurm as the blueprint declares it."""
        return self.blueprint.scheduler

    @property
    def users(self) -> Users | None:
        """Accounts on the hosts; None if they are managed elsewhere."""
        return self.blueprint.users

    @property
    def reliability(self) -> Reliability | None:
        """Rates of failure, jobs and what they need."""
        return self.blueprint.reliability

    @property
    def faults(self) -> FaultTable:
        """Table of faults: the built-in one and the team's own."""
        return self.catalogue.faults

    @property
    def operations(self) -> Operations | None:
        """Operation of the cluster: software, firmware, changes, health checks."""
        return self.blueprint.operations

    @property
    def costs(self) -> Costs | None:
        """Prices and budgets of the owner; what the cluster costs is ``cost`` of the plan."""
        return self.blueprint.costs

    @property
    def workloads(self) -> tuple[TrainingWorkload, ...]:
        """Return the training jobs that the cluster is built for."""
        return self.blueprint.workloads

    @property
    def facts(self) -> tuple[ProductFact, ...]:
        """Numbers of products that the catalogue lacks."""
        return self.blueprint.facts

    @property
    def policies(self) -> Mapping[str, PolicySetting]:
        """Settings of policies, by id."""
        return self.blueprint.policies
