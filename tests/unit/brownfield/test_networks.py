"""``init --from`` dumps of cables: switches, tiers, hosts and links with their names."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from brownfield_support import take_over
from fabric_factories import a_fabric, a_tier, layout_of
from factories import CATALOGUE, some_nodes
from lldp_dumps import lldpctl_json, seen_by, sonic_table
from plan_dumps import ibnetdiscover
from rackwright.brownfield.cabling.networks import views_of
from rackwright.brownfield.document import make_blueprint
from rackwright.brownfield.products import Products
from rackwright.brownfield.reading import read_standing
from rackwright.brownfield.records import Found, FoundCable, FoundNetwork
from rackwright.errors import Location, SpecErrors
from rackwright.plan.fabric.discovered.differences import CableComparison
from rackwright.plan.fabric.discovered.dump import read_discovery


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
            {"name": "leaf", "type": "qm9700", "count": 8, "switch_names": "compute-leaf-[1-8]"},
            {"name": "spine", "type": "qm9700", "count": 4, "switch_names": "compute-spine-[1-4]"},
        ],
        "attached": [{"group": "dgx", "interfaces": 8}],
        "links": [{"name": "leaf-spine", "lower": "leaf", "upper": "spine", "parallel": 8}],
    }
    (group,) = made.data["sites"][0]["node_groups"]
    assert (group["name"], group["count"], group["name_digits"]) == ("dgx", 32, 2)
    asked = {(blank.name, len(blank.path)) for blank in made.blanks}
    assert {name for name, _ in asked} >= {"type", "racks", "per_rack", "role"}


def a_network(*cables: tuple[str, str]) -> FoundNetwork:
    switches = {name for pair in cables for name in pair if name.startswith("sw")}
    made = tuple(FoundCable(one, f"p{n}", other, f"q{n}") for n, (one, other) in enumerate(cables))
    return FoundNetwork(Location("x", 1, 1), "infiniband", dict.fromkeys(switches, ""), made)


def test_spine_with_a_manager_of_the_fabric_stays_a_spine() -> None:
    """A host on one spine made it a leaf, so that leaves were above leaves."""
    leaves, spines = [f"sw-l{n}" for n in range(4)], ["sw-s0", "sw-s1"]
    cables = [(f"gpu-{leaf}-{n}", leaf) for leaf in leaves[:3] for n in range(8)]
    cables += [(f"gpu-last-{n}", leaves[3]) for n in range(1)]
    cables += [(leaf, spine) for leaf in leaves for spine in spines]
    (view,) = views_of([a_network(*cables, ("ufm-1", "sw-s0"))], {})
    assert {name: view.tier(name) for name in (*leaves, *spines)} == {
        **dict.fromkeys(leaves, "leaf"), **dict.fromkeys(spines, "spine"),
    }  # fmt: skip
    assert view.hosts["ufm-1"] == 1
    assert set(view.links.values()) == {1}


def test_two_switches_with_hosts_beside_each_other_are_leaves() -> None:
    cables = [(f"a{n}", "sw-a") for n in range(16)] + [("b1", "sw-b"), ("sw-a", "sw-b")]
    (view,) = views_of([a_network(*cables)], {})
    assert (view.tier("sw-a"), view.tier("sw-b")) == ("leaf", "leaf")


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


UNSET = "Quantum Mellanox Technologies"


def _switch(guid: str, text: str, *ports: str) -> str:
    return f'Switch\t41 "S-{guid}"\t\t# "{text}" base port 0 lid 1 lmc 0\n' + "".join(ports)


def _port(number: int, far: str, far_port: int) -> str:
    return f'[{number}]\t"{far}"[{far_port}]\t\t# "x" lid 2 4xHDR\n'


def test_switches_without_names_are_not_merged(tmp_path: Path) -> None:
    one, other, top = (f"{number:016x}" for number in (1, 2, 3))
    text = (
        _switch(one, UNSET, _port(1, "H-00000000000000a1", 1), _port(40, f"S-{top}", 1))
        + _switch(other, UNSET, _port(1, "H-00000000000000a2", 1), _port(40, f"S-{top}", 2))
        + _switch(top, UNSET, _port(1, f"S-{one}", 40), _port(2, f"S-{other}", 40))
        + 'Ca\t1 "H-00000000000000a1"\t\t# "n1 HCA-1"\n'
        + 'Ca\t1 "H-00000000000000a2"\t\t# "n2 HCA-1"\n'
    )
    made = take_over(tmp_path, {"dump.txt": text})
    tiers = [(tier["name"], tier["count"]) for tier in fabric_of(made.data)["tiers"]]
    assert tiers == [("leaf", 2), ("spine", 1)]
    assert fabric_of(made.data)["tiers"][1]["switch_names"] == f"Quantum-{top}"


def test_hosts_without_names_leave_their_switch_where_it_is(tmp_path: Path) -> None:
    unset = "MT4129 ConnectX7   Mellanox Technologies"
    text = (
        _switch("01", "MF0;leaf-1:MQM9700/U1", _port(1, "H-a1", 1), _port(40, "S-02", 1))
        + _switch("02", "MF0;spine-1:MQM9700/U1", _port(1, "S-01", 40))
        + f'Ca\t1 "H-a1"\t\t# "{unset}"\n'
    )
    made = take_over(tmp_path, {"dump.txt": text})
    assert [tier["name"] for tier in fabric_of(made.data)["tiers"]] == ["leaf", "spine"]
    assert not any("no host is below" in notice.text for notice in made.notices)


def test_hosts_of_one_name_are_not_one_host(tmp_path: Path) -> None:
    ports = [_port(number, f"H-a{number}", 1) for number in (1, 2, 3)]
    text = _switch("01", "MF0;leaf-1:MQM9700/U1", *ports)
    text += "".join(f'Ca\t1 "H-a{number}"\t\t# "localhost HCA-1"\n' for number in (1, 2))
    text += 'Ca\t1 "H-a3"\t\t# "n3 HCA-1"\n'
    made = take_over(tmp_path, {"dump.txt": text})
    assert [one["name"] for one in made.data["sites"][0]["node_groups"]] == ["n"]
    assert "left out: 2 devices without the name of a host" in " ".join(
        one.text for one in made.notices
    )


def test_switches_keep_their_names_so_that_their_dump_is_as_planned(tmp_path: Path) -> None:
    text = re.sub(r"compute-(leaf|spine)-(\d)", r"IB-A09.\1_0\2", ibnetdiscover(layout_of()))
    made = take_over(tmp_path, {"dump.txt": text})
    tiers = fabric_of(made.data)["tiers"]
    assert [tier["switch_names"] for tier in tiers] == [
        "IB-A09.leaf_[01-08]",
        "IB-A09.spine_[01-04]",
    ]
    fabric = layout_of().fabric.model_dump(mode="json", exclude_unset=True)
    for tier, read in zip(fabric["tiers"], tiers, strict=True):
        tier["switch_names"] = read["switch_names"]
    layout = layout_of(fabric)
    compared = CableComparison(layout, read_discovery(text))
    assert (compared.matched, compared.differences()) == (True, ())


def test_hosts_of_two_domains_are_two(tmp_path: Path) -> None:
    ports = [_port(number, f"H-a{number}", 1) for number in (1, 2)]
    text = _switch("01", "MF0;leaf-1:MQM9700/U1", *ports)
    text += "".join(
        f'Ca\t1 "H-a{number}"\t\t# "esxi01.{zone}.x HCA-1"\n'
        for number, zone in ((1, "red"), (2, "blue"))
    )
    made = take_over(tmp_path, {"dump.txt": text})
    (group,) = made.data["sites"][0]["node_groups"]
    assert (group["count"], group["host_names"]) == (2, "esxi01.blue.x,esxi01.red.x")
    assert fabric_of(made.data)["attached"][0]["interfaces"] == 1


def test_host_that_is_left_out_of_a_sheet_is_left_out_of_a_dump(tmp_path: Path) -> None:
    """It returned as a node group without product; its switch stays a leaf."""
    sheet = "rack,unit,product,name\nc01,1,Cache box,box-1\nc01,5,DGX H100,dgx-1\n"
    network = a_network(("box-1", "sw-a"), ("dgx-1", "sw-b"), ("sw-a", "sw-s"), ("sw-b", "sw-s"))
    path = tmp_path / "sheet.csv"
    path.write_text(sheet)
    found = [read_standing(path), Found(networks=(network,))]
    made = make_blueprint(found, Products(CATALOGUE, {}, ["Cache box"]))
    assert [group["name"] for group in made.data["sites"][0]["node_groups"]] == ["dgx"]
    tiers = {tier["name"]: tier["count"] for tier in fabric_of(made.data)["tiers"]}
    assert tiers == {"leaf": 2, "spine": 1}
    assert any("left out: 1 cable of devices" in notice.text for notice in made.notices)
