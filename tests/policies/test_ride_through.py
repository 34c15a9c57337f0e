"""Time without cooling until generators carry it again, against what air, coolant and water hold; by hand.

The site of ``fixtures/plant.yaml``: generators take 15 s, air handlers 20 s more, pumps 10 s, dry coolers
30 s and chillers a minute. CDUs hang on UPSs.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rackwright.policy.api import Outcome
from rackwright.policy.check import check_blueprint
from rackwright.policy.packs.loader import builtin_pack

PLANT = builtin_pack() / "fixtures" / "plant.yaml"
FAIL, PASS, UNKNOWN = Outcome.FAIL, Outcome.PASS, Outcome.UNKNOWN
INLET = (
    "facts: [{product: gb200-nvl72, field: inlet_max, value: %s, source: a data sheet, "
    "date: 2026-11-21, confidence: official}]\n"
)


def judged(folder: Path, site: str = "", inlet: str = "35 °C") -> dict[str, Any]:
    layer = folder / "layer.yaml"
    layer.write_text((INLET % inlet if inlet else "") + f"sites: [{{name: lux1, {site}}}]\n")
    report = check_blueprint(PLANT, layers=(layer,), only=("COOL-012",))
    return {result.subject.name.removeprefix("lux1 "): result for result in report.results}


def test_wait_and_autonomy_of_each_stage(tmp_path: Path) -> None:
    """Air 600 m³ × 1,207.2 J/(m³·K) × 11 K / 68 kW; coolant 2 × 4,029 kJ/K × 10 K / 460 kW; water
    4 × 4,167.46 kJ/K × 4 K / 78 kW and 3 × 4,167.46 kJ/K × 4 K / 490 kW."""
    found = judged(tmp_path)
    assert {name: r.value for name, r in found.items()} == {
        "air of hall-1": 35,
        "cold plates of tcs-1": 0,
        "coolant of tcs-1": 25,
        "facility water chilled": 75,
        "facility water warm": 45,
    }
    assert {name: r.limit for name, r in found.items()} == pytest.approx(
        {
            "air of hall-1": 117.1694117647,
            "cold plates of tcs-1": 0,
            "coolant of tcs-1": 175.1739130435,
            "facility water chilled": 854.8635897436,
            "facility water warm": 102.0602448980,
        }
    )
    assert {r.outcome for r in found.values()} == {PASS}


@pytest.mark.parametrize(
    ("restart", "outcome"), [("102.169411764706 s", PASS), ("102.1695 s", FAIL)]
)
def test_air_that_is_just_warm_enough(restart: str, outcome: Outcome, tmp_path: Path) -> None:
    site = f"halls: [{{name: hall-1, air: {{restart: {restart}}}}}]"
    assert judged(tmp_path, site)["air of hall-1"].outcome is outcome


def test_the_least_of_class_and_products_is_the_end(tmp_path: Path) -> None:
    """A product that takes 26 °C: 2 K are held for 21.3 s."""
    result = judged(tmp_path, inlet="26 °C")["air of hall-1"]
    assert (result.outcome, result.limit) == (FAIL, pytest.approx(21.3035294118))


def test_air_that_is_too_warm_already_holds_nothing(tmp_path: Path) -> None:
    result = judged(tmp_path, inlet="20 °C")["air of hall-1"]
    assert (result.outcome, result.limit) == (FAIL, 0)


def test_thin_air_holds_less(tmp_path: Path) -> None:
    """At 2,000 m the density is 0.82168 of that at sea level."""
    result = judged(tmp_path, "altitude: 2000 m")["air of hall-1"]
    assert result.limit == pytest.approx(117.1694117647 * 0.82168, rel=1e-4)


def test_cold_plates_do_not_stand_still(tmp_path: Path) -> None:
    site = "loops: [{name: tcs-1, restart: 5 s, fed_by: [mech-a, mech-b]}]"
    result = judged(tmp_path, site)["cold plates of tcs-1"]
    assert (result.outcome, result.value, result.limit) == (FAIL, 20, 0)


def test_one_of_two_cdus_on_a_ups_carries_the_loop(tmp_path: Path) -> None:
    parts = "supplies: [{count: 1, fed_by: [mech-a]}, {count: 1, fed_by: [ups-b]}]"
    site = f"loops: [{{name: tcs-1, fed_by: [], {parts}}}]"
    assert judged(tmp_path, site)["cold plates of tcs-1"].value == 0


def test_air_takes_the_heat_of_doors_that_stand_still(tmp_path: Path) -> None:
    """Doors take all 68 kW, so that air handlers have none; without pumps for 25 s the air has them."""
    door = "mode: rear-door, rear_door_capacity: 17 kW, rear_door_difference: 1 K"
    blueprint, layer = tmp_path / "blueprint.yaml", tmp_path / "layer.yaml"
    blueprint.write_text(PLANT.read_text().replace("mode: liquid", door))
    layer.write_text(INLET % "35 °C")
    report = check_blueprint(blueprint, layers=(layer,), only=("COOL-012",))
    found = {result.subject.name: result for result in report.results}
    result = found["lux1 air of hall-1"]
    assert result.value == 25
    assert result.limit == pytest.approx(117.1694117647)


def test_the_coolant_of_a_rack_with_a_cdu_of_its_own(tmp_path: Path) -> None:
    """50 L of PG25 take 64 kW by 5 K in 0.05 × 4,029 kJ/K × 5 K / 64 kW = 15.74 s; pumps need 25 s."""
    text = (builtin_pack() / "fixtures" / "cdu-in-rack.yaml").read_text()
    blueprint, layer = tmp_path / "blueprint.yaml", tmp_path / "layer.yaml"
    blueprint.write_text(text.replace("fed_by: [utility]", "fed_by: [utility, gen]"))
    layer.write_text(
        "sites: [{name: mem2, power: {generator_acceptance: 15 s, sources: [{name: gen, kind: "
        "generator, capacity: 1 MW}]}, facility_water: [{name: warm}], halls: [{name: "
        "hall-1, air: {water: outdoors}}], loops: [{name: own, water: "
        "warm, volume: 50 L, supply_temperature: 35 °C}], plant: [{name: pump, kind: pump, count: 1, "
        "power: 10 kW, capacity: 1 MW, water: warm, fed_by: [utility, gen], restart: 10 s}]}]\n"
    )
    report = check_blueprint(blueprint, layers=(layer,), only=("COOL-012",))
    found = {result.subject.name: result for result in report.results}
    result = found["mem2 coolant of own"]
    assert (result.outcome, result.value) == (FAIL, 25)
    assert result.limit == pytest.approx(15.73828125)
    assert found["mem2 cold plates of own"].value == 0


def test_pumps_on_a_ups_keep_the_water_moving(tmp_path: Path) -> None:
    site = "plant: [{name: pumps, restart: null, supplies: [], fed_by: [mech-a, ups-a]}]"
    result = judged(tmp_path, site)["coolant of tcs-1"]
    assert (result.outcome, result.value) == (PASS, 0)


def test_chillers_wait_for_their_towers(tmp_path: Path) -> None:
    """15 + 120 s of towers are longer than the minute of chillers."""
    towers = (
        "{name: towers, kind: cooling-tower, count: 1, capacity: 200 kW, water: condenser, "
        "fed_by: [mech-a], restart: 2 min}"
    )
    site = f"facility_water: [{{name: condenser}}], plant: [{{name: chillers, rejects_to: condenser}}, {towers}]"
    result = judged(tmp_path, site)["facility water chilled"]
    assert (result.outcome, result.value) == (PASS, 135)


def test_without_generators_nothing_waits_for_one(tmp_path: Path) -> None:
    text = PLANT.read_text().replace("[utility, gen]", "[utility]")
    text = text.replace("        - {name: gen, kind: generator, capacity: 1 MW}\n", "")
    blueprint = tmp_path / "blueprint.yaml"
    blueprint.write_text(text.replace("      generator_acceptance: 15 s\n", ""))
    (result,) = check_blueprint(blueprint, only=("COOL-012",)).results
    assert result.outcome is Outcome.NOT_APPLICABLE


@pytest.mark.parametrize(
    ("site", "subject", "said"),
    [
        ("power: {generator_acceptance: null}", "air of hall-1", "'generator_acceptance' of"),
        ("halls: [{name: hall-1, air: {restart: null}}]", "air of hall-1", "'restart' of the air"),
        ("halls: [{name: hall-1, air: {volume: null}}]", "air of hall-1", "'volume' of the air"),
        ("altitude: null", "air of hall-1", "'altitude' of"),
        ("loops: [{name: tcs-1, volume: null}]", "coolant of tcs-1", "'volume' of the loop"),
        ("loops: [{name: tcs-1, supply_temperature: null}]", "coolant of tcs-1", "'supply_temp"),
        ("loops: [{name: tcs-1, fed_by: []}]", "cold plates of tcs-1", "'fed_by' of the CDUs"),
        ("plant: [{name: pumps, restart: null}]", "coolant of tcs-1", "'restart' of the plant"),
        ("facility_water: [{name: warm, warming: null}]", "facility water warm", "'warming' of"),
        ("facility_water: [{name: warm, volume: null}]", "facility water warm", "'volume' of"),
        ("facility_water: [{name: warm, fluid: null}]", "facility water warm", "'fluid' of"),
    ],
)
def test_nobody_says(site: str, subject: str, said: str, tmp_path: Path) -> None:
    result = judged(tmp_path, site)[subject]
    assert result.outcome is UNKNOWN
    assert any(said in text for text in result.missing)


def test_nobody_says_how_warm_the_air_may_be(tmp_path: Path) -> None:
    result = judged(tmp_path, inlet="")["air of hall-1"]
    assert result.outcome is UNKNOWN
    assert result.missing == ("gb200-nvl72: published warmest inlet",)
