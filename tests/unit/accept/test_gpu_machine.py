"""The checks that run on real GPUs, with the lab's stand-in of nvidia-smi and files for devices."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gpu_support import GpuMachine, ask_machine, driver_failures, health, nccl_failures, probe
from rackwright.accept.compare import ItemOutcome
from rackwright_lab.mock_packages.gpu import DRIVER, FAULTY_DRIVER, FORMER_DRIVER, nvidia_smi

GPUS = 3


@pytest.fixture
def machine(tmp_path: Path) -> GpuMachine:
    for number in range(GPUS):
        (tmp_path / f"nvidia{number}").touch()
    (tmp_path / "bin").mkdir()
    install(tmp_path, DRIVER)
    return ask(tmp_path)


def install(folder: Path, version: str, dark: int = 0) -> None:
    """Put the stand-in of a driver there."""
    program = folder / "bin/nvidia-smi"
    text = nvidia_smi(version, dark).replace("/dev/nvidia", f"{folder}/nvidia")
    program.write_text(text.replace("/run/", f"{folder}/"))
    program.chmod(0o755)


def ask(folder: Path) -> GpuMachine:
    """The machine as its nvidia-smi tells of it."""
    return ask_machine(folder, f"{folder}/nvidia[0-9]*", str(folder / "bin"))


def test_a_machine_is_what_its_nvidia_smi_says(machine: GpuMachine) -> None:
    assert (machine.gpus, machine.driver, machine.model) == (GPUS, DRIVER, "h100")


def test_the_driver_passes_with_the_true_numbers_only(machine: GpuMachine) -> None:
    found = driver_failures(machine, {"right": {}, "wrong": {"nvidia_driver_gpus": GPUS + 1}})
    assert found["right"] == ""
    assert f"has {GPUS} of {GPUS + 1} GPUs" in found["wrong"]


def test_nccl_misses_an_adapter_that_is_not_there(machine: GpuMachine) -> None:
    found = nccl_failures(machine, {"right": [], "wrong": ["mlx5_99"]})
    assert found["right"] == ""
    assert "has no adapter mlx5_99, which NCCL is to use" in found["wrong"]


@pytest.mark.skipif(os.geteuid() != 0, reason="roles write as root")
def test_the_health_check_passes_with_the_true_numbers_only(machine: GpuMachine) -> None:
    assert health(machine, {"right": GPUS, "wrong": GPUS + 1}) == {
        "right": (0, ""),
        "wrong": (1, f"{GPUS} of {GPUS + 1} accelerators"),
    }


def test_the_acceptance_passes_with_the_true_numbers_only(machine: GpuMachine) -> None:
    assert probe(machine, GPUS) == {
        "accelerators": (ItemOutcome.PASS, None),
        "accelerator model": (ItemOutcome.PASS, None),
    }
    assert probe(machine, GPUS + 1)["accelerators"] == (
        ItemOutcome.FAIL,
        f"{GPUS} of {GPUS + 1} accelerators",
    )


def test_the_stand_in_of_a_lab_tells_of_the_driver_of_the_last_boot(
    machine: GpuMachine, tmp_path: Path
) -> None:
    install(tmp_path, FORMER_DRIVER)
    assert ask(tmp_path).driver == DRIVER, "what is installed runs after a reboot alone"
    (tmp_path / "nvidia-lab-driver").unlink()  # as all of /run, at a boot
    assert ask(tmp_path).driver == FORMER_DRIVER
    install(tmp_path, FAULTY_DRIVER, dark=1)
    assert ask(tmp_path).gpus == GPUS - 1
