"""The power sources of a site as records: what each carries, with cooling and losses, and at peaks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from rackwright.model.onprem import OnPremSite
from rackwright.plan.assignment import AssignedRacks
from rackwright.plan.consumers import Consumer
from rackwright.plan.distribution import FeedDemand, Tree, add_legs, capacity_of, idle_sources
from rackwright.plan.draws import Draws
from rackwright.plan.electrical import Legs, line_deviation, rotate
from rackwright.plan.flows import Flow, judge_flows
from rackwright.plan.generators import largest_steps
from rackwright.plan.model import Path
from rackwright.plan.outages import Outages
from rackwright.plan.overhead import Overhead, losses_of, overhead_of, unknown_loads
from rackwright.plan.rack import Rack
from rackwright.plan.records.power import SourceLoad


class Sources(NamedTuple):
    """The electrical side of a site above its racks.

    Attributes:
        tree: what hangs on what.
        rows: the record of each source.
        overhead: what the site draws beside its racks.
    """

    tree: Tree
    rows: tuple[SourceLoad, ...]
    overhead: Overhead


def plan_sources(
    site: OnPremSite,
    path: Path,
    consumers: tuple[Consumer, ...],
    classes: Sequence[AssignedRacks],
    built: Sequence[Rack],
    racks: float | None,
) -> Sources:
    """The sources of ``site``.

    Args:
        site: the site.
        path: its place in the blueprint.
        consumers: what draws power beside the racks.
        classes: its racks by class.
        built: one rack of each class.
        racks: what all of them draw, in W.
    """
    fed = {consumer.name: consumer.fed_by for consumer in consumers if consumer.fed_by}
    tree = Tree(site.power.sources, fed)
    demands = [_demands(cls, rack, tree.outages) for cls, rack in zip(classes, built, strict=True)]
    flows = _flows(tree, consumers, demands)
    overhead = overhead_of(site, tree, consumers, flows[2].normal, racks)
    unknown = unknown_loads(tree, consumers, overhead.carriers)

    def facility(name: str, loads: Sequence[float | None]) -> float | None:
        return None if name in unknown else overhead.of(name, loads[2], loads[0])

    def peak(name: str, loads: Sequence[float | None]) -> float | None:
        return None if name in unknown else overhead.of(name, loads[3], loads[0])

    def charging(name: str, loads: Sequence[float | None]) -> float | None:
        load, charge = facility(name, loads), loads[4]
        unsaid = any(tree.sources[ups].recharge is None for ups in batteries[name])
        return None if load is None or charge is None or unsaid else load + charge

    batteries = _batteries(tree)
    carried, whole, peaks, charged = judge_flows(
        tree, flows, (lambda _, loads: loads[0], facility, peak, charging)
    )
    steps = largest_steps(tree, [demand for demand, _ in demands], overhead, unknown.keys())
    legs = _legs(tree, classes, built)
    idle = idle_sources(site)
    rows = tuple(
        SourceLoad(
            source=name,
            kind=source.kind,
            path=(*path, "power", "sources", index),
            redundancy=source.redundancy,
            capacity_w=capacity_of(source, site.power),
            overload_w=source.overload,
            load_w=carried[name].normal,
            worst_w=carried[name].worst,
            worst_lost=carried[name].lost,
            carries_facility=name in overhead.carriers,
            facility_w=whole[name].normal,
            facility_worst_w=whole[name].worst,
            facility_lost=whole[name].lost,
            batteries=batteries[name],
            charging_w=charged[name].normal,
            charging_worst_w=charged[name].worst,
            charging_lost=charged[name].lost,
            peak_w=peaks[name].normal,
            peak_worst_w=peaks[name].worst,
            peak_lost=peaks[name].lost,
            step_w=step.load if (step := steps.get(name)) else None,
            step_number=step.step if step else None,
            step_lost=step.lost if step else None,
            step_limit_w=source.step_load,
            lacks=unknown.get(name),
            deviation_w=None
            if name in tree.unsure or (lines := legs[name]) is None
            else line_deviation(lines),
            ancestors=tuple(sorted(tree.ancestors(name))),
            missing_parents=source.missing_parents,
            idle=name in idle,
        )
        for index, (name, source) in enumerate(tree.sources.items())
    )
    return Sources(tree, rows, overhead)


def _flows(
    tree: Tree, consumers: Sequence[Consumer], demands: Sequence[tuple[FeedDemand, FeedDemand]]
) -> tuple[Flow, Flow, Flow, Flow, Flow]:
    """Racks, their peaks, both again with what has an entry of its own and known losses; batteries.

    A battery is charged in each state: all have been discharged by the outage before it.
    """
    racks = Flow(tree, [demand for demand, _ in demands])
    peaks = Flow(tree, [peak for _, peak in demands])
    consumed = {c.name: c.power for c in consumers if c.fed_by and c.power is not None}
    losses = losses_of(tree)
    beside = {name: s.recharge for name, s in tree.sources.items() if s.recharge is not None}
    charging = Flow(tree, (), draws=Draws(losses.gain, beside))
    if not consumed and not losses.gain:
        return racks, peaks, racks, peaks, charging
    return (
        racks,
        peaks,
        Flow(tree, [demand for demand, _ in demands], consumed, losses),
        Flow(tree, [peak for _, peak in demands], consumed, losses),
        charging,
    )


def _batteries(tree: Tree) -> Mapping[str, tuple[str, ...]]:
    """The UPSs that hang on each source, itself not counted, by what may feed them."""
    found: dict[str, list[str]] = {name: [] for name in tree.sources}
    for name, source in tree.sources.items():
        if source.kind == "ups":
            for above in tree.ancestors(name) - {name}:
                found[above].append(name)
    return {name: tuple(below) for name, below in found.items()}


def _demands(cls: AssignedRacks, rack: Rack, outages: Outages) -> tuple[FeedDemand, FeedDemand]:
    """The rack's draw on its feeds, and its peak, for every set of feeds that one lost source kills."""
    sources = tuple(feed.source for feed in rack.group.feeds)
    normal, peak = rack.feed_draws(frozenset())
    without = {dead: rack.feed_draws(dead) for dead in outages.dead_feeds(sources)}
    return (
        FeedDemand(
            sources, len(cls.racks), normal, {d: draws for d, (draws, _) in without.items()}
        ),
        FeedDemand(sources, len(cls.racks), peak, {d: peaks for d, (_, peaks) in without.items()}),
    )


def _legs(
    tree: Tree, classes: Sequence[AssignedRacks], built: Sequence[Rack]
) -> Mapping[str, Legs | None]:
    """Load of each line of every source; the start line is rotated from rack to rack."""
    found: dict[str, Legs | None] = dict.fromkeys(tree.order, (0.0, 0.0, 0.0))
    for cls, rack in zip(classes, built, strict=True):
        turns = [sum(1 for p in cls.positions if p % 3 == turn) for turn in range(3)]
        for load, circuit in zip(rack.normal, rack.circuits, strict=True):
            name = rack.group.feeds[circuit.feed].source
            for turn, times in enumerate(turns):
                legs = None if load.legs is None else rotate(load.legs, turn)
                found[name] = _add_legs(found[name], legs, times)
    for name in tree.order:
        if parents := tree.parents[name]:
            found[parents[0]] = _add_legs(found[parents[0]], found[name], 1)
    return found


def _add_legs(total: Legs | None, legs: Legs | None, times: int) -> Legs | None:
    return None if total is None or legs is None else add_legs(total, legs, times)
