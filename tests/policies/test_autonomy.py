"""Batteries and fuel by hand: 163.2 kW after the loss of another UPS, 300 s at 250 kW; 4,000 L at 220 L/h."""

from __future__ import annotations

from typing import Any

import pytest

from designs import GONE, Changes, Design
from rackwright.plan.power.autonomy import battery_runtime
from rackwright.policy.api import Outcome

PASS, FAIL, UNKNOWN = Outcome.PASS, Outcome.FAIL, Outcome.UNKNOWN
DESIGN = Design("electrical")
SOURCES = ("power", "sources")
GEN, BOARD, UPS_A = (*SOURCES, 1), (*SOURCES, 3), (*SOURCES, 4)
ACCEPTANCE = ("power", "generator_acceptance")


def judged(rule: str, name: str, changes: Changes | None = None, **parameters: Any) -> Any:
    found = DESIGN.judged(rule, changes, **parameters)
    (result,) = (r for r in found if r.subject.name == f"el1 source {name}")
    return result


@pytest.mark.parametrize(
    ("load", "seconds"),
    [(250e3, 300), (125e3, 600), (0.0, 300), (250_001.0, 0), (None, None)],
)
def test_the_energy_of_batteries_is_the_same_at_less_load(
    load: float | None, seconds: float | None
) -> None:
    assert battery_runtime(300, 250e3, load) == seconds


def test_autonomy_of_a_ups_and_a_generator() -> None:
    found = {row.source: row for row in DESIGN.site().power.autonomies}
    assert set(found) == {"gen", "ups-a", "ups-b", "ups-c"}
    assert found["ups-a"].load_w == pytest.approx(163_200)
    assert found["ups-a"].runtime_s == pytest.approx(300 * 250 / 163.2)
    assert found["gen"].runtime_s == pytest.approx(4000 / 220 * 3600)


def test_a_ups_of_redundancy_n_carries_its_normal_load() -> None:
    found = {row.source: row for row in DESIGN.site({(*UPS_A, "redundancy"): "N"}).power.autonomies}
    assert found["ups-a"].load_w == pytest.approx(108_800)


@pytest.mark.parametrize(
    ("changes", "outcome"),
    [
        ({}, PASS),
        ({ACCEPTANCE: "429 s"}, PASS),  # 459 s of 459.6 s
        ({ACCEPTANCE: "430 s"}, FAIL),
        ({(*UPS_A, "backup"): "58 s"}, FAIL),  # 88.85 s of 90 s
        ({(*UPS_A, "backup"): "59 s"}, PASS),  # 90.38 s
        ({(*UPS_A, "capacity"): "160 kW"}, FAIL),  # it is overloaded
        ({(*UPS_A, "backup"): GONE}, UNKNOWN),
        ({(*UPS_A, "capacity"): GONE}, UNKNOWN),
        ({ACCEPTANCE: GONE}, UNKNOWN),
    ],
)
def test_batteries_outlast_the_start_of_generators(changes: Changes, outcome: Outcome) -> None:
    assert judged("PWR-018", "ups-a", changes).outcome is outcome


def test_batteries_of_a_ups_that_no_generator_feeds_are_judged_too() -> None:
    changes = {(*BOARD, "fed_by"): ["trafo"], (*UPS_A, "backup"): "1 s"}
    assert judged("PWR-018", "ups-a", changes).outcome is FAIL


def test_a_site_without_generators_is_not_judged() -> None:
    changes = {(*BOARD, "fed_by"): ["trafo"], ACCEPTANCE: GONE, GEN: GONE}
    for rule in ("PWR-018", "PWR-019"):
        (result,) = DESIGN.judged(rule, changes)
        assert result.outcome is Outcome.NOT_APPLICABLE


@pytest.mark.parametrize(
    ("changes", "outcome"),
    [
        ({(*GEN, "fuel"): "2.64 m3"}, PASS),
        ({(*GEN, "fuel"): "2639 L"}, FAIL),
        ({(*GEN, "consumption"): "334 L/h"}, FAIL),  # 11.98 h
        ({(*GEN, "consumption"): "5.5 L/min"}, PASS),  # 330 L/h: 12.12 h
        ({(*GEN, "consumption"): GONE}, UNKNOWN),
        ({(*GEN, "fuel"): GONE}, UNKNOWN),
    ],
)
def test_fuel_lasts_for_twelve_hours(changes: Changes, outcome: Outcome) -> None:
    assert judged("PWR-019", "gen", changes).outcome is outcome


def test_teams_may_ask_for_more() -> None:
    assert judged("PWR-019", "gen", least_hours=24).outcome is FAIL
    assert judged("PWR-018", "ups-a", reserve_s=400).outcome is FAIL
