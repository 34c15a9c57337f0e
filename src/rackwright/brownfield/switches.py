"""Fabrics whose tiers are the switches that stand in racks, in their units."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, get_args

from rackwright.brownfield.groups import Block, blocks_of
from rackwright.brownfield.halls import Rack, height_of
from rackwright.brownfield.names import label_of, ordered_hostlist, stem_of
from rackwright.brownfield.records import Device, Notice
from rackwright.catalog.loader import Catalogue
from rackwright.model.fabric import Role
from rackwright.model.hardware import RackType, Switch
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
    racks: Sequence[Rack], catalogue: Catalogue, notices: list[Notice]
) -> tuple[list[dict[str, Any]], list[str]]:
    """The fabrics of the switches in racks, and the names of those of which nobody says what they carry.

    Args:
        racks: in the order of the halls.
        catalogue: where the heights of racks are looked up.
        notices: switches whose names differ in the plan are added.
    """
    keys: dict[int, tuple[str, str, str]] = {}
    for rack in racks:
        for device, entry in rack.devices:
            if isinstance(entry, Switch):
                keys[id(device)] = (*_fabric_and_tier(device, entry), entry.id)
    found: dict[str, list[dict[str, Any]]] = {}
    from_top = _FromTop(racks, catalogue)
    for key, blocks in blocks_of(racks, keys).items():
        fabric, base, _ = key
        tiers = found.setdefault(fabric, [])
        for block in blocks:
            taken = {tier["name"] for tier in tiers}
            name, number = base, 2
            while name in taken:
                name, number = f"{base[:55]}-set{number}", number + 1
            tiers.append(_tier(fabric, name, block, from_top, notices))
    made = [
        {"name": name, **({"role": name} if name in _ROLES else {}), "tiers": _upwards(tiers)}
        for name, tiers in found.items()
    ]
    return made, [name for name in found if name not in _ROLES]


def _upwards(tiers: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Tiers from the nodes upwards, by what people call them and by the number of their switches."""

    def height(tier: dict[str, Any]) -> tuple[int, int]:
        words = set(tier["name"].split("-"))
        level = next((n for n, names in enumerate(_LEVELS) if words & names), _UNKNOWN)
        return level, -tier["count"]

    return sorted(tiers, key=height)


def _fabric_and_tier(device: Device, entry: Switch) -> tuple[str, str]:
    """What a switch is part of: by the names that a plan gives, else its technology and the rest of its name."""
    stem = stem_of(device.names[0]) if device.names else ""
    if device.kind is not None and device.group and stem.endswith(f"-{device.group}"):
        return stem.removesuffix(f"-{device.group}"), device.group
    tier = label_of(stem) or label_of(device.group) or label_of(entry.id) or "switch"
    return entry.technology, tier


def _tier(
    fabric: str, name: str, block: Block, from_top: _FromTop, notices: list[Notice]
) -> dict[str, Any]:
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
    if block.names != planned and downwards == planned and from_top.holds(block):
        return tier
    if block.names and block.names != planned:
        stand = ordered_hostlist(block.names)
        text = f"the switches {stand} are called {ordered_hostlist(planned)} in the plan, the lowest first"
        notices.append(Notice(text, next(iter(block.devices)).at))
    return {**tier, "start_unit": f"{block.low:g} U"}


class _FromTop:
    """Whether switches stand where those do that are placed without a word: from the top of their racks."""

    def __init__(self, racks: Sequence[Rack], catalogue: Catalogue) -> None:
        self._racks = {rack.name: rack for rack in racks}
        self._catalogue = catalogue

    def holds(self, block: Block) -> bool:
        """Whether all units above each run of a block are taken."""
        return all(
            self._is_full(run.rack, run.low + self._tall(block, run.rack)) for run in block.runs
        )

    @staticmethod
    def _tall(block: Block, rack: str) -> float:
        run = next(one for one in block.runs if one.rack == rack)
        return len(run.devices) * height_of(block.entry)

    def _is_full(self, name: str, above: float) -> bool:
        """Whether every unit of a rack from one on is taken."""
        rack = self._racks[name]
        if rack.type is None:
            return False
        top = self._catalogue.get(RackType, rack.type).height.value + 1
        taken = sum(
            height_of(entry) for device, entry in rack.devices if (device.low or 0.0) >= above
        )
        return taken == top - above
