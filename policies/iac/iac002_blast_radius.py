"""IAC-002: a change takes only a limited share of nodes out of service."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from pydantic import Field

from rackwright.api import (
    FieldPath,
    Finding,
    Measure,
    Missing,
    Plan,
    Policy,
    Profile,
    Severity,
    Subject,
    Suggestion,
    rule,
)


@rule(
    "IAC-002",
    "A change takes only a limited share of nodes out of service",
    Severity.HIGH,
    since="0.2",
    stage="run",
    profile=Profile.PRODUCTION,
)
class BlastRadius(Policy):
    """The blueprint bounds how much of a node group is changed at a time."""

    most: Annotated[float, Field(gt=0, le=100)] = 10.0
    """Largest share of a node group in percent."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield one measure for the blueprint."""
        operations = plan.operations
        share = operations.changes.most_nodes if operations and operations.changes else None
        path: FieldPath = ("operations", "changes", "most_nodes")
        yield Measure(
            Subject(f"{plan.name} changes", path),
            value=share,
            limit=self.most,
            unit="%",
            what="share of a node group that one change takes out of service",
            fix=f"set 'most_nodes: {self.most:g} %' or less",
            suggest=Suggestion(path, f"{self.most:g} %"),
            missing=(Missing("'most_nodes' in 'operations.changes'", path),)
            if share is None
            else (),
        )
