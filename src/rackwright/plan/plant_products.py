"""Facts about a site's plant of products, for reports and drawings."""

from __future__ import annotations

from rackwright.plan.expansion import SitePlan
from rackwright.plan.missing import Missing
from rackwright.plan.power.products import unrated


def missing_rating(planned: SitePlan, name: str) -> Missing:
    """Return the missing fact about the capacity of the source ``name``."""
    source = planned.power.tree.sources[name]
    return unrated(source, planned.spec, planned.path, planned.catalogue)


def rejecting_products(planned: SitePlan, water: str) -> tuple[str, ...]:
    """Return the ids of the products that take the heat of a circuit, pumps left out, in the order of the alphabet."""
    taking = (one for one in planned.spec.plant or () if one.water == water and one.kind != "pump")
    return tuple(sorted({one.product for one in taking if one.product}))
