"""Mechanical arithmetic of one rack: where its mass sits, how deep it is, what floor it takes.

Pure functions; None as soon as a number that counts is unknown.
"""

from __future__ import annotations

from collections.abc import Sequence

from rackwright.plan.base import Contributor
from rackwright.plan.records.racks import RackDevice


def center_of_mass(devices: Sequence[RackDevice]) -> float | None:
    """Return the height of the centre of mass in U above the rack's bottom; 0 without devices.

    The empty rack and what hangs beside the rails are left out. Unknown as long as a device has
    no known weight, height or place.
    """
    moments = weight = 0.0
    for device in devices:
        if device.height_u == 0:
            continue
        if device.weight_kg is None or device.height_u is None or device.unit_low is None:
            return None
        moments += device.weight_kg * (device.unit_low - 1 + device.height_u / 2)
        weight += device.weight_kg
    return moments / weight if weight else 0.0


def center_of_mass_shares(devices: Sequence[RackDevice]) -> tuple[Contributor, ...]:
    """Return what the devices of each product add to the height of the centre of mass, in U.

    Weight × middle of a device / weight of all; the sum is ``center_of_mass``. Empty if that is unknown.
    """
    height = center_of_mass(devices)
    if not height:
        return ()
    inside = [device for device in devices if device.height_u]
    whole = sum(device.weight_kg or 0.0 for device in inside)
    found: dict[str, list[float]] = {}
    for device in inside:
        middle = (device.unit_low or 0.0) - 1 + (device.height_u or 0.0) / 2
        found.setdefault(device.entry, []).append((device.weight_kg or 0.0) * middle / whole)
    shares = (Contributor(name, len(adds), sum(adds) / len(adds)) for name, adds in found.items())
    return tuple(sorted(shares, key=lambda share: (-share.total, share.name)))


def deepest(devices: Sequence[RackDevice]) -> float | None:
    """Return the depth in m of the deepest node or switch, or of two back to back; 0 without one."""
    result = 0.0
    inside = [one for one in devices if one.kind in {"node", "switch"} and one.height_u != 0]
    rear = [one for one in inside if one.share == "rear"]
    for device in inside:
        if device.depth_m is None:
            return None
        behind = (
            one.depth_m or 0.0
            for one in rear
            if device.share == "front" and _in_common_units(device, one)
        )
        result = max(result, device.depth_m + max(behind, default=0.0))
    return result


def _in_common_units(front: RackDevice, rear: RackDevice) -> bool:
    low, other = front.unit_low or 0.0, rear.unit_low or 0.0
    return low < other + (rear.height_u or 0.0) and other < low + (front.height_u or 0.0)


SPREAD = 0.762
"""Distance from a rack to which its weight spreads, in m: 30 in, the most that IBM's planning guides
let anyone count beside a frame (zSeries 800 Installation Manual for Physical Planning)."""


def footprint(width: float, depth: float, aisle_depth: float) -> float:
    """Return the floor in m² that a rack stands on, with half of the aisle in front and half of that behind.

    All three in m: width · (depth + 2 · aisle depth).
    """
    return width * (depth + 2 * aisle_depth)
