"""COOL-014: the pumps of a loop give the pressure that its piping and racks need, with one CDU lost."""

from __future__ import annotations

from collections.abc import Iterator

from rackwright.api import (
    Finding,
    Measure,
    Missing,
    Plan,
    Policy,
    Profile,
    RackDevice,
    Severity,
    SitePlan,
    Subject,
    rule,
)
from rackwright.model.quantities import format_quantity
from rackwright.plan.missing import of_product
from rackwright.plan.racks.heat_unknowns import missing_of_door_drop, missing_of_loop
from rackwright.plan.records.facility import LoopLoad
from rackwright.policy.helpers.racks import is_over


@rule(
    "COOL-014",
    "Pumps give each rack its flow with one CDU lost",
    Severity.HIGH,
    since="0.3",
    stage="design",
    profile=Profile.PILOT,
)
class PumpHead(Policy):
    """The pressure drop of a loop at the flow of its racks is no more than its pumps give then."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield a measure for each loop that carries heat."""
        for site in plan.onprem:
            for row in site.cooling.loops:
                if row.heat_w != 0 and not row.in_rack:
                    yield _loop(site, row)


def _loop(site: SitePlan, row: LoopLoad) -> Measure:
    piping, rack, limit = row.piping_drop_kpa, row.rack_drop_kpa, row.head_n1_kpa
    value = None if piping is None or rack is None else piping + rack
    flow = "" if row.flow_lpm is None else f" at {format_quantity(row.flow_lpm, 'L/min')}"
    fix = None
    if is_over(value, limit):
        fix = "add CDUs, lay larger pipes, or raise 'temperature_rise'"
    return Measure(
        Subject(f"{site.name} loop {row.loop}", row.path),
        value=value,
        limit=limit,
        unit="kPa",
        what=f"pressure drop to the furthest rack{flow}, one CDU lost,",
        fix=fix,
        missing=tuple(_missing(site, row)),
    )


def _missing(site: SitePlan, row: LoopLoad) -> Iterator[str]:
    yield from missing_of_loop(site, row)
    if row.piping_drop_kpa is None:
        stated = {"pressure_drop": row.stated_drop_kpa, "flow_limit": row.flow_limit_lpm or None}
        for field, value in stated.items():
            if value is None:
                yield Missing(f"'{field}' of the loop '{row.loop}'", (*row.path, field))
    if row.rack_drop_kpa is None:
        yield from _racks(site, row.loop)
    if row.head_n1_kpa is None:
        for field, value, words in (
            ("head", row.cdu_head_kpa, "pressure of its pumps at its flow"),
            ("shutoff_head", row.cdu_shutoff_head_kpa, "pressure of its pumps at no flow"),
            ("flow", row.cdu_flow_lpm, "published flow"),
        ):
            if value is None and (field != "shutoff_head" or row.cdu_head_kpa is not None):
                yield of_product(row.cdu, field, words)


def _racks(site: SitePlan, loop: str) -> Iterator[str]:
    """Yield the facts that racks on a loop lack for their pressure drop."""
    found: dict[str, None] = {}
    for racks in site.racks:
        if racks.kind.loop == loop and racks.kind.device_drop_kpa is None:
            for device in racks.kind.devices:
                found |= dict.fromkeys(_device(device))
        if racks.kind.door_loop == loop:
            found |= dict.fromkeys(missing_of_door_drop(site, racks))
    yield from found


def _device(device: RackDevice) -> Iterator[str]:
    if device.heat_liquid_w == 0:
        return
    if device.pressure_drop_kpa is None:
        yield of_product(device.entry, "liquid.pressure_drop", "published pressure drop")
    if not device.flow_lpm:
        yield of_product(device.entry, "liquid.flow", "published coolant flow")
