"""Generic resources of a host: accelerators, instances of them, and others that a site counts."""

from __future__ import annotations

import re
from dataclasses import dataclass

from rackwright.model.hardware import Accelerators


@dataclass(frozen=True, slots=True)
class Gres:
    """Equal accelerators of one host, as Slurm counts them."""

    name: str
    """``gpu``, or ``neuron`` for the accelerators of AWS."""
    type: str
    """Empty where Slurm counts them without a type."""
    count: int
    vendor: str

    def __str__(self) -> str:
        return ":".join(filter(None, (self.name, self.type, str(self.count))))


MOST_INSTANCES = 7
"""Instances that one GPU divides into at most (NVIDIA's MIG user guide, supported profiles)."""

_MIG = re.compile(r"(.*_)?\d+g\.\d+gb([+.].*)?", re.IGNORECASE)


def is_mig(gres: Gres) -> bool:
    """Return True if these are instances of a divided GPU, which have no files of their number."""
    return gres.name == "gpu" and _MIG.fullmatch(gres.type) is not None


def gres_of(accelerators: Accelerators | None, hosts: int) -> Gres | None:
    """Return the accelerators of one host; None where there are none, or not a whole number."""
    if accelerators is None or accelerators.count % hosts:
        return None
    name = "neuron" if accelerators.vendor == "aws" else "gpu"
    return Gres(name, accelerators.gres, accelerators.count // hosts, accelerators.vendor)


def stated_gres(text: str, known: Gres | None) -> Gres:
    """Return what a blueprint counts on a host; the vendor is that of the catalogue."""
    name, _, rest = text.partition(":")
    kind, _, count = rest.rpartition(":")
    factor = 1024 ** ("KMGT".index(count[-1]) + 1) if count[-1].isalpha() else 1
    number = int(count.rstrip("KMGT")) * factor
    return Gres(name, kind, number, known.vendor if known else "nvidia")
