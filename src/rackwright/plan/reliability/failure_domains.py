"""Hosts of a node group that the loss of one rack, power source, leaf switch or CDU takes.

The work grows with rack classes, sources and runs of equal hosts, not with hosts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Literal

from rackwright.model.storage import ParallelFileSystem
from rackwright.plan.base import Path
from rackwright.plan.expansion import SitePlan
from rackwright.plan.fabric.layout import Layout
from rackwright.plan.missing import Missing, of_product
from rackwright.plan.racks.feeds.shelves import SHELF_INLETS
from rackwright.plan.racks.heat_unknowns import missing_of_loop
from rackwright.plan.records.facility import LoopLoad
from rackwright.plan.records.racks import RackClass, RackDevice, RackKind

Kind = Literal["rack", "power source", "leaf", "CDU", "pump"]


@dataclass(frozen=True, slots=True)
class Loss:
    """The loss of one thing of a kind that takes most of a node group.

    Attributes:
        kind: what is lost.
        group: what it is, the same whichever one is the worst; like ``leaf of compute``.
        name: which one; like ``rack of c[01-08]``.
        taken: units of the group that are lost, or ports of it for a leaf; None when unknown.
        of: all of them.
        count: things of the kind that carry the group, None where it does not matter.
        missing: what would have to be known.
    """

    kind: Kind
    group: str
    name: str
    taken: float | None
    of: int
    count: int | None = None
    missing: tuple[str, ...] = ()

    @property
    def share(self) -> float | None:
        """Percent of the group that is taken."""
        return None if self.taken is None else 100 * self.taken / self.of


class FailureDomains:
    """The losses of a site; what they have in common is worked out once.

    Args:
        site: the site.
        ignored: kinds of power sources whose loss is not looked at.
    """

    def __init__(self, site: SitePlan, ignored: AbstractSet[str]) -> None:
        self._site = site
        self._ignored = ignored
        self._placed_by_group: dict[Path, dict[RackClass, list[RackDevice]]] = {}
        for racks in site.racks:
            for device in racks.kind.devices:
                if device.path is not None:
                    placed = self._placed_by_group.setdefault(device.path, {})
                    placed.setdefault(racks, []).append(device)
        self._tree = site.power.tree
        self._loops = {row.loop: row for row in site.cooling.loops}

    def losses(self, group: int) -> Iterator[Loss]:
        """Yield the worst loss of each kind for a node group, by its index."""
        placed = self._placed(group)
        of = self._site.groups[group].spec.count
        yield self._rack(placed, of)
        yield self._source(placed, of)
        yield from self._leaves(group)
        yield from self._cdus(placed, of)

    def racks_of(self, groups: Sequence[int]) -> int:
        """Return the racks that hold nodes of any of the groups."""
        classes = {racks for group in groups for racks in self._placed(group)}
        return sum(racks.count for racks in classes)

    def _placed(self, group: int) -> Mapping[RackClass, Sequence[RackDevice]]:
        """Return the devices of a group in one rack of each class."""
        return self._placed_by_group.get(self._site.groups[group].path, {})

    def _rack(self, placed: Mapping[RackClass, Sequence[RackDevice]], of: int) -> Loss:
        fullest = max(placed, key=lambda racks: len(placed[racks]))
        count = sum(racks.count for racks in placed)
        name = f"rack of {fullest.hostlist}"
        return Loss("rack", "rack", name, len(placed[fullest]), of, count=count)

    def _source(self, placed: Mapping[RackClass, Sequence[RackDevice]], of: int) -> Loss:
        """Return the worst source: nodes whose living power supplies are too few for them."""
        taken: dict[str, int] = {}
        unsure: dict[tuple[str, str, str], None] = {}
        for racks, rows in placed.items():
            sources = racks.sources
            losses = self._dead_feeds(sources)
            judged = {  # many losses kill the same feeds
                dead: self._fates(racks, rows, dead, len(sources)) for dead in set(losses.values())
            }
            off = {dead: fates.count(True) * racks.count for dead, fates in judged.items()}
            for lost, dead in losses.items():
                fates = judged[dead]
                taken[lost] = taken.get(lost, 0) + off[dead]
                if None in fates:
                    # A device can be uncertain because of a CDU: ask for the CDU's facts as well.
                    open_ = [r for r, fate in zip(rows, fates, strict=True) if fate is None]
                    open_ += _own_cdus(racks.kind)
                    unsure.update(
                        dict.fromkeys(
                            (row.entry, *_unsaid(row))
                            for row in open_
                            if is_off(row, dead, len(sources)) is None
                        )
                    )
        if not taken:
            return Loss("power source", "power source", "power source", 0, of)
        worst = max(taken, key=lambda name: taken[name])
        missing: tuple[str, ...] = tuple(of_product(*lacking) for lacking in sorted(unsure))
        above = {name for racks in placed for name in self._above(racks.sources)}
        if above.intersection(self._tree.unfed):
            missing += self._tree.missing
        known = None if missing else taken[worst]
        return Loss("power source", "power source", worst, known, of, missing=missing)

    def _fates(
        self, racks: RackClass, rows: Sequence[RackDevice], dead: AbstractSet[int], feeds: int
    ) -> Sequence[bool | None]:
        """Return for each device whether it stops when feeds die, by itself or with a CDU of its rack."""
        fates = [is_off(row, dead, feeds) for row in rows]
        stopped = [is_off(row, dead, feeds) for row in _own_cdus(racks.kind)]
        off = stopped.count(True)
        loop = self._loops.get(racks.kind.loop or "")
        # The loss of one CDU stops nothing if the others carry the rack.
        if off == 1 and len(stopped) > 1 and loop is not None and _carries_less_one(loop):
            off = 0
        if not off and None not in stopped:
            return fates
        # Coolant stops with the CDU, so that every device that needs it stops too.
        by_cdu = True if off else None
        return [
            fate if row.medium == "air" or fate else by_cdu
            for row, fate in zip(rows, fates, strict=True)
        ]

    def _dead_feeds(self, sources: Sequence[str]) -> dict[str, frozenset[int]]:
        """Return, by source that matters to a rack, the feeds, by index, that die with it."""
        found: dict[str, frozenset[int]] = {}
        for name in self._above(sources):
            dead = self._tree.outages.dead[name]
            lost = frozenset(n for n, source in enumerate(sources) if source in dead)
            if lost and self._tree.sources[name].kind not in self._ignored:
                found[name] = lost
        return found

    def _above(self, sources: Sequence[str]) -> Sequence[str]:
        found = dict.fromkeys(sources)
        for name in sources:
            found.update(dict.fromkeys(sorted(self._tree.ancestors(name))))
        return list(found)

    def _leaves(self, group: int) -> Iterator[Loss]:
        name = self._site.groups[group].name
        for fabric in self._site.fabrics:
            if (layout := fabric.layout) is not None:
                for index, hosts in enumerate(layout.hosts):
                    if hosts.group.name == name:
                        yield _leaf(layout, index, fabric.path)

    def _cdus(self, placed: Mapping[RackClass, Sequence[RackDevice]], of: int) -> Iterator[Loss]:
        """Yield the loss of a CDU: its loop stops if the other CDUs do not carry it."""
        on_loop: dict[str, int] = {}
        in_rack: dict[str, int] = {}
        for racks, rows in placed.items():
            loop = racks.kind.loop
            wet = sum(row.medium != "air" for row in rows)
            if loop is not None and wet:
                on_loop[loop] = on_loop.get(loop, 0) + wet * racks.count
                in_rack[loop] = max(in_rack.get(loop, 0), wet)
        for row in self._site.cooling.loops:
            if row.loop not in on_loop:
                continue
            if row.in_rack:
                yield from self._cdus_in_racks(row, in_rack[row.loop], of)
                continue
            heat, flow, most = row.heat_w, row.flow_lpm, row.cdu_flow_n1_lpm
            missing: tuple[str, ...] = ()
            if heat is None or flow is None:
                missing += missing_of_loop(self._site, row)
            if most is None:
                missing += (of_product(row.cdu, "flow", "published flow"),)
            taken: float | None = None
            if heat is not None and flow is not None and most is not None:
                carried = heat <= row.capacity_n1_w and flow <= most
                taken = 0 if carried else on_loop[row.loop]
            name = f"CDU of loop {row.loop}"
            yield Loss("CDU", name, name, taken, of, count=row.cdus, missing=missing)

    def _cdus_in_racks(self, row: LoopLoad, nodes: int, of: int) -> Iterator[Loss]:
        """Yield the loss of a CDU in a rack with ``nodes`` of the group, and of a pump in it."""
        heat, flow = row.heat_w, row.flow_lpm
        unsaid = missing_of_loop(self._site, row) if heat is None or flow is None else ()
        kinds: tuple[tuple[Kind, float | None, str, float], ...] = (
            ("CDU", row.cdu_flow_n1_lpm if row.cdus > 1 else 0.0, "flow", row.capacity_n1_w),
            ("pump", row.pump_lost_lpm, "flow_pump_lost", row.capacity_w),
        )
        for kind, most, name, capacity in kinds:
            missing = unsaid
            if most is None:
                missing += (of_product(row.cdu, name, "published flow"),)
            taken: float | None = None
            if heat is not None and flow is not None and most is not None:
                taken = 0 if heat <= capacity and flow <= most else nodes
            words = f"{kind} in a rack of loop {row.loop}"
            yield Loss(kind, words, words, taken, of, count=row.cdus, missing=missing)


def _own_cdus(kind: RackKind) -> Sequence[RackDevice]:
    """Return the CDUs that stand in racks of a kind."""
    return [device for device in kind.devices if device.kind == "cdu"]


def _carries_less_one(row: LoopLoad) -> bool:
    """Return True if the other CDUs of a loop, or of a rack, are known to carry it when one is lost."""
    heat, flow, most = row.heat_w, row.flow_lpm, row.cdu_flow_n1_lpm
    if heat is None or flow is None or most is None:
        return False
    return heat <= row.capacity_n1_w and flow <= most


def is_off(device: RackDevice, dead: AbstractSet[int], feeds: int) -> bool | None:
    """Return True if a device stops when the feeds in ``dead`` die; None if that is unknown.

    Args:
        device: the device.
        dead: the feeds by index.
        feeds: all feeds of its rack.
    """
    if not dead:
        return False
    if len(dead) == feeds:
        return True
    if device.psu_inlet in SHELF_INLETS:
        return False
    if device.psus is None:
        return None
    alive = sum(count for feed, count in enumerate(device.psus) if feed not in dead)
    if alive in {0, sum(device.psus)}:
        return alive == 0
    if device.full_performance is not None and alive >= device.full_performance:
        return False
    if device.degraded is None:
        return None
    return alive < device.degraded


def _unsaid(device: RackDevice) -> tuple[str, str]:
    """Return the field that a catalogue entry lacks for ``is_off``, and its name in words."""
    if device.psus is None:
        return "power_supplies.count", "number of power supplies"
    return "power_supplies.degraded", "fewest power supplies that it runs on"


def _leaf(layout: Layout, attachment: int, path: Path) -> Loss:
    """Return the leaf that holds most ports of an attached group; ``path`` is the place of its fabric."""
    hosts_at = (*path, "attached", attachment)
    hosts, leaves = layout.hosts[attachment], layout.tiers[0]
    name = f"leaf of {layout.fabric.name}"
    if hosts.endpoints is None or hosts.interfaces is None:
        what = f"{hosts.group.type}: ports for '{layout.fabric.name}'"
        missing = Missing(what, (*hosts_at, "interfaces"))
        return Loss("leaf", name, name, None, 1, missing=(missing,))
    if hosts.rails is None:
        what = f"'rail_optimized' of the fabric '{layout.fabric.name}'"
        missing = Missing(what, (*path, "rail_optimized"), (*hosts_at, "rails"))
        return Loss("leaf", name, name, None, hosts.endpoints, missing=(missing,))
    if layout.unplaced[attachment]:
        what = f"leaf ports for all hosts of '{hosts.group.name}'"
        missing = Missing(what, (*path, "tiers", 0, "count"))
        return Loss("leaf", name, name, None, hosts.endpoints, missing=(missing,))
    used = [0] * leaves.switches
    for run in layout.runs:
        if run.attachment == attachment:
            for rail, leaf in enumerate(run.leaves):
                each, more = divmod(hosts.interfaces, len(run.leaves))
                used[leaf] += run.hosts * (each + (rail < more))
    chassis = max(1, leaves.switches // layout.fabric.tiers[0].count)
    lost = max(sum(used[n : n + chassis]) for n in range(0, len(used), chassis))
    return Loss("leaf", name, name, lost, hosts.endpoints, count=sum(1 for ports in used if ports))


def metadata_groups(site: SitePlan, found: ParallelFileSystem) -> list[int]:
    """Return node groups, by index, that run the MGS and the metadata servers of a file system."""
    names = {part.servers for part in (found.management, found.metadata) if part is not None}
    return [index for index, group in enumerate(site.groups) if group.name in names]
