"""Nodes of capacity blocks in the inventory: on one controller, in the words of the role."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rackwright.inventory.inventory import build_inventory
from rackwright.plan.load import load_plan
from rackwright.policy.packs.loader import builtin_pack

FIXTURES = builtin_pack() / "fixtures"
SCHEDULER = """
scheduler:
  kind: slurm
  version: "25.05"
  controllers: [{host: head-1, address: 10.20.0.9}]
  topology: {plugin: tree}
  partitions: [{name: train, groups: [train], default: true, max_time: 1-00:00:00}]
"""
BLOCK = "{kind: capacity-block, id: cr-0123456789abcdef0, ends: '2026-12-24T11:30:00Z'}"
SITE = "sites: [{name: use1, node_groups: [{name: train, capacity: %s}]}]\n"


def reservations(fixture: str, layer: Path) -> dict[str, Any]:
    made = build_inventory(load_plan(FIXTURES / fixture, (layer,)).plan)
    found = made["_meta"]["hostvars"].items()
    key = "slurm_controller_reservations"
    return {name: own[key] for name, own in found if key in own}


@pytest.mark.parametrize(
    ("capacity", "expected"),
    [
        (
            BLOCK,
            [
                {
                    "name": "rackwright-cr-0123456789abcdef0",
                    "nodes": "train-[1-16]",
                    "start": "2026-12-24T10:50:00Z",
                }
            ],
        ),
        ("{kind: on-demand}", []),
    ],
)
def test_the_controller_knows_the_nodes_that_go_away(
    tmp_path: Path, capacity: str, expected: list[dict[str, str]]
) -> None:
    layer = tmp_path / "layer.yaml"
    layer.write_text(SCHEDULER + SITE % capacity)
    assert reservations("aws.yaml", layer) == {"head-1": expected}


def test_a_cluster_of_one_s_own_machines_has_none(tmp_path: Path) -> None:
    layer = tmp_path / "layer.yaml"
    layer.write_text("scheduler: {}\n")
    assert reservations("slurm.yaml", layer) == {}
