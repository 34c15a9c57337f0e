"""NetBox's list of devices, as it exports it and as its REST API answers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from brownfield_support import take_over
from factories import CATALOGUE
from rackwright.brownfield.document import make_blueprint
from rackwright.brownfield.products import Products
from rackwright.brownfield.reading import read_standing
from rackwright.errors import SpecErrors

# The columns are those of the page, in the order of a table that shows position and face as well.
EXPORT = """\
Name,Status,Tenant,Site,Location,Rack,Role,Manufacturer,Type,IP Address,Position,Face
DGX-01.example.com,Active,,DC 1,Hall A,A-01,GPU compute,NVIDIA,DGX H100,10.0.0.1/24,1.0,Front
dgx-02,Active,,DC 1,Hall A,A-01,GPU compute,NVIDIA,DGX H100,10.0.0.2/24,11.0,Front
dgx-03,Failed,,DC 1,Hall A,A-02,GPU compute,NVIDIA,DGX H100,,1.0,Front
dgx-04,Active,,DC 1,Hall A,A-02,GPU compute,NVIDIA,DGX H100,,11.0,Front
dgx-05,Planned,,DC 1,Hall A,A-03,GPU compute,NVIDIA,DGX H100,,1.0,Front
dgx-06,Inventory,,DC 1,,,GPU compute,NVIDIA,DGX H100,,,
ib-leaf1,Active,,DC 1,Hall A,A-01,Leaf,NVIDIA,QM9700,,40.0,Rear
ib-leaf2,Active,,DC 1,Hall A,A-01,Leaf,NVIDIA,QM9700,,42.0,Rear
pdu-a,Active,,DC 1,Hall A,A-01,PDU,APC,AP8886,,,
spare,Active,,DC 1,,,GPU compute,NVIDIA,DGX H100,,,
gw,Active,,Branch,,R1,Router,Acme,X-9,,1.0,Front
"""


def test_an_export_is_taken_over_with_every_unit_and_name(tmp_path: Path) -> None:
    made = take_over(tmp_path, {"netbox_devices.csv": EXPORT}, only="DC 1")
    (site,) = made.data["sites"]
    assert site["name"] == "dc-1"
    (hall,) = site["halls"]
    assert hall["name"] == "Hall-A"
    racks = [group["racks"] for row in hall["rows"] for group in row["rack_groups"]]
    assert racks == ["A-01", "A-02"]
    shown = [
        (one["name"], one["count"], one["racks"], one["units"], one["host_names"], one["role"])
        for one in site["node_groups"]
    ]
    # There is a gap of two units between the two of a rack.
    units = {"A-[01-02]": ["1 U", "11 U"]}
    assert shown == [("dgx", 4, "A-[01-02]", units, "DGX-01,dgx-[02-04]", "compute")]
    (fabric,) = site["fabrics"]
    assert fabric["name"] == "infiniband"
    tiers = [(one["name"], one["count"], one["units"]) for one in fabric["tiers"]]
    assert tiers == [("leaf", 2, {"A-01": ["40 U", "42 U"]})]
    assert site["power"]["pdu"] == "apc-ap8886"
    asked = {blank.name for blank in made.blanks}
    assert asked == {"name", "continuous_derate", "power_factor", "feeds", "utility", "feed_path",
                     "circuit", "type", "mode", "role"}  # fmt: skip


def test_nothing_is_left_out_in_silence(tmp_path: Path) -> None:
    made = take_over(tmp_path, {"netbox_devices.csv": EXPORT}, only="DC 1")
    told = "\n".join(map(str, made.notices))
    for words in (
        "left out: 1 device with the status 'planned'",
        "left out: 1 device with the status 'inventory'",
        "netbox_devices.csv:11:1: left out, since they stand in no rack: 'spare'",
        "left out: 1 device of other sites",
        "the site 'DC 1' is called 'dc-1'",
        "the order of the racks is unknown",
    ):
        assert words in told, (words, told)


def test_a_product_that_is_not_known_is_told_with_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(SpecErrors) as caught:
        take_over(tmp_path, {"netbox_devices.csv": EXPORT})
    (error,) = caught.value.errors
    assert error.summary == "'X-9' is no product of the catalogue"
    assert error.location is not None
    assert error.location.line == 12
    assert "rackwright catalogue import" in (error.hint or "")
    made = take_over(tmp_path, {"netbox_devices.csv": EXPORT}, left_out=["x-9"])
    assert "left out as asked: 1 device 'X-9'" in {one.text for one in made.notices}
    made = take_over(tmp_path, {"netbox_devices.csv": EXPORT}, products={"X-9": "sn2201"})
    assert [site["name"] for site in made.data["sites"]] == ["dc-1", "branch"]


def test_a_product_that_may_be_several_is_asked_for(tmp_path: Path) -> None:
    text = EXPORT.replace("DGX H100", "PowerEdge XE9680")
    with pytest.raises(SpecErrors) as caught:
        take_over(tmp_path, {"netbox_devices.csv": text.replace("NVIDIA", "Dell")}, only="DC 1")
    summaries = [error.summary for error in caught.value.errors]
    assert any("'PowerEdge XE9680'" in one for one in summaries)
    said = {"PowerEdge XE9680": "dell-xe9680-h200"}
    made = take_over(tmp_path, {"netbox_devices.csv": text}, only="DC 1", products=said)
    assert {one["type"] for one in made.data["sites"][0]["node_groups"]} == {"dell-xe9680-h200"}


def _object(name: str, rack: str | None, position: float | None, **more: Any) -> dict[str, Any]:
    def one(text: str) -> dict[str, Any]:
        return {"id": 1, "display": text, "name": text, "slug": text.lower().replace(" ", "-")}

    return {
        "id": 7,
        "name": name,
        "device_type": {
            "id": 3, "manufacturer": one("NVIDIA"), "model": "DGX H100", "slug": "nvidia-dgx-h100",
        },
        "role": one("Server"),
        "site": one("DC 1"),
        "location": None,
        "rack": None if rack is None else one(rack),
        "position": position,
        "face": {"value": "front", "label": "Front"},
        "status": {"value": "active", "label": "Active"},
        **more,
    }  # fmt: skip


def test_an_answer_of_the_api_says_the_same(tmp_path: Path) -> None:
    devices = [_object("dgx-1", "r1", 1.0), _object("dgx-2", "r1", 9), _object("dgx-3", None, None)]
    answer = {"count": 3, "next": None, "previous": None, "results": devices}
    for text in (json.dumps(answer), json.dumps(devices, indent=2)):
        made = take_over(tmp_path, {"devices.json": text})
        (group,) = made.data["sites"][0]["node_groups"]
        assert (group["name"], group["count"], group["per_rack"]) == ("dgx", 2, 2)
        assert "host_names" not in group
        assert any("stand in no rack: 'dgx-3'" in one.text for one in made.notices)


def test_a_page_of_several_is_refused(tmp_path: Path) -> None:
    answer = {
        "count": 312,
        "next": "https://netbox/api/?offset=1",
        "results": [_object("a", "r", 1)],
    }
    with pytest.raises(SpecErrors, match="1 of 312 devices: a page of several"):
        take_over(tmp_path, {"devices.json": json.dumps(answer)})


@pytest.mark.parametrize(
    ("old", "new", "words", "line"),
    [
        (",Position,", ",Pos,", "the export has no column 'Position'", 2),
        ("1.0,Front\ndgx-02", "0.0,Front\ndgx-02", "'0.0' is no position in a rack", 2),
        ("1.0,Front\ndgx-02", ",Front\ndgx-02", "has no unit in its rack", 2),
        (",11.0,Front\ndgx-03", ",8.0,Front\ndgx-03", "U8 of the rack 'A-01' is taken", 3),
        ("dgx-03,", "dgx-02,", "'dgx-02' stands at", 4),
        ("Hall A,A-02,GPU compute,NVIDIA,DGX H100,,11.0", "Hall B,A-02,GPU compute,NVIDIA,DGX H100,,11.0",
         "the rack 'A-02' is in Hall-B", 5),
        ("A-02,GPU compute,NVIDIA,DGX H100,,11.0", "A 02,GPU compute,NVIDIA,DGX H100,,11.0",
         "would both be called 'A-02'", 5),
    ],
)  # fmt: skip
def test_impossible_device_is_refused_at_its_line(
    old: str, new: str, words: str, line: int, tmp_path: Path
) -> None:
    assert old in EXPORT
    with pytest.raises(SpecErrors) as caught:
        take_over(tmp_path, {"netbox_devices.csv": EXPORT.replace(old, new, 1)}, only="DC 1")
    (error,) = caught.value.errors
    assert words in error.summary
    assert error.location is not None
    assert error.location.line == line


HEAD = "Name,Status,Site,Location,Rack,Role,Manufacturer,Type,Position,Rack face\n"


def test_tiers_of_switches_are_their_roles(tmp_path: Path) -> None:
    rows = [
        ("A09-P1-IBLEAF-04-01", "r1", "IB Leaf", 40), ("A09-P1-IBLEAF-04-02", "r1", "IB Leaf", 41),
        ("A10-P1-IBLEAF-04-01", "r2", "IB Leaf", 40), ("A10-P1-IBLEAF-04-02", "r2", "IB Leaf", 41),
        ("A10-P1-IBSPINE-01", "r3", "IB Spine", 40), ("B10-P1-IBSPINE-02", "r3", "IB Spine", 41),
    ]  # fmt: skip
    text = HEAD + "".join(
        f"{name},Active,dc1,h,{rack},{role},NVIDIA,QM9700,{low},Rear\n"
        for name, rack, role, low in rows
    )
    (fabric,) = take_over(tmp_path, {"sw.csv": text}).data["sites"][0]["fabrics"]
    assert [(tier["name"], tier["count"]) for tier in fabric["tiers"]] == [
        ("ib-leaf", 4),
        ("ib-spine", 2),
    ]


def test_tier_at_several_heights_is_one_tier(tmp_path: Path) -> None:
    """57 tiers were made of the 62 switches of a real data centre: one for each unit."""
    places = [("a", 42), ("b", 40), ("b", 38), ("c", 17), ("d", 42), ("d", 2), ("d", 41)]
    rows = [
        f"sw{n},Active,dc1,h,{rack},IB Leaf,NVIDIA,QM9700,{low},Rear\n"
        for n, (rack, low) in enumerate(places, 1)
    ]
    (site,) = take_over(tmp_path, {"sw.csv": HEAD + "".join(rows)}).data["sites"]
    ((tier,),) = [fabric["tiers"] for fabric in site["fabrics"]]
    assert tier == {
        "name": "ib-leaf", "type": "qm9700", "count": 7, "racks": "a,b,c,d", "per_rack": 3,
        "units": {"a": ["42 U"], "b": ["40 U", "38 U"], "c": ["17 U"], "d": ["42 U", "2 U", "41 U"]},
        "switch_names": "sw[1-7]",
    }  # fmt: skip


def test_tier_of_two_products_is_two_tiers_and_told(tmp_path: Path) -> None:
    rows = "sw1,Active,dc1,h,a,Leaf,NVIDIA,SN2201,42,Rear\nsw2,Active,dc1,h,b,Leaf,NVIDIA,SN5600,42,Rear\n"
    made = take_over(tmp_path, {"sw.csv": HEAD + rows})
    ((one, other),) = [fabric["tiers"] for fabric in made.data["sites"][0]["fabrics"]]
    assert (one["type"], other["type"], other["name"]) == ("sn2201", "sn5600", "leaf-set2")
    assert any("'sn5600' is the tier 'leaf-set2'" in notice.text for notice in made.notices)


def test_names_that_no_host_has_are_changed_and_told(tmp_path: Path) -> None:
    """A tier of a real export had 17 names for 24 switches: those with blanks were dropped in silence."""
    names = ("NRP Switch", "", "SWBD - U2A Switch")
    rows = [
        f"{name},Active,dc1,h,a,Leaf,NVIDIA,QM9700,{low},Rear\n"
        for low, name in enumerate(names, 1)
    ]
    hosts = [
        f"{name},Active,dc1,h,b,GPU,NVIDIA,DGX H100,{low},Front\n"
        for low, name in ((1, "gpu 1"), (9, ""))
    ]
    made = take_over(tmp_path, {"sw.csv": HEAD + "".join(rows + hosts)})
    (site,) = made.data["sites"]
    assert (
        site["fabrics"][0]["tiers"][0]["switch_names"]
        == "infiniband-leaf-1,NRP-Switch,SWBD---U2A-Switch"
    )
    assert site["node_groups"][0]["host_names"] == "gpu-[2,1]"
    told = "\n".join(one.text for one in made.notices)
    assert (
        "'NRP Switch' is no name of a host: it is called 'NRP-Switch', and 2 more in the same way"
        in told
    )
    assert "no file has names for 1 of the 3 switches of 'leaf'" in told
    assert "no file has names for 1 of the 2 hosts of 'gpu'" in told


def test_equal_short_names_keep_their_domains(tmp_path: Path) -> None:
    text = HEAD + "".join(
        f"{name},Active,DC1,ER1,R1,Server,NVIDIA,DGX H100,{low},Front\n"
        for name, low in (
            ("esxi01.red.example.com", 2),
            ("esxi01.blue.example.com", 10),
            ("node_02.example.com", 18),
        )
    )
    groups = take_over(tmp_path, {"names.csv": text}).data["sites"][0]["node_groups"]
    names = ",".join(group["host_names"] for group in groups)
    assert set(names.split(",")) == {"esxi01.red.example.com", "esxi01.blue.example.com", "node_02"}


def test_device_behind_another_shares_its_unit(tmp_path: Path) -> None:
    text = HEAD + (
        "n1,Active,DC1,H,R1,GPU Node,NVIDIA,DGX H100,2,Front\n"
        "sw-front,Active,DC1,H,R1,Switch,NVIDIA,SN2201,42,Front\n"
        "sw-rear,Active,DC1,H,R1,Switch,NVIDIA,SN2201,42,Rear\n"
    )
    made = take_over(tmp_path, {"face.csv": text})
    (tier,) = made.data["sites"][0]["fabrics"][0]["tiers"]
    shown = (tier["count"], tier["start_unit"], tier["unit_share"], tier["switch_names"])
    assert shown == (2, "42 U", "half-depth", "sw-front,sw-rear")
    assert not any("left out" in one.text for one in made.notices)


def test_unknown_products_are_left_out_with_their_number(tmp_path: Path) -> None:
    path = tmp_path / "netbox_devices.csv"
    path.write_text(
        EXPORT.replace("gw,Active", "gw2,Active,,Branch,,R1,Router,Acme,X-9,,2.0,\ngw,Active")
    )
    products = Products(CATALOGUE, {}, [], roles={"Leaf": "leave out"}, leave_out_unknown=True)
    made = make_blueprint([read_standing(path)], products)
    told = {one.text for one in made.notices}
    assert "left out: 2 devices of 1 unknown product: X-9 (2)" in told
    assert "left out as asked: 2 devices 'QM9700'" in told
    assert "fabrics" not in made.data["sites"][0]


def test_unknown_products_beyond_the_first_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "netbox_devices.csv"
    rows = "".join(f"x{n},Active,,DC 1,,R9,Other,Acme,X-{n},,{n}.0,\n" for n in range(10, 33))
    path.write_text(EXPORT + rows)
    products = Products(CATALOGUE, {}, [], leave_out_unknown=True)
    told = [one.text for one in make_blueprint([read_standing(path)], products).notices]
    (text,) = [one for one in told if "unknown products" in one]
    assert text.startswith("left out: 24 devices of 24 unknown products: ")
    assert text.endswith(", and 4 more")


def test_roles_of_a_mapping_are_those_of_the_blueprint(tmp_path: Path) -> None:
    path = tmp_path / "netbox_devices.csv"
    path.write_text(EXPORT)
    roles = {"GPU compute": "login", "leaf": "spine"}
    products = Products(CATALOGUE, {}, ["X-9"], roles=roles)
    (site,) = make_blueprint([read_standing(path)], products, only="DC 1").data["sites"]
    assert {group["role"] for group in site["node_groups"]} == {"login"}
    assert site["fabrics"][0]["tiers"][0]["name"] == "spine"


def test_device_beside_another_of_its_kind_shares_its_unit(tmp_path: Path) -> None:
    """Switches of half the width, as NetBox has no places for (netbox#9320, #10192)."""
    text = HEAD + (
        "sw-a,Active,DC1,H,R1,Leaf,NVIDIA,SN2201,42,Front\n"
        "sw-b,Active,DC1,H,R1,Leaf,NVIDIA,SN2201,42,Front\n"
    )
    made = take_over(tmp_path, {"half.csv": text})
    (tier,) = made.data["sites"][0]["fabrics"][0]["tiers"]
    shown = (tier["count"], tier["per_rack"], tier["start_unit"], tier["unit_share"])
    assert shown == (2, 2, "42 U", "half-width")
    words = (
        "'sw-a' and 'sw-b' are both in U42 of the rack 'R1': they are taken for two of half width"
    )
    assert any(words in one.text for one in made.notices)
    other = text.replace("SN2201,42,Front\nsw-b", "SN5600,42,Front\nsw-b")
    with pytest.raises(SpecErrors, match="U42 of the rack 'R1' is taken"):
        take_over(tmp_path, {"half.csv": other})


@pytest.mark.parametrize(
    "rows",
    [
        ("a,Leaf,SN2201,42,Front", "b,Leaf,SN2201,42,Front", "c,Leaf,SN2201,42,Front"),
        ("a,Leaf,SN2201,42,Front", "b,Leaf,SN2201,42,Rear", "c,Leaf,SN2201,42,Rear"),
        ("a,Leaf,SN2201,42,Left", "b,Leaf,SN2201,42,Left"),
        ("a,Leaf,SN2201,42,Front", "b,Leaf,SN2201,42,"),
    ],
)
def test_more_devices_than_a_unit_has_room_for_are_refused(
    tmp_path: Path, rows: tuple[str, ...]
) -> None:
    text = HEAD
    for name, role, product, low, face in (row.split(",") for row in rows):
        text += f"{name},Active,DC1,H,R1,{role},NVIDIA,{product},{low},{face}\n"
    with pytest.raises(SpecErrors, match="U42 of the rack 'R1' is taken"):
        take_over(tmp_path, {"full.csv": text})


def test_devices_of_full_depth_are_not_back_to_back(tmp_path: Path) -> None:
    text = HEAD + (
        "sw-front,Active,DC1,H,R1,Switch,NVIDIA,SN2201,42,Front\n"
        "sw-rear,Active,DC1,H,R1,Switch,NVIDIA,SN2201,42,Rear\n"
    )
    path = tmp_path / "deep.csv"
    path.write_text(text)
    products = Products(CATALOGUE.patched({"sn2201": {"full_depth": True}}), {}, [])
    with pytest.raises(SpecErrors, match="U42 of the rack 'R1' is taken"):
        make_blueprint([read_standing(path)], products)


def test_devices_in_bays_are_a_part_of_their_chassis(tmp_path: Path) -> None:
    head = HEAD.replace("\n", ",Parent Device\n")
    text = head + (
        "n1,Active,DC1,H,R1,GPU Node,NVIDIA,DGX H100,2,Front,\n"
        "blade-1,Active,DC1,H,R1,GPU Node,NVIDIA,DGX H100,,,chassis-1\n"
        "blade-2,Active,DC1,H,R1,GPU Node,NVIDIA,DGX H100,,,chassis-1\n"
    )
    made = take_over(tmp_path, {"blades.csv": text})
    (group,) = made.data["sites"][0]["node_groups"]
    assert group["count"] == 1
    assert any("'blade-1' and 1 more" in one.text and "in bays" in one.text for one in made.notices)
    listed = [{"name": "b", "status": {"value": "active"}, "rack": {"name": "R1"}, "position": None,
               "device_type": {"model": "DGX H100", "manufacturer": {"name": "NVIDIA"}},
               "parent_device": {"name": "chassis-1"}}]  # fmt: skip
    path = tmp_path / "devices.json"
    path.write_text(json.dumps(listed))
    found = read_standing(path)
    assert (found.devices, len(found.notices)) == ((), 1)


def test_number_behind_a_dot_is_no_domain(tmp_path: Path) -> None:
    """'us-atlas net2.1' of a public export became 'us-atlas-net2'."""
    row = "us-atlas net2.1,Active,DC,H,R1,Leaf,NVIDIA,SN2201,42,Front"
    made = take_over(tmp_path, {"export.csv": f"{HEAD}{row}\n"})
    ((tier,),) = [fabric["tiers"] for fabric in made.data["sites"][0]["fabrics"]]
    assert tier["switch_names"] == "us-atlas-net2.1"
