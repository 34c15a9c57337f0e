"""Top-of-rack fabrics: which hosts stand in the racks of which leaves.

Hosts are counted in stretches of neighbours, so that the work grows with racks, not with hosts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from rackwright.model.fabric import Fabric, SwitchTier
from rackwright.model.names import expand_hostlist, hostlist_size
from rackwright.model.onprem import NodeGroup, OnPremSite
from rackwright.plan.base import Path
from rackwright.plan.fabric.sizing import ceil_div
from rackwright.plan.hosts import filled
from rackwright.plan.problems import PlanProblem
from rackwright.reading.suggest import did_you_mean


@dataclass(frozen=True, slots=True)
class Stretch:
    """Consecutive hosts of an attachment.

    Attributes:
        attachment: index of the attachment in the fabric.
        first: the first host's index in its group.
    """

    attachment: int
    first: int
    hosts: int


@dataclass(frozen=True, slots=True)
class RackSet:
    """Racks whose hosts share the leaves that stand in them.

    Attributes:
        racks: their names; empty for a fabric whose hosts go to any of its leaves.
        leaves: index of each leaf.
        stretches: the hosts, in the order of the racks.
    """

    racks: tuple[str, ...]
    leaves: tuple[int, ...]
    stretches: tuple[Stretch, ...]


def evidently_top_of_rack(leaf: SwitchTier, groups: Sequence[NodeGroup]) -> bool:
    """Return True if leaves stand in each of several racks with hosts, and in no other rack."""
    own, theirs = _racks_used(leaf), [_racks_used(group) for group in groups]
    if own < 2 or not max(theirs, default=0) <= own <= sum(theirs):
        return False  # told without a name: a site may have a hundred thousand racks
    racks = {rack for rack, _ in filled(leaf)}
    return racks == {rack for group in groups for rack, _ in filled(group)}


def _racks_used(group: NodeGroup | SwitchTier) -> int:
    """Return the number of racks that a group fills, without their names."""
    return hostlist_size(group.racks) if group.units else ceil_div(group.count, group.per_rack)


def rack_sets(
    fabric: Fabric, groups: Sequence[tuple[NodeGroup, int]], switches: int
) -> tuple[RackSet, ...]:
    """Return the sets of racks of a top-of-rack fabric, in the order of its leaves.

    Args:
        fabric: the fabric.
        groups: the node group of each attachment, with the hosts of one of its units.
        switches: leaves in one chassis.
    """
    shared = {
        rack: number
        for number, racks in enumerate(fabric.shared_racks)
        for rack in expand_hostlist(racks)
    }
    racks: dict[str | int, dict[str, None]] = {}
    leaves: dict[str | int, list[int]] = {}
    stretches: dict[str | int, list[Stretch]] = {}

    def enter(rack: str) -> str | int:
        key = shared.get(rack, rack)
        racks.setdefault(key, {})[rack] = None
        return key

    next_leaf = 0
    for rack, units in filled(fabric.tiers[0]):
        own = range(next_leaf, next_leaf + units * switches)
        leaves.setdefault(enter(rack), []).extend(own)
        next_leaf = own.stop
    for index, (group, hosts_of_unit) in enumerate(groups):
        first = 0
        for rack, units in filled(group):
            made = Stretch(index, first, units * hosts_of_unit)
            stretches.setdefault(enter(rack), []).append(made)
            first += made.hosts
    return tuple(
        RackSet(tuple(names), tuple(leaves.get(key, ())), tuple(_joined(stretches.get(key, ()))))
        for key, names in racks.items()
    )


def racks_in_order(group: NodeGroup | SwitchTier, units: int) -> Callable[[int], str]:
    """Return the rack of the n-th host of a node group, or switch of a tier.

    Args:
        group: the group or the tier.
        units: hosts or switches in one of its units.
    """
    if group.units:
        each = [rack for rack, count in filled(group) for _ in range(count)]
        return lambda index: each[index // units]
    racks = expand_hostlist(group.racks)
    return lambda index: racks[index // units // group.per_rack]


def check_shared_racks(site: OnPremSite, path: Path, racks: Sequence[str]) -> Iterator[PlanProblem]:
    """Yield the shared racks that the site does not have, or that share with two."""
    for index, fabric in enumerate(site.fabrics):
        if not fabric.shared_racks:
            continue
        known, seen = set(racks), set[str]()
        for number, text in enumerate(fabric.shared_racks):
            where = (*path, "fabrics", index, "shared_racks", number)
            names = expand_hostlist(text)
            if strange := [rack for rack in names if rack not in known]:
                message = f"there is no rack '{strange[0]}' in this site"
                yield PlanProblem(where, message, did_you_mean(strange[0], known))
            if twice := [rack for rack in names if rack in seen]:
                message = f"the rack '{twice[0]}' shares leaves with two sets of racks"
                yield PlanProblem(where, message, "name all racks that share in one host list")
            seen.update(names)


def _joined(stretches: Sequence[Stretch]) -> Iterator[Stretch]:
    """Yield the stretches with those that follow upon each other made one."""
    last: Stretch | None = None
    for here in stretches:
        if last is None:
            last = here
        elif last.attachment == here.attachment and last.first + last.hosts == here.first:
            last = Stretch(last.attachment, last.first, last.hosts + here.hosts)
        else:
            yield last
            last = here
    if last is not None:
        yield last
