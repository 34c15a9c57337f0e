"""Partitions, VLANs, addresses and BGP numbers of fabrics: what is given out twice."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rackwright.model.fabric import Fabric, Segment
from rackwright.plan.fabric.fabrics import FabricPlan
from rackwright.plan.fabric.layout import Layout


@dataclass(frozen=True, slots=True)
class NumberRange:
    """A range of numbers that something has for itself; both ends belong to it.

    Attributes:
        owner: who has it, in words.
        text: the range as people write it.
    """

    owner: str
    first: int
    last: int
    text: str


def overlaps(claims: Iterable[NumberRange]) -> list[tuple[NumberRange, NumberRange]]:
    """Return the pairs of claims that share a number: each claim with the one that reaches furthest before it."""
    found = []
    furthest: NumberRange | None = None
    for claim in sorted(claims, key=lambda c: (c.first, c.last, c.owner)):
        if furthest is not None and claim.first <= furthest.last:
            found.append((furthest, claim))
        if furthest is None or claim.last > furthest.last:
            furthest = claim
    return found


def next_free(claims: Sequence[NumberRange], size: int) -> int:
    """Return the first number after all claims, a multiple of ``size``."""
    last = max(claim.last for claim in claims)
    return -(-(last + 1) // size) * size


def prefix_claims(fabric: Fabric, owner: str) -> dict[int, list[NumberRange]]:
    """Return the address ranges of a fabric's segments, by version of IP."""
    found: dict[int, list[NumberRange]] = {4: [], 6: []}
    for segment in fabric.segments:
        if segment.prefix is not None:
            net = ipaddress.ip_network(segment.prefix)
            first, last = int(net.network_address), int(net.broadcast_address)
            found[net.version].append(NumberRange(f"{owner} {segment.name}", first, last, str(net)))
    return found


def free_prefix(claims: Sequence[NumberRange], claim: NumberRange, version: int) -> str | None:
    """Return a range as large as ``claim`` after all others, or None at the end of the addresses."""
    size = claim.last - claim.first + 1
    bits = 32 if version == 4 else 128
    first = next_free(claims, size)
    if first + size > 2**bits:
        return None
    length = bits - (size.bit_length() - 1)
    made = ipaddress.IPv4Address(first) if version == 4 else ipaddress.IPv6Address(first)
    return f"{made}/{length}"


def number_claims(fabric: Fabric, kind: str) -> list[NumberRange]:
    """Return the partition keys (``pkey``) or VLANs (``vlan``) of a fabric's segments."""
    return [
        NumberRange(segment.name, number, number, str(number))
        for segment in fabric.segments
        if (number := getattr(segment, kind)) is not None
    ]


def asn_claims(planned: FabricPlan, owner: str) -> list[NumberRange]:
    """Return the BGP numbers of a fabric's tiers: one for each switch, or one that all share."""
    found = []
    for tier, switches in zip(planned.fabric.tiers, planned.switches, strict=True):
        if tier.asn is not None:
            last = tier.asn if tier.asn_shared else tier.asn + switches - 1
            text = str(tier.asn) if last == tier.asn else f"{tier.asn} to {last}"
            found.append(NumberRange(f"{owner} {tier.name}", tier.asn, last, text))
    return found


def addresses_needed(layout: Layout, segment: Segment) -> int | None:
    """Return one address for each interface of each host of the segment's groups; None where unknown."""
    total = 0
    for group in segment.groups:
        hosts = next((h for h in layout.hosts if h.group.name == group), None)
        if hosts is None or hosts.endpoints is None:
            return None
        total += hosts.endpoints
    return total


def addresses_of(segment: Segment) -> int | None:
    """Return the addresses that hosts may have; the first and the last of IPv4 are not among them."""
    if segment.prefix is None:
        return None
    net = ipaddress.ip_network(segment.prefix)
    return net.num_addresses - 2 if net.version == 4 and net.prefixlen < 31 else net.num_addresses


def prefix_for(hosts: int, version: int) -> int:
    """Return the length of the smallest prefix with an address for each of ``hosts``."""
    bits = 32 if version == 4 else 128
    wanted = hosts + 2 if version == 4 else max(hosts, 1)
    return bits - (wanted - 1).bit_length()
