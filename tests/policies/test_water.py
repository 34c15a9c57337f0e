"""Facility water and coolant that are too warm for what they cool, by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rackwright.policy.api import Outcome
from rackwright.policy.check import check_blueprint
from rackwright.policy.packs.loader import builtin_pack

LIQUID = builtin_pack() / "fixtures" / "liquid.yaml"


def judged(folder: Path, loop: str) -> dict[str, Any]:
    """What COOL-005 says of the fixture with these settings of its loop, by what is measured."""
    layer = folder / "layer.yaml"
    layer.write_text(f"sites: [{{name: lux1, loops: [{{name: tcs-1, {loop}}}]}}]\n")
    report = check_blueprint(LIQUID, layers=(layer,), only=("COOL-005",))
    return {result.what: result for result in report.results}


def test_water_of_45_degrees_and_an_approach_make_coolant_of_50(tmp_path: Path) -> None:
    """A GB200 NVL72 is of class W45: 45 °C at its inlet; 45 °C + 5 K are 50 °C."""
    found = judged(
        tmp_path, "facility_class: W45, facility_temperature: 45 °C, supply_temperature: 50 °C"
    )
    warmest = found["supply temperature of the loop"]
    assert (warmest.outcome, warmest.value, warmest.limit) == (Outcome.FAIL, 50, 45)
    assert found["supply temperature above the facility temperature"].outcome is Outcome.PASS


def test_water_of_40_degrees_and_an_approach_are_just_cool_enough(tmp_path: Path) -> None:
    found = judged(
        tmp_path, "facility_class: W40, facility_temperature: 40 °C, supply_temperature: 45 °C"
    )
    assert {result.outcome for result in found.values()} == {Outcome.PASS}


@pytest.mark.parametrize(
    ("water", "outcome"),
    [
        ("facility_class: W17, facility_temperature: 44 °C", Outcome.FAIL),
        ("facility_class: W17, facility_temperature: 17 °C", Outcome.PASS),
    ],
)
def test_a_class_is_no_colder_than_the_water(water: str, outcome: Outcome, tmp_path: Path) -> None:
    """Class W17 is water of 17 °C at most."""
    found = judged(tmp_path, f"{water}, supply_temperature: 49 °C")
    declared = found["facility temperature of a loop of class W17"]
    assert (declared.outcome, declared.limit) == (outcome, 17)


def test_class_w_plus_has_no_warmest_temperature(tmp_path: Path) -> None:
    found = judged(tmp_path, "facility_class: W+, facility_temperature: 44 °C")
    assert not any(what.startswith("facility temperature of a loop") for what in found)
