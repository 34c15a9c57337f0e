"""A change of a team's rear door is judged by the facts of its base until it is merged."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from catalogue_team import an_entry, edit, write
from factories import a_blueprint, a_hall, a_rack_group, a_row, a_site
from policy_team import FILE, Team
from rackwright.cli import main

ENTRY = Path("hardware/rear-doors/acme-door.yaml")
DOORS = {
    "name": "doors",
    "cdu": "cdu-spec-1mw",
    "count": 2,
    "fluid": "water",
    "temperature_rise": "6 K",
    "supply_temperature": "18 °C",
}


def a_door(**changes: str | None) -> dict[str, Any]:
    """What the team buys: it takes all of the 45.2 kW of a rack with four DGX H100, at 38 °C behind it."""
    numbers = {
        "capacity": "50 kW",
        "difference": "20 K",
        "flow": "110 L/min",
        "pressure_drop": "50 kPa",
        "weight": "150 kg",
        **changes,
    }
    return an_entry("rear-door", "acme-door", {k: v for k, v in numbers.items() if v is not None})


@pytest.fixture
def owner(team: Team) -> Team:
    """Its only rack has a door of its own catalogue, in a hall that is left without air when a unit is lost."""
    write(team.top, Path("rackwright.yaml"), {"catalogue": [{"path": "hardware"}]})
    write(team.top, ENTRY, a_door())
    cooling = {"mode": "rear-door", "loop": "doors", "rear_door": "acme-door"}
    hall = a_hall(rows=[a_row(a_rack_group(cooling=cooling))])
    hall["air"]["count"] = 1
    write(team.top, FILE, a_blueprint(a_site(halls=[hall], loops=[DOORS])))
    return team


def number(field: str, value: str) -> Any:
    return lambda entry: entry[field].update(value=value)


def judged(owner: Team, rule: str, base: str | None = "main") -> tuple[Any, Any]:
    """What a rule says, and the facts that do not hold."""
    _, report = owner.check(f"--only={rule}", "--all", base=base)
    (found,) = report["results"]
    return found, owner.notices(report)


def written(owner: Team, **changes: str | None) -> None:
    """Numbers of the door beside its product."""
    document = yaml.safe_load((owner.top / FILE).read_text())
    (group,) = document["sites"][0]["halls"][0]["rows"][0]["rack_groups"]
    for name, value in changes.items():
        group["cooling"].pop(name, None)
        if value is not None:
            group["cooling"][name] = value
    write(owner.top, FILE, document)


@pytest.mark.parametrize(
    ("field", "poor", "good", "kept"),
    [("capacity", "10 kW", "50 kW", "10 kW"), ("difference", "100 K", "20 K", "100 K")],
)
def test_a_door_that_a_change_makes_better_takes_what_the_base_says(
    owner: Team, field: str, poor: str, good: str, kept: str
) -> None:
    """At 20 K it takes 10 kW, and 35.2 kW are left for no air handler."""
    edit(owner.top, ENTRY, number(field, poor))
    owner.branch()
    edit(owner.top, ENTRY, number(field, good))
    assert judged(owner, "COOL-001", base=None)[0]["outcome"] == "not_applicable"
    found, told = judged(owner, "COOL-001")
    assert (found["outcome"], found["value"]) == ("fail", pytest.approx(35_201, abs=1))
    assert f"it stays '{kept}' until the change is merged" in told[f"acme-door: {field}"]


def test_a_door_that_a_change_makes_lighter_weighs_what_the_base_says(owner: Team) -> None:
    edit(owner.top, ENTRY, number("weight", "1500 kg"))
    owner.branch()
    edit(owner.top, ENTRY, number("weight", "150 kg"))
    light = judged(owner, "RACK-003", base=None)[0]
    found, told = judged(owner, "RACK-003")
    assert (light["outcome"], found["outcome"]) == ("pass", "fail")
    assert found["value"] == pytest.approx(light["value"] + 1350)
    assert list(told) == ["acme-door: weight"]


def test_a_door_that_a_change_makes_poorer_is_judged_so_at_once(owner: Team) -> None:
    owner.branch()
    edit(owner.top, ENTRY, number("capacity", "10 kW"))
    found, told = judged(owner, "COOL-001")
    assert (found["outcome"], told) == ("fail", {})


def test_a_number_that_the_base_does_not_know_stays_unknown(owner: Team) -> None:
    write(owner.top, ENTRY, a_door(weight=None))
    owner.branch()
    write(owner.top, ENTRY, a_door())
    found, told = judged(owner, "RACK-003")
    assert found["outcome"] == "unknown"
    assert "it stays unknown" in told["acme-door: weight"]


def test_a_weight_written_beside_the_product_is_the_bases(owner: Team) -> None:
    """Written over the product by the change, and taken out by it."""
    owner.branch()
    heavy = judged(owner, "RACK-003")[0]["value"]
    written(owner, rear_door_weight="1 kg")
    found, told = judged(owner, "RACK-003")
    assert found["value"] == heavy
    assert [key for key in told if "rear_door_weight" in key]


def test_a_weight_that_a_change_takes_out_is_the_bases(owner: Team) -> None:
    heavy = judged(owner, "RACK-003", base=None)[0]["value"]
    written(owner, rear_door_weight="200 kg")
    owner.branch()
    written(owner, rear_door_weight=None)
    found, told = judged(owner, "RACK-003")
    assert found["value"] == pytest.approx(heavy + 50)
    assert [key for key in told if "rear_door_weight" in key]


def test_missing_fact_of_a_teams_door_names_the_field_of_its_file(owner: Team) -> None:
    write(owner.top, ENTRY, a_door(weight=None))
    owner.commit()
    found, _ = judged(owner, "RACK-003", base=None)
    assert found["outcome"] == "unknown"
    assert "set 'weight' in the entry of 'acme-door' (" in found["fix"]
    assert f"{ENTRY})" in found["fix"]


def test_a_todo_layer_asks_for_what_a_door_lacks(owner: Team) -> None:
    write(owner.top, ENTRY, a_door(capacity=None, weight=None))
    todo = owner.top / "todo.yaml"
    owner.check("--only=COOL-001", "--only=RACK-003", f"--todo={todo}", "--all", base=None)
    text = todo.read_text()
    for name in ("capacity", "weight"):
        assert f"  - product: acme-door\n    field: {name}\n" in text
    assert "See the data sheet or manual of Acme for Acme One." in text
    assert "Weight of the door filled with water, in kg." in text


def test_a_new_door_is_shown_with_its_sources(owner: Team) -> None:
    owner.branch()
    write(owner.top, ENTRY.with_name("acme-99.yaml"), {**a_door(), "id": "acme-99"})
    written(owner, rear_door="acme-99")
    _, report = owner.check("--only=RACK-003", "--all")
    (notice,) = (n for n in report["hygiene"]["notices"] if n["id"] == "acme-99")
    assert notice["kind"] == "proposed"
    assert "a rear door that is new in this change" in notice["message"]
    assert "'A data sheet' (2026-10-01, official)" in notice["message"]


def test_a_door_that_catalogue_new_begins_is_read_when_it_is_filled_in(
    owner: Team, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(owner.top)
    (owner.top / ENTRY).unlink()
    assert main(["catalogue", "new", "rear-doors/acme-door"]) == 0
    assert "# difference: " in (owner.top / ENTRY).read_text()
    assert main(["catalogue", "test"]) != 0
    write(owner.top, ENTRY, a_door())
    assert main(["catalogue", "test"]) == 0
    capsys.readouterr()
    assert main(["catalogue", "show", "acme-door"]) == 0
    assert "lacks: nothing" in capsys.readouterr().out
    assert main(["catalogue", "list", "--own"]) == 0
    assert "rear-doors" in capsys.readouterr().out
    assert judged(owner, "RACK-003", base=None)[0]["outcome"] == "pass"
