"""The accelerators of a node group."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from rackwright.model.hardware import Accelerators
from rackwright.plan.expansion import Expansion


@dataclass(frozen=True, slots=True)
class Board:
    """Accelerators of one machine of a node group.

    Attributes:
        hosts: how many hosts share them.
        efa: EFA devices of a host; zero where it has none, None where their number is not known.
    """

    site: str
    group: str
    accelerators: Accelerators
    hosts: int
    efa: int | None = 0

    @property
    def gpus(self) -> int:
        """Accelerators of one host."""
        return self.accelerators.count // self.hosts


def boards(plan: Expansion) -> Iterator[Board]:
    """Yield the accelerators of every node group that has machines with some."""
    for site in plan.onprem:
        for group in site.groups:
            node = group.product
            if node.accelerators is not None:
                yield Board(site.name, group.name, node.accelerators, node.hosts)
    for aws in plan.aws:
        for planned in aws.groups:
            board, hosts = planned.instance.accelerators, planned.instance.hosts
            if board is not None and planned.spec.most:
                where = (aws.spec.name, planned.spec.name)
                yield Board(*where, board, hosts, planned.efa_interfaces)


def accelerators_by_site(plan: Expansion) -> Mapping[str, int]:
    """Return number of accelerators of each site, in the order of the blueprint."""
    found = dict.fromkeys(plan.site_names, 0)
    for site in plan.onprem:
        found[site.name] = site.totals.accelerators
    for aws in plan.aws:
        for planned in aws.groups:
            if planned.instance.accelerators is not None:
                found[aws.spec.name] += planned.spec.most * planned.instance.accelerators.count
    return found
