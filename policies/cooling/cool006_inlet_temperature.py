"""COOL-006: the air at the inlets suits the devices and the hall's ASHRAE class."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Literal

from rackwright.model.onprem import ASHRAE_ALLOWABLE, ASHRAE_RECOMMENDED
from rackwright.plan.model import Plan, SitePlan, Subject
from rackwright.plan.tables import rows_of, to_path
from rackwright.policy.api import Finding, Measure, Policy, Severity


class InletTemperature(Policy):
    """The design inlet temperature lies in the range of every device and of the ASHRAE class."""

    id: ClassVar[str] = "COOL-006"
    title: ClassVar[str] = "Inlet temperature suits devices and ASHRAE class"
    severity: ClassVar[Severity] = Severity.HIGH
    since: ClassVar[str] = "0.1"
    family: ClassVar[str] = "cooling"

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Measures against both ends of each range, for each hall with air handlers."""
        for site in plan.onprem:
            for row in rows_of(site.halls):
                if row["inlet_c"] is not None:
                    yield from _hall(site, row)


def _hall(site: SitePlan, row: dict[str, Any]) -> Iterator[Measure]:
    name, path = f"{site.site.name} hall {row['hall']}", (*to_path(row["path"]), "air")
    inlet, ashrae = row["inlet_c"], row["ashrae_class"]
    at = Subject(name, path)
    ranges = (
        (f"allowable of {ashrae}", ASHRAE_ALLOWABLE[ashrae], False),
        (f"recommended of {ashrae}", ASHRAE_RECOMMENDED[ashrae], True),
    )
    for words, (low, high), advisory in ranges:
        yield _measure(at, inlet, high, "at_most", f"inlet temperature ({words})", advisory)
        yield _measure(at, inlet, low, "at_least", f"inlet temperature ({words})", advisory)
    for device in _air_cooled(site, row["hall"]):
        entry = device["entry"]
        where = Subject(f"{name} {entry}", path)
        what = f"inlet temperature of {entry}"
        yield _measure(where, inlet, device["inlet_max_c"], "at_most", what)
        yield _measure(where, inlet, device["inlet_min_c"], "at_least", what)


def _air_cooled(site: SitePlan, hall: str) -> Iterator[dict[str, Any]]:
    """The products of a hall that give heat to the air, each once."""
    seen = set()
    for rack in rows_of(site.rack_classes):
        for device in site.devices_of(rack["rack_class"]) if rack["hall"] == hall else ():
            cooled = device["kind"] in {"node", "switch"} and device["heat_air_w"] != 0
            if cooled and device["entry"] not in seen:
                seen.add(device["entry"])
                yield device


def _measure(
    at: Subject,
    value: float,
    limit: float | None,
    sense: Literal["at_most", "at_least"],
    what: str,
    advisory: bool = False,  # noqa: FBT001, FBT002 - the last of equal steps
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
        missing=(f"{at.name.split()[-1]}: {end} inlet",) if limit is None else (),
        advisory=advisory,
    )
