"""Records of machines as described by their management controllers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from rackwright.nodelife.redfish import BmcState


@dataclass(frozen=True, slots=True)
class HeardNeighbour:
    """Neighbour of a port, from LLDP.

    Attributes:
        device: name of the neighbour, or the id of its chassis.
        port: port of the neighbour, by its own name.
    """

    device: str
    port: str


@dataclass(frozen=True, slots=True)
class MachinePort:
    """Network port of a machine.

    Attributes:
        name: name from the controller, like ``NIC.Slot.3-1`` or ``1``.
        mac: Ethernet address in lower case with colons; None if not reported.
        up: True if the port has a link; None if not reported.
        neighbour: neighbour from LLDP; None if not reported.
    """

    name: str
    mac: str | None
    up: bool | None = None
    neighbour: HeardNeighbour | None = None


@dataclass(frozen=True, slots=True)
class DiscoveredMachine:
    """Result of the discovery of one address. Unknown values are None or empty.

    Attributes:
        address: address of the controller.
        state: state of the controller.
        reason: problem of the controller, in words; empty if it is ready.
        manufacturer: maker of the machine.
        serial: serial number of the machine, not of its controller.
        mac: Ethernet address of the controller.
        ports: network ports of the machine, in the order of the controller.
        accelerators: number of GPUs in the list of processors; None without such a list.
        memory_gib: main memory, in GiB.
        firmware: version by component, with the names of the controller.
        rack: name of the rack that is configured in the controller.
        power_on: True if the machine is on.
        secure_boot: True if only signed software is started.
        tpm: True if the machine has a TPM.
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

        Locally administered addresses are omitted: some makers use the same one on every machine for the link
        between controller and machine.
        """
        own = [port.mac for port in self.ports] + [self.mac]
        return frozenset(mac for mac in own if mac is not None and not int(mac[:2], 16) & 2)

    @property
    def readable(self) -> bool:
        """True if the machine behind the controller can be identified."""
        return self.serial is not None or self.model is not None
