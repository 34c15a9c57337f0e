"""Result of a subnet manager's run: routing engine, and balance of the routes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping

from rackwright.plan.fabric.cables import wires
from rackwright.plan.fabric.layout import Layout

_LOADED = re.compile(r"(\S+) tables configured on all switches")
_COMPLAINT = re.compile(r"ERR (AB[0-9A-F]{2}): (.*)")
_TABLE = re.compile(r"Unicast lids .* of switch .* \('(.+)'\):")
_ROUTE = re.compile(r"0x[0-9a-f]+ (\d+) +# Channel Adapter ")


def loaded_engine(log: str) -> str | None:
    """Return the engine whose tables opensm loaded last, read from its log; None when it loaded none.

    The exit code does not tell: opensm ends with 0 when it fell back to another engine.
    """
    found = _LOADED.findall(log)
    return str(found[-1]) if found else None


def complaints(log: str) -> tuple[str, ...]:
    """Return the complaints of the fat-tree engine about the fabric, each once."""
    return tuple(dict.fromkeys(f"{code}: {text.strip()}" for code, text in _COMPLAINT.findall(log)))


def destinations(lines: Iterable[str]) -> dict[str, Counter[int]]:
    """Return hosts' ports that each port of each switch leads to, read from a dump of the tables."""
    found: dict[str, Counter[int]] = {}
    switch: Counter[int] = Counter()
    for line in lines:
        if table := _TABLE.match(line):
            switch = found.setdefault(table.group(1), Counter())
        elif route := _ROUTE.match(line):
            switch[int(route.group(1))] += 1
    return found


def balance(layout: Layout, routes: Mapping[str, Counter[int]]) -> float | None:
    """Return the most destinations on one link between switches over the mean of the links of its kind.

    Links of one kind join the same two tiers in the same direction. None for a fabric without
    links between switches, or when a switch has no table.
    """
    tier_of = {name: index for index, tier in enumerate(layout.tiers) for name in tier.names()}
    loads: dict[tuple[int, int], list[int]] = {}
    for wire in wires(layout):
        if wire.lower not in tier_of:
            continue
        for here, port, there in (
            (wire.lower, wire.lower_port, wire.upper),
            (wire.upper, wire.upper_port, wire.lower),
        ):
            if here not in routes:
                return None
            kind = (tier_of[here], tier_of[there])
            loads.setdefault(kind, []).append(routes[here][port])
    ratios = [max(found) * len(found) / sum(found) for found in loads.values() if sum(found)]
    return max(ratios, default=None)
