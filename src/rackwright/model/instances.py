"""Catalogue entries of cloud instance types."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from rackwright.model.base import Model
from rackwright.model.hardware import Accelerators, Count, Entry, Fact
from rackwright.model.units import Gibibytes, GigabitsPerSecond


class NetworkCard(Model):
    """One network card of a cloud instance."""

    index: Annotated[int, Field(ge=0)]
    """Its number (NetworkCardIndex), from 0 without gaps; 0 bears the primary interface."""
    interfaces: Count
    """Most network interfaces on it."""
    efa: bool
    """It takes an EFA interface."""


class Instance(Entry):
    """A cloud instance type."""

    kind: Literal["instance"]
    """Says what the entry is of; its file lies in the folder ``instances``."""
    provider: Literal["aws"]
    """Whose cloud it runs in."""
    instance_type: str
    """What the provider calls it, like ``p5.48xlarge``; prices are found by it."""
    accelerators: Accelerators | None = None
    hosts: Literal[1] = 1
    """Operating systems in one instance."""
    vcpus: Fact[int] | None = None
    """Logical CPUs, as its operating system counts them: what the service quota counts."""
    memory: Fact[Gibibytes] | None = None
    """Of the host, that of accelerators not counted."""
    efa_interfaces: Fact[int] | None = None
    """Most EFA interfaces."""
    cards: Fact[tuple[NetworkCard, ...]] | None = None
    """Its network cards, as DescribeInstanceTypes tells them: interfaces for EFA are laid out on them."""
    bandwidth: Fact[GigabitsPerSecond] | None = None
    """Of its network, all cards together, in each direction."""
    local_storage: Fact[Gibibytes] | None = None
    """Instance store, all its disks together."""
    quota: str | None = None
    """Service quota that counts its vCPUs, like ``L-417A185B`` (running on-demand P)."""
    architecture: Literal["x86_64", "arm64"] | None = None
    """Of its CPUs: images must be built for it."""
