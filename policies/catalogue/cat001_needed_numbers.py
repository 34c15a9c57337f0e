"""CAT-001: products in use have the numbers that budgets need."""

from __future__ import annotations

from collections.abc import Iterator

from rackwright.api import (
    Finding,
    Measure,
    Missing,
    Plan,
    Policy,
    ProductField,
    Profile,
    Severity,
    Subject,
    rule,
)
from rackwright.model.hardware import Device, Entry, Pdu
from rackwright.model.instances import Instance
from rackwright.model.racks import RackType
from rackwright.plan.audit.catalogue_usage import used_entries

_NEEDED: dict[type[Entry], tuple[str, ...]] = {
    Device: ("max_power", "height", "weight"),
    Pdu: ("voltage", "current"),
    RackType: ("height", "static_rating"),
    Instance: ("vcpus", "memory"),
}


@rule(
    "CAT-001",
    "Products in use have the numbers that budgets need",
    Severity.HIGH,
    since="0.1",
    stage="concept",
    profile=Profile.LAB,
)
class NeededNumbers(Policy):
    """Every product in use has the numbers without which no budget can be judged."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield a finding for each product of each site."""
        for use in used_entries(plan):
            needed = next((n for kind, n in _NEEDED.items() if isinstance(use.entry, kind)), ())
            lacking = [name for name in needed if getattr(use.entry, name) is None]
            at = Subject(f"{use.site} {use.entry.id}", use.path)
            if lacking:
                yield Finding(
                    at,
                    ok=None,
                    message=f"the catalogue entry of {use.entry.name} is incomplete",
                    missing=tuple(
                        Missing(name.replace("_", " "), ProductField(use.entry.id, name))
                        for name in lacking
                    ),
                )
            elif needed:
                yield Finding(at, ok=True, message=f"{', '.join(needed)} are known")
