"""Numbers of ports, which makers of switches name in different ways.

``swp21``, ``Ethernet21/1``, ``Ethernet1/21``, ``et-0/0/21``, ``Ethernet160``, ``ethernet1/1/21`` and ``etp21`` may all be the 21st port of a
switch. Which way a switch names its ports follows from the names themselves; where several ways fit, from the
cables: it is the way by which most of them lead to the device that the plan has there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from rackwright.plan.fabric.layout import Tier

_NAME = re.compile(r"(\d*[A-Za-z][A-Za-z_-]*?)[- ]?(\d+(?:[/:]\d+)*)(?:(s|[a-h])(\d*))?")
_MANAGEMENT = re.compile(
    r"eth\d+|(mgmt|ma|management|fxp|em|me|oob|vme)[- ]?\d*(/.*)?", re.IGNORECASE
)
_LANES = 8
"""Lanes of a port, by which EOS names its parts."""
_STRIDES = (8, 4, 2, 1)
"""Lanes of a port, by which SONiC counts."""
_MOST_PARTS = 8
"""Parts that a port is split into at most."""


@dataclass(frozen=True, slots=True)
class _PortName:
    """A name in parts.

    Attributes:
        word: the letters before the numbers, in small letters.
        numbers: those that slashes or colons part.
        part: of a port that is split, counted from 0; None where the name has none.
    """

    word: str
    numbers: tuple[int, ...]
    part: int | None = None


Numbering = Callable[[_PortName], int | None]


def is_management(name: str) -> bool:
    """Return True for a port that is not on the front of a switch for data."""
    return _MANAGEMENT.fullmatch(name.strip()) is not None


def _parse(name: str) -> _PortName | None:
    match = _NAME.fullmatch(name.strip())
    if match is None or is_management(name):
        return None
    numbers = tuple(int(number) for number in re.split(r"[/:]", match[2]))
    part: int | None = None
    if match[3] == "s" and match[4]:
        part = int(match[4])
    elif match[3] and not match[4]:
        part = ord(match[3]) - ord("a")
    elif match[3]:
        return None
    if ":" in match[2]:
        numbers, part = numbers[:-1], numbers[-1]
    return _PortName(match[1].lower(), numbers, part)


def _port(number: int, part: int | None, parts: int) -> int | None:
    """Return the number of a part of a port, all ports being split alike."""
    if number < 1 or (part or 0) >= parts:
        return None
    return (number - 1) * parts + (part or 0) + 1


def _numberings(names: Sequence[_PortName], parts: Iterable[int]) -> Iterable[Numbering]:
    """Yield the ways of numbering that fit names of one switch, the likeliest first."""
    plain = [
        name.numbers[0] for name in names if len(name.numbers) == 1 and name.word == "ethernet"
    ]
    strides = [step for step in _STRIDES if all(number % step == 0 for number in plain)] or [1]
    lead = {name.numbers[0] for name in names if len(name.numbers) > 1}
    by_slot = (True, False) if len(lead) == 1 else (False, True)
    three = any(len(name.numbers) == 3 for name in names)
    for count in parts:
        if three:
            yield _numbering(count, slotted=True, step=0, last=True)
        for slotted in by_slot if lead else (True,):
            for step in (*strides, 0) if plain else (0,):
                yield _numbering(count, slotted=slotted, step=step)


def _numbering(parts: int, *, slotted: bool, step: int, last: bool = False) -> Numbering:
    """Return a way of numbering.

    Args:
        parts: that each port is split into.
        slotted: the first of several numbers is that of a slot; else the last is that of a lane.
        step: by which SONiC counts, from 0; zero counts ports from 1.
        last: the last of three numbers is that of the port, as of OS10's ethernet1/1/21:1.
    """

    def number(name: _PortName) -> int | None:
        first, *more = name.numbers
        if name.word in {"et", "xe", "ge"} and len(name.numbers) == 3:  # Junos counts from 0
            return _port(name.numbers[2] + 1, name.part, parts)
        if last and len(name.numbers) == 3:
            return _port(name.numbers[2], None if name.part is None else name.part - 1, parts)
        if not more:
            if step and name.word == "ethernet":
                return first // step + 1
            return _port(first, name.part, parts)
        if len(more) == 2 or not slotted:
            port, lane = name.numbers[-2:] if not slotted else (more[0], more[-1])
            part = (lane - 1) * parts // _LANES if not slotted else lane - 1
            return _port(port, max(part, 0), parts)
        return _port(more[0], name.part, parts)

    return number


class PortNumbers:
    """Numbers of the ports of one switch by their names."""

    def __init__(
        self, tier: Tier, split: int, cables: Mapping[str, str], planned: Mapping[int, str]
    ) -> None:
        """Find the way in which a switch names its ports.

        Args:
            tier: of the switch in the plan.
            split: number of links that each of its ports is split into.
            cables: the far device by the names of ports, as it was seen.
            planned: the far device by the numbers of ports, as it is planned.
        """
        names = {name: parsed for name in cables if (parsed := _parse(name)) is not None}
        parts = dict.fromkeys((split, tier.ports_per_cage or 1, 1, 2, 4))
        if all(name.part is None for name in names.values()):
            parts = dict.fromkeys((split, 1))
        best, most = _numbering(split, slotted=True, step=0), -1
        for numbering in _numberings(list(names.values()), parts):
            numbers = [(numbering(parsed), name) for name, parsed in names.items()]
            right = sum(
                1 for number, name in numbers if number and planned.get(number) == cables[name]
            )
            if right > most:
                best, most = numbering, right
        self._numbering = best
        self._most = (tier.radix + tier.uplinks) * _MOST_PARTS

    def of(self, names: Iterable[str]) -> int | None:
        """Return the number of a port by the first of its names that has one."""
        for name in names:
            parsed = _parse(name)
            number = None if parsed is None else self._numbering(parsed)
            if number is not None and 1 <= number <= self._most:
                return number
        return None
