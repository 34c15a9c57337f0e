"""Names as sources write them, and as a blueprint takes them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from rackwright.model.names import HOST
from rackwright.plan.hosts import numbered

_OTHERS = re.compile(r"[^a-z0-9]+")
_NUMBERED = re.compile(r"(.*?)(\d+)", re.DOTALL)
_NO_HOST = re.compile(r"[^A-Za-z0-9._-]+")
_NO_PLACE = re.compile(r"[^A-Za-z0-9_-]+")
_STEM = re.compile(r"[-_.]*\d+$")


def label_of(text: str) -> str | None:
    """Return a name as a blueprint takes it: small letters, digits and dashes; None where nothing is left."""
    made = _OTHERS.sub("-", text.lower()).strip("-")[:63].rstrip("-")
    return made or None


def as_place(text: str) -> str | None:
    """Return the name of a hall or row as a blueprint takes it, with ``-`` for blanks and other signs; None if nothing is left."""
    made = _NO_PLACE.sub("-", text).strip("-_")[:63].rstrip("-_")
    return made or None


def host_of(text: str) -> str | None:
    """Return the name of a host as it is written; None where it is no name of a host."""
    name = text.strip().rstrip(".")
    return name if re.fullmatch(HOST, name) else None


def as_host(text: str) -> str | None:
    """Return what a device is called as a name of a host, with ``-`` for blanks and other signs."""
    made = _NO_HOST.sub("-", text).strip("-_.")
    return host_of(made)


def short_of(name: str) -> str:
    """Return the name of a host without its domain, which does not end in a number: ``pdu-2.1`` has none."""
    return name if name.rpartition(".")[2].isdigit() else name.partition(".")[0]


def by_spelling(names: Iterable[str]) -> dict[str, str]:
    """Return names by what others may write for them: small letters, and no domain where that tells them apart."""
    made = list(names)
    counts = Counter(short_of(name).lower() for name in made)
    short = {short_of(name).lower(): name for name in made}
    return {
        **{text: name for text, name in short.items() if counts[text] == 1},
        **{name.lower(): name for name in made},
    }


def stem_of(name: str) -> str:
    """Return the name that hosts with numbers have in common: ``dgx`` for ``dgx-01`` and ``dgx-01.x.org``."""
    host = name.partition(".")[0]
    return _STEM.sub("", host) or host


def free_name(base: str, taken: set[str]) -> str:
    """Return ``base``, or with a number where something is called so already; it is taken from then on."""
    name, number = base, 2
    while name in taken:
        name, number = f"{base[:55]}-set{number}", number + 1
    taken.add(name)
    return name


def host_naming(group: str, names: Sequence[str]) -> dict[str, Any]:
    """Return the fields by which the hosts of a node group keep ``names``; none where those are derived."""
    if list(names) == list(numbered(group, len(names), 1)):
        return {}
    digits = len(names[0].rpartition("-")[2])
    if 1 <= digits <= 9 and list(names) == list(numbered(group, len(names), digits)):
        return {"name_digits": digits}
    return {"host_names": ordered_hostlist(names)}


def switch_naming(names: Sequence[str], planned: Sequence[str]) -> dict[str, str]:
    """Return the field by which the switches of a tier keep ``names``; none where those are ``planned``, or are not known."""
    if not names or list(names) == list(planned):
        return {}
    return {"switch_names": ordered_hostlist(names)}


def ordered_hostlist(names: Sequence[str]) -> str:
    """Return a short host list that stands for ``names`` in their order, which ``compress_hostlist`` sorts."""
    return ",".join(_parts(names))


def _parts(names: Sequence[str]) -> Iterator[str]:
    stem, runs = "", list[tuple[str, str]]()
    for name in names:
        match = _NUMBERED.fullmatch(name)
        if match is None or len(match[2]) > 9:
            yield from _bracketed(stem, runs)
            runs = []
            yield name
            continue
        if match[1] != stem:
            yield from _bracketed(stem, runs)
            stem, runs = match[1], []
        digits = match[2]
        if runs and _follows(runs[-1][1], digits):
            runs[-1] = (runs[-1][0], digits)
        else:
            runs.append((digits, digits))
    yield from _bracketed(stem, runs)


def _follows(before: str, digits: str) -> bool:
    wider = digits == str(
        int(before) + 1
    )  # 9 and 10: a range counts on from the width of its first
    return int(digits) == int(before) + 1 and (len(before) == len(digits) or wider)


def _bracketed(stem: str, runs: Sequence[tuple[str, str]]) -> Iterator[str]:
    if not runs:
        return
    if len(runs) == 1 and runs[0][0] == runs[0][1]:
        yield f"{stem}{runs[0][0]}"
        return
    texts = (first if first == last else f"{first}-{last}" for first, last in runs)
    yield f"{stem}[{','.join(texts)}]"
