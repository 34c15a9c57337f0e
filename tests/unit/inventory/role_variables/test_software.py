"""Versions of GPU software in the inventory: from the bill, for the hosts that need them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from rackwright.accept.expected import expect
from rackwright.inventory.inventory import build_inventory, host_variables
from rackwright.inventory.role_variables.software import gpu_software
from rackwright.plan.aws.nic import PRIMARY
from rackwright.plan.load import load_plan
from rackwright.plan.software.needs import NeedsError
from rackwright.policy.packs.loader import builtin_pack
from unit.inventory.role_variables.test_nccl import NAMES

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


def test_each_nvlink_domain_is_a_group_that_lists_its_hosts() -> None:
    made = build_inventory(load_plan(FIXTURES / "liquid.yaml").plan)
    domains = sorted(name for name in made if name.startswith("nvlink_"))
    assert domains == [f"nvlink_lux1_nvl72_g0{rack}_1" for rack in (1, 2, 3, 4)]
    second = made["nvlink_lux1_nvl72_g02_1"]
    assert second["hosts"] == [f"nvl72-{number}" for number in range(19, 37)]
    assert second["vars"] == {"nvidia_driver_imex_hosts": second["hosts"]}
    made = build_inventory(load_plan(FIXTURES / "operated.yaml").plan)
    assert not [name for name in made if name.startswith("nvlink_")]


def test_a_toolkit_comes_with_the_oldest_driver_that_it_runs_on(tmp_path: Path) -> None:
    layer = tmp_path / "layer.yaml"
    layer.write_text(
        "operations:\n  software:\n"
        "    - {name: all, driver: 595.112.07-1, cuda: 13.0.2, dcgm: 4.5.2}\n"
    )
    (dgx,) = gpu_software(load_plan(FIXTURES / "slurm.yaml", (layer,)).plan).values()
    assert "DCGM_FI_DEV_XID_ERRORS" in dgx.pop("dcgm_exporter_fault_counters")
    assert {key: value for key, value in dgx.items() if key.startswith(("cuda_", "dcgm_"))} == {
        "cuda_version": "13.0.2",
        "cuda_driver_version": "595.112.07",
        "cuda_driver_minimum": "580",
        "dcgm_exporter_dcgm_version": "4.5.2",
        "dcgm_exporter_gpus": 8,
        "dcgm_exporter_cuda": 13,
    }


def test_tables_of_the_policy_in_the_blueprint_are_those_of_the_roles(tmp_path: Path) -> None:
    layer = tmp_path / "layer.yaml"
    layer.write_text(
        "operations:\n  software:\n    - {name: all, driver: 595.112.07, cuda: 14.0.0}\n"
        "policies:\n  OPS-002: {parameters: {cuda_needs: [{cuda: 14, driver: 620.10.1}]}}\n"
    )
    (dgx,) = gpu_software(load_plan(FIXTURES / "slurm.yaml", (layer,)).plan).values()
    assert dgx["cuda_driver_minimum"] == "620.10.1"


def test_a_table_that_is_none_is_refused_with_its_place(tmp_path: Path) -> None:
    layer = tmp_path / "layer.yaml"
    layer.write_text("policies: {OPS-002: {parameters: {cuda_needs: [{cuda: 14, driver: new}]}}}\n")
    plan = load_plan(FIXTURES / "slurm.yaml", (layer,)).plan
    with pytest.raises(NeedsError, match=r"policies\.OPS-002\.parameters\.cuda_needs\.0\.driver"):
        gpu_software(plan)


def test_only_hosts_of_aws_get_efa_with_all_its_devices() -> None:
    plan = load_plan(FIXTURES / "operated.yaml").plan
    found = gpu_software(plan)
    train = {key: value for key, value in found["use1", "train"].items() if key.startswith("efa_")}
    assert train == {
        "efa_devices": 32,
        "efa_libfabric_version": "2.6.0amzn1.0",
        "efa_plugin_version": "1.21.1",
        "efa_nccl_version": "2.30.4-1",
        "efa_installer_version": "1.50.0",
        "efa_nccl_minimum": "2.17.1",
        "efa_libfabric_minimum": "1.22",
        "efa_installer_minimum": "1.29",
        "efa_installer_brings": {"libfabric": "2.6.0amzn1.0", "plugin": "1.21.1"},
    }
    assert not [key for key in found["sjc1", "dgx"] if key.startswith("efa_")]


def test_a_group_without_efa_gets_none_of_its_software() -> None:
    plan = load_plan(FIXTURES / "operated.yaml").plan
    (site,) = plan.aws
    (group,) = site.groups
    bare = replace(group, spec=group.spec.model_copy(update={"efa": False}), nics=(PRIMARY,))
    found = gpu_software(replace(plan, aws=(replace(site, groups=(bare,)),)))
    assert not [key for key in found["use1", "train"] if key.startswith("efa_")]
    assert found["use1", "train"]["nccl_version"] == "2.30.4-1"


def test_prometheus_alerts_on_the_xids_that_drain() -> None:
    made = build_inventory(load_plan(FIXTURES / "operated.yaml").plan)
    alerts = made["monitoring"]["vars"]["prometheus_fault_alerts"]
    assert "DCGM_FI_DEV_XID_ERRORS == 79" in {one["expr"] for one in alerts}


def test_software_without_a_driver_installs_only_the_rest(tmp_path: Path) -> None:
    layer = tmp_path / "layer.yaml"
    layer.write_text(
        "operations:\n  software:\n    - {name: all, nccl: 2.26.2, imex: 570.133.20}\n"
    )
    (dgx,) = gpu_software(load_plan(FIXTURES / "slurm.yaml", (layer,)).plan).values()
    assert dgx.pop("nccl_settings") == {"NCCL_IB_HCA": NAMES}
    assert dgx == {"nccl_version": "2.26.2"}


def test_without_a_bill_nothing_is_known() -> None:
    assert gpu_software(load_plan(FIXTURES / "slurm.yaml").plan) == {}


def test_tests_of_nccl_come_with_it_and_are_accepted(tmp_path: Path) -> None:
    layer = tmp_path / "layer.yaml"
    layer.write_text("operations: {software: [{name: all, nccl: 2.26.2, nccl_tests: 2.17.1}]}\n")
    plan = load_plan(FIXTURES / "slurm.yaml", (layer,)).plan
    (dgx,) = gpu_software(plan).values()
    assert dgx["nccl_tests_version"] == "2.17.1"
    expected = {
        host.name: [i.expected for i in host.items if i.item == "version nccl_tests"]
        for host in expect(plan)
    }
    assert expected["dgx-01"] == ["2.17.1"]
    assert expected["head-1"] == [], "it has no GPU"
    layer.write_text("operations: {software: [{name: all, nccl_tests: 2.17.1}]}\n")
    assert gpu_software(load_plan(FIXTURES / "slurm.yaml", (layer,)).plan) == {("sjc1", "dgx"): {}}
