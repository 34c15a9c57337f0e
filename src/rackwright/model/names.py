"""Names and compact host lists: ``c[01-03,07]`` stands for c01, c02, c03 and c07."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Annotated

from pydantic import AfterValidator, Field

LABEL = r"^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$"
"""A label of the DNS, in small letters."""

Name = Annotated[str, Field(pattern=LABEL)]
"""A DNS label: it ends up in host names, tags and Slurm files."""

PlaceName = Annotated[str, Field(pattern=r"^[A-Za-z0-9]([A-Za-z0-9_-]{0,61}[A-Za-z0-9])?$")]
"""Name of a hall or of a row. Capitals and ``_`` are kept as they are; a dot separates the names of fields."""

NameDigits = Annotated[int, Field(ge=1, le=9)]
"""Least number of digits in the names of the hosts of a node group."""

HOST = r"^[A-Za-z0-9]([A-Za-z0-9._-]{0,251}[A-Za-z0-9])?$"
"""A name by which a host is known that has one already."""

HostName = Annotated[str, Field(pattern=HOST)]
"""Name of a host, with a domain where it has one. Capitals and ``_`` are kept as they are."""

_TERM = re.compile(r"((?:[A-Za-z0-9][A-Za-z0-9._-]*?)?)(?:\[([0-9,-]+)\])?")
_RANGE = re.compile(r"(\d{1,9})(?:-(\d{1,9}))?")
_NUMBERED = re.compile(r"(.*?)(\d+)")
LARGEST_LIST = 1_000_000
"""Most names one host list may stand for."""
_MOST_KEPT = 10_000
"""Names of a list that are kept once they are made; the racks of a row are far fewer."""

_LONGEST_SHOWN = 60


def expand_hostlist(text: str) -> tuple[str, ...]:
    """Return the names that ``text`` stands for, in the order written.

    Raises:
        ValueError: the text is malformed, names something twice or stands for too many names.
    """
    return _kept(text) if hostlist_size(text) <= _MOST_KEPT else _names(text)


@lru_cache(maxsize=512)  # all that stands in some racks names them, and so do equal sites
def _kept(text: str) -> tuple[str, ...]:
    return _names(text)


def _names(text: str) -> tuple[str, ...]:
    """Return the names of a list that is right."""
    names: list[str] = []
    for part in _parts(text):
        prefix, bracket, ranges = part.rstrip("]").partition("[")
        if not bracket:
            names.append(prefix)
            continue
        for low, high, width in _bounds(part, ranges):
            names.extend(f"{prefix}{n:0{width}d}" for n in range(low, high + 1))
    return tuple(names)


@lru_cache(maxsize=4_096)
def hostlist_size(text: str) -> int:
    """Return the number of names in ``text`` without making them, so that a long range costs nothing.

    Raises:
        ValueError: as ``expand_hostlist``.
    """
    size = 0
    spans: dict[tuple[str, int], list[tuple[int, int]]] = {}
    for part in _parts(text):
        match = _TERM.fullmatch(part)
        assert match is not None  # noqa: S101 - _parts has matched it
        prefix, ranges = match.groups()
        stem, digits = _split_number(prefix)
        if ranges is None:
            size += 1
            spans.setdefault((stem, len(digits)), []).append((int(digits or 0), int(digits or 0)))
            continue
        for low, high, width in _bounds(part, ranges):
            size += high - low + 1
            if size > LARGEST_LIST:
                raise ValueError(f"'{_short(text)}' stands for more than {LARGEST_LIST:,} names")
            for one in range(width, max(width, len(str(high))) + 1):
                # The numbers of this width: c[8-12] is c8, c9 and c10, c11, c12.
                least = low if one == width else max(low, 10 ** (one - 1))
                most = min(high, 10**one - 1)
                start = int(digits or 0) * 10**one
                key = (stem, len(digits) + one)
                spans.setdefault(key, []).append((start + least, start + most))
    for found in spans.values():
        found.sort()
        if any(before[1] >= after[0] for before, after in pairwise(found)):
            raise ValueError(f"'{_short(text)}' names something twice")
    return size


def _parts(text: str) -> list[str]:
    """Return the terms of a list, each of the right form.

    Raises:
        ValueError: one is not.
    """
    parts = hostlist_terms(text.replace(" ", ""))
    for part in parts:
        if not part or _TERM.fullmatch(part) is None:
            raise ValueError(f"'{_short(part)}' is not a host list; write it like 'c[01-16]'")
    return parts


def hostlist_terms(text: str) -> list[str]:
    """Return the terms of a list, at the commas that are in no brackets, whatever stands in them."""
    parts: list[str] = []
    start, inside = 0, False
    for at, character in enumerate(text):  # a regular expression would look ahead at every comma
        if character in "[]":
            inside = character == "["
        elif character == "," and not inside:
            parts.append(text[start:at])
            start = at + 1
    parts.append(text[start:])
    return parts


def _bounds(part: str, ranges: str) -> Iterator[tuple[int, int, int]]:
    """Yield the first, last and least width of each range in the brackets of ``part``.

    Raises:
        ValueError: one is no range, or runs backwards.
    """
    for item in ranges.split(","):
        bounds = _RANGE.fullmatch(item)
        if bounds is None:
            raise ValueError(
                f"'{_short(item)}' in '{_short(part)}' is not a range; write it like '01-16'"
            )
        low, high = bounds.group(1), bounds.group(2) or bounds.group(1)
        if int(high) < int(low):
            raise ValueError(f"the range '{item}' in '{_short(part)}' runs backwards")
        yield int(low), int(high), len(low)


def _split_number(name: str) -> tuple[str, str]:
    """Return a name without the digits at its end, and those."""
    stem = name.rstrip("0123456789")
    return stem, name[len(stem) :]


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}..."


def _check_hostlist(text: str) -> str:
    hostlist_size(text)
    return text


HostList = Annotated[str, AfterValidator(_check_hostlist)]
"""Text that ``expand_hostlist`` understands."""


def compress_hostlist(names: Iterable[str]) -> str:
    """Return the shortest host list for ``names``, sorted: ``c01, c02, c03`` gives ``c[01-03]``."""
    numbered: dict[str, list[str]] = {}
    parts: list[str] = []
    for name in set(names):
        match = _NUMBERED.fullmatch(name)
        if match is None:
            parts.append(name)
        else:
            numbered.setdefault(match[1], []).append(match[2])
    for prefix, numbers in numbered.items():
        inside = ",".join(_ranges(sorted(numbers, key=lambda one: (len(one), one))))
        parts.append(f"{prefix}{inside}" if len(numbers) == 1 else f"{prefix}[{inside}]")
    return ",".join(sorted(parts))


def _ranges(numbers: Sequence[str]) -> Iterator[str]:
    """Yield the ranges of numbers that are sorted by length and value; a range keeps the zeros of its start."""
    start = previous = numbers[0]
    for number in [*numbers[1:], ""]:
        if number and number == f"{int(previous) + 1:0{len(previous)}d}":
            previous = number
            continue
        yield start if start == previous else f"{start}-{previous}"
        start = previous = number


def refuse_twins(what: str, names: Iterable[str | tuple[str, str]]) -> None:
    """Refuse a name that is given twice; a pair is a name, and the name of what it belongs to.

    Raises:
        ValueError: one is.
    """
    seen: set[str | tuple[str, str]] = set()
    for name in names:
        if name in seen:
            words = name if isinstance(name, str) else "' of '".join(name)
            raise ValueError(f"the {what} '{words}' is named twice")
        seen.add(name)


def _distinct(names: tuple[str, ...]) -> tuple[str, ...]:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise ValueError(f"'{name}' is named twice")
        seen.add(name)
    return names


DISTINCT = AfterValidator(_distinct)
"""Check of a list of names that refuses one that is in it twice: it would count as another source or node group."""
