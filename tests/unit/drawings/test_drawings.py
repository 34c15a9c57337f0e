"""Drawings: what is in them is the plan's, they are XML, and no name in them is markup."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import pytest

from fabric_factories import a_fabric, a_tier
from factories import a_plan, a_site
from rackwright.drawings import one_line
from rackwright.drawings.collection import KINDS, draw
from rackwright.drawings.cooling import draw_cooling
from rackwright.drawings.elevation import draw_rack
from rackwright.drawings.fabric import draw_fabric
from rackwright.drawings.floor import colours_of, draw_floor
from rackwright.drawings.one_line import boxes_of, draw_one_line
from rackwright.drawings.scale import even_scale, left_scale
from rackwright.drawings.svg import Drawing, fitted
from rackwright.model.quantities import format_quantity
from rackwright.plan.load import load_plan
from rackwright.plan.model import Plan
from rackwright.policy.api import Outcome
from rackwright.policy.engine import Result
from rackwright.report.overview.elevation import render_rack
from rackwright.report.overview.rack import find_rack
from rackwright.resources import bundled
from report_factories import FAIL, HOSTILE_TEXT

SVG = "{http://www.w3.org/2000/svg}"


def a_fixture(name: str) -> Plan:
    return load_plan(bundled("policies") / "fixtures" / f"{name}.yaml").plan


@pytest.fixture(scope="module")
def fabric() -> Plan:
    return a_fixture("fabric")


def read(drawing: Drawing) -> ET.Element:
    return ET.fromstring(drawing.standalone())


def texts(drawing: Drawing) -> list[str]:
    return ["".join(one.itertext()) for one in read(drawing).iter(f"{SVG}text")]


@pytest.mark.parametrize(
    "name", ["fabric", "plant", "top-of-rack", "nvlink-domains", "immersion", "aws"]
)
def test_everything_is_xml_and_in_its_frame(name: str) -> None:
    plan = a_fixture(name)
    files = [one for kind in KINDS for one in draw(plan, kind)]
    assert len({file for file, _ in files}) == len(files) > (0 if name == "aws" else 3)
    for _, drawing in files:
        root = read(drawing)
        assert root.get("width") is not None
        for one in root.iter(f"{SVG}rect"):
            if one.get("width") != "100%":
                right = float(one.get("x", 0)) + float(one.get("width", 0))
                low = float(one.get("y", 0)) + float(one.get("height", 0))
                assert 0 <= right <= drawing.width
                assert 0 <= low <= drawing.height + 8, drawing.title


def test_aws_site_shows_its_subnets_hosts_and_file_systems() -> None:
    """The page of a cluster on AWS had no drawing at all."""
    plan = a_fixture("aws")
    (site,) = plan.aws
    ((file, drawing),) = draw(plan, "aws")
    assert file == f"aws-{site.name}.svg"
    found = texts(drawing)
    told = "\n".join(found)
    assert site.network.cidr in told
    for subnet in site.subnets:
        assert any(subnet.cidr in text and subnet.zone in text for text in found)
    for group in site.groups:
        assert f"{group.spec.name}: {group.spec.most} × {group.spec.type}" in found
        assert any(text.startswith(f"{group.efa_interfaces} EFA interface") for text in found)
    for system in site.file_systems:
        assert f"FSx for Lustre {system.name}: {system.mount}" in found
    boxes = [
        [float(one.get(key, 0)) for key in ("x", "y", "width", "height")]
        for one in read(drawing).iter(f"{SVG}rect")
        if "device" in one.get("class", "")
    ]
    assert len(boxes) >= len(site.servers) + len(site.groups) + len(site.file_systems)
    assert not [
        (a, b)
        for n, a in enumerate(boxes)
        for b in boxes[n + 1 :]
        if a[0] < b[0] + b[2] and b[0] < a[0] + a[2] and a[1] < b[1] + b[3] and b[1] < a[1] + a[3]
    ]
    assert all(
        x + wide <= drawing.width and y + high <= drawing.height for x, y, wide, high in boxes
    )


def test_a_rack_shows_its_devices_in_their_units(fabric: Plan) -> None:
    view = find_rack(fabric, "c01")
    drawing = draw_rack(view, {"dgx": "8 × compute"})
    found = texts(drawing)
    for one in view.devices:
        assert one.label in found
    assert found.count("8 × compute") == sum(one.device.group == "dgx" for one in view.devices)
    assert [str(unit) for unit in range(1, 49)] == [one for one in found if one.isdigit()][:48]
    for source in view.racks.sources:
        assert f"from {source}" in found
    plugs = list(read(drawing).iter(f"{SVG}circle"))
    assert len(plugs) == sum(sum(one.device.psus or ()) for one in view.devices)


def test_a_floor_has_every_rack_in_the_step_of_its_number(fabric: Plan) -> None:
    (site,) = fabric.onprem
    colours = colours_of(site, "weight")
    root = read(draw_floor(site, site.cooling.halls[0].hall, "weight"))
    cells = {g.get("data-r"): g for g in root.iter(f"{SVG}g") if g.get("class") == "cell"}
    kinds = {name: racks.kind for racks in site.racks for name in racks.names}
    assert set(cells) == set(kinds)
    for rack, kind in kinds.items():
        fill = cells[rack].find(f"{SVG}rect")
        assert fill is not None
        weight = kind.weight_kg
        assert (fill.get("class") or "").split() == ["rack", colours.scale.step(weight)]


def test_floor_is_to_scale_where_aisles_are_known() -> None:
    (site,) = a_fixture("fabric").onprem
    hall = site.cooling.halls[0].hall
    drawing = draw_floor(site, hall)
    assert "1 m" in texts(drawing)
    kinds = {name: racks.kind for racks in site.racks if racks.hall == hall for name in racks.names}
    metres = []
    for one in read(drawing).iter(f"{SVG}g"):
        fill = one.find(f"{SVG}rect")
        if one.get("class") == "cell" and fill is not None:
            kind = kinds[one.get("data-r", "")]
            assert kind.footprint_m2 is not None
            assert kind.aisle_m is not None
            wide = kind.footprint_m2 / (kind.rack_depth_m + kind.aisle_m)
            metres += [
                float(fill.get("width", 0)) / wide,
                float(fill.get("height", 0)) / kind.rack_depth_m,
            ]
    assert len(metres) == 2 * len(kinds)
    assert max(metres) == pytest.approx(min(metres), rel=0.01)
    unknown = [
        replace(racks, kind=replace(racks.kind, aisle_m=None, footprint_m2=None))
        for racks in site.racks
    ]
    plain = texts(draw_floor(replace(site, racks=tuple(unknown)), hall))
    assert "1 m" not in plain
    assert "not to scale: the depth of the aisles is not set" in plain


def test_row_shows_every_rack_with_its_devices_side_by_side(fabric: Plan) -> None:
    (site,) = fabric.onprem
    drawn = dict(draw(fabric, "rows"))
    assert len(drawn) == len({(racks.hall, racks.row) for racks in site.racks})
    for racks in site.racks:
        (row,) = (
            one for file, one in drawn.items() if file.endswith(f"-{racks.hall}-{racks.row}.svg")
        )
        found = texts(row)
        assert set(racks.names) <= set(found)
    fronts = [one for row in drawn.values() for one in read(row).iter(f"{SVG}g")]
    assert len(fronts) == sum(racks.count for racks in site.racks)
    devices = sum(
        "device" in one.get("class", "")
        for row in drawn.values()
        for one in read(row).iter(f"{SVG}rect")
    )
    stood = (
        racks.count
        for racks in site.racks
        for device in racks.kind.devices
        if device.unit_low is not None and device.fits and device.height_u
    )
    assert devices == sum(stood)


def test_headroom_of_a_rack_is_the_least_of_its_measures(fabric: Plan) -> None:
    (site,) = fabric.onprem
    path = site.racks[0].path

    def a_result(value: float, at: tuple[str | int, ...]) -> Result:
        outcome = Outcome.PASS if value <= 100.0 else Outcome.FAIL
        subject = replace(FAIL.subject, path=at)
        return replace(FAIL, value=value, limit=100.0, subject=subject, outcome=outcome)

    passed = [a_result(70.0, path), a_result(96.0, (*path, "feeds", 0))]
    values = colours_of(site, "headroom", passed).values
    for own, value in zip(site.racks, values, strict=True):
        assert value == (pytest.approx(4.0) if own.path == path else None)
    broken = colours_of(site, "headroom", [*passed, a_result(120.0, path)])
    assert broken.step(0) == "over"
    unknown = replace(passed[0], value=None, outcome=Outcome.UNKNOWN)
    assert colours_of(site, "headroom", [*passed, unknown]).step(0) == "unknown"


def test_scales_have_round_steps_and_say_them() -> None:
    scale = even_scale("power", "W", [40_800.0, 12_400.0, None])
    assert [text for _, text in scale.entries()] == [
        "≤ 10 kW", "≤ 20 kW", "≤ 30 kW", "≤ 40 kW", "≤ 50 kW", "> 50 kW", "unknown",
    ]  # fmt: skip
    assert [scale.step(w) for w in (0.0, 10_000.0, 10_001.0, 60_000.0, None)] == [
        "b0", "b0", "b1", "b5", "unknown",
    ]  # fmt: skip
    left = left_scale("left")
    assert [left.step(p) for p in (-1.0, 0.0, 5.0, 60.0)] == ["over", "b5", "b5", "b0"]
    assert even_scale("nothing", "W", []).step(0.0) == "b0"


@pytest.mark.parametrize("name", ["fabric", "plant", "busways"])
def test_a_one_line_shows_the_loads_of_each_state(name: str) -> None:
    (site,) = a_fixture(name).onprem
    normal = texts(draw_one_line(site))
    for source in site.power.sources:
        assert source.source in normal
        if source.facility_w is not None:
            load = format_quantity(source.facility_w, "W")
            assert any(one.startswith(load) for one in normal)
    lost = site.power.sources[1].source
    after = texts(draw_one_line(site, lost))
    assert "lost" in after
    for load_w in site.power.after_loss.without(lost).values():
        if load_w is not None:
            assert any(one.startswith(format_quantity(load_w, "W")) for one in after)


def test_equal_sources_of_a_large_site_are_one_box(monkeypatch: pytest.MonkeyPatch) -> None:
    (site,) = a_fixture("busways").onprem
    names = {one.source for one in site.power.sources}
    single = [one for one in boxes_of(site) if one.members]
    assert [len(one.members) for one in single] == [1] * len(names)
    monkeypatch.setattr(one_line, "MOST_SINGLE", 0)
    grouped = [one for one in boxes_of(site) if one.members]
    assert len(grouped) < len(single)
    assert {name for one in grouped for name in one.members} == names
    loads = {one.source: one.facility_w for one in site.power.sources}
    for one in grouped:
        assert {round(loads[name] or 0) for name in one.members} == {round(one.load_w or 0)}
    assert any(" like " in text for text in texts(draw_one_line(site)))


def test_a_small_fabric_is_whole_and_a_large_one_by_unit(fabric: Plan) -> None:
    (site,) = fabric.onprem
    planned = next(one for one in site.fabrics if one.name == "compute")
    assert planned.layout is not None
    root = read(draw_fabric(planned))
    ports = {g.get("data-e") for g in root.iter(f"{SVG}g") if g.get("class") == "port"}
    switches = sum(tier.switches for tier in planned.layout.tiers)
    assert len(ports) == switches + sum(one.count for one in planned.layout.hosts)
    ways = [g.get("data-w") or "" for g in root.iter(f"{SVG}g") if g.get("class") == "way"]
    assert all(set(way.split()) <= ports for way in ways)
    assert len(ways) == len(set(ways))
    large = load_plan(bundled("policies").parent / "docs/examples/superpod-dgx-h100.yaml").plan
    by_unit = draw_fabric(large.onprem[0].fabrics[0])
    assert "3 units of 32 hosts of dgx" in " ".join(texts(by_unit))
    assert len(by_unit.body) < 20_000


def test_cooling_has_a_box_for_every_stage() -> None:
    (site,) = a_fixture("plant").onprem
    found = texts(draw_cooling(site))
    wanted = {f"{stage.units} {stage.kind}, {stage.of}" for stage in site.cooling.stages}
    assert len(wanted) > 3
    assert wanted <= set(found)


def test_names_are_never_markup() -> None:
    """Names are checked where a blueprint is read; drawings do not count on it."""
    (site,) = a_plan(a_site()).onprem
    own = replace(
        site.racks[0],
        kind=replace(site.racks[0].kind, type=HOSTILE_TEXT),
        hall=HOSTILE_TEXT,
        row=HOSTILE_TEXT,
        hostlist=HOSTILE_TEXT,
    )
    hostile = replace(
        site,
        racks=(own,),
        cooling=replace(
            site.cooling,
            halls=(replace(site.cooling.halls[0], hall=HOSTILE_TEXT, handler=HOSTILE_TEXT),),
        ),
    )
    for drawing in (
        draw_floor(hostile, HOSTILE_TEXT),
        draw_one_line(hostile),
        draw_cooling(hostile),
    ):
        root = read(drawing)
        assert {one.tag.removeprefix(SVG) for one in root.iter()} <= {
            "svg", "title", "style", "rect", "text", "g", "path", "circle",
        }  # fmt: skip
        assert "<script" not in drawing.standalone()
        assert "\u202e" not in drawing.standalone()


def test_labels_are_cut_to_their_room() -> None:
    assert fitted("short", 100) == "short"
    assert fitted("a long name of something", 61) == "a long na…"
    assert fitted("漢字漢字漢字", 61) == "漢字漢字…"
    assert fitted("a\x1b[31mb", 200) == "a\\x1b[31mb"


def test_sources_and_plants_are_drawn_with_their_products(tmp_path: Path) -> None:
    layer = tmp_path / "layer.yaml"
    sources = "[{name: ups-a, product: galaxy-vxl-500kw, capacity: 400 kW}]"
    layer.write_text(f"sites: [{{name: lux1, power: {{sources: {sources}}}}}]\n")
    loaded = load_plan(bundled("policies") / "fixtures" / "plant.yaml", layers=(layer,))
    (site,) = loaded.plan.onprem
    assert "ups, galaxy-vxl-500kw" in texts(draw_one_line(site))
    assert "ups" in texts(draw_one_line(site))
    plants = [
        one.model_copy(update={"product": f"acme-{one.name}"}) for one in site.spec.plant or ()
    ]
    named = replace(site, spec=site.spec.model_copy(update={"plant": tuple(plants)}))
    found = texts(draw_cooling(named))
    assert {"acme-chillers", "acme-dry-coolers"} <= set(found)
    assert "acme-pumps" not in found


def test_devices_that_share_a_unit_have_a_part_of_it_each() -> None:
    tiers = [
        a_tier("leaf", 2, racks="c01", start_unit="40 U", unit_share="half-width"),
        a_tier("spine", 2, racks="c01", start_unit="42 U", unit_share="half-depth"),
    ]
    fabric = a_fabric(tiers=tiers, attached=None, links=None, rail_optimized=None)
    view = find_rack(a_plan(a_site(fabrics=[fabric])), "c01")
    body = draw_rack(view).body
    switches = re.findall(r'<rect[^>]*class="device switch"[^>]*>', body)
    assert len(switches) == 2 * 2 + 2, "two halves on each side, and one back to back on each"
    assert sum('width="112"' in one for one in switches) == 4
    assert ">compute-leaf-1<" in body
    shown = render_rack(view)
    assert "1 U, left" in shown
    assert "1 U, rear" in shown
    # Two devices share each of the two units.
    assert view.racks.kind.used_u == 2 + sum(
        one.height for one in view.devices if one.device.kind == "node"
    )
