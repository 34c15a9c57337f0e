"""Bursts: elastic hosts on AWS that a partition gets while its jobs wait.

Slurm has the hosts in a partition of their own. The role ``elastic`` lets jobs into it that have waited long enough, as far
as the budget goes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from rackwright.model.aws import AwsSite
from rackwright.model.cluster import Blueprint
from rackwright.model.cost import Costs
from rackwright.model.federation import Burst
from rackwright.model.scheduler import Scheduler
from rackwright.plan.base import Path
from rackwright.plan.expansion import Expansion
from rackwright.plan.problems import PlanProblem
from rackwright.plan.slurm.nodes import NodeSet, PartitionSets, covers
from rackwright.reading.suggest import did_you_mean


def burst_partition(burst: Burst) -> str:
    """Return the name of the partition that has the hosts of a burst."""
    return f"{burst.partition}-burst"


def place_of_burst(burst: Burst) -> tuple[str, str]:
    """Return the site on AWS and its node group."""
    site, _, group = burst.to.partition("/")
    return site, group


def burst_partitions(
    blueprint: Blueprint, partitions: Sequence[PartitionSets], sets: Sequence[NodeSet]
) -> Iterator[PartitionSets]:
    """Yield a partition for each burst: the first ``max`` hosts of its group, with the limits of its own partition."""
    by_name = {one.partition.name: one.partition for one in partitions}
    by_place = {(nodes.site, nodes.group): nodes for nodes in sets}
    for index, burst in enumerate(blueprint.burst):
        nodes = by_place.get(place_of_burst(burst))
        if nodes is None or burst.partition not in by_name:
            continue
        changes = {
            "name": burst_partition(burst),
            "groups": (nodes.group,),
            "default": False,
            "extra": {},
        }
        partition = by_name[burst.partition].model_copy(update=changes)
        own = replace(nodes, count=burst.max, elastic=burst.max)
        yield PartitionSets(partition, ("burst", index), (own,), ())


@dataclass(frozen=True, slots=True)
class BurstPrice:
    """Dollars of one host of a burst for an hour, volumes included; None where something is missing."""

    per_hour: Decimal | None
    missing: tuple[str, ...]


def burst_price(plan: Expansion, burst: Burst) -> BurstPrice:
    """Return the price of one host, of all that its group costs at its largest."""
    from rackwright.plan.cost.aws import aws_lines  # few blueprints have a burst
    from rackwright.plan.cost.lines import add_up

    name, group = place_of_burst(burst)
    site = next(one for one in plan.aws if one.spec.name == name)
    count = next(one.spec.most for one in site.groups if one.spec.name == group)
    lines = aws_lines(site, plan.costs or Costs(), plan.catalogue.prices)
    amount = add_up(line for line in lines if line.group == group)
    each = None if amount.per_hour is None else amount.per_hour / count
    return BurstPrice(each, amount.missing)


def unpriced_bursts(plan: Expansion) -> Iterator[PlanProblem]:
    """Yield each burst whose budget nothing can keep, as the price of a host is unknown."""
    for index, burst in enumerate(plan.blueprint.burst):
        for text in burst_price(plan, burst).missing[:1]:
            message = (
                f"the budget of the burst of '{burst.partition}' cannot be kept; not known: {text}"
            )
            yield PlanProblem(("burst", index, "budget"), message, "state the price in 'costs'")


def check_budgets(plan: Expansion, scheduler: Scheduler) -> Iterator[PlanProblem]:
    """Yield each burst whose budget pays for no job.

    The role lets a job in if the budget has room for its hosts from their launch until they have been idle.
    """
    times = scheduler.power_saving
    around = times.resume_timeout + times.idle + times.suspend_timeout
    for index, burst in enumerate(plan.blueprint.burst):
        least = (burst_price(plan, burst).per_hour or 0) * Decimal(around) / 3600
        if burst.budget <= least:
            message = (
                f"the budget of the burst of '{burst.partition}' starts no host: one costs "
                f"{least:,.2f} USD for its boot ('resume_timeout') and its idle time alone"
            )
            yield PlanProblem(("burst", index, "budget"), message, "give more than that")


def check_bursts(blueprint: Blueprint) -> Iterator[PlanProblem]:
    """Yield what keeps a burst from starting hosts, each at its field."""
    scheduler = blueprint.scheduler
    if scheduler is None:
        yield PlanProblem(("burst",), "a burst needs a 'scheduler', whose jobs wait", None)
        return
    partitions = [one.name for one in scheduler.partitions]
    data = [one.name for one in blueprint.datasets]
    taken: dict[str, str] = {}
    seen: set[str] = set()
    for index, burst in enumerate(blueprint.burst):
        path: Path = ("burst", index)
        if burst.partition in seen:
            message = f"the partition '{burst.partition}' has two bursts, and the hosts of both would be '{burst_partition(burst)}'"
            yield PlanProblem((*path, "partition"), message, "leave one of them out")
        seen.add(burst.partition)
        for name in burst.datasets:
            if name not in data:
                hint = did_you_mean(name, data) or _listed(data)
                yield PlanProblem((*path, "datasets"), f"there is no data set '{name}'", hint)
        if burst.partition not in partitions:
            hint = did_you_mean(burst.partition, partitions) or _listed(partitions)
            message = f"there is no partition '{burst.partition}'"
            yield PlanProblem((*path, "partition"), message, hint)
        elif burst_partition(burst) in partitions:
            message = f"a burst of '{burst.partition}' makes the partition '{burst_partition(burst)}', which is there already"
            yield PlanProblem((*path, "partition"), message, "give one of them another name")
        yield from _check_place(blueprint, scheduler, burst, path)
        if (other := taken.setdefault(burst.to, burst.partition)) != burst.partition:
            message = (
                f"the bursts of '{other}' and '{burst.partition}' both start hosts of '{burst.to}'"
            )
            yield PlanProblem((*path, "to"), message, "give each burst a node group of its own")


def _check_place(
    blueprint: Blueprint, scheduler: Scheduler, burst: Burst, path: Path
) -> Iterator[PlanProblem]:
    name, group = place_of_burst(burst)
    clouds: Mapping[str, AwsSite] = {
        one.name: one for one in blueprint.sites if isinstance(one, AwsSite)
    }
    site, place = clouds.get(name), (*path, "to")
    if site is None:
        hint = did_you_mean(name, list(clouds)) or _listed(list(clouds))
        yield PlanProblem(place, f"there is no site '{name}' on AWS", hint)
        return
    groups = {one.name: one for one in site.node_groups}
    if group not in groups:
        message = f"there is no node group '{group}' in '{name}'"
        yield PlanProblem(place, message, did_you_mean(group, list(groups)))
        return
    if blueprint.federation is not None:
        message = "a burst starts hosts of the cluster that has the partition; each site of a federation has its own"
        yield PlanProblem(
            path, message, "leave out 'federation', or the burst: a federation places jobs itself"
        )
    elif not covers(scheduler, name):
        hint = f"add '{name}' to 'scheduler.sites'"
        yield PlanProblem(place, f"the scheduler does not cover '{name}'", hint)
    spec = groups[group]
    if spec.least or not spec.is_elastic:
        message = f"hosts of '{burst.to}' run without a burst"
        yield PlanProblem(place, message, f"give it 'count: {{min: 0, max: {spec.most}}}'")
    elif burst.max > spec.most:
        message = f"'{burst.to}' has at most {spec.most:,} hosts; the burst takes {burst.max:,}"
        yield PlanProblem((*path, "max"), message, f"take at most {spec.most:,}")


def _listed(names: Sequence[str]) -> str:
    return f"there are: {', '.join(names) or 'none'}"
