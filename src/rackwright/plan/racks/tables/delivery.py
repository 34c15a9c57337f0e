"""The way of racks into their hall: what is moved, and what the way takes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rackwright.model.onprem import DeliveryPath, OnPremSite, Shipping
from rackwright.plan.racks.placement import AssignedRacks
from rackwright.plan.racks.rack import Rack
from rackwright.plan.records.racks import RackClass, RackDelivery


def deliveries(
    site: OnPremSite,
    classes: Sequence[AssignedRacks],
    built: Sequence[Rack],
    rows: Sequence[RackClass],
) -> Iterator[RackDelivery]:
    """The delivery of each class of racks, which all three lists have in the same order."""
    for cls, rack, row in zip(classes, built, rows, strict=True):
        way = site.halls[cls.group.hall].delivery or DeliveryPath()
        shipping = rack.group.shipping or Shipping()
        weight = _moved_weight(rack, row, shipping)
        yield RackDelivery(
            rack_class=row.rack_class,
            path=row.path,
            hall=row.hall,
            height_m=shipping.height,
            width_m=shipping.width,
            weight_kg=weight,
            caster_kg=None if weight is None else weight / row.casters,
            way_height_m=way.height,
            way_width_m=way.width,
            way_rating_kg=way.rating,
            way_rolling_kg=way.rolling,
            way_slope_percent=way.slope,
        )


def _moved_weight(rack: Rack, row: RackClass, shipping: Shipping) -> float | None:
    """In kg; of a product that is a whole rack no less than what stands in its place."""
    if shipping.weight is None or not any(device.includes_rack for device in rack.devices):
        return shipping.weight
    return None if row.weight_kg is None else max(shipping.weight, row.weight_kg)
