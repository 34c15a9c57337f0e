"""Fabrics whose tiers are the switches that stand in racks, in their units."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, get_args

from rackwright.brownfield.groups import DeviceGroup, groups_of
from rackwright.brownfield.halls import FoundRack
from rackwright.brownfield.names import free_name, label_of, stem_of, switch_naming
from rackwright.brownfield.records import FoundDevice, SourceNotice
from rackwright.model.fabric import Role
from rackwright.model.hardware import Switch
from rackwright.plan.hosts import numbered

_ROLES = get_args(Role)
_LEVELS = (
    frozenset({"leaf", "tor", "edge", "access"}),
    frozenset({"spine", "aggregation", "agg"}),
    frozenset({"core", "superspine", "super"}),
)
"""Words in names of switches, from the nodes upwards."""
_UNKNOWN = 1


def fabrics_of(
    racks: Sequence[FoundRack], notices: list[SourceNotice]
) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the fabrics of the switches in racks, and the names of those whose traffic is unknown.

    Args:
        racks: in the order of the halls.
        notices: tiers of several products are added.
    """
    keys: dict[int, tuple[str, str, str]] = {}
    for rack in racks:
        for device, entry in rack.devices:
            if isinstance(entry, Switch):
                keys[id(device)] = (*_fabric_and_tier(device, entry), entry.id)
    found: dict[str, list[tuple[str, DeviceGroup]]] = {}
    for (fabric, base, _), group in groups_of(racks, keys).items():
        tiers = found.setdefault(fabric, [])
        name = free_name(base, {name for name, _ in tiers})
        if name != base:
            text = (
                f"switches of several products are '{base}' in the fabric '{fabric}', and a tier has one product: "
                f"'{group.entry.id}' is the tier '{name}'. Tiers are sorted from the hosts upwards: correct their order"
            )
            notices.append(SourceNotice(text, next(group.devices).at))
        tiers.append((name, group))
    made = []
    for fabric, tiers in found.items():
        tiers.sort(key=_height_of_tier)
        told = [_tier(fabric, *tier) for tier in tiers]
        notices += [
            notice
            for name, group in tiers
            if group.names
            for notice in group.without_names(f"switches of '{name}'")
        ]
        role = {"role": fabric} if fabric in _ROLES else {}
        made.append({"name": fabric, **role, "tiers": told})
    return made, [name for name in found if name not in _ROLES]


def _height_of_tier(tier: tuple[str, DeviceGroup]) -> tuple[int, int]:
    """Return a key that sorts tiers from the nodes upwards, by what people call them and the number of switches."""
    name, group = tier
    return level_of(name), -group.count


def level_of(tier: str) -> int:
    """Return the level of a tier by the words of its name, counted from 0 at the nodes; 1 if they tell none."""
    words = set(tier.split("-"))
    return next((n for n, names in enumerate(_LEVELS) if words & names), _UNKNOWN)


def _fabric_and_tier(device: FoundDevice, entry: Switch) -> tuple[str, str]:
    """Return the fabric and tier of a switch: by the names that a plan gives, else its technology and its role."""
    stem = stem_of(device.names[0]) if device.names else ""
    if device.kind is not None and device.group and stem.endswith(f"-{device.group}"):
        return stem.removesuffix(f"-{device.group}"), device.group
    tier = label_of(device.group) or label_of(stem) or label_of(entry.id) or "switch"
    return entry.technology, tier


def _tier(fabric: str, name: str, group: DeviceGroup) -> dict[str, Any]:
    entry = group.entry
    each = entry.switches if isinstance(entry, Switch) else 1
    planned = numbered(f"{fabric}-{name}", group.count * each)
    names = group.names_or(f"{fabric}-{name}", each) if group.names else ()
    return {
        "name": name,
        "type": group.entry.id,
        "count": group.count,
        **group.place,
        **switch_naming(names, planned),
    }
