"""Software of AMD's accelerators, as variables of the role ``amd_gpu``."""

from __future__ import annotations

from typing import Any

from rackwright.model.software import AmdSoftware
from rackwright.plan.accelerators_per_node import Board
from rackwright.plan.slurm.devices import device_files
from rackwright.plan.slurm.nodes import NodeSet


def amd_software(
    versions: AmdSoftware | None, board: Board, nodes: NodeSet | None
) -> dict[str, Any]:
    """Return the variables of a node group; empty where no versions are stated."""
    if versions is None:
        return {}
    known: dict[str, Any] = {
        "amd_gpu_driver_version": versions.driver,
        "amd_gpu_rocm_version": versions.rocm,
        "amd_gpu_exporter_version": versions.exporter,
        "amd_gpu_accelerators": board.gpus,
        "amd_gpu_devices": None if nodes is None else list(device_files(nodes)),
    }
    return {key: value for key, value in known.items() if value is not None}
