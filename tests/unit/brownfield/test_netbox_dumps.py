"""Dumps of NetBox's database, as ``pg_dump`` and ``manage.py dumpdata`` write them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from brownfield_support import take_over
from rackwright.brownfield.reading import read_standing
from rackwright.errors import SpecErrors

TABLES: Mapping[str, Sequence[Mapping[str, Any]]] = {
    "manufacturer": [{"id": 1, "name": "NVIDIA"}],
    "devicetype": [
        {"id": 1, "model": "DGX H100", "slug": "dgx-h100", "manufacturer": 1},
        {"id": 2, "model": "QM9700", "slug": "qm9700", "manufacturer": 1},
    ],
    "devicerole": [{"id": 1, "name": "Server"}, {"id": 2, "name": "IB Leaf"}],
    "site": [{"id": 3, "name": "DC 1"}],
    "location": [{"id": 4, "name": "Hall\tA"}],
    "rack": [{"id": 5, "name": "A-01"}],
    "device": [
        {"id": 7, "name": "dgx-1", "position": "1.0", "face": "front", "status": "active", "role": 1,
         "device_type": 1, "location": 4, "rack": 5, "site": 3},
        {"id": 8, "name": "leaf-1", "position": "42.0", "face": "rear", "status": "active", "role": 2,
         "device_type": 2, "location": 4, "rack": 5, "site": 3},
        {"id": 9, "name": "spare", "position": None, "face": "", "status": "active", "role": 1,
         "device_type": 1, "location": None, "rack": None, "site": 3},
    ],
    "interface": [
        {"id": 21, "name": "rail0", "device": 7}, {"id": 22, "name": "Port 1", "device": 8},
        {"id": 23, "name": "eth0", "device": 9},
    ],
    "cabletermination": [
        {"id": 1, "cable_end": "A", "termination": 21, "cable": 11, "_device": 7},
        {"id": 2, "cable_end": "B", "termination": 22, "cable": 11, "_device": 8},
        # A power port with the number of an interface of another device.
        {"id": 3, "cable_end": "A", "termination": 23, "cable": 12, "_device": 7},
        {"id": 4, "cable_end": "B", "termination": 22, "cable": 12, "_device": 8},
    ],
}  # fmt: skip
PLAIN = {"id", "name", "model", "slug", "position", "face", "status", "cable_end"}


def sql(tables: Mapping[str, Sequence[Mapping[str, Any]]]) -> str:
    """A dump of ``pg_dump``."""
    made = ["--", "-- PostgreSQL database dump", "--", ""]
    for name, rows in tables.items():
        columns = list(rows[0])
        heads = ['"position"' if one == "position" else one if one in PLAIN or one == "_device" else f"{one}_id"
                 for one in columns]  # fmt: skip
        heads = ["_device_id" if head == "_device" else head for head in heads]
        made.append(f"COPY public.dcim_{name} ({', '.join(heads)}) FROM stdin;")
        for row in rows:
            cells = [
                "\\N" if row[one] is None else str(row[one]).replace("\t", "\\t") for one in columns
            ]
            made.append("\t".join(cells))
        made += ["\\.", ""]
    return "\n".join(made)


def fixture(tables: Mapping[str, Sequence[Mapping[str, Any]]]) -> str:
    """A dump of ``manage.py dumpdata``."""
    made = [
        {
            "model": f"dcim.{name}",
            "pk": row["id"],
            "fields": {
                f"{key}_id" if key.startswith("termination") else key: value
                for key, value in row.items()
                if key != "id"
            },
        }
        for name, rows in tables.items()
        for row in rows
    ]
    return json.dumps(made, indent=2)


@pytest.mark.parametrize("name", ["netbox.sql", "netbox.json"])
def test_dump_is_adopted_with_roles_units_and_cables(name: str, tmp_path: Path) -> None:
    text = sql(TABLES) if name.endswith("sql") else fixture(TABLES)
    made = take_over(tmp_path, {name: text})
    (site,) = made.data["sites"]
    assert (site["name"], [hall["name"] for hall in site["halls"]]) == ("dc-1", ["Hall-A"])
    (group,) = site["node_groups"]
    assert (group["type"], group["start_unit"], group["racks"]) == ("dgx-h100", "1 U", "A-01")
    ((tier,),) = [fabric["tiers"] for fabric in site["fabrics"]]
    assert (tier["name"], tier["type"], tier["start_unit"]) == ("ib-leaf", "qm9700", "42 U")
    assert site["fabrics"][0]["attached"] == [{"group": "dgx", "interfaces": 1}]
    assert any("stand in no rack: 'spare'" in one.text for one in made.notices)


def test_dump_that_is_cut_off_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "netbox.sql"
    path.write_text(sql(TABLES).partition("leaf-1")[0])
    with pytest.raises(SpecErrors, match="the table 'dcim_device' has no end"):
        read_standing(path)
    path = tmp_path / "netbox.json"
    path.write_text(fixture(TABLES)[:-20])
    with pytest.raises(SpecErrors, match="the dump is no JSON"):
        read_standing(path)


def _joined(**more: Sequence[Mapping[str, Any]]) -> Mapping[str, Sequence[Mapping[str, Any]]]:
    """The tables with more rows of some, and a cable from each added device to the leaf."""
    tables = {name: [*rows, *more.get(name, ())] for name, rows in TABLES.items()}
    for number, device in enumerate(more["device"]):
        tables["interface"].append({"id": 60 + number, "name": "eth0", "device": device["id"]})
        tables["interface"].append({"id": 80 + number, "name": f"p{number}", "device": 8})
        for end, side, owner in ((60, "A", device["id"]), (80, "B", 8)):
            tables["cabletermination"].append(
                {"id": 100 + 2 * number + (side == "B"), "cable_end": side, "termination": end + number,
                 "cable": 40 + number, "_device": owner}
            )  # fmt: skip
    return tables


def _host(**changes: Any) -> dict[str, Any]:
    return {**TABLES["device"][0], "id": 30, "name": "other-1", "position": "20.0", **changes}


@pytest.mark.parametrize(
    ("device", "only"),
    [
        (_host(device_type=3), None),
        (_host(rack=None, position=None), None),
        (_host(status="planned"), None),
        (_host(site=4, rack=6, location=None), "DC 1"),
    ],
    ids=["product left out", "in no rack", "planned", "of another site"],
)
def test_device_that_is_left_out_does_not_return_by_its_cable(
    device: Mapping[str, Any], only: str | None, tmp_path: Path
) -> None:
    """NetBox's demo: 13 routers that were left out became node groups of the first site."""
    tables = _joined(
        device=[device],
        devicetype=[{"id": 3, "model": "Router", "slug": "router", "manufacturer": 1}],
        site=[{"id": 4, "name": "DC 2"}],
        rack=[{"id": 6, "name": "B-01"}],
    )
    made = take_over(tmp_path, {"netbox.sql": sql(tables)}, left_out=["Router"], only=only)
    (site,) = made.data["sites"]
    assert [group["name"] for group in site["node_groups"]] == ["dgx"]
    assert site["fabrics"][0]["attached"] == [{"group": "dgx", "interfaces": 1}]
    assert any("left out: 1 cable of devices that are left out" in one.text for one in made.notices)


def test_switch_whose_hosts_are_left_out_is_not_told_as_left_out(tmp_path: Path) -> None:
    devices = [{**one, "status": "planned"} if one["id"] == 7 else one for one in TABLES["device"]]
    tables = {**TABLES, "device": devices}
    made = take_over(tmp_path, {"netbox.sql": sql(tables)})
    assert made.data["sites"][0]["fabrics"][0]["tiers"][0]["switch_names"] == "leaf-1"
    assert not any("without a host below" in one.text for one in made.notices)


def test_cables_find_devices_by_the_names_that_they_get(tmp_path: Path) -> None:
    """Domains are cut and blanks replaced: cables of such devices were lost."""
    devices = [{**one, "name": f"{one['name']} a.example.org"} for one in TABLES["device"]]
    made = take_over(tmp_path, {"netbox.sql": sql({**TABLES, "device": devices})})
    (site,) = made.data["sites"]
    assert len(site["node_groups"]) == 1
    assert site["fabrics"][0]["attached"][0]["interfaces"] == 1


@pytest.mark.parametrize("name", ["netbox.sql", "netbox.json"])
def test_cables_before_release_3_3_have_their_ends_in_their_row(name: str, tmp_path: Path) -> None:
    cables = [
        {"id": 11, "termination_a": 21, "termination_b": 22, "_termination_a_device": 7,
         "_termination_b_device": 8},
        {"id": 12, "termination_a": 23, "termination_b": 22, "_termination_a_device": 7,
         "_termination_b_device": 8},
    ]  # fmt: skip
    tables = {
        **{key: rows for key, rows in TABLES.items() if key != "cabletermination"},
        "cable": cables,
    }
    text = sql(tables) if name.endswith("sql") else fixture(tables)
    made = take_over(tmp_path, {name: text})
    assert made.data["sites"][0]["fabrics"][0]["attached"] == [{"group": "dgx", "interfaces": 1}]
    assert any("left out: 1 cable of 2" in one.text for one in made.notices)


def test_rows_of_one_rack_have_no_order_to_ask_for(tmp_path: Path) -> None:
    """The notice came once for each of 17 sites with one rack."""
    made = take_over(tmp_path, {"netbox.sql": sql(TABLES)})
    assert not any("order of the racks" in one.text for one in made.notices)
    racks = [{"id": 5, "name": "A-01"}, {"id": 6, "name": "A-02"}]
    devices = [TABLES["device"][0], _host(rack=6)]
    made = take_over(tmp_path, {"two.sql": sql({**TABLES, "rack": racks, "device": devices})})
    (told,) = [one.text for one in made.notices if "order of the racks" in one.text]
    assert told.endswith("sorted by name: dc-1/Hall-A/row-1")


def test_cables_between_tiers_by_role_become_links(tmp_path: Path) -> None:
    """Only tiers called leaf, spine and core had links; the others were sorted by name."""
    switches = [
        {**TABLES["device"][1], "id": 50 + number, "name": f"sw-{number}", "position": f"{30 + number}.0",
         "role": 3 if number < 2 else 4}
        for number in range(4)
    ]  # fmt: skip
    hosts = [
        {**TABLES["device"][0], "id": 40 + n, "name": f"gpu-{n}", "position": f"{1 + 10 * n}.0"}
        for n in range(2)
    ]
    pairs = [
        (40, 50),
        (41, 51),
        *[(50 + low, 52 + high) for low in (0, 1) for high in (0, 1) for _ in range(2)],
    ]
    tables = {
        **TABLES,
        "devicerole": [*TABLES["devicerole"], {"id": 3, "name": "ToR"}, {"id": 4, "name": "Distribution"}],
        "device": [*hosts, *switches],
        "interface": [
            {"id": 200 + 2 * n + side, "name": f"p{n}", "device": pair[side]}
            for n, pair in enumerate(pairs)
            for side in (0, 1)
        ],
        "cabletermination": [
            {"id": 400 + 2 * n + side, "cable_end": "AB"[side], "termination": 200 + 2 * n + side, "cable": 500 + n,
             "_device": pair[side]}
            for n, pair in enumerate(pairs)
            for side in (0, 1)
        ],
    }  # fmt: skip
    (fabric,) = take_over(tmp_path, {"netbox.sql": sql(tables)}).data["sites"][0]["fabrics"]
    assert [tier["name"] for tier in fabric["tiers"]] == ["tor", "distribution"]
    assert fabric["links"] == [
        {"name": "tor-distribution", "lower": "tor", "upper": "distribution", "parallel": 2}
    ]


def test_tier_without_cables_stays_below_the_core(tmp_path: Path) -> None:
    switches = [
        {**TABLES["device"][1], "id": 50 + n, "name": f"sw-{n}", "position": f"{30 + n}.0", "role": 3 + n}
        for n in range(3)
    ]  # fmt: skip
    roles = [{"id": 3, "name": "Access"}, {"id": 4, "name": "Core"}, {"id": 5, "name": "ToR"}]
    tables = {
        **TABLES,
        "devicerole": [*TABLES["devicerole"], *roles],
        "device": [TABLES["device"][0], *switches],
        "interface": [{"id": 200 + n, "name": "p", "device": device} for n, device in enumerate((7, 52, 52, 51))],
        "cabletermination": [
            {"id": 400 + n, "cable_end": "AB"[n % 2], "termination": 200 + n, "cable": 500 + n // 2, "_device": device}
            for n, device in enumerate((7, 52, 52, 51))
        ],
    }  # fmt: skip
    (fabric,) = take_over(tmp_path, {"netbox.sql": sql(tables)}).data["sites"][0]["fabrics"]
    assert [tier["name"] for tier in fabric["tiers"]] == ["access", "tor", "core"]
