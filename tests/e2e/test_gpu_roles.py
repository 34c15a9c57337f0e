"""The roles nvidia_driver and nccl on a real machine of the lab with stand-in packages."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from lab_support import LAB_MARKS, Machines, Played, some_machines
from rackwright_lab.lab import HostSpec
from rackwright_lab.mock_packages.gpu import DRIVER, NCCL, OLD_DRIVER
from rackwright_lab.mock_packages.nccl_tests import NCCL_TESTS, source

pytestmark = LAB_MARKS
GOOD: Mapping[str, Any] = {
    "nvidia_driver_version": DRIVER,
    "nvidia_driver_gpus": 8,
    "nvidia_driver_fabric_manager": True,
    "nccl_version": f"{NCCL}+cuda12.8",
    "nccl_tests_version": NCCL_TESTS,
    "nccl_settings": {"NCCL_IB_HCA": "=mlx5_0,mlx5_3:1", "NCCL_DEBUG": "WARN"},
}
HERE = ("--extra-vars", json.dumps({"nccl_sysfs": "/root/sys"}))
"""The role looks for adapters in this folder, which has the form of the kernel's."""

ALONE: Mapping[str, Mapping[str, Any]] = {"gpu-1": {}}
HELD = [
    "libnccl-dev",
    "libnccl2",
    "nccl-tests",
    "nvidia-driver",
    "nvidia-fabricmanager",
    "nvidia-persistenced",
    "nvidia-smi",
]


@dataclass(frozen=True)
class Machine:
    """The only host of a lab."""

    machines: Machines

    def on(self, command: str) -> str:
        return self.machines.on("gpu-1", command)

    def play(
        self,
        *arguments: str,
        roles: Sequence[str],
        hosts: Mapping[str, Mapping[str, Any]] = ALONE,
    ) -> Played:
        """Run roles on the machine, under each name with variables that differ from GOOD."""
        return self.machines.play_roles(
            *roles, arguments=[*HERE, *arguments], variables=GOOD, hosts=hosts
        )


BOTH = ("nvidia_driver", "nccl")
DRIVER_ONLY = BOTH[:1]


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    folder = tmp_path_factory.mktemp("gpu")
    with some_machines(folder, "gpu", "10.213.27.0/24", [HostSpec("gpu-1", 8)]) as made:
        machine = Machine(made)
        machine.on("mkdir -p /root/sys/mlx5_0 /root/sys/mlx5_33")
        yield machine


ARCHIVE = source("2.17.1")
BUILT: dict[str, Any] = {
    "nccl_tests_version": "2.17.1",
    "nccl_tests_source": {
        "url": "file:///root/nccl-tests.tar.gz",
        "checksum": f"sha256:{hashlib.sha256(ARCHIVE).hexdigest()}",
    },
    "nccl_tests_mpi_home": "/opt/mpi",
    "nccl_tests_cuda_home": "/opt/cuda",
    "nccl_tests_build_packages": {"Debian": ["make"]},
}

REFUSED: dict[str, dict[str, tuple[dict[str, Any], str]]] = {
    "nvidia_driver": {
        "fabric-manager-not-offered": (
            {"nvidia_driver_version": OLD_DRIVER},
            f"does not offer nvidia-fabricmanager {OLD_DRIVER}, but {DRIVER}-1",
        ),
        "fabric-manager-of-another-version": (
            {"nvidia_driver_fabric_manager_version": OLD_DRIVER},
            f"the fabric manager is to be {OLD_DRIVER} and the driver {DRIVER}",
        ),
        "imex-of-another-version": (
            {"nvidia_driver_imex": True, "nvidia_driver_imex_version": "570.133.2"},
            "IMEX is to be 570.133.2 and",
        ),
        "only-begins-like-a-version": (
            {"nvidia_driver_version": "570.133.2"},
            "does not offer nvidia-driver 570.133.2, but",
        ),
    },
    "nccl": {
        "two-versions-of-cuda": (
            {"nccl_version": NCCL},
            f"offers 2 packages libnccl2 {NCCL} among",
        ),
        "tests-that-nobody-has": (
            {"nccl_tests_version": "2.17.1"},
            f"offers 0 packages nccl-tests 2.17.1 among {NCCL_TESTS}-1;",
        ),
        "tests-of-unknown-origin": (
            {**BUILT, "nccl_tests_source": {"url": "http://tests", "checksum": "sha256:12"}},
            "names 'http://tests' with the checksum 'sha256:12', and MPI is in '/opt/mpi'",
        ),
        "tests-that-cannot-be-built": (BUILT, "has no /opt/cuda/bin/nvcc, without which"),
        "left-to-nccl": (
            {"nccl_settings": {"NCCL_PROTO": "simple"}},
            "'NCCL_PROTO' with the value 'simple' cannot be in nccl_settings",
        ),
        "of-something-else": (
            {"nccl_settings": {"RDMAV_FORK_SAFE": 1}},
            "'RDMAV_FORK_SAFE' with the value '1' cannot be in nccl_settings",
        ),
    },
}
"""For each role, by case, variables under which it must refuse, and what it says."""


@pytest.mark.parametrize("role", REFUSED)
def test_what_cannot_work_is_refused_before_anything_is_installed(
    machine: Machine, role: str
) -> None:
    before = machine.on("dpkg-query --show")
    cases = REFUSED[role]
    played = machine.play(roles=(role,), hosts={name: case[0] for name, case in cases.items()})
    for name, (_, message) in cases.items():
        assert message in played.failure(name), played.output
    assert played.changed == 0
    assert machine.on("dpkg-query --show") == before


def test_one_version_is_installed_held_and_kept(machine: Machine) -> None:
    foreseen = machine.play("--check", roles=BOTH)
    assert foreseen.code == 0, foreseen.output
    assert foreseen.changed > 0
    assert machine.on("dpkg-query --show 'nvidia-*' 2>/dev/null || echo nothing") == "nothing"

    lost = machine.play(roles=BOTH)
    why = "gpu-1 has no adapter mlx5_3, which NCCL is to use, but mlx5_0, mlx5_33;"
    assert why in lost.words, lost.output
    machine.on("mkdir /root/sys/mlx5_3")
    made = machine.play("--tags", "verify", roles=BOTH)
    assert made.code == 0, made.output
    assert machine.on("apt-mark showhold").split() == HELD
    assert machine.on("grep -v '^#' /etc/nccl.conf").split() == [
        "NCCL_DEBUG=WARN",
        "NCCL_IB_HCA==mlx5_0,mlx5_3:1",
    ]
    services = "nvidia-persistenced nvidia-fabricmanager"
    assert machine.on(f"systemctl is-active {services}").split() == ["active", "active"]
    assert machine.on(f"systemctl is-enabled {services}").split() == ["enabled", "enabled"]
    assert "blacklist nouveau" in machine.on("modprobe --showconfig")
    assert f"Candidate: {DRIVER}-1" in machine.on("apt-cache policy nvidia-smi")

    again = machine.play(roles=BOTH)
    assert (again.code, again.changed) == (0, 0), again.output
    foreseen = machine.play("--check", "--diff", roles=BOTH)
    assert (foreseen.code, foreseen.changed) == (0, 0), foreseen.output
    assert not re.search(r"^(---|\+\+\+) ", foreseen.output, re.MULTILINE)

    verify_finds_a_missing_gpu(machine)
    verify_finds_a_driver_that_waits_for_a_reboot(machine)


def test_tests_without_a_package_are_built_once_and_found(machine: Machine) -> None:
    encoded = base64.b64encode(ARCHIVE).decode()
    machine.on(f"echo {encoded} | base64 --decode > /root/nccl-tests.tar.gz")
    machine.on("mkdir -p /opt/mpi/include /opt/cuda/bin /root/sys/mlx5_0 /root/sys/mlx5_3")
    machine.on("touch /opt/mpi/include/mpi.h; install -m 755 /bin/true /opt/cuda/bin/nvcc")
    built = {"gpu-1": BUILT}
    made = machine.play(roles=("nccl",), hosts=built)
    assert made.code == 0, made.output
    program = "/opt/nccl-tests/2.17.1/build/all_reduce_perf"
    assert machine.on("readlink -f $(command -v all_reduce_perf)") == program
    for arguments in ((), ("--check", "--diff")):
        again = machine.play(*arguments, roles=("nccl",), hosts=built)
        assert (again.code, again.changed) == (0, 0), again.output

    machine.on(f"mv {program} {program}.away")
    lost = machine.play("--tags", "verify", roles=("nccl",), hosts=built)
    assert "all_reduce_perf of gpu-1 cannot be run" in lost.failure("gpu-1"), lost.output
    machine.on(f"mv {program}.away {program}; rm /opt/nccl-tests/2.17.1/.sha256-*")
    other = machine.play("--tags", "verify", roles=("nccl",), hosts=built)
    assert "has no tests of NCCL 2.17.1 in /opt/nccl-tests/2.17.1" in other.failure("gpu-1")

    packaged = machine.play(roles=("nccl",))
    assert packaged.code == 0, packaged.output
    assert machine.on("readlink -f $(command -v all_reduce_perf)") == "/usr/bin/all_reduce_perf"


def verify_finds_a_missing_gpu(machine: Machine) -> None:
    machine.on("rm /dev/nvidia7")
    try:
        played = machine.play("--tags", "verify", roles=DRIVER_ONLY)
    finally:
        machine.on("mknod -m 666 /dev/nvidia7 c 195 7")
    assert "gpu-1 has 7 of 8 GPUs" in played.failure("gpu-1"), played.output


def verify_finds_a_driver_that_waits_for_a_reboot(machine: Machine) -> None:
    loaded = "/run/nvidia-lab-driver"
    machine.on(f"echo {OLD_DRIVER} > {loaded}")
    try:
        played = machine.play("--tags", "verify", roles=DRIVER_ONLY)
    finally:
        machine.on(f"echo {DRIVER} > {loaded}")
    message = f"gpu-1 runs the driver {OLD_DRIVER}, wanted {DRIVER}; reboot it"
    assert message in played.failure("gpu-1"), played.output
