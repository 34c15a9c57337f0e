"""AWS-011: reserved capacity has not expired."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from typing import Annotated

from pydantic import Field

from rackwright.api import (
    AwsSitePlan,
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


@rule(
    "AWS-011",
    "Reserved capacity has not expired",
    Severity.HIGH,
    since="0.3",
    stage="build",
    profile=Profile.LAB,
)
class CapacityWindows(Policy):
    """Nodes are launched into reservations and blocks that are still there."""

    least_days: Annotated[int, Field(ge=0, le=365)] = 1
    """Whole days that reserved capacity must have left."""
    longest_block: Annotated[int, Field(ge=1, le=3650)] = 182
    """Most days that a capacity block lasts."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield a finding for each reservation or block, and a measure of each block with a known start."""
        for site in plan.aws:
            for at, capacity, launched in _reserved(site):
                yield self._end(at, capacity, launched)
                if isinstance(capacity, CapacityBlock) and capacity.starts is not None:
                    yield from self._start(at, capacity, capacity.starts)

    def _end(self, at: Subject, capacity: Reservation | CapacityBlock, launched: str) -> Finding:
        what, ends, today = "end of the capacity", capacity.ends, self.judged_on
        if ends is None:
            missing = Missing(
                f"end of {capacity.id}, as DescribeCapacityReservations shows it, or 'never'",
                (*at.path, "ends"),
            )
            message = f"the end of '{capacity.id}' is not recorded"
            return Finding(at, ok=None, message=message, missing=(missing,), what=what)
        if ends == "never":
            return Finding(at, ok=True, message=f"'{capacity.id}' has no end", what=what)
        message = f"'{capacity.id}' ends on {ends:%Y-%m-%d %H:%M} UTC"
        if isinstance(capacity, CapacityBlock):
            ended = capacity.terminates(launched)
            message += f", and its instances are ended from {ended:%H:%M} UTC on"
        if today is None:
            missing = Missing("the day that the blueprint is judged for", (*at.path, "ends"))
            return Finding(at, ok=None, message=message, missing=(missing,), what=what)
        ok = (ends.date() - today).days >= self.least_days
        fix = (
            "name the block that follows, or remove the node group"
            if isinstance(capacity, CapacityBlock)
            else "extend the reservation and record its end, or name another one"
        )
        return Finding(at, ok=ok, message=message, fix=None if ok else fix, what=what)

    def _start(
        self, at: Subject, block: CapacityBlock, starts: dt.datetime
    ) -> Iterator[Measure | Finding]:
        yield Measure(
            at,
            value=(block.ends - starts) / dt.timedelta(days=1),
            limit=self.longest_block,
            unit="days",
            what=f"duration of '{block.id}'",
            fix="correct 'starts' or 'ends', as DescribeCapacityReservations shows them",
        )
        if self.judged_on is not None and starts.date() > self.judged_on:
            yield Finding(
                at,
                ok=False,
                message=f"'{block.id}' starts on {starts:%Y-%m-%d %H:%M} UTC",
                fix="launch its nodes from then on",
                advisory=True,
                what="start of the capacity",
            )


def _reserved(site: AwsSitePlan) -> Iterator[tuple[Subject, Reservation | CapacityBlock, str]]:
    """Yield each reservation and block of a site, with its place and its instance type; what groups say alike of one only once."""
    seen: list[Reservation | CapacityBlock] = []
    for group in site.groups:
        capacity = group.spec.capacity
        if isinstance(capacity, (Reservation, CapacityBlock)) and capacity not in seen:
            seen.append(capacity)
            at = Subject(f"{site.name} {capacity.id}", (*group.path, "capacity"))
            yield at, capacity, group.spec.type
