"""CAT-001: the numbers that budgets rest on are known for every product in use."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from rackwright.model.hardware import Device, Entry, Instance, Pdu, RackType
from rackwright.plan.missing import Missing, ProductField
from rackwright.plan.model import Plan, Subject
from rackwright.plan.usage import used_entries
from rackwright.policy.api import Finding, Measure, Policy, Profile, Severity

_NEEDED: dict[type[Entry], tuple[str, ...]] = {
    Device: ("max_power", "height", "weight"),
    Pdu: ("voltage", "current"),
    RackType: ("height", "static_rating"),
    Instance: ("vcpus", "memory"),
}


class NeededNumbers(Policy):
    """Every product in use has the numbers without which no budget can be judged."""

    id: ClassVar[str] = "CAT-001"
    title: ClassVar[str] = "Products in use have the numbers that budgets rest on"
    severity: ClassVar[Severity] = Severity.HIGH
    since: ClassVar[str] = "0.1"
    family: ClassVar[str] = "catalogue"
    profile: ClassVar[Profile] = Profile.LAB

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """A finding for each product of each site."""
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
