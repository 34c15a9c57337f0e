"""Fault currents by hand: transformers on an infinite bus, conductors, and what stands at each place.

1 MVA of 5.75 % at 415 V: 0.0575 × 415² / 1 MVA = 9.903 mΩ, and 415 V / √3 / 9.903 mΩ = 24,195 A. Copper
of 20 °C has 18 mΩ·mm²/m: 0.1875 mΩ to the board (10 m of 4 × 240 mm²), 1.5 mΩ to a panel (20 m of
240 mm²), 22.5 mΩ to a rack (20 m of 16 mm²).
"""

from __future__ import annotations

import math
from typing import Any

import pytest

from designs import GONE, Changes, Design, said
from rackwright.errors import RackwrightError
from rackwright.plan.power.lines.conductors import (
    Impedance,
    limited_fault_current,
    transformer_fault_current,
)
from rackwright.policy.api import Outcome

PASS, FAIL, UNKNOWN = Outcome.PASS, Outcome.FAIL, Outcome.UNKNOWN
DESIGN = Design("electrical")
SOURCES = ("power", "sources")
GEN, TRAFO, BOARD, UPS_A, RPP_A = (
    (*SOURCES, 1),
    (*SOURCES, 2),
    (*SOURCES, 3),
    (*SOURCES, 4),
    (*SOURCES, 7),
)
FEED_A = ("halls", 0, "rows", 0, "rack_groups", 0, "feeds", 0)
PDU = "pdu-415v-60a-24c19"
RACKS = "el1 racks c[01-08] feed A"


def currents(changes: Changes | None = None) -> dict[str, float | None]:
    return {
        row.feed or row.source: row.current_a for row in DESIGN.site(changes).power.fault_currents
    }


def judged(name: str, changes: Changes | None = None, patches: Any = None) -> Any:
    (result,) = (r for r in DESIGN.judged("PWR-016", changes, patches) if r.subject.name == name)
    return result


def test_a_transformer_on_an_infinite_bus() -> None:
    """1,500 kVA, 480 V, 5.75 %: 1,804 A / 0.0575, the example of IAEI magazine."""
    assert transformer_fault_current(1.5e6, 480, 5.75) == pytest.approx(31_374, rel=2e-4)


def test_conductors_limit_what_a_transformer_gives() -> None:
    found = currents()
    assert found["board"] == pytest.approx(239_600 / math.hypot(9.903, 0.1875), rel=1e-3)
    assert found["rpp-a"] == pytest.approx(239_600 / math.hypot(9.903, 1.6875), rel=1e-3)
    assert found["A"] == pytest.approx(239_600 / math.hypot(9.903, 24.1875), rel=1e-3)


def test_a_ups_passes_on_what_feeds_it() -> None:
    found = currents()
    assert found["ups-a"] == found["board"]


def test_the_largest_of_what_may_feed_a_place_counts() -> None:
    """A generator of 30 kA, where the transformer gives 24.2 kA: 239.6 V / 30 kA = 7.987 mΩ."""
    found = currents({(*GEN, "fault_current"): "30 kA"})
    assert found["board"] == pytest.approx(239_600 / math.hypot(7.987, 0.1875), rel=1e-3)


def test_aluminium_and_data_sheets() -> None:
    """16 mm² of aluminium: 36 / 1.25 / 16 = 1.8 mΩ/m; by a data sheet 2 / 1.25 = 1.6 and 0.1 mΩ/m."""
    metal = {"length": "20 m", "parallel": 1, "cross_section": "16 mm2", "material": "aluminium"}
    found = currents({(*FEED_A, "conductors"): metal})
    assert found["A"] == pytest.approx(239_600 / math.hypot(9.903, 1.6875 + 36), rel=1e-3)
    sheet = {"length": "20 m", "parallel": 1, "resistance": "2 mΩ/m", "reactance": "0.1 mΩ/m"}
    found = currents({(*FEED_A, "conductors"): sheet})
    whole = math.sqrt(9.903**2 + (1.6875 + 32) ** 2 + 2**2)
    assert found["A"] == pytest.approx(239_600 / whole, rel=1e-3)


def test_conductors_of_which_nobody_speaks_limit_nothing() -> None:
    found = currents({(*FEED_A, "conductors"): GONE, (*RPP_A, "conductors"): GONE})
    assert found["A"] == found["rpp-a"] == found["ups-a"]


def test_a_study_takes_the_place_of_what_is_worked_out() -> None:
    found = currents({(*UPS_A, "fault_current"): "5 kA"})
    assert found["ups-a"] == 5000
    assert found["rpp-a"] == pytest.approx(239_600 / math.hypot(47.92, 1.5), rel=1e-3)
    assert found["ups-b"] == found["board"]


def test_the_impedance_of_a_network_and_conductors_is_never_taken_too_high() -> None:
    """Of 10 mΩ at any angle and 10 mΩ of a cable the sum is 14.1 mΩ or more."""
    found = limited_fault_current(23_960, 415, Impedance(0.01, 0.0))
    for degrees in (0, 30, 60, 90):
        before = complex(math.cos(math.radians(degrees)), math.sin(math.radians(degrees))) * 0.01
        assert found >= 415 / math.sqrt(3) / abs(before + 0.01) * (1 - 1e-3)


@pytest.mark.parametrize(
    ("name", "changes", "patches", "outcome"),
    [
        (RACKS, {}, {PDU: {"short_circuit_rating": said("9.17 kA")}}, PASS),
        (RACKS, {}, {PDU: {"short_circuit_rating": said("9.16 kA")}}, FAIL),
        (RACKS, {}, {PDU: {"short_circuit_rating": None}}, UNKNOWN),
        (RACKS, {(*FEED_A, "conductors"): GONE}, {}, FAIL),
        ("el1 source board", {(*BOARD, "short_circuit_rating"): "24.2 kA"}, {}, PASS),
        ("el1 source board", {(*BOARD, "short_circuit_rating"): "24.1 kA"}, {}, FAIL),
        ("el1 source board", {(*BOARD, "short_circuit_rating"): GONE}, {}, UNKNOWN),
        ("el1 source board", {(*GEN, "fault_current"): GONE}, {}, UNKNOWN),
        ("el1 source board", {(*TRAFO, "rating"): GONE}, {}, UNKNOWN),
        ("el1 source board", {(*TRAFO, "voltage"): GONE}, {}, UNKNOWN),
        ("el1 source ups-a", {(*UPS_A, "fed_by"): GONE}, {}, UNKNOWN),
    ],
)
def test_fault_current_rating_at_each_place(
    name: str, changes: Changes, patches: Any, outcome: Outcome
) -> None:
    assert judged(name, changes, patches).outcome is outcome


def test_a_circuit_without_a_pdu_has_none_to_stand_it() -> None:
    found = {row.feed for row in DESIGN.site({(*FEED_A, "pdu"): GONE}).power.fault_currents}
    assert found == {None, "B", "C"}


def test_a_generator_is_judged_by_a_rating_that_it_states() -> None:
    assert judged("el1 source gen", {(*GEN, "short_circuit_rating"): "7 kA"}).outcome is FAIL


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        ((*UPS_A, "rating"), "1 MVA", "is of a transformer"),
        ((*RPP_A, "voltage_tolerance"), "5 %", "has the 'voltage_tolerance' of what feeds it"),
        ((*GEN, "conductors"), {"length": "1 m", "parallel": 1, "cross_section": "1 mm2", "material": "copper"}, "is not"),
        ((*RPP_A, "voltage"), "480 V", "its voltage is 480 V"),
        ((*FEED_A, "conductors"), {"length": "1 m", "parallel": 1, "cross_section": "1 mm2"}, "either"),
        ((*FEED_A, "conductors"), {"length": "1 m", "parallel": 1}, "either"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused(path: Any, value: Any, words: str) -> None:
    with pytest.raises((ValueError, RackwrightError), match=words):
        DESIGN.plan({path: value})
