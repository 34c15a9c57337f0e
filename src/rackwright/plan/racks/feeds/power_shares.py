"""Devices that make up the load of a circuit or a source, normally and after a loss."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import TYPE_CHECKING

from rackwright.plan.base import Contributor
from rackwright.plan.expansion import SitePlan
from rackwright.plan.records.racks import POWERED, RackClass, RackKind

if TYPE_CHECKING:
    from rackwright.plan.power.distribution import PowerTree
    from rackwright.plan.power.overhead import Overhead


def circuit_contributors(
    racks: RackClass, feed: str, lost: str | None = None
) -> tuple[Contributor, ...]:
    """Return the load of each kind of device of one rack on ``feed`` while feed ``lost`` is dead, in W."""
    feeds = [row.feed for row in racks.kind.feeds]
    dead = {feeds.index(lost)} if lost in feeds else set()
    return _merge(_shares(racks.kind, {feeds.index(feed)}, dead, 1))


def source_contributors(
    site: SitePlan, source: str, lost: str | None = None
) -> tuple[Contributor, ...]:
    """Return the load of each kind of device on ``source`` while ``lost`` is dead, in W per device."""
    tree = site.power.tree
    gone = tree.dead(lost)
    found: list[Contributor] = []
    # Of thousands of sources each has few racks below it.
    for racks in site.racks_below(source):
        dead = {n for n, name in enumerate(racks.sources) if name in gone}
        on = {n for n, name in enumerate(racks.sources) if source in _path(tree, name, gone)}
        found += _shares(racks.kind, on - dead, dead, racks.count)
        found += _uncounted(racks.kind, racks.count)
    return _merge(found)


def with_overhead(shares: Iterable[Contributor], overhead: Overhead) -> tuple[Contributor, ...]:
    """Return ``shares`` with the cooling and the losses beyond the entries that each of them causes."""
    each = 1 + (overhead.beyond or 0.0)
    return tuple(replace(share, each=share.each * each) for share in shares)


def plant_contributors(
    site: SitePlan, source: str | None = None, lost: str | None = None
) -> tuple[Contributor, ...]:
    """Return the load beside the racks, of the site or on ``source`` while ``lost`` is dead, in W."""
    tree = site.power.tree
    gone = tree.dead(lost)
    below = frozenset[str]() if source is None else tree.below(source)
    return tuple(
        Contributor(c.name, c.count, c.each)
        for c in site.power.overhead.consumers
        if c.each
        and c.fed_by
        and c.name not in gone
        and (source is None or (c.name in below and source in _path(tree, c.name, gone)))
    )


def _path(tree: PowerTree, name: str, gone: AbstractSet[str]) -> Iterable[str]:
    """Yield the sources that carry the load of ``name`` while those of ``gone`` are dead, upwards."""
    current: str | None = name
    while current is not None:
        yield current
        current = next((parent for parent in tree.parents[current] if parent not in gone), None)


def _shares(
    kind: RackKind, feeds: AbstractSet[int], dead: set[int], racks: int
) -> list[Contributor]:
    """Return the load of each device of the racks through ``feeds`` together, one contributor a device."""
    found = []
    for device in kind.devices:
        psus = device.psus
        if psus is None or device.power_w is None:
            continue
        alive = sum(count for n, count in enumerate(psus) if n not in dead)
        here = sum(psus[feed] for feed in feeds)
        if alive and here and device.power_w:
            found.append(Contributor(device.entry, racks, device.power_w * here / alive))
    return found


def _uncounted(kind: RackKind, racks: int) -> list[Contributor]:
    """Return the load that may hang on any feed, in full, in W."""
    return [
        Contributor(device.entry, racks, device.power_w)
        for device in kind.devices
        if device.psus is None and device.kind in POWERED and device.power_w
    ]


def _merge(found: Iterable[Contributor]) -> tuple[Contributor, ...]:
    """Return equal shares added up, the largest total first."""
    counts: dict[tuple[str, float], int] = {}
    for item in found:
        key = (item.name, round(item.each, 6))
        counts[key] = counts.get(key, 0) + item.count
    merged = [Contributor(name, count, each) for (name, each), count in counts.items()]
    return tuple(sorted(merged, key=lambda c: (-c.total, c.name)))
