"""Which products and hosts one plan has more or less of than another."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from rackwright.model.names import compress_hostlist, expand_hostlist
from rackwright.plan.hosts import node_names
from rackwright.plan.model import Plan, SitePlan


@dataclass(frozen=True, slots=True)
class ProductChange:
    """How many units of one product a site has."""

    site: str
    kind: str
    product: str
    before: int
    after: int


@dataclass(frozen=True, slots=True)
class HostChange:
    """Hosts of one node group.

    Attributes:
        added: a host list, empty when there are none; on AWS, where instances have no names
            before they run, empty as well.
        before: their number.
    """

    site: str
    group: str
    before: int
    after: int
    added: str
    removed: str


def compare_products(before: Plan | None, after: Plan | None) -> tuple[ProductChange, ...]:
    """The products of which the number changed, by site, kind and id."""
    one, other = products(before), products(after)
    return tuple(
        ProductChange(*key, one[key], other[key])
        for key in sorted({*one, *other})
        if one[key] != other[key]
    )


def products(plan: Plan | None) -> Counter[tuple[str, str, str]]:
    """Units of each product, by site, kind and catalogue id."""
    found: Counter[tuple[str, str, str]] = Counter()
    if plan is None:
        return found
    for site in plan.onprem:
        for kind, product, count in _onprem(site):
            found[site.site.name, kind, product] += count
    for aws in plan.aws:
        for group in aws.groups:
            found[aws.site.name, "instance", group.group.type] += group.group.count
        for server in aws.servers:
            found[aws.site.name, "instance", server.server.type] += server.server.count
    return found


def _onprem(site: SitePlan) -> Iterator[tuple[str, str, int]]:
    model = site.site
    for group in model.node_groups:
        yield "node", group.type, group.count
    for fabric in model.fabrics:
        for tier in fabric.tiers:
            yield "switch", tier.type, tier.count
    for loop in model.loops:
        standing = [racks.count for racks in site.rack_classes if racks.loop == loop.name]
        yield "CDU", loop.cdu, loop.count * (sum(standing) if loop.in_rack else 1)
    for hall in model.halls:
        if hall.air is not None:
            yield "air handler", hall.air.type, hall.air.count
        for racks in (racks for row in hall.rows for racks in row.rack_groups):
            count = len(expand_hostlist(racks.racks))
            yield "rack", racks.type, count
            if racks.shelves is not None:
                yield "power shelf", racks.shelves.type, count * racks.shelves.count
            for feed in racks.feeds:
                if feed.pdu is not None:
                    yield "PDU", feed.pdu, count * feed.pdus


def compare_hosts(before: Plan | None, after: Plan | None) -> tuple[HostChange, ...]:
    """The node groups whose hosts changed, in the order of the newer plan."""
    one, other = _hosts(before), _hosts(after)
    return tuple(
        _host_change(key, one.get(key, ()), other.get(key, ()))
        for key in dict.fromkeys((*other, *one))
        if one.get(key, ()) != other.get(key, ())
    )


def _host_change(
    key: tuple[str, str], one: tuple[str, ...] | int, other: tuple[str, ...] | int
) -> HostChange:
    before, after = _count(one), _count(other)
    if isinstance(one, int) or isinstance(other, int):
        return HostChange(*key, before, after, "", "")
    added = compress_hostlist(set(other) - set(one))
    return HostChange(*key, before, after, added, compress_hostlist(set(one) - set(other)))


def _count(hosts: tuple[str, ...] | int) -> int:
    return hosts if isinstance(hosts, int) else len(hosts)


def _hosts(plan: Plan | None) -> Mapping[tuple[str, str], tuple[str, ...] | int]:
    """Names, or on AWS the number, of the hosts of each group by site and name."""
    found: dict[tuple[str, str], tuple[str, ...] | int] = {}
    for site in plan.onprem if plan else ():
        for group in site.site.node_groups:
            found[site.site.name, group.name] = node_names(group, plan.catalogue) if plan else ()
    for aws in plan.aws if plan else ():
        for server in aws.servers:
            found[aws.site.name, server.role] = server.names
        for placed in aws.groups:
            found[aws.site.name, placed.group.name] = placed.group.count
    return found
