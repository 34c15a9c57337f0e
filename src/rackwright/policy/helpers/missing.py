"""How rules say what is not known, and which field would make it known."""

from __future__ import annotations

from rackwright.plan.missing import Field, below, each_once, of_product

__all__ = [
    "Field",
    "below",
    "each_once",
    "of_product",
]
