"""The cables of an Ethernet fabric, by what its switches and hosts have heard of each other."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from rackwright.plan.fabric.cables import wires
from rackwright.plan.fabric.discovered.dump import Discovery, End, Rate
from rackwright.plan.fabric.discovered.lldp import best_neighbour
from rackwright.plan.fabric.discovered.lldp_records import Interfaces
from rackwright.plan.fabric.discovered.port_numbers import PortNumbers, is_management
from rackwright.plan.fabric.layout import Layout

_UNKNOWN_PORT = 0
"""Number of a port whose name has none."""
_HEX = re.compile(r"[^0-9a-f]")


@dataclass(frozen=True, slots=True)
class _Heard:
    """A neighbour of a port.

    Attributes:
        names: of the port.
        far_names: of the port of the neighbour.
        named: True if the neighbour is known by a name.
    """

    device: str
    names: tuple[str, ...]
    far: str
    far_names: tuple[str, ...]
    named: bool


@dataclass(frozen=True)
class NeighbourTables:
    """Interfaces of devices in a hall, and the plan of the fabric that they are compared with.

    Attributes:
        devices: interfaces by the names of the devices that tell them.
        names: of devices that tell a MAC address alone, by that in 16 hex digits.
    """

    layout: Layout
    devices: Mapping[str, Interfaces]
    names: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def _switches(self) -> dict[str, str]:
        return {name.lower(): name for tier in self.layout.tiers for name in tier.names()}

    @cached_property
    def _hosts(self) -> dict[str, str]:
        return {name.lower(): name for hosts in self.layout.hosts for name in hosts.names}

    def _plan_name(self, device: str) -> str | None:
        """Return the name of a switch or host in the plan; None for another device."""
        device = self.names.get(_HEX.sub("", device.lower()).rjust(16, "0"), device)
        for text in (device.lower(), device.lower().partition(".")[0]):
            name = self._switches.get(text) or self._hosts.get(text)
            if name is not None:
                return name
        return None

    def _is_known(self, device: str) -> bool:
        return self._plan_name(device) is not None

    def _shown(self, device: str) -> str:
        return self._plan_name(device) or device

    @cached_property
    def _heard(self) -> list[_Heard]:
        made = []
        for device, interfaces in self.devices.items():
            for interface in interfaces.values():
                best = best_neighbour(interface, self._is_known)
                if best is not None and not self._is_left_out(device, interface.names):
                    far = self._shown(best.device)
                    named = best.named or self._is_known(best.device)
                    made.append(
                        _Heard(self._shown(device), interface.names, far, best.ports, named)
                    )
        return made

    def _is_left_out(self, device: str, names: Iterable[str]) -> bool:
        """Return True for a switch's port for management."""
        return self._shown(device) in self._switch_names and any(map(is_management, names))

    @cached_property
    def _switch_names(self) -> frozenset[str]:
        return frozenset(self._switches.values())

    @cached_property
    def _numbers(self) -> dict[str, PortNumbers]:
        """The way in which each switch numbers its ports."""
        cables: dict[str, dict[str, str]] = {}
        for heard in self._heard:
            for device, ports, other in (
                (heard.device, heard.names, heard.far),
                (heard.far, heard.far_names, heard.device),
            ):
                if device in self._switch_names:
                    cables.setdefault(device, {}).update((name, other) for name in ports)
        planned: dict[str, dict[int, str]] = {}
        for wire in wires(self.layout):
            planned.setdefault(wire.upper, {})[wire.upper_port] = wire.lower
            planned.setdefault(wire.lower, {})[wire.lower_port] = wire.upper
        tiers = {
            name: (tier, declared.split)
            for tier, declared in zip(self.layout.tiers, self.layout.fabric.tiers, strict=True)
            for name in tier.names()
        }
        return {
            device: PortNumbers(*tiers[device], seen, planned.get(device, {}))
            for device, seen in cables.items()
        }

    def _end(self, device: str, names: tuple[str, ...]) -> End:
        """Return an end; a host's has the name of its interface as part of the device, as adapters have."""
        if device not in self._switch_names:
            return (f"{device} {names[0]}" if names else device), 1
        numbers = self._numbers.get(device)
        number = None if numbers is None else numbers.of(names)
        if number is None:
            return (f"{device} {names[0]}" if names else device), _UNKNOWN_PORT
        return device, number

    def _unnamed_end(self, device: str, near: End) -> End:
        """Return the end at a host that does not name its port: the planned one if the cable is to that host."""
        planned = self._planned.get(near)
        if planned is not None and planned[0] == device:
            return f"{device}/{planned[1]}", 1
        return f"{device} (the port in {near[0]} port {near[1]})", 1

    @cached_property
    def _planned(self) -> dict[End, End]:
        """The lower end by the upper one."""
        return {(w.upper, w.upper_port): (w.lower, w.lower_port) for w in wires(self.layout)}

    def discovery(self) -> Discovery:
        """Return the links that a switch of the fabric is at."""
        links: dict[End, End] = {}
        reverse: dict[End, End] = {}
        unset: set[str] = set()
        for heard in self._heard:
            if not {heard.device, heard.far} & self._switch_names:
                continue
            near = self._end(heard.device, heard.names)
            if heard.far_names or heard.far in self._switch_names:
                far = self._end(heard.far, heard.far_names)
            else:
                far = self._unnamed_end(heard.far, near)
            links[near] = far
            reverse.setdefault(far, near)
            if not heard.named:
                unset.add(far[0])
        for far, near in reverse.items():
            links.setdefault(far, near)
        return Discovery(
            links,
            dict(self._rates()),
            unset=frozenset(unset),
            switches=self._switch_names,
            reporting=frozenset(self._shown(device) for device in self.devices),
            silent=frozenset(self._silent()),
        )

    def _rates(self) -> Iterator[tuple[End, Rate]]:
        for device, interfaces in self.devices.items():
            for interface in interfaces.values():
                if interface.gbps is not None and interface.up is not False:
                    rate = (f"{interface.gbps:g}G", interface.gbps)
                    yield self._end(self._shown(device), interface.names), rate

    def _silent(self) -> Iterator[End]:
        for device, interfaces in self.devices.items():
            name = self._shown(device)
            if name not in self._switch_names:
                continue
            for interface in interfaces.values():
                if interface.up and not interface.neighbours:
                    yield self._end(name, interface.names)
