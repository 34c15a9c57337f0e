"""Nodes, partitions and controllers of a ``slurm.conf``, as its manual page describes the file.

Keys are written in any case, ``#`` begins a comment, a backslash at the end of a line continues it,
``DEFAULT`` entries hold for the lines behind them, and ``Include`` names a file beside this one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeVar

from rackwright.brownfield.records import (
    MOST_HOSTS,
    Found,
    FoundCluster,
    SlurmNodes,
    SlurmPartition,
    SourceNotice,
    refused,
)
from rackwright.errors import Location, SpecError, SpecErrors
from rackwright.model.names import LABEL, hostlist_terms

T = TypeVar("T")

MOST_INCLUDED = 20
"""Files that one file may include, and those that they include."""
MOST_LINES = 100_000

_COMMENT = re.compile(r"(?<!\\)#.*")
_WORD = re.compile(r"""([A-Za-z][A-Za-z0-9_]*)\s*\+?=\s*("(?:[^"\\]|\\.)*"|\S*)""")
_PART = re.compile(r"([^\[\],]*)(?:\[([0-9,-]+)\])?")
_RANGE = re.compile(r"(\d{1,9})(?:-(\d{1,9}))?")
_HOST = re.compile(r"([^()]+)(?:\(([^()]*)\))?")
_DESCRIBES = ("nodename", "partitionname")
_ELSEWHERE = frozenset({"nodeset", "downnodes", "frontendname"})
_TREE = {"tree": "tree", "block": "block", "flat": "flat", "none": "flat", "default": "flat"}

_PARTITION: Mapping[str, tuple[str, Callable[[str], object]]] = {
    "default": ("default", lambda text: text.lower() == "yes"),
    "maxtime": ("max_time", str),
    "defaulttime": ("default_time", str),
    "maxnodes": ("max_nodes", str),
    "prioritytier": ("priority_tier", str),
    "state": ("state", str.upper),
}
"""Options of a partition that a blueprint has a field for, with what is written there."""
_OF_NODES = frozenset({
    "nodename", "cpus", "procs", "sockets", "boards", "socketsperboard",
    "corespersocket", "threadspercore", "realmemory", "gres", "feature", "features", "weight", "state",
})  # fmt: skip
"""Options of a node that are read, or that say nothing of what stands."""


@dataclass(frozen=True, slots=True)
class _Line:
    """The words of a line, by their names in small letters."""

    at: Location
    words: Mapping[str, str]
    first: str


def is_slurm_conf(text: str) -> bool:
    """Whether a text looks like a ``slurm.conf``, which has neither a head nor a form of its own."""
    return any(
        re.match(r"\s*(clustername|nodename|partitionname|slurmctldhost|include)\b", line, re.I)
        for line in text.splitlines()
    )


def read_slurm_conf(text: str, path: Path, read: Callable[[Path], str]) -> Found:
    """What a ``slurm.conf`` says.

    Args:
        text: its content.
        path: the file; those that it includes are looked for beside it.
        read: reads the text of a file.

    Raises:
        SpecErrors: every line that cannot be understood, with its place.
    """
    lines = _Lines(read, path.parent)
    found = list(lines.of(text, path))
    return _Reader(path).read(found)


class _Lines:
    """The lines of a file with those that it includes."""

    def __init__(self, read: Callable[[Path], str], folder: Path) -> None:
        self._read, self._folder = read, folder
        self._included = 0

    def of(self, text: str, path: Path) -> Iterator[_Line]:
        """The lines of a file that hold something, each with its place.

        Raises:
            SpecErrors: one cannot be understood, or a file that is included cannot be read.
        """  # noqa: DOC501 - refused() makes the SpecErrors
        for number, line in _joined(text):
            at = Location(str(path), number, len(line) - len(line.lstrip()) + 1)
            if number > MOST_LINES:
                raise refused(f"the file has more than {MOST_LINES:,} lines", at)
            plain = _COMMENT.sub("", line).strip()
            if not plain:
                continue
            word, _, rest = plain.partition(" ")
            if word.lower() == "include":
                yield from self._of_included(rest.strip(), at)
                continue
            pairs = _WORD.findall(plain)
            if not pairs or _WORD.sub("", plain).strip():
                raise refused(
                    "this line is not 'Key=Value …'", at, "take it out, or put '#' before it"
                )
            words = {key.lower(): value.strip('"') for key, value in pairs}
            yield _Line(at, words, pairs[0][0].lower())

    def _of_included(self, name: str, at: Location) -> Iterator[_Line]:
        self._included += 1
        if self._included > MOST_INCLUDED:
            raise refused(f"more than {MOST_INCLUDED} files are included", at, "put them into one")
        path = self._folder / name
        if not name or Path(name).is_absolute() or ".." in Path(name).parts or "%" in name:
            raise refused(f"'{name}' is included, which is not beside this file", at,
                          "copy it there, and write its name alone")  # fmt: skip
        yield from self.of(self._read(path), path)


def _joined(text: str) -> Iterator[tuple[int, str]]:
    """Lines with what continues them, and the number of the first of each."""
    begun, parts = 0, list[str]()
    for number, line in enumerate(text.splitlines(), 1):
        begun = begun or number
        bare = line.rstrip()
        if bare.endswith("\\"):
            parts.append(bare[:-1])
            continue
        yield begun, " ".join([*parts, bare])
        begun, parts = 0, []
    if parts:
        yield begun, " ".join(parts)


class _Reader:
    """Turns lines into a cluster, and collects every mistake."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._errors: list[SpecError] = []
        self._notices: list[SourceNotice] = []
        self._hosts = 0

    def read(self, lines: Sequence[_Line]) -> Found:
        """What the lines say.

        Raises:
            SpecErrors: every line that cannot be used, with its place.
        """
        options: dict[str, _Line] = {}
        controllers: list[tuple[str, str | None]] = []
        nodes: list[SlurmNodes] = []
        partitions: list[tuple[_Line, dict[str, str]]] = []
        defaults: dict[str, dict[str, str]] = {kind: {} for kind in _DESCRIBES}
        for line in lines:
            if line.first in _DESCRIBES:
                if line.words[line.first].upper() == "DEFAULT":
                    defaults[line.first] |= line.words
                    continue
                words = {**defaults[line.first], **line.words}
                if line.first == "partitionname":
                    partitions.append((line, words))
                else:
                    self._keep(nodes, partial(self._nodes, words, line.at))
            elif line.first in _ELSEWHERE:
                self._notices.append(SourceNotice(f"'{line.first}' is not taken over", line.at))
            elif line.first == "slurmctldhost":
                host = _HOST.fullmatch(line.words[line.first])
                if host is not None:
                    controllers.append((host[1].strip(), host[2]))
            else:
                options |= dict.fromkeys(line.words, line)
        known = {name for one in nodes for name in one.names}
        made: list[SlurmPartition] = []
        for line, words in partitions:
            self._keep(made, partial(self._partition, words, line.at, known))
        if self._errors:
            raise SpecErrors(self._errors)
        self._passed_over(options)
        slurm = FoundCluster(
            at=Location(str(self._path), 1, 1),
            name=_option(options, "clustername"),
            controllers=tuple(controllers),
            nodes=tuple(nodes),
            partitions=tuple(made),
            topology=self._topology(options),
            database=_database(options),
        )
        return Found(slurm=slurm, notices=tuple(self._notices))

    def _keep(self, made: list[T], make: Callable[[], T]) -> None:
        try:
            made.append(make())
        except SpecErrors as error:
            self._errors += error.errors

    def _topology(self, options: Mapping[str, _Line]) -> str:
        plugin = (_option(options, "topologyplugin") or "topology/flat").rpartition("/")[2].lower()
        if plugin not in _TREE:
            message = f"the topology '{plugin}' is none of a blueprint: 'flat' is written"
            self._notices.append(SourceNotice(message, options["topologyplugin"].at))
        return _TREE.get(plugin, "flat")

    def _passed_over(self, options: Mapping[str, _Line]) -> None:
        read = {"clustername", "topologyplugin", "accountingstoragetype", "accountingstoragehost"}
        if others := [key for key in options if key not in read]:
            shown = ", ".join(others)
            at = options[others[0]].at
            text = (
                f"{len(others)} options are not taken over: compare what 'render' writes: {shown}"
            )
            self._notices.append(SourceNotice(text, at))

    def _nodes(self, words: Mapping[str, str], at: Location) -> SlurmNodes:
        """The nodes of a line.

        Raises:
            SpecErrors: their names or numbers are none.
        """  # noqa: DOC501 - refused() makes the SpecErrors
        names = self._expand(words["nodename"], at)
        for name in names:
            if re.fullmatch(LABEL, name) is None:
                raise refused(f"the node '{name}' cannot be a host of a blueprint", at,
                              "its names have small letters, digits and '-': rename the node first")  # fmt: skip
        if others := sorted(set(words) - _OF_NODES):
            text = f"{', '.join(others)} of {len(names):,} nodes: not taken over"
            self._notices.append(SourceNotice(text, at))
        gres = words.get("gres")
        return SlurmNodes(
            at=at,
            names=names,
            cpus=_cpus(words, at),
            memory=_number(words, "realmemory", at),
            gres=None if gres is None else self._gres(gres, at),
            features=_list(words.get("features", words.get("feature", ""))),
            weight=_number(words, "weight", at),
        )

    def _gres(self, text: str, at: Location) -> str | None:
        """Accelerators as a blueprint has them: of one type, with their number."""
        found = None
        for one in text.lower().split(","):
            parts = re.sub(r"\(.*?\)", "", one).split(":")
            whole = [part for part in parts if part != "no_consume"]
            if whole[0] == "gpu" and len(whole) == 3 and whole[2].isdecimal() and found is None:
                found = f"gpu:{whole[1]}:{int(whole[2])}"
            else:
                self._notices.append(SourceNotice(f"the GRES '{one}' is not taken over", at))
        return found

    def _partition(
        self, words: Mapping[str, str], at: Location, known: Collection[str]
    ) -> SlurmPartition:
        """A partition.

        Raises:
            SpecErrors: it names nodes that are in no line of nodes.
        """  # noqa: DOC501 - refused() makes the SpecErrors
        name, listed = words["partitionname"], words.get("nodes", "")
        names = tuple(sorted(known)) if listed.upper() == "ALL" else self._expand(listed, at)
        if strange := [one for one in names if one not in known]:
            raise refused(f"the partition '{name}' has the node '{strange[0]}', which is in no 'NodeName'",
                          at, "name nodes, ranges of them, or ALL")  # fmt: skip
        fields: dict[str, object] = {}
        others: list[str] = []
        for key, text in words.items():
            if key in _PARTITION:
                field, made = _PARTITION[key]
                value = made(text)
                if field in {"max_nodes", "priority_tier"}:
                    if text.upper() == "UNLIMITED":
                        continue
                    value = _number(words, key, at)
                fields[field] = value
            elif key not in {"partitionname", "nodes"}:
                others.append(key)
        if others:
            text = f"{', '.join(others)} of the partition '{name}': not taken over"
            self._notices.append(SourceNotice(text, at))
        return SlurmPartition(at=at, name=name, nodes=names, fields=fields)

    def _expand(self, text: str, at: Location) -> tuple[str, ...]:
        """The names that a list of Slurm's stands for, in its order.

        Raises:
            SpecErrors: it is none, or stands for too many.
        """  # noqa: DOC501 - refused() makes the SpecErrors
        try:
            names = expand_nodes(text, MOST_HOSTS - self._hosts)
        except ValueError as error:
            raise refused(str(error), at) from None
        self._hosts += len(names)
        return names


def _option(options: Mapping[str, _Line], key: str) -> str | None:
    return options[key].words[key] if key in options else None


def _database(options: Mapping[str, _Line]) -> str | None:
    """Host of slurmdbd; None where nothing is kept in one."""
    kept = (_option(options, "accountingstoragetype") or "").lower().endswith("slurmdbd")
    return _option(options, "accountingstoragehost") if kept else None


def expand_nodes(text: str, most: int = MOST_HOSTS) -> tuple[str, ...]:
    """The names that a list of Slurm's stands for; names may have several brackets.

    Raises:
        ValueError: it is no list, or stands for more than ``most`` names.
    """
    names: list[str] = []
    terms = hostlist_terms(text)
    if not terms[-1]:
        raise ValueError(f"'{text[:60]}' is no list of nodes; write it like 'node[01-16]'")
    for part in terms:
        made = [""]
        at = 0
        while at < len(part):
            match = _PART.match(part, at)
            if match is None or match.end() == at:
                raise ValueError(f"'{text[:60]}' is no list of nodes; write it like 'node[01-16]'")
            at = match.end()
            numbers = [""] if match[2] is None else list(_numbers(match[2], most))
            if len(made) * len(numbers) + len(names) > most:
                raise ValueError(f"'{text[:60]}' stands for more than {most:,} nodes")
            made = [f"{one}{match[1]}{number}" for one in made for number in numbers]
        names += made
    if len(set(names)) < len(names):
        raise ValueError(f"'{text[:60]}' names a node twice")
    return tuple(names)


def _numbers(text: str, most: int) -> Iterator[str]:
    for one in text.split(","):
        match = _RANGE.fullmatch(one)
        if match is None:
            raise ValueError(f"'{one}' is no range; write it like '01-16'")
        low, high = int(match[1]), int(match[2] or match[1])
        if high < low or high - low >= most:
            raise ValueError(f"the range '{one}' runs backwards, or is of more than {most:,} nodes")
        yield from (f"{number:0{len(match[1])}d}" for number in range(low, high + 1))


def _cpus(words: Mapping[str, str], at: Location) -> int | None:
    """Logical CPUs, which may be said by the shape of the node alone."""
    said = _number(words, "cpus", at) or _number(words, "procs", at)
    if said is not None:
        return said
    sockets = _number(words, "sockets", at)
    if sockets is None and (each := _number(words, "socketsperboard", at)) is not None:
        sockets = each * (_number(words, "boards", at) or 1)
    cores = _number(words, "corespersocket", at)
    if sockets is None and cores is None:
        return None
    return (sockets or 1) * (cores or 1) * (_number(words, "threadspercore", at) or 1)


def _number(words: Mapping[str, str], key: str, at: Location) -> int | None:
    """A whole number.

    Raises:
        SpecErrors: something else is written.
    """  # noqa: DOC501 - refused() makes the SpecErrors
    text = words.get(key)
    if text is None:
        return None
    if not text.isascii() or not text.isdecimal() or len(text) > 12:
        raise refused(f"'{key}' is '{text}', which is no whole number", at)
    return int(text)


def _list(text: str) -> tuple[str, ...]:
    return tuple(word for word in text.split(",") if word)
