"""Products and hosts that one plan has more or less of than another."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from rackwright.model.names import compress_hostlist
from rackwright.plan.audit.catalogue_usage import product_counts
from rackwright.plan.model import Plan


@dataclass(frozen=True, slots=True)
class ProductChange:
    """Number of units of one product on a site."""

    site: str
    kind: str
    product: str
    before: int
    after: int


@dataclass(frozen=True, slots=True)
class HostChange:
    """Hosts of one node group.

    Attributes:
        added: a host list, empty when there are none.
        before: their number.
    """

    site: str
    group: str
    before: int
    after: int
    added: str
    removed: str


def compare_products(before: Plan | None, after: Plan | None) -> tuple[ProductChange, ...]:
    """Return the products of which the number changed, by site, kind and id."""
    one, other = _counts(before), _counts(after)
    return tuple(
        ProductChange(*key, one[key], other[key])
        for key in sorted({*one, *other})
        if one[key] != other[key]
    )


def _counts(plan: Plan | None) -> Counter[tuple[str, str, str]]:
    return Counter() if plan is None else product_counts(plan)


def compare_hosts(before: Plan | None, after: Plan | None) -> tuple[HostChange, ...]:
    """Return the node groups whose hosts changed, in the order of the newer plan."""
    one, other = _hosts(before), _hosts(after)
    return tuple(
        _host_change(key, one.get(key, ()), other.get(key, ()))
        for key in dict.fromkeys((*other, *one))
        if one.get(key, ()) != other.get(key, ())
    )


def _host_change(key: tuple[str, str], one: tuple[str, ...], other: tuple[str, ...]) -> HostChange:
    added = compress_hostlist(set(other) - set(one))
    removed = compress_hostlist(set(one) - set(other))
    return HostChange(*key, len(one), len(other), added, removed)


def _hosts(plan: Plan | None) -> Mapping[tuple[str, str], tuple[str, ...]]:
    """Return the names of the hosts of each group, by site and name."""
    found: dict[tuple[str, str], tuple[str, ...]] = {}
    for site in plan.onprem if plan else ():
        for group in site.groups:
            found[site.name, group.name] = group.host_names
    for aws in plan.aws if plan else ():
        for server in aws.servers:
            found[aws.name, server.role] = server.names
        for placed in aws.groups:
            found[aws.name, placed.spec.name] = placed.host_names
    return found
