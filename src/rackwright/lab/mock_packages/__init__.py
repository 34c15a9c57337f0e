"""Packages of the lab that need hardware where they are real, or that Debian lacks, one module a subject."""

from __future__ import annotations

from rackwright.lab.mock_packages import (
    containers,
    dashboards,
    fabric,
    gpu,
    gpu_stack,
    kernel,
    nccl_tests,
    storage,
)
from rackwright.lab.mock_packages.package import StandIn

STAND_INS: tuple[StandIn, ...] = (
    *containers.STAND_INS,
    *dashboards.STAND_INS,
    *fabric.STAND_INS,
    *gpu.STAND_INS,
    *gpu_stack.STAND_INS,
    *kernel.STAND_INS,
    *nccl_tests.STAND_INS,
    *storage.STAND_INS,
)
