"""PWR-034: racks survive a failure during maintenance of another source."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from rackwright.api import (
    Finding,
    Measure,
    Plan,
    Policy,
    Profile,
    RackClass,
    Severity,
    SitePlan,
    rule,
)
from rackwright.model.power import SourceKind
from rackwright.plan.power.distribution import PowerTree
from rackwright.plan.racks.contributors import subject


@rule(
    "PWR-034",
    "Racks survive a failure during maintenance of another source",
    Severity.HIGH,
    since="0.5",
    stage="concept",
    profile=Profile.PRODUCTION,
)
class MaintenanceAndFailure(Policy):
    """With one source maintained and another one failed, a feed of each rack lives."""

    required: bool = False
    """True where the hall is meant to live through both at once. Nothing is judged otherwise."""
    maintained: tuple[SourceKind, ...] = (
        "utility",
        "generator",
        "transformer",
        "switchgear",
        "ups",
    )
    """Kinds of sources that are maintained while racks run; any other source may fail meanwhile."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield a measure for each class of racks, where the parameter asks for it."""
        for site in plan.onprem if self.required else ():
            worst: dict[tuple[str, ...], tuple[int, Sequence[str]]] = {}
            for rack in site.racks:
                sources = tuple(source for _, source, _ in rack.feeds)
                if sources not in worst:
                    worst[sources] = fewest_feeds(site.power.tree, sources, self.maintained)
                yield _rack(site, rack, *worst[sources])


def fewest_feeds(
    tree: PowerTree, sources: Sequence[str], maintained: Sequence[str]
) -> tuple[int, Sequence[str]]:
    """Return the fewest feeds that live with two sources out, and those two.

    Args:
        tree: the sources of the site.
        sources: those of the feeds of a rack.
        maintained: kinds of which one of the two is.
    """
    above = sorted(set().union(*(tree.ancestors(source) for source in sources)))
    fewest: tuple[int, Sequence[str]] = (len(sources), ())
    for pair in combinations(above, 2) if len(above) > 1 else [tuple(above)]:
        if not any(tree.sources[name].kind in maintained for name in pair):
            continue
        dead = tree.without(frozenset(pair))
        living = sum(source not in dead for source in sources)
        if living < fewest[0]:
            fewest = living, pair
    return fewest


def _rack(site: SitePlan, rack: RackClass, living: int, lost: Sequence[str]) -> Measure:
    unfed = site.power.tree.missing
    return Measure(
        subject(site, rack),
        value=None if unfed else living,
        limit=1,
        unit="feeds",
        what="lowest number of working feeds" + (f" with {' and '.join(lost)} out" if lost else ""),
        sense="at_least",
        fix="feed the rack from a third system, or give its sources another parent in 'fed_by'",
        missing=unfed,
    )
