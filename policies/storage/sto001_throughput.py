"""STO-001: file systems deliver the throughput that jobs need."""

from __future__ import annotations

from collections.abc import Iterator

from rackwright.api import Finding, Measure, Missing, Plan, Policy, Severity, Subject, rule
from rackwright.model.quantities import format_quantity
from rackwright.plan.storage.filesystem import FileSystem, Rate
from rackwright.policy.helpers.remediation import provide

UNIT = "MB/s"


@rule(
    "STO-001",
    "File systems deliver the throughput that jobs need",
    Severity.HIGH,
    since="0.2",
    stage="design",
)
class Throughput(Policy):
    """The throughput of each file system is at least the demand, read and written."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield a measure for reading and one for writing, and an advisory one each after a loss."""
        for system in plan.file_systems:
            yield from _judge(system, "read", system.read, system.workload.read)
            yield from _judge(system, "write", system.write, system.workload.write)


def _judge(
    system: FileSystem, direction: str, rate: Rate, demand: float | None
) -> Iterator[Measure]:
    at = Subject(system.name, (*system.path, "workload"))
    unasked: tuple[str, ...] = ()
    if demand is None:
        unasked = (Missing(f"'{direction}' in the workload", (*at.path, direction)),)
    remedy = None if demand is None else system.remedy(direction, demand)
    value, what = rate.value, f"{direction} throughput"
    if value is None and rate.most is not None and demand is not None and rate.most < demand:
        value, what = rate.most, f"{direction} throughput, at the very most,"
    needed = None if demand is None else provide(demand, UNIT, f"{direction} throughput")
    yield Measure(
        at,
        value=value,
        limit=demand,
        unit=UNIT,
        what=what,
        sense="at_least",
        fix=remedy or needed,
        missing=(*rate.missing, *unasked),
    )
    if rate.value is None or system.lustre is None:
        return
    undeclared: tuple[str, ...] = ()
    if rate.after_loss is None:
        place = (*system.path, "objects", "failover")
        undeclared = (Missing("'failover' of the objects", place),)
    yield Measure(
        at,
        value=rate.after_loss,
        limit=demand,
        unit=UNIT,
        what=f"{direction} throughput after the loss of one server",
        sense="at_least",
        fix=_after_loss(rate.after_loss),
        missing=(*undeclared, *unasked),
        advisory=True,
    )


def _after_loss(left: float | None) -> str | None:
    if left is None:
        return None
    if left == 0:
        return "arrange the servers in pairs that reach each other's targets"
    return f"add servers, or plan with {format_quantity(left, UNIT)} while one is down"
