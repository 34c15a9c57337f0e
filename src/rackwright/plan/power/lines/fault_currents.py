"""Fault currents: the largest short circuit that each source and each PDU may see.

A current is stated, or is that of a transformer on an infinite bus, and falls along the conductors
behind that. Everything else passes on what feeds it, a UPS by its static bypass too; what several may
feed has the largest of theirs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from rackwright.model.power import Conductors, PowerSource, SourceKind
from rackwright.plan.listing import first_of
from rackwright.plan.missing import Missing, each_once
from rackwright.plan.power.distribution import PowerTree
from rackwright.plan.power.lines.conductors import (
    Impedance,
    OfFeeds,
    limited_fault_current,
    transformer_fault_current,
    when_cold,
)
from rackwright.plan.records.power import FaultCurrent
from rackwright.plan.records.racks import RackClass

ORIGINS: tuple[SourceKind, ...] = ("utility", "generator", "transformer")
"""Kinds that make a fault current; they are judged where they state a rating."""

_MORE = "{} more numbers"
_NO_LINE = Impedance()


class _Fault(NamedTuple):
    """A short circuit at some place.

    Attributes:
        current: in A, at the origin.
        line: of the conductors from there.
    """

    current: float
    line: Impedance = _NO_LINE

    def at(self, voltage: float | None) -> float:
        """Return the fault current at a place, in A; unlimited if the voltage there is unknown."""
        if voltage is None or self.line == _NO_LINE:
            return self.current
        return limited_fault_current(self.current, voltage, self.line)

    def behind(self, conductors: Conductors | None) -> _Fault:
        if conductors is None:
            return self
        return _Fault(self.current, self.line.plus(when_cold(conductors)))


class _Place(NamedTuple):
    """The faults that may be at the output of a source, and what keeps others from being known."""

    faults: tuple[_Fault, ...] = ()
    missing: tuple[str, ...] = ()

    def behind(self, conductors: Conductors | None) -> _Place:
        """Return the same at the end of conductors."""
        return _Place(tuple(fault.behind(conductors) for fault in self.faults), self.missing)


def fault_currents(
    tree: PowerTree, classes: Iterable[RackClass], conductors: OfFeeds
) -> Iterator[FaultCurrent]:
    """Yield the fault currents at the sources that stand one, and at the PDUs of all racks."""
    voltages = nominal_voltages(tree)
    places: dict[str, _Place] = {}
    for name in reversed(tree.order):  # parents before children
        source = tree.sources.get(name)
        if source is not None:
            places[name] = _at(tree, source, places)
    for name, source in tree.sources.items():
        if source.kind in ORIGINS and source.short_circuit_rating is None:
            continue
        yield FaultCurrent(
            source=name,
            rack=None,
            feed=None,
            path=tree.place(name),
            product=None,
            current_a=_largest(places[name], voltages[name]),
            rating_a=source.short_circuit_rating,
            missing=places[name].missing,
        )
    for racks in classes:
        for feed, name, path in racks.feeds:
            if feed.pdu_entry is None:
                continue
            place = places[name].behind(conductors[racks, feed.feed])
            yield FaultCurrent(
                source=name,
                rack=racks,
                feed=feed.feed,
                path=path,
                product=feed.pdu_entry,
                current_a=_largest(place, feed.voltage_v),
                rating_a=feed.short_circuit_rating_a,
                missing=place.missing,
            )


def _largest(place: _Place, voltage: float | None) -> float | None:
    """Return the fault currents, in A; None where one is unknown."""
    if place.missing or not place.faults:
        return None
    return max(fault.at(voltage) for fault in place.faults)


def _at(tree: PowerTree, source: PowerSource, places: Mapping[str, _Place]) -> _Place:
    """Return the faults at the output of ``source``."""
    name = source.name
    if source.fault_current is not None:
        return _Place((_Fault(source.fault_current),))
    if source.kind == "transformer":
        if source.rating is None or source.impedance is None or source.voltage is None:
            lacks = [f for f in ("rating", "impedance", "voltage") if getattr(source, f) is None]
            words = [tree.unsaid(name, field) for field in lacks]
            return _Place(missing=tuple(words))
        made = transformer_fault_current(source.rating, source.voltage, source.impedance)
        return _Place((_Fault(made),))
    if not tree.parents[name]:
        if source.missing_parents:
            words = [Missing(f"what feeds '{name}'", tree.place(name, "fed_by"))]
        else:
            words = [Missing(f"'fault_current' of '{name}'", tree.place(name, "fault_current"))]
        return _Place(missing=tuple(words))
    above = [places[parent] for parent in tree.parents[name]]
    if len(above) == 1 and source.conductors is None and not source.missing_parents:
        return _Place(above[0].faults, first_of(above[0].missing, _MORE))
    missing: Iterable[str] = each_once(text for place in above for text in place.missing)
    if source.missing_parents:
        missing = (*missing, Missing(f"what feeds '{name}'", tree.place(name, "fed_by")))
    faults = dict.fromkeys(
        fault.behind(source.conductors) for place in above for fault in place.faults
    )
    return _Place(_worst(faults), first_of(list(missing), _MORE))


def _worst(faults: Iterable[_Fault]) -> tuple[_Fault, ...]:
    """Return those that no other one exceeds at every voltage."""
    every = list(faults)
    return tuple(
        one
        for one in every
        if not any(
            other is not one
            and other.current >= one.current
            and other.line.resistance <= one.line.resistance
            and other.line.reactance <= one.line.reactance
            for other in every
        )
    )


def nominal_voltages(tree: PowerTree) -> Mapping[str, float | None]:
    """Return the voltage in V, line to line, at the output of each source; None if unknown."""
    found: dict[str, float | None] = {}
    for name in reversed(tree.order):  # parents before children
        source = tree.sources.get(name)
        if source is None:
            continue
        stated = source.circuit.voltage if source.circuit else source.voltage
        if stated is None and source.kind != "transformer":
            above = {found[parent] for parent in tree.parents[name]}
            stated = above.pop() if len(above) == 1 else None
        found[name] = stated
    return found
