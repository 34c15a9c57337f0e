"""Racks with cold plates and a rear door: heat by plates, door and room, flow and weight, by hand.

Each of the twelve racks holds eight servers of 10.2 kW, 8 kW of which go into the plates: 64 kW into the
plates and 17.6 kW into the air. The air has 24 °C at the inlets and 24 + 20 = 44 °C at the door, which takes
20 kW where its water is 20 K colder.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rackwright.plan.expansion import SitePlan
from rackwright.plan.load import load_plan
from rackwright.policy.api import Outcome
from rackwright.policy.check import check_blueprint
from rackwright.policy.packs.loader import builtin_pack

BLUEPRINT = builtin_pack() / "fixtures" / "plates-and-doors.yaml"
PASS, FAIL, UNKNOWN = Outcome.PASS, Outcome.FAIL, Outcome.UNKNOWN


def a_site(folder: Path, changes: dict[str, str] | None = None) -> Path:
    text = BLUEPRINT.read_text()
    for old, new in (changes or {}).items():
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    path = folder / "site.yaml"
    path.write_text(text)
    return path


def plan(folder: Path, changes: dict[str, str] | None = None) -> SitePlan:
    (site,) = load_plan(a_site(folder, changes)).plan.onprem
    return site


def judged(folder: Path, rule: str, changes: dict[str, str] | None = None) -> list[Any]:
    return list(check_blueprint(a_site(folder, changes), only=(rule,)).results)


def water(temperature: str) -> dict[str, str]:
    return {"supply_temperature: 24 °C": f"supply_temperature: {temperature}"}


@pytest.mark.parametrize(
    ("temperature", "door", "room"),
    [
        # 44 - 24 = 20 K: the door could take 20 kW; it takes the air part, and nothing of the plates'.
        ("24 °C", 17_600, 0),
        # 44 - 34 = 10 K: half of 20 kW.
        ("34 °C", 10_000, 7_600),
        ("44 °C", 0, 17_600),
    ],
)
def test_heat_is_split_between_cold_plates_door_and_room(
    temperature: str, door: float, room: float, tmp_path: Path
) -> None:
    (rack,) = plan(tmp_path, water(temperature)).racks
    assert rack.kind.heat_w == pytest.approx(81_600)
    assert rack.kind.heat_liquid_w == pytest.approx(64_000)
    assert rack.kind.air_into_loop_w == pytest.approx(door)
    assert rack.kind.heat_air_w == pytest.approx(room)


def test_each_loop_has_its_own_heat_and_flow(tmp_path: Path) -> None:
    """Plates: 12 × 64 = 768 kW; a server needs 60 × 8 / (1.02 × 3.95 × 10) = 11.913 L/min, more than 10.

    Doors: 12 × 17.6 = 211.2 kW, 60 × 211.2 / (0.997 × 4.18 × 6) = 506.8 L/min.
    """
    site = plan(tmp_path)
    plates, doors = site.cooling.loops
    assert plates.heat_w == pytest.approx(768_000)
    assert plates.flow_lpm == pytest.approx(96 * 11.913, rel=1e-4)
    assert doors.heat_w == pytest.approx(211_200)
    assert doors.flow_lpm == pytest.approx(506.8, abs=0.05)
    (rack,) = site.racks
    assert rack.kind.flow_lpm == pytest.approx((96 * 11.913 + 506.8) / 12, rel=1e-4)


@pytest.mark.parametrize(
    ("temperature", "outcome"),
    [
        ("24 °C", Outcome.NOT_APPLICABLE),  # no heat is left for the hall
        ("34 °C", PASS),  # 12 × 7.6 = 91.2 kW
        ("44 °C", FAIL),  # 12 × 17.6 = 211.2 kW; two of three handlers carry 2 × 100 × 0.9971 kW
    ],
)
def test_a_hall_is_judged_by_what_its_doors_leave(
    temperature: str, outcome: Outcome, tmp_path: Path
) -> None:
    found = [result.outcome for result in judged(tmp_path, "COOL-001", water(temperature))]
    assert found == [outcome]


def test_a_door_on_the_loop_of_the_plates_leaves_heat_that_is_too_much(tmp_path: Path) -> None:
    """Coolant of 40 °C lies 4 K below the air: 20 × 4 / 20 = 4 kW; 12 × 13.6 = 163.2 kW are left."""
    changes = {
        "rear_door_loop: doors": "rear_door_loop: plates",
        "count: 3\n          inlet": "count: 2\n          inlet",
    }
    (rack,) = plan(tmp_path, changes).racks
    assert rack.kind.air_into_loop_w == pytest.approx(4_000)
    assert rack.kind.heat_air_w == pytest.approx(13_600)
    (result,) = judged(tmp_path, "COOL-001", changes)
    assert (result.outcome, result.value) == (FAIL, pytest.approx(163_200))


def test_the_loop_of_the_doors_is_judged_by_their_heat(tmp_path: Path) -> None:
    """211.2 kW on one CDU of 1 MW pass when the other is lost; with one CDU nothing is left."""
    heat = [r for r in judged(tmp_path, "COOL-004") if r.unit == "W"]
    assert [r.outcome for r in heat] == [PASS, PASS]
    alone = {"count: 2\n        fluid: water": "count: 1\n        fluid: water"}
    found = {r.subject.name: r for r in judged(tmp_path, "COOL-004", alone) if r.unit == "W"}
    plates, doors = found["mem1 loop plates"], found["mem1 loop doors"]
    assert (plates.outcome, doors.outcome) == (PASS, FAIL)
    (share,) = doors.contributors
    assert (share.name, share.count, share.each) == ("rear door", 12, pytest.approx(17_600))


def test_a_door_beside_cold_plates_weighs(tmp_path: Path) -> None:
    """8 × 80 + 6 × 12 + 150 = 862 kg in a rack of 170 kg: 1,032 kg, 258 kg on each caster."""
    (rack,) = plan(tmp_path).racks
    assert rack.kind.content_kg == pytest.approx(862)
    assert rack.kind.weight_kg == pytest.approx(1_032)
    for limit, outcome in (("258 kg", PASS), ("257 kg", FAIL)):
        changes = {"concentrated: 680 kg": f"concentrated: {limit}"}
        caster = next(r for r in judged(tmp_path, "RACK-004", changes) if r.value == 258)
        assert caster.outcome is outcome


def test_its_servers_are_on_cold_plates(tmp_path: Path) -> None:
    assert {r.outcome for r in judged(tmp_path, "COOL-003")} == {PASS}
    (plates,) = (
        r for r in judged(tmp_path, "COOL-005") if r.what == "supply temperature of the loop"
    )
    assert (plates.outcome, plates.value, plates.limit) == (PASS, 40, 40)


@pytest.mark.parametrize(
    ("left_out", "rule", "missing"),
    [
        ("rear_door_capacity: 20 kW", "COOL-001", "'rear_door_capacity' of racks p[01-12]"),
        ("rear_door_difference: 20 K", "COOL-004", "'rear_door_difference' of racks p[01-12]"),
        ("rear_door_weight: 150 kg", "RACK-003", "'rear_door_weight' of racks p[01-12]"),
        ("supply_temperature: 24 °C", "COOL-001", "'supply_temperature' of the loop 'doors'"),
    ],
)
def test_rack_without_a_fact_of_its_door_is_unknown(
    left_out: str, rule: str, missing: str, tmp_path: Path
) -> None:
    unknown = [r for r in judged(tmp_path, rule, {left_out: ""}) if r.outcome is UNKNOWN]
    assert unknown
    assert all(missing in result.missing for result in unknown)


def test_the_loop_of_the_plates_is_known_where_the_door_is_not(tmp_path: Path) -> None:
    plates, doors = plan(tmp_path, {"rear_door_capacity: 20 kW": ""}).cooling.loops
    assert plates.heat_w == pytest.approx(768_000)
    assert plates.flow_lpm is not None
    assert (doors.heat_w, doors.flow_lpm) == (None, None)
