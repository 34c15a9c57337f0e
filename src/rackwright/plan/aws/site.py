"""Expansion of a site on AWS: instances, interfaces, addresses, subnets and placement."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from rackwright.catalog.loader import how_to_add
from rackwright.model.aws import AwsAccess, AwsNetwork, AwsSite, Limits
from rackwright.model.aws_instances import (
    AwsHead,
    AwsLogin,
    AwsNodeGroup,
    AwsServer,
    CapacityBlock,
    DataVolume,
    Reservation,
    Snapshots,
    Spot,
)
from rackwright.model.aws_storage import ElasticFileSystem, LustreFileSystem
from rackwright.model.hardware import fact_value
from rackwright.model.instances import Instance
from rackwright.plan.aws import launch_template, nic
from rackwright.plan.aws.access import (
    InstanceRole,
    instance_policy,
    instance_roles,
    snapshot_policy,
)
from rackwright.plan.aws.data_volume import volume_args
from rackwright.plan.aws.file_systems.efs import made_efs
from rackwright.plan.aws.file_systems.fsx import bucket_names, kept_versions, made_file_systems
from rackwright.plan.aws.images import ImageFacts, image_facts
from rackwright.plan.aws.launch_template import PLANNED, Placement, Wiring
from rackwright.plan.aws.security_groups import (
    SecurityRule,
    client_groups,
    network_rules,
    storage_rules,
)
from rackwright.plan.aws.subnets import (
    Demand,
    SubnetError,
    SubnetPlan,
    file_system_interfaces,
    login_address,
    plan_subnets,
)
from rackwright.plan.aws.user_data import metadata_readers, node_user_data, server_user_data
from rackwright.plan.hosts import numbered
from rackwright.plan.problems import PlanError, PlanProblem

SitePath = tuple[str | int, ...]

STANDARD_QUOTA = "L-1216C47A"
"""Quota that counts the vCPUs of on-demand standard instances, as head and login nodes are."""
_SPOT_QUOTAS = {
    STANDARD_QUOTA: "L-34B43A08",
    "L-DB2E81BA": "L-3819A6DF",  # G and VT
    "L-2C3B7624": "L-6B0D517C",  # Trn
}
"""Quota of spot instances by that of on-demand instances (Amazon EC2 Instance Types Guide, "Amazon EC2 instance type
quotas"), which are apart for P: P5 has one, P4, P3 and P2 share one, and none is named for P6."""


def spot_quota(instance_type: str, on_demand: str | None) -> str | None:
    """Return the quota that counts the vCPUs of spot instances of a type; None where no document names one."""
    if instance_type.startswith("p5"):
        return "L-C4BD4855"
    if instance_type.startswith(("p2", "p3", "p4")):
        return "L-7212CCBC"
    return None if on_demand is None else _SPOT_QUOTAS.get(on_demand)


class AwsPlanError(PlanError):
    """A site on AWS cannot be expanded; ``problems`` holds every reason."""

    code = "aws-plan"


@dataclass(frozen=True, slots=True)
class GroupPlan:
    """A node group with what follows from its instance type."""

    spec: AwsNodeGroup
    """The group as the blueprint declares it."""
    path: SitePath
    instance: Instance
    nics: tuple[nic.Nic, ...] | None
    """Its interfaces; None where ``layout_error`` says why not."""
    layout_error: nic.LayoutError | None
    placement: Placement

    @property
    def addresses_per_node(self) -> int | None:
        """IP addresses that one node takes, None where the layout is unknown."""
        return None if self.nics is None else nic.addresses_per_node(self.nics)

    @property
    def efa_interfaces(self) -> int | None:
        """EFA interfaces of one node, None where the layout is unknown."""
        return None if self.nics is None else nic.efa_count(self.nics)

    @property
    def host_names(self) -> tuple[str, ...]:
        """Host names of the instances that always run: ``train-1`` to ``train-16``."""
        return numbered(self.spec.name, self.spec.least, self.spec.name_digits)

    @property
    def elastic_names(self) -> tuple[str, ...]:
        """Host names of the instances that Slurm launches and ends; they follow the others."""
        every = numbered(self.spec.name, self.spec.most, self.spec.name_digits)
        return every[self.spec.least :]

    @property
    def vcpus(self) -> int | None:
        """Virtual CPUs of the whole group at its largest, None where the catalogue lacks them."""
        each = fact_value(self.instance.vcpus)
        return None if each is None else each * self.spec.most

    @property
    def quota(self) -> str | None:
        """Service quota that counts the vCPUs, None where it is not known; capacity blocks count against none."""
        if isinstance(self.spec.capacity, Spot):
            return spot_quota(self.spec.type, self.instance.quota)
        return self.instance.quota

    def launch_template(
        self,
        name: str,
        tags: Mapping[str, str],
        wiring: Wiring = PLANNED,
    ) -> dict[str, Any]:
        """Return the launch template, exactly as it is deployed.

        Raises:
            LayoutError: the interfaces of the instance type cannot be laid out.
        """
        if self.nics is None:
            raise self.layout_error or nic.UnknownLayoutError(
                f"the interfaces of '{self.spec.type}' are unknown"
            )
        return launch_template.launch_template_args(
            self.spec, self.nics, name=name, tags=tags, wiring=wiring
        )


@dataclass(frozen=True, slots=True)
class ServerPlan:
    """The head or login nodes."""

    role: Literal["head", "login"]
    server: AwsServer
    path: SitePath
    instance: Instance | None
    """Catalogue entry; None where the type is not in the catalogue."""
    public: bool
    """They take public addresses."""

    @property
    def protected(self) -> bool:
        """EC2 ends them only after their protection is lifted."""
        return self.role == "head"

    @property
    def data_volume(self) -> DataVolume | None:
        """The volume that each of them has apart from its root; None without."""
        return self.server.data_volume if isinstance(self.server, AwsHead) else None

    @property
    def kept(self) -> bool:
        """Their root volumes hold data: Slurm's state and the accounting database."""
        return self.protected and self.data_volume is None

    @property
    def vcpus(self) -> int | None:
        """Virtual CPUs of all of them, None where unknown."""
        each = None if self.instance is None else fact_value(self.instance.vcpus)
        return None if each is None else each * self.server.count

    @property
    def names(self) -> tuple[str, ...]:
        """Host names, like ``head-1``."""
        return tuple(f"{self.role}-{number}" for number in range(1, self.server.count + 1))


@dataclass(frozen=True, slots=True)
class AwsSitePlan:
    """A site on AWS with everything that follows from the blueprint and the catalogue."""

    spec: AwsSite
    """The site as the blueprint declares it."""
    path: SitePath
    groups: tuple[GroupPlan, ...]
    servers: tuple[ServerPlan, ...]
    demand: Demand | None
    """Addresses of the cluster's subnet; None while a group's layout is unknown."""
    subnets: tuple[SubnetPlan, ...]
    """All subnets that are made, the cluster's first; empty while ``demand`` is unknown."""

    @property
    def name(self) -> str:
        """Its name, unique in the blueprint."""
        return self.spec.name

    @property
    def region(self) -> str:
        """The AWS region, like ``us-east-1``."""
        return self.spec.region

    @property
    def account(self) -> str | None:
        """Id of the AWS account; None for any."""
        return self.spec.account

    @property
    def network(self) -> AwsNetwork:
        """Network of the site as the blueprint declares it."""
        return self.spec.network

    @property
    def limits(self) -> Limits | None:
        """Quotas that the blueprint states; None where it states none."""
        return self.spec.limits

    @property
    def file_systems(self) -> tuple[LustreFileSystem, ...]:
        """Its file systems as the blueprint has them; those of the plan have their rates."""
        return self.spec.file_systems

    @property
    def made_file_systems(self) -> tuple[LustreFileSystem, ...]:
        """Those of them that its stacks make."""
        return made_file_systems(self.spec)

    @property
    def efs(self) -> tuple[ElasticFileSystem, ...]:
        """Its file systems of EFS."""
        return self.spec.efs

    @property
    def made_efs(self) -> tuple[ElasticFileSystem, ...]:
        """Those of them that its stacks make."""
        return made_efs(self.spec)

    @property
    def makes_key(self) -> bool:
        """Its stacks make the key of its file systems: there are some, and 'access' names none."""
        made = (*self.made_file_systems, *self.made_efs)
        return bool(made) and self.access.encryption_key is None

    @property
    def network_rules(self) -> tuple[SecurityRule, ...]:
        """Rules of the security groups of its network: cluster, login and endpoints."""
        return network_rules(self.spec)

    @property
    def storage_rules(self) -> tuple[SecurityRule, ...]:
        """Rules of the security groups of its file systems."""
        return storage_rules(self.spec)

    @property
    def client_groups(self) -> tuple[str, ...]:
        """Security groups of the hosts that mount file systems, that of the cluster first."""
        return client_groups(self.spec)

    @property
    def metadata_readers(self) -> list[str]:
        """Users beside root that read the metadata of instances, by the way in which hosts are reached."""
        return metadata_readers(self.spec)

    @property
    def bucket_names(self) -> tuple[str, ...]:
        """The buckets that it makes for its file systems, each once, in order."""
        return bucket_names(self.spec)

    def kept_versions(self, bucket: str) -> float | Literal["forever"] | None:
        """Return the longest time that a link of a bucket keeps old versions, in s; None if one states none."""
        return kept_versions(self.spec, bucket)

    @property
    def access(self) -> AwsAccess:
        """Roles and keys that its account has already, and how hosts are reached."""
        return self.spec.access

    @property
    def login(self) -> AwsLogin | None:
        """Its login nodes as the blueprint has them."""
        return self.spec.login

    @property
    def login_address(self) -> Literal["elastic", "load-balancer", "changing"] | None:
        """Kind of the public address of its login nodes; None without login nodes that are reached from outside."""
        return login_address(self.spec)

    @property
    def stated_tags(self) -> Mapping[str, str]:
        """Tags that the blueprint states; resources have those of ``tags`` beside."""
        return self.spec.tags

    @property
    def data_volume(self) -> DataVolume | None:
        """The volume that each of its head nodes has apart from its root; None without."""
        return self.spec.head.data_volume

    @property
    def data_hosts(self) -> tuple[str, ...]:
        """The head nodes that have one, by name."""
        return () if self.data_volume is None else self.servers[0].names

    @property
    def snapshots(self) -> Snapshots | None:
        """When snapshots of those volumes are made; None for never."""
        return None if self.data_volume is None else self.data_volume.snapshots

    def data_volume_args(
        self, volume: DataVolume, prefix: str, tags: Mapping[str, str]
    ) -> dict[str, Any]:
        """Return a data volume, exactly as it is deployed."""
        return volume_args(self.spec, volume, prefix=prefix, tags=tags)

    def snapshot_policy(self, prefix: str) -> dict[str, Any]:
        """Return the IAM document of the role that makes snapshots of data volumes."""
        return snapshot_policy(self.spec, prefix)

    def image_facts(self, image: str) -> ImageFacts:
        """Return the facts about an image, those that the site records among them."""
        return image_facts(image, self.spec.images)

    def image_record(self, image: str) -> int | None:
        """Return the place of an image in the site's ``images``; None if it is not there."""
        return next((n for n, one in enumerate(self.spec.images) if one.id == image), None)

    @property
    def reserved_groups(self) -> dict[str, list[GroupPlan]]:
        """The groups that are launched into each reservation or capacity block, by its id."""
        found: dict[str, list[GroupPlan]] = {}
        for group in self.groups:
            capacity = group.spec.capacity
            if isinstance(capacity, (Reservation, CapacityBlock)):
                found.setdefault(capacity.id, []).append(group)
        return found

    @property
    def instance_roles(self) -> tuple[InstanceRole, ...]:
        """The roles of its instances, each with rights of its own."""
        return tuple(instance_roles(self.spec))

    def instance_policy(self, cluster: str, account: str, role: InstanceRole) -> dict[str, Any]:
        """Return the IAM document of the instances with a role."""
        return instance_policy(cluster, self.spec, account, role)

    @property
    def node_user_data(self) -> str:
        """User data that names compute nodes at each boot."""
        return node_user_data(self.spec)

    def server_user_data(self, host: str) -> str:
        """Return the user data that names the head or login node ``host`` at its first boot."""
        return server_user_data(self.spec, host)

    @property
    def cluster_subnets(self) -> tuple[SubnetPlan, ...]:
        """Subnets of the nodes, all in the first zone; empty where they are unknown, or exist already."""
        first = self.network.availability_zones[0]
        return tuple(one for one in self.subnets if (one.tier, one.zone) == ("private", first))

    @property
    def cluster_subnet(self) -> SubnetPlan | None:
        """The subnet of head nodes and file systems; None where it is unknown, or exists already."""
        return self.subnets[0] if self.subnets else None

    def tags(self, cluster: str, owner: str | None = None) -> dict[str, str]:
        """Return tags of every resource of the site; the site's own come first."""
        own = {"rackwright:cluster": cluster, "rackwright:site": self.spec.name}
        if owner is not None:
            own["rackwright:owner"] = owner
        return {**self.spec.tags, **own}


def plan_aws_site(site: AwsSite, path: SitePath, instances: Mapping[str, Instance]) -> AwsSitePlan:
    """Return the expansion of ``site``.

    Args:
        site: the site.
        path: its place in the blueprint.
        instances: catalogue entries by EC2 instance type.

    Raises:
        AwsPlanError: a type is not in the catalogue, has no EFA where some is wanted, or the
            subnets do not fit; with every problem.
    """
    problems: list[PlanProblem] = []
    groups: list[GroupPlan] = []
    for index, group in enumerate(site.node_groups):
        where = (*path, "node_groups", index)
        instance = instances.get(group.type)
        if instance is None:
            problems.append(_unknown_type(group.type, (*where, "type"), instances))
            continue
        try:
            groups.append(_plan_group(group, where, instance))
        except nic.NoEfaError as error:
            problems.append(PlanProblem((*where, "efa"), error.summary, error.hint))
    servers = _plan_servers(site, path, instances)
    demand = _demand(site, groups, servers)
    planned: tuple[SubnetPlan, ...] = ()
    existing = site.network.existing
    if existing is not None:
        problems += _public_subnet(site, path)
    elif demand is not None and not problems:
        public = sum(plan.server.count for plan in servers if plan.public)
        public += login_address(site) == "load-balancer"
        try:
            planned = plan_subnets(site.network, demand, public_servers=public)
        except SubnetError as error:
            place = (*path, "network", "cidr")
            problems.append(PlanProblem(place, error.summary, error.hint))
    if problems:
        raise AwsPlanError(tuple(problems))
    return AwsSitePlan(site, path, tuple(groups), servers, demand, planned)


def _public_subnet(site: AwsSite, path: SitePath) -> list[PlanProblem]:
    """Return the problem of login nodes that need a public subnet in an existing VPC without one."""
    existing = site.network.existing
    if existing is None or existing.public_subnet is not None or login_address(site) is None:
        return []
    message = "'ssh_from' names public networks, and there is no subnet for login nodes"
    where = (*path, "network", "existing")
    return [PlanProblem(where, message, "name the 'public_subnet' of the VPC")]


def _plan_group(group: AwsNodeGroup, path: SitePath, instance: Instance) -> GroupPlan:
    nics: tuple[nic.Nic, ...] | None = None
    failure: nic.LayoutError | None = None
    try:
        nics = nic.group_layout(instance, efa=group.efa)
    except nic.NoEfaError:
        raise
    except nic.LayoutError as error:
        failure = error
    return GroupPlan(group, path, instance, nics, failure, launch_template.placement(group))


def _plan_servers(
    site: AwsSite, path: SitePath, instances: Mapping[str, Instance]
) -> tuple[ServerPlan, ...]:
    known = instances.get(site.head.type)
    head = ServerPlan("head", site.head, (*path, "head"), known, public=False)
    if site.login is None:
        return (head,)
    public = login_address(site) in {"elastic", "changing"}
    known = instances.get(site.login.type)
    return (head, ServerPlan("login", site.login, (*path, "login"), known, public=public))


def _demand(
    site: AwsSite, groups: list[GroupPlan], servers: tuple[ServerPlan, ...]
) -> Demand | None:
    nodes = 0
    for plan in groups:
        if plan.addresses_per_node is None:
            return None
        nodes += plan.addresses_per_node * plan.spec.most
    return Demand(
        nodes=nodes,
        growth=site.network.growth,
        servers=sum(plan.server.count for plan in servers if not plan.public),
        file_systems=sum(file_system_interfaces(fs) for fs in made_file_systems(site))
        + len(made_efs(site)),
    )


def _unknown_type(name: str, path: SitePath, instances: Mapping[str, Instance]) -> PlanProblem:
    words = set(re.split(r"[^a-z0-9]+", name.lower()))
    near = difflib.get_close_matches(name.lower(), sorted(instances), n=1) or [
        known for known, entry in sorted(instances.items())
        if known.partition(".")[0] == name.lower()
        or (entry.accelerators and entry.accelerators.model.lower() in words)
    ]  # fmt: skip
    hint = how_to_add(Instance, name)
    hint = f"did you mean {' or '.join(map(repr, near))}? {hint}" if near else hint
    return PlanProblem(path, f"the instance type '{name}' is not in the catalogue", hint)
