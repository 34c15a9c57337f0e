"""AWS-005: reserved capacity covers the nodes launched into it."""

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
    Profile,
    Severity,
    Subject,
    rule,
)
from rackwright.model.aws_instances import CapacityBlock, Reservation
from rackwright.plan.aws.site import GroupPlan


@rule(
    "AWS-005",
    "Reserved capacity covers the nodes launched into it",
    Severity.HIGH,
    since="0.1",
    stage="design",
    profile=Profile.LAB,
)
class ReservedCapacity(Policy):
    """No more nodes are launched into a reservation or block than it holds."""

    largest_block: Annotated[int, Field(ge=1, le=10_000)] = 64
    """Most instances in one capacity block."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield a measure for each reservation or block, and one for the size of each block."""
        for site in plan.aws:
            for identity, groups in site.reserved_groups.items():
                capacity = groups[0].spec.capacity
                if isinstance(capacity, (Reservation, CapacityBlock)):
                    at = Subject(f"{site.name} {identity}", (*groups[0].path, "capacity"))
                    yield from self._judge(capacity, groups, at)

    def _judge(
        self, capacity: Reservation | CapacityBlock, groups: list[GroupPlan], at: Subject
    ) -> Iterator[Measure | Finding]:
        missing: tuple[str, ...] = ()
        if not capacity.instances:
            missing = (Missing(f"instances of {capacity.id}", (*at.path, "instances")),)
        yield Measure(
            at,
            value=sum(group.spec.most for group in groups),
            limit=capacity.instances,
            unit="instances",
            what=f"nodes launched into {capacity.id}",
            contributors=tuple(
                Contributor(group.spec.name, group.spec.most, 1) for group in groups
            ),
            fix=(
                f"launch at most {capacity.instances} nodes into it" if capacity.instances else None
            ),
            missing=missing,
        )
        types = sorted({group.spec.type for group in groups})
        if len(types) > 1:
            names = ", ".join(f"'{name}'" for name in types)
            yield Finding(at, ok=False, message=f"one reservation holds one type, not {names}")
        if isinstance(capacity, CapacityBlock):
            yield Measure(
                at,
                value=capacity.instances,
                limit=self.largest_block,
                unit="instances",
                what="instances in one capacity block",
                fix="use several blocks, a node group for each",
                missing=missing,
            )
