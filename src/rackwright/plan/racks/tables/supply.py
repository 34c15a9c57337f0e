"""What equal racks ask of the power sources above them."""

from __future__ import annotations

from rackwright.plan.power.demand import FedRacks
from rackwright.plan.racks.devices import total
from rackwright.plan.racks.placement import AssignedRacks
from rackwright.plan.racks.rack import Rack


def fed_racks(cls: AssignedRacks, rack: Rack) -> FedRacks:
    """The racks of ``cls``, each of them like ``rack``."""
    sources = tuple(feed.source for feed in rack.group.feeds)
    first, second, third = (sum(1 for p in cls.positions if p % 3 == turn) for turn in range(3))
    counted = zip(rack.counted_loads(frozenset()), rack.circuits, strict=True)
    loose = rack.uncounted
    return FedRacks(
        racks=len(cls.racks),
        turns=(first, second, third),
        sources=sources,
        draws=rack.feed_draws,
        circuits=tuple((sources[circuit.feed], load.legs) for load, circuit in counted),
        uncounted=(sum(device.power or 0.0 for device in loose), total(d.peak for d in loose))
        if loose
        else None,
    )
