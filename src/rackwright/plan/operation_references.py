"""Names in the operations and the provisioning of a blueprint that lead nowhere."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from rackwright.model.cluster import Blueprint
from rackwright.model.onprem import OnPremSite
from rackwright.plan.base import Path
from rackwright.plan.problems import PlanProblem
from rackwright.reading.suggest import did_you_mean


def find_operation_problems(blueprint: Blueprint) -> Iterator[PlanProblem]:
    """Yield node groups in ``operations`` that no site has; what is said of a mistyped one would be lost."""
    operations = blueprint.operations
    known = [group.name for site in blueprint.sites for group in site.node_groups]
    if operations is None:
        return
    for section in ("all_reduce", "memory", "tuning"):
        for index, one in enumerate(getattr(operations, section)):
            if one.group not in known:
                where = ("operations", section, index, "group")
                message = f"there is no node group '{one.group}'"
                yield PlanProblem(where, message, did_you_mean(one.group, known))
    for place, bill in enumerate(operations.software):
        for index, own in enumerate(bill.group_kernels):
            if own.group not in known:
                path = ("operations", "software", place, "group_kernels", index, "group")
                message = f"there is no node group '{own.group}'"
                yield PlanProblem(path, message, did_you_mean(own.group, known))


def find_provisioning_problems(
    site: OnPremSite, path: Path, hosts: Collection[str]
) -> Iterator[PlanProblem]:
    """Yield each serial number of a host, and each firmware file of a product, that the site lacks.

    Args:
        site: the site.
        path: its place in the blueprint.
        hosts: names of its hosts.
    """
    if site.provisioning is None:
        return
    for name in site.provisioning.serials:
        if name not in hosts:
            where = (*path, "provisioning", "serials", name)
            yield PlanProblem(where, f"there is no host '{name}'", did_you_mean(name, hosts))
    types = {group.type for group in site.node_groups}
    for index, file in enumerate(site.provisioning.firmware):
        if file.type not in types:
            where = (*path, "provisioning", "firmware", index, "type")
            message = f"no node group of the site is a '{file.type}'"
            yield PlanProblem(where, message, did_you_mean(file.type, types))
