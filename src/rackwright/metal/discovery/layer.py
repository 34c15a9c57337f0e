"""Layer of a blueprint with the discovered identities, and reports of a comparison."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import yaml

from rackwright.exit_codes import ExitCode
from rackwright.metal.discovery.compare import MachineState, Matched
from rackwright.metal.discovery.machines import DiscoveredMachine
from rackwright.plan.model import Plan

SCHEMA = "rackwright.discovery/v1"
_NOT_WRITTEN = frozenset(
    {MachineState.TWIN, MachineState.OTHER_MODEL, MachineState.MISSING, MachineState.MISPLACED}
)
"""Machines whose identity is not written to the layer: a person must decide first."""
_OPEN = frozenset({MachineState.UNREADABLE})
_MOST_FIRMWARE = 12


def layer(plan: Plan, site: str, lines: Sequence[Matched]) -> str:
    """Return a layer with the serial numbers and Ethernet addresses of the planned machines, as YAML.

    Comments list model, ports and firmware of each machine.
    """
    known = [one for one in lines if one.host and one.found and _may_be_written(one)]
    serials = {str(one.host): one.found.serial for one in known if one.found and one.found.serial}
    data: dict[str, Any] = {"name": site}
    networks = list(_networks(plan, site, known))
    if networks:
        data["addresses"] = {"networks": networks}
    if serials:
        data["provisioning"] = {"serials": serials}
    comments = [line for one in known if one.found for line in _comment(str(one.host), one.found)]
    head = f"# Machines of '{site}' as their controllers describe them.\n"
    if len(data) == 1:
        return f"{head}# None of the machines of the blueprint was found.\n{{}}\n"
    return head + "".join(comments) + yaml.safe_dump({"sites": [data]}, sort_keys=False)


def _may_be_written(one: Matched) -> bool:
    return not any(state in _NOT_WRITTEN for state, _ in one.problems)


def _networks(plan: Plan, site: str, known: Sequence[Matched]) -> Iterator[Mapping[str, Any]]:
    """Yield the networks of kind ``bmc`` and ``management`` with the known Ethernet addresses."""
    found = {one.host: one.found for one in known if one.found is not None}
    made: dict[str, dict[str, str]] = {}
    for network in plan.names.networks:
        if network.site != site or network.kind == "fabric":
            continue
        for address in network.addresses():
            machine = found.get(address.owner)
            if machine is None:
                continue
            mac = machine.mac if network.kind == "bmc" else _starting_port(machine)
            if mac is not None:
                made.setdefault(network.name, {})[address.label] = mac
    for name, macs in made.items():
        yield {"name": name, "macs": macs}


def _starting_port(machine: DiscoveredMachine) -> str | None:
    """Return the Ethernet address that a machine boots from; None unless exactly one port is a candidate."""
    macs = [port.mac for port in machine.ports if port.mac is not None]
    linked = [port.mac for port in machine.ports if port.mac is not None and port.up]
    return macs[0] if len(macs) == 1 else linked[0] if len(linked) == 1 else None


def _comment(host: str, machine: DiscoveredMachine) -> Iterator[str]:
    name = " ".join(filter(None, (machine.manufacturer, machine.model)))
    ports = ", ".join(
        f"{port.name} {port.mac or '?'}"
        + (f" at {port.neighbour.device} {port.neighbour.port}" if port.neighbour else "")
        for port in machine.ports
    )
    versions = [f"{part} {version}" for part, version in machine.firmware.items()]
    shown = ", ".join(versions[:_MOST_FIRMWARE])
    yield f"# {host}: {name}; {ports or 'no ports'}; {shown or 'no firmware'}\n"


def exit_code(lines: Sequence[Matched]) -> ExitCode:
    """Return 0 if all machines are as planned, 5 if one differs, 6 if some are only unreadable, 3 without machines."""
    if not lines:
        return ExitCode.NOTHING
    states = {state for one in lines for state, _ in one.problems}
    if states - _OPEN:
        return ExitCode.VIOLATION
    return ExitCode.UNKNOWN if states else ExitCode.CLEAN


def text_report(site: str, lines: Sequence[Matched]) -> str:
    """Return the comparison of a site as text: one line per difference, then the counts."""
    made = []
    for one in lines:
        for state, reason in one.problems:
            name = one.host or (one.found.address if one.found else "?")
            made.append(f"{name}: {state.value}: {reason}\n")
        for part, (has, wanted) in one.firmware.items():
            made.append(f"{one.host}: firmware: {part} is {has}, but {wanted} is planned\n")
    counts = Counter(one.state for one in lines)
    summary = ", ".join(
        f"{counts[state]:,} {state.value}" for state in MachineState if counts[state]
    )
    return "".join(made) + f"{site}: {summary or 'no machines'}\n"


def as_data(site: str, lines: Sequence[Matched]) -> dict[str, Any]:
    """Return the comparison of a site for ``--json``."""
    return {
        "site": site,
        "machines": [
            {
                "host": one.host,
                "state": one.state.value,
                "problems": [{"state": s.value, "reason": reason} for s, reason in one.problems],
                "firmware": {
                    part: {"found": has, "planned": wanted}
                    for part, (has, wanted) in one.firmware.items()
                },
                "found": None if one.found is None else dataclasses.asdict(one.found),
            }
            for one in lines
        ],
    }
