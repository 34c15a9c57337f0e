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
    interfaces: Count
    """Most network interfaces on it."""
    efa: bool
    """It takes an EFA interface."""


class Instance(Entry):
    """A cloud instance type."""

    kind: Literal["instance"]
    provider: Literal["aws"]
    instance_type: str
    accelerators: Accelerators | None = None
    hosts: Literal[1] = 1
    vcpus: Fact[int] | None = None
    memory: Fact[Gibibytes] | None = None
    efa_interfaces: Fact[int] | None = None
    """Most EFA interfaces."""
    cards: Fact[tuple[NetworkCard, ...]] | None = None
    bandwidth: Fact[GigabitsPerSecond] | None = None
    local_storage: Fact[Gibibytes] | None = None
    quota: str | None = None
    """Service quota that counts its vCPUs, like ``L-417A185B`` (running on-demand P)."""
    architecture: Literal["x86_64", "arm64"] | None = None
