"""What a cluster may cost, and what its owner pays for energy and hardware."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from rackwright.model.base import Model


class Costs(Model):
    """Budgets and rates of the owner, in US dollars; absent is unknown."""

    budget_per_year: Annotated[float, Field(gt=0)] | None = None
    """Most that all sites may cost in a year."""
