"""Nodes, partitions and controllers of a ``slurm.conf``, as its manual page describes the file.

``DEFAULT`` entries hold for the lines behind them. What a blueprint has no field for goes on as ``extra`` of
the cluster, the nodes or the partition.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from rackwright.brownfield.records import (
    MOST_HOSTS,
    Found,
    FoundCluster,
    SlurmNodes,
    SlurmPartition,
    SourceNotice,
    refused,
)
from rackwright.brownfield.slurm_files.lines import (
    SlurmLine,
    SlurmLines,
    as_option,
    expand_list,
    expand_nodes,
)
from rackwright.brownfield.slurm_files.options import ClusterOptions
from rackwright.brownfield.slurm_files.shape import shape_of, whole_number
from rackwright.errors import Location, SpecError, SpecErrors
from rackwright.harmless import counted
from rackwright.model.job_time import job_minutes
from rackwright.model.names import HOST

T = TypeVar("T")

_HOST = re.compile(r"([^()]+)(?:\(([^()]*)\))?")
_NAME = re.compile(r"[a-z][a-z0-9_-]{0,39}")
_COUNT = re.compile(r"\d+[KMGT]?", re.IGNORECASE)
_GRES = re.compile(
    r"([a-z][a-z0-9_]*)(?::([A-Za-z0-9][A-Za-z0-9_.-]*))?:([1-9][0-9]*)([KMGT]?)", re.I
)
_NUMBERED = re.compile(r"[1-9][0-9]{0,3}")
_DESCRIBES = ("nodename", "partitionname")
_ELSEWHERE = frozenset({"downnodes", "frontendname"})
_READ_OF_NODES = frozenset({
    "boards", "corespersocket", "corespeccount", "cpus", "feature", "features", "gres", "memspeclimit",
    "nodename", "procs", "realmemory", "sockets", "socketsperboard", "threadspercore", "weight",
})  # fmt: skip
_FOR_EACH = ("nodeaddr", "nodehostname", "bcastaddr", "port")
"""Options of nodes that are lists, with one word for each node."""
_IDLE = frozenset({"unknown", "idle"})
"""States of nodes that slurmctld finds out by itself."""
_HIGHEST = 65533
_MOST_MEMBERS = 20 * MOST_HOSTS
_YES = frozenset({"yes", "up", "true", "1"})
"""Words that Slurm takes for yes."""


def is_slurm_conf(text: str) -> bool:
    """Return True if a text looks like a ``slurm.conf``, which has neither a head nor a form of its own."""
    begins = r"\s*(clustername|nodename|nodeset|partitionname|slurmctldhost|controlmachine)\s*=|\s*include\s"
    return any(re.match(begins, line, re.IGNORECASE) for line in text.splitlines())


def read_slurm_conf(text: str, path: Path, read: Callable[[Path], str]) -> Found:
    """Return what a ``slurm.conf`` says.

    Args:
        text: its content.
        path: the file; those that it includes are looked for beside it.
        read: reads the text of a file.

    Raises:
        SpecErrors: every line that cannot be understood, with its place.
    """
    return _Reader(path).read(list(SlurmLines(read, path.parent).of(text, path)))


class _Reader:
    """Turns lines into a cluster, and collects every mistake."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._errors: list[SpecError] = []
        self._notices: list[SourceNotice] = []
        self._hosts = 0
        self._members_left = _MOST_MEMBERS
        self._sets: dict[str, tuple[str, ...]] = {}
        self._wrong_nodes = False

    def read(self, lines: Sequence[SlurmLine]) -> Found:
        """Return what the lines say.

        Raises:
            SpecErrors: every line that cannot be used, with its place.
        """
        options: dict[str, SlurmLine] = {}
        controllers: list[tuple[str, str | None]] = []
        nodes: list[SlurmNodes] = []
        partitions: list[tuple[SlurmLine, dict[str, str], Mapping[str, str]]] = []
        sets: list[SlurmLine] = []
        defaults: dict[str, dict[str, str]] = {kind: {} for kind in _DESCRIBES}
        spelled: dict[str, str] = {}
        for line in lines:
            spelled |= line.spelled
            if line.first in _DESCRIBES:
                if line.words[line.first].upper() == "DEFAULT":
                    defaults[line.first] |= line.words
                    continue
                words = {**defaults[line.first], **line.words}
                if line.first == "partitionname":
                    partitions.append((line, words, dict(spelled)))
                else:
                    self._keep(nodes, partial(self._nodes, words, spelled, line.at))
            elif line.first == "nodeset":
                sets.append(line)
            elif line.first in _ELSEWHERE:
                self._notices.append(SourceNotice(f"'{line.first}' is not taken over", line.at))
            else:
                host = _HOST.fullmatch(line.words.get("slurmctldhost", ""))
                if host is not None:
                    controllers.append((host[1].strip(), host[2]))
                options |= dict.fromkeys(line.words, line)
        known = {name: None for one in nodes for name in one.names}
        self._wrong_nodes = bool(self._errors)
        for line in sets:
            self._keep([], partial(self._set, line, nodes, known))
        said = ClusterOptions(options)
        database = said.database
        made: list[SlurmPartition] = []
        for line, words, names in partitions:
            self._keep(
                made,
                partial(
                    self._partition, words, names, line.at, known, accounting=database is not None
                ),
            )
        settings = said.settings(accounting=database is not None)
        if errors := [*said.errors, *self._errors]:
            raise SpecErrors(errors)
        if said.whole_nodes:
            made = [_exclusive(one) for one in made]
        last = max((at for at, one in enumerate(made) if one.fields.get("default")), default=None)
        made = [one if at == last else _not_default(one) for at, one in enumerate(made)]
        slurm = FoundCluster(
            at=Location(str(self._path), 1, 1),
            name=said.get("clustername"),
            controllers=tuple(controllers) or said.controllers,
            nodes=tuple(nodes),
            partitions=tuple(made),
            topology=said.topology,
            database=database,
            enforced=tuple(said.enforced()),
            settings=settings,
        )
        return Found(slurm=slurm, notices=(*self._notices, *said.notices))

    def _keep(self, made: list[T], make: Callable[[], T]) -> None:
        try:
            made.append(make())
        except SpecErrors as error:
            self._errors += error.errors

    def _nodes(
        self, words: Mapping[str, str], spelled: Mapping[str, str], at: Location
    ) -> SlurmNodes:
        """Return the nodes of a line.

        Raises:
            SpecErrors: their names or numbers are none.
        """  # noqa: DOC501 - refused() makes the SpecErrors
        names = self._expand(words["nodename"], at)
        for name in names:
            if re.fullmatch(HOST, name) is None:
                raise refused(f"the node '{name}' is not a host name", at,
                              "write letters, digits, '-', '_' and '.'")  # fmt: skip
        each = {key: self._each(words[key], names, key, at) for key in _FOR_EACH if key in words}
        shape = shape_of(words, at)
        if (boards := words.get("boards", "1")) != "1":
            text = f"the nodes' 'Boards={boards}' is left out: their sockets are counted together"
            self._notices.append(SourceNotice(text, at))
        extra = dict(shape.extra)
        for key, value in words.items():
            if key == "topology" and value:
                self._notices.append(
                    SourceNotice(
                        f"the nodes' 'Topology={value}' is left out: a cluster has one", at
                    )
                )
                continue
            idle = key == "state" and value.lower() in _IDLE
            if key not in _READ_OF_NODES and key not in _FOR_EACH and not idle and value:
                self._carry(extra, spelled[key], value, at)
        accelerators, others = self._gres(words.get("gres", ""), at)
        return SlurmNodes(
            at=at,
            names=names,
            cpus=shape.cpus,
            sockets=shape.sockets,
            threads=shape.threads,
            memory=whole_number(words, "realmemory", at),
            gres=accelerators,
            other_gres=others,
            features=_list(words.get("features", words.get("feature", ""))),
            weight=whole_number(words, "weight", at) or None,
            reserved_cores=whole_number(words, "corespeccount", at) or 0,
            reserved_memory=whole_number(words, "memspeclimit", at) or 0,
            extra=tuple(sorted(extra.items())),
            each={spelled[key]: values for key, values in each.items()},
        )

    def _each(self, text: str, names: Sequence[str], key: str, at: Location) -> dict[str, str]:
        """Return the word of each node out of a list, or the one that all have.

        Raises:
            SpecErrors: there are more or fewer than nodes.
        """  # noqa: DOC501 - refused() makes the SpecErrors
        if key == "port" and re.fullmatch(r"\d+-\d+", text):
            text = f"[{text}]"
        try:
            words = expand_list(text, MOST_HOSTS)
        except ValueError as error:
            raise refused(str(error), at) from None
        if len(words) == 1:
            words *= len(names)
        if len(words) != len(names):
            raise refused(f"'{key}' has {counted(len(words), 'word')} for {counted(len(names), 'node')}", at,
                          "write one for each node")  # fmt: skip
        return dict(zip(names, words, strict=True))

    def _gres(self, text: str, at: Location) -> tuple[str | None, tuple[str, ...]]:
        """Return the accelerators, and what else is counted, without the cores that they are near."""
        found: str | None = None
        others: list[str] = []
        for one in filter(None, re.sub(r"\(.*?\)", "", text).split(",")):
            parts = [part for part in one.split(":") if part.lower() != "no_consume"]
            bare = ":".join(parts if _COUNT.fullmatch(parts[-1]) else [*parts, "1"])
            match = _GRES.fullmatch(bare)
            if match is None or len(parts) < len(one.split(":")):
                self._notices.append(SourceNotice(f"the GRES '{one}' is not taken over", at))
                continue
            name, kind, count, unit = match.groups()
            made = ":".join(filter(None, (name.lower(), kind, f"{count}{unit.upper()}")))
            if found is None and name.lower() == "gpu" and _NUMBERED.fullmatch(f"{count}{unit}"):
                found = made
            else:
                others.append(made)
        return found, tuple(others)

    def _set(self, line: SlurmLine, nodes: Sequence[SlurmNodes], known: Collection[str]) -> None:
        """Note the nodes of a set, which partitions name.

        Raises:
            SpecErrors: it has nodes that are in no line of nodes.
        """
        name = line.words["nodeset"]
        features = set(_list(line.words.get("feature", "")))
        names = [node for one in nodes if features & set(one.features) for node in one.names]
        if listed := line.words.get("nodes", ""):
            names += self._members(listed, f"the node set '{name}'", line.at, known)
        self._sets[name] = tuple(dict.fromkeys(names))

    def _members(
        self, text: str, whose: str, at: Location, known: Collection[str]
    ) -> tuple[str, ...]:
        """Return the nodes that a list names, by themselves or by node sets.

        Raises:
            SpecErrors: one is in no line of nodes.
        """  # noqa: DOC501 - refused() makes the SpecErrors
        all_of_them = text.upper() == "ALL"
        self._count(len(known) if all_of_them else 0, at)
        if all_of_them:
            return tuple(known)
        made: dict[str, None] = {}
        try:
            words = expand_list(text, MOST_HOSTS) if text else ()
        except ValueError as error:
            raise refused(str(error), at) from None
        self._count(len(words), at)
        for one in words:
            if one in self._sets:
                made |= dict.fromkeys(self._sets[one])
            elif one.upper() == "ALL":
                made |= dict.fromkeys(known)
            elif one in known:
                made[one] = None
            elif not self._wrong_nodes:  # else a line of nodes is told that may have it
                sets = (
                    f" and no node set (there are: {', '.join(self._sets)})" if self._sets else ""
                )
                raise refused(f"{whose} has the node '{one}', which is in no 'NodeName'{sets}",
                              at, "name nodes, ranges of them, node sets, or ALL")  # fmt: skip
        self._count(max(0, len(made) - len(words)), at)
        return tuple(made)

    def _count(self, number: int, at: Location) -> None:
        """Count names in partitions and node sets, which have all nodes once each in most clusters.

        Raises:
            SpecErrors: they are more than memory should hold.
        """  # noqa: DOC501 - refused() makes the SpecErrors
        self._members_left -= number
        if self._members_left < 0:
            message = (
                f"the partitions and node sets up to here name more than {_MOST_MEMBERS:,} nodes"
            )
            raise refused(message, at, "leave out partitions that no longer have jobs")

    def _partition(
        self,
        words: Mapping[str, str],
        spelled: Mapping[str, str],
        at: Location,
        known: Collection[str],
        *,
        accounting: bool,
    ) -> SlurmPartition:
        """Return a partition.

        Raises:
            SpecErrors: it names nodes that are in no line of nodes, or a time that is none.
        """
        name = words["partitionname"]
        nodes = self._members(words.get("nodes", ""), f"the partition '{name}'", at, known)
        fields: dict[str, Any] = {}
        extra: dict[str, str] = {}
        for key, text in words.items():
            if key in {"partitionname", "nodes"} or not text:
                continue
            if key == "topology":
                self._notices.append(
                    SourceNotice(
                        f"the partition's 'Topology={text}' is left out: a cluster has one", at
                    )
                )
                continue
            made = _field(key, text, at, accounting=accounting)
            if made is None:
                self._carry(extra, "OverSubscribe" if key == "shared" else spelled[key], text, at)
            else:
                fields |= made
        if extra:
            fields["extra"] = dict(sorted(extra.items()))
        return SlurmPartition(at=at, name=name, nodes=nodes, fields=fields)

    def _carry(self, extra: dict[str, str], key: str, value: str, at: Location) -> None:
        """Add an option that no field says; one that no blueprint takes is told."""
        option = as_option(value)
        if option is None:
            self._notices.append(SourceNotice(f"not taken over: {key}={value}", at))
        else:
            extra[key] = option

    def _expand(self, text: str, at: Location) -> tuple[str, ...]:
        """Return the names that a list of Slurm's stands for, in its order.

        Raises:
            SpecErrors: it is none, or stands for too many.
        """  # noqa: DOC501 - refused() makes the SpecErrors
        try:
            names = expand_nodes(text, MOST_HOSTS - self._hosts)
        except ValueError as error:
            raise refused(str(error), at) from None
        self._hosts += len(names)
        return names


def _not_default(partition: SlurmPartition) -> SlurmPartition:
    """Return a partition that is not the default one, which to slurmctld is the last that says so."""
    fields = {key: value for key, value in partition.fields.items() if key != "default"}
    return replace(partition, fields=fields)


def _exclusive(partition: SlurmPartition) -> SlurmPartition:
    """Return a partition whose jobs have whole nodes, unless its nodes are shared."""
    if "OverSubscribe" in partition.fields.get("extra", ()):  # type: ignore[operator]
        return partition
    return replace(partition, fields={**partition.fields, "exclusive": True})


def _field(key: str, text: str, at: Location, *, accounting: bool) -> dict[str, Any] | None:
    """Return the fields of a partition that an option is; None where a blueprint has none for the value.

    Raises:
        SpecErrors: it is a time, and Slurm would not take it.
    """  # noqa: DOC501 - refused() makes the SpecErrors
    word = text.lower()
    match key:
        case "default":
            return {"default": True} if word in _YES else {}
        case "maxtime" | "defaulttime":
            if key == "defaulttime" and word == "none":
                return {}
            try:
                job_minutes(text)
            except ValueError as error:
                raise refused(str(error), at) from None
            return {"max_time" if key == "maxtime" else "default_time": text}
        case "maxnodes":
            if word in {"unlimited", "infinite"}:
                return {}
            return {"max_nodes": int(text)} if text.isdecimal() and int(text) else None
        case "priority":  # of releases before both were told apart
            return _priority(text, "priority_tier", "priority_factor")
        case "prioritytier" | "priorityjobfactor":
            return _priority(text, "priority_tier" if key == "prioritytier" else "priority_factor")
        case "state":
            return {"state": text.upper()}
        case "oversubscribe" | "shared":
            return {"exclusive": True} if word == "exclusive" else {} if word == "no" else None
        case "preemptmode":
            return (
                {"preempt_mode": word} if word in {"off", "cancel", "requeue", "suspend"} else None
            )
        case "qos":
            return {"qos": text} if accounting and _NAME.fullmatch(text) else None
        case "allowqos" | "allowaccounts":
            if word == "all":
                return {}
            names = _list(text)
            if not all(map(_NAME.fullmatch, names)) or not (accounting or key == "allowaccounts"):
                return None
            return {"allow_qos" if key == "allowqos" else "allow_accounts": list(names)}
        case "allowgroups" | "allocnodes" if word == "all":
            return {}
    return None


def _priority(text: str, *names: str) -> dict[str, Any] | None:
    return dict.fromkeys(names, int(text)) if text.isdecimal() and int(text) <= _HIGHEST else None


def _list(text: str) -> tuple[str, ...]:
    return tuple(word for word in text.split(",") if word)
