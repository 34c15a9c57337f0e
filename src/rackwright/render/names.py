"""The files that tell names and addresses, made from a plan: the same plan gives the same bytes.

``hosts`` is a whole /etc/hosts. Zone files are for BIND, which ``zones.conf`` tells of them. The
subnets for Kea are a list by itself, which a site's own configuration of Kea includes: interfaces,
leases and what boots by network are decided there.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from ipaddress import IPv4Address, IPv6Address
from typing import Any

from rackwright.plan.model import Plan
from rackwright.plan.naming.host_lines import host_lines
from rackwright.plan.records.names import DnsZone, NamedAddress, NamePlan, PlannedNetwork
from rackwright.render.slurm import HEADER
from rackwright.render.switches.ztp import boot_options

HOSTS, ZONES, SUBNETS = "hosts", "zones.conf", "kea-subnet4.json"
FILES = (HOSTS, ZONES, SUBNETS)
"""Every file that there may be beside those of zones."""

ZONE_FILE = "db."
"""What the names of zone files begin with; the name of the zone follows."""

ZONE_HEADER = HEADER.replace("#", ";", 1)
"""How zone files start, whose comments have another sign."""

TTL = 3600
"""Seconds that answers are kept, also those that there is no such name (RFC 2308 has 1 to 3 hours)."""
TIMES = (86_400, 7_200, 3_600_000)
"""Refresh, retry and expiry for servers that copy a zone, in seconds (RIPE-203)."""

LOCAL = ("127.0.0.1 localhost", "::1 localhost ip6-localhost ip6-loopback")


def render_names(plan: Plan) -> Mapping[str, str]:
    """Return the content of each file, by its name; none where no site declares addresses."""
    names = plan.names
    if not names.networks:
        return {}
    files = {HOSTS: _hosts(names)}
    if zones := _zones(names):
        files[ZONES] = "".join(
            f'zone "{zone}" {{ type primary; file "{ZONE_FILE}{zone}"; }};\n' for zone in zones
        )
        files |= {f"{ZONE_FILE}{zone}": text for zone, text in zones.items()}
    if subnets := _subnets(names, boot_options(plan)):
        files[SUBNETS] = f"[\n{subnets}\n]\n"
    made = f"'{plan.name}'; change it there."
    return {
        name: f"{ZONE_HEADER if name.startswith(ZONE_FILE) else HEADER} {made}\n{text}"
        for name, text in files.items()
    }


def _hosts(names: NamePlan) -> str:
    """Return the lines of all networks, by site and prefix: no order of the blueprint changes them."""
    lines = [*LOCAL]
    sites = list(dict.fromkeys(network.site for network in names.networks))
    for network in sorted(
        names.networks,
        key=lambda one: (
            sites.index(one.site),
            one.prefix.version,
            int(one.prefix.network_address),
        ),
    ):
        lines += ["", f"# {network.site}: {network.name}, {network.prefix}"]
        lines += host_lines(names, [network])
    return "".join(f"{line}\n" for line in lines)


def _zones(names: NamePlan) -> Mapping[str, str]:
    """Return the text of each zone that has servers, by its name: forward ones, then reverse ones."""
    served = {zone.site: zone for zone in names.zones if zone.servers}
    made = {zone.domain: _forward(zone, names) for zone in served.values()}
    reverse: dict[str, dict[str, NamedAddress]] = {}
    sites: dict[str, dict[str, DnsZone]] = {}
    for network in names.networks:
        if network.site not in served:
            continue
        for one in network.addresses():
            zone = _reverse_zone(one.address, network.prefix.prefixlen)
            relative = one.address.reverse_pointer.removesuffix(f".{zone}")
            reverse.setdefault(zone, {})[relative] = one
            sites.setdefault(zone, {})[network.site] = served[network.site]
    for name, records in reverse.items():
        lines = [f"{relative} IN PTR {one.name}." for relative, one in records.items()]
        made[name] = _zone(name, list(sites[name].values()), lines)
    return made


def _forward(zone: DnsZone, names: NamePlan) -> str:
    lines = [
        f"{one.label} IN {_kind(one.address)} {one.address}"
        for network in names.networks
        if network.site == zone.site
        for one in network.addresses()
    ]
    lines += [
        f"{host} IN {_kind(address)} {address}"
        for host in zone.outside
        for address in zone.servers[host]
    ]
    return _zone(zone.domain, [zone], lines)


def _zone(name: str, zones: Sequence[DnsZone], records: Sequence[str]) -> str:
    """Return a zone of one or more sites, which share a reverse zone where their prefixes lie close."""
    servers = [f"{host}.{zone.domain}." for zone in zones for host in zone.servers]
    serial = max(zone.serial for zone in zones)
    times = " ".join(map(str, (serial, *TIMES, TTL)))
    lines = [
        f"$ORIGIN {name}.",
        f"$TTL {TTL}",
        f"@ IN SOA {servers[0]} hostmaster.{zones[0].domain}. ({times})",
        *(f"@ IN NS {server}" for server in servers),
        *records,
    ]
    return "".join(f"{line}\n" for line in lines)


def _kind(address: IPv4Address | IPv6Address) -> str:
    return "A" if address.version == 4 else "AAAA"


def _reverse_zone(address: IPv4Address | IPv6Address, length: int) -> str:
    """Return the zone of an address in a network with a prefix of ``length``.

    Zones of the DNS end at an octet of IPv4 and at four bits of IPv6: the next such end inside the
    network, so that only addresses of the network are answered; at most that of a
    /24 or /64, which smaller networks share.
    """
    bits, most = (8, 24) if address.version == 4 else (4, 64)
    labels = min(-(-max(length, 1) // bits), most // bits)
    return ".".join(address.reverse_pointer.split(".")[-labels - 2 :])


def _subnets(names: NamePlan, boots: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the networks of IPv4 in which Ethernet addresses are known, as Kea's ``subnet4`` lists them."""
    zones = {zone.site: zone for zone in names.zones}
    return ",\n".join(
        _subnet(network, zones[network.site], boots)
        for network in names.networks
        if network.macs and network.prefix.version == 4
    )


def _subnet(network: PlannedNetwork, zone: DnsZone, boots: Mapping[str, Mapping[str, Any]]) -> str:
    """Return one subnet, each option and each reservation on a line of its own."""
    asked = [str(one) for of in zone.servers.values() for one in of if one.version == 4]
    options = {
        "routers": "" if network.gateway is None else str(network.gateway),
        "domain-name-servers": ", ".join(asked),
        "domain-name": network.domain,
        "domain-search": network.domain,
    }
    reservations = [
        {"hw-address": one.mac, "ip-address": str(one.address), "hostname": one.label}
        | ({"option-data": [boots[one.label]]} if one.label in boots else {})
        for one in network.addresses()
        if one.mac is not None
    ]
    return (
        "  {\n"
        # Leases keep the number of their subnet, so it follows from the prefix.
        f'    "id": {int(network.prefix.network_address)},\n'
        f'    "subnet": "{network.prefix}",\n'
        f'    "option-data": {_list({"name": k, "data": d} for k, d in options.items() if d)},\n'
        f'    "reservations": {_list(reservations)}\n'
        "  }"
    )


def _list(entries: Iterable[Mapping[str, Any]]) -> str:
    inner = ",\n".join(f"      {json.dumps(entry)}" for entry in entries)
    return f"[\n{inner}\n    ]"
