"""AWS-001: every node has all EFA interfaces of its instance type."""

from __future__ import annotations

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
from rackwright.model.hardware import fact_value
from rackwright.plan.aws.nic import UnknownLayoutError
from rackwright.plan.aws.site import GroupPlan
from rackwright.plan.missing import of_product


@rule(
    "AWS-001",
    "Nodes have all EFA interfaces of their instance type",
    Severity.CRITICAL,
    since="0.1",
    stage="concept",
    profile=Profile.LAB,
)
class EfaLayout(Policy):
    """Every node has all EFA interfaces that its instance type offers."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield a measure for each node group whose type may have EFA."""
        for site in plan.aws:
            for group in site.groups:
                at = Subject(f"{site.name} {group.spec.name}", group.path)
                yield from _judge(group, at)


def _judge(group: GroupPlan, at: Subject) -> Iterator[Measure | Finding]:
    entry = group.instance
    offered = fact_value(entry.efa_interfaces)
    missing: list[str] = []
    if offered is None:
        missing.append(of_product(entry.id, "efa_interfaces", "number of EFA interfaces"))
    if offered == 0:
        return
    error = group.layout_error
    if error is not None and not isinstance(error, UnknownLayoutError):
        yield Finding(at, ok=False, message=error.summary, fix=error.hint)
        return
    if error is not None:
        missing.append(of_product(entry.id, "cards", "network cards"))
    yield Measure(
        at,
        value=group.efa_interfaces,
        limit=offered,
        unit="EFA interfaces",
        what=f"EFA interfaces of each {group.spec.type}",
        sense="at_least",
        fix=None if group.spec.efa else "set 'efa: true'",
        missing=tuple(missing),
        suggest=None if group.spec.efa else Suggestion((*at.path, "efa"), value=True),
    )
