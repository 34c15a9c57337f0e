"""What equal racks ask of the power sources above them."""

from __future__ import annotations

from rackwright.plan.power.demand import FedRacks
from rackwright.plan.racks.devices import total
from rackwright.plan.racks.kinds import BuiltRacks


def fed_racks(built: BuiltRacks) -> FedRacks:
    """Return what a class of racks asks of its sources."""
    rack, sources, positions = built.wired, built.racks.sources, built.racks.positions
    first, second, third = (sum(1 for p in positions if p % 3 == turn) for turn in range(3))
    counted = zip(rack.counted_loads(frozenset()), rack.circuits, strict=True)
    loose = rack.uncounted
    return FedRacks(
        racks=built.racks.count,
        turns=(first, second, third),
        sources=sources,
        draws=rack.feed_draws,
        circuits=tuple((sources[circuit.feed], load.legs) for load, circuit in counted),
        uncounted=(
            sum(device.power_w or 0.0 for device in loose),
            total(device.peak_w for device in loose),
        )
        if loose
        else None,
    )
