"""Names that hosts have already, which a node group tells one by one."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rackwright.catalog.loader import Catalogue
from rackwright.model.names import HOST, LABEL
from rackwright.model.onprem import OnPremSite
from rackwright.plan.base import Path
from rackwright.plan.hosts import host_count, listed, numbered_index, switch_count, switch_stem
from rackwright.plan.problems import PlanProblem


def check_host_names(site: OnPremSite, path: Path, catalogue: Catalogue) -> Iterator[PlanProblem]:
    """Yield the names that are more or fewer than the hosts, that are none, or that something else has.

    Args:
        site: whose products are all in the catalogue.
        path: where it is.
        catalogue: where they are looked up.
    """
    numbered: dict[str, tuple[int, int | None]] = {
        group.name: (host_count(group, catalogue), group.name_digits)
        for group in site.node_groups
        if group.host_names is None
    }
    for fabric in site.fabrics:
        for tier in fabric.tiers:
            stem = switch_stem(fabric, tier)
            numbered[stem] = switch_count(tier, catalogue), tier.name_digits
    owners: dict[str, str] = {}
    for index, group in enumerate(site.node_groups):
        if group.host_names is None:
            continue
        where = (*path, "node_groups", index, "host_names")
        names, hosts = listed(group.host_names), host_count(group, catalogue)
        if len(names) != hosts:
            message = f"{len(names):,} names are written, and there are {hosts:,} hosts"
            yield PlanProblem(where, message, "write one for each host, or change the 'count'")
        for name in names:
            if problem := _unusable(name, site):
                yield PlanProblem(where, *problem)
                break
            stem = name.rpartition("-")[0]
            other = owners.get(name.lower())
            if other is None and stem in numbered:
                count, digits = numbered[stem]
                found = numbered_index(stem, count, name, digits)
                other = None if found is None else stem
            if other is not None:
                message = f"'{name}' is a name in '{other}' already"
                yield PlanProblem(where, message, "write each name once")
                break  # the others have the same mistake, most likely
        owners |= dict.fromkeys((name.lower() for name in names), group.name)


def _unusable(name: str, site: OnPremSite) -> tuple[str, str] | None:
    """Return what is wrong with a name, and the fix; the site's own DNS takes labels alone."""
    if site.addresses is not None and re.fullmatch(LABEL, name) is None:
        message = f"'{name}' cannot be a name in the domain '{site.addresses.domain}'"
        return (
            message,
            "the DNS takes at most 63 small letters, digits and '-': leave 'addresses' out, or rename it",
        )
    if re.fullmatch(HOST, name) is None:
        return f"'{name}' is not a host name", "use letters, digits, '-', '_' and '.'"
    return None
