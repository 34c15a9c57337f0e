"""Weights, rack units and floor of racks."""

from __future__ import annotations

from dataclasses import dataclass

from calculator.things import Device, Number, RackGroup, times, total


@dataclass(frozen=True, slots=True, kw_only=True)
class Bulk:
    """Of one rack: units used, kg of content and of all, m² with its half of the aisles."""

    units: Number
    content: Number
    weight: Number
    footprint: Number


def bulk(devices: list[Device], group: RackGroup) -> Bulk:
    """The sum over servers, switches, CDUs, manifolds, PDUs, shelves, a rear door and the fluid of a tank."""
    heights = [device.product.height for device in devices]
    weights = [device.product.weight for device in devices]
    whole = any(device.product.whole_rack for device in devices)
    included = any(device.product.rack_included for device in devices)
    for feed in group.feeds:
        if feed.pdu is not None:
            heights += [feed.pdu.height] * feed.pdus
            weights += [feed.pdu.weight] * feed.pdus
    if group.shelves is not None and not whole:  # a rack that is sold whole has its shelves in it
        heights += [group.shelves.shelf.height] * group.shelves.count
        weights += [group.shelves.shelf.weight] * group.shelves.count
    if group.door is not None:
        weights.append(group.door.weight)
    if group.manifolds is not None and group.manifolds.count:
        heights.append(group.manifolds.count * group.manifolds.height)
        weights.append(times(group.manifolds.weight, group.manifolds.count))
    if group.frame.tank:
        weights.append(group.frame.fluid_weight)
    content = total(weights)
    frame = group.frame
    depth = None if group.aisle is None else frame.depth + 2 * group.aisle
    return Bulk(
        units=total(heights),
        content=content,
        weight=content if included else total((content, frame.weight)),
        footprint=times(depth, frame.width),
    )
