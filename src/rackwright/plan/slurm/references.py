"""Problems of what a scheduler refers to: groups, hosts and numbers that Slurm needs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rackwright.model.aws import AwsSite
from rackwright.model.cluster import Blueprint
from rackwright.plan.expansion import Expansion
from rackwright.plan.problems import PlanProblem
from rackwright.plan.records.federation import place_of
from rackwright.plan.slurm.nodes import (
    LONGEST_CLUSTER,
    SCHEDULER,
    NodeSet,
    known_hosts,
    scheduler_of,
)
from rackwright.reading.suggest import did_you_mean


def check_references(plan: Expansion, sets: Sequence[NodeSet]) -> list[PlanProblem]:
    """Return a problem of each name that leads nowhere, or that two sites use."""
    scheduler = scheduler_of(plan)
    problems: list[PlanProblem] = []
    name = scheduler.cluster or plan.name
    if len(name) > LONGEST_CLUSTER:
        message = f"'{name}' is longer than the {LONGEST_CLUSTER} characters of a Slurm cluster"
        problems.append(PlanProblem(SCHEDULER, message, "give a shorter name as 'cluster'"))
    problems += _check_groups(plan, sets)
    seen: dict[str, NodeSet] = {}
    for nodes in sets:
        twin = seen.setdefault(nodes.group, nodes)
        if twin is not nodes:
            message = f"the sites '{twin.site}' and '{nodes.site}' both have nodes '{nodes.group}'"
            hint = "rename one: a host has one name in the whole cluster"
            problems.append(PlanProblem((*nodes.path, "name"), message, hint))
    return problems


def check_spot(blueprint: Blueprint) -> Iterator[PlanProblem]:
    """Yield each partition whose jobs AWS may interrupt without its word, and the reverse."""
    if blueprint.scheduler is None:
        return
    spot = [
        group.name
        for site in blueprint.sites
        if isinstance(site, AwsSite)
        for group in site.node_groups
        if group.capacity.kind == "spot"
    ]
    for number, partition in enumerate(blueprint.scheduler.partitions):
        where = ("scheduler", "partitions", number, "spot")
        bursts = [one.to for one in blueprint.burst if one.partition == partition.name]
        groups = (*partition.groups, *(to.rpartition("/")[2] for to in bursts))
        taken = [name for name in groups if name in spot]
        if taken and not partition.spot:
            message = f"jobs of '{partition.name}' may run on spot instances of '{taken[0]}', which AWS takes back"
            hint = f"set 'spot: true' of the partition, or let its jobs run on other nodes than '{taken[0]}'"
            yield PlanProblem(where, message, hint)
        elif partition.spot and not taken:
            message = f"'{partition.name}' is for spot instances, and none of its groups has any"
            yield PlanProblem(where, message, "set 'capacity: {kind: spot, max_price: …}' of one")


def _check_groups(plan: Expansion, sets: Sequence[NodeSet]) -> list[PlanProblem]:
    scheduler = scheduler_of(plan)
    groups = [nodes.group for nodes in sets]
    lists = [
        *(
            (place_of(plan.membership, "partitions", n), e.groups)
            for n, e in enumerate(scheduler.partitions)
        ),
        *((place_of(plan.membership, "nodes", n), e.groups) for n, e in enumerate(scheduler.nodes)),
    ]
    named = [
        ((*part, "groups", place), name)
        for part, names in lists
        for place, name in enumerate(names)
    ]
    return [
        PlanProblem(
            where,
            f"there is no group of compute nodes '{name}'",
            did_you_mean(name, groups) or f"there are: {', '.join(groups) or 'none'}",
        )
        for where, name in named
        if name not in groups
    ]


def check_daemons(plan: Expansion) -> list[PlanProblem]:
    """Return a problem of each controller and database that no host can run; none without a scheduler."""
    scheduler, sites = plan.scheduler, plan.site_names
    if scheduler is None:
        return []
    for index, site in enumerate(scheduler.sites):
        if site not in sites:
            message = f"there is no site '{site}'"
            return [PlanProblem((*SCHEDULER, "sites", index), message, did_you_mean(site, sites))]
    wanted = [
        ((*SCHEDULER, "controllers", index, "host"), controller.host)
        for index, controller in enumerate(scheduler.controllers)
        if controller.address is None
    ]
    accounting = scheduler.accounting
    if accounting is not None and accounting.address is None:
        wanted.append(((*SCHEDULER, "accounting", "host"), accounting.host))
    backup = accounting.backup if accounting is not None else None
    names = {name for _, name in wanted} | ({backup} if backup else set())
    hosts = known_hosts(plan, names)
    problems = []
    for where, name in wanted:
        if name not in hosts:
            message = f"there is no host '{name}' in the sites of the cluster"
            hint = did_you_mean(name, known_hosts(plan))
            hint = hint or "give its 'address' if it stands elsewhere"
            problems.append(PlanProblem(where, message, hint))
        elif len(hosts[name]) > 1:
            message = f"several sites have a host '{name}': {', '.join(hosts[name])}"
            problems.append(
                PlanProblem(
                    where, message, "restrict 'scheduler.sites' to one, or give its 'address'"
                )
            )
    if accounting is not None and backup in hosts:
        problems.append(
            PlanProblem(
                (*SCHEDULER, "accounting", "backup"),
                f"slurmdbd on '{backup}' would have a database of its own, in which the jobs, "
                f"accounts and limits of '{accounting.host}' are not",
                "leave 'backup' out; or run both on hosts outside the blueprint that share one "
                "database, and give the 'address' of the first",
            )
        )
    return problems


def check_numbers(sets: Sequence[NodeSet]) -> list[PlanProblem]:
    """Return a problem of each number that Slurm needs and that is unknown; none is guessed."""
    problems = []
    for nodes in sets:
        for what in nodes.unknown:
            message = f"the {what} are unknown" if what[0] == "C" else f"the {what} is unknown"
            hint = f"add it to the catalogue entry, or to 'scheduler.nodes' for '{nodes.group}'"
            problems.append(PlanProblem((*nodes.path, "type"), message, hint))
        if nodes.uneven and nodes.gres is None:
            message = f"the accelerators of {nodes.entry} cannot be shared out to its hosts evenly"
            hint = f"give 'gres' in 'scheduler.nodes' for '{nodes.group}'"
            problems.append(PlanProblem((*nodes.path, "type"), message, hint))
    return problems
