"""SCH-004: every host takes jobs, and a job without a partition goes somewhere."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rackwright.api import Finding, Measure, Plan, Policy, Severity, Subject, Suggestion, rule
from rackwright.model.job_time import job_seconds
from rackwright.model.scheduler import Scheduler
from rackwright.plan.slurm.checks import defaults, idle_sets, shared_tiers
from rackwright.plan.slurm.nodes import SCHEDULER, NodeSet, PartitionSets
from rackwright.reading.suggest import did_you_mean


@rule("SCH-004", "Partitions cover every host", Severity.MEDIUM, since="0.2", stage="design")
class SlurmPartitions(Policy):
    """Partitions name groups that exist, cover every host, and one of them is the default."""

    def check(self, plan: Plan) -> Iterator[Measure | Finding]:
        """Yield findings for the partitions, for groups, and for what they have in common."""
        for slurm in plan.clusters:
            scheduler, sets, partitions = slurm.scheduler, slurm.nodes, slurm.partitions
            for entry in partitions:
                yield from _judge_partition(entry, sets)
            yield from _judge_groups(sets, partitions)
            yield _judge_default(slurm.label, partitions)
            if scheduler.preemption is not None and scheduler.preemption.by == "partition":
                yield _judge_tiers(slurm.label, scheduler, partitions)


def _judge_partition(entry: PartitionSets, sets: Sequence[NodeSet]) -> Iterator[Measure | Finding]:
    partition = entry.partition
    at = Subject(entry.label, entry.path)
    if entry.unknown:
        known = [nodes.group for nodes in sets]
        yield Finding(
            at,
            ok=False,
            message=f"it names '{entry.unknown[0]}', which is not a group of compute nodes",
            fix=did_you_mean(entry.unknown[0], known) or f"name one of: {', '.join(known)}",
        )
        return
    yield Finding(at, ok=True, message=f"it has {entry.hosts:,} hosts")
    kinds = sorted({str(nodes.gres) for nodes in entry.sets})
    if len(kinds) > 1:
        yield Finding(
            at,
            ok=False,
            message=f"its hosts differ: {', '.join(kinds)}",
            fix="make a partition for each kind",
            advisory=True,
        )
    longest = job_seconds(partition.max_time)
    if partition.default_time is not None and longest is not None:
        yield Measure(
            at,
            value=job_seconds(partition.default_time),
            limit=longest,
            unit="s",
            what="default time of a job",
            fix=f"lower 'default_time' to {partition.max_time}",
            suggest=Suggestion((*entry.path, "default_time"), partition.max_time),
        )


def _judge_groups(
    sets: Sequence[NodeSet], partitions: Sequence[PartitionSets]
) -> Iterator[Finding]:
    idle = {nodes.group for nodes in idle_sets(sets, partitions)}
    for nodes in sets:
        at = Subject(f"{nodes.site} {nodes.group}", nodes.path)
        hosts = f"{nodes.count:,} hosts"
        if nodes.group in idle:
            remedy = f"add '{nodes.group}' to the groups of a partition whose state is UP"
            message = f"no partition sends jobs to its {hosts}"
            yield Finding(at, ok=False, message=message, fix=remedy)
        else:
            yield Finding(at, ok=True, message=f"its {hosts} take jobs")


def _judge_default(label: str, partitions: Sequence[PartitionSets]) -> Finding:
    at = Subject(f"{label}scheduler partitions", (*SCHEDULER, "partitions"))
    names = defaults(partitions)
    if len(names) == 1:
        return Finding(at, ok=True, message=f"a job that names none goes to '{names[0]}'")
    first = partitions[0].partition.name
    if not names:
        message = "no partition is the default: Slurm rejects jobs that name none"
        return Finding(at, ok=False, message=message, fix=f"write 'default: true' at '{first}'")
    others = ", ".join(f"'{name}'" for name in names[1:])
    message = f"{len(names)} partitions are marked as default; Slurm takes the last"
    return Finding(at, ok=False, message=message, fix=f"remove 'default' from {others}")


def _judge_tiers(label: str, scheduler: Scheduler, partitions: Sequence[PartitionSets]) -> Finding:
    at = Subject(f"{label}scheduler preemption", (*SCHEDULER, "preemption"))
    if len(scheduler.partitions) < 2:
        message = "a single partition has no other one to preempt"
        return Finding(at, ok=False, message=message, fix="add a partition, or remove 'preemption'")
    if equal := next(shared_tiers(partitions), None):
        return Finding(
            at,
            ok=False,
            message=f"'{equal[0]}' and '{equal[1]}' share hosts on one tier: neither preempts the other",
            fix=f"give '{equal[1]}' another 'priority_tier'",
        )
    return Finding(at, ok=True, message="partitions that share hosts have different tiers")
