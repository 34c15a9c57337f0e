"""Devices of sources on the way into a blueprint: their names, groups and roles, and what cannot be told of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import get_args

from rackwright.brownfield.halls import FoundRack, height_of
from rackwright.brownfield.names import as_host, label_of, short_of, stem_of
from rackwright.brownfield.records import FoundDevice, Role, SourceNotice, refused
from rackwright.brownfield.slurm_files.view import SlurmView
from rackwright.errors import SpecError
from rackwright.harmless import counted
from rackwright.model.hardware import Entry, Node, Switch, fact_value

_ACCELERATED: Role = "compute"
_SAME = 0.01
"""Units that two tops may differ by and be the same."""


def settle_names(devices: Sequence[FoundDevice], view: SlurmView) -> list[FoundDevice]:
    """Return devices with the names that Slurm has for them, else without a domain where that tells them apart."""
    counts = Counter(short_of(name).lower() for device in devices for name in device.names)

    def settle(name: str) -> str:
        if (node := view.spelled(name)) is not None:
            return node
        return short_of(name) if counts[short_of(name).lower()] == 1 else name

    return [replace(device, names=tuple(map(settle, device.names))) for device in devices]


def as_hosts(device: FoundDevice, changed: dict[str, str]) -> FoundDevice:
    """Return a device with names that hosts may have; those that had to change are added to ``changed``."""
    made = []
    for name in device.names:
        host = as_host(name)
        if host != name.strip().rstrip("."):
            changed[name] = host or ""
        if host is not None:
            made.append(host)
    return replace(device, names=tuple(made))


def names_after(
    listed: Sequence[FoundDevice],
    settled: Sequence[FoundDevice],
    known: Sequence[tuple[FoundDevice, Entry]],
) -> dict[str, str | None]:
    """Return the names in the blueprint by those in the sources; None for devices that are left out.

    Args:
        listed: devices as the sources have them.
        settled: the same with settled names, in the same order.
        known: devices of the blueprint.
    """
    standing = {name for device, _ in known for name in device.names}
    found: dict[str, str | None] = {}
    for before, after in zip(listed, settled, strict=True):
        for source, name in zip(before.names, map(as_host, after.names), strict=True):
            found[source] = found.get(source) or (name if name in standing else None)
    return found


def with_role(device: FoundDevice, word: str | None) -> FoundDevice:
    """Return a device with the role that the user has given for that of the source."""
    if word is None:
        return device
    role = next((one for one in get_args(Role) if one == word), None)
    return replace(device, group=word, role=role or device.role)


def problem_of(device: FoundDevice, entry: Entry) -> SpecError | None:
    """Return the reason that a device of a known product cannot be taken over; None if it can."""
    what = device.names[0] if device.names else device.product[-1]
    if not isinstance(entry, (Node, Switch)):
        return None
    if device.low is None:
        message = f"'{what}' has no unit in its rack"
        hint = f"write its lowest unit, or leave all of its kind out: --leave-out '{device.product[-1]}'"
        return SpecError(message, hint=hint, location=device.at)
    wanted = entry.hosts if isinstance(entry, Node) else entry.switches
    if device.names and len(device.names) != wanted:
        noun = counted(len(device.names), "host" if isinstance(entry, Node) else "switch")
        message = f"'{what}' names {noun}; one '{entry.id}' has {wanted}"
        hint = "name the first and the last, like 'node-01 … node-18'"
        return SpecError(message, hint=hint, location=device.at)
    return None


def other_height(device: FoundDevice, entry: Entry) -> Iterator[SourceNotice]:
    """Yield a notice about a device that takes other units than its product does."""
    known = fact_value(getattr(entry, "height", None)) is not None
    if device.low is None or device.high is None or not known:
        return
    top = device.low + max(height_of(entry), 1) - 1
    if abs(top - device.high) > _SAME:
        text = (
            f"U{device.low:g} to U{device.high:g} in the file; '{entry.id}' is {height_of(entry):g} U high, "
            f"and takes U{device.low:g} to U{top:g}"
        )
        yield SourceNotice(text, device.at)


def refuse_twins(racks: Sequence[FoundRack]) -> None:
    """Refuse a name that two hosts or switches have.

    Raises:
        SpecErrors: two have one.
    """  # noqa: DOC501 - refused() makes the SpecErrors
    seen: dict[tuple[str, str], FoundDevice] = {}
    for rack in racks:
        for device, _ in rack.devices:
            for name in device.names:
                other = seen.setdefault((rack.site, name), device)
                if other is not device:
                    message = f"'{name}' stands at {other.at} already"
                    raise refused(message, device.at, "each host has a name of its own")


def group_name(device: FoundDevice, entry: Entry) -> str:
    """Return the name of a node group: its group in our own sheets, else the name of its hosts without numbers."""
    group = label_of(device.group) if device.group else None
    if device.kind is not None and group is not None:
        return group
    if device.names and (stem := stem_of(device.names[0])) != device.names[0]:
        return label_of(stem) or group or entry.id
    return group or label_of(entry.id) or "node"


def role_of(device: FoundDevice, entry: Node, base: str, view: SlurmView) -> str | None:
    """Return the role of a node that its source or its product states; None if neither does."""
    if device.role is not None:
        return device.role
    if view.has(device.names) or entry.accelerators is not None:
        return _ACCELERATED
    if view.controls(device.names):
        return "head"
    return base if base in {"compute", "login", "head", "storage", "management"} else None


def uneven_supplies(device: FoundDevice) -> tuple[tuple[str, int], ...]:
    """Return the supplies on each feed, where they are not spread as they are without a word."""
    counts = device.supplies.values()
    if not counts or max(counts) - min(counts) <= 1:
        return ()
    return tuple(sorted(device.supplies.items()))
