"""Records of names and addresses: who is called what, and has which address in which network."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import Literal

from rackwright.plan.base import Path
from rackwright.plan.hosts import index_of, name_of

NetworkKind = Literal["management", "bmc", "fabric"]


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedAddress:
    """One address and its name.

    Attributes:
        owner: name of the host or switch, like ``dgx-01``.
        label: name of the address in the domain of the site, like ``dgx-01-bmc``; that of the owner
            where it is the one by which others reach it.
        domain: domain of the site.
        address: of IPv4 or IPv6.
        mac: Ethernet address in small letters with colons; None where the blueprint has none.
    """

    owner: str
    label: str
    domain: str
    address: IPv4Address | IPv6Address
    mac: str | None

    @property
    def name(self) -> str:
        """The label with the domain."""
        return f"{self.label}.{self.domain}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Range:
    """Consecutive addresses of equal things: the hosts of a node group, or the switches of a tier.

    Attributes:
        of: what their names begin with, like ``dgx`` or ``compute-leaf``.
        path: place of the range in the blueprint.
        is_switches: they are switches.
        count: number of hosts or switches.
        before: hosts of the group with a lower number, which have addresses in subnets of other racks.
        of_all: number of hosts of the group; None where all of them are here.
        names: those of all hosts of the group as a host list, where they have names of their own.
        digits: least number of digits in their names; None where the numbers are as long as the last.
        each: addresses of one of them; more than 1 where several interfaces are in the network.
        suffix: what labels have after the name of the owner, like ``-bmc``; empty for the address
            by which others reach it.
        first: the first address as a number.
        version: of IP, 4 or 6.
    """

    of: str
    path: Path
    is_switches: bool
    count: int
    each: int
    suffix: str
    first: int
    version: int
    before: int = 0
    of_all: int | None = None
    names: str | None = None
    digits: int | None = None

    @property
    def last(self) -> int:
        """The last address as a number."""
        return self.first + self.count * self.each - 1

    def owner(self, index: int) -> str:
        """Return name of the thing with this index, counted from 0: ``dgx-01``."""
        number = self.before + index
        return name_of(self.of, self.of_all or self.count, self.names, number, self.digits)

    def labels(self, index: int) -> Iterator[str]:
        """Yield the label of each address of the thing with this index."""
        name = f"{self.owner(index)}{self.suffix}"
        if self.each == 1:
            yield name
        else:
            yield from (f"{name}-{number}" for number in range(1, self.each + 1))

    def all_labels(self) -> Iterator[str]:
        """Yield the label of each address."""
        return (label for index in range(self.count) for label in self.labels(index))

    def address(self, index: int, interface: int = 0) -> IPv4Address | IPv6Address:
        """Return an address of the thing with this index; interfaces are counted from 0."""
        number = self.first + index * self.each + interface
        return IPv4Address(number) if self.version == 4 else IPv6Address(number)

    def index_of(self, owner: str) -> int | None:
        """Return the index of the thing called ``owner``; None where it is none of these."""
        among = index_of(self.of, self.of_all or self.count, self.names, owner, self.digits)
        index = None if among is None else among - self.before
        return index if index is not None and 0 <= index < self.count else None

    def find(self, address: str) -> int | None:
        """Return the index of the thing that has ``address``; None where none of these has it."""
        wanted = ip_address(address)
        if wanted.version != self.version or not self.first <= int(wanted) <= self.last:
            return None
        return (int(wanted) - self.first) // self.each


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedNetwork:
    """An IP network of a site.

    Attributes:
        site: name of the site.
        domain: domain of the site.
        name: its own name, unique in the site but for subnets of racks, which share one.
        path: place in the blueprint.
        kind: what has the addresses.
        prefix: its addresses.
        gateway: router out of it; None where there is none.
        ranges: who has which, in the order of the blueprint.
        macs: Ethernet addresses by label.
        racks: the racks whose hosts have addresses here; empty where those of any have.
        whole: all addresses of the network, of which ``prefix`` is the part of these racks.
        fabric: name of the fabric whose interfaces have the addresses; None for other kinds.
        interface: number of the interface of each host that has one, from 1; None where each has one.
        set_by: system that sets the addresses on hosts; None where it is unknown.
        vlan: number of the VLAN of its segment; None where it has none.
    """

    site: str
    domain: str
    name: str
    path: Path
    kind: NetworkKind
    prefix: IPv4Network | IPv6Network
    gateway: IPv4Address | IPv6Address | None
    ranges: tuple[Range, ...]
    macs: Mapping[str, str]
    racks: tuple[str, ...] = ()
    whole: IPv4Network | IPv6Network
    fabric: str | None = None
    interface: int | None = None
    set_by: str | None = None
    vlan: int | None = None

    def addresses(self) -> Iterator[NamedAddress]:
        """Yield every address, range by range in the order of the names."""
        for one in self.ranges:
            for index in range(one.count):
                owner = one.owner(index)
                for interface, label in enumerate(one.labels(index)):
                    yield NamedAddress(
                        owner=owner,
                        label=label,
                        domain=self.domain,
                        address=one.address(index, interface),
                        mac=self.macs.get(label),
                    )


@dataclass(frozen=True, slots=True, kw_only=True)
class DnsZone:
    """Zone in which the names of a site are served.

    Attributes:
        site: name of the site.
        domain: its domain.
        serial: serial number of its zones.
        servers: name of each server in the domain, with its addresses.
        outside: those of them that are no hosts or switches of the site.
    """

    site: str
    domain: str
    serial: int
    servers: Mapping[str, tuple[IPv4Address | IPv6Address, ...]]
    outside: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class NamePlan:
    """All names and addresses of a blueprint; empty where it declares none.

    Attributes:
        networks: of all bare-metal sites, in the order of the blueprint.
        zones: the domains of those sites, in the same order.
    """

    networks: tuple[PlannedNetwork, ...] = ()
    zones: tuple[DnsZone, ...] = ()

    def addresses(self) -> Iterator[NamedAddress]:
        """Yield every address of every network."""
        for network in self.networks:
            yield from network.addresses()

    def own(self, site: str, of: str) -> Range | None:
        """Return the addresses by which the hosts of a group, or switches, are reached under their names."""
        for network in self.networks:
            if network.site == site:
                for one in network.ranges:
                    if (one.of, one.suffix, one.version) == (of, "", 4):
                        return one
        return None

    def address_of(self, site: str, owner: str, version: int = 4) -> str | None:
        """Return the address by which a host or switch is reached under its name; None without one."""
        for network in self.networks:
            for one in network.ranges if network.site == site else ():
                if (one.suffix, one.version) == ("", version):
                    index = one.index_of(owner)
                    if index is not None:
                        return str(one.address(index))
        return None

    def address_in(self, sites: Iterable[str], owner: str) -> str | None:
        """Return the address of a host, on the one of ``sites`` that has it."""
        return next(filter(None, (self.address_of(site, owner) for site in sites)), None)
