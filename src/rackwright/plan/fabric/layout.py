"""Layout of a fabric: leaf of each host, and upper switches of each switch.

Hosts are cabled in runs: consecutive hosts of a group that share their leaves, each on the next
port. So the work grows with the number of leaves, not of hosts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from rackwright.catalog.loader import Catalogue
from rackwright.model.fabric import Attachment, Fabric, Role
from rackwright.model.hardware import NetworkPort, Node, Switch, fact_value
from rackwright.model.onprem import NodeGroup, OnPremSite
from rackwright.plan.fabric.links import TierLink, tier_links
from rackwright.plan.fabric.racks import RackSet, Stretch, evidently_top_of_rack, rack_sets
from rackwright.plan.fabric.sizing import ceil_div, down_ports
from rackwright.plan.hosts import index_of, names_of, switch_count, switch_stem


@dataclass(frozen=True, slots=True)
class Tier:
    """The switches of one tier.

    Attributes:
        switches: independent switches; a chassis may hold several.
        radix: ports of equal rate.
        rate: of one of them, in Gbps.
        uplinks: ports beside the radix that lead upwards; zero where the radix does both.
        up_rate: of a port that leads upwards.
        ports_per_cage: ports that share a cage; None where the catalogue does not say.
        digits: least number of digits in their names; None for as many as the last number has.
        own_names: names that they have as a host list, where they are not numbered.
    """

    name: str
    prefix: str
    type: str
    technology: str
    switches: int
    radix: int
    rate: float
    uplinks: int
    up_rate: float
    ports_per_cage: int | None
    digits: int | None = None
    own_names: str | None = None

    def names(self) -> tuple[str, ...]:
        """Return the switches' names, like ``compute-leaf-1``."""
        return names_of(self.prefix, self.switches, self.own_names, self.digits)

    def index_of(self, name: str) -> int | None:
        """Return the index of the switch called ``name``; None where it is none of these."""
        return index_of(self.prefix, self.switches, self.own_names, name, self.digits)


@dataclass(frozen=True, slots=True)
class Hosts:
    """The hosts of one attachment.

    Attributes:
        interfaces: of each host on this fabric; None where the catalogue does not say.
        rails: each interface goes to a leaf of its own; None where the blueprint does not say.
        port: the ports of the product that are used; None where it has none of that role.
        first_port: index of the first of them; those before are on fabrics that stand before.
        role_ports: ports of the attachment's role that a host has; None where the catalogue lists none.
        fastest_gbps: highest rate of an interface on such a port; None where the catalogue lists none.
    """

    attachment: Attachment
    group: NodeGroup
    count: int
    interfaces: int | None
    rails: bool | None
    port: NetworkPort | None
    first_port: int = 0
    role_ports: int | None = None
    fastest_gbps: float | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The hosts' names, like ``dgx-01``."""
        return names_of(self.group.name, self.count, self.group.host_names, self.group.name_digits)

    @property
    def endpoints(self) -> int | None:
        """Ports of all hosts."""
        return None if self.interfaces is None else self.count * self.interfaces

    @property
    def parts(self) -> int:
        """Interfaces of this fabric on one port of a host, which follow each other."""
        if self.attachment.split == 1 or self.port is None or self.interfaces is None:
            return 1
        ports = max(1, self.port.count // (self.count // self.group.count))
        return ceil_div(self.interfaces, ports)

    def port_of(self, interface: int) -> int:
        """Return the index of the port of the product that an interface, counted from 0, is on."""
        return self.first_port + interface // self.parts


@dataclass(frozen=True, slots=True)
class Run:
    """Consecutive hosts that are cabled alike.

    Attributes:
        attachment: index of the attachment in the fabric.
        first: the first host's index in its group.
        leaves: index of the leaf of each rail; interface i goes to leaf i modulo their number.
        first_port: port of the first host's first interface on a leaf, counted from 1.
        ports: of one host on one leaf.
    """

    attachment: int
    first: int
    hosts: int
    leaves: tuple[int, ...]
    first_port: int
    ports: int

    def place(self, host: int, interface: int) -> tuple[int, int]:
        """Return the leaf index and port of an interface (from 0) of the group's ``host``-th host."""
        turn, rail = divmod(interface, len(self.leaves))
        return self.leaves[rail], self.first_port + (host - self.first) * self.ports + turn


@dataclass(frozen=True)
class Layout:
    """A fabric with its products looked up and its hosts cabled.

    Attributes:
        catalogue: where the products of its cables are looked up.
        rack_sets: of a top-of-rack fabric: which hosts stand beside which leaves; else None.
    """

    fabric: Fabric
    catalogue: Catalogue = field(repr=False, compare=False)
    tiers: tuple[Tier, ...]
    hosts: tuple[Hosts, ...]
    links: tuple[TierLink, ...]
    rack_sets: tuple[RackSet, ...] | None = None

    @cached_property
    def technology(self) -> str | None:
        """Declared technology, otherwise that of the switches if they agree."""
        kinds = {tier.technology for tier in self.tiers}
        return self.fabric.technology or (kinds.pop() if len(kinds) == 1 else None)

    @cached_property
    def endpoints(self) -> int | None:
        """Ports of hosts on the fabric; None as soon as one number is unknown."""
        counts = [hosts.endpoints for hosts in self.hosts]
        return None if None in counts else sum(c for c in counts if c is not None)

    def up_ports(self, tier: int) -> int | None:
        """Return the ports that a switch of the tier gives to cables upwards; None where unknown."""
        total = 0
        for link in self.links:
            if link.lower == tier:
                if link.parallel is None:
                    return None
                total += link.parallel * ceil_div(self.tiers[link.upper].switches, link.blocks)
        return total

    def down_links(self, tier: int) -> int | None:
        """Return the ports that a switch of the tier gives to switches below; None where unknown."""
        total = 0
        for link in self.links:
            if link.upper == tier:
                if link.parallel is None:
                    return None
                total += link.parallel * link.largest_block(self.tiers[link.lower].switches)
        return total

    @cached_property
    def leaf_ports(self) -> int:
        """Ports that a leaf has for hosts: what it is sized for, less where its cables take more."""
        leaf = self.tiers[0]
        if len(self.tiers) == 1 or leaf.uplinks:
            return leaf.radix
        sized = down_ports(leaf.radix, self.fabric.oversubscription)
        return max(0, min(sized, leaf.radix - (self.up_ports(0) or 0)))

    @cached_property
    def unit_hosts(self) -> int:
        """Hosts of a scalable unit."""
        return self.fabric.unit_hosts or max(1, self.leaf_ports)

    @cached_property
    def runs(self) -> tuple[Run, ...]:
        """All hosts that find ports, in the order of the attachments."""
        return tuple(_cable_hosts(self))

    @cached_property
    def unplaced(self) -> tuple[int, ...]:
        """Hosts of each attachment that find no port; all, where it cannot be told."""
        placed = [0] * len(self.hosts)
        for run in self.runs:
            placed[run.attachment] += run.hosts
        return tuple(h.count - n for h, n in zip(self.hosts, placed, strict=True))

    @cached_property
    def leaf_use(self) -> tuple[int, ...]:
        """Ports of each leaf that hosts take by the pattern, before any patch."""
        used = [0] * self.tiers[0].switches
        for run in self.runs:
            interfaces = self.hosts[run.attachment].interfaces or 0
            for rail, leaf in enumerate(run.leaves):
                extra = interfaces % len(run.leaves)
                each = interfaces // len(run.leaves) + (1 if rail < extra else 0)
                used[leaf] += run.hosts * each
        return tuple(used)

    def run_of(self, attachment: int, host: int) -> Run | None:
        """Return the run of a host, by its index in its group."""
        for run in self.runs:
            if run.attachment == attachment and run.first <= host < run.first + run.hosts:
                return run
        return None


def lay_out(site: OnPremSite, fabric: Fabric, catalogue: Catalogue) -> Layout | None:
    """Return the layout of ``fabric``, or None when the blueprint attaches nothing to it.

    Raises:
        UnknownEntryError: a product is not in the catalogue.
    """
    if not fabric.attached or not fabric.tiers:
        return None
    groups = {group.name: group for group in site.node_groups}
    tiers = tuple(_tier(fabric, index, catalogue) for index in range(len(fabric.tiers)))
    hosts = tuple(
        _hosts(site, fabric, attachment, groups[attachment.group], catalogue)
        for attachment in fabric.attached
    )
    sets = _rack_sets(fabric, tiers[0], hosts)
    # With one leaf in each rack there is nothing to spread rails over, so they need not be stated.
    if sets is not None and all(len(one.leaves) < 2 for one in sets):
        hosts = tuple(replace(h, rails=False) if h.rails is None else h for h in hosts)
    return Layout(fabric, catalogue, tiers, hosts, tuple(tier_links(fabric)), sets)


def _rack_sets(fabric: Fabric, leaf: Tier, hosts: Sequence[Hosts]) -> tuple[RackSet, ...] | None:
    """Return the racks of a top-of-rack fabric with their hosts and leaves; None for any other fabric."""
    if fabric.top_of_rack is None:
        if any(one.rails is not False for one in hosts):
            return None
        if not evidently_top_of_rack(fabric.tiers[0], [one.group for one in hosts]):
            return None
    elif not fabric.top_of_rack:
        return None
    groups = [(one.group, one.count // one.group.count) for one in hosts]
    return rack_sets(fabric, groups, leaf.switches // fabric.tiers[0].count)


def _tier(fabric: Fabric, index: int, catalogue: Catalogue) -> Tier:
    tier = fabric.tiers[index]
    entry = catalogue.get(Switch, tier.type)
    return Tier(
        name=tier.name,
        prefix=switch_stem(fabric, tier),
        type=tier.type,
        technology=entry.technology,
        switches=switch_count(tier, catalogue),
        radix=entry.radix * tier.split,
        rate=entry.rate.value / tier.split,
        uplinks=entry.uplinks.count if entry.uplinks else 0,
        up_rate=entry.uplinks.rate.value if entry.uplinks else entry.rate.value / tier.split,
        ports_per_cage=entry.ports_per_cage,
        digits=tier.name_digits,
        own_names=tier.switch_names,
    )


def _hosts(
    site: OnPremSite,
    fabric: Fabric,
    attachment: Attachment,
    group: NodeGroup,
    catalogue: Catalogue,
) -> Hosts:
    entry = catalogue.get(Node, group.type)
    role = attachment.ports or fabric.role
    found = [port for port in entry.ports if port.role == role]
    # A product may hold several hosts (an NVL72 has 18), and lists the ports of all of them.
    ports = sum(port.count for port in found) // entry.hosts if found else None
    listed = None if ports is None else ports * attachment.split
    return Hosts(
        attachment=attachment,
        group=group,
        count=group.count * entry.hosts,
        interfaces=attachment.interfaces or listed,
        rails=fabric.rail_optimized if attachment.rails is None else attachment.rails,
        port=found[0] if len(found) == 1 else None,
        first_port=_ports_before(site, fabric, group.name, role),
        role_ports=ports,
        fastest_gbps=max((one.rate.value / attachment.split for one in found), default=None),
    )


def _ports_before(site: OnPremSite, fabric: Fabric, group: str, role: Role) -> int:
    """Return the ports of a host that the fabrics before this one use; those that are split are shared."""
    taken = 0
    for other in site.fabrics:
        if other.name == fabric.name:
            break
        for one in other.attached:
            if one.group == group and (one.ports or other.role) == role and one.split == 1:
                taken += one.interfaces or 0
    return taken


def _cable_hosts(layout: Layout) -> Iterator[Run]:
    """Fill the leaves block by block; a block is the leaves that the hosts of a unit share."""
    used = [0] * layout.tiers[0].switches
    everywhere = tuple(Stretch(n, 0, hosts.count) for n, hosts in enumerate(layout.hosts))
    sets = layout.rack_sets or (RackSet((), tuple(range(len(used))), everywhere),)
    for one in sets:
        for stretch in one.stretches:
            hosts = layout.hosts[stretch.attachment]
            # Hosts are left unplaced rather than placed by a guess.
            unsure = hosts.rails is None and len(one.leaves) > 1
            if hosts.interfaces is None or unsure or not one.leaves:
                continue
            rails = min(hosts.interfaces, len(one.leaves)) if hosts.rails else 1
            ports = ceil_div(hosts.interfaces, rails)
            first, end = stretch.first, stretch.first + stretch.hosts
            for block in _blocks(layout, one.leaves, rails, ports):
                # All rails of a host have the same port number, so the fullest leaf decides.
                start = max(used[leaf] for leaf in block.leaves)
                fitting = min((layout.leaf_ports - start) // ports, block.most, end - first)
                if fitting > 0:
                    yield Run(stretch.attachment, first, fitting, block.leaves, start + 1, ports)
                    first += fitting
                    for leaf in block.leaves:
                        used[leaf] = start + fitting * ports


@dataclass(frozen=True, slots=True)
class _Block:
    leaves: tuple[int, ...]
    most: int


def _blocks(layout: Layout, leaves: Sequence[int], rails: int, ports: int) -> Iterator[_Block]:
    """Yield the leaves that share hosts: one of each rail; a unit larger than a leaf has several of a rail."""
    each = max(1, layout.leaf_ports // ports)
    # Only rails are built in scalable units; leaves in racks serve the hosts beside them.
    in_units = rails > 1 and layout.rack_sets is None
    unit = (layout.fabric.unit_hosts or each) if in_units else each
    sizes = [unit] * (len(leaves) // (rails * ceil_div(unit, each)))
    if in_units and layout.fabric.last_unit_hosts:
        sizes.append(layout.fabric.last_unit_hosts)
    start = 0
    for size in sizes:
        blocks = ceil_div(size, each)
        if start + rails * blocks > len(leaves):  # a unit is whole, or not there
            return
        for block in range(blocks):
            of_rails = tuple(leaves[start + rail * blocks + block] for rail in range(rails))
            yield _Block(of_rails, min(each, size - block * each))
        start += rails * blocks


def connected(layout: Layout, link: TierLink) -> Iterator[tuple[int, range]]:
    """Yield each lower switch with the upper ones it is cabled to."""
    return link.connected(layout.tiers[link.lower].switches, layout.tiers[link.upper].switches)


def find_host(layout: Layout, name: str) -> tuple[int, int] | None:
    """Return the attachment and the index in its group of the host called ``name``."""
    for index, hosts in enumerate(layout.hosts):
        group = hosts.group
        found = index_of(group.name, hosts.count, group.host_names, name, group.name_digits)
        if found is not None:
            return index, found
    return None


def find_leaf(layout: Layout, name: str) -> int | None:
    """Return the index of the leaf called ``name``."""
    names = layout.tiers[0].names()
    return names.index(name) if name in names else None


def port_rate(hosts: Hosts) -> float | None:
    """Return the rate of a host's port in Gbps; None if unknown."""
    if hosts.attachment.rate is not None:
        return hosts.attachment.rate
    whole = None if hosts.port is None else fact_value(hosts.port.rate)
    return None if whole is None else whole / hosts.attachment.split
