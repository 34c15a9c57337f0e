"""Generic resources of a host: accelerators, instances of them, and others that a site counts."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from rackwright.model.hardware import Accelerators, fact_value


@dataclass(frozen=True, slots=True)
class Gres:
    """Equal accelerators of one host, as Slurm counts them."""

    name: str
    """``gpu``, or ``neuron`` for the accelerators of AWS."""
    type: str
    """Empty where Slurm counts them without a type."""
    count: int
    vendor: str
    memory: float | None = None
    """GiB of one whole accelerator; None where unknown."""

    def __str__(self) -> str:
        return ":".join(filter(None, (self.name, self.type, str(self.count))))


MOST_INSTANCES = 7
"""Instances that one GPU divides into at most (NVIDIA's MIG user guide, supported profiles)."""

_MOST_COUNTED = 1_000
"""Instances from which on they are divided by seven instead of being put on GPUs one by one: no host has as many."""
_MIG = re.compile(r"(?:.*_)?(\d+)g\.(\d+)gb(?:[+.].*)?", re.IGNORECASE)
_MEMORY_SLICES = 8
"""Parts into which the memory of a GPU divides; it has one more than instances (the same guide)."""
_LEAST_MEMORY = {1: 1, 2: 2, 3: 4, 4: 4, 7: 8}
"""Parts of the memory that profiles take at least, by their parts of the GPU."""


def is_mig(gres: Gres) -> bool:
    """Return True if these are instances of a divided GPU, which have no files of their number."""
    return gres.name == "gpu" and _MIG.fullmatch(gres.type) is not None


def gpus_of_instances(counted: Iterable[Gres], memory: float | None) -> int:
    """Return the GPUs that instances take: each GPU has 7 parts, and its memory 8.

    Args:
        counted: resources of one host.
        memory: GiB of one GPU; unknown, profiles with more memory than others take no more.
    """
    sizes: list[tuple[int, int]] = []
    known = [
        (gres, found) for gres in counted if (found := _MIG.fullmatch(gres.type)) and is_mig(gres)
    ]
    if (total := sum(gres.count for gres, _ in known)) > _MOST_COUNTED:
        return -(-total // MOST_INSTANCES)
    for gres, found in known:
        parts = int(found[1])
        share = 0 if memory is None else round(int(found[2]) * _MEMORY_SLICES / memory)
        sizes += [(parts, max(_LEAST_MEMORY.get(parts, parts), share))] * gres.count
    free: list[tuple[int, int]] = []
    for parts, share in sorted(sizes, reverse=True):
        for index, (left, room) in enumerate(free):
            if parts <= left and share <= room:
                free[index] = (left - parts, room - share)
                break
        else:
            free.append((MOST_INSTANCES - parts, _MEMORY_SLICES - share))
    return len(free)


def gres_of(accelerators: Accelerators | None, hosts: int) -> Gres | None:
    """Return the accelerators of one host; None where there are none, or not a whole number."""
    if accelerators is None or accelerators.count % hosts:
        return None
    name = "neuron" if accelerators.vendor == "aws" else "gpu"
    count, memory = accelerators.count // hosts, fact_value(accelerators.memory)
    return Gres(name, accelerators.gres, count, accelerators.vendor, memory)


def stated_gres(text: str, known: Gres | None) -> Gres:
    """Return what a blueprint counts on a host; the vendor is that of the catalogue."""
    name, _, rest = text.partition(":")
    kind, _, count = rest.rpartition(":")
    factor = 1024 ** ("KMGT".index(count[-1]) + 1) if count[-1].isalpha() else 1
    number = int(count.rstrip("KMGT")) * factor
    return Gres(name, kind, number, known.vendor if known else "nvidia")
