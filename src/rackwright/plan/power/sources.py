"""The power sources of a site as records: what each carries, with cooling and losses, and at peaks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from rackwright.model.onprem import OnPremSite
from rackwright.plan.base import Path
from rackwright.plan.power.consumers import Consumer
from rackwright.plan.power.demand import Draws, FedRacks, FeedDemand, plus
from rackwright.plan.power.distribution import PowerTree, add_legs, capacity_of, idle_sources
from rackwright.plan.power.electrical import Legs, line_deviation, rotate
from rackwright.plan.power.flows import Flow, LoadsAfterLoss, judge_flows
from rackwright.plan.power.generators import largest_steps
from rackwright.plan.power.overhead import Overhead, losses_of, overhead_of, unknown_loads
from rackwright.plan.power.source_loss import Outages
from rackwright.plan.records.power import SourceLoad


class Sources(NamedTuple):
    """The electrical side of a site above its racks.

    Attributes:
        tree: what hangs on what.
        rows: the record of each source.
        overhead: what the site draws beside its racks.
        after_loss: what each source carries after the loss of another.
    """

    tree: PowerTree
    rows: tuple[SourceLoad, ...]
    overhead: Overhead
    after_loss: LoadsAfterLoss


def plan_sources(
    site: OnPremSite,
    path: Path,
    consumers: tuple[Consumer, ...],
    classes: Sequence[FedRacks],
    power: float | None,
) -> Sources:
    """Return the sources of ``site``.

    Args:
        site: the site.
        path: its place in the blueprint.
        consumers: what draws power beside the racks.
        classes: its racks by class.
        power: what all of them draw, in W; None where unknown.
    """
    fed = {consumer.name: consumer.fed_by for consumer in consumers if consumer.fed_by}
    tree = PowerTree(site.power.sources, (*path, "power", "sources"), fed)
    demands = [_demands(cls, tree.outages) for cls in classes]
    flows = _flows(tree, consumers, demands)
    loose = _uncounted(tree, classes)
    declared = {name: plus(load, loose.drawn[name]) for name, load in flows[2].normal.items()}
    overhead = overhead_of(site, path, tree, consumers, declared, power)
    unknown = unknown_loads(tree, consumers, overhead.carriers)

    def load(name: str, loads: Sequence[float | None]) -> float | None:
        return plus(loads[0], loose.racks[name])

    def facility(name: str, loads: Sequence[float | None]) -> float | None:
        if name in unknown:
            return None
        return overhead.of(name, plus(loads[2], loose.drawn[name]), load(name, loads))

    def peak(name: str, loads: Sequence[float | None]) -> float | None:
        if name in unknown:
            return None
        return overhead.of(name, plus(loads[3], loose.peaks[name]), load(name, loads))

    def charging(name: str, loads: Sequence[float | None]) -> float | None:
        if name in silent:
            return None
        whole = facility(name, loads)
        return plus(whole, loads[4]) if batteries[name] else whole

    batteries = _batteries(tree)
    unsaid = {name for name, source in tree.sources.items() if source.recharge is None}
    silent = {name for name, below in batteries.items() if not unsaid.isdisjoint(below)}
    carried, whole, peaks, charged = judge_flows(tree, flows, (load, facility, peak, charging))
    steps = largest_steps(
        tree,
        [demand for demand, _ in demands],
        overhead,
        unknown.keys(),
        lambda name: (loose.racks[name], loose.drawn[name]),
    )
    legs = _legs(tree, classes)
    idle = idle_sources(site)
    rows = tuple(
        SourceLoad(
            source=name,
            kind=source.kind,
            path=tree.place(name),
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
            else line_deviation(lines) + loose.racks[name] * 2 / 3,  # all of it on one line
            ancestors=tuple(sorted(tree.ancestors(name))),
            missing_parents=source.missing_parents,
            idle=name in idle,
        )
        for name, source in tree.sources.items()
    )
    return Sources(
        tree, rows, overhead, LoadsAfterLoss(tree, (flows[0], flows[0], flows[2]), facility)
    )


class _Uncounted(NamedTuple):
    """Draw of devices with an unknown number of supplies on each source at most, in W.

    Attributes:
        racks: what they draw.
        drawn: the same with known losses on the way.
        peaks: their peaks with those; None where one is unknown.
    """

    racks: Mapping[str, float]
    drawn: Mapping[str, float]
    peaks: Mapping[str, float | None]


def _uncounted(tree: PowerTree, classes: Sequence[FedRacks]) -> _Uncounted:
    """Return each such device in full on every source that may carry a feed of its rack, and once on each.

    So the sum is right where all feeds meet, whatever is lost, and no more than that below.
    """
    racks = dict.fromkeys(tree.order, 0.0)
    drawn = dict.fromkeys(tree.order, 0.0)
    peaks: dict[str, float | None] = dict.fromkeys(tree.order, 0.0)
    gains = losses_of(tree).gain
    for cls in classes:
        if cls.uncounted is None:
            continue
        each, peak = cls.uncounted
        power = cls.racks * each
        reached = dict.fromkeys(cls.sources, 1.0)
        for name in tree.order:  # children before parents
            if name not in reached:
                continue
            here = reached[name]
            racks[name] += power
            drawn[name] += power * here
            peaks[name] = plus(peaks[name], None if peak is None else peak * cls.racks * here)
            for parent in tree.parents[name]:
                above = here * gains.get(name, 1.0)
                reached[parent] = max(reached.get(parent, 0.0), above)
    return _Uncounted(racks, drawn, peaks)


def _flows(
    tree: PowerTree, consumers: Sequence[Consumer], demands: Sequence[tuple[FeedDemand, FeedDemand]]
) -> tuple[Flow, Flow, Flow, Flow, Flow]:
    """Return the racks, their peaks, both again with what has an entry of its own and known losses; batteries.

    A battery is charged in each state: all have been discharged by the outage before it. Where no UPS
    says how fast, there is no such flow and that of the racks stands in its place, which is not read.
    """
    drawn, peaking = [demand for demand, _ in demands], [peak for _, peak in demands]
    racks, peaks = Flow(tree, drawn), Flow(tree, peaking)
    consumed = {c.name: c.power for c in consumers if c.fed_by and c.power is not None}
    losses = losses_of(tree)
    beside = {name: s.recharge for name, s in tree.sources.items() if s.recharge is not None}
    charging = Flow(tree, (), draws=Draws(losses.gain, beside)) if beside else racks
    if not consumed and not losses.named:
        return racks, peaks, racks, peaks, charging
    return (
        racks,
        peaks,
        Flow(tree, drawn, consumed, losses),
        Flow(tree, peaking, consumed, losses),
        charging,
    )


def _batteries(tree: PowerTree) -> Mapping[str, tuple[str, ...]]:
    """Return the UPSs that hang on each source, itself not counted, by what may feed them."""
    found: dict[str, list[str]] = {name: [] for name in tree.sources}
    for name, source in tree.sources.items():
        if source.kind == "ups":
            for above in tree.ancestors(name) - {name}:
                found[above].append(name)
    return {name: tuple(below) for name, below in found.items()}


def _demands(cls: FedRacks, outages: Outages) -> tuple[FeedDemand, FeedDemand]:
    """Return the draw on the feeds, and its peak, for every set of feeds that one lost source kills."""
    sources = cls.sources
    normal, peak = cls.draws(frozenset())
    without = {dead: cls.draws(dead) for dead in outages.dead_feeds(sources)}
    return (
        FeedDemand(
            sources,
            cls.racks,
            normal,
            {dead: draws for dead, (draws, _) in without.items()},
            lambda dead: cls.draws(dead)[0],
        ),
        FeedDemand(
            sources,
            cls.racks,
            peak,
            {dead: peaks for dead, (_, peaks) in without.items()},
            lambda dead: cls.draws(dead)[1],
        ),
    )


def _legs(tree: PowerTree, classes: Sequence[FedRacks]) -> Mapping[str, Legs | None]:
    """Load of each line of every source; the start line is rotated from rack to rack."""
    found: dict[str, Legs | None] = dict.fromkeys(tree.order, (0.0, 0.0, 0.0))
    for cls in classes:
        for name, own in cls.circuits:
            for turn, times in enumerate(cls.turns):
                legs = None if own is None else rotate(own, turn)
                found[name] = _add_legs(found[name], legs, times)
    for name in tree.order:
        if parents := tree.parents[name]:
            found[parents[0]] = _add_legs(found[parents[0]], found[name], 1)
    return found


def _add_legs(total: Legs | None, legs: Legs | None, times: int) -> Legs | None:
    return None if total is None or legs is None else add_legs(total, legs, times)
