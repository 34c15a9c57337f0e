"""Voltage drop: what conductors take of the voltage between what regulates it and each rack.

It begins at the output of a utility, generator, transformer or UPS, the last of them above the rack, and
adds up the conductors behind it, each with the worst load that its source has to carry. What several
may feed has the largest drop and the largest tolerance of theirs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from rackwright.model.power import REGULATING, Conductors, PowerSource
from rackwright.plan.base import Path
from rackwright.plan.missing import Missing, each_once
from rackwright.plan.power.distribution import PowerTree
from rackwright.plan.power.lines.conductors import OfFeeds, in_service, voltage_drop
from rackwright.plan.power.lines.fault_currents import nominal_voltages
from rackwright.plan.records.circuits import CircuitAfterLoss, CircuitLoad, FeedLoad
from rackwright.plan.records.power import SourceLoad, VoltageDrop
from rackwright.plan.records.racks import RackClass, RackKind


class _Supply(NamedTuple):
    """The voltage at the output of a source.

    Attributes:
        drop: from what regulates it, in %; None where unknown.
        tolerance: of what regulates it, in %; None where unknown.
        lacks: unknown facts about the drop.
        unsaid: unknown facts about the tolerance.
        loads: sources whose load on the way is unknown.
    """

    drop: float | None = 0.0
    tolerance: float | None = 0.0
    lacks: tuple[str, ...] = ()
    unsaid: tuple[str, ...] = ()
    loads: tuple[str, ...] = ()


def voltage_drops(
    tree: PowerTree,
    power_factor: float,
    sources: Sequence[SourceLoad],
    classes: Iterable[RackClass],
    conductors: OfFeeds,
) -> Iterator[VoltageDrop]:
    """Yield the drop to each feed of each class of racks.

    Args:
        tree: the sources.
        power_factor: of the load.
        sources: their records.
        classes: the racks.
        conductors: of the circuits of their feeds.
    """
    supplies = _supplies(tree, power_factor, {row.source: row for row in sources})
    loads: dict[RackKind, Mapping[str, float | None]] = {}
    for racks in classes:
        if racks.kind not in loads:
            loads[racks.kind] = _worst_loads(racks.kind)
        for feed, source, path in racks.feeds:
            above, load = supplies[source], loads[racks.kind].get(feed.feed)
            own, lacks = _own_drop(feed, path, conductors[racks, feed.feed], load, power_factor)
            drop = None if own is None or above.drop is None else own + above.drop
            lowest = highest = None
            if feed.outlet_voltage_v is not None and above.tolerance is not None:
                highest = feed.outlet_voltage_v * (1 + above.tolerance / 100)
                if drop is not None:
                    left = feed.outlet_voltage_v * (1 - above.tolerance / 100)
                    lowest = left * (1 - drop / 100)
            unsaid = (_circuit(path),) if feed.outlet_voltage_v is None else ()
            yield VoltageDrop(
                rack=racks,
                feed=feed.feed,
                path=path,
                drop_percent=drop,
                lowest_outlet_v=lowest,
                highest_outlet_v=highest,
                lacks=(*above.lacks, *lacks),
                lacks_tolerance=(*above.unsaid, *unsaid),
                unknown_loads=above.loads,
            )


def _own_drop(
    row: FeedLoad,
    path: Path,
    conductors: Conductors | None,
    load: float | None,
    power_factor: float,
) -> tuple[float | None, tuple[str, ...]]:
    """Return the drop in % along the circuits of a feed, and the unknown facts about it, except its load."""
    lacks = []
    if conductors is None:
        lacks.append(Missing("'conductors' of the feed", (*path, "conductors")))
    if row.voltage_v is None or row.phases is None:
        lacks.append(_circuit(path))
    if conductors is None or row.voltage_v is None or row.phases is None or load is None:
        return None, tuple(lacks)
    line = in_service(conductors)
    phases: Literal[1, 3] = 3 if row.phases == 3 else 1
    return voltage_drop(load, row.voltage_v, phases, power_factor, line), ()


def _circuit(feed: Path) -> Missing:
    return Missing("voltage of the circuit", (*feed, "circuit"), (*feed, "pdu"))


def _worst_loads(kind: RackKind) -> Mapping[str, float | None]:
    """Return the most W that the busiest line of a circuit of each feed implies; None if one is unknown."""
    found: dict[str, float | None] = {}
    circuits: tuple[CircuitLoad | CircuitAfterLoss, ...] = (*kind.circuits, *kind.losses)
    for circuit in circuits:
        so_far, implied = found.get(circuit.feed, 0.0), circuit.implied_w
        found[circuit.feed] = None if so_far is None or implied is None else max(so_far, implied)
    return found


def _supplies(
    tree: PowerTree, power_factor: float, rows: Mapping[str, SourceLoad]
) -> Mapping[str, _Supply]:
    voltages = nominal_voltages(tree)
    found: dict[str, _Supply] = {}
    for name in reversed(tree.order):  # parents before children
        source = tree.sources.get(name)
        if source is None:
            continue
        if source.kind in REGULATING:
            found[name] = _regulated(tree, source)
        else:
            above = [found[parent] for parent in tree.parents[name]]
            found[name] = _passed_on(tree, source, above, voltages[name], rows[name], power_factor)
    return found


def _regulated(tree: PowerTree, source: PowerSource) -> _Supply:
    if source.voltage_tolerance is not None:
        return _Supply(tolerance=source.voltage_tolerance)
    return _Supply(tolerance=None, unsaid=(tree.unsaid(source.name, "voltage_tolerance"),))


def _passed_on(
    tree: PowerTree,
    source: PowerSource,
    above: Sequence[_Supply],
    voltage: float | None,
    row: SourceLoad,
    power_factor: float,
) -> _Supply:
    """Return the rest of the voltage at the output of a source that regulates nothing."""
    name = source.name
    load = row.facility_worst_w if source.redundancy == "N-1" else row.facility_w
    lacks = [text for supply in above for text in supply.lacks]
    unsaid = [text for supply in above for text in supply.unsaid]
    if source.missing_parents:
        feeder = Missing(f"what feeds '{name}'", tree.place(name, "fed_by"))
        lacks.append(feeder)
        unsaid.append(feeder)
    if source.conductors is None:
        lacks.append(Missing(f"'conductors' of '{name}'", tree.place(name, "conductors")))
    if voltage is None:
        lacks.append(Missing(f"'voltage' of '{name}'", tree.place(name, "voltage")))
    drop = None
    drops = [supply.drop for supply in above if supply.drop is not None]
    if source.conductors is not None and voltage is not None and load is not None:
        phases = source.circuit.phases if source.circuit else 3
        own = voltage_drop(load, voltage, phases, power_factor, in_service(source.conductors))
        drop = max(drops, default=0.0) + own
    tolerances = [supply.tolerance for supply in above if supply.tolerance is not None]
    known = len(drops) == len(above) and not source.missing_parents
    sure = len(tolerances) == len(above) and not source.missing_parents
    loads = [text for supply in above for text in supply.loads]
    return _Supply(
        drop=drop if known else None,
        tolerance=max(tolerances, default=0.0) if sure else None,
        lacks=each_once(lacks),
        unsaid=each_once(unsaid),
        loads=tuple(dict.fromkeys([*loads, *([name] if load is None else [])])),
    )
