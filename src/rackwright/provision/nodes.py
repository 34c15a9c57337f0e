"""Reads the instances of node groups from AWS, and writes their host names there.

A name is a tag of the instance and an address record in the private zone of the site.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from rackwright.errors import UsageError
from rackwright.harmless import counted
from rackwright.locks import exclusive
from rackwright.plan.aws.names import site_prefix
from rackwright.plan.aws.site import AwsSitePlan
from rackwright.plan.model import Plan
from rackwright.provision.aws.fleet_calls import Fleet, FleetCalls, failure_of
from rackwright.provision.naming import Naming, NodeInstance, assigned, record_changes
from rackwright.provision.outdated import (
    OutdatedNode,
    ScalingGroup,
    Surplus,
    find_outdated,
    find_surplus,
    find_unhealthy,
)
from rackwright.provision.targets import Target

LAUNCH_TIMEOUT, LAUNCH_PAUSE = 1200.0, 15.0
"""Seconds to wait for instances of node groups in all, and between two looks."""


@dataclass(frozen=True, slots=True)
class Bound:
    """Result of naming instances, or its preview.

    Attributes:
        named: instances that got a name.
        records: changes of the private zone.
        outdated: nodes that are not what their group launches now.
        surplus: nodes that the blueprint has no place for.
        protected: instances that their group may not choose any more when it gets smaller.
        unhealthy: the instance of each host that fails EC2's status checks; empty where it has ended.
    """

    namings: tuple[Naming, ...]
    named: int
    records: int
    outdated: tuple[OutdatedNode, ...] = ()
    surplus: tuple[Surplus, ...] = ()
    protected: int = 0
    unhealthy: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_partial(self) -> bool:
        """True if a host has no instance with an address."""
        return any(naming.as_data()["missing"] for naming in self.namings)


def planned_site(plan: Plan, name: str) -> AwsSitePlan:
    """Return the AWS site ``name``, which the plan has."""
    return next(one for one in plan.aws if one.name == name)


def fleet_in(plan: Plan, name: str) -> Fleet:
    """Return the node groups of the AWS site ``name``, which the plan has."""
    planned = planned_site(plan, name)
    return Fleet(
        cluster=plan.name,
        site=planned.name,
        region=planned.region,
        zone=planned.network.dns_zone,
        groups={group.spec.name: group.spec.least for group in planned.groups},
        digits={group.spec.name: group.spec.name_digits for group in planned.groups},
        reserved=frozenset(
            group.spec.name
            for group in planned.groups
            if group.spec.capacity.kind in ("reservation", "capacity-block")
        ),
        servers=(
            *(host for servers in planned.servers for host in servers.names),
            *(host for group in planned.groups for host in group.elastic_names),
        ),
    )


def read(fleet: Fleet, target: Target) -> Bound:
    """Return the instances of each host by their tags; nothing is changed.

    Raises:
        ExternalToolError: AWS refuses, or cannot be reached.
    """
    aws = FleetCalls(fleet, target)
    groups = aws.groups()
    found = aws.instances(groups)
    namings = tuple(fleet.held(name, found.get(name, ())) for name in fleet.groups)
    return Bound(
        namings,
        0,
        0,
        _outdated(aws, groups, namings),
        _surplus(fleet, found),
        unhealthy=_unhealthy(groups, namings),
    )


def surplus(fleet: Fleet, target: Target) -> tuple[Surplus, ...]:
    """Return the instances that the blueprint has no place for, by node group.

    Raises:
        UsageError: a running host would get another name.
        ExternalToolError: AWS refuses, or cannot be reached.
    """
    found = FleetCalls(fleet, target).instances()
    refuse_renames(fleet.held(name, found.get(name, ())) for name in fleet.groups)
    return _surplus(fleet, found)


def refuse_moved_subnets(plan: Plan, name: str, target: Target) -> None:
    """Let no subnet that holds nodes and file systems be replaced: it cannot be resized or moved.

    Args:
        plan: the plan.
        name: the AWS site.
        target: where it is.

    Raises:
        UsageError: a subnet of the cluster would be.
        ExternalToolError: AWS refuses, or cannot be reached.
    """
    planned, fleet = planned_site(plan, name), fleet_in(plan, name)
    made = FleetCalls(fleet, target).subnets() if planned.cluster_subnets else {}
    prefix = site_prefix(fleet.cluster, fleet.site)
    for subnet in planned.cluster_subnets:
        cidr = made.get(f"{prefix}-{subnet.name}", subnet.cidr)
        if cidr != subnet.cidr:
            raise UsageError(
                f"the cluster's subnet '{subnet.name}' is {cidr}, and the blueprint plans {subnet.cidr}",
                hint=f"state 'network.cluster_subnets: [{cidr}]', to which a second subnet may be added",
            )


def refuse_renames(namings: Iterable[Naming]) -> None:
    """Let no running host get another name.

    Raises:
        UsageError: one would: Slurm would end its jobs, since the node vanishes from its configuration.
    """
    for naming in namings:
        if renamed := naming.renamed:
            old, new = next(iter(renamed.items()))
            digits = len(old.rpartition("-")[2])
            raise UsageError(
                f"{len(renamed):,} running hosts of '{naming.group}' would be renamed, like '{old}' to"
                f" '{new}'",
                hint=f"set 'name_digits: {digits}' of the node group: Slurm ends the jobs of a node that"
                " leaves its configuration",
            )


def _surplus(fleet: Fleet, found: Mapping[str, Sequence[NodeInstance]]) -> tuple[Surplus, ...]:
    each = (find_surplus(fleet.held(name, there), there) for name, there in sorted(found.items()))
    return tuple(one for one in each if one is not None)


def launch_failures(fleet: Fleet, target: Target) -> list[str]:
    """Return the node groups with fewer nodes than the blueprint wants, with the reason that AWS gives.

    Raises:
        ExternalToolError: AWS refuses, or cannot be reached.
    """
    aws = FleetCalls(fleet, target)
    lines = []
    for group in aws.groups():
        wanted, there = fleet.groups.get(group.group, 0), len(group.members)
        if there < wanted and (told := aws.last_failure(group.group)) is not None:
            lines.append(f"'{group.group}' has {there:,} of {wanted:,} nodes: {told}")
    return lines


Answers = Mapping[str, tuple[ScalingGroup, frozenset[str]]]
"""The settings of node groups at one time, each with the id of its newest activity."""


def answers(fleet: Fleet, target: Target) -> Answers:
    """Return the settings of the node groups that exist, and their newest activities.

    Raises:
        ExternalToolError: AWS refuses, or cannot be reached.
    """
    aws = FleetCalls(fleet, target)
    return {
        group.group: (
            group,
            frozenset(one["ActivityId"] for one in aws.activities(group.name, 1)),
        )
        for group in aws.groups()
    }


def launch(
    fleet: Fleet,
    target: Target,
    *,
    say: Callable[[str], None],
    before: Answers,
    sleep: Callable[[float], None] = time.sleep,
) -> Bound:
    """Name instances as they come, until each host has one or AWS has none to give.

    Args:
        fleet: the node groups.
        target: where they are.
        say: takes lines about the progress.
        before: answers from before the groups were changed.
        sleep: waits, in seconds.

    Raises:
        UsageError: a running host would get another name.
        ExternalToolError: AWS refuses, or cannot be reached.
    """
    aws, end, refused = FleetCalls(fleet, target), time.monotonic() + LAUNCH_TIMEOUT, 0
    while True:
        done = bind(fleet, target, say=say)
        lacking = [naming.group for naming in done.namings if naming.as_data()["missing"]]
        groups = {group.group: group for group in aws.groups()} if lacking else {}
        failures = [_refused(aws, groups.get(group), before.get(group)) for group in lacking]
        # An answer may be older than what was asked for just now, so it counts when it is there again.
        refused = refused + 1 if all(failures) else 0
        if not lacking or refused > 1 or time.monotonic() >= end:
            return done
        if refused == 0:
            say(f"hosts: waiting for instances of {', '.join(lacking)}")
        sleep(LAUNCH_PAUSE)


def _refused(
    aws: FleetCalls, group: ScalingGroup | None, before: tuple[ScalingGroup, frozenset[str]] | None
) -> bool:
    """Return True if AWS has refused what a group asks for, or there is no group."""
    if group is None:
        return True
    failed = [one for one in aws.activities(group.name, 1) if failure_of(one) is not None]
    if before is None or _question(before[0]) == _question(group):
        return bool(failed)
    # The group asks for something else now, and its old failure says nothing about that.
    return any(one["ActivityId"] not in before[1] for one in failed)


def _question(group: ScalingGroup) -> tuple[object, ...]:
    """Return the settings by which a group launches."""
    return group.minimum, group.maximum, group.template, group.subnets


def release_servers(fleet: Fleet, target: Target) -> list[str]:
    """Let head nodes be ended, which hold data; their instances.

    Raises:
        ExternalToolError: AWS refuses, or cannot be reached.
    """
    return FleetCalls(fleet, target).release_servers()


def network_nodes(fleet: Fleet, target: Target) -> dict[str, tuple[str, ...]]:
    """Return the network nodes above each host that has an instance, the highest first.

    EC2 tells nothing of types without a topology, and of instances that do not run.

    Raises:
        ExternalToolError: AWS refuses, or cannot be reached.
    """
    aws = FleetCalls(fleet, target)
    found = aws.instances()
    host_of = {
        one.id: host
        for name in fleet.groups
        for host, one in fleet.held(name, found.get(name, ())).holders.items()
    }
    told = aws.topology(list(host_of))
    return {host: told[one] for one, host in host_of.items() if one in told}


def bind(
    fleet: Fleet,
    target: Target,
    *,
    say: Callable[[str], None] = lambda _line: None,
    dry: bool = False,
    first: Collection[str] = (),
) -> Bound:
    """Give the instances without a name the free names, and the private zone their addresses.

    An instance keeps its name as long as it lives, and no group chooses which of them goes. A run that
    was cut off is finished by the next.

    Args:
        fleet: the node groups.
        target: where they are.
        say: takes lines about the progress.
        dry: change nothing, just find out.
        first: hosts that get an instance before others that have none.

    Raises:
        NothingProvisionedError: the network of the site is not there.
        ExternalToolError: AWS refuses, or cannot be reached.
    """
    aws = FleetCalls(fleet, target)
    if dry:
        return _bind(fleet, aws, say, first, dry=True)
    stack = f"{fleet.cluster}-{fleet.site}"
    with exclusive(target.state / "locks" / stack, what=f"site '{stack}'"):
        return _bind(fleet, aws, say, first, dry=False)


def _bind(
    fleet: Fleet,
    aws: FleetCalls,
    say: Callable[[str], None],
    first: Collection[str],
    *,
    dry: bool,
) -> Bound:
    zone_id = aws.zone_id()
    groups = aws.groups()
    found = aws.instances(groups)
    namings, named = [], 0
    for group, count in fleet.groups.items():
        digits = fleet.digits.get(group, 1)
        naming = assigned(group, count, found.get(group, ()), first, digits=digits)
        if not dry:
            refuse_renames([naming])
        unsettled = naming.unsettled
        if unsettled and not dry:
            say(f"hosts: naming {counted(len(unsettled), 'instance')} of '{group}'")
            gone = [host for host, one in unsettled.items() if not aws.tag(one, host)]
            holders = {
                host: replace(one, host=host)
                for host, one in naming.holders.items()
                if host not in gone
            }
            naming = replace(naming, holders=holders)
            named -= len(gone)
        named += len(unsettled)
        namings.append(naming)
    changes = record_changes(fleet.zone, namings, aws.records(zone_id), spared=fleet.servers)
    bare = {
        group.name: [one for one, protected in group.members.items() if not protected]
        for group in groups
    }
    if not dry:
        aws.change(zone_id, changes)
        for name, ids in bare.items():
            aws.protect(name, ids)
    return Bound(
        tuple(namings),
        named,
        len(changes),
        _outdated(aws, groups, namings),
        _surplus(fleet, found),
        sum(len(ids) for ids in bare.values()),
        _unhealthy(groups, namings),
    )


def _unhealthy(groups: Sequence[ScalingGroup], namings: Sequence[Naming]) -> dict[str, str]:
    by_name = {group.group: group for group in groups}
    here = [(naming, by_name[naming.group]) for naming in namings if naming.group in by_name]
    return {host: one for pair in here for host, one in find_unhealthy(*pair).items()}


def _outdated(
    aws: FleetCalls, groups: Sequence[ScalingGroup], namings: Sequence[Naming]
) -> tuple[OutdatedNode, ...]:
    by_name = {group.group: group for group in groups}
    here = [(naming, by_name[naming.group]) for naming in namings if naming.group in by_name]
    used = {
        version
        for naming, group in here
        for one in (*naming.holders.values(), *naming.unnamed)
        for version in (one.template, group.template)
        if one.template != group.template and version is not None
    }
    contents = {version: told for version in used if (told := aws.template(version)) is not None}
    return tuple(node for naming, group in here for node in find_outdated(naming, group, contents))
