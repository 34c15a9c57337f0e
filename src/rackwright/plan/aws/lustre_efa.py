"""Lustre over EFA on the instances of an AWS site, as a variable of the role ``lustre_lnet``.

Sources: FSx for Lustre User Guide, "Configuring EFA clients" (interfaces by instance type, peer
credits, connections of a file system); the same with EKS User Guide, "Optimize Amazon FSx for Lustre
performance on nodes (EFA)" (oldest driver); ParallelCluster's diagnosis of FSx, ``pcluster_diag``
(oldest kefalnd, on P6).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from rackwright.model.aws import LustreFileSystem
from rackwright.plan.aws.site import AwsSitePlan, GroupPlan

DRIVER = "2.12.1"
"""Oldest driver of EFA."""

PEER_CREDITS = 32
"""Messages on their way to one peer."""

CONNECTIONS = 1024
"""EFA connections that one file system takes; each interface of each client is one."""

INTERFACES: Mapping[str, int] = {
    "p5.48xlarge": 8,
    "p5e.48xlarge": 8,
    "p5en.48xlarge": 8,
    "p6-b200.48xlarge": 8,
    "p6-b300.48xlarge": 16,
}
"""EFA interfaces that Lustre uses, by instance type.

Why no others: those that the guide does not name have to be of Nitro v4 or newer, which the
catalogue does not say; of p6e-gb200.36xlarge it names eight, and not which of the seventeen.
"""

KEFALND: Mapping[str, str] = {"p6-b200.48xlarge": "1.1.1", "p6-b300.48xlarge": "1.1.1"}
"""Oldest kefalnd, LNet's driver of EFA, by the instance type that needs more than any."""


def lnet_over_efa(nodes: GroupPlan) -> dict[str, Any] | None:
    """What the role sets up on instances of a group; None where they stay on TCP."""
    kind = nodes.instance.instance_type
    there = nodes.efa_interfaces
    if not nodes.group.efa or not there or kind not in INTERFACES:
        return None
    wanted: dict[str, Any] = {
        "devices": min(INTERFACES[kind], there),
        "peer_credits": PEER_CREDITS,
        "driver": DRIVER,
    }
    if kind in KEFALND:
        wanted["kefalnd"] = KEFALND[kind]
    return wanted


def lines_of_efa(
    planned: AwsSitePlan,
    clients: Mapping[str, Collection[LustreFileSystem]],
) -> Iterator[str]:
    """What people have to know of Lustre over EFA at a site.

    Args:
        planned: the site.
        clients: the file systems with EFA that each node group mounts.
    """
    connections: dict[str, int] = {}
    for nodes in planned.groups:
        systems = clients.get(nodes.group.name, ())
        if not systems or not nodes.group.efa:
            continue
        wanted = lnet_over_efa(nodes)
        if wanted is None:
            yield (
                f"'{nodes.group.name}' mounts {_names(systems)} over TCP: it is not known which EFA"
                f" interfaces of {nodes.instance.instance_type} Lustre can use"
            )
            continue
        for system in systems:
            count = wanted["devices"] * nodes.group.count
            connections[system.name] = connections.get(system.name, 0) + count
    for name, count in connections.items():
        if count > CONNECTIONS:
            yield (
                f"the clients of '{name}' make {count:,} EFA connections, and a file system of FSx"
                f" for Lustre takes {CONNECTIONS:,}"
            )


def _names(systems: Collection[LustreFileSystem]) -> str:
    return ", ".join(f"'{system.name}'" for system in systems)
