"""Nodes that AWS takes back at a moment that is known, and since when no job may run there."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass

from rackwright.model.aws_instances import CapacityBlock
from rackwright.plan.expansion import Expansion
from rackwright.plan.slurm.nodes import NodeSet

MARGIN = dt.timedelta(minutes=10)
"""Time for jobs that have reached their limit to be ended (``KillWait``, epilog), and for clocks that
differ. Judgement."""


@dataclass(frozen=True, slots=True)
class Departure:
    """Nodes of one capacity block.

    Attributes:
        block: id of the capacity block.
        hostlist: its nodes, as Slurm lists them.
        start: from when on no job may run there, in UTC.
    """

    block: str
    hostlist: str
    start: dt.datetime


def departures(plan: Expansion, sets: Sequence[NodeSet]) -> tuple[Departure, ...]:
    """Return each capacity block with the nodes among ``sets`` that are launched into it."""
    nodes = {(one.site, one.group): one.hostlist for one in sets}
    found: dict[str, tuple[dt.datetime, list[str]]] = {}
    for cloud in plan.aws:
        for planned in cloud.groups:
            capacity = planned.spec.capacity
            names = nodes.get((cloud.spec.name, planned.spec.name))
            if isinstance(capacity, CapacityBlock) and names is not None:
                # Groups of one block may record its end differently; AWS-011 tells it.
                ended = capacity.terminates(planned.spec.type)
                first, hosts = found.setdefault(capacity.id, (ended, []))
                if ended < first:
                    found[capacity.id] = ended, hosts
                hosts.append(names)
    return tuple(
        Departure(name, ",".join(hosts), start - MARGIN) for name, (start, hosts) in found.items()
    )
