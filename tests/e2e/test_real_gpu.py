"""Checks of a node on a machine with real NVIDIA GPUs, for which nothing stands in."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from gpu_support import (
    GpuMachine,
    ask_machine,
    cuda_failures,
    cuda_toolkits,
    driver_failures,
    health,
    nccl_failures,
    probe,
)
from rackwright.accept.compare import ItemOutcome

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(shutil.which("nvidia-smi") is None, reason="no NVIDIA GPU here"),
    pytest.mark.skipif(os.geteuid() != 0, reason="roles write as root"),
]

NO_PACKAGES: dict[str, list[str]] = {"driver": [], "fabric_manager": [], "imex": []}


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> GpuMachine:
    return ask_machine(tmp_path_factory.mktemp("gpu"))


def test_the_driver_is_verified_with_the_true_numbers_and_no_others(machine: GpuMachine) -> None:
    no_packages = {"Debian": NO_PACKAGES, "RedHat": NO_PACKAGES}
    other = {"nvidia_driver_version": "1.2.3", "nvidia_driver_packages": no_packages}
    more = {"nvidia_driver_gpus": machine.gpus + 1}
    found = driver_failures(machine, {"right": {}, "more": more, "other": other})
    assert found["right"] == ""
    assert f"has {machine.gpus} of {machine.gpus + 1} GPUs" in found["more"]
    assert f"runs the driver {machine.driver}, wanted 1.2.3; reboot it" in found["other"]


@pytest.mark.skipif(not cuda_toolkits(), reason="no CUDA toolkit in /usr/local here")
def test_the_toolkit_is_verified(machine: GpuMachine) -> None:
    release = cuda_toolkits()[-1]
    found = cuda_failures(machine, {"right": f"{release}.0", "wrong": f"{release}9.0"})
    # An image brings its own configuration of the linker, where the role has written none.
    assert found["right"] == "" or "does not look for libraries in" in found["right"]
    assert f"/usr/local/cuda-{release}9/bin/nvcc" in found["wrong"]


def test_nccl_is_verified_with_the_adapters_that_are_there(machine: GpuMachine) -> None:
    folder = Path("/sys/class/infiniband")
    adapters = sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []
    found = nccl_failures(machine, {"right": adapters, "wrong": [*adapters, "mlx5_99"]})
    assert found["right"] == ""
    assert "has no adapter mlx5_99, which NCCL is to use" in found["wrong"]


def test_the_generated_health_check_judges_this_machine(machine: GpuMachine) -> None:
    found = health(machine, {"right": machine.gpus, "wrong": machine.gpus + 1})
    assert found["right"] == (0, "")
    assert found["wrong"] == (1, f"{machine.gpus} of {machine.gpus + 1} accelerators")


def test_the_acceptance_finds_what_nvidia_smi_says(machine: GpuMachine) -> None:
    found = probe(machine, machine.gpus)
    assert {outcome for outcome, _ in found.values()} == {ItemOutcome.PASS}, found
    found = probe(machine, machine.gpus + 1)
    reason = f"{machine.gpus} of {machine.gpus + 1} accelerators"
    assert found["accelerators"] == (ItemOutcome.FAIL, reason)
    assert found["accelerator model"][0] is ItemOutcome.PASS
