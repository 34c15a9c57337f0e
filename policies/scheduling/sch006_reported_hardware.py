"""SCH-006: Slurm's node definitions match what slurmd reports."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from pydantic import Field

from rackwright.api import (
    Finding,
    Measure,
    Missing,
    Plan,
    Policy,
    ProductField,
    Severity,
    Subject,
    rule,
)
from rackwright.plan.slurm.nodes import NodeSet

_BYTES_OF_A_PAGE = 64
"""Bytes in which a kernel describes a page (``struct page`` of 64-bit Linux)."""


@rule(
    "SCH-006",
    "Slurm's node definitions match what slurmd reports",
    Severity.HIGH,
    since="0.4",
    stage="build",
)
class ReportedHardware(Policy):
    """Slurm's memory is less than what is installed, and threads are told from cores."""

    page: Annotated[int, Field(ge=4, le=64)] = 4
    """Size of a page of the hosts' kernels, in KiB: 4, or 64 on some Arm hosts."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield a measure and a finding for each group of compute nodes."""
        for cluster, nodes in ((one, nodes) for one in plan.clusters for nodes in one.nodes):
            at = Subject(f"{nodes.site} {nodes.group}", nodes.path)
            if nodes.memory is not None and nodes.known_memory is not None:
                yield self._judge_memory(nodes, at)
            yield _judge_shape(nodes, at)
            if nodes.detect == "nvml":
                yield _judge_detection(cluster.scheduler.packages.source, at)

    def _judge_memory(self, nodes: NodeSet, at: Subject) -> Measure:
        described = _BYTES_OF_A_PAGE / (self.page * 1024)
        limit = (nodes.known_memory or 0) * (1 - described)
        fix = f"write {int(limit)} MiB or less as 'memory' in 'scheduler.nodes', best what 'slurmd -C' prints"
        over = nodes.memory is not None and nodes.memory > limit
        return Measure(
            at,
            value=None if nodes.memory is None else nodes.memory / 1024,
            limit=limit / 1024,
            unit="GiB",
            what="memory of a host in Slurm, against the most that its kernel reports,",
            fix=fix if over else None,
        )


def _judge_shape(nodes: NodeSet, at: Subject) -> Finding:
    given = {key.lower() for key in nodes.extra} & {"sockets", "corespersocket", "threadspercore"}
    if nodes.shape is None and nodes.bare_threads is None and not given:
        fields = (ProductField(nodes.entry, "threads_per_core"),)
        return Finding(
            at,
            ok=None,
            message="Slurm takes every CPU thread for a core: two jobs may share a core",
            missing=(
                Missing(
                    f"sockets and threads of a core of {nodes.entry}",
                    ("scheduler", "nodes"),
                    *fields,
                ),
            ),
        )
    sockets = "sockets, " if nodes.bare_threads is None else ""
    return Finding(at, ok=True, message=f"Slurm knows {sockets}cores and threads")


def _judge_detection(packages: str, at: Subject) -> Finding:
    if packages != "distribution":
        return Finding(
            at,
            ok=True,
            message=f"GPUs are detected by NVIDIA's library, with packages of '{packages}'",
        )
    return Finding(
        at,
        ok=False,
        message="the distribution's slurmd is built without NVIDIA's library, and exits at startup",
        fix="write 'detect: nvidia', from Slurm 24.11 on, or use packages that are built with it: 'packages'",
    )
