"""Containers for jobs, as variables of the roles ``enroot`` and ``pyxis``."""

from __future__ import annotations

from typing import Any

from rackwright.plan.model import Plan
from rackwright.plan.software import bill_of


def container_variables(plan: Plan, site: str) -> dict[str, Any]:
    """Versions for the hosts of a site; what its bill does not state is absent."""
    bill, _ = bill_of(plan.blueprint.operations, site)
    if bill is None:
        return {}
    known = {"enroot_version": bill.enroot, "pyxis_version": bill.pyxis}
    return {key: value for key, value in known.items() if value is not None}
