"""CPUs, sockets, cores and threads of nodes, worked out of a line as slurmctld does."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from rackwright.brownfield.records import refused
from rackwright.errors import Location


@dataclass(frozen=True, slots=True)
class NodeShape:
    """Processors of a node.

    Attributes:
        cpus: logical CPUs; None where nothing is said of them.
        sockets: None where the shape is not said, or is none that makes up ``cpus``.
        threads: of a core; None as for ``sockets``.
        extra: the shape as it is written, where a blueprint's fields cannot say it.
    """

    cpus: int | None = None
    sockets: int | None = None
    threads: int | None = None
    extra: Mapping[str, str] = field(default_factory=dict)


def shape_of(words: Mapping[str, str], at: Location) -> NodeShape:
    """Return the shape that a line of nodes says.

    Raises:
        SpecErrors: a number is none.
    """
    cpus = whole_number(words, "cpus", at) or whole_number(words, "procs", at)
    sockets = whole_number(words, "sockets", at)
    if (each := whole_number(words, "socketsperboard", at)) is not None:
        sockets = each * (whole_number(words, "boards", at) or 1)
    cores = whole_number(words, "corespersocket", at)
    threads = whole_number(words, "threadspercore", at)
    if not sockets and not cores and not threads:
        return NodeShape(cpus)
    cores, threads = cores or 1, threads or 1
    if not sockets:
        sockets = max(1, cpus // (cores * threads)) if cpus else 1
    whole = sockets * cores * threads
    if cpus in {None, whole}:
        return NodeShape(whole, sockets, threads)
    if cpus in {sockets * cores, sockets}:  # one CPU for each core, or for each socket
        said = {"Sockets": sockets, "CoresPerSocket": cores, "ThreadsPerCore": threads}
        return NodeShape(cpus, extra={key: str(number) for key, number in said.items()})
    return NodeShape(whole, sockets, threads)  # slurmctld sets the CPUs to what the shape makes


def whole_number(words: Mapping[str, str], key: str, at: Location) -> int | None:
    """Return a whole number; None where nothing is written.

    Raises:
        SpecErrors: something else is written.
    """  # noqa: DOC501 - refused() makes the SpecErrors
    text = words.get(key)
    if text is None:
        return None
    if not text.isascii() or not text.isdecimal() or len(text) > 12:
        missing = re.match(r"\d+([A-Za-z]\w*)=", text)
        hint = f"a blank is missing before '{missing[1]}='" if missing is not None else None
        raise refused(f"'{key}' is '{text}', which is no whole number", at, hint)
    return int(text)
