"""Names and addresses of hosts and switches, worked out of the ranges that sites declare.

The address of the n-th host of a group is the first address of the group's range and n - 1 more, or
as many more as the hosts before it have interfaces. It depends on nothing else: whatever is added
to a group or beside it, no address changes. Two ranges that would meet are refused.

Everything is decided by the ends of ranges, so the work grows with their number, not with hosts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from ipaddress import ip_address, ip_network

from rackwright.catalog.loader import Catalogue
from rackwright.model.addresses import AddressRange, IpAddress, SiteAddresses, SiteNetwork
from rackwright.model.fabric import Segment
from rackwright.plan.base import Path
from rackwright.plan.expansion import Expansion, SitePlan
from rackwright.plan.fabric.layout import Layout
from rackwright.plan.fabric.racks import Stretch
from rackwright.plan.hosts import host_count, index_in, switch_stem
from rackwright.plan.naming.by_rack import check_rack_subnets, rack_subnets
from rackwright.plan.naming.problems import (
    IpNetwork,
    called_so,
    confused_names,
    long_names,
    nids_of_others,
    shared_domains,
    shared_prefixes,
    unknown_interfaces,
    unknown_macs,
    wrong_addresses,
)
from rackwright.plan.problems import PlanProblem
from rackwright.plan.records.names import DnsZone, NamePlan, PlannedNetwork, Range
from rackwright.reading.suggest import did_you_mean

SUFFIXES = {"management": "", "bmc": "-bmc"}
"""What names of the addresses in a network have after that of the host; a fabric's have its own."""


def plan_names(plan: Expansion) -> NamePlan:
    """Return the names and addresses of every bare-metal site that declares them."""
    return _build(plan)[0]


def find_name_problems(plan: Expansion) -> list[PlanProblem]:
    """Return each name that is declared twice, does not fit or leads nowhere."""
    names, problems = _build(plan)
    return [*problems, *shared_domains(plan), *shared_prefixes(plan, names)]


def _build(plan: Expansion) -> tuple[NamePlan, list[PlanProblem]]:
    networks: list[PlannedNetwork] = []
    zones: list[DnsZone] = []
    problems: list[PlanProblem] = []
    for planned in plan.onprem:
        if (declared := planned.spec.addresses) is not None:
            site = _Site(planned, declared, plan.catalogue, problems)
            own = NamePlan(networks=tuple(site.networks()))
            networks += own.networks
            zones.append(site.zone(own))
            problems += nids_of_others(planned, own)
    return NamePlan(networks=tuple(networks), zones=tuple(zones)), problems


@dataclass(frozen=True, slots=True)
class _Place:
    """A network that is looked at.

    Attributes:
        layout: that of its fabric; None where it has none.
        segment: the one whose prefix it has; None where it has its own.
        racks: the racks whose subnet it is; empty for a network that is not cut by rack.
        stretches: the hosts in those racks.
    """

    network: SiteNetwork
    path: Path
    prefix: IpNetwork
    layout: Layout | None
    segment: Segment | None
    racks: tuple[str, ...] = ()
    stretches: tuple[Stretch, ...] = ()


@dataclass
class _Site:
    """A site whose names are worked out; what is wrong is added to ``problems``."""

    planned: SitePlan
    declared: SiteAddresses
    catalogue: Catalogue
    problems: list[PlanProblem]
    groups: Mapping[str, int] = field(init=False)
    switches: Mapping[str, int] = field(init=False)
    """Hosts of each node group, and switches of each tier, by what their names begin with."""
    own_names: Mapping[str, str | None] = field(init=False)
    """Names of the hosts of each node group, and switches of each tier, that are not called by it."""
    digits: Mapping[str, int | None] = field(init=False)
    """Least number of digits in the names of the hosts of each node group and the switches of each tier."""
    taken: dict[tuple[str, str, int], str] = field(default_factory=dict)
    """The network in which a thing has its addresses with a suffix, by version of IP."""

    def __post_init__(self) -> None:
        site = self.planned.spec
        self.groups = {group.name: host_count(group, self.catalogue) for group in site.node_groups}
        self.own_names = {group.name: group.host_names for group in site.node_groups} | {
            switch_stem(fabric, tier): tier.switch_names
            for fabric in site.fabrics
            for tier in fabric.tiers
        }
        self.digits = {group.name: group.name_digits for group in site.node_groups} | {
            switch_stem(fabric, tier): tier.name_digits
            for fabric in site.fabrics
            for tier in fabric.tiers
        }
        self.switches = {
            switch_stem(planned.fabric, tier): switches
            for planned in self.planned.fabrics
            for tier, switches in zip(planned.fabric.tiers, planned.switches, strict=True)
        }
        self.problems += confused_names(self.planned)

    def networks(self) -> Iterator[PlannedNetwork]:
        """Yield those that can be worked out."""
        for index, network in enumerate(self.declared.networks):
            path = (*self.planned.path, "addresses", "networks", index)
            place = self._place(network, path)
            if place is None:
                continue
            subnets = []
            for part in self._parts(place):
                before, made = len(self.problems), self._network(part, place.prefix)
                self.problems += wrong_addresses(self.declared, part.network, made)
                self.problems += long_names(made)
                subnets.append(made)
                if len(self.problems) > before:
                    break  # the other racks have the same mistake
            self.problems += unknown_macs(network, subnets, place.layout)
            self.problems += unknown_interfaces(network, subnets, place.layout)
            yield from subnets

    def _parts(self, place: _Place) -> Iterator[_Place]:
        """Yield the network itself, or the subnet of each rack."""
        network, layout, length = place.network, place.layout, place.network.rack_prefix
        if length is None or layout is None:
            yield place
            return
        wrong = check_rack_subnets(network, place.prefix, length, layout, place.path)
        if wrong is not None:
            self.problems.append(wrong)
            return
        for one in rack_subnets(network, place.prefix, length, layout.rack_sets or ()):
            yield replace(
                place,
                network=one.network,
                prefix=one.prefix,
                racks=one.racks,
                stretches=one.stretches,
            )

    def _place(self, network: SiteNetwork, path: Path) -> _Place | None:
        if network.fabric is None:
            return _Place(network, path, ip_network(network.prefix or ""), None, None)
        known = {fabric.name: fabric for fabric in self.planned.fabrics}
        planned = known.get(network.fabric)
        if planned is None:
            hint = did_you_mean(network.fabric, known) or f"there are: {', '.join(known) or 'none'}"
            self._refuse((*path, "fabric"), f"there is no fabric '{network.fabric}'", hint)
            return None
        fabric, layout = planned.fabric, planned.layout
        if layout is None:
            message = f"no node group is attached to the fabric '{fabric.name}'"
            self._refuse((*path, "fabric"), message, "declare 'attached' in the fabric")
            return None
        if network.segment is None:
            return _Place(network, path, ip_network(network.prefix or ""), layout, None)
        segments = {segment.name: segment for segment in fabric.segments}
        segment = segments.get(network.segment)
        if segment is None or segment.prefix is None:
            what = "no segment" if segment is None else "no 'prefix' in the segment"
            message = f"the fabric '{fabric.name}' has {what} '{network.segment}'"
            hint = did_you_mean(network.segment, segments) or "declare it there"
            self._refuse((*path, "segment"), message, hint)
            return None
        return _Place(network, path, ip_network(segment.prefix), layout, segment)

    def _network(self, place: _Place, whole: IpNetwork) -> PlannedNetwork:
        made = [
            one
            for index, declared in enumerate(place.network.ranges)
            for one in self._in_racks(
                place, self._range(place, declared, (*place.path, "ranges", index))
            )
        ]
        gateway = place.network.gateway
        return PlannedNetwork(
            site=self.planned.spec.name,
            domain=self.declared.domain,
            name=place.network.name,
            path=place.path,
            kind=place.network.kind,
            prefix=place.prefix,
            gateway=None if gateway is None else ip_address(gateway),
            ranges=tuple(made),
            macs=_macs_of(place, made),
            racks=place.racks,
            whole=whole,
            fabric=place.network.fabric,
            interface=place.network.interface,
            set_by=place.network.set_by,
            vlan=None if place.segment is None else place.segment.vlan,
        )

    def _in_racks(self, place: _Place, made: Range | None) -> Iterator[Range]:
        """Yield a range with the hosts of the racks whose subnet it is in, stretch after stretch."""
        if made is None:
            return
        if not place.racks or place.layout is None:
            yield made
            return
        groups = [hosts.group.name for hosts in place.layout.hosts]
        first = made.first
        for one in place.stretches:
            if groups[one.attachment] == made.of:
                yield replace(
                    made, first=first, count=one.hosts, before=one.first, of_all=made.count
                )
                first += one.hosts * made.each

    def _range(self, place: _Place, declared: AddressRange, path: Path) -> Range | None:
        network, of = place.network, declared.of
        is_switches = of in self.switches
        if of not in self.groups and not is_switches:
            known = [*self.groups, *self.switches]
            hint = did_you_mean(of, known) or f"there are: {', '.join(known)}"
            message = f"there is neither a node group nor a tier of switches '{of}'"
            self._refuse((*path, "of"), message, hint)
            return None
        each = self._each(place, of, (*path, "of"))
        if each is None:
            return None
        suffix = "" if is_switches else SUFFIXES.get(network.kind, f"-{network.name}")
        first = ip_address(declared.first)
        other = self.taken.setdefault((of, suffix, first.version), network.name)
        if other != network.name:
            message = f"'{of}' has its addresses in the network '{other}' already"
            self._refuse((*path, "of"), message, "leave it out of one of the two")
        return Range(
            of=of,
            path=path,
            is_switches=is_switches,
            count=self.switches[of] if is_switches else self.groups[of],
            names=self.own_names[of],
            digits=self.digits[of],
            each=each,
            suffix=suffix,
            first=int(first),
            version=first.version,
        )

    def _each(self, place: _Place, of: str, path: Path) -> int | None:
        """Return the addresses of one host or switch in a network; None where it can have none."""
        if place.layout is None:
            return 1
        name, interface = place.layout.fabric.name, place.network.interface
        if place.segment is not None and place.segment.groups and of not in place.segment.groups:
            message = f"'{of}' is not among the 'groups' of the segment '{place.segment.name}'"
            self._refuse(path, message, "add it there, or leave it out here")
            return None
        hosts = next((one for one in place.layout.hosts if one.group.name == of), None)
        if hosts is None:
            message = f"'{of}' is no node group that is attached to the fabric '{name}'"
            self._refuse(path, message, "add it to 'attached' of the fabric, or leave it out here")
            return None
        if hosts.interfaces is None:
            message = f"it is not stated how many interfaces '{of}' has on the fabric '{name}'"
            self._refuse(path, message, "give 'interfaces' in 'attached' of the fabric")
            return None
        if interface is None:
            return hosts.interfaces
        if interface > hosts.interfaces:
            message = f"'{of}' has {hosts.interfaces} interfaces on the fabric '{name}'"
            hint = f"there is no interface {interface}"
            self._refuse((*place.path, "interface"), message, hint)
            return None
        return 1

    def zone(self, own: NamePlan) -> DnsZone:
        """Return the zone of the site's names, by the owner of each address."""
        servers: dict[str, tuple[IpAddress, ...]] = {}
        outside = []
        for index, server in enumerate(self.declared.name_servers):
            path = (*self.planned.path, "addresses", "name_servers", index)
            name = self.planned.spec.name
            found = [own.address_of(name, server.host, version) for version in (4, 6)]
            known = tuple(ip_address(text) for text in found if text is not None)
            if server.address is None:
                servers[server.host] = known
                if not known:
                    message = f"nothing in this site has the name '{server.host}' and an address"
                    self._refuse((*path, "host"), message, "give its 'address'")
                continue
            servers[server.host] = (ip_address(server.address),)
            outside.append(server.host)
            if self._is_of_here(server.host):
                message = f"'{server.host}' is a name of this site, whose address follows from it"
                self._refuse((*path, "address"), message, "leave the address out, or rename it")
        return DnsZone(
            site=self.planned.spec.name,
            domain=self.declared.domain,
            serial=self.declared.serial,
            servers=servers,
            outside=tuple(outside),
        )

    def _is_of_here(self, name: str) -> bool:
        """Return True if a host or switch of this site has, or might have, this name."""
        own = [one for one in self.own_names.values() if one is not None]
        stems = [of for of in (*self.groups, *self.switches) if self.own_names[of] is None]
        return any(called_so(name, of) for of in stems) or any(
            index_in(one, name) is not None for one in own
        )

    def _refuse(self, path: Path, message: str, hint: str | None) -> None:
        self.problems.append(PlanProblem(path, message, hint))


def _macs_of(place: _Place, ranges: Sequence[Range]) -> Mapping[str, str]:
    """Return the Ethernet addresses in a network, or of the hosts in the racks whose subnet it is."""
    macs = place.network.macs
    if not place.racks or not macs:
        return macs
    known = {label for one in ranges for label in one.all_labels()}
    return {label: mac for label, mac in macs.items() if label in known}
