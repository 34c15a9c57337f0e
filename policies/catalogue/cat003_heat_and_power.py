"""CAT-003: published heat and power of a product agree."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from pydantic import Field

from rackwright.api import Enforcement, Finding, Measure, Plan, Policy, Severity, Subject, rule
from rackwright.model.hardware import Device, fact_value
from rackwright.plan.audit.catalogue_usage import used_entries
from rackwright.plan.missing import of_product


@rule(
    "CAT-003",
    "Published heat and power agree",
    Severity.LOW,
    since="0.1",
    stage="concept",
    enforcement=Enforcement.ADVISORY,
)
class HeatAndPower(Policy):
    """Heat and input power differ by a few percent at most; cooling uses the larger one."""

    difference_percent: Annotated[float, Field(ge=0, le=100)] = 5
    """Largest difference, as a share of the power."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield a measure for each node and switch whose maker publishes a heat."""
        for use in used_entries(plan):
            if not isinstance(use.entry, Device) or use.entry.heat is None:
                continue
            heat, power = use.entry.heat.value, fact_value(use.entry.max_power)
            yield Measure(
                Subject(f"{use.site} {use.entry.id}", use.path),
                value=None if not power else 100 * abs(heat - power) / power,
                limit=self.difference_percent,
                unit="%",
                what=f"difference between the published heat ({heat / 1000:.2f} kW) and power",
                fix="nothing to do in the blueprint: cooling uses the larger one, power the rating",
                missing=()
                if power
                else (of_product(use.entry.id, "max_power", "published power"),),
            )
