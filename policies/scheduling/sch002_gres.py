"""SCH-002: Slurm's node definitions match the hardware."""

from __future__ import annotations

from collections.abc import Iterator

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


@rule(
    "SCH-002",
    "Slurm's node definitions match the hardware",
    Severity.HIGH,
    since="0.2",
    stage="design",
)
class SlurmResources(Policy):
    """Slurm's resources of a host equal the catalogue: accelerators exactly, the rest at most."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield a finding and two measures for each group of compute nodes."""
        for nodes in (nodes for slurm in plan.clusters for nodes in slurm.nodes):
            yield _judge_gres(nodes)
            yield from _judge_numbers(nodes)


def _judge_gres(nodes: NodeSet) -> Finding:
    at = Subject(f"{nodes.site} {nodes.group}", nodes.path)
    if nodes.uneven:
        return Finding(
            at,
            ok=None,
            message=f"{nodes.entry} has no whole number of accelerators per host",
            missing=(
                Missing(
                    f"accelerators of one host of {nodes.entry}",
                    ("scheduler", "nodes"),
                    ProductField(nodes.entry, "hosts"),
                ),
            ),
        )
    if nodes.has_instances and nodes.known_gres is not None:
        enough = nodes.least_gpus <= nodes.known_gres.count
        return Finding(
            at,
            ok=enough,
            message=f"the GPUs and instances of a host need {nodes.least_gpus} GPUs or more; "
            f"the catalogue has {nodes.known_gres.count}",
            fix=None
            if enough
            else "count fewer instances in 'scheduler.nodes': a GPU has 7 at most",
        )
    if _same(nodes):
        said = str(nodes.gres) if nodes.gres else "no accelerators"
        return Finding(at, ok=True, message=f"Slurm counts {said} in a host, as the catalogue does")
    known = str(nodes.known_gres) if nodes.known_gres else "no accelerators"
    remedy = f"write 'gres: {known}'" if nodes.known_gres else "remove 'gres'"
    return Finding(
        at,
        ok=False,
        message=f"Slurm counts {nodes.gres} in a host, but the catalogue has {known}",
        fix=f"{remedy} in 'scheduler.nodes', or correct the catalogue entry '{nodes.entry}'",
    )


def _same(nodes: NodeSet) -> bool:
    """Return True if both are the same; a type that Slurm is not told is none to differ in."""
    said, known = nodes.gres, nodes.known_gres
    if said is None or known is None:
        return said is known
    return (said.name, said.count) == (known.name, known.count) and (
        not said.type or said.type.lower() == known.type.lower()
    )


def _judge_numbers(nodes: NodeSet) -> Iterator[Measure]:
    at = Subject(f"{nodes.site} {nodes.group}", nodes.path)
    for what, unit, scale, value, limit in (
        ("CPUs", "", 1, nodes.cpus, nodes.known_cpus),
        ("memory", "GiB", 1024, nodes.memory, nodes.known_memory),
    ):
        if value is not None and limit is None:
            continue  # only the site knows, and it has said so
        fix = None
        if value is not None and limit is not None and value > limit:
            fix = f"lower '{what.lower()}' in 'scheduler.nodes' to {limit / scale:,.0f} {unit}".strip()
        yield Measure(
            at,
            value=None if value is None else value / scale,
            limit=None if limit is None else limit / scale,
            unit=unit,
            what=f"{what} that jobs may have of a host",
            fix=fix,
            missing=(nodes.lacks(what),) if value is None else (),
        )
