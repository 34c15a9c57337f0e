"""The Slurm cluster of a plan, each part of it worked out once."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from rackwright.model.federation import Burst
from rackwright.model.scheduler import Scheduler
from rackwright.plan.expansion import Expansion
from rackwright.plan.problems import PlanProblem
from rackwright.plan.slurm.bursts import burst_partitions, unpriced_bursts
from rackwright.plan.slurm.checks import Cabling, cabling
from rackwright.plan.slurm.departures import Departure, departures
from rackwright.plan.slurm.nodes import (
    NodeSet,
    PartitionSets,
    covers,
    node_sets,
    partition_sets,
)
from rackwright.plan.slurm.references import check_numbers, check_references
from rackwright.plan.slurm.settings import check_settings
from rackwright.plan.slurm.state import StateStorage, state_storage
from rackwright.plan.slurm.topology import PlannedTopology, topologies


@dataclass(frozen=True)
class SlurmCluster:
    """Slurm cluster of a plan.

    Attributes:
        plan: the sites that have its nodes.
        scheduler: what the blueprint says of it.
    """

    plan: Expansion = field(repr=False)
    scheduler: Scheduler

    @property
    def name(self) -> str:
        """Its name in Slurm: as declared, else that of the blueprint."""
        return self.scheduler.cluster or self.plan.name

    @property
    def label(self) -> str:
        """Its name and a blank before the subject of a finding; empty where there is but one."""
        return "" if self.plan.membership is None else f"{self.name} "

    @property
    def sites(self) -> tuple[str, ...]:
        """The sites whose nodes it has, in the order of the blueprint."""
        return tuple(site for site in self.plan.site_names if covers(self.scheduler, site))

    @cached_property
    def nodes(self) -> tuple[NodeSet, ...]:
        """Its nodes: equal ones together, in the order of the blueprint."""
        return node_sets(self.plan)

    @cached_property
    def partitions(self) -> tuple[PartitionSets, ...]:
        """Its partitions with their nodes, those of bursts last."""
        own = partition_sets(self.plan, self.nodes)
        return (*own, *burst_partitions(self.plan.blueprint, own, self.nodes))

    @property
    def bursts(self) -> tuple[Burst, ...]:
        """Bursts of its partitions into elastic hosts on AWS."""
        return self.plan.blueprint.burst

    @cached_property
    def cabling(self) -> tuple[Cabling, ...]:
        """Cabling of its bare-metal nodes with accelerators by the compute fabrics."""
        return cabling(self.plan, self.nodes)

    @property
    def topologies(self) -> tuple[PlannedTopology, ...]:
        """Every topology that its partitions use, its own first."""
        return self._topologies[0]

    @cached_property
    def state(self) -> StateStorage:
        """Storage of its controllers' state."""
        return state_storage(self.plan, self.scheduler)

    @property
    def departures(self) -> tuple[Departure, ...]:
        """Its nodes that AWS takes back at a moment that is known."""
        return departures(self.plan, self.nodes)

    @cached_property
    def problems(self) -> tuple[PlanProblem, ...]:
        """Problems that keep its files from being written: names, numbers, settings, topologies."""
        return (
            *check_references(self.plan, self.nodes),
            *check_numbers(self.nodes),
            *check_settings(self.scheduler, self.nodes, self.partitions),
            *unpriced_bursts(self.plan),
            *self._topologies[1],
        )

    @cached_property
    def _topologies(self) -> tuple[tuple[PlannedTopology, ...], list[PlanProblem]]:
        return topologies(self.plan, self.nodes)
