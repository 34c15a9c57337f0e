"""Names that hosts have already, which a node group tells one by one."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rackwright.catalog.loader import Catalogue
from rackwright.model.names import LABEL
from rackwright.model.onprem import OnPremSite
from rackwright.plan.base import Path
from rackwright.plan.hosts import host_count, listed, numbered_index, switch_count, switch_stem
from rackwright.plan.problems import PlanProblem


def check_host_names(site: OnPremSite, path: Path, catalogue: Catalogue) -> Iterator[PlanProblem]:
    """Names that are more or fewer than the hosts, that are none, or that something else has.

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
            numbered[switch_stem(fabric, tier)] = switch_count(tier, catalogue), None
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
            if re.fullmatch(LABEL, name) is None:
                message = f"'{name}' is no name of a host"
                yield PlanProblem(where, message, "it has at most 63 letters, digits and '-'")
                break
            stem = name.rpartition("-")[0]
            other = owners.get(name)
            if other is None and stem in numbered:
                count, digits = numbered[stem]
                found = numbered_index(stem, count, name, digits)
                other = None if found is None else stem
            if other is not None:
                message = f"'{name}' is a name in '{other}' already"
                yield PlanProblem(where, message, "write each name once")
                break  # the others have the same mistake, most likely
        owners |= dict.fromkeys(names, group.name)
