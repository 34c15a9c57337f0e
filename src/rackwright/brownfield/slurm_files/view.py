"""Nodes of a ``slurm.conf`` by their names, and the scheduler that follows from it."""

from __future__ import annotations

import re
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from rackwright.brownfield.names import ordered_hostlist, short_of, stem_of
from rackwright.brownfield.records import (
    FoundCluster,
    SlurmBeside,
    SlurmNodes,
    SlurmPartition,
    SourceNotice,
    refused,
)
from rackwright.brownfield.slurm_files.lines import expand_nodes
from rackwright.catalog.loader import Catalogue
from rackwright.errors import Location
from rackwright.model.hardware import Node, fact_value
from rackwright.model.scheduler import Scheduler
from rackwright.model.slurm_lines import NodeSettings
from rackwright.plan.slurm.gres import is_mig, stated_gres
from rackwright.render.todo import Blank, ListItem

_PARTITION = re.compile(r"[A-Za-z][A-Za-z0-9._-]{0,39}")
_CLUSTER = re.compile(r"[a-z][a-z0-9_-]{0,39}")
_LOCAL = frozenset({"localhost", "127.0.0.1", "::1"})


class SlurmView:
    """Nodes of a cluster by their names; empty without one."""

    def __init__(self, slurm: FoundCluster | None) -> None:
        self._lines: dict[str, SlurmNodes] = {}
        self._order: dict[str, int] = {}
        self._partitions: dict[str, tuple[int, ...]] = {}
        self._groups: dict[str, str] = {}
        self._controllers: set[str] = set()
        self._spelled: dict[str, str] = {}
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
        names = [host for host, _ in slurm.controllers]
        self._controllers = {*names, *map(short_of, names)}
        self._spelled = {short_of(name).lower(): name for name in self._lines}
        self._spelled |= {name.lower(): name for name in self._lines}

    def spelled(self, name: str) -> str | None:
        """Return the name that Slurm has for a host, whose domain and capitals may differ; None of no node."""
        return self._spelled.get(name.lower()) or self._spelled.get(short_of(name).lower())

    def has(self, names: Sequence[str]) -> bool:
        """Return True if the first of some hosts is a node."""
        return bool(names) and names[0] in self._lines

    def controls(self, names: Sequence[str]) -> bool:
        """Return True if the first of some hosts runs slurmctld."""
        return bool(names) and names[0] in self._controllers

    def key_of(self, names: Sequence[str]) -> Hashable:
        """Return the key that nodes of one node group share: their settings and their partitions."""
        if not self.has(names):
            return None
        return self._lines[names[0]].said, self._partitions.get(names[0], ())

    def absent(self, standing: set[str]) -> dict[tuple[str, Hashable], tuple[str, ...]]:
        """Return nodes that are not among those that stand somewhere, by what their names begin with and their key."""
        found: dict[tuple[str, Hashable], list[str]] = {}
        for name in self._lines:
            if name not in standing:
                found.setdefault((stem_of(name), self.key_of([name])), []).append(name)
        return {key: tuple(names) for key, names in found.items()}

    def told(self, names: Sequence[str], group: str) -> None:
        """Note that hosts are told by a node group."""
        self._groups |= dict.fromkeys(names, group)

    def is_told(self, name: str) -> bool:
        """Return True if a node group has told of a host."""
        return name in self._groups

    def groups_of(self, names: Sequence[str]) -> list[str]:
        """Return the node groups that tell some nodes, in the order of the groups."""
        wanted = {self._groups[name] for name in names if name in self._groups}
        return [group for group in dict.fromkeys(self._groups.values()) if group in wanted]

    def names_of(self, group: str) -> list[str]:
        """Return the nodes that a group tells, in its order."""
        return [name for name, told in self._groups.items() if told == group]

    def line_of(self, name: str) -> SlurmNodes | None:
        """Return what is said of a node; None of a host that is none."""
        return self._lines.get(name)

    def nodes_of(self, group: str) -> SlurmNodes | None:
        """Return the line of the nodes of a group; None for hosts that are no nodes."""
        name = next((name for name, told in self._groups.items() if told == group), None)
        return None if name is None else self._lines.get(name)

    @property
    def groups(self) -> list[str]:
        """The node groups, in their order."""
        return list(dict.fromkeys(self._groups.values()))

    def products_like(self, names: Sequence[str], catalogue: Catalogue) -> list[str]:
        """Return products with the accelerators of a node, those with its CPUs before those without any known."""
        line = self._lines[names[0]]
        found: list[tuple[bool, str]] = []
        for entry_id in catalogue.ids(Node):
            entry = catalogue.get(Node, entry_id)
            own = entry.accelerators
            cpus = fact_value(entry.cpus)
            if own is None or line.gres is None or (cpus is not None and cpus != line.cpus):
                continue
            *_, count = line.gres.split(":")
            kind = line.gres.split(":")[1] if line.gres.count(":") > 1 else line.type_hint
            if own.count == int(count) * entry.hosts and (not kind or own.gres in kind.lower()):
                found.append((cpus is None, entry_id))
        return [entry_id for _, entry_id in sorted(found)]


def complete(
    slurm: FoundCluster, files: Sequence[SlurmBeside], notices: list[SourceNotice]
) -> FoundCluster:
    """Return a cluster with what the files beside its ``slurm.conf`` say, each file once.

    Args:
        slurm: the cluster.
        files: those beside it.
        notices: names in them that are no nodes are added, which slurmctld passes over as well.
    """
    told = {one.at.file: one for one in files}.values()
    types = [pair for one in told for pair in one.types]
    detect = [pair for one in told for pair in one.detect]
    nodes = []
    for line in slurm.nodes:
        gpu = line.gres is not None
        hint = _of_nodes(types, line) if gpu and (line.gres or "").count(":") == 1 else None
        way = _of_nodes(detect, line) if gpu else None
        if way is None and any(
            is_mig(stated_gres(text, None)) for text in (line.gres, *line.other_gres) if text
        ):
            way = "nvml"
            text = (
                f"the files of GPU instances on '{line.names[0]}' are not taken over: 'detect: nvml' is written, which finds "
                "them after each start and needs a slurmd built with NVIDIA's library"
            )
            notices.append(SourceNotice(text, line.at))
        nodes.append(replace(line, detect=way, type_hint=hint))
    settings = dict(slurm.settings)
    for one in told:
        if one.cgroup:
            settings["cgroup"] = dict(one.cgroup)
    known = {name for line in slurm.nodes for name in line.names}
    switches = tuple(
        switch for one in told for switch in _of_known_nodes(one.switches, known, one.at, notices)
    )
    topology = next((one.topology for one in told if one.topology is not None), slurm.topology)
    if switches and topology != "tree":
        text = f"the switches beside it are left out: its topology is '{topology}', and Slurm does not read them"
        notices.append(SourceNotice(text, slurm.at))
    return replace(
        slurm, nodes=tuple(nodes), settings=settings, switches=switches, topology=topology
    )


def _of_known_nodes(
    switches: Sequence[Mapping[str, Any]],
    known: Collection[str],
    at: Location,
    notices: list[SourceNotice],
) -> Iterator[Mapping[str, Any]]:
    """Yield switches with those of their nodes that the cluster has; one that has none left goes with them."""
    below = {
        switch["name"]: expand_nodes(switch.get("nodes") or switch.get("children") or "")
        for switch in switches
    }
    strangers = [
        name
        for switch in switches
        if "nodes" in switch
        for name in below[switch["name"]]
        if name not in known
    ]
    if strangers:
        text = (
            f"{len(strangers):,} names of the topology are no nodes: {ordered_hostlist(strangers)}"
        )
        notices.append(SourceNotice(text, at))
    gone = set(strangers)
    while empty := {
        name for name, under in below.items() if name not in gone and gone >= set(under)
    }:
        gone |= empty
    for switch in switches:
        key = "nodes" if "nodes" in switch else "children"
        left = [name for name in below[switch["name"]] if name not in gone]
        if left:
            yield {**switch, key: ordered_hostlist(left)}


def _of_nodes(pairs: Sequence[tuple[frozenset[str] | None, str]], line: SlurmNodes) -> str | None:
    found = [word for names, word in pairs if names is None or set(line.names) <= names]
    return found[-1] if found else None


def scheduler_of(
    view: SlurmView, slurm: FoundCluster, name: str | None, notices: list[SourceNotice]
) -> tuple[dict[str, Any], list[Blank]]:
    """Return the scheduler of a blueprint, and the fields that no file tells.

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
        if _CLUSTER.fullmatch(slurm.name.lower()):
            made["cluster"] = slurm.name.lower()
        else:
            notices.append(SourceNotice(f"the cluster '{slurm.name}' is called '{name}'", slurm.at))
    if slurm.controllers:
        made["controllers"] = [_host(*one, view) for one in slurm.controllers]
    else:
        blanks.append(Blank(("scheduler",), Scheduler, "controllers", "[{host: head-1}]"))
    database = slurm.database
    if database in _LOCAL and slurm.controllers:
        database = slurm.controllers[0][0]
    if database is not None:
        made["accounting"] = _host(database, None, view) | {"enforce": list(slurm.enforced)}
    made["topology"] = {"plugin": slurm.topology}
    if slurm.switches and slurm.topology == "tree":
        made["topology"]["switches"] = [dict(switch) for switch in slurm.switches]
    made["default_shares"] = False  # jobs get what Slurm gives them today
    partitions = [_partition(one, view) for one in slurm.partitions if one.nodes]
    empty = [one for one in slurm.partitions if not one.nodes]
    notices += [SourceNotice(f"the partition '{one.name}' has no nodes", one.at) for one in empty]
    if not partitions:
        hint = "a blueprint with a scheduler has one: write 'PartitionName=all Nodes=ALL'"
        raise refused("the cluster has no partition with nodes", slurm.at, hint)
    made["partitions"] = partitions
    if qos := _qos(partitions):
        made["qos"] = qos
    nodes = _settings(view)
    if any("memory" not in one for one in nodes):
        # The list of a layer replaces that of the blueprint, so that it has every item.
        for one in nodes:
            said = {key: value for key, value in one.items() if key != "groups"}
            item = ListItem("groups", f"[{', '.join(one['groups'])}]", said)
            asked = "" if "memory" in one else "memory"
            path = ("scheduler", "nodes", item)
            blanks.append(Blank(path, NodeSettings, asked, "… MiB: RealMemory of 'slurmd -C'"))
    if nodes := [one for one in nodes if len(one) > 1]:
        made["nodes"] = nodes
    return {**made, **slurm.settings}, blanks


def _qos(partitions: Sequence[Mapping[str, Any]]) -> list[dict[str, str]]:
    """Return the QOS that partitions name; slurmdbd makes 'normal' itself, and has the limits of all."""
    named = [name for one in partitions for name in (one.get("qos"), *one.get("allow_qos", ()))]
    return [{"name": name} for name in dict.fromkeys(named) if name not in {None, "normal"}]


def _host(name: str, address: str | None, view: SlurmView) -> dict[str, Any]:
    """Return a host that runs a daemon; one outside of the blueprint is reached by its name."""
    for host in (name, short_of(name)):
        if view.is_told(host):
            return {"host": host}
    return {"host": short_of(name), "address": address or name}


def _partition(partition: SlurmPartition, view: SlurmView) -> dict[str, Any]:
    name = partition.name
    if not _PARTITION.fullmatch(name):
        message = f"the partition '{partition.name}' cannot be one of a blueprint"
        hint = "its name begins with a letter and has at most 40 letters, digits, '.', '-' and '_'"
        raise refused(message, partition.at, hint)
    fields: dict[str, Any] = dict(partition.fields)
    extra: dict[str, str] = dict(fields.pop("extra", {}))
    lines = [line for node in partition.nodes if (line := view.line_of(node)) and line.gres]
    for key, text in list(extra.items()):
        number = int(text) if text.isdecimal() else 0
        if key.lower() == "defmempergpu" and 0 < number <= _most(lines, "memory"):
            fields["memory_per_gpu"] = f"{number} MiB"
        elif key.lower() == "defcpupergpu" and 0 < number <= _most(lines, "cpus"):
            fields["cpus_per_gpu"] = number
        else:
            continue
        del extra[key]
    if extra:
        fields["extra"] = extra
    return {"name": name, "groups": view.groups_of(partition.nodes), **fields}


def _most(lines: Sequence[SlurmNodes], what: str) -> int:
    """Return the most that a node with accelerators has; 0 where no line says it."""
    return max((getattr(line, what) or 0 for line in lines), default=0)


def _settings(view: SlurmView) -> list[dict[str, Any]]:
    """Return what is said of the nodes of each group, equal ones together."""
    found: dict[tuple[object, ...], list[str]] = {}
    lines: dict[tuple[object, ...], SlurmNodes] = {}
    for group in view.groups:
        line = view.nodes_of(group)
        if line is not None:
            apart = (group,) if line.each else ()  # addresses are of the nodes of one group
            found.setdefault((*line.said, *apart), []).append(group)
            lines[*line.said, *apart] = line
    made = []
    for groups, line in zip(found.values(), lines.values(), strict=True):
        reserve: dict[str, Any] = {}
        if line.reserved_cores:
            reserve["cores"] = line.reserved_cores
        if line.reserved_memory:
            reserve["memory"] = f"{line.reserved_memory} MiB"
        said: dict[str, Any] = {
            "cpus": line.cpus,
            "sockets": line.sockets,
            "threads_per_core": line.threads,
            "memory": None if line.memory is None else f"{line.memory} MiB",
            "gres": line.gres,
            "other_gres": list(line.other_gres) or None,
            "detect": line.detect,
            "features": list(line.features) or None,
            "weight": line.weight,
            "reserve": reserve or None,
            "extra": {**dict(line.extra), **_each(view, groups[0])} or None,
        }
        there = {name: value for name, value in said.items() if value is not None}
        made.append({"groups": groups, **there})
    return made


def _each(view: SlurmView, group: str) -> dict[str, str]:
    """Return options that differ from node to node, as one list in the order of the nodes of a group."""
    made: dict[str, list[str]] = {}
    for name in view.names_of(group):
        line = view.line_of(name)
        for key, words in () if line is None else line.each.items():
            made.setdefault(key, []).append(words[name])
    return {
        key: words[0] if len(set(words)) == 1 else ordered_hostlist(words)
        for key, words in made.items()
    }
