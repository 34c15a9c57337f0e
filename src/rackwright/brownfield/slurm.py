"""What a ``slurm.conf`` says of nodes by their names, and the scheduler that follows from it."""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from typing import Any

from rackwright.brownfield.names import host_of, stem_of
from rackwright.brownfield.records import (
    FoundCluster,
    SlurmNodes,
    SlurmPartition,
    SourceNotice,
    refused,
)
from rackwright.catalog.loader import Catalogue
from rackwright.model.hardware import Node, fact_value
from rackwright.model.scheduler import Scheduler
from rackwright.render.todo import Blank

_PARTITION = re.compile(r"[a-z][a-z0-9_-]{0,39}")


class SlurmView:
    """Nodes of a cluster by their names; empty without one."""

    def __init__(self, slurm: FoundCluster | None) -> None:
        self._lines: dict[str, SlurmNodes] = {}
        self._order: dict[str, int] = {}
        self._partitions: dict[str, tuple[int, ...]] = {}
        self._groups: dict[str, str] = {}
        self._controllers: set[str] = set()
        if slurm is None:
            return
        for index, line in enumerate(slurm.nodes):
            for name in line.names:
                if name in self._lines:
                    other = self._lines[name].at
                    raise refused(f"the node '{name}' is described at {other} already", line.at)
                self._lines[name] = line
                self._order[name] = index
        for index, partition in enumerate(slurm.partitions):
            for name in partition.nodes:
                self._partitions[name] = (*self._partitions.get(name, ()), index)
        hosts = (host_of(host) for host, _ in slurm.controllers)
        self._controllers = {host for host in hosts if host is not None}

    def has(self, names: Sequence[str]) -> bool:
        """Whether the first of some hosts is a node."""
        return bool(names) and names[0] in self._lines

    def controls(self, names: Sequence[str]) -> bool:
        """Whether the first of some hosts runs slurmctld."""
        return bool(names) and names[0] in self._controllers

    def key_of(self, names: Sequence[str]) -> Hashable:
        """What nodes have in common that one node group tells: what is said of them, and their partitions."""
        if not self.has(names):
            return None
        return self._lines[names[0]].said, self._partitions.get(names[0], ())

    def absent(self, standing: set[str]) -> dict[tuple[str, Hashable], tuple[str, ...]]:
        """Nodes that are not among those that stand somewhere, by what their names begin with and their key."""
        found: dict[tuple[str, Hashable], list[str]] = {}
        for name in self._lines:
            if name not in standing:
                found.setdefault((stem_of(name), self.key_of([name])), []).append(name)
        return {key: tuple(names) for key, names in found.items()}

    def told(self, names: Sequence[str], group: str) -> None:
        """Note that hosts are told by a node group."""
        self._groups |= dict.fromkeys(names, group)

    def is_told(self, name: str) -> bool:
        """Whether a host is told by a node group."""
        return name in self._groups

    def groups_of(self, names: Sequence[str]) -> list[str]:
        """The node groups that tell some nodes, in the order of the groups."""
        wanted = {self._groups[name] for name in names if name in self._groups}
        return [group for group in dict.fromkeys(self._groups.values()) if group in wanted]

    def nodes_of(self, group: str) -> SlurmNodes | None:
        """What is said of the nodes of a group; None of hosts that are no nodes."""
        name = next((name for name, told in self._groups.items() if told == group), None)
        return None if name is None else self._lines.get(name)

    @property
    def groups(self) -> list[str]:
        """The node groups, in their order."""
        return list(dict.fromkeys(self._groups.values()))

    def products_like(self, names: Sequence[str], catalogue: Catalogue) -> list[str]:
        """Products with the accelerators, and where the catalogue knows them the CPUs, of a node."""
        line = self._lines[names[0]]
        found = []
        for entry_id in catalogue.ids(Node):
            entry = catalogue.get(Node, entry_id)
            own = entry.accelerators
            gres = None if own is None else f"gpu:{own.gres}:{own.count // entry.hosts}"
            cpus = fact_value(entry.cpus)
            if gres == line.gres and gres is not None and (cpus is None or cpus == line.cpus):
                found.append(entry_id)
        return found


def scheduler_of(
    view: SlurmView, slurm: FoundCluster, name: str | None, notices: list[SourceNotice]
) -> tuple[dict[str, Any], list[Blank]]:
    """The scheduler of a blueprint, and what nobody says of it.

    Args:
        view: the same, with the node groups that tell its nodes.
        slurm: the cluster.
        name: of the blueprint.
        notices: what is called otherwise is added.

    Raises:
        SpecErrors: there is no partition, or one cannot be told.
    """  # noqa: DOC501 - refused() makes the SpecErrors
    made: dict[str, Any] = {"kind": "slurm"}
    blanks = [Blank(("scheduler",), Scheduler, "version")]
    if slurm.name is not None and slurm.name.lower() != name:
        made["cluster"] = slurm.name.lower()
    if slurm.controllers:
        made["controllers"] = [_host(*one, view) for one in slurm.controllers]
    else:
        blanks.append(Blank(("scheduler",), Scheduler, "controllers", "[{host: head-1}]"))
    if slurm.database is not None:
        made["accounting"] = _host(slurm.database, None, view)
    made["topology"] = {"plugin": slurm.topology}
    partitions = [_partition(one, view, notices) for one in slurm.partitions if one.nodes]
    if not partitions:
        hint = "a blueprint with a scheduler has one: write 'PartitionName=all Nodes=ALL'"
        raise refused("the cluster has no partition with nodes", slurm.at, hint)
    made["partitions"] = partitions
    if nodes := _settings(view):
        made["nodes"] = nodes
    return made, blanks


def _host(name: str, address: str | None, view: SlurmView) -> dict[str, str]:
    """A host that runs a daemon; one outside of the blueprint is reached by its name."""
    host = host_of(name) or name
    if view.is_told(host):
        return {"host": host}
    return {"host": host, "address": address or name}


def _partition(
    partition: SlurmPartition, view: SlurmView, notices: list[SourceNotice]
) -> dict[str, Any]:
    name = partition.name.lower()
    if not _PARTITION.fullmatch(name):
        message = f"the partition '{partition.name}' cannot be one of a blueprint"
        hint = "its name begins with a letter and has at most 40 letters, digits, '-' and '_'"
        raise refused(message, partition.at, hint)
    if name != partition.name:
        notices.append(
            SourceNotice(f"the partition '{partition.name}' is called '{name}'", partition.at)
        )
    return {"name": name, "groups": view.groups_of(partition.nodes), **partition.fields}


def _settings(view: SlurmView) -> list[dict[str, Any]]:
    """What is said of the nodes of each group, equal ones together."""
    found: dict[tuple[object, ...], list[str]] = {}
    lines: dict[tuple[object, ...], SlurmNodes] = {}
    for group in view.groups:
        line = view.nodes_of(group)
        if line is not None:
            found.setdefault(line.said, []).append(group)
            lines[line.said] = line
    made = []
    for groups, line in zip(found.values(), lines.values(), strict=True):
        said: dict[str, Any] = {
            "cpus": line.cpus,
            "memory": None if line.memory is None else f"{line.memory} MiB",
            "gres": line.gres,
            "features": list(line.features) or None,
            "weight": line.weight,
        }
        there = {name: value for name, value in said.items() if value is not None}
        if there:
            made.append({"groups": groups, **there})
    return made
