"""A blueprint, its sheets, and the blueprint of the sheets: the same racks, units and products."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from brownfield_support import elevations_of, filled, standing, take_over
from fabric_factories import a_fabric, a_tier
from factories import (
    CATALOGUE,
    a_blueprint,
    a_hall,
    a_rack_group,
    a_row,
    a_site,
    some_nodes,
)
from rack_records import rack_devices
from rackwright.model.cluster import Blueprint
from rackwright.plan.expand import expand
from rackwright.plan.load import load_plan
from rackwright.plan.model import Plan
from rackwright.plan.problems import PlanError
from rackwright.resources import bundled


def again(folder: Path, original: dict[str, Any], plan: Plan) -> Plan:
    """The plan of the blueprint of the sheets of a plan."""
    made = take_over(folder, {"elevations.csv": elevations_of(plan)})
    return expand(Blueprint.model_validate(filled(made, original)), CATALOGUE)


FIXTURES = (
    "air.yaml", "busways.yaml", "cdu-in-rack.yaml", "fabric.yaml", "immersion.yaml", "liquid.yaml",
    "nvlink-domains.yaml", "plates-and-doors.yaml", "storage.yaml", "top-of-rack.yaml", "two-feeds.yaml",
)  # fmt: skip
PRODUCTS = ("dgx-h100", "cpu-2u", "mi300x-8x", "qm9700")


@st.composite
def sites(draw: st.DrawFn) -> dict[str, Any]:
    """A site with groups of nodes and tiers of switches in some of its racks."""
    racks = [f"c{number:02d}" for number in range(1, draw(st.integers(2, 6)))]
    groups = []
    for number in range(draw(st.integers(1, 4))):
        where = draw(st.lists(st.sampled_from(racks), min_size=1, unique=True))
        per_rack = draw(st.integers(1, 3))
        count = draw(st.integers(1, per_rack * len(where)))
        more: dict[str, Any] = {}
        if draw(st.booleans()):
            more["start_unit"] = f"{draw(st.integers(1, 20))} U"
        if draw(st.booleans()):
            more["host_names"] = f"node{number}x[{100 - count + 1}-100]"
        group = some_nodes(
            f"{draw(st.sampled_from('abc'))}{'xyzw'[number]}", count=count, racks=",".join(where),
            per_rack=per_rack, type=draw(st.sampled_from(PRODUCTS[:3])), **more,
        )  # fmt: skip
        groups.append(group)
    tiers = []
    for tier in draw(st.lists(st.sampled_from(("leaf", "spine")), unique=True)):
        where = draw(st.lists(st.sampled_from(racks), min_size=1, unique=True))
        each = draw(st.integers(1, 3))
        start = {"start_unit": "30 U"} if draw(st.booleans()) else {}
        tiers.append(
            a_tier(tier, each * len(where), racks=",".join(where)) | {"per_rack": each} | start
        )
    fabric = a_fabric(tiers=tiers, attached=None, links=None, rail_optimized=None)
    halls = [a_hall(rows=[a_row(a_rack_group(",".join(racks)))])]
    return a_site(halls=halls, node_groups=groups, **({"fabrics": [fabric]} if tiers else {}))


def without_switch_names(devices: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Switches that do not stand as a tier can tell are cut into several tiers, and called otherwise."""
    shown = [(*one[:3], () if one[1] == "switch" else one[3]) for one in devices]
    return sorted(shown, key=repr)


@settings(deadline=None, max_examples=60)
@given(site=sites())
def test_round_trip_keeps_the_equipment(
    tmp_path_factory: pytest.TempPathFactory, site: dict[str, Any]
) -> None:
    original = a_blueprint(site)
    try:
        plan = expand(Blueprint.model_validate(original), CATALOGUE)
    except PlanError:
        assume(False)
        raise
    assume(all(device.fits for device in rack_devices(plan.onprem[0])))
    folder = tmp_path_factory.mktemp("site")
    found, wanted = standing(again(folder, original, plan)), standing(plan)
    assert found.keys() == wanted.keys()
    for rack, devices in wanted.items():
        assert without_switch_names(found[rack]) == without_switch_names(devices)


@pytest.mark.parametrize("fixture", FIXTURES)
def test_our_own_blueprints_are_taken_over_with_every_name(fixture: str, tmp_path: Path) -> None:
    path = bundled("policies") / "fixtures" / fixture
    loaded = load_plan(path)
    onprem = [site for site in loaded.tree.data["sites"] if site["provider"] == "onprem"]
    original = {**loaded.tree.data, "sites": onprem}
    found = standing(again(tmp_path, original, loaded.plan))
    assert found == standing(loaded.plan)


def test_a_spine_above_leaves_that_fill_the_rack_from_its_top_moved_one_unit(
    tmp_path: Path,
) -> None:
    tiers = [a_tier("spine", 1, racks="c01"), a_tier("leaf", 2, racks="c01")]
    fabric = a_fabric(tiers=tiers, attached=None, links=None, rail_optimized=None)
    original = a_blueprint(a_site(fabrics=[fabric]))
    plan = expand(Blueprint.model_validate(original), CATALOGUE)
    found, wanted = standing(again(tmp_path, original, plan)), standing(plan)
    assert found.keys() == wanted.keys() == {"lab/hall-1/row-1/0/c01"}
    (devices,), (before,) = found.values(), wanted.values()
    assert without_switch_names(devices) == without_switch_names(before)


def test_devices_that_share_units_are_there_again(tmp_path: Path) -> None:
    tiers = [
        a_tier("leaf", 4, racks="c01", per_rack=4, start_unit="40 U", unit_share="half-width"),
        a_tier("spine", 1, racks="c01", start_unit="44 U", unit_share="rear"),
        a_tier("core", 1, racks="c01", start_unit="44 U", unit_share="front"),
        a_tier("edge", 3, racks="c01", per_rack=3, start_unit="46 U", unit_share="half-depth"),
    ]
    fabric = a_fabric(tiers=tiers, attached=None, links=None, rail_optimized=None)
    original = a_blueprint(a_site(fabrics=[fabric]))
    plan = expand(Blueprint.model_validate(original), CATALOGUE)
    found = rack_devices(again(tmp_path, original, plan).onprem[0])
    wanted = rack_devices(plan.onprem[0])
    assert [one.share for one in wanted if one.kind == "switch"] == [
        *("left", "right", "left", "right", "rear", "front", "front", "rear", "front"),
    ]
    assert sorted((one.unit_low or 0, one.share) for one in found) == sorted(
        (one.unit_low or 0, one.share) for one in wanted
    )
