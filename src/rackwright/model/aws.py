"""A site on AWS: network, access, quotas and what it is made of."""

from __future__ import annotations

import datetime as dt
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from rackwright.model.aws_instances import (
    NEXT_HEAD,
    SURPLUS,
    TEMPLATE,
    AwsHead,
    AwsLogin,
    AwsNodeGroup,
    ImageRecord,
    KeyArn,
)
from rackwright.model.aws_partitions import REGION, partition, partition_of_arn
from rackwright.model.aws_storage import (
    DAY,
    Days,
    ElasticFileSystem,
    LustreFileSystem,
    SecurityGroupId,
)
from rackwright.model.base import MaybeEmpty, Model
from rackwright.model.field_kinds import (
    ABOUT,
    HARDWARE,
    KEY,
    PART,
    POLICIES_ONLY,
    STATEMENT,
    Claim,
    OnChange,
)
from rackwright.model.names import Name, refuse_twins
from rackwright.model.networks import Cidr
from rackwright.model.units import Percent

_KEPT = "it is unmounted on every node; it exists without the stacks and stays as it is"
_RETAINED = "the file system and all data in it would go; they are retained until taken out by hand"
_STAYS = "hosts and file systems stay where they are"


SubnetId = Annotated[str, Field(pattern=r"^subnet-[0-9a-f]{8,17}$")]


class ExistingNetwork(Model):
    """A VPC that exists, with its subnets, routes, NAT gateways and endpoints: none of them is made."""

    vpc: Annotated[
        str, Field(pattern=r"^vpc-[0-9a-f]{8,17}$"), HARDWARE, ABOUT, OnChange("replace", _STAYS)
    ]
    """Id of the VPC."""
    private_subnet: Annotated[SubnetId, HARDWARE, ABOUT, OnChange("replace", _STAYS)]
    """Subnet of nodes, head node and file systems, in the first of the availability zones."""
    public_subnet: Annotated[SubnetId | None, HARDWARE, OnChange("replace", _STAYS)] = None
    """Subnet of login nodes that are reached from outside."""
    addresses: Annotated[int | None, Field(ge=0), Claim(looser="higher"), POLICIES_ONLY] = None
    """Free addresses of the private subnet, as recorded. Unknown if omitted."""
    security_groups: Annotated[
        tuple[SecurityGroupId, ...], Field(max_length=3), HARDWARE, OnChange("rolling", TEMPLATE)
    ] = ()
    """Groups that every host is in beside those that are made for the cluster."""


_RETENTIONS = (1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 3653)
"""Days for which CloudWatch Logs keeps events (API Reference, ``PutRetentionPolicy``), up to ten years."""


def _check_retention(seconds: float) -> float:
    days = seconds / DAY
    if days not in _RETENTIONS:
        nearest = min(_RETENTIONS, key=lambda known: abs(known - days))
        raise ValueError(f"CloudWatch Logs keeps events for {nearest} d, and not for {days:g} d")
    return seconds


class FlowLogs(Model):
    """Records of the connections of a VPC, in CloudWatch Logs."""

    keep: Annotated[Days, AfterValidator(_check_retention), HARDWARE]
    """Time for which records are kept, in d."""
    traffic: Annotated[
        Literal["all", "rejected"], HARDWARE, OnChange("in place", "the flow log is made again")
    ] = "all"
    """Connections that are recorded: all of them, or those alone that a rule rejected."""


class AwsNetwork(Model):
    """The VPC."""

    existing: Annotated[
        ExistingNetwork | None,
        PART,
        OnChange("replace", "hosts and file systems stay in their VPC for life", keeps_data=True),
    ] = None
    """Existing VPC to use, described by the other fields. One is made if omitted."""
    cidr: Annotated[
        Cidr, HARDWARE, OnChange("replace", "a VPC keeps its addresses for life", keeps_data=True)
    ]
    """Addresses of the VPC."""
    availability_zones: Annotated[
        tuple[str, ...],
        Field(min_length=1),
        HARDWARE,
        OnChange(
            "in place",
            "subnets of zones are made or removed; what that does to them is listed apart",
        ),
    ]
    """Zones that get subnets; the first one holds the cluster."""
    zone_ids: Annotated[
        dict[str, Annotated[str, Field(pattern=r"^[a-z0-9]+-az\d+$")]],
        Claim(looser="either"),
        POLICIES_ONLY,
    ] = Field(default_factory=dict)
    """Id of each availability zone by its name, like ``us-east-1a: use1-az6``. Names differ from account to
    account; offerings of instance types are known by id. Unknown if omitted."""
    nat: Annotated[
        Literal["single", "per-zone", "none"],
        HARDWARE,
        OnChange("in place", "routes change: traffic to the internet is interrupted for a moment"),
    ]
    """NAT gateways: one, one in each zone, or none."""
    endpoints: Annotated[
        tuple[Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9.-]*$")], ...],
        HARDWARE,
        OnChange("in place", "endpoints are made or removed"),
    ] = ("s3",)
    """AWS services reached without NAT: ``s3`` and ``dynamodb`` by gateways, the others by interfaces."""
    dns_zone: Annotated[
        str,
        Field(pattern=r"^[a-z0-9-]+(\.[a-z0-9-]+)+$"),
        HARDWARE,
        OnChange("replace", "the private zone and every name in it are replaced"),
    ]
    """Private DNS zone."""
    ssh_from: Annotated[
        tuple[Cidr, ...], HARDWARE, OnChange("in place", "rules of a security group")
    ] = ()
    """Networks that may reach the login nodes by SSH."""
    on_premises: Annotated[
        tuple[Cidr, ...], HARDWARE, OnChange("in place", "rules of a security group")
    ] = ()
    """Networks of other sites of the cluster, reached by a transit gateway, a VPN or Direct Connect: they may
    reach every host by SSH and on the ports of Slurm's daemons."""
    growth: Annotated[
        Percent,
        Field(le=10_000),
        HARDWARE,
        OnChange("in place", "room in the cluster's subnet; a subnet that changes is listed apart"),
    ] = 25.0
    """Room for more nodes in the cluster's subnet, above the counts of the blueprint, in %."""
    flow_logs: Annotated[
        FlowLogs | None, PART, OnChange("in place", "connections are recorded, or no more")
    ] = None
    """Records of connections of the VPC that is made. CloudWatch charges for what is written. None if
    omitted."""
    cluster_subnets: Annotated[
        tuple[Cidr, ...],
        HARDWARE,
        OnChange(
            "in place", "new nodes may be launched in each; a subnet that changes is listed apart"
        ),
    ] = ()
    """Addresses of the cluster's subnets, all in the first availability zone. The first holds head nodes and
    file systems and never changes; add another when nodes need more room. One subnet of half the VPC if
    omitted."""


class Limits(Model):
    """Service quotas as recorded on a day, so that a pull request needs no credentials."""

    recorded: Annotated[dt.date, Claim(looser="higher")]
    """Day on which the quotas were read."""
    quotas: Annotated[dict[str, int], Claim(looser="higher", absent="elsewhere")]
    """Quotas by quota code, as Service Quotas shows them: vCPUs for the running-instance quotas, TiB
    for gp3 volumes, GiB for file systems, else a number of things."""


ProfileName = Annotated[str, Field(pattern=r"^[A-Za-z0-9+=,.@_-]{1,128}$")]
PolicyArn = Annotated[str, Field(pattern=r"^arn:aws[a-z-]*:iam::(\d{12}|aws):policy/.+$")]


class InstanceProfiles(Model):
    """Instance profiles that exist already, by what the instances are; others are made, with a role each."""

    head: Annotated[ProfileName | None, HARDWARE] = None
    """Instance profile of head nodes. One is made if omitted."""
    login: Annotated[ProfileName | None, HARDWARE] = None
    """Instance profile of login nodes. One is made if omitted."""
    node: Annotated[ProfileName | None, HARDWARE] = None
    """Instance profile of node groups. One is made if omitted."""


class AwsAccess(Model):
    """Existing roles and keys of an account, and settings of the roles that are made."""

    permissions_boundary: Annotated[
        PolicyArn | None, HARDWARE, OnChange("in place", "roles get another boundary")
    ] = None
    """Policy that bounds every role that is made."""
    instance_profiles: Annotated[InstanceProfiles, PART, OnChange("rolling", TEMPLATE)] = (
        InstanceProfiles()
    )
    user: Annotated[
        str | None,
        Field(pattern=r"^[a-z_][a-z0-9_-]{0,31}$"),
        HARDWARE,
        OnChange("in place", "how Ansible reaches the hosts"),
    ] = None
    """Account by which Ansible logs in, as the images have it: ``ubuntu``, ``ec2-user``."""
    key_pair: Annotated[
        str | None,
        Field(pattern=r"^[A-Za-z0-9._@+ -]{1,255}$"),
        HARDWARE,
        OnChange(
            "replace",
            "an instance keeps its key pair for life: login nodes are replaced, and head nodes keep theirs",
        ),
        OnChange(
            "replace",
            f"an instance keeps its key pair for life: login nodes are replaced, and {NEXT_HEAD}",
            given="head.data_volume",
        ),
    ] = None
    """Key pair of EC2 for that account. Access is by the image or Session Manager if omitted."""
    connect: Annotated[
        Literal["direct", "jump", "session-manager", "instance-connect"],
        HARDWARE,
        OnChange("in place", "how Ansible reaches the hosts"),
    ] = "direct"
    """Route by which Ansible reaches hosts: straight, by way of a login node, through Session Manager,
    or through an endpoint of EC2 Instance Connect that the VPC has."""
    encryption_key: Annotated[
        KeyArn | None,
        HARDWARE,
        ABOUT,
        OnChange(
            "refused",
            "file systems and root volumes keep their key for life: others would take their place",
        ),
    ] = None
    """Key of root volumes, file systems and buckets. AWS's own key, and a new one for file systems, if
    omitted."""
    key_for_auto_scaling: Annotated[
        Literal["grant", "key-policy"] | None,
        Claim(strictest_first=("grant", "key-policy"), absent="strict"),
        OnChange("in place", "a grant on the key is made or removed"),
    ] = None
    """Way in which Auto Scaling may use ``encryption_key``: ``grant`` has the stacks make a grant,
    ``key-policy`` states that the policy of the key names Auto Scaling's service-linked role. No node
    starts with a key that Auto Scaling may not use. Not stated if omitted."""


class AwsSite(Model):
    """A site on AWS."""

    provider: Annotated[Literal["aws"], HARDWARE]
    """Marks a site in a region of AWS."""
    name: Annotated[Name, KEY]
    """Name of the site, by which the rest of the blueprint refers to it."""
    region: Annotated[
        str,
        Field(pattern=REGION),
        HARDWARE,
        OnChange("replace", "nothing moves between regions", keeps_data=True),
    ]
    """AWS region, like ``us-east-1``."""
    account: Annotated[
        str | None,
        Field(pattern=r"^\d{12}$"),
        HARDWARE,
        OnChange("in place", "runs with credentials of any other account are refused"),
    ] = None
    """Id of the AWS account that holds the site, 12 digits. Runs with credentials of another account are
    refused. Any account if omitted."""
    network: Annotated[AwsNetwork, PART]
    node_groups: Annotated[
        tuple[AwsNodeGroup, ...],
        PART,
        OnChange("in place", "new instances", event="added"),
        OnChange("drain", SURPLUS, event="removed"),
    ]
    head: Annotated[AwsHead, PART]
    login: Annotated[
        AwsLogin | None,
        PART,
        OnChange("in place", "new instances", event="added"),
        OnChange("drain", "the login nodes are removed", event="removed"),
    ] = None
    file_systems: Annotated[
        tuple[LustreFileSystem, ...],
        PART,
        OnChange("in place", "a new file system", event="added"),
        OnChange("refused", _RETAINED, event="removed"),
        OnChange("drain", _KEPT, event="removed", given="existing"),
    ] = ()
    """File systems of FSx for Lustre."""
    efs: Annotated[
        tuple[ElasticFileSystem, ...],
        PART,
        OnChange(
            "in place", "a file system that hosts mount with the next 'configure'", event="added"
        ),
        OnChange("refused", _RETAINED, event="removed"),
        OnChange("drain", _KEPT, event="removed", given="existing"),
    ] = ()
    """File systems of Amazon EFS, for home directories and software."""
    access: Annotated[AwsAccess, PART] = AwsAccess()
    limits: Annotated[Limits | None, STATEMENT, POLICIES_ONLY] = None
    images: Annotated[tuple[ImageRecord, ...], STATEMENT, POLICIES_ONLY] = ()
    """Facts about images that have no public parameter, whose path would state them."""
    tags: Annotated[dict[str, MaybeEmpty], HARDWARE, OnChange("in place", "tags")] = Field(
        default_factory=dict
    )
    """Tags of every resource of the site."""

    @model_validator(mode="after")
    def _names_differ(self) -> AwsSite:
        for what, names in (
            ("node group", [group.name for group in self.node_groups]),
            (
                "file system",
                [one.name for one in self.file_systems] + [one.name for one in self.efs],
            ),
            (
                "mount point",
                [one.mount for one in self.file_systems] + [one.mount for one in self.efs],
            ),
            ("availability zone", list(self.network.availability_zones)),
            ("image", [one.id for one in self.images]),
            ("endpoint", list(self.network.endpoints)),
        ):
            refuse_twins(what, names)
        for zone in self.network.availability_zones:
            if not zone.startswith(self.region):
                raise ValueError(f"availability zone '{zone}' is not in region '{self.region}'")
        if self.network.existing is not None and self.network.flow_logs is not None:
            raise ValueError("'flow_logs' are of a VPC that is made, and this one exists")
        if self.access.connect == "jump" and self.login is None:
            raise ValueError("'connect: jump' needs 'login' nodes to jump from")
        if self.access.key_for_auto_scaling and self.access.encryption_key is None:
            raise ValueError(
                "'key_for_auto_scaling' is about an 'encryption_key', and there is none"
            )
        volume = self.head.data_volume
        volume_key = None if volume is None else volume.encryption_key
        for arn in (self.access.permissions_boundary, self.access.encryption_key, volume_key):
            if arn is not None and partition_of_arn(arn) != partition(self.region):
                here = partition(self.region)
                raise ValueError(f"'{arn}' is not in the partition '{here}' of '{self.region}'")
        return self
