"""NET-013: the loss of a leaf affects only part of a scalable unit."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Annotated

from pydantic import Field

from rackwright.api import Enforcement, Finding, Measure, Plan, Policy, Severity, rule
from rackwright.plan.fabric.layout import Layout
from rackwright.plan.fabric.ports import share_of_all
from rackwright.policy.helpers.fabrics import (
    FabricAt,
    attachments_of,
    fabrics_of,
    unattached,
    uncabled_hosts,
    unknown_ports,
)


@rule(
    "NET-013",
    "The loss of a leaf affects only part of a scalable unit",
    Severity.MEDIUM,
    since="0.2",
    stage="concept",
    enforcement=Enforcement.ADVISORY,
)
class BlastRadius(Policy):
    """The share of a unit's ports that is lost with one leaf stays small."""

    limit_percent: Annotated[float, Field(gt=0, le=100)] = 12.5
    """Largest share of a unit's ports on one leaf: one rail of eight."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield a measure for each group of compute nodes on a compute fabric."""
        every = list(fabrics_of(plan))
        for found in every:
            if found.fabric.role != "compute":
                continue
            if found.layout is None:
                yield unattached(found, "what the loss of a leaf takes")
                continue
            for index, hosts in enumerate(found.layout.hosts):
                if hosts.group.role == "compute":
                    together = attachments_of(found, hosts.group.name, every)
                    yield self._measure(found, found.layout, index, together)

    def _measure(
        self,
        found: FabricAt,
        layout: Layout,
        index: int,
        together: Sequence[tuple[Layout, int]],
    ) -> Measure:
        value = share_of_all(layout, index, together)
        missing: tuple[str, ...] = ()
        for other, _ in together:
            missing += unknown_ports(other, found.path_of(other))
        missing += uncabled_hosts(layout, found.path)
        fix = None
        if value is not None and value > self.limit_percent:
            leaves = math.ceil(100 / self.limit_percent - 1e-9)
            fix = f"spread each unit evenly over at least {leaves} leaves"
        return Measure(
            found.attached(index),
            value=None if missing else value,
            limit=self.limit_percent,
            unit="%",
            what="share of a unit's ports on one leaf",
            fix=fix,
            missing=missing,
        )
