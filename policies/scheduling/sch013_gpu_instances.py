"""SCH-013: MIG instances fit on the GPUs of a host."""

from __future__ import annotations

from collections.abc import Iterator

from rackwright.api import Measure, Missing, Plan, Policy, ProductField, Severity, Subject, rule
from rackwright.plan.slurm.gres import gpus_of_instances, is_mig
from rackwright.plan.slurm.nodes import NodeSet


@rule(
    "SCH-013",
    "MIG instances fit on the GPUs of a host",
    Severity.HIGH,
    since="0.5",
    stage="design",
)
class GpuInstances(Policy):
    """The profiles of instances (MIG) take no more GPUs than a host has beside those that are whole."""

    def check(self, plan: Plan) -> Iterator[Measure]:
        """Yield a measure for each group of nodes whose GPUs are divided."""
        for nodes in (nodes for slurm in plan.clusters for nodes in slurm.nodes):
            if nodes.has_instances and nodes.known_gres is not None:
                yield _fit(nodes, nodes.known_gres.count, nodes.known_gres.memory)


def _fit(nodes: NodeSet, limit: int, memory: float | None) -> Measure:
    gpus = [gres for gres in nodes.counted if gres.name == "gpu"]
    whole = sum(gres.count for gres in gpus if not is_mig(gres))
    taken = whole + gpus_of_instances(gpus, memory)
    over = taken > limit
    unknown = memory is None and not over
    profiles = ", ".join(f"{gres.count} x {gres.type}" for gres in gpus if is_mig(gres))
    return Measure(
        Subject(f"{nodes.site} {nodes.group}", nodes.path),
        value=None if unknown else taken,
        limit=limit,
        unit="",
        what=f"number of GPUs needed by {profiles} and {whole} whole ones",
        fix="count fewer instances in 'other_gres' of 'scheduler.nodes', as 'nvidia-smi mig -lgi' lists them"
        if over
        else None,
        missing=(
            Missing(
                f"memory of an accelerator of {nodes.entry}",
                ProductField(nodes.entry, "accelerators.memory"),
            ),
        )
        if unknown
        else (),
    )
