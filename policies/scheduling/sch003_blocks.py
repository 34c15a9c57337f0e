"""SCH-003: Slurm blocks fit the NVLink domains."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from pydantic import Field

from rackwright.api import Finding, Measure, Missing, Plan, Policy, Severity, Subject, rule
from rackwright.model.scheduler import Scheduler
from rackwright.plan.slurm.checks import blocked, right_sizes, wrong_sizes
from rackwright.plan.slurm.nodes import NodeSet
from rackwright.plan.slurm.topology import TOPOLOGY, base_block


@rule("SCH-003", "Slurm blocks fit the NVLink domains", Severity.HIGH, since="0.2", stage="design")
class SlurmBlocks(Policy):
    """The base size divides a unit, except spares; larger sizes double it and fit the cluster."""

    most_left_over: Annotated[int, Field(ge=0, le=17)] = 0
    """Hosts of a unit that may be outside its base blocks, as spares."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield measures for each group that is scheduled by blocks, and for the list of sizes."""
        for slurm in plan.clusters:
            scheduler = slurm.scheduler
            sets = blocked(scheduler, slurm.nodes)
            if not sets:
                continue
            sizes = scheduler.topology.block_sizes or base_block(sets)
            for nodes in sets:
                yield from self._judge_unit(nodes, sizes)
            if scheduler.topology.block_sizes:
                yield from _judge_sizes(slurm.label, scheduler, sets)

    def _judge_unit(self, nodes: NodeSet, sizes: tuple[int, ...]) -> Iterator[Measure | Finding]:
        at = Subject(f"{nodes.site} {nodes.group}", nodes.path)
        if nodes.unit_hosts is None or not sizes:
            what = f"hosts of one NVLink domain of {nodes.entry}"
            place = (*TOPOLOGY, "plugin")
            if nodes.unit_hosts is not None:
                what = "one size of a block for units that differ"
                place = (*TOPOLOGY, "block_sizes")
            missing = (Missing(what, place),)
            yield Finding(
                at, ok=None, message="whether base blocks fit the NVLink domains", missing=missing
            )
            return
        if nodes.unit_hosts == 1:
            yield Finding(
                at,
                ok=False,
                message=f"{nodes.entry} joins no hosts by NVLink, so it forms no blocks",
                fix=f"give the partitions of '{nodes.group}' another 'topology'",
            )
            return
        base = sizes[0]
        fitting = f"use a base size of {nodes.unit_hosts}, the hosts of a unit"
        if self.most_left_over:
            fitting += f", or of {nodes.unit_hosts - self.most_left_over} at least"
        yield Measure(
            at,
            value=base,
            limit=nodes.unit_hosts,
            unit="hosts",
            what="base size of a block",
            fix=fitting,
        )
        if base <= nodes.unit_hosts:
            yield Measure(
                at,
                value=nodes.unit_hosts % base,
                limit=self.most_left_over,
                unit="hosts",
                what="hosts of a unit left over by the base size",
                fix=fitting,
            )


def _judge_sizes(
    label: str, scheduler: Scheduler, sets: tuple[NodeSet, ...]
) -> Iterator[Measure | Finding]:
    at = Subject(f"{label}scheduler block sizes", (*TOPOLOGY, "block_sizes"))
    sizes = scheduler.topology.block_sizes
    hosts = sum(nodes.count for nodes in sets)
    allowed = ", ".join(map(str, right_sizes(sizes[0], hosts)))
    wrong = wrong_sizes(sizes)
    yield Finding(
        at,
        ok=not wrong,
        message=(
            f"{wrong[0]} is no power-of-two multiple of the size before it"
            if wrong
            else "each size is a power-of-two multiple of the one before"
        ),
        fix=f"choose from {allowed}" if wrong else None,
    )
    yield Measure(
        at,
        value=max(sizes),
        limit=hosts,
        unit="hosts",
        what="largest size of a block",
        fix=f"choose from {allowed}",
    )
