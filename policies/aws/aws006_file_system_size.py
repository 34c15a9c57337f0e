"""AWS-006: FSx for Lustre offers the size and throughput of file systems."""

from __future__ import annotations

import math
from collections.abc import Iterator

from rackwright.api import (
    Finding,
    Measure,
    Plan,
    Policy,
    Profile,
    Severity,
    Subject,
    Suggestion,
    rule,
)
from rackwright.plan.aws.file_systems import fsx


@rule(
    "AWS-006",
    "FSx for Lustre offers the size and throughput of file systems",
    Severity.HIGH,
    since="0.1",
    stage="design",
    profile=Profile.LAB,
)
class FileSystemSize(Policy):
    """Capacity and throughput are among the steps that AWS offers."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield findings for the steps, and a measure for the EFA minimum, of each file system."""
        for site in plan.aws:
            for index, system in enumerate(site.file_systems):
                if system.existing is not None:
                    continue
                path = (*site.path, "file_systems", index)
                name = f"{site.name} {system.name}"
                capacity, throughput = fsx.made_size(system)
                offered = throughput in fsx.THROUGHPUTS
                yield _judge_throughput(
                    throughput, Subject(name, (*path, "throughput")), offered=offered
                )
                at = Subject(name, (*path, "capacity"))
                yield _judge_capacity(capacity, at, efa=system.efa)
                if system.efa and offered:
                    yield from _judge_efa(capacity, throughput, at)


def _judge_efa(capacity: float, throughput: float, at: Subject) -> Iterator[Measure | Finding]:
    unit = fsx.efa_unit(throughput)
    yield Measure(
        at,
        value=capacity,
        limit=unit,
        unit="GiB",
        what=f"capacity with EFA at {throughput:g} MB/s/TiB",
        sense="at_least",
        fix=f"use {unit:,.0f} GiB, or a multiple",
        suggest=Suggestion(at.path, f"{math.ceil(unit)} GiB"),
    )
    if capacity > unit and capacity % unit:
        larger = fsx.next_capacity(capacity, unit)
        yield Finding(
            at,
            ok=False,
            message=(
                f"with EFA the capacity is a multiple of {unit:,.0f} GiB at {throughput:g} MB/s/TiB, "
                f"{capacity:,.0f} GiB is not"
            ),
            fix=f"use {larger:,} GiB",
            suggest=Suggestion(at.path, f"{larger} GiB"),
            what="step of the capacity with EFA",
        )


def _judge_throughput(throughput: float, at: Subject, *, offered: bool) -> Finding:
    steps = ", ".join(map(str, fsx.THROUGHPUTS))
    nearest = min(fsx.THROUGHPUTS, key=lambda step: abs(step - throughput))
    verb = "is" if offered else "is not"
    return Finding(
        at,
        ok=offered,
        message=f"{throughput:g} MB/s/TiB {verb} one of the steps {steps}",
        fix=None if offered else f"use {nearest} MB/s/TiB",
        what="step of the throughput",
    )


def _judge_capacity(capacity: float, at: Subject, *, efa: bool) -> Finding:
    offered = fsx.is_capacity(capacity)
    verb = "is" if offered else "is not"
    larger = fsx.next_capacity(capacity)
    return Finding(
        at,
        ok=offered,
        message=f"{capacity:,g} GiB {verb} 1,200 GiB or a multiple of 2,400 GiB",
        fix=None if offered else f"use {larger:,} GiB",
        # With EFA another step holds as well, which says what to use.
        suggest=None if offered or efa else Suggestion(at.path, f"{larger} GiB"),
        what="step of the capacity",
    )
