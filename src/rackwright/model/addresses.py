"""Names and addresses of a bare-metal site: its domain, its networks, and who has which address."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from rackwright.model.base import Model
from rackwright.model.field_kinds import HARDWARE, KEY, PART, OnChange
from rackwright.model.names import Name, refuse_twins
from rackwright.model.networks import parse_network

_READDRESSED = "hosts are looked for at other addresses: theirs change at the same time"

IpAddress = IPv4Address | IPv6Address

SetBy = Literal["netplan", "networkd", "nmstate", "others"]

_LABEL = r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?"
LONGEST_DOMAIN = 189
"""Characters of a domain, so that a label of 63 before it makes no more than the 253 of a name."""


_SPECIAL = {
    ip_network(text): use
    for text, use in {
        "0.0.0.0/8": "'this network'",
        "127.0.0.0/8": "loopback",
        "169.254.0.0/16": "link-local addresses",
        "224.0.0.0/4": "multicast",
        "240.0.0.0/4": "nothing yet",
        "::1/128": "loopback",
        "fe80::/10": "link-local addresses",
        "ff00::/8": "multicast",
    }.items()
}
"""Networks that are no addresses of hosts: RFC 6890, RFC 4291."""


def _check_prefix(text: str) -> str:
    parse_network(text)
    return text


def _check_interfaces(text: str) -> str:
    network = parse_network(text)
    for special, use in _SPECIAL.items():
        if network.version == special.version and network.overlaps(special):
            raise ValueError(f"'{text}' is not for hosts: {special} is for {use}")
    return text


def _check_address(text: str) -> str:
    _address(text)
    return text


def _address(text: str) -> IpAddress:
    if "%" in text:
        raise ValueError(f"'{text}' names an interface of one host, which others do not have")
    return ip_address(text)


def split_span(text: str) -> tuple[IpAddress, IpAddress]:
    """Return the first and the last of the addresses in ``10.20.0.2-10.20.0.15``, or in a single one.

    Raises:
        ValueError: it is no such text, or runs backwards.
    """
    low, dash, high = text.partition("-")
    first, last = _address(low), _address(high if dash else low)
    if first.version != last.version or int(last) < int(first):
        raise ValueError(f"'{text}' runs backwards, or from one version of IP to the other")
    return first, last


def _check_span(text: str) -> str:
    split_span(text)
    return text


Prefix = Annotated[str, AfterValidator(_check_prefix)]
"""A network like ``10.20.0.0/22``, host bits zero."""
InterfacePrefix = Annotated[str, AfterValidator(_check_interfaces)]
"""The same, of addresses that interfaces on a fabric can have: no loopback, link-local or multicast addresses."""
Address = Annotated[str, AfterValidator(_check_address)]
"""An address of IPv4 or IPv6."""
AddressSpan = Annotated[str, AfterValidator(_check_span)]
"""One address, or a first and a last one like ``10.20.0.2-10.20.0.15``."""
Mac = Annotated[str, Field(pattern=r"^[0-9a-f]{2}(:[0-9a-f]{2}){5}$")]
"""An Ethernet address in small letters, like ``b8:3f:d2:00:00:01``."""
Domain = Annotated[str, Field(pattern=rf"^{_LABEL}(\.{_LABEL})*$", max_length=LONGEST_DOMAIN)]
"""A domain of the DNS without a dot at its end."""


class AddressRange(Model):
    """Consecutive addresses, one thing after the other in the order of their names."""

    of: Annotated[Name, KEY]
    """Node group of the addresses, or a tier of switches as their names begin: ``compute-leaf``."""
    first: Annotated[Address, HARDWARE, OnChange("drain", _READDRESSED)]
    """Address of the first of them. It stays when others come, so that theirs stay as well."""


class SiteNetwork(Model):
    """An IP network, and who has addresses in it."""

    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9]{0,14}$"), KEY]
    """Name of the network, by which the rest of the blueprint refers to it."""
    kind: Annotated[Literal["management", "bmc", "fabric"], HARDWARE]
    """Owner of the addresses: hosts under their own names, their management controllers, or their
    interfaces on a fabric. Switches may be in the first two, under their own names."""
    prefix: Annotated[Prefix | None, HARDWARE, OnChange("drain", _READDRESSED)] = None
    """Addresses of the network."""
    fabric: Annotated[Name | None, HARDWARE] = None
    """The fabric whose interfaces are in it."""
    segment: Annotated[Name | None, HARDWARE, OnChange("drain", _READDRESSED)] = None
    """The segment of the fabric whose prefix it has."""
    interface: Annotated[int | None, Field(gt=0), HARDWARE, OnChange("drain", _READDRESSED)] = None
    """Number of the interface of each host on the fabric, counted from 1. All interfaces if omitted."""
    rack_prefix: Annotated[
        int | None, Field(gt=0, le=128), HARDWARE, OnChange("drain", _READDRESSED)
    ] = None
    """Prefix length of each rack's own subnet on a top-of-rack fabric, like 26. Racks that share leaves
    have one subnet, in the order of the leaves; ``gateway``, ``reserved`` and ``first`` are those of
    the first subnet, and the others have the same as many addresses further. One subnet for all racks
    if omitted."""
    gateway: Annotated[Address | None, HARDWARE] = None
    """Address of its router."""
    set_by: Annotated[SetBy | None, HARDWARE, OnChange("drain", _READDRESSED)] = None
    """System that sets the addresses, MTU and routes of a fabric's interfaces on hosts: ``netplan``,
    ``networkd`` (systemd) or ``nmstate`` by ``configure``, or ``others`` such as DHCP or an image.
    Unknown if omitted."""
    reserved: Annotated[tuple[AddressSpan, ...], HARDWARE] = ()
    """Addresses that nothing in the blueprint has."""
    ranges: Annotated[tuple[AddressRange, ...], Field(min_length=1), PART]
    macs: Annotated[dict[Name, Mac], HARDWARE] = {}
    """Ethernet addresses by name in the DNS, like ``dgx-01`` or ``dgx-01-bmc``, as far as they are
    known: DHCP gives these their addresses."""

    @model_validator(mode="after")
    def _agrees_with_itself(self) -> SiteNetwork:
        if (self.prefix is None) == (self.segment is None):
            raise ValueError(f"the network '{self.name}' needs either 'prefix' or 'segment'")
        if self.kind == "fabric" and self.fabric is None:
            raise ValueError(f"the network '{self.name}' of a fabric needs 'fabric'")
        if self.kind != "fabric":
            for key in ("fabric", "segment", "interface", "rack_prefix", "set_by"):
                if getattr(self, key) is not None:
                    raise ValueError(
                        f"'{key}' of the network '{self.name}' is for one of kind 'fabric'"
                    )
        refuse_twins(f"range of the network '{self.name}'", (one.of for one in self.ranges))
        refuse_twins("Ethernet address", self.macs.values())
        return self


class NameServer(Model):
    """A server of the site's DNS zones, which its hosts ask as well."""

    host: Annotated[Name, KEY]
    """Name of the server in the site's domain."""
    address: Annotated[Address | None, HARDWARE] = None
    """Address of a server that is not a host or switch of the site with an address of its own."""


class SiteAddresses(Model):
    """The names of a site's hosts and switches in the DNS, and their addresses."""

    domain: Annotated[Domain, HARDWARE]
    """Domain of the names of hosts."""
    name_servers: Annotated[tuple[NameServer, ...], PART] = ()
    """Name servers of the zone files. No zone files are written if omitted."""
    serial: Annotated[int, Field(gt=0, lt=2**32), HARDWARE] = 1
    """Serial number of the zones. Raise it with every change, where other servers copy them."""
    networks: Annotated[tuple[SiteNetwork, ...], Field(min_length=1), PART]

    @model_validator(mode="after")
    def _names_differ(self) -> SiteAddresses:
        refuse_twins("network", (network.name for network in self.networks))
        refuse_twins("name server", (server.host for server in self.name_servers))
        systems: dict[str, SetBy] = {}
        for network in self.networks:
            for group in (
                one.of for one in network.ranges if network.set_by not in {None, "others"}
            ):
                other = systems.setdefault(group, network.set_by or "others")
                if other != network.set_by:
                    raise ValueError(
                        f"the interfaces of '{group}' are set by {other} and by {network.set_by}: give "
                        "one of both in 'set_by' of its networks"
                    )
        return self
