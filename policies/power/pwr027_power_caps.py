"""PWR-027: power caps are achievable."""

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
from rackwright.model.quantities import format_quantity
from rackwright.plan.missing import of_product
from rackwright.plan.power.swing import lacks_of_rest
from rackwright.plan.records.nodes import NodeGroupPlan
from rackwright.policy.helpers.racks import is_over


@rule(
    "PWR-027",
    "Power caps are achievable",
    Severity.HIGH,
    since="0.4",
    stage="design",
    profile=Profile.PILOT,
)
class PowerCaps(Policy):
    """A capped node can keep its cap with all accelerators at their lowest limit."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield a measure for each node group with accelerators and a power cap."""
        for site in plan.onprem:
            for group in site.groups:
                if group.spec.power_cap is not None and group.product.accelerators is not None:
                    yield _group(site, group, group.spec.power_cap)


def _group(site: SitePlan, group: NodeGroupPlan, cap: float) -> Measure:
    product, limit = group.product.id, group.least_cap_w
    missing: list[Missing] = []
    if limit is None:
        if group.without_accelerators_w is None:
            missing += lacks_of_rest(group)
        else:
            words = "lowest power limit of an accelerator"
            missing.append(of_product(product, "accelerators.min_power", words))
    return Measure(
        Subject(f"{site.name} {group.name}", (*group.path, "power_cap")),
        value=cap,
        limit=limit,
        unit="W",
        what="power cap of a unit, against its draw with accelerators at their lowest limit,",
        sense="at_least",
        fix=f"set 'power_cap' to {format_quantity(limit, 'W')} or more"
        if limit is not None and is_over(limit, cap)
        else None,
        missing=tuple(missing),
    )
