"""Versions of GPU software in the inventory: from the bill, for the hosts that need them."""

from __future__ import annotations

from pathlib import Path

from rackwright.configure.inventory import build_inventory, host_variables
from rackwright.configure.software import gpu_software
from rackwright.plan.load import load_plan
from rackwright.policy.packs import builtin_pack

FIXTURES = builtin_pack() / "fixtures"


def test_hosts_get_the_versions_of_their_sites_bill() -> None:
    made = build_inventory(load_plan(FIXTURES / "operated.yaml").plan)
    dgx = host_variables(made, "dgx-1")
    assert dgx is not None
    found = {key: value for key, value in dgx.items() if key.startswith(("nvidia_", "nccl_"))}
    assert found == {
        "nvidia_driver_version": "595.112.07",
        "nvidia_driver_gpus": 8,
        "nvidia_driver_fabric_manager": True,
        "nvidia_driver_fabric_manager_version": "595.112.07",
        "nvidia_driver_imex": False,
        "nccl_version": "2.30.4-1",
    }
    server = host_variables(made, "oss-1")
    assert server is not None
    assert not [key for key in server if key.startswith(("nvidia_", "nccl_"))]


def test_a_site_that_is_left_out_adds_no_group() -> None:
    made = build_inventory(load_plan(FIXTURES / "operated.yaml").plan, "sjc1")
    assert "nodes_use1_train" not in made
    assert made["nodes_sjc1_dgx"]["vars"]["nccl_version"] == "2.30.4-1"


def test_the_hosts_of_a_rack_scale_system_need_imex_and_no_fabric_manager(tmp_path: Path) -> None:
    layer = tmp_path / "layer.yaml"
    layer.write_text(
        "operations:\n  software:\n    - {name: all, driver: 570.133.20-1, imex: 570.133.20-1}\n"
    )
    (nvl72,) = gpu_software(load_plan(FIXTURES / "liquid.yaml", (layer,)).plan).values()
    assert nvl72 == {
        "nvidia_driver_version": "570.133.20",
        "nvidia_driver_gpus": 4,
        "nvidia_driver_fabric_manager": False,
        "nvidia_driver_imex": True,
        "nvidia_driver_imex_version": "570.133.20-1",
    }


def test_where_the_bill_states_no_driver_only_the_rest_is_installed(tmp_path: Path) -> None:
    layer = tmp_path / "layer.yaml"
    layer.write_text(
        "operations:\n  software:\n    - {name: all, nccl: 2.26.2, imex: 570.133.20}\n"
    )
    (dgx,) = gpu_software(load_plan(FIXTURES / "slurm.yaml", (layer,)).plan).values()
    assert dgx == {"nccl_version": "2.26.2"}


def test_without_a_bill_nothing_is_known() -> None:
    assert gpu_software(load_plan(FIXTURES / "slurm.yaml").plan) == {}
