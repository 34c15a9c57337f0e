"""``init --from`` dumps of cables: switches, tiers, hosts and links with their names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from brownfield_support import take_over
from fabric_factories import a_fabric, a_tier, layout_of
from factories import CATALOGUE, some_nodes
from lldp_dumps import lldpctl_json, seen_by, sonic_table
from plan_dumps import ibnetdiscover
from rackwright.brownfield.document import make_blueprint
from rackwright.brownfield.products import Products
from rackwright.brownfield.reading import read_standing
from rackwright.errors import SpecErrors


def fabric_of(data: Any) -> dict[str, Any]:
    (site,) = data["sites"]
    (fabric,) = site["fabrics"]
    assert isinstance(fabric, dict)
    return fabric


def test_ibnetdiscover_is_the_source_of_switches_hosts_and_links(tmp_path: Path) -> None:
    made = take_over(tmp_path, {"ibnetdiscover.txt": ibnetdiscover(layout_of())})
    fabric = fabric_of(made.data)
    assert fabric == {
        "name": "infiniband",
        "technology": "infiniband",
        "tiers": [
            {"name": "leaf", "type": "qm9700", "count": 8},
            {"name": "spine", "type": "qm9700", "count": 4},
        ],
        "attached": [{"group": "dgx", "interfaces": 8}],
        "links": [{"name": "leaf-spine", "lower": "leaf", "upper": "spine", "parallel": 8}],
    }
    (group,) = made.data["sites"][0]["node_groups"]
    assert (group["name"], group["count"], group["name_digits"]) == ("dgx", 32, 2)
    asked = {(blank.name, len(blank.path)) for blank in made.blanks}
    assert {name for name, _ in asked} >= {"type", "racks", "per_rack", "role"}


@pytest.mark.parametrize("write", [lldpctl_json, sonic_table])
def test_neighbours_of_lldp_are_the_source_of_an_ethernet_fabric(
    write: Any, tmp_path: Path
) -> None:
    tiers = [a_tier("leaf", 4, "sn5600", split=2), a_tier("spine", 2, "sn5600", split=2)]
    links = [{"name": "up", "lower": "leaf", "upper": "spine", "parallel": 8}]
    layout = layout_of(
        a_fabric(tiers=tiers, links=links, technology="ethernet"), groups=[some_nodes(count=16)]
    )
    folder = tmp_path / "lldp"
    folder.mkdir()
    name = "swp{}".format if write is lldpctl_json else lambda port: f"Ethernet{port * 4 - 4}"
    for device, seen in seen_by(layout, name, "ens{}np0".format).items():
        (folder / f"{device}.json").write_text(write(seen, name))
    made = make_blueprint([read_standing(folder)], Products(CATALOGUE, {}, []))
    fabric = fabric_of(made.data)
    assert [(tier["name"], tier["count"]) for tier in fabric["tiers"]] == [
        ("leaf", 4),
        ("spine", 2),
    ]
    assert fabric["attached"] == [{"group": "dgx", "interfaces": 8}]
    assert fabric["links"][0]["parallel"] == 8


def test_switches_in_racks_get_the_tiers_of_their_cables(tmp_path: Path) -> None:
    sheet = "site,rack,lowest_unit,product,name\\n".replace("\\n", "\n")
    rows = [f"s,r1,{30 + n},qm9700,compute-leaf-{n}" for n in range(1, 9)]
    rows += [f"s,r2,{30 + n},qm9700,compute-spine-{n}" for n in range(1, 5)]
    rows += [f"s,c{n:02d},1,dgx-h100,dgx-{n:02d}" for n in range(1, 33)]
    files = {"hall.csv": sheet + "\n".join(rows) + "\n", "seen.txt": ibnetdiscover(layout_of())}
    made = take_over(tmp_path, files)
    fabric = fabric_of(made.data)
    assert [(tier["name"], tier["count"], tier["racks"]) for tier in fabric["tiers"]] == [
        ("leaf", 8, "r1"),
        ("spine", 4, "r2"),
    ]
    assert fabric["attached"] == [{"group": "dgx", "interfaces": 8}]
    assert fabric["links"][0]["parallel"] == 8


BROKEN = {
    "tables.db_csv": "START_NODES\nNodeDesc,NodeType,NodeGUID\n",
    "neighbours.json": '{"lldp": {"interface": [',
    "links.json": '[{"source_guid": "1", "destination_guid": "2"}]',
    "text.txt": "Interface:    swp1, via: LLDP, RID: 1\n  Chassis:\n",
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_dump_is_refused_at_its_file(name: str, tmp_path: Path) -> None:
    with pytest.raises(SpecErrors) as error:
        take_over(tmp_path, {name: BROKEN[name]})
    assert str(tmp_path / name) in str(error.value)
