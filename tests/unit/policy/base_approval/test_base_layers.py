"""Layers that a blueprint names belong to it: the base's own count while a change is judged."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import yaml

from factories import a_site, three_lanes
from pull_request import FILE, Pull, overdrawn
from rackwright.cli import main
from rackwright.exit_codes import ExitCode

LAYER = "site/facility.yaml"
LAB = "lab/blueprint.yaml"
LOWERED = {"PWR-006": {"enforcement": "disabled", "reason": "a lab may be overdrawn"}}


@pytest.fixture
def layered(pull: Pull) -> Pull:
    """A base whose contract of 45 kW is in a layer."""
    write_layer(pull, "45 kW")
    pull.open(without_contract(), layers=["facility.yaml"])
    return pull


def without_contract() -> dict[str, object]:
    site = overdrawn()
    del site["power"]["contract"]
    return site


def write_layer(pull: Pull, contract: str) -> None:
    path = pull.top / LAYER
    path.parent.mkdir(parents=True, exist_ok=True)
    name = overdrawn()["name"]
    path.write_text(yaml.safe_dump({"sites": [{"name": name, "power": {"contract": contract}}]}))


def test_layer_of_the_blueprint_is_read_without_an_option(layered: Pull) -> None:
    assert layered.alone() == ExitCode.VIOLATION
    write_layer(layered, "450 kW")
    assert layered.alone() == ExitCode.CLEAN


def test_claim_that_a_change_raises_in_a_layer_does_not_hold(layered: Pull) -> None:
    write_layer(layered, "450 kW")
    code, lowered = layered.report()
    assert code == ExitCode.VIOLATION
    assert any("contract" in name for name in lowered)


def test_layer_that_a_change_drops_counts_still(layered: Pull) -> None:
    layered.write(overdrawn(power={"contract": "450 kW"}))
    assert layered.alone() == ExitCode.CLEAN
    assert layered.judge() == ExitCode.VIOLATION


def test_layer_that_moves_with_its_blueprint_counts_still(layered: Pull) -> None:
    moved = layered.top / "hall"
    (layered.top / "site").rename(moved)
    path = moved / "facility.yaml"
    path.write_text(path.read_text().replace("45 kW", "450 kW"))
    assert layered.judge(file="hall/blueprint.yaml") == ExitCode.VIOLATION


def test_layer_of_the_base_is_read_where_it_was_though_its_folder_is_a_link_now(
    pull: Pull, capsys: pytest.CaptureFixture[str]
) -> None:
    """The change takes all in one file, so that no layer of its own passes the link."""
    for folder, contract in (("site/common", "45 kW"), ("lab/common", "450 kW")):
        power = {"contract": contract}
        layer = pull.top / folder / "facility.yaml"
        layer.parent.mkdir(parents=True)
        layer.write_text(yaml.safe_dump({"sites": [{"name": overdrawn()["name"], "power": power}]}))
    pull.open(without_contract(), layers=["common/facility.yaml"])
    shutil.rmtree("site/common")
    Path("site/common").symlink_to("../lab/common")
    pull.write(overdrawn(power={"contract": "450 kW"}))
    assert pull.alone() == ExitCode.CLEAN
    assert pull.judge() == ExitCode.VIOLATION
    pull.commit()
    assert main(["diff", "--json", "main...HEAD", FILE]) == ExitCode.VIOLATION
    assert "power.contract" in capsys.readouterr().out


@pytest.mark.parametrize("place", ["hall/blueprint.yaml", LAB])
@pytest.mark.parametrize("name", ["demo", "lab", "other"])
def test_cluster_whose_sites_move_into_a_layer_is_not_another_one(
    pull: Pull, place: str, name: str
) -> None:
    """Its file alone is more like that of a lab: what its layers say belongs to it."""
    small = a_site(halls=[], node_groups=[], power={"sources": three_lanes()[:1]})
    pull.write(small, LAB, name="lab", policies=LOWERED)
    pull.open(overdrawn())
    whole = yaml.safe_load(Path(FILE).read_text())
    Path(FILE).unlink()
    path = pull.top / place
    path.parent.mkdir(exist_ok=True)
    head = {"apiVersion": whole.pop("apiVersion"), "name": "lab", "layers": ["all.yaml"]}
    path.write_text(yaml.safe_dump(head))
    layer = {**whole, "name": name, "policies": LOWERED}
    path.with_name("all.yaml").write_text(yaml.safe_dump(layer))
    expected = ExitCode.USAGE if place == LAB or name == "lab" else ExitCode.VIOLATION
    assert pull.judge(file=place) == expected


def test_layer_that_is_a_link_is_refused_with_a_base(layered: Pull) -> None:
    (layered.top / LAYER).rename(layered.top / "elsewhere.yaml")
    (layered.top / LAYER).symlink_to(Path("../elsewhere.yaml"))
    assert layered.judge() == ExitCode.USAGE
    assert (layered.top / FILE).is_file()
