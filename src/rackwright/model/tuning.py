"""Tuning of hosts for transfers between accelerators and adapters."""

from __future__ import annotations

from typing import Annotated, Literal

from rackwright.model.base import Model
from rackwright.model.field_kinds import HARDWARE, KEY, OnChange
from rackwright.model.names import Name
from rackwright.model.software import Version

_BOOT = "applies from the next boot of each host on"


class HostTuning(Model):
    """Tuning of the hosts of a node group; what is omitted is left as it is."""

    group: Annotated[Name, KEY]
    """Name of the node group."""
    governor: Annotated[
        Literal["performance", "powersave", "schedutil", "ondemand"] | None, HARDWARE
    ] = None
    """Governor of the clock of all processors."""
    numa_balancing: Annotated[bool | None, HARDWARE] = None
    """True if the kernel moves memory between NUMA nodes by itself, which pauses processes."""
    iommu: Annotated[Literal["passthrough", "off"] | None, HARDWARE, OnChange("drain", _BOOT)] = (
        None
    )
    """Translation of addresses of devices, by the command line of the kernel: none for the host's own
    (``iommu=pt``), or none at all (``iommu=off``)."""
    acs: Annotated[bool | None, HARDWARE] = None
    """False if PCIe bridges let devices below them speak to each other directly (no redirection by
    Access Control Services)."""
    peer_memory: Annotated[Literal["peermem", "dma-buf"] | None, HARDWARE] = None
    """Way in which adapters reach the memory of NVIDIA's GPUs: the module ``nvidia-peermem``, or DMA-BUF
    of the open driver."""
    gdrcopy: Annotated[Version | None, HARDWARE] = None
    """Version of GDRCopy, by which processors copy to memory of GPUs. None is installed if omitted."""
