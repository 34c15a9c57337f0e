"""Inventory of one machine, read from its management controller."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from rackwright.harmless import visible
from rackwright.metal.discovery.machines import DiscoveredMachine, HeardNeighbour, MachinePort
from rackwright.nodelife.redfish import (
    BmcError,
    BmcState,
    MissingResourceError,
    Redfish,
    link_of,
)

WRONG_BY_S = 300.0
"""Tolerated error of a controller's clock, in s: certificates and tickets depend on it."""
STUCK_AFTER_S = 7200.0
"""Age from which an unfinished task counts as stuck, in s."""
_MAC = re.compile(r"^[0-9a-f]{2}(:[0-9a-f]{2}){5}$")
_NOT_WORDS = frozenset({"", "n/a", "na", "none", "null", "unknown", "default string", "not specified",
                        "to be filled by o.e.m.", "empty"})  # fmt: skip
"""Placeholders of makers in fields that were never filled in."""
_RUNNING = frozenset({"New", "Starting", "Running", "Pending", "Suspended", "UserIntervention"})
_MOST_TASKS = 50


def read_machine(bmc: Redfish) -> DiscoveredMachine:
    """Return the machine behind a controller with an open session.

    Its state is the first of these that applies: several systems, incomplete inventory, stuck or vanished task, wrong
    clock, ready.

    Raises:
        BmcError: the controller cannot be read.
    """
    root = bmc.get("/redfish/v1/")
    systems = list(bmc.members(root.get("Systems")))
    if len(systems) > 1:
        names = ", ".join(sorted(visible(str(one.get("Id", "?"))) for one in systems)[:4])
        reason = (
            f"it has {len(systems)} systems ({names}): assign their serial numbers to hosts by hand"
        )
        return DiscoveredMachine(bmc.address, BmcState.SEVERAL_SYSTEMS, reason)
    if not systems:
        return DiscoveredMachine(bmc.address, BmcState.PARTIAL, "it lists no system")
    managers = list(bmc.members(root.get("Managers")))
    missing: list[str] = []
    found = _system(bmc, systems[0], missing)
    found = replace(
        found,
        mac=_own_mac(bmc, managers, missing),
        firmware=_firmware(bmc, root, systems[0], managers, missing),
        rack=_rack(bmc, root, missing),
    )
    return _named(bmc, found, root, managers, missing)


def _named(
    bmc: Redfish,
    found: DiscoveredMachine,
    root: Mapping[str, Any],
    managers: list[dict[str, Any]],
    missing: list[str],
) -> DiscoveredMachine:
    """Return a machine with the state of its controller."""
    told = next(filter(None, (_time(one.get("DateTime")) for one in managers)), None)
    lacking = [name for name in ("serial", "model") if getattr(found, name) is None] + missing
    if lacking:
        reason = f"it does not report: {', '.join(dict.fromkeys(lacking))}"
        return replace(found, state=BmcState.PARTIAL, reason=reason)
    if (wrong := _tasks(bmc, root, told)) is not None:
        return replace(found, state=wrong[0], reason=wrong[1])
    now = datetime.now(UTC)
    if told is not None and abs((told - now).total_seconds()) > WRONG_BY_S:
        reason = f"its clock shows {told:%Y-%m-%d %H:%M}, but it is {now:%Y-%m-%d %H:%M} UTC"
        return replace(found, state=BmcState.WRONG_CLOCK, reason=reason)
    return found


def _system(bmc: Redfish, system: Mapping[str, Any], missing: list[str]) -> DiscoveredMachine:
    ports = tuple(_ports(bmc, system, missing))
    memory = _part(system, "MemorySummary").get("TotalSystemMemoryGiB")
    modules = system.get("TrustedModules")
    boot = _optional(bmc, system.get("SecureBoot"), "secure boot", missing)
    power = system.get("PowerState")
    return DiscoveredMachine(
        bmc.address,
        BmcState.READY,
        manufacturer=_word(system.get("Manufacturer")),
        model=_word(system.get("Model")),
        serial=_word(system.get("SerialNumber")),
        uuid=_word(system.get("UUID")),
        ports=ports,
        accelerators=_accelerators(bmc, system, missing),
        memory_gib=_number(memory),
        power_on=None if power is None else power == "On",
        secure_boot=_flag(boot.get("SecureBootEnable")),
        tpm=None if not isinstance(modules, list) else any(map(_is_there, modules)),
    )


def _ports(bmc: Redfish, system: Mapping[str, Any], missing: list[str]) -> Iterator[MachinePort]:
    """Yield the ports of network adapters, which may report LLDP, then interfaces that belong to no adapter."""
    seen: set[str] = set()
    chassis = _part(system, "Links").get("Chassis")
    for link in chassis if isinstance(chassis, list) else ():
        box = _optional(bmc, link, "chassis", missing)
        for adapter in _listed(bmc, box.get("NetworkAdapters"), "adapters", missing):
            for port in _listed(bmc, adapter.get("Ports"), "ports", missing):
                one = _port(adapter, port)
                if one.mac is not None:
                    seen.add(one.mac)
                yield one
    for interface in _listed(bmc, system.get("EthernetInterfaces"), "interfaces", missing):
        mac = _mac(interface.get("PermanentMACAddress")) or _mac(interface.get("MACAddress"))
        if mac is not None and mac not in seen:
            seen.add(mac)
            status = interface.get("LinkStatus")
            up = None if status is None else status == "LinkUp"
            yield MachinePort(visible(str(interface.get("Id", "?"))), mac, up)


def _port(adapter: Mapping[str, Any], port: Mapping[str, Any]) -> MachinePort:
    ethernet = _part(port, "Ethernet")
    addresses = ethernet.get("AssociatedMACAddresses")
    mac = _mac(addresses[0]) if isinstance(addresses, list) and addresses else None
    status = port.get("LinkStatus")
    heard = _part(ethernet, "LLDPReceive")
    device = _word(heard.get("SystemName")) or _word(heard.get("ChassisId"))
    far = _word(heard.get("PortId"))
    return MachinePort(
        visible(f"{adapter.get('Id', '?')}-{port.get('Id', '?')}"),
        mac,
        None if status is None else status == "LinkUp",
        None if device is None or far is None else HeardNeighbour(device, far),
    )


def _accelerators(bmc: Redfish, system: Mapping[str, Any], missing: list[str]) -> int | None:
    if link_of(system.get("Processors")) is None:
        return None
    before = len(missing)
    found = list(_listed(bmc, system.get("Processors"), "processors", missing))
    # A partial list would report too few accelerators.
    if len(missing) > before:
        return None
    return sum(1 for one in found if one.get("ProcessorType") == "GPU" and _is_there(one))


def _own_mac(bmc: Redfish, managers: list[dict[str, Any]], missing: list[str]) -> str | None:
    """Return the Ethernet address of the interface with the controller's own IP address, or else the first."""
    first = None
    for manager in managers:
        for one in _listed(bmc, manager.get("EthernetInterfaces"), "own interfaces", missing):
            mac = _mac(one.get("PermanentMACAddress")) or _mac(one.get("MACAddress"))
            own = one.get("IPv4Addresses")
            addresses = {a.get("Address") for a in own if isinstance(a, dict)} if own else set()
            if mac is not None and bmc.address in addresses:
                return mac
            first = first or mac
    return first


def _firmware(
    bmc: Redfish,
    root: Mapping[str, Any],
    system: Mapping[str, Any],
    managers: list[dict[str, Any]],
    missing: list[str],
) -> dict[str, str]:
    """Return firmware versions by component: ``bios`` and ``bmc``, then the names of the controller."""
    made: dict[str, str] = {}
    if (bios := _word(system.get("BiosVersion"))) is not None:
        made["bios"] = bios
    # Names in the inventory below are the maker's: the version of the manager itself is always 'bmc'.
    for manager in managers:
        version = _word(manager.get("FirmwareVersion"))
        if manager.get("ManagerType", "BMC") == "BMC" and version is not None:
            made.setdefault("bmc", version)
    service = _optional(bmc, root.get("UpdateService"), "update service", missing)
    for one in _listed(bmc, service.get("FirmwareInventory"), "firmware", missing):
        version, name = _word(one.get("Version")), _word(one.get("Id"))
        if version is not None and name is not None and _is_there(one):
            made.setdefault(name, version)
    return made


def _rack(bmc: Redfish, root: Mapping[str, Any], missing: list[str]) -> str | None:
    for box in _listed(bmc, root.get("Chassis"), "chassis", missing):
        placement = _part(_part(box, "Location"), "Placement")
        if (rack := _word(placement.get("Rack"))) is not None:
            return rack
    return None


def _tasks(
    bmc: Redfish, root: Mapping[str, Any], now: datetime | None
) -> tuple[BmcState, str] | None:
    """Return the state and reason of a task that blocks the controller; None without one.

    Ages are measured by the controller's own clock, which also dated the start of the tasks.
    """
    service = _optional(bmc, root.get("Tasks"), "tasks", [])
    try:
        for number, task in enumerate(bmc.members(service.get("Tasks"))):
            # A long history of finished tasks must not delay the discovery.
            if number == _MOST_TASKS:
                break
            began = _time(task.get("StartTime"))
            if task.get("TaskState") in _RUNNING and now is not None and began is not None:
                age = (now - began).total_seconds()
                if age > STUCK_AFTER_S:
                    name = visible(str(task.get("Name") or task.get("Id") or "?"))
                    reason = (
                        f"the task '{name}' has been '{task['TaskState']}' for {age / 3600:,.0f} h"
                    )
                    return BmcState.STUCK_TASK, reason
    except MissingResourceError as error:
        return BmcState.VANISHED_TASK, f"it lists a task that does not exist: {error.reason}"
    return None


def _optional(bmc: Redfish, link: Any, name: str, missing: list[str]) -> dict[str, Any]:
    """Return an optional resource; if it is linked but absent, add its name to ``missing``.

    Raises:
        BmcError: the controller cannot be read at all.
    """
    path = link_of(link)
    if path is None:
        return {}
    try:
        return bmc.get(path)
    except BmcError as error:
        if error.state not in {BmcState.PARTIAL, BmcState.ERRORS}:
            raise
        missing.append(name)
        return {}


def _listed(bmc: Redfish, link: Any, name: str, missing: list[str]) -> Iterator[dict[str, Any]]:
    """Yield the members of a collection; if it ends early, add its name to ``missing``.

    Raises:
        BmcError: the controller cannot be read at all.
    """
    try:
        yield from bmc.members(link)
    except BmcError as error:
        if error.state not in {BmcState.PARTIAL, BmcState.ERRORS}:
            raise
        missing.append(name)


def _part(resource: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = resource.get(name)
    return value if isinstance(value, dict) else {}


def _word(value: Any) -> str | None:
    text = visible(value).strip() if isinstance(value, str) else ""
    return None if text.lower() in _NOT_WORDS else text[:100]


def _mac(value: Any) -> str | None:
    text = value.lower().replace("-", ":") if isinstance(value, str) else ""
    return text if _MAC.match(text) and text != "00:00:00:00:00:00" else None


def _flag(value: Any) -> bool | None:
    return value if isinstance(value, bool) else None


def _number(value: Any) -> float | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number else None


def _is_there(resource: Any) -> bool:
    if not isinstance(resource, dict):
        return False
    return _part(resource, "Status").get("State") != "Absent"


def _time(value: Any) -> datetime | None:
    try:
        made = datetime.fromisoformat(value)
    except (TypeError, ValueError):
        return None
    return made.replace(tzinfo=UTC) if made.tzinfo is None else made.astimezone(UTC)
