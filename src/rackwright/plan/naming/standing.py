"""Names that hosts and switches have already, which a node group or a tier tells one by one."""

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
    own: list[tuple[Path, str, str, int, str]] = [
        (
            (*path, "node_groups", index, "host_names"),
            group.name,
            group.host_names,
            host_count(group, catalogue),
            "host",
        )
        for index, group in enumerate(site.node_groups)
        if group.host_names is not None
    ]
    for index, fabric in enumerate(site.fabrics):
        for place, tier in enumerate(fabric.tiers):
            stem, count = switch_stem(fabric, tier), switch_count(tier, catalogue)
            if tier.switch_names is None:
                numbered[stem] = count, tier.name_digits
            else:
                where = (*path, "fabrics", index, "tiers", place, "switch_names")
                own.append((where, stem, tier.switch_names, count, "switch"))
    owners: dict[str, str] = {}
    for where, owner, written, number, noun in own:
        names = listed(written)
        if len(names) != number:
            nouns = "hosts" if noun == "host" else "switches"
            message = f"{len(names):,} names are written, and there are {number:,} {nouns}"
            yield PlanProblem(where, message, f"write one for each {noun}, or change the 'count'")
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
        owners |= dict.fromkeys((name.lower() for name in names), owner)


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
