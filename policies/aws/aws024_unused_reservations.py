"""AWS-024: all reserved instances are used."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from pydantic import Field

from rackwright.api import (
    Contributor,
    Finding,
    Measure,
    Missing,
    Plan,
    Policy,
    Severity,
    Subject,
    rule,
)
from rackwright.model.aws_instances import CapacityBlock, Reservation
from rackwright.model.units import Percent


@rule(
    "AWS-024",
    "All reserved instances are used",
    Severity.MEDIUM,
    since="0.4",
    stage="design",
)
class UnusedReservations(Policy):
    """Node groups launch most instances of each reservation and capacity block, all of which are paid for."""

    most_unused: Annotated[Percent, Field(ge=0, lt=100)] = 10.0
    """Most of a reservation or block that may stay unlaunched, as for spares."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield a measure for each reservation and block."""
        for site in plan.aws:
            for identity, groups in site.reserved_groups.items():
                capacity = groups[0].spec.capacity
                if not isinstance(capacity, (Reservation, CapacityBlock)):
                    continue
                path = (*groups[0].path, "capacity", "instances")
                launched = sum(group.spec.most for group in groups)
                paid = capacity.instances
                unused = None if paid is None else 100 * max(0, paid - launched) / paid
                yield Measure(
                    Subject(f"{site.name} {identity}", path),
                    value=unused,
                    limit=self.most_unused,
                    unit="%",
                    what=f"share of {identity} paid for and never launched",
                    contributors=tuple(
                        Contributor(group.spec.name, group.spec.most, 1) for group in groups
                    ),
                    fix=f"launch {paid} nodes, or give the others back" if paid else None,
                    missing=(
                        () if paid is not None else (Missing(f"instances of {identity}", path),)
                    ),
                )
