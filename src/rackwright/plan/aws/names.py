"""The names that the stacks of a site make, with how long AWS lets each of them be."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rackwright.model.aws import AwsSite
from rackwright.plan.aws.access import instance_roles, parameter_path
from rackwright.plan.aws.file_systems.fsx import ANY_ACCOUNT, bucket_name, bucket_names
from rackwright.plan.aws.security_groups import MADE, network_rules, storage_rules
from rackwright.plan.aws.site import AwsSitePlan
from rackwright.plan.base import Path

LONGEST = {
    "IAM role": 64,
    "instance profile": 128,
    "security group": 255,
    "launch template": 128,
    "placement group": 255,
    "Auto Scaling group": 255,
    "load balancer": 32,
    "KMS alias": 256,
    "parameter": 1011 - len("arn:aws-us-gov:ssm:us-gov-east-1:111122223333:parameter"),
    "S3 bucket": 63,
    "EFS creation token": 64,
    "host name": 63,
    "domain name": 253,
}
"""Characters by what is named. API references of IAM (``roleNameType``, ``instanceProfileNameType``), EC2
(``CreateSecurityGroup``, ``CreateLaunchTemplate``, ``CreatePlacementGroup``), Auto Scaling, Elastic Load Balancing (``CreateLoadBalancer``, ``CreateTargetGroup``), KMS (``AliasNameType``), EFS (``CreationToken``) and
Systems Manager (``PutParameter``: 1011 with the ARN before the name); Amazon S3 User Guide, "General purpose bucket naming
rules"; RFC 1035 on labels and names."""


@dataclass(frozen=True, slots=True)
class AwsName:
    """A name that a stack makes.

    Attributes:
        what: a key of ``LONGEST``.
        path: what of the blueprint it is made of beside the names of cluster and site.
        of: whose name it is, as ``node group 'train'``.
    """

    what: str
    name: str
    path: Path
    of: str = ""

    @property
    def longest(self) -> int:
        """Characters that it may have."""
        return LONGEST[self.what]


def site_prefix(cluster: str, site: str) -> str:
    """Return the prefix of every resource name of a site."""
    return f"{cluster}-{site}"


def resource_names(planned: AwsSitePlan, cluster: str) -> Iterator[AwsName]:
    """Yield every name of a site that has to be short enough; of the hosts of a group the longest."""
    site, path = planned.spec, planned.path
    prefix = site_prefix(cluster, site.name)
    for role in instance_roles(site):
        if getattr(site.access.instance_profiles, role) is None:
            yield AwsName("IAM role", f"{prefix}-{role}", path, f"'{role}'")
            yield AwsName("instance profile", f"{prefix}-{role}", path, f"'{role}'")
    if planned.snapshots is not None:
        yield AwsName("IAM role", f"{prefix}-snapshots", path, "'snapshots'")
    if site.network.flow_logs is not None:
        yield AwsName("IAM role", f"{prefix}-flow-logs", path, "'flow_logs'")
    rules = (*network_rules(site), *storage_rules(site))
    groups = {rule.group for rule in rules if rule.group in MADE}
    for group in sorted(groups):
        yield AwsName("security group", f"{prefix}-{group}", path)
    if planned.login_address == "load-balancer":
        yield AwsName("load balancer", f"{prefix}-login", path)
    for plan in planned.groups:
        name, of = plan.spec.name, f"node group '{plan.spec.name}'"
        where = (*plan.path, "name")
        yield AwsName("launch template", f"{prefix}-{name}", where, of)
        yield AwsName("Auto Scaling group", f"{prefix}-{name}", where, of)
        if plan.placement.group == "cluster":
            yield AwsName("placement group", f"{prefix}-{name}", where, of)
        if hosts := (*plan.host_names, *plan.elastic_names):
            yield from _host(hosts[-1], site, where, of)
    for server in planned.servers:
        yield from _host(server.names[-1], site, (*path, "network", "dns_zone"), "'dns_zone'")
    if planned.makes_key:
        yield AwsName("KMS alias", f"alias/{prefix}-storage", path)
    for index, system in enumerate(site.efs):
        if system.existing is None:
            where = (*path, "efs", index, "name")
            of = f"file system '{system.name}'"
            yield AwsName("EFS creation token", f"{prefix}-{system.name}", where, of)
    for bucket in bucket_names(site):
        where = (*path, "file_systems")
        name = bucket_name(bucket, ANY_ACCOUNT, site.region)
        yield AwsName("S3 bucket", name, where, f"bucket '{bucket}'")
    for what in ("network", "storage", "cluster"):
        yield AwsName("parameter", f"{parameter_path(cluster, site.name)}/{what}", path)


def _host(name: str, site: AwsSite, path: Path, of: str) -> Iterator[AwsName]:
    yield AwsName("host name", name, path, of)
    yield AwsName("domain name", f"{name}.{site.network.dns_zone}", path, of)
