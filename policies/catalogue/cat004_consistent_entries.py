"""CAT-004: catalogue entries in use are consistent."""

from __future__ import annotations

from collections.abc import Iterator

from rackwright.api import Finding, Measure, Plan, Policy, Profile, Severity, Subject, rule
from rackwright.model.hardware import Device, Switch, fact_value, supply_inlet
from rackwright.plan.audit.catalogue_usage import Use, used_entries
from rackwright.plan.missing import of_product

_CORDLESS = frozenset({"hardwired", "busbar"})


@rule(
    "CAT-004",
    "Catalogue entries in use are consistent",
    Severity.HIGH,
    since="0.1",
    stage="concept",
    profile=Profile.LAB,
)
class ConsistentEntries(Policy):
    """Cages make up the ports, and the power supplies make up the power."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield measures for switches with cages and for devices with power supplies."""
        for use in used_entries(plan):
            at = Subject(f"{use.site} {use.entry.id}", use.path)
            if isinstance(use.entry, Switch) and use.entry.cages is not None:
                made = use.entry.cages.value * use.entry.ports_per_cage
                yield Measure(
                    at,
                    value=use.entry.radix,
                    limit=made,
                    unit="ports",
                    what=f"ports of {use.entry.name} against its cages",
                    sense="at_most" if use.entry.radix >= made else "at_least",  # equal, that is
                    fix="correct 'radix', 'cages' or 'ports_per_cage' in the catalogue entry",
                )
            if isinstance(use.entry, Device) and use.entry.power_supplies is not None:
                yield from _supplies(use, at)


def _supplies(use: Use, at: Subject) -> Iterator[Measure]:
    entry = use.entry
    assert isinstance(entry, Device)  # noqa: S101 - the caller looked
    supplies = entry.power_supplies
    if supplies is None or supply_inlet(supplies) in _CORDLESS or supplies.rating is None:
        return
    needed = fact_value(supplies.full_performance)
    power = fact_value(entry.max_power)
    missing = []
    if needed is None:
        words = "supplies that full performance needs"
        missing.append(of_product(entry.id, "power_supplies.full_performance", words))
    if power is None:
        missing.append(of_product(entry.id, "max_power", "published power"))
    yield Measure(
        at,
        value=power,
        limit=None if needed is None else needed * supplies.rating.value,
        unit="W",
        what=f"power of {entry.name} against the supplies that full performance needs",
        fix="correct 'max_power' or 'power_supplies' in the catalogue entry",
        missing=tuple(missing),
    )
