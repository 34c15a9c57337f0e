"""Packages of the lab that need hardware where they are real, or that Debian lacks, one module a subject."""

from __future__ import annotations

from rackwright_lab.mock_packages import (
    accelerators,
    containers,
    dashboards,
    fabric,
    gpu,
    gpu_stack,
    kernel,
    nccl_tests,
    storage,
)
from rackwright_lab.mock_packages.package import MockPackage

MOCK_PACKAGES: tuple[MockPackage, ...] = (
    *accelerators.MOCK_PACKAGES,
    *containers.MOCK_PACKAGES,
    *dashboards.MOCK_PACKAGES,
    *fabric.MOCK_PACKAGES,
    *gpu.MOCK_PACKAGES,
    *gpu_stack.MOCK_PACKAGES,
    *kernel.MOCK_PACKAGES,
    *nccl_tests.MOCK_PACKAGES,
    *storage.MOCK_PACKAGES,
)
