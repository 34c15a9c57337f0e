"""Remedies with numbers, computed from what a measure found."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rackwright.plan.model import Contributor
from rackwright.plan.what_if import Fewer
from rackwright.report.quantities import format_quantity


def place_fewer(contributors: Sequence[Contributor], over: float) -> str | None:
    """How many of the largest contributor may stay so that ``over`` goes away."""
    if not contributors or over <= 0:
        return None
    largest = max(contributors, key=lambda c: c.total)
    if largest.each <= 0:
        return None
    stay = largest.count - math.ceil(over / largest.each - 1e-9)
    if stay < 0:
        return None
    return f"keep at most {stay:,} of {largest.count:,} × {largest.name}"


def hold(fewer: Fewer | None) -> str | None:
    """What a rack may hold."""
    return None if fewer is None else f"place at most {fewer.most:,} {fewer.entry} in a rack"


def provide(limit: float, unit: str, what: str) -> str:
    """A limit that would do."""
    return f"provide {what} of at least {format_quantity(limit, unit)}"


def either(*remedies: str | None) -> str | None:
    """The remedies that there are, joined."""
    given = [remedy for remedy in remedies if remedy]
    return ", or ".join(given) if given else None
