"""Questions of ``preview`` and ``up`` before another instance replaces a head node, or a data volume."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from rackwright.cli.options.telling import say, tell_progress
from rackwright.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rackwright.plan.aws.site import AwsSitePlan
    from rackwright.plan.load import LoadedPlan
    from rackwright.provision.engine import Site, StackOutcome
    from rackwright.provision.targets import Target


def add_replaced_heads(parser: argparse.ArgumentParser) -> None:
    """Add how somebody says that it may be."""
    parser.add_argument(
        "--replace-head",
        action="store_true",
        help="allow replacement of head nodes; their data volumes are kept",
    )
    parser.add_argument(
        "--restore",
        action="store_true",
        help="replace the data volume with a volume of the blueprint's 'snapshot'; the old one is retained",
    )


def tell_replaced(loaded: LoadedPlan, site: Site, outcomes: Sequence[StackOutcome]) -> None:
    """Say which head nodes would be replaced, and what becomes of their data."""
    from rackwright.provision import heads, nodes

    plan = nodes.planned_site(loaded.plan, site.name)
    fleet = nodes.fleet_in(loaded.plan, site.name)
    for host in heads.replaced_heads(fleet, plan.servers[0].names, outcomes):
        say(f"{host}: {_fate(plan)}")


def _fate(plan: AwsSitePlan) -> str:
    if plan.data_volume is None:
        return "another instance would take its place, and EC2 will refuse to end it: its root volume holds data"
    return (
        "another instance would take its place: snapshots are made, it is stopped, and its data volume is detached, "
        "stays as it is and goes to the new one"
    )


def prepare_heads(
    arguments: argparse.Namespace, loaded: LoadedPlan, site: Site, target: Target
) -> tuple[str, ...]:
    """Let head nodes go that ``up`` would replace, if somebody has said so; volumes that may be replaced.

    Their data is safe then: EC2 has snapshots of all their volumes.

    Raises:
        UsageError: nobody has said so, or there is nothing to restore.
        ExternalToolError: AWS or the engine fails; nothing was let go.
    """
    from rackwright.plan.aws.names import site_prefix
    from rackwright.provision import engine, heads, nodes

    plan = nodes.planned_site(loaded.plan, site.name)
    prefix = site_prefix(loaded.plan.name, site.name)
    volume, hosts = plan.data_volume, plan.data_hosts
    if arguments.restore and (volume is None or volume.snapshot is None):
        raise UsageError(
            "there is nothing to restore", hint="name a 'snapshot' in 'data_volume' of 'head'"
        )
    restored = tuple(f"{prefix}-{host}-data" for host in hosts) if arguments.restore else ()
    fleet = nodes.fleet_in(loaded.plan, site.name)
    if not hosts or not heads.are_there(fleet, target, hosts):
        return restored
    engine.make_stacks(site, target)
    foreseen = engine.preview(site, target, say=tell_progress, kinds=("aws-cluster",))
    going = heads.replaced_heads(fleet, hosts, foreseen)
    if going and not arguments.replace_head:
        raise UsageError(
            f"{', '.join(going)}: {_fate(plan)}; slurmctld does not answer meanwhile",
            hint="give --replace-head to go ahead",
        )
    if going:
        heads.let_go(fleet, target, going, tell_progress)
    return restored
