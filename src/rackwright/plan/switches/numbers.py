"""BGP numbers and loopback addresses of switches: from the first of a tier on, so that growth keeps them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from ipaddress import IPv4Address, ip_address

from rackwright.plan.base import Path
from rackwright.plan.fabric.addresses import NumberRange, asn_claims, next_free, overlaps
from rackwright.plan.fabric.fabrics import FabricPlan
from rackwright.plan.fabric.links import tier_links
from rackwright.plan.problems import PlanProblem
from rackwright.plan.records.names import PlannedNetwork

PRIVATE = ((64_512, 65_534), (4_200_000_000, 4_294_967_294))
"""BGP numbers for private use, of 16 and of 32 bits (RFC 6996)."""
_LAST_UNICAST = int(IPv4Address("223.255.255.255"))
"""Last IPv4 address before those of multicast."""
_EXAMPLE = 4_200_000_001
"""BGP number that a hint proposes where a fabric has none yet."""


def asn_of(planned: FabricPlan, tier: int, index: int) -> int | None:
    """Return the BGP number of the switch of a tier with this index, counted from 0."""
    declared = planned.fabric.tiers[tier]
    if declared.asn is None:
        return None
    return declared.asn if declared.asn_shared else declared.asn + index


def loopback_of(planned: FabricPlan, tier: int, index: int) -> IPv4Address | None:
    """Return the loopback address of the switch of a tier with this index, counted from 0."""
    declared = planned.fabric.tiers[tier].loopback
    if declared is None:
        return None
    first = ip_address(declared)
    return IPv4Address(int(first) + index) if first.version == 4 else None


def number_problems(
    planned: FabricPlan, others: Sequence[FabricPlan], networks: Sequence[PlannedNetwork]
) -> Iterator[PlanProblem]:
    """Yield the numbers that a routed fabric lacks, that two switches share, or that run out.

    Args:
        planned: the fabric.
        others: all fabrics of its site, this one among them.
        networks: of its site.
    """
    for index, tier in enumerate(planned.fabric.tiers):
        path = (*planned.path, "tiers", index)
        yield from _asn_problems(planned, index, (*path, "asn"))
        if tier.loopback is None:
            message = f"'{tier.name}' has BGP sessions and no 'loopback' address"
            yield PlanProblem(path, message, "set 'loopback' to a free IPv4 address of the site")
        else:
            yield from _loopback_problems(planned, index, (*path, "loopback"))
    yield from _shared(planned)
    yield from _asn_overlaps(planned)
    yield from _address_overlaps(planned, others, networks)


def _asn_problems(planned: FabricPlan, index: int, path: Path) -> Iterator[PlanProblem]:
    tier = planned.fabric.tiers[index]
    if tier.asn is None:
        claims = asn_claims(planned, planned.name)
        free = next_free(claims, 1) if claims else _EXAMPLE
        message = f"'{tier.name}' has BGP sessions and no 'asn'"
        yield PlanProblem(path[:-1], message, f"set 'asn', for example {free}")
        return
    last = asn_of(planned, index, planned.switches[index] - 1) or 0
    for first, end in PRIVATE:
        if first <= tier.asn <= end < last:
            message = (
                f"the BGP numbers of '{tier.name}' end at {last}, after the last private one, {end}"
            )
            hint = (
                f"begin at {PRIVATE[1][0]}"
                if end == PRIVATE[0][1]
                else f"begin at {end - planned.switches[index] + 1} or before"
            )
            yield PlanProblem(path, message, hint)
    if last > PRIVATE[1][1] and tier.asn > PRIVATE[1][1]:
        message = f"{last} is not a BGP number that switches may have"
        yield PlanProblem(path, message, f"begin at {PRIVATE[1][0]}")


def _loopback_problems(planned: FabricPlan, index: int, path: Path) -> Iterator[PlanProblem]:
    first = loopback_of(planned, index, 0)
    if first is None:
        message = f"the loopback of '{planned.fabric.tiers[index].name}' is not an IPv4 address"
        yield PlanProblem(path, message, "give an IPv4 address: it is the router id as well")
    elif int(first) + planned.switches[index] - 1 > _LAST_UNICAST:
        message = f"{planned.switches[index]:,} addresses from {first} on are not all unicast"
        yield PlanProblem(path, message, "begin at a lower address")


def _shared(planned: FabricPlan) -> Iterator[PlanProblem]:
    """Yield tiers whose shared number would make switches refuse each other's routes as loops."""
    links = list(tier_links(planned.fabric))
    for index, tier in enumerate(planned.fabric.tiers):
        if not tier.asn_shared or planned.switches[index] == 1:
            continue
        above = any(link.lower == index for link in links)
        pods = max((link.blocks for link in links if link.upper == index), default=1)
        if above and (index == 0 or pods > 1):
            where = "leaves" if index == 0 else f"{pods} pods"
            message = (
                f"'{tier.name}' shares one BGP number over {where}, which refuse each other's "
                "routes as loops"
            )
            path = (*planned.path, "tiers", index, "asn_shared")
            yield PlanProblem(path, message, "leave out 'asn_shared': each switch gets its own")


def _asn_overlaps(planned: FabricPlan) -> Iterator[PlanProblem]:
    claims = asn_claims(planned, planned.name)
    for one, other in overlaps(claims)[:1]:
        index = next(
            n for n, t in enumerate(planned.fabric.tiers) if other.owner.endswith(f" {t.name}")
        )
        message = f"BGP numbers overlap: {one.text} of {one.owner}, {other.text} of {other.owner}"
        path = (*planned.path, "tiers", index, "asn")
        yield PlanProblem(path, message, f"begin at {next_free(claims, 1)}")


def _address_overlaps(
    planned: FabricPlan, others: Sequence[FabricPlan], networks: Sequence[PlannedNetwork]
) -> Iterator[PlanProblem]:
    """Yield the first loopbacks of this fabric that something else of the site has as well."""
    claims: list[NumberRange] = []
    places: dict[NumberRange, Path] = {}
    for fabric in others:
        for index, tier in enumerate(fabric.fabric.tiers):
            if (first := loopback_of(fabric, index, 0)) is None:
                continue
            last = int(first) + fabric.switches[index] - 1
            owner = f"the loopbacks of {fabric.name} {tier.name}"
            claim = NumberRange(owner, int(first), last, f"{first} to {IPv4Address(last)}")
            claims.append(claim)
            if fabric is planned:
                places[claim] = (*fabric.path, "tiers", index, "loopback")
    for network in networks:
        if network.prefix.version == 4:
            net = network.prefix
            ends = int(net.network_address), int(net.broadcast_address)
            claims.append(NumberRange(f"the network {network.name}", *ends, str(net)))
    for one, other in overlaps(claims):
        mine = other if other in places else one
        if mine not in places:
            continue
        theirs = one if mine is other else other
        message = f"{mine.text} of {mine.owner} overlap with {theirs.text} of {theirs.owner}"
        yield PlanProblem(places[mine], message, f"begin at {IPv4Address(next_free(claims, 1))}")
        return
