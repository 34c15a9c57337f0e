"""Names in the operations of a blueprint that lead nowhere."""

from __future__ import annotations

from collections.abc import Iterator

from rackwright.model.cluster import Blueprint
from rackwright.plan.problems import PlanProblem
from rackwright.spec.suggest import did_you_mean


def find_operation_problems(blueprint: Blueprint) -> Iterator[PlanProblem]:
    """Node groups in ``operations`` that no site has; a mistyped one would never be measured."""
    operations = blueprint.operations
    known = [group.name for site in blueprint.sites for group in site.node_groups]
    for index, one in enumerate(operations.all_reduce if operations else ()):
        if one.group not in known:
            where = ("operations", "all_reduce", index, "group")
            message = f"there is no node group '{one.group}'"
            yield PlanProblem(where, message, did_you_mean(one.group, known))
