"""Checks of a node on a machine with real NVIDIA GPUs, for which nothing stands in."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from gpu_support import (
    GpuMachine,
    ask_machine,
    cuda_failures,
    cuda_refusal,
    cuda_toolkits,
    driver_failures,
    health,
    judge_gpus,
    nccl_failures,
    probe,
    query_gpus,
)
from nccl_tests_support import build, find_parts, reduce, verify_failure
from rackwright.accept.all_reduce import FACT, facts_of
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


def test_a_toolkit_that_needs_a_newer_driver_is_refused(machine: GpuMachine) -> None:
    found = cuda_refusal(machine, "9999.1")
    assert f"needs the driver 9999.1 or newer, and one runs {machine.driver}" in found


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


THERMAL, BRAKE = "hw_thermal_slowdown", "hw_power_brake_slowdown"
WIDTH, MOST = "pcie.link.width.current", "pcie.link.width.max"


def test_each_gpu_is_judged_as_another_report_of_nvidia_smi_has_it(machine: GpuMachine) -> None:
    """The health check reads the XML; these fields are read from the other format."""
    events = [f"clocks_event_reasons.{name}" for name in (THERMAL, BRAKE)]
    fields = ("persistence_mode", "ecc.mode.current", WIDTH, MOST, *events)
    reasons = []
    for number, told in enumerate(query_gpus(machine, *fields)):
        if told["persistence_mode"] == "Disabled":
            reasons.append(f"GPU {number}: persistence mode is off")
        if told["ecc.mode.current"] != "Enabled":
            reasons.append(f"GPU {number}: ECC is {told['ecc.mode.current']}")
        if told[WIDTH] != told[MOST]:
            reasons.append(f"GPU {number}: PCIe x{told[WIDTH]} of x{told[MOST]}")
        for event, name in zip(events, (THERMAL, BRAKE), strict=True):
            if told[event] == "Active":
                reasons.append(f"GPU {number}: clocks are lowered ({name})")
    asked = {"ecc": True, "persistence": True, "throttling": True}
    assert judge_gpus(machine, machine.gpus, **asked) == reasons
    assert judge_gpus(machine, machine.gpus + 1, **asked) == [
        f"nvidia-smi sees {machine.gpus} of {machine.gpus + 1} GPUs",
        *reasons,
    ]


def test_each_gpu_must_have_the_lanes_that_are_meant(machine: GpuMachine) -> None:
    lanes = [told[WIDTH] for told in query_gpus(machine, WIDTH)]
    if not all(width.isdigit() for width in lanes):
        pytest.skip("nvidia-smi tells of no lanes here")
    assert judge_gpus(machine, machine.gpus, pcie_width=64) == [
        f"GPU {number}: PCIe x{width} of x64" for number, width in enumerate(lanes)
    ]


@pytest.mark.skipif(
    find_parts() is None, reason="no source of nccl-tests, nvcc, NCCL or MPI is named"
)
def test_nccl_tests_are_built_by_the_role_and_their_output_is_read(
    machine: GpuMachine, measured: Callable[[str], None]
) -> None:
    parts = find_parts()
    assert parts is not None
    assert build(machine, parts) == ""
    assert verify_failure(machine, parts) == ""
    done = reduce(machine, machine.gpus)
    found = facts_of({"rc": done.returncode, "stdout": done.stdout, "stderr": done.stderr})
    assert found[FACT] is not None, done.stdout + done.stderr
    assert found[FACT]["wrong"] == 0
    # Between one GPU and itself nothing goes over a bus.
    assert (found[FACT]["bus_gb_s"] > 0) == (machine.gpus > 1)
    measured(f"{machine.gpus} GPUs {machine.model}: {found[FACT]}")
    done = reduce(machine, machine.gpus + 1)
    found = facts_of({"rc": done.returncode, "stdout": done.stdout, "stderr": done.stderr})
    few = f"Invalid number of GPUs: {machine.gpus + 1} requested but only {machine.gpus} were found"
    assert found[FACT] is None
    assert few in found["problems"][FACT]
