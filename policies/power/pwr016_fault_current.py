"""PWR-016: breakers, busways and PDUs are rated for the fault current."""

from __future__ import annotations

from collections.abc import Iterator

from rackwright.api import (
    Finding,
    Measure,
    Plan,
    Policy,
    Profile,
    Severity,
    SitePlan,
    Subject,
    rule,
)
from rackwright.plan.missing import of_product
from rackwright.plan.racks.contributors import subject
from rackwright.plan.records.power import FaultCurrent
from rackwright.policy.helpers.racks import is_over
from rackwright.policy.helpers.remediation import provide


@rule(
    "PWR-016",
    "Breakers, busways and PDUs are rated for the fault current",
    Severity.CRITICAL,
    since="0.3",
    stage="design",
    profile=Profile.LAB,
    waivable=False,
)
class FaultCurrents(Policy):
    """The largest short circuit at each source and each PDU is inside its rating."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield a measure for each source that passes power on, and for the PDUs of each feed of a class."""
        for site in plan.onprem:
            for row in site.power.fault_currents:
                yield _place(site, row)


def _place(site: SitePlan, row: FaultCurrent) -> Measure:
    missing = row.missing
    if row.rack is None:
        at = Subject(f"{site.name} source {row.source}", row.path)
        rating = site.power.tree.unsaid(row.source, "short_circuit_rating")
        what = "a source"
    else:
        at = subject(site, row.rack, f"feed {row.feed}", row.path)
        rating = of_product(str(row.product), "short_circuit_rating", "short-circuit rating")
        what = "PDUs"
    if row.rating_a is None:
        missing += (rating,)
    over = is_over(row.current_a, row.rating_a)
    return Measure(
        at,
        value=row.current_a,
        limit=row.rating_a,
        unit="A",
        what="largest three-phase short-circuit current",
        fix=f"{provide(row.current_a, 'A', f'{what} with a short-circuit rating')}, or a transformer "
        "with a higher impedance, or state the 'conductors' and the 'fault_current' of a study"
        if over
        else None,
        missing=missing,
    )
