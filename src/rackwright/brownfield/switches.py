"""Fabrics whose tiers are the switches that stand in racks, in their units."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, get_args

from rackwright.brownfield.groups import DeviceBlock, blocks_of
from rackwright.brownfield.halls import FoundRack, height_of
from rackwright.brownfield.names import (
    free_name,
    label_of,
    ordered_hostlist,
    stem_of,
    switch_naming,
)
from rackwright.brownfield.records import FoundDevice
from rackwright.catalog.loader import Catalogue
from rackwright.model.fabric import Role
from rackwright.model.hardware import Switch
from rackwright.model.racks import RackType
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
    racks: Sequence[FoundRack], catalogue: Catalogue
) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the fabrics of the switches in racks, and the names of those whose traffic is unknown.

    Args:
        racks: in the order of the halls.
        catalogue: where the heights of racks are looked up.
    """
    keys: dict[int, tuple[str, str, str]] = {}
    for rack in racks:
        for device, entry in rack.devices:
            if isinstance(entry, Switch):
                keys[id(device)] = (*_fabric_and_tier(device, entry), entry.id)
    found: dict[str, list[tuple[str, DeviceBlock]]] = {}
    for (fabric, base, _), blocks in blocks_of(racks, keys).items():
        tiers = found.setdefault(fabric, [])
        taken = {name for name, _ in tiers}
        tiers += [(free_name(base, taken), block) for block in blocks]
    from_top = _FromTop(racks, catalogue)
    made = []
    for fabric, tiers in found.items():
        told = [_tier(fabric, *tier, from_top) for tier in sorted(tiers, key=_height_of_tier)]
        role = {"role": fabric} if fabric in _ROLES else {}
        made.append({"name": fabric, **role, "tiers": told})
    return made, [name for name in found if name not in _ROLES]


def _height_of_tier(tier: tuple[str, DeviceBlock]) -> tuple[int, int]:
    """Return a key that sorts tiers from the nodes upwards, by what people call them and the number of switches."""
    name, block = tier
    words = set(name.split("-"))
    level = next((n for n, names in enumerate(_LEVELS) if words & names), _UNKNOWN)
    return level, -block.count


def _fabric_and_tier(device: FoundDevice, entry: Switch) -> tuple[str, str]:
    """Return the fabric and tier of a switch: by the names that a plan gives, else its technology and its role."""
    stem = stem_of(device.names[0]) if device.names else ""
    if device.kind is not None and device.group and stem.endswith(f"-{device.group}"):
        return stem.removesuffix(f"-{device.group}"), device.group
    tier = label_of(device.group) or label_of(stem) or label_of(entry.id) or "switch"
    return entry.technology, tier


def _tier(fabric: str, name: str, block: DeviceBlock, from_top: _FromTop) -> dict[str, Any]:
    tier: dict[str, Any] = {
        "name": name,
        "type": block.entry.id,
        "count": block.count,
        "racks": ordered_hostlist(block.racks),
        "per_rack": block.per_rack,
    }
    planned = numbered(f"{fabric}-{name}", len(block.names))
    downwards = tuple(
        name for run in block.runs for device in reversed(run.devices) for name in device.names
    )
    downwards_holds = block.names != planned and downwards == planned and from_top.holds(block)
    from_top.place(block)
    if downwards_holds:
        return tier
    return {**tier, **switch_naming(block.names, planned), "start_unit": f"{block.low:g} U"}


class _FromTop:
    """Check that switches are at the default place, the top of their racks.

    Nodes are placed before them, and tiers in their order.
    """

    def __init__(self, racks: Sequence[FoundRack], catalogue: Catalogue) -> None:
        self._racks = {rack.name: rack for rack in racks}
        self._catalogue = catalogue
        self._placed = {
            id(device)
            for rack in racks
            for device, entry in rack.devices
            if not isinstance(entry, Switch)
        }

    def place(self, block: DeviceBlock) -> None:
        """Note that the switches of a block are placed."""
        self._placed.update(map(id, block.devices))

    def holds(self, block: DeviceBlock) -> bool:
        """Return True if the units above each run of a block are full."""
        height = height_of(block.entry)
        return all(
            self._is_full(run.rack, run.low + len(run.devices) * height) for run in block.runs
        )

    def _is_full(self, name: str, above: float) -> bool:
        """Return True if every unit of a rack above a unit is full."""
        rack = self._racks[name]
        if rack.type is None:
            return False
        top = self._catalogue.get(RackType, rack.type).height.value + 1
        taken = sum(
            height_of(entry)
            for device, entry in rack.devices
            if (device.low or 0.0) >= above and id(device) in self._placed
        )
        return taken == top - above
