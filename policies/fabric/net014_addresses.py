"""NET-014: fabric addresses and keys are unique, and MTUs are correct."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator, Sequence
from typing import Annotated

from pydantic import Field

from rackwright.api import (
    Finding,
    Measure,
    Missing,
    Plan,
    Policy,
    Severity,
    Subject,
    Suggestion,
    rule,
)
from rackwright.model.fabric import Segment
from rackwright.plan.fabric.addresses import (
    NumberRange,
    addresses_needed,
    addresses_of,
    asn_claims,
    free_prefix,
    next_free,
    number_claims,
    overlaps,
    prefix_claims,
    prefix_for,
)
from rackwright.policy.helpers.fabrics import FabricAt, fabrics_of


@rule(
    "NET-014",
    "Fabric addresses and keys are unique, and MTUs are correct",
    Severity.HIGH,
    since="0.2",
    stage="design",
)
class Addresses(Policy):
    """Nothing is given out twice, every host gets its addresses, and frames are as large as meant."""

    infiniband_mtu: Annotated[int, Field(ge=256, le=4096)] = 4096
    """Smallest MTU of an InfiniBand fabric, in bytes."""
    roce_mtu: Annotated[int, Field(ge=1500, le=9600)] = 9216
    """Smallest MTU of an Ethernet fabric that carries RDMA, in bytes."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield findings about the numbers of all fabrics, and about each fabric's MTU and losslessness."""
        found = list(fabrics_of(plan))
        if not found:
            return
        yield from _ranges(found)
        for one in found:
            yield from _numbers(one)
            yield from _room(one)
            yield from self._frames(one)

    def _frames(self, found: FabricAt) -> Iterator[Measure | Finding]:
        fabric = found.fabric
        if found.technology == "ethernet" and fabric.role == "management":
            return
        infiniband = found.technology == "infiniband"
        limit = self.infiniband_mtu if infiniband else self.roce_mtu
        missing = () if fabric.mtu is not None else (found.lacks("mtu"),)
        if found.technology is None:
            missing = (*missing, found.lacks("technology"))
        short = fabric.mtu is not None and fabric.mtu < limit
        yield Measure(
            found.at("mtu") if fabric.mtu is not None else found.at(),
            value=fabric.mtu,
            limit=None if found.technology is None else limit,
            unit="bytes",
            what="MTU",
            sense="at_least",
            fix=f"set the MTU of switches and hosts to {limit}" if short else None,
            suggest=Suggestion(found.at("mtu").path, limit) if short else None,
            missing=missing,
        )
        if found.technology == "ethernet":
            for key, noun in (("pfc", "priority flow control"), ("ecn", "congestion marking")):
                yield _switched_on(found, key, noun)


def _switched_on(found: FabricAt, key: str, noun: str) -> Finding:
    on = getattr(found.fabric, key)
    if on is None:
        message, missing = f"whether {noun} is on", (found.lacks(key),)
        return Finding(found.at(), ok=None, message=message, missing=missing, what=noun)
    return Finding(
        found.at(key),
        ok=on,
        message=f"{noun} is {'on' if on else 'off'}, on a fabric that carries RDMA",
        fix=None if on else f"configure {noun} on all ports and set '{key}: true'",
        what=noun,
    )


def _ranges(found: Sequence[FabricAt]) -> Iterator[Finding]:
    """Yield the addresses and BGP numbers, which are unique among all fabrics."""
    by_version: dict[int, list[NumberRange]] = {4: [], 6: []}
    asns: list[NumberRange] = []
    for one in found:
        owner = one.at().name
        for version, claims in prefix_claims(one.fabric, owner).items():
            by_version[version] += claims
        asns += asn_claims(one.planned, owner)
    at = Subject("all fabrics", ())
    for version, claims in by_version.items():
        if claims:
            pairs = overlaps(claims)
            free = free_prefix(claims, pairs[0][1], version) if pairs else None
            fix = f"give {pairs[0][1].owner} {free}" if free else "give one another range"
            yield _unique(at, f"IPv{version} ranges", pairs, fix, len(claims))
    if asns:
        pairs = overlaps(asns)
        fix = f"let {pairs[0][1].owner} begin at {next_free(asns, 1)}" if pairs else ""
        yield _unique(at, "BGP numbers", pairs, fix, len(asns))


def _numbers(found: FabricAt) -> Iterator[Finding]:
    """Partition keys and VLANs, which are unique in a fabric."""
    for kind, noun in (("pkey", "partition keys"), ("vlan", "VLANs")):
        claims = number_claims(found.fabric, kind)
        if claims:
            pairs = overlaps(claims)
            fix = f"give '{pairs[0][1].owner}' another {kind}" if pairs else ""
            yield _unique(found.at("segments"), noun, pairs, fix, len(claims))


def _unique(
    at: Subject, noun: str, pairs: Sequence[tuple[NumberRange, NumberRange]], fix: str, count: int
) -> Finding:
    if not pairs:
        return Finding(at, ok=True, message=f"{noun} do not overlap ({count})", what=noun)
    one, other = pairs[0]
    more = f", and {len(pairs) - 1} more" if len(pairs) > 1 else ""
    message = f"{noun} overlap: {one.text} of {one.owner} and {other.text} of {other.owner}{more}"
    return Finding(at, ok=False, message=message, fix=fix, what=noun)


def _room(found: FabricAt) -> Iterator[Measure]:
    """Check that each range has an address for every interface of the hosts in it."""
    for index, segment in enumerate(found.fabric.segments):
        if segment.prefix is None or not segment.groups:
            continue
        needed = None if found.layout is None else addresses_needed(found.layout, segment)
        room = addresses_of(segment)
        short = needed is not None and room is not None and needed > room
        version = ipaddress.ip_network(segment.prefix).version
        yield Measure(
            Subject(f"{found.at().name} segment {segment.name}", found.at("segments", index).path),
            value=needed,
            limit=room,
            unit="addresses",
            what=f"number of addresses that the interfaces in {segment.prefix} need",
            fix=f"give it a /{prefix_for(needed, version)}" if short and needed else None,
            missing=() if needed is not None else _unaddressed(found, segment),
        )


def _unaddressed(found: FabricAt, segment: Segment) -> tuple[str, ...]:
    """Return the missing facts that make the number of interfaces in a segment unknown."""
    groups = [attached.group for attached in found.fabric.attached]
    open_ = [
        found.at("attached", groups.index(name), "interfaces").path
        for name in segment.groups
        if name in groups
    ]
    places = open_ if len(open_) == len(segment.groups) else [found.at("attached").path]
    return (Missing("interfaces of its groups on this fabric", *places),)
