"""QOS in the inventory: on one controller, in the words of the role."""

from __future__ import annotations

from pathlib import Path

from rackwright.inventory.inventory import build_inventory
from rackwright.plan.load import load_plan
from rackwright.policy.packs.loader import builtin_pack

FIXTURE = builtin_pack() / "fixtures/slurm.yaml"
PRODUCTION = Path(__file__).parents[3] / "golden/slurm/tree/layer.yaml"


def test_the_first_controller_has_the_qos_and_no_other_host() -> None:
    made = build_inventory(load_plan(FIXTURE, (PRODUCTION,)).plan)
    hostvars = made["_meta"]["hostvars"]
    assert made["slurm_controller"]["hosts"] == ["head-1", "head-2"]
    assert hostvars["head-1"]["slurm_controller_cluster"] == "atlas"
    assert hostvars["head-1"]["slurm_controller_qos"] == [
        {"name": "normal"},
        {
            "name": "urgent",
            "priority": 1000,
            "preempts": ["scavenger"],
            "max_gpus_per_user": 256,
        },
        {
            "name": "scavenger",
            "preempt_mode": "requeue",
            "grace_s": 120,
            "max_wall_minutes": 1440,
            "max_nodes_per_user": 8,
        },
    ]
    assert [name for name, own in hostvars.items() if "slurm_controller_qos" in own] == ["head-1"]


def test_a_primary_outside_the_blueprint_leaves_it_to_its_backup(tmp_path: Path) -> None:
    layer = tmp_path / "layer.yaml"
    primary = "{host: far-1, address: 192.0.2.1}"
    layer.write_text(f"scheduler: {{controllers: [{primary}, {{host: head-2}}]}}\n")
    hostvars = build_inventory(load_plan(FIXTURE, (PRODUCTION, layer)).plan)["_meta"]["hostvars"]
    assert [name for name, own in hostvars.items() if "slurm_controller_qos" in own] == ["head-2"]


def test_a_blueprint_without_qos_sets_nothing() -> None:
    hostvars = build_inventory(load_plan(FIXTURE).plan)["_meta"]["hostvars"]
    assert not [name for name, own in hostvars.items() if "slurm_controller_qos" in own]


def test_a_controller_that_stands_by_is_known() -> None:
    hostvars = build_inventory(load_plan(FIXTURE, (PRODUCTION,)).plan)["_meta"]["hostvars"]
    assert [name for name, own in hostvars.items() if "slurm_config_standby" in own] == ["head-2"]
    assert hostvars["head-2"]["slurm_config_standby"] is True
