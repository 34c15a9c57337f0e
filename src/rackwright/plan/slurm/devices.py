"""Device files of a host's accelerators, by their maker."""

from __future__ import annotations

from rackwright.plan.slurm.gres import Gres, is_mig
from rackwright.plan.slurm.nodes import NodeSet

FIRST_RENDER_NODE = 128
"""Minor number of the first render node of the kernel's DRM."""

RENDER_NODES_OF_MI300 = 8
"""Render nodes that amdgpu makes for each accelerator of the MI300 series, one for each partition that it
may have. Undivided, it is used through the first of them (ROCm/rocDecode, issues 38 and 310)."""

PATTERNS = {
    "nvidia": "/dev/nvidia[0-9]*",
    "aws": "/dev/neuron[0-9]*",
    "amd": "/dev/dri/renderD*",
    "intel": "/dev/accel/accel[0-9]*",
}
"""Pattern of the device files of accelerators; there may be more files than accelerators."""


_COUNTED = frozenset({"gpu", "neuron"})


def has_files(gres: Gres) -> bool:
    """True for accelerators; Slurm counts other things without files."""
    return gres.name in _COUNTED


def device_files(nodes: NodeSet) -> tuple[str, ...]:
    """Return the device file of each accelerator of one host; those of instances are the driver's."""
    if any(map(is_mig, nodes.counted)):
        return ()
    count = sum(gres.count for gres in nodes.counted if has_files(gres))
    return tuple(f"{_stem(nodes)}{number}" for number in _numbers(nodes, range(count)))


def device_pattern(nodes: NodeSet) -> str | list[str]:
    """Return what to count on a host: a pattern, by which one file too many is seen as well.

    The render nodes of AMD's are listed, since there are more of them than accelerators.
    """
    vendor = _vendor(nodes)
    return list(device_files(nodes)) if vendor == "amd" else PATTERNS[vendor]


def device_list(nodes: NodeSet, accelerators: range) -> str:
    """Return the files of some accelerators, counted from 0, as ``gres.conf`` lists them."""
    numbers = _numbers(nodes, accelerators)
    if len(numbers) == 1:
        return f"{_stem(nodes)}{numbers[0]}"
    inner = f"{numbers[0]}-{numbers[-1]}" if numbers.step == 1 else ",".join(map(str, numbers))
    return f"{_stem(nodes)}[{inner}]"


def _vendor(nodes: NodeSet) -> str:
    """Return the maker of the accelerators; NVIDIA where there are to be none."""
    return "nvidia" if nodes.gres is None else nodes.gres.vendor


def _stem(nodes: NodeSet) -> str:
    return PATTERNS[_vendor(nodes)].partition("[")[0].rstrip("*")


def _numbers(nodes: NodeSet, accelerators: range) -> range:
    if _vendor(nodes) != "amd":
        return accelerators
    kind = "" if nodes.known_gres is None else nodes.known_gres.type
    # Divided into all its partitions, each render node of an accelerator is a GPU to Slurm.
    divided = nodes.accelerators > RENDER_NODES_OF_MI300
    step = RENDER_NODES_OF_MI300 if kind.startswith("mi3") and not divided else 1
    return range(
        FIRST_RENDER_NODE + step * accelerators.start,
        FIRST_RENDER_NODE + step * accelerators.stop,
        step,
    )
