"""Settings of NCCL, as they follow from fabric and catalogue."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from rackwright.inventory.inventory import build_inventory, host_variables
from rackwright.inventory.role_variables.nccl import nccl_settings
from rackwright.plan.load import load_plan
from rackwright.policy.packs.loader import builtin_pack
from unit.inventory.role_variables.golden import compare, render

FIXTURES = builtin_pack() / "fixtures"
ROCE = "technology: ethernet, roce: {dscp: 26, priority: 3}"
NAMES = "=mlx5_0,mlx5_3,mlx5_4,mlx5_5,mlx5_6,mlx5_9,mlx5_10,mlx5_11"


def settings(tmp_path: Path, fabric: str = "", attached: str = "") -> Mapping[str, str]:
    """Of the DGX hosts, after changes of their compute fabric."""
    layer = tmp_path / "layer.yaml"
    changes = [text for text in (fabric, attached) if text]
    text = ", ".join(["name: compute", *changes])
    layer.write_text(f"sites: [{{name: sjc1, fabrics: [{{{text}}}]}}]\n")
    plan = load_plan(FIXTURES / "slurm.yaml", (layer,)).plan
    return nccl_settings(plan).get(("sjc1", "dgx"), {})


def test_collectives_take_the_ports_on_the_compute_fabric_and_no_others(tmp_path: Path) -> None:
    assert settings(tmp_path) == {"NCCL_IB_HCA": NAMES}


def test_roce_has_the_traffic_class_of_its_code_point(tmp_path: Path) -> None:
    # RFC 2474: the code point is the upper six bits of the eight.
    assert settings(tmp_path, ROCE)["NCCL_IB_TC"] == "104"
    assert "NCCL_IB_TC" not in settings(tmp_path, "technology: ethernet")


def test_ports_are_not_guessed(tmp_path: Path) -> None:
    assert settings(tmp_path, attached="attached: [{group: dgx, interfaces: 4}]") == {}


@pytest.mark.parametrize("name", ["infiniband", "roce"])
def test_the_file_is_the_golden_one(tmp_path: Path, name: str) -> None:
    layer = tmp_path / "layer.yaml"
    bill = "operations: {software: [{name: all, nccl: 2.26.2}]}\n"
    more = ROCE if name == "roce" else "technology: infiniband"
    layer.write_text(f"{bill}sites: [{{name: sjc1, fabrics: [{{name: compute, {more}}}]}}]\n")
    made = build_inventory(load_plan(FIXTURES / "slurm.yaml", (layer,)).plan)
    variables = host_variables(made, "dgx-01")
    assert variables is not None
    compare(f"nccl/{name}.nccl.conf", render("nccl/templates/nccl.conf.j2", variables))
