"""PWR-011: no single source takes two feeds of a rack with it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations

from rackwright.api import Finding, Measure, Plan, Policy, Profile, Severity, Subject, rule
from rackwright.model.power import SourceKind
from rackwright.plan.racks.contributors import subject


@rule(
    "PWR-011",
    "The feeds of a rack come from different sources",
    Severity.HIGH,
    since="0.1",
    stage="concept",
    profile=Profile.PRODUCTION,
)
class IndependentFeeds(Policy):
    """No loss of one source kills two feeds of a rack, but for the kinds that may be shared."""

    may_share: frozenset[SourceKind] = frozenset({"utility"})
    """Kinds of sources that feeds may have in common."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield a measure of shared sources for each class of racks with several feeds."""
        for site in plan.onprem:
            needed: dict[str, set[str]] = {}
            tree = site.power.tree
            for lost, dead in tree.outages.dead.items():
                if tree.sources[lost].kind not in self.may_share:
                    for name in dead:
                        needed.setdefault(name, set()).add(lost)
            for rack in site.racks:
                if len(rack.sources) > 1:
                    above = {up for name in rack.sources for up in tree.ancestors(name)}
                    unsure = tree.missing if above.intersection(tree.unfed) else ()
                    feeds = {feed.feed: source for feed, source, _ in rack.feeds}
                    yield _measure(subject(site, rack), feeds, needed, unsure)


def _measure(
    at: Subject,
    feeds: Mapping[str, str],
    needed: Mapping[str, set[str]],
    unsure: tuple[str, ...],
) -> Measure:
    """Return the sources that two feeds cannot do without.

    Args:
        at: the racks.
        feeds: source of each feed.
        needed: what each source cannot do without.
        unsure: what is missing for there to be no others.
    """
    shared = {
        lost: (a, b)
        for a, b in combinations(sorted(feeds), 2)
        for lost in sorted(needed.get(feeds[a], set()) & needed.get(feeds[b], set()))
    }
    what, fix = "number of sources shared by two feeds", None
    if shared:
        lost, (a, b) = min(shared.items())
        what = f"{what} (feeds {a} and {b} go down with '{lost}')"
        fix = f"feed {b} from a source that does not depend on '{lost}'"
    return Measure(
        at,
        value=None if unsure and not shared else len(shared),
        limit=0,
        unit="shared sources",
        what=what,
        fix=fix,
        missing=unsure,
    )
