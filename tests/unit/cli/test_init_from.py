"""``init --from``: from files of what stands to a blueprint that passes, its blanks filled in."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from brownfield_support import elevations_of
from cli_support import run_here
from rackwright.plan.load import load_plan
from rackwright.render.slurm import render_slurm
from rackwright.templates.making import MODELINE, SCHEMA

BLANK = re.compile(r"^( *(?:- )?)([^\s#-][^:#]*):  # (.*)$", re.MULTILINE)


_CONDUCTORS = "{length: 10 m, parallel: 1, cross_section: 95 mm2, material: copper}"
TOLD = {
    "continuous_derate": "80 %",
    "power_factor": "0.95",
    "utility": "130 kW",
    "feed_path": "[{kind: ups, modules: {count: 3, capacity: 40 kW, spare: 1}, overload: 110 kW, "
    "recharge: 8 kW, short_circuit_rating: 15 kA, voltage_tolerance: 1 %}, {kind: rpp, circuit: {voltage: "
    f"415 V, current: 200 A, phases: 3}}, short_circuit_rating: 15 kA, conductors: {_CONDUCTORS}}}]",
    "circuit": "{voltage: 415 V, current: 60 A, phases: 3}",
    "mode": "air",
    "version": '"22.05"',
}
"""What the single-line diagram of the room and its Slurm say."""


@pytest.fixture
def lab(tmp_path: Path) -> Path:
    """A folder with the sheets and the ``slurm.conf`` of a room."""
    ended = run_here(tmp_path, "init", "room", "--template", "lab", "--example")
    assert ended.code == 0, ended.err
    plan = load_plan(tmp_path / "room" / "blueprint.yaml").plan
    (tmp_path / "elevations.csv").write_text(elevations_of(plan), "utf-8")
    (tmp_path / "slurm.conf").write_text(render_slurm(plan)["slurm.conf"], "utf-8")
    return tmp_path


def test_a_room_is_taken_over_and_passes_with_its_blanks_filled_in(lab: Path) -> None:
    made = run_here(lab, "init", "site", "--from", "elevations.csv", "--from", "slurm.conf")
    assert made.code == 0, made.err
    assert made.out.splitlines() == ["site/blueprint.yaml", "site/todo.yaml"]
    todo = lab / "site" / "todo.yaml"
    assert (lab / "site/blueprint.yaml").read_text("utf-8").startswith(MODELINE)
    assert (lab / "site" / SCHEMA).is_file()
    text = todo.read_text("utf-8")
    asked = [match[2] for match in BLANK.finditer(text)]
    assert f"next: fill in the {len(asked)} fields of site/todo.yaml\n" in made.err
    unfilled = run_here(lab, "check", "site/blueprint.yaml", "--layer", "site/todo.yaml")
    assert unfilled.code != 0, "what is not filled in is missing still"

    whole = yaml.safe_load((lab / "room" / "blueprint.yaml").read_text("utf-8"))
    todo.write_text(
        BLANK.sub(lambda match: f"{match[1]}{match[2]}: {TOLD[match[2]]}", text), "utf-8"
    )
    assert set(asked) == set(TOLD)
    layers = ("--layer", "site/todo.yaml")
    judged = run_here(lab, "check", "site/blueprint.yaml", *layers, "--todo", "site/more.yaml")
    assert judged.code in {5, 6}, judged.err  # what rules need beside that is asked for as ever
    assert "wrote site/more.yaml: " in judged.err
    (lab / "site" / "rest.yaml").write_text(yaml.safe_dump(rest_of(whole)), "utf-8")
    passed = run_here(lab, "check", "site/blueprint.yaml", *layers, "--layer", "site/rest.yaml")
    assert passed.code == 0, passed.out
    assert run_here(lab, "check", "room/blueprint.yaml").code == 0


def rest_of(whole: dict[str, Any]) -> dict[str, Any]:
    """What the owner of the room says that neither the files nor the layer have."""
    (room,) = whole.pop("sites")
    power = {
        "contract": room["power"]["contract"],
        "cabling": room["power"]["cabling"],
        "conductors": room["halls"][0]["rows"][0]["rack_groups"][0]["feeds"][0]["conductors"],
        "sources": [{"name": "utility", "fault_current": "10 kA"}],
    }
    for group in room["halls"][0]["rows"][0]["rack_groups"]:
        del group["feeds"]
    (fabric,) = room["fabrics"]
    fabric["tiers"] = [
        {"name": tier["name"], "air_direction": tier["air_direction"]} for tier in fabric["tiers"]
    ]
    for key in ("node_groups", "provider", "power"):
        del room[key]
    for key in ("apiVersion", "name", "policy_set"):
        del whole[key]
    for key in ("kind", "version", "controllers", "accounting", "topology", "partitions"):
        del whole["scheduler"][key]
    return {**whole, "sites": [{**room, "power": power}]}


def test_a_file_that_is_there_is_left_as_it_is(lab: Path) -> None:
    (lab / "site").mkdir()
    (lab / "site" / "todo.yaml").write_text("name: mine\n", "utf-8")
    run_here(lab, "init", "site", "--from", "elevations.csv").refused("'site/todo.yaml' exists")
    assert [path.name for path in (lab / "site").iterdir()] == ["todo.yaml"]


SHEET = "rack,unit,product,name\nr1,2,dgx-h100,n1\nr1,42,SN2010,sw-a\n"
DEVICE = {
    "manufacturer": "Mellanox", "model": "SN2010", "slug": "mellanox-sn2010", "u_height": 1,
    "interfaces": [{"name": f"p{n}", "type": "25gbase-x-sfp28"} for n in range(18)],
}  # fmt: skip


def test_catalogue_of_the_team_is_found_outside_a_repository(tmp_path: Path) -> None:
    """As every other command does: from the working directory; and ``check`` finds it then as well."""
    (tmp_path / "h.csv").write_text(SHEET, "utf-8")
    (tmp_path / "sn2010.yaml").write_text(yaml.safe_dump(DEVICE), "utf-8")
    assert run_here(tmp_path, "catalogue", "import", "sn2010.yaml").code == 0
    (tmp_path / "rackwright.yaml").write_text("catalogue: [{path: hardware}]\n", "utf-8")
    made = run_here(tmp_path, "init", "o", "--from", "h.csv", "--product", "SN2010=mellanox-sn2010")
    assert made.code == 0, made.err
    assert yaml.safe_load((tmp_path / "o/rackwright.yaml").read_text()) == {
        "catalogue": [{"path": "../hardware"}]
    }
    checked = run_here(tmp_path, "check", "o/blueprint.yaml", "--layer", "o/todo.yaml")
    assert "mellanox-sn2010" not in checked.err


def test_id_that_is_none_is_told_and_not_the_name_in_the_file(tmp_path: Path) -> None:
    (tmp_path / "h.csv").write_text(SHEET, "utf-8")
    made = run_here(tmp_path, "init", "o", "--from", "h.csv", "--product", "SN2010=mellanox-sn2010")
    made.refused("'mellanox-sn2010', which 'SN2010' is said to be, is no product of the catalogue")


def test_mapping_file_renames_racks_and_hosts(tmp_path: Path) -> None:
    (tmp_path / "h.csv").write_text(SHEET, "utf-8")
    (tmp_path / "map.yaml").write_text(
        "products: {SN2010: leave out}\nnames: {r1: Row A 1, n1: ml7}\n", "utf-8"
    )
    made = run_here(tmp_path, "init", "o", "--from", "h.csv", "--map", "map.yaml")
    assert made.code == 0, made.err
    site = yaml.safe_load((tmp_path / "o/blueprint.yaml").read_text())["sites"][0]
    (group,) = site["node_groups"]
    assert (group["racks"], group["name"], group["host_names"]) == ("Row-A-1", "ml", "ml7")
    (tmp_path / "map.yaml").write_text("names: {N1: ml7}\n", "utf-8")
    run_here(tmp_path, "init", "p", "--from", "h.csv", "--map", "map.yaml").refused(
        "no file has the name 'N1', which 'map.yaml' replaces"
    )


def test_one_mapping_file_has_products_and_roles(tmp_path: Path) -> None:
    (tmp_path / "h.csv").write_text(SHEET, "utf-8")
    (tmp_path / "map.yaml").write_text("products: {SN2010: leave out}\n", "utf-8")
    made = run_here(tmp_path, "init", "o", "--from", "h.csv", "--map", "map.yaml")
    assert made.code == 0, made.err
    assert "left out as asked: 1 device 'SN2010'" in made.err
    run_here(tmp_path, "init", "p", "--map", "map.yaml").refused(
        "--map has no effect without --from"
    )
