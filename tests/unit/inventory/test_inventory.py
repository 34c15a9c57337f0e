"""The inventory: who is in which group, with which variables, and how Ansible reads it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import factories
from rackwright.cli import main
from rackwright.inventory.expectations import group_name
from rackwright.inventory.inventory import (
    Inventory,
    InventoryError,
    build_inventory,
    draw,
    host_variables,
)
from rackwright.plan.load import load_plan
from rackwright.plan.model import Plan
from rackwright.policy.packs.loader import builtin_pack
from work import growth

FIXTURES = builtin_pack() / "fixtures"
HYBRID = Path(__file__).parents[2] / "golden" / "slurm" / "hybrid" / "layer.yaml"


def an_inventory(fixture: str = "slurm", *layers: Path) -> Inventory:
    return build_inventory(load_plan(FIXTURES / f"{fixture}.yaml", layers).plan)


def hosts_of(inventory: Inventory, group: str) -> set[str]:
    """Every host in ``group`` or below it, as Ansible counts them."""
    entry = inventory[group]
    below = (hosts_of(inventory, child) for child in entry.get("children", ()))
    return set(entry.get("hosts", ())).union(*below)


def test_hosts_stand_in_the_racks_in_the_order_they_are_filled() -> None:
    made = an_inventory()
    assert made["rack_sjc1_c01"]["hosts"] == ["dgx-01", "dgx-02", "dgx-03", "dgx-04"]
    assert made["rack_sjc1_c16"]["hosts"] == ["dgx-61", "dgx-62", "dgx-63", "dgx-64"]
    assert host_variables(made, "dgx-62") is not None
    assert made["_meta"]["hostvars"]["dgx-62"] == {"rackwright_unit": 2}


def test_every_host_is_in_one_group_of_each_kind() -> None:
    made = an_inventory("slurm", HYBRID)
    everyone = set(made["_meta"]["hostvars"])
    assert len(everyone) == 64 + 2 + 1 + 16 + 4
    for kind in ("site", "role", "hardware", "nodes"):
        groups = [hosts_of(made, name) for name in made if name.startswith(f"{kind}_")]
        assert sum(map(len, groups)) == len(everyone), kind
        assert set().union(*groups) == everyone
    assert hosts_of(made, "all") == everyone
    bare = hosts_of(made, "site_sjc1")
    for kind in ("hall", "row", "rack"):
        groups = [hosts_of(made, name) for name in made if name.startswith(f"{kind}_")]
        assert sum(map(len, groups)) == len(bare), kind


def test_no_group_has_the_name_of_a_host() -> None:
    made = an_inventory("slurm", HYBRID)
    assert not set(made) & set(made["_meta"]["hostvars"])


def test_a_name_of_two_sites_carries_the_site() -> None:
    made = an_inventory("slurm", HYBRID)
    assert set(made["nodes_sjc1_head"]["hosts"]) == {"head-1.sjc1", "head-2.sjc1"}
    assert made["nodes_use1_head"]["hosts"] == ["head-1.use1"]
    assert made["_meta"]["hostvars"]["head-1.use1"] == {"rackwright_hostname": "head-1"}


def test_a_rack_scale_system_has_trays() -> None:
    made = an_inventory("liquid")
    assert len(made["rack_lux1_g01"]["hosts"]) == 18
    assert made["_meta"]["hostvars"]["nvl72-18"] == {"rackwright_unit": 1, "rackwright_tray": 18}
    assert made["_meta"]["hostvars"]["nvl72-19"] == {"rackwright_unit": 1, "rackwright_tray": 1}
    assert "nvl72-19" in made["rack_lux1_g02"]["hosts"]
    variables = host_variables(made, "nvl72-19")
    assert variables is not None
    assert variables["rackwright_accelerators"] == 4
    assert variables["rackwright_ports"][0]["count"] == 4


def test_expectations_come_from_the_catalogue_and_unknown_ones_are_absent() -> None:
    made = an_inventory("slurm", HYBRID)
    dgx, head = host_variables(made, "dgx-33"), host_variables(made, "head-1.sjc1")
    assert dgx is not None
    assert head is not None
    assert (dgx["rackwright_accelerators"], dgx["rackwright_cpus"]) == (8, 224)
    assert (dgx["rackwright_rack"], dgx["rackwright_row"]) == ("c09", "row-1")
    assert dgx["slurm_compute_accelerators"] == 8
    assert head["rackwright_accelerators"] == 0
    assert "rackwright_cpus" not in head
    train = host_variables(made, "train-01")
    assert train is not None
    assert train["rackwright_zone"] == "us-east-1a"
    assert train["rackwright_memory_gib"] == 2048
    assert host_variables(made, "nobody") is None


def test_the_groups_of_slurm_follow_the_scheduler() -> None:
    made = an_inventory()
    assert made["slurm_controller"]["hosts"] == ["head-1", "head-2"]
    assert len(made["slurm_compute"]["hosts"]) == 64
    assert hosts_of(made, "slurm_database") == set()
    assert hosts_of(made, "slurm_hosts") == set(made["_meta"]["hostvars"])
    assert "slurm_hosts" not in an_inventory("air")


def test_the_first_head_watches_the_others() -> None:
    assert an_inventory()["monitoring"]["hosts"] == ["head-1"]
    assert an_inventory("slurm", HYBRID)["monitoring"]["hosts"] == ["head-1.sjc1"]
    assert "monitoring" not in an_inventory("air"), "there is no head"


def test_a_site_that_the_scheduler_leaves_out_runs_no_slurm(tmp_path: Path) -> None:
    layer = tmp_path / "layer.yaml"
    layer.write_text("scheduler: {sites: [sjc1]}\n")
    made = an_inventory("slurm", HYBRID, layer)
    assert hosts_of(made, "slurm_compute") == hosts_of(made, "nodes_sjc1_dgx")


def test_two_groups_of_one_name_are_refused() -> None:
    rack = factories.a_rack_group
    rows = [factories.a_row(rack("c01"), name="a-b")]
    halls = [
        factories.a_hall("x", rows=rows),
        factories.a_hall("x-a", rows=[factories.a_row(rack("c02"), name="b")]),
    ]
    nodes = [factories.some_nodes(count=8, racks="c[01-02]")]
    plan = factories.a_plan(factories.a_site(halls=halls, node_groups=nodes))
    with pytest.raises(InventoryError, match="would both be called 'row_lab_x_a_b'"):
        build_inventory(plan)


def test_group_names_are_variables_of_ansible() -> None:
    assert group_name("hardware", "p5.48xlarge") == "hardware_p5_48xlarge"
    made = an_inventory("slurm", HYBRID)
    assert all(name.isidentifier() for name in made)


def test_the_graph_shows_every_host_compactly() -> None:
    lines = list(draw(an_inventory()))
    assert lines[0] == "@all"
    assert "        @rack_sjc1_c01: 4 × dgx-[01-04]" in lines


def test_ansible_reads_it_as_it_is_meant(tmp_path: Path) -> None:
    made = an_inventory("slurm", HYBRID)
    blueprint, layer = FIXTURES / "slurm.yaml", HYBRID
    script = tmp_path / "hosts"
    command = f'-m rackwright inventory "{blueprint}" --layer "{layer}" "$@"'
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" {command}\n')
    script.chmod(0o755)
    ansible = [sys.executable, "-m", "ansible", "inventory", "-i", str(script), "--list"]
    done = subprocess.run(ansible, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    read: dict[str, Any] = json.loads(done.stdout)
    for group in ("rack_sjc1_c01", "slurm_compute", "nodes_use1_train"):
        assert set(read[group]["hosts"]) == hosts_of(made, group)
    assert read["_meta"]["hostvars"]["dgx-33"]["rackwright_rack"] == "c09"
    assert read["_meta"]["hostvars"]["dgx-33"]["rackwright_cpus"] == 224
    assert not [line for line in done.stderr.splitlines() if "malformed" in line or "parse" in line]


def test_the_command_prints_json_and_suggests_a_host(capsys: pytest.CaptureFixture[str]) -> None:
    blueprint = str(FIXTURES / "slurm.yaml")
    assert main(["inventory", blueprint]) == 0
    assert json.loads(capsys.readouterr().out) == an_inventory()
    assert main(["inventory", blueprint, "--host", "dgx-01"]) == 0
    assert json.loads(capsys.readouterr().out)["rackwright_rack"] == "c01"
    assert main(["inventory", blueprint, "--host", "dgx-1"]) == 2
    assert "did you mean 'dgx-" in capsys.readouterr().err
    assert main(["inventory", blueprint, "--graph"]) == 0
    assert capsys.readouterr().out.startswith("@all\n")


def test_twice_as_many_hosts_are_twice_the_work() -> None:
    def plan_of(racks: int) -> Plan:
        names = f"c[0001-{racks:04}]"
        group = factories.a_rack_group(names)
        site = factories.a_site(
            halls=[factories.a_hall(rows=[factories.a_row(group)])],
            node_groups=[factories.some_nodes(count=4 * racks, racks=names)],
        )
        return factories.a_plan(site)

    plans = {racks: plan_of(racks) for racks in (50, 100, 200)}

    def build(racks: int) -> None:
        made = build_inventory(plans[racks])
        assert len(made["_meta"]["hostvars"]) == len(plans[racks].hosts) == 4 * racks

    assert growth(build, 50) < 2.2
