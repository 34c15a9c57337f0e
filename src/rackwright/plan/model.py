"""The plan: what a blueprint expands to, and what is worked out of that once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from rackwright.plan.base import Path
from rackwright.plan.expansion import Expansion

if TYPE_CHECKING:
    from rackwright.model.software import SoftwareBill
    from rackwright.plan.accelerators_per_node import Board
    from rackwright.plan.audit.secrets import SecretPlace
    from rackwright.plan.cost.summary import CostSummary
    from rackwright.plan.fabric.layout import Layout
    from rackwright.plan.federation.members import Member
    from rackwright.plan.host_list import Host
    from rackwright.plan.naming.racked import Racked
    from rackwright.plan.records.names import NamePlan
    from rackwright.plan.reliability.failures import GroupHosts
    from rackwright.plan.slurm.cluster import SlurmCluster
    from rackwright.plan.software.needs import SoftwareNeeds
    from rackwright.plan.software.versions import SiteSoftware
    from rackwright.plan.storage.filesystem import FileSystem
    from rackwright.plan.switches.records import SwitchConfig
    from rackwright.plan.workload.prediction import Prediction


@dataclass(frozen=True)
class Plan(Expansion):
    """Everything that policies judge and that later stages build.

    Each part is worked out when it is first asked for, and once.
    """

    @cached_property
    def cost(self) -> CostSummary:
        """Cost of the plan by the price lists and the owner's own prices."""
        from rackwright.plan.cost.summary import summarise

        return summarise(self)

    @cached_property
    def layouts(self) -> Mapping[Path, Layout]:
        """Cabled fabrics of the bare-metal sites, by their places in the blueprint."""
        fabrics = (fabric for site in self.onprem for fabric in site.fabrics)
        return {one.path: one.layout for one in fabrics if one.layout is not None}

    @cached_property
    def names(self) -> NamePlan:
        """The names and addresses of hosts and switches of the bare-metal sites that declare them."""
        from rackwright.plan.naming.names import plan_names

        return plan_names(self)

    @cached_property
    def superseded_facts(self) -> tuple[str | None, ...]:
        """By fact of the blueprint, the words about it where the catalogue has the number; None where it is used."""
        from rackwright.plan.facts import superseded

        return tuple(superseded(fact, self.catalogue) for fact in self.facts)

    @cached_property
    def hosts(self) -> tuple[Host, ...]:
        """Every host of every site, in the order of the blueprint."""
        from rackwright.plan.host_list import list_hosts

        return list_hosts(self)

    @cached_property
    def groups(self) -> tuple[GroupHosts, ...]:
        """The node groups of all sites with their numbers of hosts."""
        from rackwright.plan.reliability.failures import groups_of

        return tuple(groups_of(self))

    @cached_property
    def boards(self) -> tuple[Board, ...]:
        """The accelerators of every node group that has some."""
        from rackwright.plan.accelerators_per_node import boards

        return tuple(boards(self))

    @cached_property
    def accelerators(self) -> Mapping[str, int]:
        """Number of accelerators of each site, by name."""
        from rackwright.plan.accelerators_per_node import accelerators_by_site

        return accelerators_by_site(self)

    @cached_property
    def racked(self) -> Mapping[str, Racked]:
        """Names of hosts and switches by rack and number of their device, for each bare-metal site."""
        from rackwright.plan.naming.racked import name_devices

        return {site.name: name_devices(site) for site in self.onprem}

    @cached_property
    def slurm(self) -> SlurmCluster | None:
        """The one Slurm cluster; None without a scheduler, and where a federation has several."""
        from rackwright.plan.slurm.cluster import SlurmCluster

        if self.scheduler is None or self.is_federated:
            return None
        return SlurmCluster(self, self.scheduler)

    @cached_property
    def members(self) -> tuple[Member[Plan], ...]:
        """The clusters of the federation with a plan each; empty where the blueprint has none."""
        from rackwright.plan.federation.members import members

        return members(self, self.names) if self.is_federated else ()

    @property
    def clusters(self) -> tuple[SlurmCluster, ...]:
        """Every Slurm cluster of the blueprint: of a federation its members, else one or none."""
        if self.slurm is not None:
            return (self.slurm,)
        return tuple(one.plan.slurm for one in self.members if one.plan.slurm is not None)

    @cached_property
    def file_systems(self) -> tuple[FileSystem, ...]:
        """The parallel file systems of all sites, those of bare-metal sites first."""
        from rackwright.plan.storage.filesystem import file_systems

        return tuple(file_systems(self))

    @cached_property
    def switches(self) -> tuple[SwitchConfig, ...]:
        """The configuration of every switch of the fabrics with ``switching``.

        Raises:
            PlanError: something that the configurations need is missing, unknown or given twice.
        """
        from rackwright.plan.switches.config import plan_switches

        return plan_switches(self, self.names)

    @cached_property
    def predictions(self) -> tuple[Prediction, ...]:
        """Return what each workload gets, in the order of the blueprint."""
        from rackwright.plan.workload.prediction import predictions

        return tuple(predictions(self))

    @cached_property
    def software(self) -> Mapping[str, SiteSoftware]:
        """Software of the nodes of each site with its versions, by site."""
        from rackwright.plan.software.versions import site_software

        return {one.site: one for one in site_software(self)}

    def with_versions(self, slurm: str | None, bills: tuple[SoftwareBill, ...]) -> Plan:
        """Return the plan of the same cluster with other versions of software.

        Args:
            slurm: the scheduler's release; None leaves it, as does a cluster without a scheduler.
            bills: in place of the bills of the blueprint.
        """
        from rackwright.model.operations import Operations

        blueprint = self.blueprint
        operations = blueprint.operations or Operations()
        changed: dict[str, object] = {
            "operations": operations.model_copy(update={"software": bills})
        }
        if blueprint.scheduler is not None and slurm is not None:
            changed["scheduler"] = blueprint.scheduler.model_copy(update={"version": slurm})
        return replace(self, blueprint=blueprint.model_copy(update=changed))

    @cached_property
    def software_needs(self) -> SoftwareNeeds:
        """Versions of software that need versions of others.

        Raises:
            NeedsError: a table in the parameters of the policy is not one.
        """
        from rackwright.plan.software.needs import needs_of

        return needs_of(self)

    @cached_property
    def secrets(self) -> tuple[SecretPlace, ...]:
        """Places of the blueprint that hold what looks like a secret."""
        from rackwright.plan.audit.secrets import find_secrets

        return find_secrets(self.blueprint)
