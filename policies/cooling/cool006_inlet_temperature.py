"""COOL-006: the air at the inlets suits the devices and the hall's ASHRAE class."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from rackwright.api import (
    Finding,
    Measure,
    Missing,
    Plan,
    Policy,
    RackDevice,
    Severity,
    SitePlan,
    Subject,
    Suggestion,
    rule,
)
from rackwright.model.cooling import AirClass
from rackwright.model.onprem import ASHRAE_ALLOWABLE, ASHRAE_RECOMMENDED
from rackwright.plan.missing import of_product
from rackwright.plan.records.facility import HallLoad


@rule(
    "COOL-006",
    "Inlet temperature suits devices and ASHRAE class",
    Severity.HIGH,
    since="0.1",
    stage="concept",
)
class InletTemperature(Policy):
    """The design inlet temperature lies in the range of every device and of the ASHRAE class."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield measures against both ends of each range, for each hall with air handlers."""
        for site in plan.onprem:
            for row in site.cooling.halls:
                if row.inlet_c is not None and row.ashrae_class is not None:
                    yield from _hall(site, row, row.inlet_c, row.ashrae_class)


def _hall(site: SitePlan, row: HallLoad, inlet: float, ashrae: AirClass) -> Iterator[Measure]:
    name, path = f"{site.name} hall {row.hall}", (*row.path, "air")
    at = Subject(name, path)
    ranges = (
        (f"allowable of {ashrae}", ASHRAE_ALLOWABLE[ashrae], False),
        (f"recommended of {ashrae}", ASHRAE_RECOMMENDED[ashrae], True),
    )
    bounds: list[tuple[float | None, float | None]] = [
        (low, high) for _, (low, high), advisory in ranges if not advisory
    ]
    bounds += [(d.inlet_min_c, d.inlet_max_c) for d in _air_cooled(site, row.hall)]
    fixed = _fixed(inlet, bounds)
    suggest = None
    if fixed is not None:
        suggest = Suggestion((*path, "inlet_temperature"), f"{fixed:g} °C")
    for words, (low, high), advisory in ranges:
        what, given = f"inlet temperature ({words})", None if advisory else suggest
        yield _measure(at, inlet, high, "at_most", what, given, advisory=advisory)
        yield _measure(at, inlet, low, "at_least", what, given, advisory=advisory)
    for device in _air_cooled(site, row.hall):
        entry = device.entry
        where = Subject(f"{name} {entry}", path)
        what = f"inlet temperature of {entry}"
        yield _measure(where, inlet, device.inlet_max_c, "at_most", what, suggest)
        yield _measure(where, inlet, device.inlet_min_c, "at_least", what, suggest)


def _fixed(inlet: float, bounds: Sequence[tuple[float | None, float | None]]) -> float | None:
    """Return the nearest inlet temperature inside all ``bounds``; None where there is none."""
    low = max((low for low, _ in bounds if low is not None), default=inlet)
    high = min((high for _, high in bounds if high is not None), default=inlet)
    return None if low > high else min(max(inlet, low), high)


def _air_cooled(site: SitePlan, hall: str) -> Iterator[RackDevice]:
    """Yield the products of a hall that give heat to the air, each once."""
    seen = set()
    for rack in site.racks:
        for device in rack.kind.devices if rack.hall == hall else ():
            cooled = device.kind in {"node", "switch"} and device.heat_air_w != 0
            if cooled and device.entry not in seen:
                seen.add(device.entry)
                yield device


def _measure(
    at: Subject,
    value: float,
    limit: float | None,
    sense: Literal["at_most", "at_least"],
    what: str,
    suggest: Suggestion | None,
    *,
    advisory: bool = False,
) -> Measure:
    end = "warmest" if sense == "at_most" else "coldest"
    verb = "lower" if sense == "at_most" else "raise"
    return Measure(
        at,
        value=value,
        limit=limit,
        unit="°C",
        what=f"{what}, {end}",
        sense=sense,
        fix=None if limit is None else f"{verb} 'inlet_temperature' to {limit:g} °C",
        missing=(_bound(at.name.split()[-1], end),) if limit is None else (),
        advisory=advisory,
        suggest=suggest,
    )


def _bound(entry: str, end: str) -> Missing:
    name = "inlet_max" if end == "warmest" else "inlet_min"
    return of_product(entry, name, f"{end} inlet")
