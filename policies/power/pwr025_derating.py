"""PWR-025: breakers are loaded no more than the wiring standard allows."""

from __future__ import annotations

from collections.abc import Iterator

from rackwright.api import (
    Finding,
    Measure,
    Missing,
    Plan,
    Policy,
    Profile,
    Severity,
    SitePlan,
    Subject,
    rule,
)
from rackwright.policy.helpers.racks import is_over

NEC_PERCENT = 80.0
"""Share of a breaker that continuous load may use under the NEC."""
NEC_ONLY = frozenset({15, 30, 35, 45, 60, 70, 90, 110, 150, 175, 225, 300, 350, 450, 600, 700})
"""Standard ratings of the NEC, in A, that are none of IEC 60059."""


@rule(
    "PWR-025",
    "Breakers are loaded no more than the wiring standard allows",
    Severity.HIGH,
    since="0.4",
    stage="design",
    profile=Profile.PILOT,
)
class Derating(Policy):
    """The site's ``continuous_derate`` is that of its wiring standard."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield a measure for each site on bare metal."""
        for site in plan.onprem:
            yield _site(site)


def _site(site: SitePlan) -> Measure:
    value, why = site.power.settings.continuous_derate, ""
    missing: tuple[str, ...] = ()
    cabling = site.power.settings.cabling
    limit: float | None = 100.0 if cabling and cabling.standard == "iec" else NEC_PERCENT
    found = _nec_rating(site)
    if cabling is None and found is not None:
        why = f", of a site with breakers of {found:g} A, a rating of the NEC,"
    elif cabling is None and value > NEC_PERCENT:
        limit = None
        place = (*site.path, "power", "cabling", "standard")
        missing = (Missing("'standard' of the site's cabling", place),)
    return Measure(
        Subject(f"{site.name} continuous load", (*site.path, "power", "continuous_derate")),
        value=value,
        limit=limit,
        unit="%",
        what=f"share of a breaker that continuous load may use{why}",
        fix=f"plan with 'continuous_derate: {NEC_PERCENT:g} %', and mark the devices that are listed for 100 % "
        "with 'continuous_rated'"
        if is_over(value, limit)
        else None,
        missing=missing,
    )


def _nec_rating(site: SitePlan) -> float | None:
    """Return the smallest rating of a breaker or PDU that only the NEC lists."""
    ratings = {row.circuit.current for row in site.power.settings.sources if row.circuit}
    for kind in {rack.kind for rack in site.racks}:
        for feed in kind.feeds:
            ratings |= {amperes for amperes in (feed.current_a, feed.circuit_current_a) if amperes}
    return min((amperes for amperes in ratings if amperes in NEC_ONLY), default=None)
