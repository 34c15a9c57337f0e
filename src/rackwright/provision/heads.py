"""Head nodes that another one takes the place of: what their volumes hold is safe before they go.

Takes ``ec2:DescribeInstances``, ``ec2:CreateSnapshots``, ``ec2:CreateTags``, ``ec2:DescribeSnapshots`` and
``ec2:ModifyInstanceAttribute``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from rackwright.plan.aws.names import site_prefix
from rackwright.provision.aws.fleet_calls import Fleet, FleetCalls
from rackwright.provision.engine import StackOutcome
from rackwright.provision.targets import Target

INSTANCE = "Instance"
"""Type of the engine's resources that are head nodes."""


def replaced_heads(
    fleet: Fleet, hosts: Collection[str], outcomes: Collection[StackOutcome]
) -> tuple[str, ...]:
    """Return those of ``hosts`` whose instances the engine replaces, sorted."""
    prefix = site_prefix(fleet.cluster, fleet.site)
    names = {
        name for outcome in outcomes for name, kind in outcome.replaced.items() if kind == INSTANCE
    }
    return tuple(sorted(host for host in hosts if f"{prefix}-{host}" in names))


def are_there(fleet: Fleet, target: Target, hosts: Collection[str]) -> bool:
    """Return True if any of ``hosts`` has an instance.

    Raises:
        ExternalToolError: AWS refuses, or cannot be asked.
    """
    return bool(FleetCalls(fleet, target).servers(hosts))


def let_go(
    fleet: Fleet, target: Target, hosts: Collection[str], say: Callable[[str], None]
) -> list[str]:
    """Make snapshots of all volumes of ``hosts``, wait for them, and lift their protection; the snapshots.

    Raises:
        ExternalToolError: AWS refuses, cannot be asked, or does not complete a snapshot; no host is
            let go then.
    """
    aws = FleetCalls(fleet, target)
    found = aws.servers(hosts)
    made: list[str] = []
    for host, instance in found.items():
        snapshots = aws.snapshot(instance, f"before another instance is {host}")
        say(f"hosts: the volumes of {host} ({instance}) are saved as {', '.join(snapshots)}")
        made += snapshots
    if made:
        aws.wait_for_snapshots(made)
    for instance in found.values():
        aws.release(instance)
    return made
