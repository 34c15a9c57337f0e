"""Lustre over EFA on the instances of an AWS site, as a variable of the role ``lustre_lnet``.

Sources: AWS's script ``configure-efa-fsx-lustre-client.py`` of August 2026, which the FSx for Lustre User
Guide, "Configuring EFA clients", has people run, as copied unchanged into a public repository
(interfaces by instance type, peer credits, oldest driver, oldest kefalnd on P6); ParallelCluster's
``pcluster_diag``, which has the same numbers of it; that page (connections of a file system).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from rackwright.model.aws_storage import LustreFileSystem
from rackwright.plan.aws.site import AwsSitePlan, GroupPlan

DRIVER = "2.12.1"
"""Oldest driver of EFA."""

FEW, CREDITS_OF_FEW, CREDITS_OF_MANY = 4, 32, 128
"""Messages on their way to one peer: with up to ``FEW`` interfaces, and with more.

The EKS User Guide, "Optimize Amazon FSx for Lustre performance on nodes (EFA)", has 32 with eight
interfaces as well; the script, which is newer, is followed.
"""

CONNECTIONS = 1024
"""EFA connections that one file system takes; each interface of each client is one."""


@dataclass(frozen=True, slots=True)
class _Use:
    """EFA interfaces of an instance type that Lustre uses.

    Attributes:
        devices: how many.
        of_each: what one device of each is taken of; None for all.
        kefalnd: oldest kefalnd, LNet's driver of EFA; None for any.
    """

    devices: int
    of_each: Literal["switch", "port"] | None = None
    kefalnd: str | None = None


_USED: Mapping[str, _Use] = {
    "p5.48xlarge": _Use(8, "switch"),
    "p5e.48xlarge": _Use(8, "switch"),
    "p5en.48xlarge": _Use(8, "port"),
    "p6-b200.48xlarge": _Use(8, kefalnd="1.1.1"),
    "p6-b300.48xlarge": _Use(16, kefalnd="1.1.1"),
}
"""By instance type.

Why no others: the script takes all interfaces of a type that it does not name, which has to be of Nitro
v4 or newer, and the catalogue does not say that; those of p6e-gb200.36xlarge it picks by the width of
their links, which the host alone knows.
"""


def lnet_over_efa(nodes: GroupPlan) -> dict[str, Any] | None:
    """Return the LNet settings of the role on instances of a group; None if they stay on TCP."""
    use = _USED.get(nodes.instance.instance_type)
    if use is None or not nodes.spec.efa or not nodes.efa_interfaces:
        return None
    devices = min(use.devices, nodes.efa_interfaces)
    wanted: dict[str, Any] = {
        "devices": devices,
        "peer_credits": CREDITS_OF_FEW if devices <= FEW else CREDITS_OF_MANY,
        "driver": DRIVER,
    }
    if use.of_each is not None:
        wanted["of_each"] = use.of_each
    if use.kefalnd is not None:
        wanted["kefalnd"] = use.kefalnd
    return wanted


def lines_of_efa(
    planned: AwsSitePlan,
    clients: Mapping[str, Collection[LustreFileSystem]],
) -> Iterator[str]:
    """Yield the lines of a listing about Lustre over EFA at a site.

    Args:
        planned: the site.
        clients: the file systems with EFA that each node group mounts.
    """
    connections: dict[str, int] = {}
    for nodes in planned.groups:
        systems = clients.get(nodes.spec.name, ())
        if not systems or not nodes.spec.efa:
            continue
        wanted = lnet_over_efa(nodes)
        if wanted is None:
            yield (
                f"'{nodes.spec.name}' mounts {_names(systems)} over TCP: Lustre over EFA is not set up"
                f" on {nodes.instance.instance_type}, but on {', '.join(_USED)}"
            )
            continue
        for system in systems:
            count = wanted["devices"] * nodes.spec.most
            connections[system.name] = connections.get(system.name, 0) + count
    for name, count in connections.items():
        if count > CONNECTIONS:
            yield (
                f"the clients of '{name}' make {count:,} EFA connections, and a file system of FSx"
                f" for Lustre takes {CONNECTIONS:,}"
            )


def _names(systems: Collection[LustreFileSystem]) -> str:
    return ", ".join(f"'{system.name}'" for system in systems)
