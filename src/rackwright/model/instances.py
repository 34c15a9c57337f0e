"""Catalogue entries of cloud instance types."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from rackwright.model.base import Model
from rackwright.model.field_kinds import LABEL, Claim
from rackwright.model.hardware import Accelerators, Count, Entry, Fact
from rackwright.model.units import Gibibytes, GigabitsPerSecond


class NetworkCard(Model):
    """One network card of a cloud instance."""

    index: Annotated[int, Field(ge=0)]
    """Number of the card (NetworkCardIndex), from 0 without gaps; 0 has the primary interface."""
    interfaces: Count
    """Most network interfaces on it."""
    efa: bool
    """True if the card takes an EFA interface."""


class Instance(Entry):
    """A cloud instance type."""

    kind: Annotated[Literal["instance"], LABEL]
    """Kind of the entry; its file is in the folder ``instances``."""
    provider: Annotated[Literal["aws"], Claim(looser="either", absent="elsewhere")]
    """Cloud that offers the instance type."""
    instance_type: Annotated[str, Claim(looser="either", absent="elsewhere")]
    """Provider's name of the instance type, like ``p5.48xlarge``; prices are found by it."""
    accelerators: Annotated[Accelerators | None, Claim(looser="either", absent="elsewhere")] = None
    hosts: Annotated[Literal[1], Claim(looser="either", absent="elsewhere")] = 1
    """Operating systems in one instance."""
    vcpus: Annotated[Fact[int] | None, Claim(looser="either", absent="elsewhere")] = None
    """Logical CPUs, as its operating system counts them: what the service quota counts."""
    sockets: Annotated[Fact[int] | None, Claim(looser="either", absent="elsewhere")] = None
    """Processors that its operating system sees. Unknown if omitted: EC2 does not publish them."""
    threads_per_core: Annotated[Fact[int] | None, Claim(looser="either", absent="elsewhere")] = None
    """Hardware threads of one core (``DefaultThreadsPerCore`` of EC2). Unknown if omitted."""
    memory: Annotated[Fact[Gibibytes] | None, Claim(looser="either", absent="elsewhere")] = None
    """Memory of the host, in GiB, without that of accelerators."""
    efa_interfaces: Annotated[Fact[int] | None, Claim(looser="either", absent="elsewhere")] = None
    """Most EFA interfaces."""
    cards: Annotated[
        Fact[tuple[NetworkCard, ...]] | None, Claim(looser="either", absent="elsewhere")
    ] = None
    """Network cards, as DescribeInstanceTypes reports them: interfaces for EFA are laid out on them."""
    bandwidth: Annotated[
        Fact[GigabitsPerSecond] | None, Claim(looser="either", absent="elsewhere")
    ] = None
    """Network bandwidth of all cards together in each direction, in Gbps."""
    local_storage: Annotated[Fact[Gibibytes] | None, Claim(looser="either", absent="elsewhere")] = (
        None
    )
    """Size of the instance store, all disks together, in GiB."""
    quota: Annotated[str | None, Claim(looser="either", absent="elsewhere")] = None
    """Service quota that counts its vCPUs, like ``L-417A185B`` (running on-demand P)."""
    architecture: Annotated[
        Literal["x86_64", "arm64"] | None, Claim(looser="either", absent="elsewhere")
    ] = None
    """Architecture of the CPUs: images must be built for it."""
