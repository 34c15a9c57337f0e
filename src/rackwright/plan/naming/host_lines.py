"""The lines of an /etc/hosts, for the file that is rendered and for what hosts are given."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rackwright.plan.hosts import listed
from rackwright.plan.records.names import NamePlan, PlannedNetwork


def host_lines(names: NamePlan, networks: Sequence[PlannedNetwork]) -> Iterator[str]:
    """Yield the lines of an /etc/hosts for the addresses of ``networks``.

    A name without its domain is among them where one site has it.
    """
    several, twice = _in_several_sites(names), _named_in_several_sites(names)
    for network in networks:
        shared = {one.of for one in network.ranges if one.of in several}
        for one in network.addresses():
            is_shared = one.owner in twice or one.owner.rpartition("-")[0] in shared
            short = "" if is_shared else f" {one.label}"
            yield f"{one.address} {one.name}{short}"


def _named_in_several_sites(names: NamePlan) -> set[str]:
    """Return the names of hosts that are not called by their group, and that something in another site has."""
    every = [(network.site, one) for network in names.networks for one in network.ranges]
    own = {(site, one.names) for site, one in every if one.names is not None}
    return {
        name
        for site, text in own
        for name in listed(text)
        if any(other != site and one.index_of(name) is not None for other, one in every)
    }


def _in_several_sites(names: NamePlan) -> set[str]:
    """Return the prefixes of names of hosts and switches that several sites share."""
    sites: dict[str, set[str]] = {}
    for network in names.networks:
        for one in network.ranges:
            sites.setdefault(one.of, set()).add(network.site)
    return {of for of, where in sites.items() if len(where) > 1}
