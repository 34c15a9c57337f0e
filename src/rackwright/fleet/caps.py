"""Power limits of accelerators that keep a site within a power budget, also after the loss of any one source.

Idle nodes are limited first, then the classes of jobs in their order. Within a class, all nodes behind the same overload
are lowered by the same share of the range down to their lowest limit. The limits are computed from the upper bounds of the
plan, and then checked against every loss once more, so only proven limits are sent.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from rackwright.fleet.cells import IDLE, Cell, SiteCells, dead_feeds, reach, site_cells
from rackwright.plan.expansion import SitePlan
from rackwright.plan.power.distribution import PowerTree
from rackwright.plan.power.flows import Flow, FlowCase, judge_flows
from rackwright.plan.power.overhead import losses_of

NOISE = 1 + 1e-9
"""Relative tolerance for the rounding of sums when loads are compared with limits."""
SOURCE, SITE, LOOP = "source", "site", "loop"
Limited = tuple[str, str]
"""Kind and name of a source, site or loop with a limit."""


@dataclass(frozen=True, slots=True)
class CapClass:
    """A class of jobs.

    Attributes:
        name: name of the class.
        protected: True if its nodes are never limited.
    """

    name: str
    protected: bool = False


@dataclass(frozen=True)
class PowerBudget:
    """Temporary power budget of a site.

    Attributes:
        site_w: limit of the power of all racks with known distribution losses, in W; None for no limit.
        sources_w: limits of single sources, in W.
        loops_w: limits of the power of all racks on single coolant loops, in W.
        lost: sources that are already lost.
        after_next_loss: False to prove only the present state, for sites that cannot survive another loss.
        reason: reason of the budget, for the journal.
    """

    site_w: float | None = None
    sources_w: Mapping[str, float] = field(default_factory=dict)
    loops_w: Mapping[str, float] = field(default_factory=dict)
    lost: frozenset[str] = frozenset()
    after_next_loss: bool = True
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Cap:
    """Power limit of the accelerators of hosts with the same node group and class of jobs.

    Attributes:
        job_class: class of the jobs on the hosts.
        group: node group of the hosts.
        hosts: names of the hosts.
        limit_w: limit of one accelerator, in W, rounded down to a watt.
        full_w: limit of one accelerator without a budget, in W.
    """

    job_class: str
    group: str
    hosts: tuple[str, ...]
    limit_w: int
    full_w: float


@dataclass(frozen=True, slots=True)
class LoadCheck:
    """Load of a source, a loop or the site under the caps.

    Attributes:
        kind: ``source``, ``loop`` or ``site``.
        before_w: worst-case load without caps, in W; None if unknown.
        after_w: worst-case load with caps, in W; None if unknown.
        limit_w: limit of the load, in W; None if unknown.
        lost: source whose loss causes the worst case; None for the normal state.
    """

    kind: str
    name: str
    before_w: float | None
    after_w: float | None
    limit_w: float | None
    lost: str | None

    @property
    def fits(self) -> bool:
        """True if the load is known and within its limit."""
        if self.after_w is None or self.limit_w is None:
            return False
        return self.after_w <= self.limit_w * NOISE


@dataclass(frozen=True)
class CapPlan:
    """Power limits that keep a budget, with the proof.

    Attributes:
        caps: limits of hosts; empty if no load exceeds its limit.
        checks: load of every source, loop and site with a limit.
        refused: reason not to send any limit; empty if the budget is kept.
        unknown: missing facts without which the budget cannot be proven.
    """

    caps: tuple[Cap, ...]
    checks: tuple[LoadCheck, ...]
    refused: str = ""
    unknown: tuple[str, ...] = ()

    @property
    def hosts(self) -> int:
        """Number of hosts with a limit."""
        return sum(len(cap.hosts) for cap in self.caps)


def plan_caps(
    site: SitePlan,
    racked: Mapping[str, Mapping[int, tuple[str, ...]]],
    budget: PowerBudget,
    job_classes: Mapping[str, str],
    order: Sequence[CapClass],
) -> CapPlan:
    """Return the power limits that keep ``budget``.

    Args:
        site: plan of the site.
        racked: names of the hosts of each device, by rack and slot.
        budget: power budget to keep.
        job_classes: class of the jobs on each host; hosts that are absent are idle.
        order: classes in the order in which they are limited; absent classes are protected.
    """
    named = {one.name for one in order}
    classes = [CapClass(IDLE)] * (IDLE not in named) + list(order)
    return _Search(site, site_cells(site, racked, job_classes), budget, classes).run()


@dataclass
class _Loads:
    """Worst-case loads in W by source, site and loop, each with the lost source that causes it."""

    worst: dict[Limited, float | None]
    lost: dict[Limited, str | None]


class _Search:
    def __init__(
        self, site: SitePlan, cells: SiteCells, budget: PowerBudget, classes: Sequence[CapClass]
    ) -> None:
        self.cells, self.budget, self.classes = cells, budget, classes
        self.tree = _remaining(site, budget.lost)
        lost = set(site.power.tree.sources) - set(self.tree.sources)
        self.nodes = [rest for cell in cells.nodes if (rest := _without(cell, lost))]
        self.others = [rest for cell in cells.others if (rest := _without(cell, lost))]
        # Only sets of feeds that one loss disconnects are possible: all subsets of feeds would be exponential.
        self.dead = dead_feeds([*self.nodes, *self.others], self.tree)
        self.reach = list(reach(self.nodes, self.tree))
        self.draws = losses_of(self.tree)
        self.overhead = site.power.overhead
        self.consumed = {
            one.name: one.power
            for one in self.overhead.consumers
            if one.fed_by and one.power is not None and one.name in self.tree.parents
        }
        # Without other consumers and losses, the flow of racks alone equals the declared flow: compute it once.
        self.is_plain = not self.consumed and not self.draws.named
        self.fixed = [cell.demand(1.0, self.dead[cell.sources]) for cell in self.others]
        self.limits = self._limits(site)
        self.unknown = self._unknown(site)

    def _limits(self, site: SitePlan) -> dict[Limited, float]:
        rows = {row.source: row for row in site.power.sources}
        found: dict[Limited, float] = {}
        for name in self.tree.sources:
            # A budget can only tighten the capacity of a source: a higher one would not be safe.
            limits = [rows[name].capacity_w, self.budget.sources_w.get(name)]
            known = [value for value in limits if value is not None]
            if known:
                found[SOURCE, name] = min(known)
        if self.budget.site_w is not None:
            found[SITE, site.name] = self.budget.site_w
        for loop, watts in self.budget.loops_w.items():
            found[LOOP, loop] = watts
        return found

    def _unknown(self, site: SitePlan) -> tuple[str, ...]:
        names = self.tree.sources
        missing = [*self.cells.unknown]
        missing += [f"capacity of '{name}'" for name in names if (SOURCE, name) not in self.limits]
        missing += [f"the source that feeds '{name}'" for name in self.tree.unfed]
        missing += self.overhead.missing
        missing += [f"source '{name}'" for name in self.budget.sources_w if name not in names]
        loops = {cell.loop for cell in self.nodes}
        missing += [
            f"racks on the loop '{name}'" for name in self.budget.loops_w if name not in loops
        ]
        missing += [
            f"source '{name}'" for name in sorted(self.budget.lost - set(site.power.tree.sources))
        ]
        return tuple(missing)

    def loads(self, shares: Sequence[float], keys: Collection[Limited] | None = None) -> _Loads:
        """Return the loads with each cell of nodes at its share, for ``keys`` or everything with a limit.

        Losses are evaluated only if ``keys`` include a source that must survive them: they take most of the time.
        """
        keys = self.limits if keys is None else keys
        demands = [
            *self.fixed,
            *(
                cell.demand(share, self.dead[cell.sources])
                for cell, share in zip(self.nodes, shares, strict=True)
            ),
        ]
        declared = Flow(self.tree, demands, self.consumed, self.draws)
        racks = declared if self.is_plain else Flow(self.tree, demands)

        def value(name: str, loads: Sequence[float | None]) -> float | None:
            return self.overhead.of(name, loads[0], loads[1])

        cases: Mapping[str, FlowCase] = {}
        if any(kind == SOURCE and self._takes_losses(name) for kind, name in keys):
            (cases,) = judge_flows(self.tree, (declared, racks), (value,))
        found = _Loads({}, {})
        for key in keys:
            kind, name = key
            found.lost[key] = None
            if kind == SOURCE and self._takes_losses(name):
                found.worst[key], found.lost[key] = cases[name].worst, cases[name].lost
            elif kind == SOURCE:
                found.worst[key] = value(name, (declared.normal[name], racks.normal[name]))
            elif kind == SITE:
                roots = [
                    value(one, (declared.normal[one], racks.normal[one]))
                    for one in self.tree.sources
                    if not self.tree.parents[one]
                ]
                known = [one for one in roots if one is not None]
                found.worst[key] = math.fsum(known) if len(known) == len(roots) else None
            else:
                found.worst[key] = self._on_loop(name, shares)
        return found

    def _takes_losses(self, name: str) -> bool:
        """Return True if a source must also carry its load after the loss of another source."""
        return self.budget.after_next_loss and self.tree.sources[name].redundancy != "N"

    def _on_loop(self, name: str, shares: Sequence[float]) -> float:
        nodes = zip(self.nodes, shares, strict=True)
        return math.fsum(
            cell.power(share) * len(cell.units)
            for cell, share in (*nodes, *((cell, 1.0) for cell in self.others))
            if cell.loop == name
        )

    def above(self, loads: _Loads) -> list[Limited]:
        """Return the sources, sites and loops above their limits."""
        return [
            key
            for key, load in loads.worst.items()
            if load is not None and load > self.limits[key] * NOISE
        ]

    def concerns(self, index: int, key: Limited) -> bool:
        """Return True if the power of a cell is part of the load that ``key`` limits."""
        kind, name = key
        if kind == SITE:
            return True
        return self.nodes[index].loop == name if kind == LOOP else name in self.reach[index]

    def run(self) -> CapPlan:
        """Lower the classes one after the other until nothing is above its limit."""
        full = [1.0] * len(self.nodes)
        before = self.loads(full)
        # One unknown load makes every sum above it unknown, so no limit could be proven.
        if self.unknown:
            return self._plan(full, before, before, unknown=self.unknown)
        shares, loads = full, before
        over = self.above(before)  # loads only decrease: keys within their limits stay within them
        for one in self.classes:
            if over and not one.protected:
                shares = self._lower(one.name, shares, loads, over)
                loads = self.loads(shares, over)
                over = self.above(loads)
        # GPUs accept whole watts: round down, and prove the limits that are actually sent.
        rounded = [
            self._rounded(cell, share) for cell, share in zip(self.nodes, shares, strict=True)
        ]
        after = self.loads(rounded)
        return self._plan(rounded, before, after)

    def _lower(
        self, name: str, shares: Sequence[float], loads: _Loads, over: Sequence[Limited]
    ) -> list[float]:
        """Return the shares with the nodes of a class lowered as far as each overload requires.

        A worst case is the maximum of linear functions of the share, hence convex, and lies below its chord. So the
        share at which the chord meets the limit is safe.
        """
        mine = [
            index
            for index, cell in enumerate(self.nodes)
            if cell.job_class == name
            and cell.least_w is not None
            and any(self.concerns(index, key) for key in over)
        ]
        lowest = list(shares)
        for index in mine:
            lowest[index] = 0.0
        if not mine:
            return lowest
        least = self.loads(lowest, over)
        wanted: dict[Limited, float] = {}
        for key in over:
            high, low, limit = loads.worst[key], least.worst[key], self.limits[key]
            # This class cannot remove the overload: lower it completely, and the next class as far as needed.
            if high is None or low is None or low >= limit or high <= low:
                wanted[key] = 0.0
            else:
                wanted[key] = max(0.0, (limit - low) / (high - low))
        made = list(shares)
        for index in mine:
            made[index] = min(wanted[key] for key in over if self.concerns(index, key))
        return made

    def _rounded(self, cell: Cell, share: float) -> float:
        """Return the share for the limit rounded down to a whole watt."""
        limit = cell.limit(share)
        if limit is None or cell.limits is None or share >= 1.0:
            return share
        low, high = cell.limits
        return max(0.0, (math.floor(limit + 1e-6) - low) / (high - low))

    def _plan(
        self,
        shares: Sequence[float],
        before: _Loads,
        after: _Loads,
        *,
        unknown: tuple[str, ...] = (),
    ) -> CapPlan:
        checks = tuple(
            LoadCheck(
                kind,
                name,
                before.worst[kind, name],
                after.worst[kind, name],
                limit,
                after.lost[kind, name],
            )
            for (kind, name), limit in self.limits.items()
        )
        if unknown:
            return CapPlan((), checks, f"not proven: {unknown[0]} is unknown", unknown)
        over = [check for check in checks if not check.fits]
        if over:
            first = over[0]
            floor = "unknown" if first.after_w is None else f"{first.after_w / 1000:,.1f} kW"
            after_loss = "" if first.lost is None else f" and '{first.lost}' lost"
            target = 0.0 if first.limit_w is None else first.limit_w
            return CapPlan(
                (),
                checks,
                f"{first.kind} {first.name} draws {floor} with every limitable node at its lowest "
                f"limit{after_loss}; the target is {target / 1000:,.1f} kW: power nodes off, or raise the "
                "target",
            )
        caps = [
            Cap(cell.job_class, cell.group, cell.hosts, math.floor(limit + 1e-6), cell.limits[1])
            for cell, share in zip(self.nodes, shares, strict=True)
            if share < 1.0 and cell.limits is not None and (limit := cell.limit(share)) is not None
        ]
        return CapPlan(tuple(caps), checks)


def _remaining(site: SitePlan, lost: frozenset[str]) -> PowerTree:
    """Return the power tree without lost sources and the sources that only they feed."""
    tree = site.power.tree
    if not lost:
        return tree
    # Walk from the utility down: a source without a remaining parent is lost as well.
    alive = dict.fromkeys(lost, False)
    for name in reversed(tree.order):
        parents = tree.parents[name]
        alive.setdefault(name, not parents or any(alive[parent] for parent in parents))
    sources = [
        source.model_copy(update={"fed_by": tuple(one for one in source.fed_by if alive.get(one))})
        for name, source in tree.sources.items()
        if alive[name]
    ]
    consumers = {
        name: tuple(one for one in parents if alive[one])
        for name, parents in tree.parents.items()
        if name not in tree.sources and alive[name]
    }
    return PowerTree(sources, tree.path, consumers)


def _without(cell: Cell, lost: set[str]) -> Cell | None:
    """Return a cell without its feeds from lost sources; None if no feed remains."""
    feeds = [feed for feed, source in enumerate(cell.sources) if source not in lost]
    if len(feeds) == len(cell.sources):
        return cell
    supplies = tuple(cell.supplies[feed] for feed in feeds)
    if not any(supplies):
        return None
    return Cell(
        **{
            **{name: getattr(cell, name) for name in cell.__dataclass_fields__},
            "sources": tuple(cell.sources[feed] for feed in feeds),
            "supplies": supplies,
        }
    )
