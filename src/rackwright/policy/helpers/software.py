"""Facts for rules about software."""

from __future__ import annotations

from rackwright.plan.model import Plan


def accelerator_vendors(plan: Plan, site: str) -> frozenset[str]:
    """Return the vendors of the accelerators of a site, each once."""
    owned = [group.product for one in plan.onprem if one.name == site for group in one.groups]
    rented = [group.instance for one in plan.aws if one.name == site for group in one.groups]
    accelerators = [*(one.accelerators for one in owned), *(one.accelerators for one in rented)]
    return frozenset(one.vendor for one in accelerators if one is not None)
