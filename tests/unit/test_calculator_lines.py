"""The plan's conductors, faults, stored heat, water and swing agree with ``tests/calculator/lines``."""

from __future__ import annotations

import random
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, cast

import pytest

from calculator.lines import (
    a_line,
    behind_transformer,
    litres_a_minute,
    seconds_to_warm,
    swings,
)
from calculator.mutations import Mutation, mutated
from rackwright.model.power import Conductors, SiteCabling
from rackwright.plan.cooling import thermal
from rackwright.plan.power import swing
from rackwright.plan.power.lines import ampacity, conductors, ratings

LINES, HEATS = 200, 60
_LINES, _AMPACITY, _RATINGS = (
    "power.lines.conductors",
    "power.lines.ampacity",
    "power.lines.ratings",
)
_THERMAL, _SWING = "cooling.thermal", "power.swing"

MUTATIONS = (
    Mutation(_LINES, "in_service", "conductors.length / conductors.parallel", "conductors.length"),
    Mutation(_LINES, "in_service", "/ 1000", "/ 100"),
    Mutation(_LINES, "in_service", "RESISTIVITY[metal] / area", "RESISTIVITY[metal] * area"),
    Mutation(_LINES, "in_service", "RESISTIVITY[metal]", "RESISTIVITY['copper']"),
    Mutation(_LINES, "in_service", "reactance * metres", "reactance"),
    Mutation(_LINES, "when_cold", "warm.resistance / WARM", "warm.resistance"),
    Mutation(_LINES, "when_cold", "0.0 if", "warm.reactance if"),
    Mutation(_LINES, "transformer_fault_current", "math.sqrt(3)", "3"),
    Mutation(_LINES, "transformer_fault_current", " / 100", ""),
    Mutation(_LINES, "limited_fault_current", "(math.sqrt(3) * current)", "current"),
    Mutation(_LINES, "limited_fault_current", "before**2 + line.resistance**2", "(before + line.resistance) ** 2"),
    Mutation(_LINES, "limited_fault_current", "(math.sqrt(3) * whole)", "whole"),
    Mutation(_LINES, "voltage_drop", "1 - power_factor**2", "1 - power_factor"),
    Mutation(_LINES, "voltage_drop", "line.reactance * sine", "line.reactance"),
    Mutation(_LINES, "voltage_drop", "line.resistance * power_factor", "line.resistance"),
    Mutation(_LINES, "voltage_drop", "voltage * power_factor", "voltage"),
    Mutation(_LINES, "voltage_drop", "else 2.0", "else 1.0"),
    Mutation(_AMPACITY, "ampacity", "table * factor", "table"),
    Mutation(_AMPACITY, "ampacity", "each * conductors.parallel", "each"),
    Mutation(_AMPACITY, "ampacity", "cabling.circuits <= most", "cabling.circuits < most"),
    Mutation(_AMPACITY, "ampacity", "_ambient(cabling) * ", ""),
    Mutation(_AMPACITY, "ampacity", "protects = _next_standard(carried)", "protects = carried"),
    Mutation(_AMPACITY, "_of_size", "- 1\n", "- 2\n"),
    Mutation(_AMPACITY, "_ambient", "bisect_left(_STEPS, cabling.ambient)", "0"),
    Mutation(_AMPACITY, "_next_standard", "rating >= amperes", "rating >= 0.7 * amperes"),
    Mutation(_RATINGS, "least_fault_current", "LOWEST_VOLTAGE * ", ""),
    Mutation(_RATINGS, "least_fault_current", "2 * ohms", "ohms"),
    Mutation(_RATINGS, "least_fault_current", "voltage / math.sqrt(3) /", "voltage /"),
    Mutation(_THERMAL, "coolant_flow", "watts / 1000", "watts / 3600"),
    Mutation(_THERMAL, "coolant_flow", "60 * ", ""),
    Mutation(_THERMAL, "coolant_flow", "heat_capacity * rise)", "heat_capacity)"),
    Mutation(_THERMAL, "air_heat_capacity", " * density", ""),
    Mutation(_THERMAL, "fluid_heat_capacity", "1e6", "1e3"),
    Mutation(_THERMAL, "time_to_warm", "max(0.0, rise) / watts", "watts"),
    Mutation(_THERMAL, "time_to_warm", "heat_capacity * ", ""),
    Mutation(_SWING, "unit_swing", "group.spec.power_floor or 0.0", "0.0"),
    Mutation(_SWING, "unit_swing", "max(low, ", "min(low, "),
    Mutation(_SWING, "unit_swing", "max(0.0, high", "max(high, high"),
    Mutation(_SWING, "_highest", "min(peak, cap)", "peak"),
)  # fmt: skip
"""Wrong formulas, each of which the comparison below has to show."""


def _lines() -> Iterator[tuple[str, float, float]]:
    """Yield words, the calculator's number and the plan's, of every number of every line."""
    for seed in range(LINES):
        line = a_line(seed)
        laid = Conductors.model_validate(
            {
                "length": f"{line.metres!r} m",
                "parallel": line.parallel,
                "cross_section": f"{line.size!r} mm2",
                "material": line.metal,
            }
        )
        nec = {"standard": "nec", "temperature": "75 °C"}
        iec = {"standard": "iec", "temperature": "90 °C", "installation": "tray"}
        cabling = SiteCabling.model_validate(
            {
                **(nec if line.standard == "nec" else iec),
                "ambient": f"{line.ambient} °C",
                "circuits": line.circuits,
            }
        )
        found = ampacity.ampacity(laid, cabling)
        assert found is not None
        warm, cold = conductors.in_service(laid), conductors.when_cold(laid)
        phases: Any = line.phases
        yield f"{seed} carried", line.carried, found.carried
        yield f"{seed} protects", line.protected_by, found.protects
        most = conductors.limited_fault_current(line.supply, line.volts, cold)
        yield f"{seed} most", line.most_behind, most
        least = ratings.least_fault_current(line.supply, line.volts, warm.resistance)
        yield f"{seed} least", line.least_behind, least
        drop = conductors.voltage_drop(line.watts, line.volts, phases, line.factor, warm)
        yield f"{seed} drop", line.drop, drop
        kva, percent = line.supply / 10, 2 + line.parallel
        planned = conductors.transformer_fault_current(kva * 1000, line.volts, percent)
        yield f"{seed} transformer", behind_transformer(kva, line.volts, percent), planned


def _heats() -> Iterator[tuple[str, float, float]]:
    for seed in range(HEATS):
        draw = random.Random(f"heat {seed}")
        watts, rise, volume = draw.uniform(1e4, 2e6), draw.uniform(1, 20), draw.uniform(0.5, 900)
        flow = thermal.coolant_flow(watts, rise, thermal.volumetric_heat("pg25"))
        assert flow is not None
        yield f"{seed} flow", litres_a_minute(watts, rise, 1.02, 3.95), flow
        thin = draw.uniform(0.7, 1)
        air = thermal.time_to_warm(thermal.air_heat_capacity(volume, thin), rise, watts)
        yield f"{seed} air", seconds_to_warm(volume, 1.2 * thin, 1006, rise, watts), air
        stored = thermal.fluid_heat_capacity(volume, 0.997 * 4.18)
        water = thermal.time_to_warm(stored, rise, watts)
        yield f"{seed} water", seconds_to_warm(volume, 997, 4180, rise, watts), water
        rest, peak = draw.uniform(1e3, 3e4), draw.uniform(2e4, 2e5)
        cap = draw.choice([None, draw.uniform(1e4, 2e5)])
        floor = draw.choice([None, draw.uniform(1e3, 2e5)])
        group = SimpleNamespace(
            product=SimpleNamespace(peak_power=SimpleNamespace(value=peak)),
            spec=SimpleNamespace(power_cap=cap, power_floor=floor),
            without_accelerators_w=rest,
        )
        planned = swing.unit_swing(cast("Any", group))
        assert planned is not None
        yield f"{seed} swing", swings(peak, cap, rest, floor), planned


def differences() -> list[str]:
    """Numbers that the plan has otherwise, in words."""
    return [
        f"{what}: {mine} by the calculator, {planned} by the plan"
        for what, mine, planned in (*_lines(), *_heats())
        if planned != pytest.approx(mine, rel=1e-9, abs=1e-9)
    ]


def test_the_plan_agrees_about_lines_heat_and_swing() -> None:
    assert differences() == []


@pytest.mark.parametrize("mutation", MUTATIONS, ids=str)
def test_a_wrong_formula_of_lines_or_heat_is_caught(mutation: Mutation) -> None:
    with mutated(mutation):
        try:
            found = differences()
        except (ArithmeticError, LookupError, ValueError) as error:
            found = [str(error)]
    assert found


def test_there_are_thirty_wrong_formulas() -> None:
    assert len({str(mutation) for mutation in MUTATIONS}) >= 30
