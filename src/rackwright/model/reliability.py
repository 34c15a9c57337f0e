"""What a cluster is expected to survive."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from rackwright.model.base import Model


class Reliability(Model):
    """Failure rates and targets; absent is unknown."""

    node_failures_per_1000_days: Annotated[float, Field(gt=0)] | None = None
    """Failures of 1,000 nodes in a day."""
