"""Software of AMD's and AWS's accelerators reaches the roles of their vendors alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from rackwright.inventory.inventory import build_inventory, host_variables
from rackwright.plan.load import load_plan
from rackwright.policy.packs.loader import builtin_pack
from rackwright.render.blueprints import find_template, write_blueprint
from rackwright.resources import bundled

VENDORS = ("nvidia_driver_", "amd_gpu_", "neuron_")


def of_vendors(variables: dict[str, Any] | None) -> dict[str, Any]:
    assert variables is not None
    return {key: value for key, value in variables.items() if key.startswith(VENDORS)}


def test_mi300x_gets_amds_driver_and_rocm(tmp_path: Path) -> None:
    """The template had a site of MI300X for which no role brought ROCm."""
    place = bundled("templates") / "blueprints/onprem-mi300x/template-test.yaml"
    answers = next(iter(yaml.safe_load(place.read_text())["cases"].values()))
    path = write_blueprint(find_template("onprem-mi300x"), tmp_path, answers)[0]
    found = of_vendors(host_variables(build_inventory(load_plan(path).plan), "amd-01"))
    assert found == {
        "amd_gpu_driver_version": "6.12.12",
        "amd_gpu_rocm_version": "6.4.1",
        "amd_gpu_accelerators": 8,
        "amd_gpu_devices": [f"/dev/dri/renderD{128 + 8 * number}" for number in range(8)],
    }


def test_trainium_gets_neurons_driver_and_tools(tmp_path: Path) -> None:
    layer = tmp_path / "layer.yaml"
    layer.write_text(
        "sites: [{name: use1, node_groups: [{name: train, type: trn2.48xlarge}]}]\n"
        "operations: {software: [{name: all, neuron: {driver: 2.24.7.0, tools: 2.26.14.0}}]}\n"
    )
    plan = load_plan(builtin_pack() / "fixtures/aws.yaml", [layer]).plan
    made = build_inventory(plan)
    name = next(host.inventory_name for host in plan.hosts if host.group == "train")
    assert of_vendors(host_variables(made, name)) == {
        "neuron_driver_version": "2.24.7.0",
        "neuron_tools_version": "2.26.14.0",
        "neuron_devices": 16,
    }
