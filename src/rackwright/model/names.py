"""Names and compact host lists: ``c[01-03,07]`` stands for c01, c02, c03 and c07."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Annotated

from pydantic import AfterValidator, Field

Name = Annotated[str, Field(pattern=r"^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$")]
"""A DNS label: it ends up in host names, tags and Slurm files."""

_TERM = re.compile(r"((?:[a-z0-9][a-z0-9-]*?)?)(?:\[([0-9,-]+)\])?")
_RANGE = re.compile(r"(\d{1,9})(?:-(\d{1,9}))?")
_NUMBERED = re.compile(r"(.*?)(\d+)")
LARGEST_LIST = 1_000_000
"""Most names one host list may stand for."""


def expand_hostlist(text: str) -> tuple[str, ...]:
    """The names that ``text`` stands for, in the order written.

    Raises:
        ValueError: the text is malformed, names something twice or stands for too many names.
    """
    names: list[str] = []
    for part in re.split(r",(?![^\[]*\])", text.replace(" ", "")):
        match = _TERM.fullmatch(part)
        if not part or match is None:
            raise ValueError(f"'{part}' is not a host list; write it like 'c[01-16]'")
        prefix, ranges = match.groups()
        if ranges is None:
            names.append(prefix)
            continue
        for item in ranges.split(","):
            bounds = _RANGE.fullmatch(item)
            if bounds is None:
                raise ValueError(f"'{item}' in '{part}' is not a range; write it like '01-16'")
            low, high = bounds.group(1), bounds.group(2) or bounds.group(1)
            if int(high) < int(low):
                raise ValueError(f"the range '{item}' in '{part}' runs backwards")
            if int(high) - int(low) + len(names) >= LARGEST_LIST:
                raise ValueError(f"'{text}' stands for more than {LARGEST_LIST:,} names")
            names.extend(f"{prefix}{n:0{len(low)}d}" for n in range(int(low), int(high) + 1))
    if len(set(names)) != len(names):
        raise ValueError(f"'{text}' names something twice")
    return tuple(names)


def _check_hostlist(text: str) -> str:
    expand_hostlist(text)
    return text


HostList = Annotated[str, AfterValidator(_check_hostlist)]
"""Text that ``expand_hostlist`` understands."""


def compress_hostlist(names: Iterable[str]) -> str:
    """The shortest host list for ``names``, sorted: ``c01, c02, c03`` gives ``c[01-03]``."""
    numbered: dict[tuple[str, int], list[int]] = {}
    plain: list[str] = []
    for name in sorted(set(names)):
        match = _NUMBERED.fullmatch(name)
        if match is None:
            plain.append(name)
        else:
            prefix, digits = match.groups()
            numbered.setdefault((prefix, len(digits)), []).append(int(digits))
    parts = []
    for (prefix, width), numbers in sorted(numbered.items()):
        if len(numbers) == 1:
            parts.append(f"{prefix}{numbers[0]:0{width}d}")
        else:
            parts.append(f"{prefix}[{_ranges(sorted(numbers), width)}]")
    return ",".join(sorted([*plain, *parts]))


def _ranges(numbers: list[int], width: int) -> str:
    texts = []
    start = previous = numbers[0]
    for number in [*numbers[1:], -1]:
        if number == previous + 1:
            previous = number
            continue
        run = f"{start:0{width}d}"
        texts.append(run if start == previous else f"{run}-{previous:0{width}d}")
        start = previous = number
    return ",".join(texts)
