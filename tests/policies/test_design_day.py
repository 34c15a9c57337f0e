"""Heat rejection on the design day: ratings, water that no chiller cools, one unit lost; by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rackwright.policy.api import Outcome
from rackwright.policy.check import check_blueprint
from rackwright.policy.packs.loader import builtin_pack

PLANT = builtin_pack() / "fixtures" / "plant.yaml"
FAIL, PASS, UNKNOWN = Outcome.FAIL, Outcome.PASS, Outcome.UNKNOWN
TOWERS = (
    "facility_water: [{name: condenser}], design_wet_bulb: %s, plant: "
    "[{name: chillers, rejects_to: condenser, outdoor_temperature: null}, {name: towers, "
    "kind: cooling-tower, count: 2, capacity: 128 kW, water: condenser, fed_by: [mech-a, mech-b], "
    "outdoor_temperature: 24 °C}]"
)


def judged(folder: Path, site: str = "", base: Path = PLANT) -> dict[str, Any]:
    layer = folder / "layer.yaml"
    layer.write_text(f"sites: [{{name: lux1, {site}}}]\n")
    report = check_blueprint(base, layers=(layer,), only=("COOL-013",))
    return {result.subject.name.removeprefix("lux1 "): result for result in report.results}


def test_a_sound_site(tmp_path: Path) -> None:
    """68 + 2 × 5 kW; 460 + 2 × 10 + 2 × 5 kW."""
    found = judged(tmp_path)
    assert {name: (r.value, r.limit) for name, r in found.items()} == {
        "heat rejection of chilled": (78_000, 90_000),
        "heat rejection of warm": (490_000, 600_000),
        "pumps of warm": (490_000, 600_000),
        "plant 'chillers'": (28, 35),
        "plant 'dry-coolers'": (28, 28),
        "loop tcs-1": (30, 28),
    }
    assert {r.outcome for r in found.values()} == {PASS}


@pytest.mark.parametrize(("day", "outcome"), [("28 °C", PASS), ("28.1 °C", FAIL)])
def test_a_rating_that_just_holds(day: str, outcome: Outcome, tmp_path: Path) -> None:
    assert judged(tmp_path, f"design_dry_bulb: {day}")["plant 'dry-coolers'"].outcome is outcome


@pytest.mark.parametrize(("day", "outcome"), [("30 °C", PASS), ("30.1 °C", FAIL)])
def test_water_is_no_colder_than_the_air_outside(
    day: str, outcome: Outcome, tmp_path: Path
) -> None:
    assert judged(tmp_path, f"design_dry_bulb: {day}")["loop tcs-1"].outcome is outcome


def test_the_largest_of_unequal_units_is_lost(tmp_path: Path) -> None:
    """A third dry cooler of 1 MW: 490 kW on 2 × 244 kW."""
    big = (
        "{name: big, kind: dry-cooler, count: 1, capacity: 1 MW, water: warm, fed_by: [mech-a], "
        "outdoor_temperature: 40 °C}"
    )
    site = f"plant: [{{name: dry-coolers, capacity: 244 kW}}, {big}]"
    result = judged(tmp_path, site)["heat rejection of warm"]
    assert (result.outcome, result.value, result.limit) == (FAIL, 490_000, 488_000)


@pytest.mark.parametrize(("day", "outcome"), [("24 °C", PASS), ("25 °C", FAIL)])
def test_towers_depend_on_the_wet_bulb(day: str, outcome: Outcome, tmp_path: Path) -> None:
    """They take 78 kW and 2 × 25 kW of the chillers, which need no rating outdoors any more."""
    found = judged(tmp_path, TOWERS % day)
    assert found["plant 'towers'"].outcome is outcome
    result = found["heat rejection of condenser"]
    assert (result.outcome, result.value, result.limit) == (PASS, 128_000, 128_000)
    assert "plant 'chillers'" not in found


def test_water_behind_chillers_may_be_colder_than_the_air_outside(tmp_path: Path) -> None:
    found = judged(tmp_path, "loops: [{name: tcs-1, water: chilled, facility_temperature: 18 °C}]")
    assert "loop tcs-1" not in found
    assert found["heat rejection of chilled"].outcome is FAIL  # 558 kW on one chiller


def test_air_handlers_with_condensers_of_their_own(tmp_path: Path) -> None:
    air = "halls: [{name: hall-1, air: {water: outdoors, outdoor_temperature: %s}}]"
    name = "air handlers of hall 'hall-1'"
    assert judged(tmp_path, air % "35 °C")[name].outcome is PASS
    assert judged(tmp_path, air % "25 °C")[name].outcome is FAIL
    assert judged(tmp_path, air % "null")[name].outcome is UNKNOWN


@pytest.mark.parametrize(
    ("site", "subject", "said"),
    [
        ("design_dry_bulb: null", "plant 'dry-coolers'", "'design_dry_bulb' of the site"),
        ("design_dry_bulb: null", "loop tcs-1", "'design_dry_bulb' of the site"),
        (TOWERS % "null", "plant 'towers'", "'design_wet_bulb' of the site"),
        ("loops: [{name: tcs-1, facility_temperature: null}]", "loop tcs-1", "'facility_temp"),
        ("loops: [{name: tcs-1, water: null}]", "heat rejection of warm", "'water' of the CDUs"),
        ("halls: [{name: hall-1, air: {water: null}}]", "heat rejection of chilled", "'water' of"),
        ("plant: [{name: dry-coolers, capacity: null}]", "heat rejection of warm", "'capacity' of"),
        ("plant: [{name: pumps, power: null}]", "heat rejection of warm", "'power' of the plant"),
        ("plant: [{name: chillers, rejects_to: null}]", "heat rejection of chilled", "'rejects_to'"),
    ],
)  # fmt: skip
def test_nobody_says(site: str, subject: str, said: str, tmp_path: Path) -> None:
    result = judged(tmp_path, site)[subject]
    assert result.outcome is UNKNOWN
    assert any(said in text for text in result.missing)


def test_a_site_that_states_nothing_of_them_is_not_judged(tmp_path: Path) -> None:
    liquid = builtin_pack() / "fixtures" / "liquid.yaml"
    (result,) = judged(tmp_path, base=liquid).values()
    assert result.outcome is Outcome.NOT_APPLICABLE
