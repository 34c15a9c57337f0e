"""Voltage zones: what is joined without a transformer has one nominal voltage."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

from rackwright.plan.power.distribution import PowerTree
from rackwright.plan.records.power import VoltageZone
from rackwright.plan.records.racks import RackClass

_Stated = tuple[float, bool, str]
"""A voltage in V, True if it may be from line to neutral, and words for what states it."""


def voltage_zones(tree: PowerTree, classes: Iterable[RackClass]) -> Iterator[VoltageZone]:
    """Yield each zone with the highest and the lowest voltage that its sources and feeds state.

    A zone without racks of which none is stated has no record.
    """
    zones = _zones(tree)
    stated: dict[str, list[_Stated]] = {zone: [] for zone in zones.values()}
    asked = set()
    for name, source in tree.sources.items():
        circuit = source.circuit
        volts = circuit.voltage if circuit is not None else source.voltage
        if volts is not None:
            single = circuit is not None and circuit.phases == 1
            stated[zones[name]].append((volts, single, f"'{name}'"))
    for racks in classes:
        for feed, source_name, _ in racks.feeds:
            if source_name not in zones:
                continue
            asked.add(zones[source_name])
            if feed.voltage_v is not None:
                words = f"feed {feed.feed} of the racks {racks.hostlist}"
                stated[zones[source_name]].append((feed.voltage_v, feed.phases == 1, words))
    for zone, found in stated.items():
        if not found and zone not in asked:
            continue  # the supply of a transformer, of which nothing is stated that could differ
        lines = sorted(_to_lines(found))
        yield VoltageZone(
            source=zone,
            path=tree.place(zone),
            highest_v=lines[-1][0] if lines else None,
            lowest_v=lines[0][0] if lines else None,
            highest=lines[-1][1] if lines else "",
            lowest=lines[0][1] if lines else "",
        )


def _zones(tree: PowerTree) -> dict[str, str]:
    """Return the source at the top of the zone of each source; of several the first by name."""
    first = {name: name for name in tree.sources}

    def root(name: str) -> str:
        while first[name] != name:
            first[name] = first[first[name]]
            name = first[name]
        return name

    order = {
        name: (source.kind != "transformer" and bool(tree.parents[name]), name)
        for name, source in tree.sources.items()
    }
    for name, source in tree.sources.items():
        if source.kind == "transformer":
            continue
        for parent in tree.parents[name]:
            one, other = sorted((root(name), root(parent)), key=order.__getitem__)
            first[other] = one
    return {name: root(name) for name in tree.sources}


def _to_lines(stated: Iterable[_Stated]) -> Iterator[tuple[float, str]]:
    """Yield each voltage line to line; one of a single phase is read as what is closer to the others."""
    found = list(stated)
    known = sorted(volts for volts, single, _ in found if not single)
    for volts, single, words in found:
        ways = (volts, volts * math.sqrt(3)) if single and known else (volts,)
        yield min(ways, key=lambda way: abs(math.log(way / known[0])) if known else 0.0), words
