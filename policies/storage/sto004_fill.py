"""STO-004: object targets stay below the fill level at which they slow down."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Annotated

from pydantic import Field

from rackwright.api import Finding, Measure, Missing, Plan, Policy, Severity, Subject, rule
from rackwright.model.quantities import format_quantity
from rackwright.model.units import Percent
from rackwright.plan.storage.filesystem import FileSystem, fsx_capacity


@rule(
    "STO-004",
    "Object targets stay below the fill level at which they slow down",
    Severity.MEDIUM,
    since="0.2",
    stage="design",
)
class Fill(Policy):
    """The data that is expected fills no more than a share of the capacity."""

    fullest: Annotated[Percent, Field(gt=0, le=100)] = 80.0
    """Share of the capacity that data may fill."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield a measure for each file system."""
        for system in plan.file_systems:
            yield self._judge(system)

    def _judge(self, system: FileSystem) -> Measure:
        data, capacity = system.workload.data, system.capacity
        missing = []
        if data is None:
            missing.append(Missing("'data' in the workload", (*system.path, "workload", "data")))
        if capacity is None:
            missing += _unsized(system)
        elif not capacity:
            where = _capacity(system)
            missing.append(Missing("a capacity above zero", (*system.path, *where)))
        value = 100 * data / capacity if data is not None and capacity else None
        return Measure(
            Subject(system.name, (*system.path, "workload")),
            value=value,
            limit=self.fullest,
            unit="%",
            what="fill with the data expected",
            fix=_fix(system, data, self.fullest),
            missing=tuple(missing),
        )


def _unsized(system: FileSystem) -> list[Missing]:
    """Return the missing facts that make the capacity of a file system unknown."""
    if system.fsx is not None:
        where = (*system.path, "existing", "capacity")
        return [Missing("'capacity' of the existing file system, as recorded", where)]
    objects, path = system.lustre.objects if system.lustre else None, (*system.path, "objects")
    return [
        Missing(f"'{name}' of the objects", (*path, name))
        for name in ("count", "size")
        if getattr(objects, name, None) is None
    ]


def _capacity(system: FileSystem) -> tuple[str, ...]:
    """Return the place that states the capacity of a file system."""
    if system.fsx is None:
        return "objects", "size"
    return ("capacity",) if system.fsx.existing is None else ("existing", "capacity")


def _fix(system: FileSystem, data: float | None, fullest: float) -> str | None:
    if data is None:
        return None
    if not fullest:
        return "keep no data here"
    needed = 100 * data / fullest
    if system.fsx is not None:
        return f"use a capacity of {fsx_capacity(system.fsx, needed):,} GiB"
    objects = system.lustre.objects if system.lustre else None
    if objects is None or not objects.size:
        return f"provide {format_quantity(needed, 'GiB')}"
    count = math.ceil(needed / objects.size - 1e-9)
    return f"use {count:,} targets of {format_quantity(objects.size, 'GiB')}"
