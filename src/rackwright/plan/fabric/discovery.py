"""Cables as they are against cables as they are meant: what ``ibnetdiscover`` saw in a hall."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from rackwright.plan.fabric.cables import wires
from rackwright.plan.fabric.layout import Layout, find_host

End = tuple[str, int]
"""A device or adapter and one of its ports."""

_RECORD = re.compile(r'(?:Ca|Switch|Rt)\s+\d+\s+"([^"]+)"\s*#\s*"([^"]*)"')
_PORT = re.compile(r'\[(\d+)\](?:\([0-9a-f]+\))?\s+"([^"]+)"\[(\d+)\]')
_SWITCH = re.compile(r"(?:[A-Z0-9]+;)?([^:;/ ]+)")
"""Managed switches call themselves ``MF0;leaf-01:MQM9700/U1``."""
_ADAPTER = re.compile(r"([a-z0-9-]+)(?:\.[a-z0-9.-]+)?(?:/(\d+)| (\w+))")
"""A host with its interface or the name of its device, like ``dgx-01 mlx5_0``."""


@dataclass(frozen=True, slots=True)
class CableDifference:
    """A cable that is not where it is meant to be.

    Attributes:
        cable: the ends that are meant, in words.
    """

    cable: str
    message: str
    fix: str


def read_discovery(text: str) -> dict[End, End]:
    """The far end of every connected port, devices by their descriptions.

    Raises:
        ValueError: the text has no device in it, or its switches cannot be told apart.
    """
    names: dict[str, str] = {}
    switches: dict[str, str] = {}
    seen: list[tuple[str, int, str, int]] = []
    here = ""
    for line in text.splitlines():
        if record := _RECORD.match(line):
            here, names[record.group(1)] = record.group(1), record.group(2)
            if line.startswith("Switch") and switches.setdefault(names[here], here) != here:
                raise ValueError(f"two switches are called '{names[here]}'")
        elif here and (port := _PORT.match(line)):
            seen.append((here, int(port.group(1)), port.group(2), int(port.group(3))))
    if not names:
        raise ValueError("it lists no switch and no adapter")
    return {
        (names[device], port): (names[other], there)
        for device, port, other, there in seen
        if other in names
    }


def differences(layout: Layout, discovered: Mapping[End, End]) -> tuple[CableDifference, ...]:
    """What stands between the hall and the plan, in the order of the plan's cables."""
    found = _named(layout, discovered)
    meant = _both_ways(((w.lower, w.lower_port), (w.upper, w.upper_port)) for w in wires(layout))
    made: list[CableDifference] = []
    told: set[End] = set()
    for wire in wires(layout):
        lower, upper = (wire.lower, wire.lower_port), (wire.upper, wire.upper_port)
        if lower not in told and found.get(lower) != upper:
            difference, ends = _judge(lower, upper, found, meant)
            made.append(difference)
            told |= ends
    strangers = {frozenset((here, there)) for here, there in found.items() if here not in meant}
    for pair in sorted(sorted(pair) for pair in strangers):
        if told.isdisjoint(pair):
            cable = " to ".join(_words(end) for end in pair)
            made.append(CableDifference(cable, "it is not in the plan", "take it out, or plan it"))
    return tuple(made)


def _judge(
    lower: End, upper: End, found: Mapping[End, End], meant: Mapping[End, End]
) -> tuple[CableDifference, set[End]]:
    """What became of one cable, and the lower ends that this tells about."""
    cable = f"{_words(lower)} to {_words(upper)}"
    actual = found.get(lower)
    if actual is None:
        taken = found.get(upper)
        where = f"; {_words(upper)} holds {_words(taken)}" if taken else ""
        fix = "plug the cable in, or replace it"
        return CableDifference(cable, f"there is no link{where}", fix), {lower}
    owner = meant.get(actual)
    if owner is not None and found.get(owner) == upper:
        message = f"it is swapped with {_words(owner)} to {_words(actual)}"
        fix = f"swap the cables in {_words(actual)} and {_words(upper)}"
        return CableDifference(cable, message, fix), {lower, owner}
    fix = _step(actual, upper) or f"move it to {_words(upper)}"
    return CableDifference(cable, f"it is in {_words(actual)}", fix), {lower}


def _step(actual: End, meant: End) -> str | None:
    """How to move a cable to the next port of the same switch."""
    if actual[0] != meant[0] or abs(meant[1] - actual[1]) != 1:
        return None
    return f"move it one port {'up' if meant[1] > actual[1] else 'down'}, to port {meant[1]}"


def _words(end: End) -> str:
    return f"{end[0]} port {end[1]}"


def _both_ways(pairs: Iterable[tuple[End, End]]) -> dict[End, End]:
    made: dict[End, End] = {}
    for one, other in pairs:
        made[one], made[other] = other, one
    return made


def _named(layout: Layout, discovered: Mapping[End, End]) -> dict[End, End]:
    """The discovered ends by the plan's names; what it does not know keeps its description."""
    switches = {name for tier in layout.tiers for name in tier.names()}
    cache: dict[str, tuple[str, int | None]] = {}

    def rename(end: End) -> End:
        if end[0] not in cache:
            cache[end[0]] = _rename(layout, end[0], switches)
        name, interface = cache[end[0]]
        return name, interface or end[1]

    return {rename(here): rename(there) for here, there in discovered.items()}


def _rename(layout: Layout, text: str, switches: set[str]) -> tuple[str, int | None]:
    """A switch's name, or a host's with the number of its interface."""
    switch = _SWITCH.match(text)
    if switch and switch.group(1) in switches:
        return switch.group(1), None
    adapter = _ADAPTER.fullmatch(text)
    host = None if adapter is None else find_host(layout, adapter.group(1))
    if adapter is None or host is None:
        return text, None
    if adapter.group(2):
        return adapter.group(1), int(adapter.group(2))
    hosts = layout.hosts[host[0]]
    # The device of a port that is split has no name for each of its parts.
    if hosts.port is not None and hosts.parts == 1 and adapter.group(3) in hosts.port.names:
        interface = hosts.port.names.index(adapter.group(3)) + 1 - hosts.first_port
        if 1 <= interface <= (hosts.interfaces or 0):
            return adapter.group(1), interface
    return text, None
