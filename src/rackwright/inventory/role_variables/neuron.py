"""Software of AWS's accelerators, as variables of the role ``neuron``."""

from __future__ import annotations

from typing import Any

from rackwright.model.software import NeuronSoftware
from rackwright.plan.accelerators_per_node import Board


def neuron_software(versions: NeuronSoftware | None, board: Board) -> dict[str, Any]:
    """Return the variables of a node group; empty where no versions are stated."""
    if versions is None:
        return {}
    known: dict[str, Any] = {
        "neuron_driver_version": versions.driver,
        "neuron_runtime_version": versions.runtime,
        "neuron_collectives_version": versions.collectives,
        "neuron_tools_version": versions.tools,
        "neuron_devices": board.gpus,
    }
    return {key: value for key, value in known.items() if value is not None}
