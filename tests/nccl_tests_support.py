"""The real nccl-tests on this machine, built by the role ``nccl`` and run as the acceptance runs them.

``RACKWRIGHT_NCCL_TESTS`` names an archive of their source. ``CUDA_HOME``, ``NCCL_HOME`` and ``MPI_HOME`` are
the folders of what they are built with, as in their own Makefile.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from gpu_support import ROLES, GpuMachine, read_default

VERSION = "built"
"""Takes the place of a version in the names of folders."""
AFTER_PACKAGES = "Look whether they are built from this source"
"""The task behind the one that installs packages, for which a machine may have no repository."""


@dataclass(frozen=True)
class Parts:
    """What nccl-tests are built from: an archive and folders."""

    source: Path
    cuda: Path
    nccl: Path
    mpi: Path


def find_parts() -> Parts | None:
    """Those that the environment names; None where one is not there."""
    named = os.environ.get
    source = named("RACKWRIGHT_NCCL_TESTS")
    cuda = Path(named("CUDA_HOME") or read_default("nccl", "nccl_tests_cuda_home"))
    nccl = Path(named("NCCL_HOME") or read_default("nccl", "nccl_tests_nccl_home"))
    mpi = Path(named("MPI_HOME") or "/usr")
    needed = (cuda / "bin/nvcc", nccl / "include/nccl.h", mpi / "include/mpi.h")
    if source is None or not all(path.exists() for path in (Path(source), *needed)):
        return None
    return Parts(Path(source), cuda, nccl, mpi)


def build(machine: GpuMachine, parts: Parts) -> str:
    """Why the role ``nccl`` cannot build them for the GPUs of this machine; empty where it has."""
    query = ("--query-gpu=compute_cap", "--format=csv,noheader")
    arch = machine.run("nvidia-smi", *query).stdout.split()[0].replace(".", "")
    more = [
        f"--jobs={os.cpu_count()}",
        f"NVCC_GENCODE=-gencode=arch=compute_{arch},code=sm_{arch}",
    ]
    true = {**_true(parts), "nccl_tests_make": more}
    failures = machine.play(
        "nccl", "build_tests", {"one": true}, start=AFTER_PACKAGES, **_folders(machine)
    )
    return failures["one"]


def verify_failure(machine: GpuMachine, parts: Parts) -> str:
    """What the verification of the role ``nccl`` says of the tests that it has built."""
    none: dict[str, list[str]] = {"Debian": [], "RedHat": []}
    true = {**_true(parts), "nccl_version": "0", "nccl_packages": none}
    # Which packages a repository offers is asked before anything is installed.
    known: dict[str, Any] = {"nccl_tests_built": True, "nccl_tests_packaged": []}
    return machine.play("nccl", "verify", {"one": true}, **_folders(machine), **known)["one"]


def _true(parts: Parts) -> dict[str, Any]:
    digits = hashlib.sha256(parts.source.read_bytes()).hexdigest()
    return {
        "nccl_tests_version": VERSION,
        "nccl_tests_source": {"url": f"file://{parts.source}", "checksum": f"sha256:{digits}"},
        "nccl_tests_cuda_home": str(parts.cuda),
        "nccl_tests_nccl_home": str(parts.nccl),
        "nccl_tests_mpi_home": str(parts.mpi),
    }


def _folders(machine: GpuMachine) -> dict[str, Any]:
    """Variables of the role that put all below the folder of the machine."""
    built = machine.folder / "nccl-tests" / VERSION
    return {
        "nccl_tests_folder": str(built),
        "nccl_tests_links": [
            {"path": str(machine.folder / "nccl-tests/current"), "to": str(built)},
            {"path": str(_program(machine)), "to": f"{built}/build/all_reduce_perf"},
        ],
    }


def _program(machine: GpuMachine) -> Path:
    return machine.folder / "all_reduce_perf"


def reduce(machine: GpuMachine, gpus: int) -> subprocess.CompletedProcess[str]:
    """How the program ends with the words of the role ``acceptance``, over so many GPUs of this machine."""
    tasks = yaml.safe_load((ROLES / "acceptance/tasks/all_reduce.yml").read_text())
    (asked,) = [
        task["vars"]["acceptance_asked"] for task in tasks if "ansible.builtin.command" in task
    ]
    words = asked[1:]  # behind the program
    assert [word for word in words if "{{" in word] == [
        w for w in words if w.startswith("--ngpus=")
    ]
    given = [f"--ngpus={gpus}" if word.startswith("--ngpus=") else word for word in words]
    return machine.run(_program(machine), *given)
