"""PWR-011: the feeds of a rack share no source that can fail alone."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import ClassVar

from rackwright.plan.model import Plan
from rackwright.plan.tables import rows_of
from rackwright.policy.api import Finding, Measure, Policy, Severity
from rackwright.policy.racks import RackNames


class IndependentFeeds(Policy):
    """No two feeds of a rack have a common ancestor, but for the kinds that may be shared."""

    id: ClassVar[str] = "PWR-011"
    title: ClassVar[str] = "The feeds of a rack come from different sources"
    severity: ClassVar[Severity] = Severity.HIGH
    since: ClassVar[str] = "0.1"
    family: ClassVar[str] = "power"

    may_share: frozenset[str] = frozenset({"utility", "generator"})
    """Kinds of sources that feeds may have in common."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """A measure of shared sources for each class of racks with several feeds."""
        for site in plan.onprem:
            names = RackNames(site)
            sources = {row["source"]: row for row in rows_of(site.sources)}
            feeds: dict[int, dict[str, frozenset[str]]] = {}
            for row in rows_of(site.feeds):
                above = frozenset(sources[row["source"]]["ancestors"].split(","))
                feeds.setdefault(row["rack_class"], {})[row["feed"]] = frozenset(
                    name for name in above if sources[name]["kind"] not in self.may_share
                )
            for number, of_rack in feeds.items():
                if len(of_rack) < 2:
                    continue
                shared = {
                    name: f"{a} and {b}"
                    for a, b in combinations(sorted(of_rack), 2)
                    for name in of_rack[a] & of_rack[b]
                }
                first = min(shared, default="")
                yield Measure(
                    names.subject(number),
                    value=len(shared),
                    limit=0,
                    unit="shared sources",
                    what=f"number of sources that two feeds have in common ('{first}' feeds "
                    f"{shared[first]})"
                    if shared
                    else "number of sources that two feeds have in common",
                    fix=f"feed {shared[first].split()[-1]} from a source without '{first}' above it"
                    if shared
                    else None,
                )
