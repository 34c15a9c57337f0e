"""Members of a federation: the plan of each site as a separate Slurm cluster.

A member has the plan of its site alone, so the code that renders, configures or checks a cluster also works for members.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from rackwright.model.federation import FederatedSite, Federation
from rackwright.model.scheduler import Scheduler
from rackwright.plan.base import Path
from rackwright.plan.expansion import Expansion
from rackwright.plan.problems import PlanProblem
from rackwright.plan.records.federation import DatabaseHost, Membership
from rackwright.plan.records.names import NamePlan
from rackwright.plan.slurm.nodes import LONGEST_CLUSTER, known_hosts, node_sets
from rackwright.reading.suggest import did_you_mean

FEDERATION: Path = ("federation",)

PlanT = TypeVar("PlanT", bound=Expansion)


@dataclass(frozen=True)
class Member(Generic[PlanT]):
    """Cluster of a federation.

    Attributes:
        plan: plan of its site alone, with the scheduler of the cluster.
        spec: entry of the site in the federation.
        path: place of the entry in the blueprint.
    """

    plan: PlanT
    spec: FederatedSite
    path: Path

    @property
    def cluster(self) -> str:
        """Name of the cluster in Slurm."""
        return self.plan.name


def members(plan: PlanT, names: NamePlan) -> tuple[Member[PlanT], ...]:
    """Return the clusters of the plan's federation, in its order; empty without one."""
    federation, scheduler = plan.blueprint.federation, plan.scheduler
    if federation is None or scheduler is None or scheduler.accounting is None:
        return ()
    words = _words(plan, federation)
    wanted = {controller.host for controller in scheduler.controllers}
    at = known_hosts(plan, wanted)
    shared = Membership(
        federation=federation.name,
        clusters=tuple(cluster_name(plan.name, one) for one in federation.sites),
        state="active",
        features=(),
        database=tuple(
            DatabaseHost(site, host, names.address_of(site, host))
            for site, host, _ in database_hosts(federation, scheduler)
        ),
    )
    found = []
    for index, spec in enumerate(federation.sites):
        hosts = {name for name, sites in at.items() if spec.site in sites}
        own, partitions, nodes = _own_scheduler(plan, spec, scheduler, hosts)
        blueprint = plan.blueprint.model_copy(
            update={
                "name": shared.clusters[index],
                "sites": (plan.blueprint.site(spec.site),),
                "scheduler": own,
                "interconnects": (),
            }
        )
        # The rest of the plan stays shared: numbers of other sites are never recomputed.
        narrowed = replace(
            plan,
            blueprint=blueprint,
            onprem=tuple(one for one in plan.onprem if one.name == spec.site),
            aws=tuple(one for one in plan.aws if one.spec.name == spec.site),
        )
        features = tuple(dict.fromkeys((*_accelerators(narrowed), *words[spec.site])))
        membership = replace(
            shared, state=spec.state, features=features, partitions=partitions, nodes=nodes
        )
        narrowed = replace(narrowed, membership=membership)
        path = (*FEDERATION, "sites", index)
        found.append(Member(narrowed, spec, path))
    return tuple(found)


def cluster_name(blueprint: str, spec: FederatedSite) -> str:
    """Return the name of a site's cluster in Slurm."""
    return spec.cluster or f"{blueprint}-{spec.site}"


def database_hosts(
    federation: Federation, scheduler: Scheduler
) -> tuple[tuple[str, str, Path], ...]:
    """Return site, host and place in the blueprint of each database, primary first."""
    assert scheduler.accounting is not None  # noqa: S101 - a federation without is refused
    default, stated = scheduler.accounting.host, federation.database
    place = (*FEDERATION, "database")
    first = (stated.site, stated.host or default, (*place, "host"))
    replica = stated.replica
    if replica is None:
        return (first,)
    return first, (replica.site, replica.host or default, (*place, "replica", "host"))


def _own_scheduler(
    plan: Expansion, spec: FederatedSite, scheduler: Scheduler, hosts: set[str]
) -> tuple[Scheduler, tuple[int, ...], tuple[int, ...]]:
    """Return the scheduler of one site, and the indices of the partitions and node settings that it keeps."""
    groups = {group.name for group in plan.blueprint.site(spec.site).node_groups}
    partitions = {
        index: entry.model_copy(update={"groups": kept})
        for index, entry in enumerate(scheduler.partitions)
        if (kept := tuple(name for name in entry.groups if name in groups))
    }
    nodes = {
        index: entry.model_copy(update={"groups": kept})
        for index, entry in enumerate(scheduler.nodes)
        if (kept := tuple(name for name in entry.groups if name in groups))
    }
    made = scheduler.model_copy(
        update={
            "cluster": cluster_name(plan.name, spec),
            "version": spec.version or scheduler.version,
            "controllers": tuple(one for one in scheduler.controllers if one.host in hosts),
            "partitions": tuple(partitions.values()),
            "nodes": tuple(nodes.values()),
        }
    )
    return made, tuple(partitions), tuple(nodes)


def _words(plan: Expansion, federation: Federation) -> Mapping[str, tuple[str, ...]]:
    """Return the features of each site for ``--cluster-constraint``, without those of its accelerators.

    ``cheapest`` and ``cleanest`` exist only if every site has a price or a carbon intensity.
    """
    found: dict[str, dict[str, None]] = {
        one.site: dict.fromkeys(one.features) for one in federation.sites
    }
    for word, name in (("cheapest", "price"), ("cleanest", "carbon")):
        values = {one.site: getattr(one, name) for one in federation.sites}
        if None not in values.values():
            least = min(values.values())
            for site in (site for site, value in values.items() if value == least):
                found[site][word] = None
    for data in plan.blueprint.datasets:
        for site in data.at:
            if site in found:
                found[site][f"data-{data.name}"] = None
    return {site: tuple(words) for site, words in found.items()}


def _accelerators(plan: Expansion) -> list[str]:
    """Return the accelerator types of a cluster, as jobs request them."""
    return sorted({g.type.lower() for nodes in node_sets(plan) for g in nodes.counted if g.type})


def check_federation(plan: Expansion, found: Sequence[Member[PlanT]]) -> list[PlanProblem]:
    """Return the problems that prevent the clusters of a federation."""
    federation, scheduler = plan.blueprint.federation, plan.scheduler
    if federation is None or scheduler is None:
        return []
    problems: list[PlanProblem] = []
    names: dict[str, str] = {}
    for member in found:
        site = member.spec.site
        place = (*member.path, "cluster")
        if (other := names.setdefault(member.cluster, site)) != site:
            message = f"the sites '{other}' and '{site}' both have the cluster '{member.cluster}'"
            problems.append(PlanProblem(place, message, "give one of them another 'cluster'"))
        if len(member.cluster) > LONGEST_CLUSTER:
            message = (
                f"'{member.cluster}' is longer than the {LONGEST_CLUSTER} characters of a cluster"
            )
            problems.append(PlanProblem(place, message, "give a shorter name as 'cluster'"))
        own = member.plan.scheduler
        if own is not None and not own.controllers:
            message = f"none of 'scheduler.controllers' is a host of '{site}'"
            hint = "name a host of the site there: each cluster has a controller of its own"
            problems.append(PlanProblem((*member.path, "site"), message, hint))
        if own is not None and not own.partitions:
            message = f"no partition names a node group of '{site}'"
            hint = "add one, or leave the site out of the federation"
            problems.append(PlanProblem((*member.path, "site"), message, hint))
    return [*problems, *_check_hosts(plan, federation, scheduler)]


def _check_hosts(
    plan: Expansion, federation: Federation, scheduler: Scheduler
) -> Iterator[PlanProblem]:
    """Yield the controllers and databases without a host at their site."""
    sites = {one.site for one in federation.sites}
    databases = database_hosts(federation, scheduler)
    wanted = {one.host for one in scheduler.controllers} | {host for _, host, _ in databases}
    at = known_hosts(plan, wanted)
    for index, controller in enumerate(scheduler.controllers):
        if not sites & set(at.get(controller.host, ())):
            yield PlanProblem(
                ("scheduler", "controllers", index, "host"),
                f"no site of the federation has a host '{controller.host}'",
                did_you_mean(controller.host, known_hosts(plan)) or "name a host of a site",
            )
    for site, name, where in databases:
        if site not in at.get(name, ()):
            yield PlanProblem(
                where,
                f"there is no host '{name}' at '{site}'",
                did_you_mean(name, known_hosts(plan)) or "name a host of that site",
            )
