"""Remedies with numbers, computed from what a measure found."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rackwright.model.quantities import format_quantity
from rackwright.plan.base import Contributor
from rackwright.plan.expansion import SitePlan
from rackwright.plan.records.racks import RackClass
from rackwright.policy.api import Suggestion

if TYPE_CHECKING:
    from rackwright.plan.racks.capacity import Fewer


def place_fewer(contributors: Sequence[Contributor], over: float) -> str | None:
    """Return the number of the largest contributor that may stay so that ``over`` goes away, in words.

    None if no number of the largest alone makes it go away.

    Args:
        contributors: what makes up the value.
        over: by how much the value is over its limit, in the unit of the contributors.
    """
    found = _may_stay(contributors, over)
    if found is None:
        return None
    largest, stay = found
    if stay == 0:
        return f"remove all {largest.count:,} × {largest.name}"
    return f"keep at most {stay:,} of {largest.count:,} × {largest.name}"


def _may_stay(contributors: Sequence[Contributor], over: float) -> tuple[Contributor, int] | None:
    """Return the largest contributor, and how many of it may stay."""
    if not contributors or over <= 0:
        return None
    largest = max(contributors, key=lambda c: c.total)
    if largest.each <= 0:
        return None
    stay = largest.count - math.ceil(over / largest.each - 1e-9)
    return None if stay < 0 else (largest, stay)


def hold(fewer: Fewer | None) -> str | None:
    """Return the number of devices that a rack may hold, in words."""
    return None if fewer is None else f"place at most {fewer.most:,} {fewer.entry} in a rack"


def held(fewer: Fewer | None) -> Suggestion | None:
    """Return the suggestion for ``per_rack``; None if fewer in each rack leave units without one."""
    if fewer is None or not fewer.enough:
        return None
    return Suggestion((*fewer.path, "per_rack"), fewer.most)


def held_in(
    site: SitePlan, racks: RackClass, contributors: Sequence[Contributor], over: float
) -> Suggestion | None:
    """Return the suggestion for ``per_rack`` that follows from the content of one rack of a class.

    None if several groups put the product into the rack, or not one unit may stay.

    Args:
        site: with the racks.
        racks: those of which one is looked at.
        contributors: what makes up the value of one rack.
        over: by how much it is over its limit, in the unit of the contributors.
    """
    found = _may_stay(contributors, over)
    if found is None or found[1] < 1:
        return None
    largest, stay = found
    devices = racks.kind.devices
    paths = {racks.path_of(device) for device in devices if device.entry == largest.name}
    if len(paths) != 1:
        return None
    from rackwright.plan.racks.capacity import enough_racks

    (path,) = paths
    return Suggestion((*path, "per_rack"), stay) if enough_racks(site, path, stay) else None


def a_source(kind: str) -> str:
    """Return the kind of a power source as a noun with its article."""
    abbreviated = {"ups": "a UPS", "rpp": "an RPP", "sts": "a static transfer switch"}
    return abbreviated.get(kind, f"a {kind}")


def provide(limit: float | None, unit: str, what: str) -> str | None:
    """Return words for a limit that would do, in a readable unit; None if it is not known.

    Args:
        limit: the value that it would have to be.
        unit: canonical unit of the limit, like ``W``.
        what: what would have it, with its article.
    """
    if limit is None:
        return None
    return f"provide {what} of at least {format_quantity(limit, unit)}"


def add_units(
    over: float, capacity: float | None, count: int | None, product: str | None
) -> str | None:
    """Return the number of further units that carry ``over``, in words; None if the capacity of one is not known.

    Args:
        over: by how much the value is over the capacity, in the unit of the capacity.
        capacity: what ``count`` units carry together.
        count: units that there are.
        product: catalogue id of the units.
    """
    if capacity is None or not count:
        return None
    more = math.ceil(over / (capacity / count) - 1e-9)
    return f"add {more} × {product}"


def either(*remedies: str | None) -> str | None:
    """Return the remedies that there are, joined; None if there is none."""
    given = [remedy for remedy in remedies if remedy]
    return ", or ".join(given) if given else None
