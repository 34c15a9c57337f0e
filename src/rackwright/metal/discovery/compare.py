"""Comparison of discovered machines with the machines of the blueprint."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from rackwright.brownfield.products import letters
from rackwright.metal.discovery.expected import ExpectedMachine
from rackwright.metal.discovery.machines import DiscoveredMachine
from rackwright.nodelife.redfish import BmcState
from rackwright.plan.fabric.discovered.differences import CableComparison
from rackwright.plan.fabric.discovered.lldp_records import Neighbour, SeenInterface
from rackwright.plan.fabric.discovered.neighbours import NeighbourTables
from rackwright.plan.fabric.layout import Layout

_NOT_THERE = frozenset({BmcState.UNREACHABLE, BmcState.SILENT, BmcState.LOST})


class MachineState(StrEnum):
    """Outcome for one machine of the blueprint, or for one that is not in it."""

    AS_PLANNED = "as planned"
    MISSING = "missing"
    """The controller does not answer, or no controller belongs to this machine."""
    UNREADABLE = "unreadable"
    """A controller answers, but does not report its machine."""
    EXTRA = "extra"
    MISPLACED = "misplaced"
    MISCABLED = "miscabled"
    OTHER_MODEL = "other model"
    OTHER_PARTS = "other parts"
    """The model is correct, but the number of accelerators differs."""
    TWIN = "twin"
    """Another machine has the same serial number or Ethernet address."""


@dataclass(frozen=True, slots=True)
class Matched:
    """Result of the comparison for one machine.

    Attributes:
        host: name of the host; None for a machine that is not in the blueprint.
        found: discovered machine; None if it is missing.
        problems: differences as state and reason, worst first.
        firmware: found and planned version of each component that differs.
    """

    host: str | None
    found: DiscoveredMachine | None
    problems: tuple[tuple[MachineState, str], ...] = ()
    firmware: Mapping[str, tuple[str, str]] = field(default_factory=dict)

    @property
    def state(self) -> MachineState:
        """State of the worst problem."""
        return self.problems[0][0] if self.problems else MachineState.AS_PLANNED


def compare(
    expected: Sequence[ExpectedMachine],
    found: Sequence[DiscoveredMachine],
    layouts: Sequence[Layout] = (),
) -> tuple[Matched, ...]:
    """Return the machines of the blueprint in its order, then the machines that are not in it.

    A machine is identified by its serial number, or else by an Ethernet address, or else by the address of its
    controller: the first two are optional in the blueprint.
    """
    by_host = _assign(expected, found)
    twins = _twins(found)
    cables = _cables(by_host, layouts)
    taken = {id(machine) for machine in by_host.values()}
    hosts = {machine.bmc: machine for machine in expected if machine.bmc is not None}
    lines = [
        _line(machine, by_host.get(machine.host), twins, cables.get(machine.host, ()), hosts)
        for machine in expected
    ]
    for one in found:
        if id(one) not in taken:
            reason = f"no host of the blueprint has this machine, at {one.address}"
            problems = [(MachineState.EXTRA, reason)]
            if not one.readable:
                problems = [(MachineState.UNREADABLE, f"{one.state.value}: {one.reason}")]
            problems += [(MachineState.TWIN, text) for text in twins.get(one.address, ())]
            lines.append(Matched(None, one, tuple(problems)))
    return tuple(lines)


def _assign(
    expected: Sequence[ExpectedMachine], found: Sequence[DiscoveredMachine]
) -> dict[str, DiscoveredMachine]:
    """Return the discovered machine of each host that has one."""
    # A serial number or Ethernet address that two machines share identifies neither.
    serials = Counter(one.serial for one in found if one.serial is not None)
    macs = Counter(mac for one in found for mac in one.macs)
    by_serial = {one.serial: one for one in found if one.serial and serials[one.serial] == 1}
    by_mac = {mac: one for one in found for mac in one.macs if macs[mac] == 1}
    made: dict[str, DiscoveredMachine] = {}
    used: set[int] = set()

    def take(host: str, one: DiscoveredMachine | None) -> None:
        if one is not None and host not in made and id(one) not in used:
            made[host] = one
            used.add(id(one))

    # Three passes, strongest identity first, so that an address never claims a machine whose serial
    # number belongs to another host.
    for machine in expected:
        if machine.serial is not None:
            take(machine.host, by_serial.get(machine.serial))
    for machine in expected:
        for mac in (machine.bmc_mac, machine.mac):
            candidate = None if mac is None else by_mac.get(mac)
            if candidate is not None and _may_be(machine, candidate):
                take(machine.host, candidate)
    addresses = {one.address: one for one in found}
    for machine in expected:
        candidate = None if machine.bmc is None else addresses.get(machine.bmc)
        if candidate is not None and _may_be(machine, candidate):
            take(machine.host, candidate)
    return made


def _may_be(machine: ExpectedMachine, one: DiscoveredMachine) -> bool:
    """Return False if the serial numbers are known and differ."""
    return machine.serial is None or one.serial is None or machine.serial == one.serial


def _twins(found: Sequence[DiscoveredMachine]) -> dict[str, list[str]]:
    """Return the identifiers that a machine shares with others, in words, by the address of its controller."""
    owners: dict[str, list[DiscoveredMachine]] = {}
    for one in found:
        if one.serial is not None:
            owners.setdefault(f"serial number {one.serial}", []).append(one)
        for mac in one.macs:
            owners.setdefault(f"Ethernet address {mac}", []).append(one)
    made: dict[str, list[str]] = {}
    for name, machines in sorted(owners.items()):
        for one in machines if len(machines) > 1 else ():
            others = ", ".join(other.address for other in machines if other is not one)
            made.setdefault(one.address, []).append(f"{name} is shared with {others}")
    return made


def _line(
    machine: ExpectedMachine,
    one: DiscoveredMachine | None,
    twins: Mapping[str, Sequence[str]],
    cables: Sequence[str],
    hosts: Mapping[str, ExpectedMachine],
) -> Matched:
    if one is None:
        where = "" if machine.bmc is None else f" at {machine.bmc}"
        what = f"serial number {machine.serial}" if machine.serial else "its controller"
        reason = f"{what} was not found{where}"
        return Matched(machine.host, None, ((MachineState.MISSING, reason),))
    if not one.readable:
        state = MachineState.MISSING if one.state in _NOT_THERE else MachineState.UNREADABLE
        return Matched(machine.host, one, ((state, f"{one.state.value}: {one.reason}"),))
    problems = [(MachineState.TWIN, text) for text in twins.get(one.address, ())]
    problems += _differences(machine, one, hosts)
    problems += [(MachineState.MISCABLED, text) for text in cables]
    if one.state is not BmcState.READY:
        problems.append((MachineState.UNREADABLE, f"{one.state.value}: {one.reason}"))
    firmware = {
        component: (has, wanted)
        for component, wanted in machine.firmware.items()
        if (has := one.firmware.get(component)) is not None and has != wanted
    }
    return Matched(machine.host, one, tuple(problems), firmware)


def _differences(
    machine: ExpectedMachine, one: DiscoveredMachine, hosts: Mapping[str, ExpectedMachine]
) -> Iterator[tuple[MachineState, str]]:
    # Another model has other parts by definition: report the model only.
    if one.model is not None and not _is_product(machine, one):
        name = " ".join(filter(None, (one.manufacturer, one.model)))
        yield MachineState.OTHER_MODEL, f"it is a '{name}', but a {machine.product} is planned"
    elif (
        machine.accelerators is not None
        and one.accelerators is not None
        and one.accelerators != machine.accelerators
    ):
        reason = f"it has {one.accelerators} accelerators, but {machine.accelerators} are planned"
        yield MachineState.OTHER_PARTS, reason
    if machine.bmc is not None and one.address != machine.bmc:
        other = hosts.get(one.address)
        where = f"the address of {other.host}, rack {other.rack}" if other else one.address
        yield MachineState.MISPLACED, f"it answers at {where}; {machine.bmc} is planned"
    elif one.rack is not None and machine.rack and letters(one.rack) != letters(machine.rack):
        reason = f"its controller names rack '{one.rack}', but {machine.rack} is planned"
        yield MachineState.MISPLACED, reason


def _is_product(machine: ExpectedMachine, one: DiscoveredMachine) -> bool:
    """Return True if the model name is that of the catalogue, with or without the maker."""
    model, maker = letters(one.model or ""), letters(one.manufacturer or "")
    return bool({model, f"{maker}{model}", model.removeprefix(maker)} & machine.models)


def _cables(
    by_host: Mapping[str, DiscoveredMachine], layouts: Sequence[Layout]
) -> dict[str, list[str]]:
    """Return the cables with another far end than planned, by host, for controllers that report LLDP."""
    made: dict[str, list[str]] = {}
    for layout in layouts:
        if layout.technology != "ethernet":
            continue
        attached = {name for hosts in layout.hosts for name in hosts.names}
        heard = {
            host: {
                port.name: SeenInterface(
                    (port.name,),
                    port.up,
                    neighbours=(
                        Neighbour(port.neighbour.device, named=True, ports=(port.neighbour.port,)),
                    ),
                )
                for port in one.ports
                if port.neighbour is not None
            }
            for host, one in by_host.items()
            if host in attached
        }
        heard = {host: ports for host, ports in heard.items() if ports}
        if not heard:
            continue
        # Controllers may omit ports: a cable without a reporting port is unknown, not missing.
        seen = replace(NeighbourTables(layout, heard).discovery(), reporting=frozenset())
        compared = CableComparison(layout, seen)
        for difference in compared.differences():
            for host in sorted(difference.devices & heard.keys()):
                made.setdefault(host, []).append(f"{difference.cable}: {difference.message}")
    return made
