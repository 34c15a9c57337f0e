"""OPS-001: health checks are generated and drain broken nodes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from pydantic import Field

from rackwright.api import (
    Finding,
    Measure,
    Missing,
    Plan,
    Policy,
    Severity,
    Subject,
    Suggestion,
    rule,
)
from rackwright.policy.helpers.attestation import declared

Xid = Annotated[int, Field(gt=0, lt=1000)]


@rule(
    "OPS-001",
    "Health checks are generated and drain broken nodes",
    Severity.HIGH,
    since="0.2",
    stage="build",
)
class HealthChecks(Policy):
    """Nodes are checked against the blueprint, often, and drained for faults of the hardware."""

    longest_interval: Annotated[float, Field(gt=0, le=86400)] = 300.0
    """Most seconds between two runs of the scheduler's health check program."""
    hardware_xids: Annotated[tuple[Xid, ...], Field(min_length=1)] = (
        48,
        63,
        64,
        74,
        79,
        92,
        94,
        95,
        119,
        120,
    )
    """Xid errors that tell of broken hardware; a node is drained for each of them."""
    user_xids: tuple[Xid, ...] = (13, 31, 43, 45)
    """Xid errors that a user's program causes; a node is drained for none of them."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield findings about the cluster, where it has GPUs, and about its scheduler."""
        operations = plan.operations
        path = ("operations",)
        if any(site.gpu for site in plan.software.values()):
            at = Subject(f"{plan.name} health checks", path)
            yield declared(
                at,
                value=operations.health_checks if operations else None,
                yes="health checks are generated from the blueprint",
                no="health checks are not generated from the blueprint",
                missing=Missing("'health_checks' in 'operations'", (*path, "health_checks")),
                fix="generate them from the blueprint, and set 'health_checks: true'",
            )
            yield from self._judge_xids(
                Subject(f"{plan.name} drained Xids", (*path, "drain_on_xids")),
                operations.drain_on_xids if operations else None,
            )
        if plan.scheduler is not None:
            health = plan.scheduler.health_check
            yield Measure(
                Subject(f"{plan.name} scheduler", ("scheduler", "health_check")),
                value=health.interval if health else None,
                limit=self.longest_interval,
                unit="s",
                what="interval of the scheduler's health check",
                fix=f"set 'interval: {self.longest_interval:g} s' or less",
                suggest=Suggestion(
                    ("scheduler", "health_check", "interval"), f"{self.longest_interval:g} s"
                ),
                missing=()
                if health
                else (Missing("'health_check' in 'scheduler'", ("scheduler", "health_check")),),
            )

    def _judge_xids(self, at: Subject, given: tuple[int, ...] | None) -> Iterator[Finding]:
        if given is None:
            missing = (Missing("'drain_on_xids' in 'operations'", at.path),)
            yield Finding(
                at, ok=None, message="for which errors nodes are drained", missing=missing
            )
            return
        lacking = [xid for xid in self.hardware_xids if xid not in given]
        yield Finding(
            Subject(f"{at.name} of the hardware", at.path),
            ok=not lacking,
            message=f"nodes are not drained for Xid {_join(lacking)}, a hardware fault"
            if lacking
            else "nodes are drained for every hardware fault",
            fix=f"add {_join(lacking)} to 'drain_on_xids'",
        )
        wrong = [xid for xid in self.user_xids if xid in given]
        yield Finding(
            Subject(f"{at.name} of users", at.path),
            ok=not wrong,
            message=f"nodes are drained for Xid {_join(wrong)}, which user programs cause"
            if wrong
            else "nodes are not drained for faults of user programs",
            fix=f"remove {_join(wrong)} from 'drain_on_xids'",
        )


def _join(xids: list[int]) -> str:
    return ", ".join(str(xid) for xid in xids)
