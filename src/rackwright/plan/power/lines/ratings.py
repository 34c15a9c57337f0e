"""Conductors with what protects them: ampacity, least fault current and the breaker above.

The least fault current at the end of a circuit is that of one line to the protective conductor, taken
as large as the line: 0.95·U/√3 over the impedance of the source and twice that of the line in service,
added as if their angles were equal, so that it is never taken too high (IEC 60364-4-41, annex).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypedDict

from rackwright.model.power import Conductors, PowerSource, SiteCabling, SitePower
from rackwright.plan.base import Path
from rackwright.plan.missing import Missing
from rackwright.plan.power.distribution import PowerTree
from rackwright.plan.power.lines.ampacity import FREEST, ampacity, highest_ampacity
from rackwright.plan.power.lines.conductors import OfFeeds, in_service, transformer_fault_current
from rackwright.plan.power.lines.fault_currents import nominal_voltages
from rackwright.plan.records.power import LineRating, SourceLoad
from rackwright.plan.records.racks import RackClass

LOWEST_VOLTAGE = 0.95
"""Share of the nominal voltage that drives the least fault current."""


class _Origin(NamedTuple):
    """A supply of faults as seen from a place.

    Attributes:
        current: at the origin, in A.
        ohms: of one line from there, in service, in Ω.
    """

    current: float
    ohms: float = 0.0


def line_ratings(
    power: SitePower,
    path: Path,
    tree: PowerTree,
    sources: Sequence[SourceLoad],
    classes: Iterable[RackClass],
    conductors: OfFeeds,
) -> Iterator[LineRating]:
    """Yield the record of each source with conductors, then of each feed with them.

    Args:
        power: what the site states of its power.
        path: place of the site in the blueprint.
        tree: the sources.
        sources: their records.
        classes: the racks.
        conductors: those of the circuits of their feeds.
    """
    voltages = nominal_voltages(tree)
    origins = _origins(tree)
    cabling = Missing("'cabling' of the site's power", (*path, "power", "cabling"))
    rows = {row.source: row for row in sources}
    for name, source in tree.sources.items():
        if source.conductors is None:
            continue
        breaker, lacks = _carried(source, rows[name], voltages[name], tree, power.power_factor)
        place = tree.place(name, "conductors")
        fault, missing_fault = _least(origins[name], None, voltages[name], tree, name)
        yield LineRating(
            source=name,
            rack=None,
            feed=None,
            path=tree.place(name),
            **_laid(source.conductors),
            breaker_a=breaker,
            **_rated(source.conductors, power.cabling),
            fault_a=fault,
            above_a=_above(tree, tree.parents[name]),
            missing=(*lacks, *_unrated(source.conductors, power.cabling, cabling, place)),
            missing_fault=(*lacks, *missing_fault),
        )
    for racks in classes:
        for feed, name, where in racks.feeds:
            line = conductors[racks, feed.feed]
            if line is None:
                continue
            breaker = feed.circuit_current_a
            circuit = Missing("'circuit' of the feed", (*where, "circuit"))
            unknown: tuple[str, ...] = () if breaker is not None else (circuit,)
            fault, missing_fault = _least(origins[name], line, feed.voltage_v, tree, name)
            yield LineRating(
                source=name,
                rack=racks,
                feed=feed.feed,
                path=where,
                **_laid(line),
                breaker_a=breaker,
                **_rated(line, power.cabling),
                fault_a=fault,
                above_a=_above(tree, (name,)),
                missing=(*unknown, *_unrated(line, power.cabling, cabling, (*where, "conductors"))),
                missing_fault=(*unknown, *missing_fault),
            )


class _Laid(TypedDict):
    """Fields of a record that the blueprint states of conductors."""

    line: str
    material: str | None
    cross_section_mm2: float | None
    parallel: int


def _laid(conductors: Conductors) -> _Laid:
    each = "busbars"
    if conductors.cross_section is not None:
        each = f"{conductors.cross_section:g} mm² of {conductors.material}"
    return {
        "line": each if conductors.parallel == 1 else f"{conductors.parallel} × {each}",
        "material": conductors.material,
        "cross_section_mm2": conductors.cross_section,
        "parallel": conductors.parallel,
    }


def _rated(conductors: Conductors, cabling: SiteCabling | None) -> dict[str, float | None]:
    """Return the ampacity of a line as fields of its record: the stated one, or that of the tables.

    A statement counts as far as any way of laying the line could make it true.
    """
    highest = highest_ampacity(conductors)
    if conductors.ampacity is not None:
        stated = min(conductors.ampacity, math.inf if highest is None else FREEST * highest)
        return {"carries_a": stated, "protects_a": stated, "highest_a": highest}
    found = None if cabling is None else ampacity(conductors, cabling)
    if found is None:
        return {"carries_a": None, "protects_a": None, "highest_a": highest}
    return {"carries_a": found.carried, "protects_a": found.protects, "highest_a": highest}


def _unrated(
    conductors: Conductors, cabling: SiteCabling | None, unsaid: Missing, place: Path
) -> tuple[str, ...]:
    """Return the fact that would make the ampacity of a line known; nothing where it is."""
    if _rated(conductors, cabling)["carries_a"] is not None:
        return ()
    if conductors.cross_section is not None and cabling is None:
        return (unsaid,)
    return (Missing("'ampacity' of the conductors", (*place, "ampacity")),)


def _carried(
    source: PowerSource,
    row: SourceLoad,
    voltage: float | None,
    tree: PowerTree,
    power_factor: float,
) -> tuple[float | None, tuple[str, ...]]:
    """Return the current that the conductors to a source may have to carry, in A."""
    if source.circuit is not None:
        return source.circuit.current, ()
    if row.capacity_w is None:
        return None, (tree.unsaid(source.name, "capacity"),)
    if voltage is None:
        return None, (tree.unsaid(source.name, "voltage"),)
    return row.capacity_w / (math.sqrt(3) * voltage * power_factor), ()


def _above(tree: PowerTree, parents: Iterable[str]) -> float | None:
    """Return the smallest rating of the nearest circuits among some sources and those above them."""
    found = []
    for name in parents:
        circuit = tree.sources[name].circuit
        above = circuit.current if circuit else _above(tree, tree.parents[name])
        if above is not None:
            found.append(above)
    return min(found, default=None)


def _origins(tree: PowerTree) -> Mapping[str, tuple[_Origin, ...] | None]:
    """Return what may feed a fault at each source; None where some of it is unknown."""
    found: dict[str, tuple[_Origin, ...] | None] = {}
    for name in reversed(tree.order):  # parents before children
        source = tree.sources.get(name)
        if source is not None:
            found[name] = _origin(tree, source, found)
    return found


def _origin(
    tree: PowerTree, source: PowerSource, found: Mapping[str, tuple[_Origin, ...] | None]
) -> tuple[_Origin, ...] | None:
    if source.fault_current is not None:
        return (_Origin(source.fault_current),)
    if source.kind == "transformer":
        if source.rating is None or source.impedance is None or source.voltage is None:
            return None
        made = transformer_fault_current(source.rating, source.voltage, source.impedance)
        return (_Origin(made),)
    ohms = 0.0 if source.conductors is None else _ohms(source.conductors)
    every: list[_Origin] = []
    for parent in tree.parents[source.name]:
        above = found[parent]
        if above is None:
            return None
        every += [_Origin(one.current, one.ohms + ohms) for one in above]
    return tuple(dict.fromkeys(every)) or None


def _ohms(conductors: Conductors) -> float:
    return math.hypot(*in_service(conductors))


def _least(
    origins: tuple[_Origin, ...] | None,
    line: Conductors | None,
    voltage: float | None,
    tree: PowerTree,
    source: str,
) -> tuple[float | None, tuple[str, ...]]:
    """Return the least fault current at the end of a line in A, and what keeps it from being known."""
    if origins is None:
        return None, (tree.unsaid(source, "fault_current"),)
    if voltage is None:
        return None, () if line is not None else (tree.unsaid(source, "voltage"),)
    own = 0.0 if line is None else _ohms(line)
    return min(least_fault_current(one.current, voltage, one.ohms + own) for one in origins), ()


def least_fault_current(current: float, voltage: float, ohms: float) -> float:
    """Return the least current of a fault of one line at the end of a circuit, in A.

    Args:
        current: of a short circuit of three phases at the origin, in A.
        voltage: line to line, in V.
        ohms: of one line from the origin to the fault, in service, in Ω; the return is as large.
    """
    before = voltage / (math.sqrt(3) * current)
    return LOWEST_VOLTAGE * voltage / math.sqrt(3) / (before + 2 * ohms)
