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
                "termination_id" if key == "termination" else key: value
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
    assert (site["name"], [hall["name"] for hall in site["halls"]]) == ("dc-1", ["hall-a"])
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
