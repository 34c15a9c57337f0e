"""The lines of an /etc/hosts, for the file that is rendered and for what hosts are given."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rackwright.plan.records.names import NamePlan, PlannedNetwork


def host_lines(names: NamePlan, networks: Sequence[PlannedNetwork]) -> Iterator[str]:
    """The lines of an /etc/hosts for the addresses of ``networks``.

    A name without its domain is among them where one site has it.
    """
    several = _in_several_sites(names)
    for network in networks:
        shared = {one.of for one in network.ranges if one.of in several}
        for one in network.addresses():
            short = "" if one.owner.rpartition("-")[0] in shared else f" {one.label}"
            yield f"{one.address} {one.name}{short}"


def _in_several_sites(names: NamePlan) -> set[str]:
    """What names of hosts and switches of more than one site begin with."""
    sites: dict[str, set[str]] = {}
    for network in names.networks:
        for one in network.ranges:
            sites.setdefault(one.of, set()).add(network.site)
    return {of for of, where in sites.items() if len(where) > 1}
