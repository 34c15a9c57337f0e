"""Nodes of a plan for Slurm: equal nodes by group, with their numbers from the catalogue.

Pure: ``rackwright.render.slurm`` turns it into text, and policies compare it with the blueprint.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from rackwright.errors import RackwrightError
from rackwright.model.hardware import fact_value
from rackwright.model.instances import Instance
from rackwright.model.queues import Partition
from rackwright.model.scheduler import Scheduler
from rackwright.model.scheduler_settings import Reserve
from rackwright.model.slurm_lines import NodeSettings
from rackwright.plan.base import Path
from rackwright.plan.expansion import Expansion
from rackwright.plan.hosts import names_of, numbered_hostlist
from rackwright.plan.missing import Missing, ProductField
from rackwright.plan.records.federation import place_of
from rackwright.plan.slurm.gres import MOST_INSTANCES, Gres, gres_of, is_mig, stated_gres

SCHEDULER: Path = ("scheduler",)
"""Place of the scheduler in a blueprint."""

LONGEST_CLUSTER = 40
"""Characters of a cluster's name (manual of slurm.conf)."""


class NoSchedulerError(RackwrightError):
    """The blueprint says nothing about scheduling."""

    code = "no-scheduler"

    def __init__(self, blueprint: str) -> None:
        super().__init__(
            f"the blueprint '{blueprint}' has no scheduler",
            hint="add a 'scheduler:' section; 'rackwright schema' describes it",
        )


@dataclass(frozen=True, slots=True)
class NodeSet:
    """A node group as Slurm sees it: so many equal hosts.

    Attributes:
        count: number of its hosts.
        unit_hosts: hosts of one unit of the product; None where that is not known.
        cpus: logical CPUs of a host; None where neither catalogue nor blueprint has them.
        shape: sockets, cores of a socket and threads of a core that make up ``cpus``; None where
            they are not known.
        bare_threads: threads of a core where its sockets are not known; None where the threads are not either.
        memory: MiB of a host that jobs may have; None as for ``cpus``.
        gres: accelerators of a host as Slurm will have them; None where there are none.
        known_gres: what the catalogue says; None where there are none.
        uneven: the accelerators of a unit cannot be shared out evenly to its hosts.
        reserved_cores: cores of a host that jobs do not get.
        reserved_memory: MiB of ``memory`` that they do not get.
        detect: what slurmd asks for NVIDIA GPUs; None where it asks nothing.
        by_socket: the accelerators are spread evenly over the sockets, in their order.
        own_names: those of its hosts as a host list, where they are not called by the group.
        other_gres: further resources that Slurm counts on a host.
        extra: more options of the line of the hosts.
        digits: least number of digits in the names of its hosts.
        elastic: number of its hosts that Slurm launches and ends, the last ones.
    """

    group: str
    site: str
    path: Path
    entry: str
    is_cloud: bool
    count: int
    unit_hosts: int | None
    cpus: int | None
    known_cpus: int | None
    memory: int | None
    known_memory: int | None
    gres: Gres | None
    known_gres: Gres | None
    uneven: bool = False
    shape: tuple[int, int, int] | None = None
    bare_threads: int | None = None
    features: tuple[str, ...] = ()
    weight: int | None = None
    reserved_cores: int = 0
    reserved_memory: int = 0
    detect: str | None = None
    by_socket: bool = False
    own_names: str | None = None
    other_gres: tuple[Gres, ...] = ()
    extra: Mapping[str, str | int] = field(default_factory=dict)
    digits: int = 1
    elastic: int = 0

    @property
    def accelerators(self) -> int:
        """Accelerators of a host as Slurm will have them."""
        return 0 if self.gres is None else self.gres.count

    @property
    def counted(self) -> tuple[Gres, ...]:
        """Generic resources of a host, the accelerators first."""
        return (*(() if self.gres is None else (self.gres,)), *self.other_gres)

    @property
    def least_gpus(self) -> int:
        """Fewest whole GPUs that what Slurm counts can be made of; each divides into 7 at most."""
        gpus = [gres for gres in self.counted if gres.name == "gpu"]
        instances = sum(gres.count for gres in gpus if is_mig(gres))
        whole = sum(gres.count for gres in gpus if not is_mig(gres))
        return whole + -(-instances // MOST_INSTANCES)

    @property
    def has_instances(self) -> bool:
        """True if some of its GPUs are divided into instances (MIG)."""
        return any(map(is_mig, self.counted))

    @property
    def threads(self) -> int:
        """Logical CPUs of a core; to Slurm every CPU is a core where the shape is not known."""
        return (self.bare_threads or 1) if self.shape is None else self.shape[2]

    @property
    def free_cores(self) -> int | None:
        """Cores of a host for jobs."""
        return None if self.cpus is None else self.cpus // self.threads - self.reserved_cores

    @property
    def free_memory(self) -> int | None:
        """MiB of a host for jobs."""
        return None if self.memory is None else self.memory - self.reserved_memory

    @property
    def names(self) -> tuple[str, ...]:
        """Its hosts, in order."""
        return names_of(self.group, self.count, self.own_names, self.digits)

    @property
    def hostlist(self) -> str:
        """Its hosts, compact: ``dgx-[01-32]``."""
        if self.own_names is not None:
            return self.own_names.replace(" ", "")
        return numbered_hostlist(self.group, self.count, self.digits)

    @property
    def static_hostlist(self) -> str | None:
        """Hosts that always run, compact; None without any."""
        static = self.count - self.elastic
        if not self.elastic or not static:
            return self.hostlist if static else None
        return numbered_hostlist(self.group, static, self.digits)

    @property
    def elastic_hostlist(self) -> str | None:
        """Hosts that Slurm launches and ends, compact; None without any."""
        if not self.elastic:
            return None
        first = self.count - self.elastic + 1
        return numbered_hostlist(self.group, self.count, self.digits, first)

    @property
    def unknown(self) -> tuple[str, ...]:
        """The numbers that Slurm needs and that are unknown."""
        missing = () if self.cpus is not None else (self.lacks("CPUs"),)
        return missing if self.memory is not None else (*missing, self.lacks("memory"))

    def lacks(self, what: str) -> Missing:
        """Return the field that would state the ``CPUs`` or the ``memory`` of a host: catalogue or site."""
        names = ("vcpus", "memory") if self.is_cloud else ("cpus", "host_memory")
        field = ProductField(self.entry, names[what == "memory"])
        return Missing(f"{what} of {self.entry}", field, ("scheduler", "nodes"))


@dataclass(frozen=True, slots=True)
class PartitionSets:
    """A partition with the node sets that it names.

    Attributes:
        unknown: names of groups that no site has.
        cluster: name of the cluster in a federation; empty where there is but one.
    """

    partition: Partition
    path: Path
    sets: tuple[NodeSet, ...]
    unknown: tuple[str, ...]
    cluster: str = ""

    @property
    def label(self) -> str:
        """Name in findings, with the cluster where a federation has several."""
        return f"{self.cluster} partition {self.partition.name}".lstrip()

    @property
    def hosts(self) -> int:
        """Hosts in it."""
        return sum(nodes.count for nodes in self.sets)


def scheduler_of(plan: Expansion) -> Scheduler:
    """Return the scheduler of the blueprint.

    Raises:
        NoSchedulerError: there is none.
    """
    if plan.scheduler is None:
        raise NoSchedulerError(plan.name)
    return plan.scheduler


def covers(scheduler: Scheduler, site: str) -> bool:
    """Return True if the cluster has the nodes of ``site``."""
    return not scheduler.sites or site in scheduler.sites


def node_sets(plan: Expansion) -> tuple[NodeSet, ...]:
    """Return every group of compute nodes that the scheduler covers, in the order of the blueprint."""
    scheduler = scheduler_of(plan)
    settings = {name: entry for entry in scheduler.nodes for name in entry.groups}
    found = [*_bare_metal(plan, scheduler), *_cloud(plan, scheduler)]
    order = {site: index for index, site in enumerate(plan.site_names)}
    found.sort(key=lambda nodes: order[nodes.site])  # stable: groups stay as written
    return tuple(_settle(nodes, settings.get(nodes.group), scheduler.reserve) for nodes in found)


def partition_sets(plan: Expansion, sets: Sequence[NodeSet]) -> tuple[PartitionSets, ...]:
    """Return every partition with its node sets."""
    by_group = {nodes.group: nodes for nodes in sets}
    return tuple(
        PartitionSets(
            partition,
            place_of(plan.membership, "partitions", index),
            tuple(by_group[name] for name in partition.groups if name in by_group),
            tuple(name for name in partition.groups if name not in by_group),
            "" if plan.membership is None else plan.name,
        )
        for index, partition in enumerate(scheduler_of(plan).partitions)
    )


def _bare_metal(plan: Expansion, scheduler: Scheduler) -> Iterator[NodeSet]:
    for planned in plan.onprem:
        if not covers(scheduler, planned.name):
            continue
        for group in planned.groups:
            if group.spec.role != "compute":
                continue
            entry = group.product
            memory = fact_value(entry.host_memory)
            known = _share(memory, scheduler.schedulable_memory)
            gres = gres_of(entry.accelerators, entry.hosts)
            cpus, threads = fact_value(entry.cpus), fact_value(entry.threads_per_core)
            shape = _shape(cpus, fact_value(entry.sockets), threads)
            yield NodeSet(
                group=group.name,
                site=planned.name,
                path=group.path,
                entry=entry.id,
                is_cloud=False,
                count=group.hosts,
                unit_hosts=entry.hosts,
                cpus=cpus,
                known_cpus=cpus,
                memory=known,
                known_memory=_share(memory, 100.0),
                gres=gres,
                known_gres=gres,
                uneven=entry.accelerators is not None and gres is None,
                shape=shape,
                bare_threads=_whole(cpus, threads) if shape is None else None,
                own_names=group.spec.host_names,
                digits=group.spec.name_digits,
            )


def _cloud(plan: Expansion, scheduler: Scheduler) -> Iterator[NodeSet]:
    for planned in plan.aws:
        if not covers(scheduler, planned.spec.name):
            continue
        for group in planned.groups:
            if not group.spec.most:
                continue  # a group of no instances is a launch template only
            entry: Instance = group.instance
            memory = fact_value(entry.memory)
            cpus = fact_value(entry.vcpus)
            threads = fact_value(entry.threads_per_core)
            shape = _shape(cpus, fact_value(entry.sockets), threads)
            gres = gres_of(entry.accelerators, 1)
            yield NodeSet(
                group=group.spec.name,
                site=planned.spec.name,
                path=group.path,
                entry=entry.id,
                is_cloud=True,
                count=group.spec.most,
                elastic=group.spec.most - group.spec.least,
                unit_hosts=None,
                cpus=cpus,
                known_cpus=cpus,
                memory=_share(memory, scheduler.schedulable_memory),
                known_memory=_share(memory, 100.0),
                gres=gres,
                known_gres=gres,
                shape=shape,
                bare_threads=_whole(cpus, threads) if shape is None else None,
                digits=group.spec.name_digits,
            )


def _shape(
    cpus: int | None, sockets: int | None, threads: int | None
) -> tuple[int, int, int] | None:
    """Return sockets, cores and threads, where they are all known and make up the CPUs."""
    if cpus is None or not sockets or not threads or cpus % (sockets * threads):
        return None
    return sockets, cpus // (sockets * threads), threads


def _whole(cpus: int | None, threads: int | None) -> int | None:
    """Return the threads of a core, where the CPUs are whole cores."""
    return threads if cpus is not None and threads and cpus % threads == 0 else None


def _share(memory: float | None, percent: float) -> int | None:
    """Return MiB of ``memory`` GiB that jobs may have, rounded down; slurmd must find at least that."""
    return None if memory is None else math.floor(memory * 1024 * percent / 100 + 1e-6)


def _settle(nodes: NodeSet, said: NodeSettings | None, reserve: Reserve) -> NodeSet:
    """Return the nodes with what the blueprint says instead of the catalogue, and what they keep."""
    if said is None:
        return _reserve(nodes, reserve)
    gres = nodes.gres
    if said.gres is not None:
        gres = stated_gres(said.gres, gres)
    settled = replace(
        nodes,
        cpus=nodes.cpus if said.cpus is None else said.cpus,
        shape=_stated_shape(said, nodes),
        bare_threads=_stated_threads(said, nodes),
        memory=nodes.memory if said.memory is None else math.floor(said.memory * 1024 + 1e-6),
        gres=gres,
        features=said.features,
        weight=said.weight,
        detect=said.detect,
        by_socket=said.gpus_by_socket,
        other_gres=tuple(stated_gres(text, None) for text in said.other_gres),
        extra=said.extra,
    )
    return _reserve(settled, reserve if said.reserve is None else said.reserve)


def _stated_shape(said: NodeSettings, nodes: NodeSet) -> tuple[int, int, int] | None:
    """Return sockets, cores and threads as the blueprint has them, or as the catalogue has for these CPUs."""
    cpus = nodes.cpus if said.cpus is None else said.cpus
    if said.sockets is None or said.threads_per_core is None:
        in_extra = any(key.lower() == "sockets" for key in said.extra)
        return nodes.shape if cpus == nodes.cpus and not in_extra else None
    if cpus is None or cpus % (said.sockets * said.threads_per_core):
        return None
    return said.sockets, cpus // (said.sockets * said.threads_per_core), said.threads_per_core


def _stated_threads(said: NodeSettings, nodes: NodeSet) -> int | None:
    """Return the threads of a core of the catalogue, where the blueprint says nothing else of the CPUs."""
    cpus = nodes.cpus if said.cpus is None else said.cpus
    given = {key.lower() for key in said.extra} & {"sockets", "corespersocket", "threadspercore"}
    other = said.sockets is not None or given
    return None if other or cpus != nodes.cpus else nodes.bare_threads


def _reserve(nodes: NodeSet, reserve: Reserve) -> NodeSet:
    if not reserve.cores and not reserve.memory:
        return nodes
    memory = math.ceil(reserve.memory * 1024 - 1e-6)
    return replace(nodes, reserved_cores=reserve.cores, reserved_memory=memory)


def known_hosts(
    plan: Expansion, wanted: Collection[str] | None = None
) -> Mapping[str, Sequence[str]]:
    """Return every host of the sites that the scheduler covers, with the sites that have one so called.

    Args:
        plan: with a scheduler.
        wanted: names; where they are given, only groups are looked at whose hosts may be called so.
    """
    scheduler = scheduler_of(plan)
    found: dict[str, list[str]] = {}
    for names, site in _hosts(plan, wanted):
        if covers(scheduler, site):
            for name in names:
                found.setdefault(name, []).append(site)
    return found


def _hosts(plan: Expansion, wanted: Collection[str] | None) -> Iterator[tuple[Sequence[str], str]]:
    def may_have(group: str) -> bool:
        return wanted is None or any(name.startswith(f"{group}-") for name in wanted)

    for planned in plan.onprem:
        for group in planned.groups:
            if group.spec.host_names is not None or may_have(group.name):
                yield group.host_names, planned.name
    for cloud in plan.aws:
        for servers in cloud.servers:
            yield servers.names, cloud.spec.name
        for nodes in cloud.groups:
            if may_have(nodes.spec.name):
                yield nodes.host_names, cloud.spec.name
