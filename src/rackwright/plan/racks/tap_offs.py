"""Tap-off boxes of busways: what the racks on one of them draw through it, normally and after a loss."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from rackwright.model.onprem import OnPremSite
from rackwright.model.power import RackFeed, TapOff
from rackwright.plan.base import Path
from rackwright.plan.power.electrical import circuit_capacity, line_implied_power
from rackwright.plan.problems import PlanProblem
from rackwright.plan.racks.devices import total
from rackwright.plan.racks.feeds.wiring import CircuitDraw
from rackwright.plan.racks.kinds import BuiltRacks
from rackwright.plan.racks.placement import PlacedGroup
from rackwright.plan.racks.rack import WiredRack
from rackwright.plan.records.power import TapOffLoad


def check_tap_offs(site: OnPremSite, groups: Sequence[PlacedGroup]) -> Iterator[PlanProblem]:
    """Yield tap-off boxes on what is no busway."""
    kinds = {source.name: source.kind for source in site.power.sources}
    for placed in groups:
        for index, feed in enumerate(placed.spec.feeds):
            kind = kinds.get(feed.source, "busway")
            if feed.tap_off is not None and kind != "busway":
                where = (*placed.path, "feeds", index, "tap_off")
                text = f"feed {feed.name} has a tap-off box, and '{feed.source}' is a {kind}"
                yield PlanProblem(where, text)


def tap_offs(classes: Sequence[BuiltRacks], site: OnPremSite) -> Iterator[TapOffLoad]:
    """Yield the boxes of the feeds of each class of racks."""
    standing: Counter[Path] = Counter()
    for built in classes:
        standing[built.racks.path] += built.racks.count
    for built in classes:
        yield from _of_class(built, site, standing[built.racks.path])


def _of_class(built: BuiltRacks, site: OnPremSite, group_racks: int) -> Iterator[TapOffLoad]:
    """Yield the boxes of the feeds of one class.

    Args:
        built: the racks.
        site: the site.
        group_racks: racks of the group; those that share a box are taken to be like this one.
    """
    rack, own = built.wired, built.racks
    for index, feed in enumerate(built.assigned.group.spec.feeds):
        box, circuit = feed.tap_off, feed.circuit
        if box is None:
            continue
        mine = [n for n, circuit in enumerate(rack.circuits) if circuit.feed == index]
        racks = min(box.racks, group_racks)
        normal = _implied(rack, mine, rack.normal)
        worst, lost = _worst(rack, mine, normal)
        yield TapOffLoad(
            rack=own,
            feed=feed.name,
            source=feed.source,
            path=(*own.path, "feeds", index, "tap_off"),
            racks=racks,
            breakers=racks * feed.pdus,
            current_a=box.current,
            breaker_a=circuit.current if circuit else None,
            usable_w=_usable(feed, box, rack, index, site),
            load_w=_times(total(rack.normal[n].load for n in mine), racks),
            implied_w=_times(normal, racks),
            worst_w=_times(worst, racks),
            worst_lost=lost,
        )


_NOISE = 1 + 1e-9
"""Loads that moved from feed to feed round; a worst case is worse by more than that."""


def _times(load: float | None, racks: int) -> float | None:
    return None if load is None else load * racks


def _worst(
    rack: WiredRack, circuits: Sequence[int], normal: float | None
) -> tuple[float | None, str | None]:
    """Return the most that the lines of some circuits imply after a loss that leaves one of them, and which."""
    worst, lost = normal, None
    for name, _, dead in rack.losses:
        if dead.issuperset(circuits):
            continue
        load = _implied(rack, circuits, rack.loads_without(dead))
        if load is None or worst is None:
            return None, None
        if load > worst * _NOISE:
            worst, lost = load, name
    return worst, lost


def _implied(
    rack: WiredRack, circuits: Sequence[int], draws: Sequence[CircuitDraw]
) -> float | None:
    """Return W of the box of one rack if each line carried what its busiest one does."""
    loads, wiring = [draws[n] for n in circuits], rack.circuits[circuits[0]].wiring
    if wiring is None or any(load.legs is None for load in loads):
        return total(load.implied for load in loads)
    legs = [sum(load.legs[line] for load in loads if load.legs) for line in range(3)]
    return line_implied_power((legs[0], legs[1], legs[2]), wiring)


def _usable(
    feed: RackFeed, box: TapOff, rack: WiredRack, index: int, site: OnPremSite
) -> float | None:
    """Return the continuous capacity of a box in W, at the voltage and on the lines of its circuits."""
    pdu, circuit = rack.pdus[index], feed.circuit
    if circuit is not None:
        voltage, phases = circuit.voltage, circuit.phases
    elif pdu is not None:
        voltage, phases = pdu.voltage.value, pdu.phases
    else:
        return None
    return circuit_capacity(
        voltage,
        box.current,
        phases,
        derate=1.0 if box.continuous_rated else site.power.continuous_derate / 100,
        power_factor=site.power.power_factor,
    )
