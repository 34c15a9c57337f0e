"""Needs of SkyPilot on a Slurm cluster: a host where its users log in, shared homes and types of accelerators.

Source: SkyPilot 0.14.1, ``sky/clouds/slurm.py`` and ``sky/provision/slurm/instance.py``.
"""

from __future__ import annotations

from collections.abc import Iterator

from rackwright.plan.model import Plan
from rackwright.plan.slurm.node_health import mount_points
from rackwright.plan.slurm.nodes import PartitionSets

HOMES = "/home"
"""Folder of home directories, as the role ``users`` has it."""


def login_host(plan: Plan) -> tuple[str, str]:
    """Return site and name of the host that users log in to: the first login host, else the first controller."""
    hosts = tuple(plan.hosts)
    logins = ((host.site, host.name) for host in hosts if host.role == "login")
    controllers = () if plan.scheduler is None else plan.scheduler.controllers
    named = (
        (host.site, host.name) for one in controllers for host in hosts if host.name == one.host
    )
    outside = ((plan.site_names[0], one.host) for one in controllers)
    return next(logins, None) or next(named, None) or next(outside, (plan.site_names[0], plan.name))


def homes_by_group(plan: Plan) -> dict[str, bool]:
    """Return if the homes are shared and can be written to, by node group with logins or jobs."""
    login = login_host(plan)
    servers = {
        (site.name, share.server)
        for site in plan.onprem
        for share in site.nfs
        if share.export == HOMES
    }
    return {
        f"{host.site} {host.group}": (host.site, host.group) in servers
        or any(
            mount.path == HOMES and not mount.read_only
            for mount in mount_points(plan, host.site, host.group, host.role)
        )
        for host in plan.hosts
        if host.role == "compute" or (host.site, host.name) == login
    }


def untyped(partitions: tuple[PartitionSets, ...]) -> Iterator[str]:
    """Yield the node groups with accelerators that Slurm counts without a type, by which SkyPilot asks for them."""
    groups = {
        f"{nodes.site} {nodes.group}": None
        for entry in partitions
        for nodes in entry.sets
        if any(not gres.type for gres in nodes.counted)
    }
    yield from groups
