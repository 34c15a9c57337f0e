"""A fabric whose leaves stand at the top of racks, as policies and the list of cables see it."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml

from rackwright.cli import main
from rackwright.plan.load import load_plan
from rackwright.plan.reliability.failure_domains import FailureDomains
from rackwright.policy.api import Outcome
from rackwright.policy.check import check_blueprint
from rackwright.policy.packs.loader import builtin_pack, load_packs

BLUEPRINT = builtin_pack() / "fixtures" / "top-of-rack.yaml"
SEVEN = {"tiers": [{"name": "leaf", "count": 7, "racks": "c[01-07]"}]}


def layered(folder: Path, **fabric: Any) -> Path:
    path = folder / "layer.yaml"
    layer = {"sites": [{"name": "sjc1", "fabrics": [{"name": "compute", **fabric}]}]}
    path.write_text(yaml.safe_dump(layer))
    return path


def addressed(*fabrics: str) -> dict[str, Any]:
    """Addresses that DHCP gives to the interfaces of each node on ``fabrics``."""
    networks = [
        {
            "name": fabric,
            "kind": "fabric",
            "fabric": fabric,
            "segment": "nodes",
            "set_by": "others",
            "ranges": [{"of": "dgx", "first": f"10.30.{number}.1"}],
        }
        for number, fabric in enumerate(fabrics)
    ]
    return {"domain": "sjc1.example.com", "networks": networks}


def fixes(rule: str, *layers: Path) -> list[str | None]:
    """The fixes of what fails."""
    report = check_blueprint(BLUEPRINT, layers=layers, only=(rule,))
    return [result.fix for result in report.results if result.outcome is Outcome.FAIL]


def test_no_rule_of_fabrics_refuses_it(tmp_path: Path) -> None:
    rules = tuple(p.id for p in load_packs() if p.id.startswith("NET-"))
    addresses = tmp_path / "addresses.yaml"
    layer = {"sites": [{"name": "sjc1", "addresses": addressed("compute")}]}
    addresses.write_text(yaml.safe_dump(layer))
    results = check_blueprint(BLUEPRINT, layers=(addresses,), only=rules).results
    wrong = {Outcome.FAIL, Outcome.UNKNOWN}
    failed = {result.policy for result in results if result.outcome in wrong}
    assert failed == {"NET-012"}  # one switch is in the way of each node
    judged = {result.policy for result in results}
    assert judged >= {
        "NET-001",
        "NET-002",
        "NET-004",
        "NET-005",
        "NET-010",
        "NET-011",
        "NET-013",
        "NET-017",
    }


def test_a_rack_without_a_leaf_is_named(tmp_path: Path) -> None:
    layer = layered(tmp_path, **SEVEN)
    (switches,) = fixes("NET-001", layer)
    assert switches == (
        "provide 8 switches sn5610 in tier 'leaf': those of the racks 'c08' are too few"
    )
    (ports,) = fixes("NET-010", layer)
    assert ports == (
        "place a switch of 'leaf' in the rack 'c08', or name it in 'shared_racks' with a rack that "
        "has one"
    )


def test_racks_whose_leaf_has_too_few_ports_are_named(tmp_path: Path) -> None:
    tiers = [{"name": "leaf", "count": 1}]
    layer = layered(tmp_path, shared_racks=["c[01-08]"], tiers=tiers)
    (switches,) = fixes("NET-001", layer)
    assert switches is not None
    assert switches.endswith("those of the racks 'c[01-08]' are too few")
    (ports,) = fixes("NET-010", layer)
    assert ports == "place more switches of 'leaf' in the racks of 'dgx', or fewer hosts in each"


def test_the_list_of_cables_keeps_to_the_racks(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fabric", "cables", str(BLUEPRINT)]) == 0
    rows = [line.split(",") for line in capsys.readouterr().out.splitlines()[1:]]
    assert Counter(row[0] for row in rows) == {"nodes": 128, "spines": 128}
    leaf_of = {row[1]: row[5] for row in rows if row[0] == "nodes"}
    assert leaf_of == {f"dgx-{n:02d}": f"compute-leaf-{(n + 1) // 2}" for n in range(1, 17)}
    assert rows[15][1:7] == ["dgx-02", "8", "mlx5_11", "OSFP1P1", "compute-leaf-1", "16"]


def test_a_port_that_is_split_is_listed_twice(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    layer = layered(tmp_path, attached=[{"group": "dgx", "split": 2}])
    assert main(["fabric", "cables", str(BLUEPRINT), "--layer", str(layer)]) == 0
    rows = [line.split(",") for line in capsys.readouterr().out.splitlines()[1:]]
    assert [row[1:4] for row in rows[:3]] == [
        ["dgx-01", "1", "mlx5_0"],
        ["dgx-01", "2", "mlx5_0"],
        ["dgx-01", "3", "mlx5_3"],
    ]
    assert sum(row[0] == "nodes" for row in rows) == 256


def test_the_loss_of_a_leaf_takes_the_ports_of_a_rack() -> None:
    plan = load_plan(BLUEPRINT).plan
    losses = FailureDomains(plan.onprem[0], frozenset()).losses(0)
    (leaf,) = [loss for loss in losses if loss.kind == "leaf"]
    assert (leaf.taken, leaf.of, leaf.count) == (16, 128, 8)


def test_cables_to_the_rack_beside_are_longer_in_the_list(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    layer = layered(
        tmp_path,
        shared_racks=["c[01-02]", "c[03-04]", "c[05-06]", "c[07-08]"],
        tiers=[{"name": "leaf", "count": 4, "racks": "c01,c03,c05,c07"}],
        links=[
            {"name": "nodes", "same_rack": True},
            {
                "name": "beside",
                "lower": "dgx",
                "upper": "leaf",
                "same_rack": False,
                "length": "5 m",
            },
        ],
    )
    assert main(["fabric", "cables", str(BLUEPRINT), "--layer", str(layer)]) == 0
    rows = [line.split(",") for line in capsys.readouterr().out.splitlines()[1:]]
    lengths = {(row[1], row[0]): row[8] for row in rows if row[1].startswith("dgx")}
    assert list(lengths.items())[:5] == [
        (("dgx-01", "nodes"), "3.0"),
        (("dgx-02", "nodes"), "3.0"),
        (("dgx-03", "beside"), "5.0"),
        (("dgx-04", "beside"), "5.0"),
        (("dgx-05", "nodes"), "3.0"),
    ]


def test_leaves_with_ports_enough_are_sized_for_fewer_uplinks(tmp_path: Path) -> None:
    """Ten nodes of 8 ports in a rack: 80 of 128 ports of its leaf; 80 / 48 = 1.67 to 1."""
    path = tmp_path / "layer.yaml"
    groups = [{"name": "dgx", "per_rack": 10}]
    path.write_text(yaml.safe_dump({"sites": [{"name": "sjc1", "node_groups": groups}]}))
    (ports,) = fixes("NET-010", path)
    assert ports == (
        "size the leaves for an 'oversubscription' of 1.67, which has ports for all hosts of a rack, "
        "or place fewer hosts in each"
    )
    eased = tmp_path / "eased.yaml"
    fabric = {"name": "compute", "oversubscription": 1.67}
    eased.write_text(yaml.safe_dump({"sites": [{"name": "sjc1", "fabrics": [fabric]}]}))
    assert fixes("NET-010", path, eased) == []


def test_two_leaves_in_each_rack_are_two_fabrics_of_half_the_ports(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Interfaces 1 to 4 of a node are on one leaf of its rack, 5 to 8 on the other."""
    document = yaml.safe_load(BLUEPRINT.read_text())
    (one,) = document["sites"][0]["fabrics"]
    one["attached"] = [{"group": "dgx", "interfaces": 4}]
    other = yaml.safe_load(yaml.safe_dump({**one, "name": "second"}))
    for tier in other["tiers"]:
        tier["asn"] += 1000
        tier["start_unit"] = "20 U"
    other["segments"][0]["prefix"] = "10.30.1.0/24"
    document["sites"][0]["fabrics"].append(other)
    document["sites"][0]["addresses"] = addressed("compute", "second")
    path = tmp_path / "blueprint.yaml"
    path.write_text(yaml.safe_dump(document))
    rules = tuple(p.id for p in load_packs() if p.id.startswith("NET-"))
    results = check_blueprint(path, only=rules).results
    assert not [r.message for r in results if r.outcome in {Outcome.FAIL, Outcome.UNKNOWN}]
    switches = [r.value for r in results if r.policy == "NET-012" and r.unit == "switches"]
    assert switches == [2, 2]
    for fabric, device in (("compute", "mlx5_0"), ("second", "mlx5_6")):
        assert main(["fabric", "cables", str(path), "--fabric", fabric]) == 0
        first = capsys.readouterr().out.splitlines()[1].split(",")
        assert first[1:6] == ["dgx-01", "1", device, *first[4:5], f"{fabric}-leaf-1"]
