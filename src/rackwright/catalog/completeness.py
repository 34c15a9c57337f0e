"""Completeness of products: the facts that rules need of each kind before a hall has a verdict."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from rackwright.model.connections import Cable, Connector
from rackwright.model.hardware import (
    Confidence,
    Device,
    Entry,
    HeatMedium,
    Node,
    Pdu,
    PowerShelf,
    fact_value,
    supply_inlet,
)
from rackwright.model.instances import Instance
from rackwright.model.plant import (
    AirHandler,
    Cdu,
    Chiller,
    DryCooler,
    Generator,
    RearDoor,
    Transformer,
    Ups,
)
from rackwright.model.racks import RackType

_MOUNTED: Final = ("height", "depth", "weight", "max_power", "inlet_min", "inlet_max")
_SUPPLIES: Final = ("power_supplies.count", "power_supplies.inlet")
_CORDS: Final = ("power_supplies.full_performance", "voltage_min", "voltage_max")
_PLATES: Final = ("liquid.heat", "liquid.flow", "liquid.pressure_drop", "liquid.connector")
_NEEDED: Final[Mapping[type[Entry], Sequence[str]]] = {
    Cdu: ("approach", "flow", "head"),
    Pdu: ("outlets", "branch_count", "branch_rating", "short_circuit_rating", "height", "weight"),
    PowerShelf: ("rating_n_plus_1", "height", "weight"),
    RackType: ("weight", "static_rating"),
    Ups: ("max_altitude", "overload", "recharge", "voltage_tolerance", "short_circuit_rating"),
    Transformer: ("max_altitude", "losses", "impedance", "voltage"),
    Generator: ("max_altitude", "max_ambient", "step_load", "consumption", "voltage_tolerance"),
    AirHandler: ("return_temperature", "airflow"),
    Chiller: ("supply_temperature", "outdoor_temperature", "restart"),
    DryCooler: ("supply_temperature", "outdoor_temperature"),
    RearDoor: ("capacity", "difference", "flow", "pressure_drop", "weight"),
    Cable: ("reach",),
    Connector: ("flow", "max_fluid", "max_pressure"),
}
_IN_RACK: Final = ("approach", "flow", "flow_pump_lost", "power", "height", "weight")


def needed(entry: Entry) -> tuple[str, ...]:
    """Return the dotted names of the facts that rules need of a product of this kind.

    A rack-scale product is fed by shelves and weighed with its rack; a product on a busbar has no cords;
    cold plates have a loop.
    """
    if isinstance(entry, Cdu) and entry.in_rack:
        return (*_IN_RACK, *_SUPPLIES, *_CORDS)
    if not isinstance(entry, Device):
        return tuple(_NEEDED.get(type(entry), ()))
    names = [name for name in _MOUNTED if name != "depth" or not _whole(entry)]
    names += _SUPPLIES
    if supply_inlet(entry.power_supplies) not in {"busbar", "hardwired"}:
        names += _CORDS
        if _loses_supplies(entry):
            names.append("power_supplies.degraded")
    if entry.medium in {HeatMedium.LIQUID, HeatMedium.HYBRID}:
        names += _PLATES
    if isinstance(entry, Node):
        names += ["airflow_direction", *(["peak_power"] if entry.accelerators else [])]
    return tuple(names)


def unanswered(entry: Entry) -> tuple[str, ...]:
    """Return the names of ``needed`` that an entry does not state."""
    return tuple(name for name in needed(entry) if not _states(entry, name))


def _loses_supplies(entry: Device) -> bool:
    """True if half of its supplies, on one of two feeds, may not be enough for full performance."""
    supplies = entry.power_supplies
    full = fact_value(supplies.full_performance) if supplies else None
    return supplies is None or full is None or 2 * full > supplies.count


def _whole(entry: Device) -> bool:
    return isinstance(entry, Node) and entry.whole_rack


def _states(entry: Entry, name: str) -> bool:
    """True if an entry states a fact; a condenser cooled by water stands in for one cooled by air."""
    if name == "outdoor_temperature" and isinstance(entry, Chiller) and entry.condenser_temperature:
        return True
    if name == "static_rating" and isinstance(entry, RackType) and entry.gross_rating:
        return True
    value: object = entry
    for part in name.split("."):
        value = getattr(value, part, None)
    return value is not None


@dataclass(frozen=True, slots=True)
class Coverage:
    """Products of one kind and the documents that their numbers were read in.

    Attributes:
        kind: its folder.
        products: number of products; specifications to buy by are not counted.
        complete: those that state all that rules need.
        numbers: their numbers, by confidence.
    """

    kind: str
    products: int
    complete: int
    numbers: Mapping[Confidence, int]

    @property
    def total(self) -> int:
        """Number of facts of the products."""
        return sum(self.numbers.values())

    def share(self, confidence: Confidence) -> float:
        """Return the share of facts of one confidence, in %; 0 where there are none."""
        return 100 * self.numbers.get(confidence, 0) / self.total if self.total else 0.0


def is_specification(entry: Entry) -> bool:
    """True if an entry says what a site must buy and is no product."""
    return entry.vendor == "Generic"


def coverage(kind: str, entries: Iterable[Entry]) -> Coverage:
    """Return how complete the products of one kind are. Instance types of a cloud have no plant."""
    bought = [e for e in entries if not is_specification(e) and not isinstance(e, Instance)]
    numbers = dict.fromkeys(Confidence, 0)
    for entry in bought:
        for _, fact in entry.facts():
            numbers[entry.sources[fact.source].confidence] += 1
    whole = sum(not unanswered(entry) for entry in bought)
    return Coverage(kind, len(bought), whole, numbers)
