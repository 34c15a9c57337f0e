"""Switches, ports and cables of fabrics.

A fat tree of switches with R ports: a leaf has d ports down and u up, d/u its oversubscription
(Leiserson 1985; Al-Fares, Loukissas and Vahdat, SIGCOMM 2008). All leaves have as many cables to each spine
as to any other, so that the number of spines divides u.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil

from calculator.things import Attached, Cables, Fabric, Site, placed


@dataclass(frozen=True, slots=True)
class Cable:
    """One cable, from a host or lower switch to an upper one, with the ports at its ends."""

    lower: str
    lower_port: int
    upper: str
    upper_port: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """Of a fabric, by tier: switches that it needs, ports of the busiest, down over up; cables; homeless hosts."""

    needed: tuple[int, ...]
    used: tuple[int, ...]
    ratio: tuple[float | None, ...]
    cables: frozenset[Cable]
    number: int
    homeless: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Hosts:
    """Hosts of one attachment, in the order of their racks."""

    name: str
    count: int
    interfaces: int
    rate: float
    rails: bool
    racks: tuple[str, ...]
    """Of each host."""

    def host(self, index: int) -> str:
        return f"{self.name}-{index + 1}"


def hosts_of(site: Site, fabric: Fabric) -> list[_Hosts]:
    """The hosts on a fabric."""
    return [_hosts(site, fabric, one) for one in fabric.attached]


def _hosts(site: Site, fabric: Fabric, attached: Attached) -> _Hosts:
    group = next(group for group in site.groups if group.name == attached.group)
    product = group.product
    each = product.hosts
    at = placed(group.count, group.racks, group.per_rack)
    racks = tuple(rack for rack in group.racks for _ in range(at[rack] * each))
    rails = fabric.rails if attached.rails is None else attached.rails
    return _Hosts(
        name=group.name,
        count=group.count * each,
        interfaces=attached.interfaces or product.ports // each * attached.split,
        rate=product.rate / attached.split,
        rails=bool(rails),
        racks=racks,
    )


def ports_down(fabric: Fabric) -> int:
    """Ports of a leaf for hosts: d of d + u, with d / u no more than the oversubscription."""
    radix = fabric.tiers[0].radix
    if len(fabric.tiers) == 1:
        return radix
    return radix - ceil(radix / (1 + fabric.oversubscription))


def is_top_of_rack(site: Site, fabric: Fabric) -> bool:
    """Said, or seen: no rails, and leaves in each of several racks with hosts and in no other."""
    if fabric.top_of_rack is not None:
        return fabric.top_of_rack
    groups = hosts_of(site, fabric)
    leaf = fabric.tiers[0]
    leaves = {
        rack for rack, count in placed(leaf.count, leaf.racks, leaf.per_rack).items() if count
    }
    hosts = {rack for group in groups for rack in group.racks}
    return not any(group.rails for group in groups) and len(hosts) > 1 and leaves == hosts


class Wiring:
    """The cables of a fabric: hosts to leaves, and tiers to those above."""

    def __init__(self, site: Site, fabric: Fabric) -> None:
        self.fabric = fabric
        self.groups = hosts_of(site, fabric)
        self.down = ports_down(fabric)
        self.top_of_rack = is_top_of_rack(site, fabric)
        leaf = fabric.tiers[0]
        self.leaf_racks = [
            rack
            for rack, count in placed(leaf.count, leaf.racks, leaf.per_rack).items()
            for _ in range(count)
        ]
        self.homeless = 0
        self.taken: Counter[int] = Counter()
        """Ports of each leaf that hold hosts."""
        self.plugged: list[tuple[_Hosts, int, int, int, int]] = []
        """Hosts, which of them, its interface, leaf and port, counted from 0."""
        if self.top_of_rack:
            self._by_rack()
        else:
            self._by_order()

    def leaves_of_unit(self, hosts: int) -> int:
        """Leaves for each rail of a unit."""
        return ceil(hosts / self.down)

    @property
    def unit(self) -> int:
        return self.fabric.unit_hosts or self.down

    def _by_order(self) -> None:
        leaves = self.fabric.tiers[0].count
        railed = [group for group in self.groups if group.rails]
        rails = max((group.interfaces for group in railed), default=0)
        number = 0
        last = max(0, ceil(sum(group.count for group in railed) / self.unit) - 1)
        for group in railed:
            for index in range(group.count):
                unit, place = divmod(number, self.unit)
                block, port = divmod(place, self.down)
                first = unit * rails * self.leaves_of_unit(self.unit)
                hosts = self.fabric.last_unit_hosts if unit == last else None
                each = self.leaves_of_unit(
                    hosts or self.unit
                )  # leaves of a rail stand side by side
                wanted = [first + rail * each + block for rail in range(group.interfaces)]
                if block >= each or max(wanted) >= leaves:
                    self.homeless += 1
                else:
                    for rail, leaf in enumerate(wanted):
                        self._plug(group, index, rail, leaf, port)
                number += 1
        for group in self.groups:
            if not group.rails:
                self._fill(group, range(group.count), range(leaves), self.down)

    def _fill(
        self, group: _Hosts, hosts: range | list[int], leaves: range | list[int], most: int
    ) -> None:
        """Each host on the first leaf with ports for all of its interfaces."""
        waiting = list(leaves)
        for index in hosts:
            while waiting and self.taken[waiting[0]] + group.interfaces > most:
                waiting.pop(0)
            if not waiting:
                self.homeless += 1
                continue
            for interface in range(group.interfaces):
                self._plug(group, index, interface, waiting[0], self.taken[waiting[0]])

    def rack_sets(self, group: _Hosts) -> dict[tuple[str, ...], list[int]]:
        """Hosts of a group by the racks whose leaves they share."""
        shared = {rack: racks for racks in self.fabric.shared_racks for rack in racks}
        sets: dict[tuple[str, ...], list[int]] = {}
        for index, rack in enumerate(group.racks):
            sets.setdefault(shared.get(rack, (rack,)), []).append(index)
        return sets

    def leaves_of_racks(self) -> dict[tuple[str, ...], int]:
        """Leaves that the hosts of each rack, or set of racks, need."""
        ports: Counter[tuple[str, ...]] = Counter()
        railed: dict[tuple[str, ...], int] = {}
        for group in self.groups:
            for racks, hosts in self.rack_sets(group).items():
                if group.rails:
                    leaves = group.interfaces * ceil(len(hosts) / self.down)
                    railed[racks] = max(railed.get(racks, 0), leaves)
                else:
                    ports[racks] += len(hosts) * group.interfaces
        made = {racks: ceil(count / self.down) for racks, count in ports.items()}
        return made | railed

    def _by_rack(self) -> None:
        for group in self.groups:
            for racks, hosts in self.rack_sets(group).items():
                leaves = [n for n, rack in enumerate(self.leaf_racks) if rack in racks]
                most = self.fabric.tiers[0].radix - self.up(0)
                if not group.rails:
                    self._fill(group, hosts, leaves, most)
                    continue
                for index in hosts:
                    if len(leaves) < group.interfaces:
                        self.homeless += 1
                        continue
                    for rail in range(group.interfaces):
                        self._plug(group, index, rail, leaves[rail], self.taken[leaves[rail]])

    def _plug(self, group: _Hosts, index: int, interface: int, leaf: int, port: int) -> None:
        self.plugged.append((group, index, interface, leaf, port))
        self.taken[leaf] += 1

    def between(self, tier: int) -> Cables | None:
        """The cables from a tier to the next."""
        names = [one.name for one in self.fabric.tiers]
        for link in self.fabric.links:
            if (link.lower, link.upper) == (names[tier], names[tier + 1]):
                return link
        return None

    def pairs(self, tier: int) -> Iterator[tuple[int, int]]:
        """Switches of a tier and of the next that are connected."""
        link = self.between(tier)
        assert link is not None
        lower, upper = self.fabric.tiers[tier].count, self.fabric.tiers[tier + 1].count
        block = upper // (link.pods * link.planes)
        pod = link.pod_switches or lower // link.pods
        for one in range(lower):
            first = (one // pod if link.pods > 1 else one % link.planes) * block
            for other in range(first, first + block):
                yield one, other

    def up(self, tier: int) -> int:
        """Cables of the busiest switch of a tier to the next."""
        if tier == len(self.fabric.tiers) - 1:
            return 0
        link = self.between(tier)
        assert link is not None
        most = max(Counter(one for one, _ in self.pairs(tier)).values())
        return most * (link.parallel or 0)

    def below(self, tier: int) -> int:
        """Cables of the busiest switch of a tier to the one below it."""
        link = self.between(tier - 1)
        assert link is not None
        return max(Counter(other for _, other in self.pairs(tier - 1)).values()) * (
            link.parallel or 0
        )

    def all_cables(self) -> Iterator[Cable]:
        for group, index, interface, leaf, port in self.plugged:
            host = group.host(index)
            yield Cable(host, interface + 1, self.switch(0, leaf), port + 1)
        for tier in range(len(self.fabric.tiers) - 1):
            yield from self._between(tier)

    def _between(self, tier: int) -> Iterator[Cable]:
        link = self.between(tier)
        assert link is not None
        first = self.first_up(tier)
        ups: Counter[int] = Counter()
        downs: Counter[int] = Counter()
        for one, other in self.pairs(tier):
            for _ in range(link.parallel or 0):
                yield Cable(
                    self.switch(tier, one), first + ups[one] + 1,
                    self.switch(tier + 1, other), downs[other] + 1,
                )  # fmt: skip
                ups[one] += 1
                downs[other] += 1

    def first_up(self, tier: int) -> int:
        """Ports below the first uplink: those of a leaf for hosts, those of others to the tier below."""
        radix = self.fabric.tiers[tier].radix
        return min(self.down if tier == 0 else self.below(tier), radix - self.up(tier))

    def switch(self, tier: int, index: int) -> str:
        """Name of a switch."""
        one = self.fabric.tiers[tier]
        return f"{self.fabric.name}-{one.name}-{index + 1:0{len(str(one.count))}d}"


def divisor(number: int, least: float) -> int:
    """The smallest divisor of ``number`` that is no less than ``least``; without one, what has the ports."""
    return next((n for n in range(1, number + 1) if number % n == 0 and n >= least), ceil(least))


def with_room(lower: int, up: int, radix: int, room: int) -> int:
    """The fewest upper switches of ``radix`` ports above ``lower`` ones.

    Each lower switch needs ``up`` cables and has ports for ``room``; it may take more of them than it needs
    so that all upper switches get the same number.
    """
    least = ceil(lower * up / radix)
    for count in range(max(1, least), up + 1):
        each = ceil(up / count)
        if each * count <= room and lower * each <= radix:
            return count
    return max(least, 1)


def needed(wiring: Wiring) -> tuple[int, ...]:
    """Switches of each tier that a fabric needs."""
    fabric, tiers = wiring.fabric, wiring.fabric.tiers
    radix = tiers[0].radix
    endpoints = sum(group.count * group.interfaces for group in wiring.groups)
    if len(tiers) == 1:
        return (ceil(endpoints / radix),)
    leaves = _leaves(wiring, endpoints)
    up = radix - wiring.down
    blocks, size = _blocks(wiring, 0, max(leaves, tiers[0].count))
    if wiring.top_of_rack:
        busiest = max(wiring.taken.values())
        asked = ceil(busiest / fabric.oversubscription - 1e-9)
        up = max(wiring.up(0), asked)
        return leaves, blocks * with_room(size, up, tiers[1].radix, radix - busiest)
    if len(tiers) == 2:
        return leaves, blocks * divisor(up, size * up / tiers[1].radix)
    ratio, radix = tiers[1].oversubscription, tiers[1].radix
    above = ceil(radix / (1 + (ratio or 1.0)))
    if ratio is None:
        spines = blocks * ceil(size * up / (radix - above))
    else:
        spines = blocks * divisor(up, size * up / (radix - above))
    blocks, size = _blocks(wiring, 1, max(spines, tiers[1].count))
    core = tiers[2].radix
    if ratio is None:
        return leaves, spines, blocks * ceil(size * above / core)
    below = wiring.below(1)
    asked = max(ceil(below / ratio - 1e-9), wiring.up(1))
    return leaves, spines, blocks * with_room(size, asked, core, radix - below)


def _blocks(wiring: Wiring, tier: int, switches: int) -> tuple[int, int]:
    """The blocks that a tier is cut into, and its switches in the largest of them."""
    link = wiring.between(tier)
    assert link is not None
    blocks = link.pods * link.planes
    return blocks, link.pod_switches or ceil(switches / blocks)


def _leaves(wiring: Wiring, endpoints: int) -> int:
    fabric = wiring.fabric
    if wiring.top_of_rack:
        return sum(wiring.leaves_of_racks().values())
    rails = max((group.interfaces for group in wiring.groups if group.rails), default=0)
    if not rails:
        return ceil(endpoints / wiring.down)
    hosts = sum(group.count for group in wiring.groups if group.rails)
    units = ceil(hosts / wiring.unit)
    last = fabric.last_unit_hosts or wiring.unit
    whole = (units - 1) * wiring.leaves_of_unit(wiring.unit)
    return rails * (whole + wiring.leaves_of_unit(last))


def ratios(wiring: Wiring) -> tuple[float | None, ...]:
    """Bandwidth down over up of the busiest switch of each tier but the top; unknown with homeless hosts."""
    tiers = wiring.fabric.tiers
    down: Counter[int] = Counter()
    for group, _, _, leaf, _ in wiring.plugged:
        down[leaf] += int(group.rate)
    made: list[float | None] = []
    for tier in range(len(tiers) - 1):
        if tier == 0 and wiring.homeless:
            made.append(None)
            continue
        below = max(down.values()) if tier == 0 else wiring.below(tier) * tiers[tier - 1].rate
        made.append(below / (wiring.up(tier) * tiers[tier].rate))
    return tuple(made)


def counted(site: Site, fabric: Fabric) -> Counted:
    """The numbers of one fabric."""
    wiring = Wiring(site, fabric)
    used = [max(wiring.taken.values(), default=0) + wiring.up(0)]
    used += [wiring.below(tier) + wiring.up(tier) for tier in range(1, len(fabric.tiers))]
    cables = list(wiring.all_cables())
    return Counted(
        needed=needed(wiring),
        used=tuple(used),
        ratio=ratios(wiring),
        cables=frozenset(cables),
        number=len(cables),
        homeless=wiring.homeless,
    )
