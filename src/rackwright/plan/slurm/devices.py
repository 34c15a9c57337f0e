"""Device files of a host's accelerators, by their maker."""

from __future__ import annotations

from rackwright.plan.slurm.nodes import Gres

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


def device_files(gres: Gres) -> tuple[str, ...]:
    """Return the device file of each accelerator of one host, in the order of their numbers."""
    return tuple(f"{_stem(gres)}{number}" for number in _numbers(gres))


def device_patterns(gres: Gres) -> tuple[str, ...]:
    """Return what to count on a host: patterns, by which one file too many is seen as well.

    The render nodes of AMD's are listed, since there are more of them than accelerators.
    """
    return device_files(gres) if gres.vendor == "amd" else (PATTERNS[gres.vendor],)


def pattern_variable(gres: Gres | None) -> str | list[str]:
    """Return the patterns as a variable of roles; NVIDIA's where there are to be no accelerators."""
    patterns = (PATTERNS["nvidia"],) if gres is None else device_patterns(gres)
    return patterns[0] if len(patterns) == 1 else list(patterns)


def device_list(gres: Gres, accelerators: range | None = None) -> str:
    """Return device files as one list of ``gres.conf``, like ``/dev/nvidia[0-7]``.

    Args:
        gres: the accelerators of one host.
        accelerators: those to list, counted from 0; all if omitted.
    """
    numbers = _numbers(gres)
    if accelerators is not None:
        numbers = numbers[accelerators.start : accelerators.stop]
    if len(numbers) == 1:
        return f"{_stem(gres)}{numbers[0]}"
    inner = f"{numbers[0]}-{numbers[-1]}" if numbers.step == 1 else ",".join(map(str, numbers))
    return f"{_stem(gres)}[{inner}]"


def _stem(gres: Gres) -> str:
    return PATTERNS[gres.vendor].partition("[")[0].rstrip("*")


def _numbers(gres: Gres) -> range:
    if gres.vendor != "amd":
        return range(gres.count)
    # Divided into all its partitions, each render node of an accelerator is a GPU to Slurm.
    divided = gres.count > RENDER_NODES_OF_MI300
    step = RENDER_NODES_OF_MI300 if gres.type.startswith("mi3") and not divided else 1
    return range(FIRST_RENDER_NODE, FIRST_RENDER_NODE + step * gres.count, step)
