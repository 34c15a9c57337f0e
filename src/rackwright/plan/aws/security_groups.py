"""Security groups of a site as plain data.

The stacks deploy these rules and the policies judge them; no rule is written anywhere else.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from rackwright.model.aws import AwsSite
from rackwright.plan.aws.endpoints import interface_endpoints
from rackwright.plan.aws.file_systems.efs import NFS_PORT, made_efs
from rackwright.plan.aws.file_systems.fsx import made_file_systems
from rackwright.plan.aws.subnets import login_address

LUSTRE_PORTS: tuple[tuple[int, int], ...] = ((988, 988), (1018, 1023))
"""Port ranges on which Lustre clients and servers talk to each other, both ways."""
EVERYWHERE = "0.0.0.0/0"
SLURM_PORTS = (6817, 6819)
"""Ports of slurmctld, slurmd and slurmdbd (manual of slurm.conf: ``SlurmctldPort``, ``SlurmdPort``)."""

SSH = (22, 22)

MADE = frozenset({"cluster", "login", "balancer", "endpoints", "lustre", "efs"})
"""The security groups that stacks make; a rule may be in one that exists as well, by its id."""


@dataclass(frozen=True, slots=True)
class SecurityRule:
    """One rule of a security group."""

    group: str
    """One of ``MADE``, or the id of one that exists."""
    direction: Literal["ingress", "egress"]
    protocol: Literal["tcp", "all"]
    ports: tuple[int, int] | None
    """First and last port; None for all protocols."""
    peer: str
    """A CIDR, or ``sg:`` with what a security group is called as ``group``."""
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
    """Return the rules of the site's network: cluster, login, load balancer and endpoints.

    EFA needs a group that allows all traffic to and from itself, named by id: an open CIDR does
    not do for it. Users have shells on login nodes, which are in a group of their own.
    """
    rules = [
        SecurityRule("cluster", "ingress", "all", None, "sg:cluster", "EFA and cluster traffic"),
        SecurityRule("cluster", "egress", "all", None, "sg:cluster", "EFA and cluster traffic"),
        SecurityRule("cluster", "egress", "all", None, EVERYWHERE, "packages and AWS services"),
        *(
            SecurityRule("cluster", "ingress", "tcp", ports, cidr, why)
            for cidr in site.network.on_premises
            for ports, why in ((SSH, "SSH from other sites"), (SLURM_PORTS, "Slurm"))
        ),
        *_login_rules(site),
    ]
    if interface_endpoints(site.network):
        cidr = site.network.cidr
        rules.append(SecurityRule("endpoints", "ingress", "tcp", (443, 443), cidr, "AWS services"))
    return tuple(rules)


def _login_rules(site: AwsSite) -> Iterator[SecurityRule]:
    """Yield the rules of login nodes and of their load balancer.

    A login node reaches SSH, Slurm's daemons and NFS of the others, which reach each port of it: srun
    listens on any. A load balancer with a group of its own keeps the addresses of clients, and its targets name
    the group (Elastic Load Balancing User Guide, "Security groups for your Network Load Balancer").
    """
    if site.login is None:
        return
    entrance = "balancer" if login_address(site) == "load-balancer" else "login"
    for cidr in site.network.ssh_from:
        yield SecurityRule(entrance, "ingress", "tcp", SSH, cidr, "SSH to the login nodes")
    if entrance == "balancer":
        yield SecurityRule("balancer", "egress", "tcp", SSH, "sg:login", "SSH to the login nodes")
        yield SecurityRule("login", "ingress", "tcp", SSH, "sg:balancer", "SSH to the login nodes")
    for cidr in site.network.on_premises:
        if entrance != "login" or cidr not in site.network.ssh_from:
            yield SecurityRule("login", "ingress", "tcp", SSH, cidr, "SSH from other sites")
    yield SecurityRule("login", "ingress", "all", None, "sg:cluster", "streams of jobs, monitoring")
    yield SecurityRule("login", "egress", "all", None, EVERYWHERE, "packages and AWS services")
    for ports, why in ((SSH, "SSH"), (SLURM_PORTS, "Slurm"), ((NFS_PORT, NFS_PORT), "NFS")):
        yield SecurityRule("cluster", "ingress", "tcp", ports, "sg:login", why)
    # Users reach each other's login node by SSH alone.
    yield SecurityRule("login", "ingress", "tcp", SSH, "sg:login", "SSH among login nodes")


def storage_rules(site: AwsSite) -> tuple[SecurityRule, ...]:
    """Return the rules of the security groups of file systems; empty without any.

    With EFA all traffic among file system and clients is allowed as well, and a file system that is made is in
    the cluster's group, too. Of all others the cluster's group lets the servers call back (FSx for Lustre User
    Guide, "File system access control with Amazon VPC"). A group of one that exists gets what lets the cluster
    in; what its servers need among themselves it has.
    """
    rules: list[SecurityRule] = []
    clients = client_groups(site)
    logins = clients[1:]
    if made := made_file_systems(site):
        efa = any(system.efa for system in made)
        rules += _lustre_rules("lustre", ("sg:lustre", "sg:cluster"), efa=efa)
        back = logins if all(system.efa for system in made) else clients
        rules += _calls_back("lustre", back)
        rules += _lustre_rules("lustre", _peers(logins), efa=False)
    named: dict[str, bool] = {}
    for system in site.file_systems:
        if system.existing is not None and (group := system.existing.security_group) is not None:
            named[group] = named.get(group, False) or system.efa
    for group, efa in named.items():
        rules += _lustre_rules(group, ("sg:cluster",), efa=efa)
        rules += _lustre_rules(group, _peers(logins), efa=False)
        rules += _calls_back(group, clients)
        if efa:
            rules.append(
                SecurityRule("cluster", "ingress", "all", None, f"sg:{group}", "Lustre over EFA")
            )
            rules.append(
                SecurityRule("cluster", "egress", "all", None, f"sg:{group}", "Lustre over EFA")
            )
    return (*rules, *_nfs_rules(site))


def _nfs_rules(site: AwsSite) -> Iterator[SecurityRule]:
    """Yield the rules that admit the cluster to mount targets of EFS; answers need no rule."""
    groups = ["efs"] if made_efs(site) else []
    groups += [
        group
        for system in site.efs
        if system.existing is not None and (group := system.existing.security_group) is not None
    ]
    for group in dict.fromkeys(groups):
        for peer in _peers(client_groups(site)):
            yield SecurityRule(group, "ingress", "tcp", (NFS_PORT, NFS_PORT), peer, "NFS")


def client_groups(site: AwsSite) -> tuple[str, ...]:
    """Return the security groups of the hosts that mount file systems, that of the cluster first."""
    return ("cluster",) if site.login is None else ("cluster", "login")


def _peers(groups: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(f"sg:{group}" for group in groups)


def _calls_back(group: str, clients: tuple[str, ...]) -> Iterator[SecurityRule]:
    """Yield the rules that admit servers of a group to groups of clients."""
    for client in clients:
        for ports in LUSTRE_PORTS:
            yield SecurityRule(client, "ingress", "tcp", ports, f"sg:{group}", "Lustre")


def _lustre_rules(group: str, peers: tuple[str, ...], *, efa: bool) -> Iterator[SecurityRule]:
    """Yield the rules of the security group of a file system, in both directions."""
    directions: tuple[Literal["ingress", "egress"], ...] = ("ingress", "egress")
    for direction in directions:
        for ports in LUSTRE_PORTS:
            for peer in peers:
                yield SecurityRule(group, direction, "tcp", ports, peer, "Lustre")
    for direction in directions if efa else ():
        for peer in peers:
            yield SecurityRule(group, direction, "all", None, peer, "Lustre over EFA")
