"""Twenty of Rackwright's rules in pulumi-policy's form; the resources are the rows of ``export``.

A rack is one resource that carries its feeds and nodes; sources, rows, halls and sites are others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from pulumi_policy import (
    EnforcementLevel,
    PolicyPack,
    ReportViolation,
    ResourceValidationArgs,
    ResourceValidationPolicy,
)

Rule = Callable[[Any], Iterator[str]]

WITHOUT_SUPPLIES = ("hardwired", "busbar")


def over(value: float | None, limit: float | None) -> bool:
    """Beyond the rounding of floating point: a value at its limit passes, as in Rackwright."""
    if value is None or limit is None or value <= limit:
        return False
    return value - limit > 1e-9 * max(abs(value), abs(limit))


def outside(value: float | None, low: float | None, high: float | None) -> bool:
    return over(value, high) or over(low, value)


def rack_of(rack: Any) -> str:
    return f"{rack['site']} rack {rack['rack']}"


def circuits_of(rack: Any) -> Iterator[tuple[str, Any]]:
    """Every circuit with the name of its feed."""
    for feed in rack["feeds"]:
        for circuit in feed["circuits"]:
            yield f"{rack_of(rack)} feed {feed['feed']}", circuit


def pdu_of(feed: str, circuit: Any) -> str:
    return f"{feed} PDU {int(circuit['pdu']) + 1}"


def circuit_loads(rack: Any) -> Iterator[str]:
    for feed, circuit in circuits_of(rack):
        if over(circuit["implied_w"], circuit["usable_w"]):
            yield feed


def loads_after_loss(rack: Any) -> Iterator[str]:
    for feed, circuit in circuits_of(rack):
        if any(over(loss["implied_w"], loss["usable_w"]) for loss in circuit["losses"]):
            yield feed


def living_supplies(rack: Any) -> Iterator[str]:
    for device in rack["nodes"]:
        short = any(over(loss["needed_full"], loss["alive"]) for loss in device["losses"])
        if short and device["psu_inlet"] not in WITHOUT_SUPPLIES:
            yield f"{rack_of(rack)} {device['entry']} {device['group']}"


def feed_breakers(rack: Any) -> Iterator[str]:
    for feed in rack["feeds"]:
        if over(feed["circuit_current_a"], feed["current_a"]):
            yield f"{rack_of(rack)} feed {feed['feed']}"


def outlet_currents(rack: Any) -> Iterator[str]:
    derate = rack["derate"]
    for feed, circuit in circuits_of(rack):
        parts = [key for key in ("c13", "c19") if circuit[f"{key}_used"]]
        if circuit["branches"] is not None:
            parts.append("branch")
        for key in parts:
            rating = circuit[f"{key}_rating_a"]
            if rating is not None and over(circuit[f"{key}_worst_a"], rating * derate):
                yield pdu_of(feed, circuit)


def breakers_and_cords(rack: Any) -> Iterator[str]:
    yield from feed_breakers(rack)
    yield from outlet_currents(rack)


def phase_imbalance(source: Any) -> Iterator[str]:
    load, capacity, deviation = (source[f"{key}_w"] for key in ("load", "capacity", "deviation"))
    if None in (load, capacity, deviation) or not over(load, 0.25 * capacity):
        return
    if over(300 * deviation / capacity, 10):
        yield f"{source['site']} source {source['source']}"


def source_budgets(source: Any) -> Iterator[str]:
    value = source["worst_w"] if source["redundancy"] == "N-1" else source["load_w"]
    if over(value, source["capacity_w"]):
        yield f"{source['site']} source {source['source']}"


def row_budgets(row: Any) -> Iterator[str]:
    if over(row["power_w"], row["power_limit_w"]):
        yield f"{row['site']} row {row['row']}"


def hall_budgets(hall: Any) -> Iterator[str]:
    if over(hall["power_w"], hall["power_limit_w"]):
        yield f"{hall['site']} hall {hall['hall']}"


def contract(site: Any) -> Iterator[str]:
    if over(site["it_power_w"], site["contract_w"]):
        yield f"{site['site']} contract"


def outlets(rack: Any) -> Iterator[str]:
    for feed, circuit in circuits_of(rack):
        if any(over(circuit[f"{key}_used"], circuit[f"{key}_available"]) for key in ("c13", "c19")):
            yield pdu_of(feed, circuit)


def headroom(rack: Any) -> Iterator[str]:
    for feed, circuit in circuits_of(rack):
        for state in (circuit, *circuit["losses"]):
            load, usable = state["implied_w"], state["usable_w"]
            if load is not None and usable and over(100 * load / usable, 90):
                yield feed


def capping(site: Any) -> Iterator[str]:
    if site["oversubscription"] > 1 and not site["capping"]:
        yield f"{site['site']} power"


def outlet_voltage(rack: Any) -> Iterator[str]:
    for feed in rack["feeds"]:
        if over(feed["voltage_v"], feed["pdu_voltage_v"]):
            yield f"{rack_of(rack)} feed {feed['feed']}"
    volts = [feed["outlet_voltage_v"] for feed in rack["feeds"] if feed["pdu_entry"] is not None]
    for device in rack["nodes"]:
        if device["psu_inlet"] in WITHOUT_SUPPLIES:
            continue
        if any(outside(v, device["voltage_min_v"], device["voltage_max_v"]) for v in volts):
            yield f"{rack_of(rack)} {device['entry']}"


def devices_fit(rack: Any) -> Iterator[str]:
    if over(rack["used_u"], rack["height_u"]):
        yield rack_of(rack)
    for device in rack["nodes"]:
        if not device["fits"] and device["height_u"]:
            yield f"{rack_of(rack)} {device['entry']}"


def density(rack: Any) -> Iterator[str]:
    if over(rack["power_w"], rack["power_limit_w"]):
        yield rack_of(rack)


def static_weight(rack: Any) -> Iterator[str]:
    if any(
        over(rack["content_kg"], rack[f"{rating}_rating_kg"]) for rating in ("static", "dynamic")
    ):
        yield rack_of(rack)


def floor_load(rack: Any) -> Iterator[str]:
    weight, footprint = rack["weight_kg"], rack["footprint_m2"]
    if weight is None:
        return
    on_caster = weight / rack["casters"]
    spread = None if footprint is None else weight / footprint
    if (
        over(on_caster, rack["floor_concentrated"])
        or over(on_caster, rack["floor_rolling"])
        or over(spread, rack["floor_uniform"])
    ):
        yield rack_of(rack)


def center_of_mass(rack: Any) -> Iterator[str]:
    if over(rack["center_of_mass_u"], 0.5 * rack["height_u"]):
        yield rack_of(rack)


def depth(rack: Any) -> Iterator[str]:
    deepest, allowance = rack["deepest_m"], rack["cable_allowance_m"]
    mounted = any(device["height_u"] != 0 for device in rack["nodes"])
    if rack["whole_rack"] or not mounted or deepest is None or allowance is None:
        return
    if over(deepest + allowance, rack["rack_depth_m"]):
        yield rack_of(rack)


def airflow_direction(rack: Any) -> Iterator[str]:
    for device in rack["nodes"]:
        own = device["air_direction"]
        if device["heat_air_w"] == 0 or own is None:
            continue
        if own not in (rack["air_direction"], "passive"):
            yield f"{rack_of(rack)} {device['group']}"


def blanking(rack: Any) -> Iterator[str]:
    power = rack["power_w"]
    if power is None or power <= 15_000:
        return
    if rack["blanking"] is False or rack["contained"] is False:
        yield rack_of(rack)


def air_heat(hall: Any) -> Iterator[str]:
    if over(hall["heat_air_w"], hall["air_capacity_n1_w"]):
        yield f"{hall['site']} hall {hall['hall']}"


def airflow(hall: Any) -> Iterator[str]:
    supply = hall["supply_cfm"]
    if hall["handler"] is None or supply is None:
        return
    if over(supply / hall["density_ratio"], hall["air_supply_n1_cfm"]):
        yield f"{hall['site']} hall {hall['hall']}"


def inlet_of_class(hall: Any) -> Iterator[str]:
    for ends in (hall["allowable_c"], hall["recommended_c"]):
        if ends is not None and outside(hall["inlet_c"], ends[0], ends[1]):
            yield f"{hall['site']} hall {hall['hall']}"


def inlet_of_devices(rack: Any) -> Iterator[str]:
    for device in rack["nodes"]:
        if device["heat_air_w"] == 0:
            continue
        if outside(rack["inlet_c"], device["inlet_min_c"], device["inlet_max_c"]):
            yield f"{rack['site']} hall {rack['hall']} {device['entry']}"


RULES: dict[str, dict[str, Rule]] = {
    "PWR-001": {"rack": circuit_loads},
    "PWR-002": {"rack": loads_after_loss},
    "PWR-003": {"rack": living_supplies},
    "PWR-004": {"rack": breakers_and_cords},
    "PWR-005": {"source": phase_imbalance},
    "PWR-006": {
        "source": source_budgets,
        "row": row_budgets,
        "hall": hall_budgets,
        "site": contract,
    },
    "PWR-008": {"rack": outlets},
    "PWR-009": {"rack": headroom, "site": capping},
    "PWR-010": {"rack": outlet_voltage},
    "RACK-001": {"rack": devices_fit},
    "RACK-002": {"rack": density},
    "RACK-003": {"rack": static_weight},
    "RACK-004": {"rack": floor_load},
    "RACK-005": {"rack": center_of_mass},
    "RACK-006": {"rack": depth},
    "RACK-007": {"rack": airflow_direction},
    "RACK-008": {"rack": blanking},
    "COOL-001": {"hall": air_heat},
    "COOL-002": {"hall": airflow},
    "COOL-006": {"hall": inlet_of_class, "rack": inlet_of_devices},
}
"""What each rule looks at, by kind of resource."""


def validation(
    rules: dict[str, Rule],
) -> Callable[[ResourceValidationArgs, ReportViolation], None]:
    """A rule as pulumi-policy calls it; its message is the subject that fails."""
    by_type = {f"plan:index:{kind}": rule for kind, rule in rules.items()}

    def validate(args: ResourceValidationArgs, report_violation: ReportViolation) -> None:
        rule = by_type.get(args.resource_type)
        found: Iterable[str] = () if rule is None else rule(args.props)
        for subject in dict.fromkeys(found):
            report_violation(subject, None)

    return validate


if __name__ == "__main__":
    PolicyPack(
        name="peer",
        enforcement_level=EnforcementLevel.MANDATORY,
        policies=[
            ResourceValidationPolicy(name=name, description=name, validate=validation(rules))
            for name, rules in RULES.items()
        ],
    )
