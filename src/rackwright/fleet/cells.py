"""Cells of equal nodes that a power budget treats alike, and the load of each cell on the power sources.

A cell has the nodes with the same product, job class and feeds. As in the plan, a device divides its power equally among
its remaining supplies after the loss of feeds. So the load of every source is linear in the power of the cells.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import NamedTuple

from rackwright.model.hardware import fact_value
from rackwright.plan.expansion import SitePlan
from rackwright.plan.power.demand import FeedDemand, FeedWatts
from rackwright.plan.power.distribution import PowerTree
from rackwright.plan.records.racks import POWERED


@dataclass(frozen=True)
class Cell:
    """Equal nodes with the same class of jobs.

    Attributes:
        group: name of the node group.
        job_class: class of the jobs on the nodes.
        sources: source of each feed.
        loop: coolant loop of the racks; None without one.
        supplies: number of power supplies on each feed.
        units: names of the hosts of each unit.
        full_w: maximum input power of one unit, in W.
        least_w: maximum input power of one unit with its accelerators at their lowest limit, in W.
            None if the unit cannot be limited.
        accelerators: number of accelerators of one unit.
        limits: lowest and highest power limit of one accelerator, in W; None if ``least_w`` is None.
    """

    group: str
    job_class: str
    sources: tuple[str, ...]
    loop: str | None
    supplies: tuple[int, ...]
    units: tuple[tuple[str, ...], ...]
    full_w: float
    least_w: float | None
    accelerators: int
    limits: tuple[float, float] | None

    @property
    def hosts(self) -> tuple[str, ...]:
        """Names of all hosts of the cell."""
        return tuple(host for unit in self.units for host in unit)

    def power(self, share: float) -> float:
        """Return the power of one unit in W, at ``share`` (0 to 1) of the range from least to full power."""
        if self.least_w is None:
            return self.full_w
        return self.least_w + share * (self.full_w - self.least_w)

    def limit(self, share: float) -> float | None:
        """Return the power limit of one accelerator in W at ``share``; None if it cannot be limited."""
        if self.limits is None:
            return None
        low, high = self.limits
        return low + share * (high - low)

    def demand(self, share: float, dead: AbstractSet[frozenset[int]]) -> FeedDemand:
        """Return the load of the cell on its feeds, normally and after the loss of each set in ``dead``."""
        power = self.power(share)
        return FeedDemand(
            self.sources,
            len(self.units),
            self._draw(power, frozenset()),
            {lost: self._draw(power, lost) for lost in dead},
        )

    def _draw(self, power: float, lost: frozenset[int]) -> FeedWatts:
        alive = sum(count for feed, count in enumerate(self.supplies) if feed not in lost)
        if not alive:
            return (0.0,) * len(self.supplies)
        return tuple(
            0.0 if feed in lost else power * count / alive
            for feed, count in enumerate(self.supplies)
        )


@dataclass(frozen=True)
class SiteCells:
    """Powered devices in the racks of a site.

    Attributes:
        nodes: cells of nodes.
        others: cells of other devices, which cannot be limited.
        unknown: missing facts about racks; no budget can be proven unless this is empty.
    """

    nodes: tuple[Cell, ...]
    others: tuple[Cell, ...]
    unknown: tuple[str, ...]


def site_cells(
    site: SitePlan, racked: Mapping[str, Mapping[int, tuple[str, ...]]], classes: Mapping[str, str]
) -> SiteCells:
    """Return the cells of a site.

    Args:
        site: plan of the site.
        racked: names of the hosts of each device, by rack and slot.
        classes: job class of each host; absent hosts are ``idle``.
    """
    nodes: dict[_Key, list[tuple[str, ...]]] = {}
    others: dict[_Key, int] = {}
    unknown: dict[str, None] = {}
    for racks in site.racks:
        keys = []
        for slot, device in enumerate(racks.kind.devices):
            if device.kind not in POWERED or device.power_w == 0:
                continue
            if device.power_w is None or not device.psus:
                unknown[f"power supplies or power of {device.entry}"] = None
                continue
            key = _Key(
                device.group, device.psus, device.power_w, racks.sources, racks.kind.loop, ""
            )
            keys.append((slot, device.kind == "node", key))
        for name in racks.names:
            own = racked.get(name, {})
            for slot, is_node, key in keys:
                if is_node and slot in own:
                    hosts = own[slot]
                    named = key._replace(job_class=_class_of(hosts, classes))
                    nodes.setdefault(named, []).append(hosts)
                else:
                    others[key] = others.get(key, 0) + 1
    return SiteCells(
        tuple(_cell(key, units, *_limits(site, key)) for key, units in nodes.items()),
        tuple(_cell(key, [()] * count) for key, count in others.items()),
        tuple(unknown),
    )


class _Key(NamedTuple):
    """Key by which nodes are grouped into cells."""

    group: str
    supplies: tuple[int, ...]
    power_w: float
    sources: tuple[str, ...]
    loop: str | None
    job_class: str


def _class_of(hosts: Sequence[str], classes: Mapping[str, str]) -> str:
    """Return the class of a unit: that of its hosts with jobs, the first by name of several."""
    found = [classes[host] for host in hosts if host in classes]
    return min(found) if found else IDLE


IDLE = "idle"
"""Job class of nodes without a job."""


def _limits(site: SitePlan, key: _Key) -> tuple[int, tuple[float, float] | None]:
    """Return the accelerators of a unit, and the lowest and highest limit of one in W if both are known."""
    group = site.groups_by_name[key.group]
    board = group.product.accelerators
    if board is None:
        return 0, None
    tdp = fact_value(board.tdp)
    least, below = group.least_cap_w, group.without_accelerators_w
    if least is None or below is None or tdp is None:
        return board.count, None
    # Limits apply to one accelerator, the plan has the power of a node: subtract the rest of the node.
    low = (least - below) / board.count
    high = min(float(tdp), (key.power_w - below) / board.count)
    return board.count, (low, high) if high > low else None


def _cell(
    key: _Key,
    units: Sequence[tuple[str, ...]],
    accelerators: int = 0,
    limits: tuple[float, float] | None = None,
) -> Cell:
    # Only the accelerators can be limited: everything else keeps its full power.
    least = None if limits is None else key.power_w - accelerators * (limits[1] - limits[0])
    return Cell(
        group=key.group,
        job_class=key.job_class,
        sources=key.sources,
        loop=key.loop,
        supplies=key.supplies,
        units=tuple(units),
        full_w=key.power_w,
        least_w=least,
        accelerators=accelerators,
        limits=limits,
    )


def dead_feeds(
    cells: Sequence[Cell], tree: PowerTree
) -> Mapping[tuple[str, ...], set[frozenset[int]]]:
    """Return the sets of feeds that one loss disconnects, by the sources of the feeds."""
    return {one: tree.outages.dead_feeds(one) for one in dict.fromkeys(c.sources for c in cells)}


def reach(cells: Sequence[Cell], tree: PowerTree) -> Iterator[AbstractSet[str]]:
    """Yield the sources that may carry load of each cell."""
    known: dict[tuple[str, ...], AbstractSet[str]] = {}
    for cell in cells:
        if cell.sources not in known:
            known[cell.sources] = {name for one in cell.sources for name in tree.ancestors(one)}
        yield known[cell.sources]
