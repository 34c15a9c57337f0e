"""The roles of AMD's and AWS's accelerators on hosts of the lab, with stand-ins of the makers' names and output."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from lab_support import LAB_MARKS, Machines, some_machines
from rackwright_lab.lab import HostSpec
from rackwright_lab.mock_packages.accelerators import AMD_SMI, AMDGPU, RCCL, ROCM

pytestmark = LAB_MARKS
RENDER_NODES = [f"/dev/dri/renderD{128 + 8 * number}" for number in range(8)]
AMD: Mapping[str, Any] = {
    "amd_gpu_driver_version": "6.12.12",
    "amd_gpu_rocm_version": "6.4.1",
    "amd_gpu_exporter_version": "1.3.0",
    "amd_gpu_accelerators": 8,
    "amd_gpu_devices": RENDER_NODES,
}
NEURON: Mapping[str, Any] = {
    "neuron_driver_version": "2.24.7.0",
    "neuron_runtime_version": "2.28.23.0",
    "neuron_collectives_version": "2.28.27.0",
    "neuron_tools_version": "2.26.14.0",
    "neuron_devices": 16,
}
HERE = (
    "--extra-vars",
    json.dumps({"amd_gpu_module": "/root/amdgpu", "neuron_module": "/root/neuron"}),
)


@pytest.fixture(scope="module")
def machines(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machines]:
    folder = tmp_path_factory.mktemp("others")
    wanted = [HostSpec("amd-1"), HostSpec("trn-1")]
    with some_machines(folder, "othw", "10.213.104.0/24", wanted) as made:
        made.on(
            "amd-1", "mkdir -p /dev/dri; for n in $(seq 128 191); do touch /dev/dri/renderD$n; done"
        )
        made.on(
            "amd-1",
            "echo 6.12.12 > /root/amdgpu; apt-get update -q && apt-get install -qy python3",
            timeout_s=120,
        )
        made.on(
            "trn-1",
            "for n in $(seq 0 15); do touch /dev/neuron$n; done; echo 2.24.7.0 > /root/neuron",
        )
        yield made


REFUSED: Mapping[str, tuple[str, dict[str, Any], str]] = {
    "driver": ("amd_gpu", {**AMD, "amd_gpu_driver_version": "6.16.6"}, "amdgpu-dkms 6.16.6, but 1:6."),
    "rocm": ("amd_gpu", {**AMD, "amd_gpu_rocm_version": "7.0.2"}, "rocm 7.0.2.70002, but 6."),
    "alone": ("pinned_packages", {"pinned_packages_wanted": [{"name": "rccl", "version": "2.22"}]}, "rccl 2.22, but 2.22.3."),
    "neuron": ("neuron", {**NEURON, "neuron_tools_version": "2.99.0.0"}, "aws-neuronx-tools 2.99.0.0, but 2."),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_versions_that_no_repository_offers_are_refused(machines: Machines, case: str) -> None:
    role, variables, message = REFUSED[case]
    host = "amd-1" if role == "amd_gpu" else "trn-1"
    before = machines.on(host, "dpkg-query --show")
    played = machines.play_roles(role, hosts={host: variables}, arguments=HERE)
    assert message in played.failure(host), played.output
    assert played.changed == 0
    assert machines.on(host, "dpkg-query --show") == before


def test_amds_driver_rocm_and_exporter_are_installed_in_one_version(machines: Machines) -> None:
    """No role brought ROCm, and nothing was said of it."""
    foreseen = machines.play_roles(
        "amd_gpu", hosts={"amd-1": AMD}, arguments=[*HERE, "--check", "--diff"]
    )
    assert foreseen.code == 0, foreseen.output
    made = machines.play_roles("amd_gpu", hosts={"amd-1": AMD}, arguments=HERE)
    assert made.code == 0, made.output
    held = machines.on("amd-1", "apt-mark showhold").split()
    assert held == ["amd-smi-lib", "amdgpu-dkms", "amdgpu-exporter", "rccl", "rocm"]
    query = "dpkg-query -Wf '${Version} ' amdgpu-dkms rocm rccl amd-smi-lib"
    assert sorted(machines.on("amd-1", query).split()) == sorted([AMDGPU, ROCM, RCCL, AMD_SMI])
    again = machines.play_roles("amd_gpu", hosts={"amd-1": AMD}, arguments=HERE)
    assert (again.code, again.changed) == (0, 0), again.output
    again = machines.play_roles(
        "amd_gpu", hosts={"amd-1": AMD}, arguments=[*HERE, "--check", "--diff"]
    )
    assert (again.code, again.changed) == (0, 0), again.output

    machines.on(
        "amd-1", "rm /dev/dri/renderD18[4-9] /dev/dri/renderD19*; echo 6.8.5 > /root/amdgpu"
    )
    broken = machines.play_roles(
        "amd_gpu", hosts={"amd-1": AMD}, arguments=[*HERE, "--tags", "verify"]
    )
    said = broken.failure("amd-1")
    assert "has no /dev/dri/renderD184" in said, broken.output
    assert "amd-smi of amd-1 lists 7 of 8 accelerators" in said
    assert "has loaded amdgpu 6.8.5, wanted 6.12.12; reboot it" in said
    assert "the exporter of amd-1 measures 7 of 8 accelerators" in said


def test_neurons_driver_runtime_and_tools_are_installed_in_one_version(machines: Machines) -> None:
    foreseen = machines.play_roles(
        "neuron", hosts={"trn-1": NEURON}, arguments=[*HERE, "--check", "--diff"]
    )
    assert foreseen.code == 0, foreseen.output
    made = machines.play_roles("neuron", hosts={"trn-1": NEURON}, arguments=HERE)
    assert made.code == 0, made.output
    held = machines.on("trn-1", "apt-mark showhold").split()
    names = ("collectives", "dkms", "runtime-lib", "tools")
    assert held == [f"aws-neuronx-{name}" for name in names]
    assert machines.on("trn-1", "systemctl is-active rackwright-neuron-exporter") == "active"
    again = machines.play_roles("neuron", hosts={"trn-1": NEURON}, arguments=HERE)
    assert (again.code, again.changed) == (0, 0), again.output
    again = machines.play_roles(
        "neuron", hosts={"trn-1": NEURON}, arguments=[*HERE, "--check", "--diff"]
    )
    assert (again.code, again.changed) == (0, 0), again.output

    machines.on("trn-1", "rm /dev/neuron15; systemctl stop rackwright-neuron-exporter")
    broken = machines.play_roles(
        "neuron", hosts={"trn-1": NEURON}, arguments=[*HERE, "--tags", "verify"]
    )
    said = broken.failure("trn-1")
    assert "neuron-ls of trn-1 lists 15 of 16 devices" in said, broken.output
    assert "the exporter of trn-1 is inactive" in said


def test_a_driver_that_is_not_loaded_reboots_only_a_host_that_serves_nothing(
    machines: Machines,
) -> None:
    machines.on("trn-1", "touch /dev/neuron15; echo 2.22.2.0 > /root/neuron; touch /run/before")
    machines.on(
        "trn-1",
        "printf '[Service]\\nExecStart=/usr/bin/sleep 9999\\n' > /run/systemd/system/slurmd.service; systemctl start slurmd",
    )
    busy = machines.play_roles("neuron", hosts={"trn-1": NEURON}, arguments=HERE)
    assert "has loaded the Neuron driver 2.22.2.0" in " ".join(busy.failure("trn-1").split()), (
        busy.output
    )
    machines.on("trn-1", "test -e /run/before; systemctl stop slurmd")
    idle = machines.play_roles("neuron", hosts={"trn-1": NEURON}, arguments=HERE)
    assert "has loaded the Neuron driver 2.22.2.0" in " ".join(idle.failure("trn-1").split()), (
        idle.output
    )
    assert machines.on("trn-1", "test -e /run/before || echo rebooted") == "rebooted"
