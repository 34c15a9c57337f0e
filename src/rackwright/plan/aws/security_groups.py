"""Security groups of a site as plain data.

The stacks deploy these rules and the policies judge them; no rule is written anywhere else.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from rackwright.model.aws import AwsSite
from rackwright.plan.aws.endpoints import interface_endpoints

ANY_PORT = -1
LUSTRE_PORTS: tuple[tuple[int, int], ...] = ((988, 988), (1018, 1023))
"""Port ranges on which Lustre clients and servers talk to each other, both ways."""
EVERYWHERE = "0.0.0.0/0"
SLURM_PORTS = (6817, 6819)
"""Ports of slurmctld, slurmd and slurmdbd (manual of slurm.conf: ``SlurmctldPort``, ``SlurmdPort``)."""

GroupName = Literal["cluster", "login", "endpoints", "lustre"]


@dataclass(frozen=True, slots=True)
class SecurityRule:
    """One rule of a security group."""

    group: GroupName
    direction: Literal["ingress", "egress"]
    protocol: Literal["tcp", "all"]
    ports: tuple[int, int] | None
    """First and last port; None for all protocols."""
    peer: str
    """A CIDR, or ``sg:NAME`` of a security group of the site."""
    why: str

    @property
    def name(self) -> str:
        """A stable name, unique in the site."""
        where = self.peer.removeprefix("sg:").replace("/", "-").replace(".", "-")
        what = "all" if self.ports is None else "-".join(map(str, self.ports))
        return f"{self.group}-{self.direction}-{what}-{where}"

    @property
    def peer_group(self) -> str | None:
        """The security group at the other end, if it is one."""
        return self.peer.removeprefix("sg:") if self.peer.startswith("sg:") else None


def network_rules(site: AwsSite) -> tuple[SecurityRule, ...]:
    """The rules of the site's network: cluster, login and endpoints.

    EFA needs a group that allows all traffic to and from itself, named by id: an open CIDR does
    not do for it.
    """
    rules = [
        SecurityRule("cluster", "ingress", "all", None, "sg:cluster", "EFA and cluster traffic"),
        SecurityRule("cluster", "egress", "all", None, "sg:cluster", "EFA and cluster traffic"),
        SecurityRule("cluster", "egress", "all", None, EVERYWHERE, "packages and AWS services"),
        *(
            SecurityRule("login", "ingress", "tcp", (22, 22), cidr, "SSH to the login nodes")
            for cidr in site.network.ssh_from
        ),
        *(
            SecurityRule("cluster", "ingress", "tcp", ports, cidr, why)
            for cidr in site.network.on_premises
            for ports, why in (((22, 22), "SSH from other sites"), (SLURM_PORTS, "Slurm"))
        ),
    ]
    if interface_endpoints(site.network):
        cidr = site.network.cidr
        rules.append(SecurityRule("endpoints", "ingress", "tcp", (443, 443), cidr, "AWS services"))
    return tuple(rules)


def storage_rules(site: AwsSite) -> tuple[SecurityRule, ...]:
    """The rules of the Lustre file systems' security group; empty without any.

    With EFA all traffic among file system and clients is allowed as well.
    """
    if not site.file_systems:
        return ()
    peers = ("sg:lustre", "sg:cluster")
    rules = [
        SecurityRule("lustre", direction, "tcp", ports, peer, "Lustre")
        for direction in ("ingress", "egress")
        for ports in LUSTRE_PORTS
        for peer in peers
    ]
    if any(system.efa for system in site.file_systems):
        rules += [
            SecurityRule("lustre", direction, "all", None, peer, "Lustre over EFA")
            for direction in ("ingress", "egress")
            for peer in peers
        ]
    return tuple(rules)
