"""Rear doors: what they take from the air, and what they weigh, by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from parity_designs import AIR_COOLED, DOOR, DOORS_ALONE
from rackwright.plan.cooling.rear_door import heat_taken
from rackwright.plan.load import load_plan
from rackwright.policy.api import Outcome
from rackwright.policy.check import check_blueprint
from rackwright.policy.packs.loader import builtin_pack

AIR = builtin_pack() / "fixtures" / "air.yaml"
RACK = 4 * 38_557 / 3.412
"""W that four DGX H100 give to the air: 4 × 38,557 BTU/h."""


def a_site(folder: Path, water: str, door: str = DOOR) -> Path:
    """The fixture, 24 °C at the inlets and 14 K of rise, with doors at eight of its racks."""
    text = AIR.read_text()
    for old, new in {**DOORS_ALONE, AIR_COOLED: door}.items():
        assert text.count(old) == 1
        text = text.replace(old, new)
    path = folder / "site.yaml"
    path.write_text(text.replace("18 °C", water))
    return path


def rack(folder: Path, water: str) -> Any:
    (site,) = load_plan(a_site(folder, water)).plan.onprem
    return site.racks[0]


@pytest.mark.parametrize(
    ("water", "taken"),
    [
        # The air at the door has 24 + 14 = 38 °C. Water of 18 °C lies 20 K below it, as it is rated.
        ("18 °C", RACK),
        # 28 °C lie 10 K below: half of 46 kW.
        ("28 °C", 23_000),
        # Colder than it is rated at: no more than its rating.
        ("8 °C", RACK),
        # Water of 40 °C warms the hall; the door was credited with 46 kW.
        ("40 °C", 0),
        ("38 °C", 0),
    ],
)
def test_a_door_takes_heat_while_its_water_is_colder_than_the_air(
    water: str, taken: float, tmp_path: Path
) -> None:
    row = rack(tmp_path, water)
    assert row.kind.air_into_loop_w == pytest.approx(taken)
    assert row.kind.heat_air_w == pytest.approx(RACK - taken)


def test_a_door_never_takes_more_than_its_rating() -> None:
    assert heat_taken(60_000, 46_000, rated=20, air=38, water=8) == 46_000


def test_a_hall_behind_doors_of_warm_water_is_refused(tmp_path: Path) -> None:
    """386.4 kW from racks and switches; four air handlers of 100 kW less one carry 299.1 kW."""
    path = a_site(tmp_path, "40 °C")
    path.write_text(path.read_text().replace("count: 5", "count: 4"))
    report = check_blueprint(path, only=("COOL-001",))
    assert [result.outcome for result in report.results] == [Outcome.FAIL]


def test_air_handlers_of_a_high_hall_are_judged_by_thin_air(tmp_path: Path) -> None:
    """8 × 45.2 kW = 361.6 kW of racks at 2,000 m passed: handlers kept what they have at sea level.

    The air has 0.8217 of its density there: four of five handlers take 4 × 82.2 kW = 328.7 kW.
    """
    hall = AIR.read_text().partition("    fabrics:\n")[0]
    path = tmp_path / "site.yaml"
    for altitude, outcome, carried in (
        ("30 m", Outcome.PASS, 398_850),
        ("2000 m", Outcome.FAIL, 328_670),
    ):
        path.write_text(hall.replace("altitude: 30 m", f"altitude: {altitude}"))
        (result,) = check_blueprint(path, only=("COOL-001",)).results
        assert result.outcome is outcome
        assert result.value == pytest.approx(8 * RACK)
        assert result.limit == pytest.approx(carried, rel=1e-4)


def test_a_door_weighs(tmp_path: Path) -> None:
    with_door = rack(tmp_path, "18 °C")
    without = load_plan(AIR).plan.onprem[0].racks[0]
    assert with_door.kind.weight_kg - without.kind.weight_kg == pytest.approx(150)
    assert with_door.kind.content_kg - without.kind.content_kg == pytest.approx(150)
    assert with_door.kind.center_of_mass_u == without.kind.center_of_mass_u


@pytest.mark.parametrize(
    ("left_out", "policy", "missing"),
    [
        (", rear_door_difference: 20 K", "COOL-001", "'rear_door_difference' of racks c[01-08]"),
        ("rear_door_capacity: 46 kW, ", "COOL-001", "'rear_door_capacity' of racks c[01-08]"),
        (", rear_door_weight: 150 kg", "RACK-003", "'rear_door_weight' of racks c[01-08]"),
    ],
)
def test_rear_door_without_a_fact_is_unknown(
    left_out: str, policy: str, missing: str, tmp_path: Path
) -> None:
    assert left_out in DOOR
    report = check_blueprint(a_site(tmp_path, "18 °C", DOOR.replace(left_out, "")), only=(policy,))
    unknown = [result for result in report.results if result.outcome is Outcome.UNKNOWN]
    assert unknown
    assert all(missing in result.missing for result in unknown)


@pytest.mark.parametrize("gone", ["         supply_temperature: 18 °C}", "temperature_rise: 14 K"])
def test_without_a_temperature_a_door_takes_nobody_knows_what(gone: str, tmp_path: Path) -> None:
    path = a_site(tmp_path, "18 °C")
    text = path.read_text()
    assert text.count(gone) == 1
    path.write_text(text.replace(gone, "}" if gone.endswith("}") else ""))
    report = check_blueprint(path, only=("COOL-001",))
    (result,) = report.results
    assert result.outcome is Outcome.UNKNOWN
    name = "supply_temperature" if "supply" in gone else "temperature_rise"
    assert any(name in text for text in result.missing)
