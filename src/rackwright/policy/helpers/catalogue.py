"""What rules about products ask the catalogue."""

from __future__ import annotations

from rackwright.model.hardware import fact_value, supply_inlet
from rackwright.plan.audit.catalogue_digest import catalogue_digest
from rackwright.plan.audit.catalogue_usage import Use, used_entries

__all__ = [
    "Use",
    "catalogue_digest",
    "fact_value",
    "supply_inlet",
    "used_entries",
]
