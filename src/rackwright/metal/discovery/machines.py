"""Machines as their management controllers describe them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from rackwright.nodelife.redfish import BmcState


@dataclass(frozen=True, slots=True)
class HeardNeighbour:
    """Neighbour that a port has heard by LLDP.

    Attributes:
        device: its name, or the id of its chassis.
        port: its own port, as it names it.
    """

    device: str
    port: str


@dataclass(frozen=True, slots=True)
class MachinePort:
    """Network port of a machine.

    Attributes:
        name: as the controller has it, like ``NIC.Slot.3-1`` or ``1``.
        mac: Ethernet address in small letters with colons; None where it is not told.
        up: True if it has a link; None where it is not told.
        neighbour: what it has heard; None without LLDP.
    """

    name: str
    mac: str | None
    up: bool | None = None
    neighbour: HeardNeighbour | None = None


@dataclass(frozen=True, slots=True)
class DiscoveredMachine:
    """One address at which a controller was looked for.

    Attributes:
        address: of the controller.
        state: the state that it was found in.
        reason: what is wrong, in words; empty for a controller that is ready.
        manufacturer: of the machine. This and the rest are None or empty where they are unknown.
        serial: of the machine, not of its controller.
        mac: Ethernet address of the controller.
        ports: of the machine, in the order of the controller.
        accelerators: number of GPUs in the list of processors; None where it has no such list.
        memory_gib: main memory, in GiB.
        firmware: version by component as the controller names them.
        rack: name of the rack that the controller was told.
        power_on: True if the machine runs.
        secure_boot: True if signed software alone is started.
        tpm: True if there is a TPM.
    """

    address: str
    state: BmcState
    reason: str = ""
    manufacturer: str | None = None
    model: str | None = None
    serial: str | None = None
    uuid: str | None = None
    mac: str | None = None
    ports: tuple[MachinePort, ...] = ()
    accelerators: int | None = None
    memory_gib: float | None = None
    firmware: Mapping[str, str] = field(default_factory=dict)
    rack: str | None = None
    power_on: bool | None = None
    secure_boot: bool | None = None
    tpm: bool | None = None

    @property
    def macs(self) -> frozenset[str]:
        """Ethernet addresses of the machine and of its controller.

        Addresses of local meaning are left out: the link between controller and machine has the same
        on every machine of some makers.
        """
        own = [port.mac for port in self.ports] + [self.mac]
        return frozenset(mac for mac in own if mac is not None and not int(mac[:2], 16) & 2)

    @property
    def readable(self) -> bool:
        """True if the machine behind the controller is known."""
        return self.serial is not None or self.model is not None
