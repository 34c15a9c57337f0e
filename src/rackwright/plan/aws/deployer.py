"""Permissions of the roles that preview and apply a site on AWS, as documents of IAM.

They hold the calls that AWS's own provider and Rackwright make for ``preview``, ``up``, ``hosts``, ``replace`` and
``down``. Actions that end or change something are bound to resources of the cluster: by their names where AWS has
names, by their tags in EC2. Stateful storage is retained, so nothing here deletes it. Names of actions and of
conditions: AWS Service Authorization Reference.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal

from rackwright.model.aws_partitions import dns_suffix, partition
from rackwright.plan.aws.access import AUTO_SCALING_SERVICE, FLOW_LOG_SERVICE, parameter_path
from rackwright.plan.aws.file_systems.fsx import bucket_name
from rackwright.plan.aws.names import site_prefix
from rackwright.plan.aws.site import AwsSitePlan

DeployerRole = Literal["preview", "apply"]
"""The role that reads, and the one that changes."""

Statement = dict[str, Any]

_BALANCING = "elasticloadbalancing"
_READS: Mapping[str, tuple[str, ...]] = {
    "autoscaling": ("DescribeAutoScalingGroups", "DescribeScalingActivities"),
    "dlm": ("GetLifecyclePolicies", "GetLifecyclePolicy", "ListTagsForResource"),
    "ec2": (
        "DescribeAddresses",
        "DescribeAddressesAttribute",
        "DescribeAvailabilityZones",
        "DescribeCapacityReservations",
        "DescribeDhcpOptions",
        "DescribeFlowLogs",
        "DescribeImages",
        "DescribeInstanceAttribute",
        "DescribeInstanceStatus",
        "DescribeInstanceTopology",
        "DescribeInstanceTypes",
        "DescribeInstances",
        "DescribeInternetGateways",
        "DescribeLaunchTemplateVersions",
        "DescribeLaunchTemplates",
        "DescribeNatGateways",
        "DescribeNetworkAcls",
        "DescribeNetworkInterfaces",
        "DescribePlacementGroups",
        "DescribePrefixLists",
        "DescribeRouteTables",
        "DescribeSecurityGroupRules",
        "DescribeSecurityGroups",
        "DescribeSnapshots",
        "DescribeSubnets",
        "DescribeTags",
        "DescribeVolumes",
        "DescribeVpcAttribute",
        "DescribeVpcEndpoints",
        "DescribeVpcs",
    ),
    "elasticfilesystem": (
        "DescribeBackupPolicy",
        "DescribeFileSystems",
        "DescribeLifecycleConfiguration",
        "DescribeMountTargetSecurityGroups",
        "DescribeMountTargets",
        "ListTagsForResource",
    ),
    _BALANCING: (
        "DescribeCapacityReservation",
        "DescribeListenerAttributes",
        "DescribeListeners",
        "DescribeLoadBalancerAttributes",
        "DescribeLoadBalancers",
        "DescribeTags",
        "DescribeTargetGroupAttributes",
        "DescribeTargetGroups",
        "DescribeTargetHealth",
    ),
    "fsx": (
        "DescribeDataRepositoryAssociations",
        "DescribeFileSystems",
        "ListTagsForResource",
    ),
    "iam": ("ListPolicies", "ListPolicyTags"),
    "kms": ("ListAliases", "ListKeys"),
    "logs": ("DescribeLogGroups", "ListTagsForResource"),
    "route53": (
        "GetChange",
        "GetDNSSEC",
        "GetHostedZone",
        "ListHostedZones",
        "ListResourceRecordSets",
        "ListTagsForResource",
    ),
    "s3": ("ListAllMyBuckets",),
    "ssm": ("DescribeParameters",),
    "sts": ("GetCallerIdentity",),
}
"""Actions that list, most of which AWS binds to no resource."""

_BUCKET_READS = (
    "GetAccelerateConfiguration",
    "GetBucketAcl",
    "GetBucketCORS",
    "GetBucketLocation",
    "GetBucketLogging",
    "GetBucketObjectLockConfiguration",
    "GetBucketPolicy",
    "GetBucketPublicAccessBlock",
    "GetBucketRequestPayment",
    "GetBucketTagging",
    "GetBucketVersioning",
    "GetBucketWebsite",
    "GetEncryptionConfiguration",
    "GetLifecycleConfiguration",
    "GetReplicationConfiguration",
    "ListBucket",
    "ListTagsForResource",
)
_BUCKET_CHANGES = (
    "CreateBucket",
    "PutBucketPolicy",
    "PutBucketPublicAccessBlock",
    "PutBucketTagging",
    "PutBucketVersioning",
    "PutEncryptionConfiguration",
    "PutLifecycleConfiguration",
    "TagResource",
)
_ROLE_READS = ("GetRole", "GetRolePolicy", "ListAttachedRolePolicies", "ListRolePolicies")
_PROFILE_READS = ("GetInstanceProfile", "ListInstanceProfilesForRole")
_KEY_READS = (
    "DescribeKey",
    "GetKeyPolicy",
    "GetKeyRotationStatus",
    "ListGrants",
    "ListResourceTags",
)
_KEY_USES = (
    "CreateGrant",
    "Decrypt",
    "DescribeKey",
    "Encrypt",
    "GenerateDataKey",
    "GenerateDataKeyWithoutPlaintext",
    "ReEncryptFrom",
    "ReEncryptTo",
)
_EC2_CREATIONS = (
    "AllocateAddress",
    "CreateDhcpOptions",
    "CreateFlowLogs",
    "CreateInternetGateway",
    "CreateLaunchTemplate",
    "CreateNatGateway",
    "CreatePlacementGroup",
    "CreateRouteTable",
    "CreateSecurityGroup",
    "CreateSubnet",
    "CreateVolume",
    "CreateVpc",
    "CreateVpcEndpoint",
    "RunInstances",
)
"""Each makes things that AWS's provider tags as it makes them."""
_EC2_CHANGES = (
    "AssociateAddress",
    "AssociateDhcpOptions",
    "AssociateRouteTable",
    "AttachInternetGateway",
    "AttachVolume",
    "AuthorizeSecurityGroupEgress",
    "AuthorizeSecurityGroupIngress",
    "CreateLaunchTemplateVersion",
    "CreateRoute",
    "DeleteDhcpOptions",
    "DeleteFlowLogs",
    "DeleteInternetGateway",
    "DeleteLaunchTemplate",
    "DeleteNatGateway",
    "DeletePlacementGroup",
    "DeleteRoute",
    "DeleteRouteTable",
    "DeleteSecurityGroup",
    "DeleteSubnet",
    "DeleteTags",
    "DeleteVpc",
    "DeleteVpcEndpoints",
    "DetachInternetGateway",
    "DetachVolume",
    "DisassociateAddress",
    "DisassociateRouteTable",
    "ModifyInstanceAttribute",
    "ModifyLaunchTemplate",
    "ModifySubnetAttribute",
    "ModifyVolume",
    "ModifyVpcAttribute",
    "ModifyVpcEndpoint",
    "ReleaseAddress",
    "RevokeSecurityGroupEgress",
    "RevokeSecurityGroupIngress",
    "StartInstances",
    "StopInstances",
    "TerminateInstances",
)
_GROUP_CHANGES = (
    "CreateAutoScalingGroup",
    "CreateOrUpdateTags",
    "DeleteAutoScalingGroup",
    "DeleteTags",
    "ResumeProcesses",
    "SetInstanceProtection",
    "SuspendProcesses",
    "TerminateInstanceInAutoScalingGroup",
    "UpdateAutoScalingGroup",
)
_BALANCER_CHANGES = (
    "AddTags",
    "CreateListener",
    "CreateLoadBalancer",
    "CreateTargetGroup",
    "DeleteListener",
    "DeleteLoadBalancer",
    "DeleteTargetGroup",
    "DeregisterTargets",
    "ModifyListener",
    "ModifyLoadBalancerAttributes",
    "ModifyTargetGroup",
    "ModifyTargetGroupAttributes",
    "RegisterTargets",
    "SetSecurityGroups",
)
_LOG_CHANGES = (
    "CreateLogGroup",
    "DeleteLogGroup",
    "PutRetentionPolicy",
    "TagResource",
)
_LINKED = (AUTO_SCALING_SERVICE, "fsx.amazonaws.com", "elasticfilesystem.amazonaws.com")
"""Services that act by service-linked roles, which AWS makes when an account first needs them."""
_LINK_OF_LUSTRE = "s3.data-source.lustre.fsx.amazonaws.com"
"""The role by which FSx reads a linked bucket (FSx for Lustre User Guide, "Adding permissions to use data repositories
in Amazon S3")."""


def deployer_policy(planned: AwsSitePlan, cluster: str, role: DeployerRole) -> dict[str, Any]:
    """Return the policy of a role that previews a site, or the one that a role that applies it has beside that.

    Together they are too long for one policy of a role.

    Args:
        planned: the site.
        cluster: name of the cluster.
        role: the role.
    """
    needs = _Needs(planned, cluster)
    statements = needs.reads() if role == "preview" else needs.changes()
    return {"Version": "2012-10-17", "Statement": [one for one in statements if one["Resource"]]}


def _allow(sid: str, service: str, names: tuple[str, ...], on: Any, **when: Any) -> Statement:
    statement = {
        "Sid": sid,
        "Effect": "Allow",
        "Action": [f"{service}:{name}" for name in names],
        "Resource": on,
    }
    return statement | ({"Condition": when} if when else {})


class _Needs:
    """Statements about one site."""

    def __init__(self, planned: AwsSitePlan, cluster: str) -> None:
        self._site = planned
        self._cluster = cluster
        self._region, self._account = planned.region, planned.spec.account or "*"
        self._partition = partition(planned.region)
        self._prefix = site_prefix(cluster, planned.name)
        self._own = {
            f"aws:ResourceTag/{key}": value
            for key, value in planned.tags(cluster).items()
            if key in {"rackwright:cluster", "rackwright:site"}
        }

    def _arn(self, service: str, what: str, *, region: bool = True, account: bool = True) -> str:
        place = self._region if region else ""
        return f"arn:{self._partition}:{service}:{place}:{self._account if account else ''}:{what}"

    @property
    def _buckets(self) -> list[str]:
        names = [bucket_name(one, self._account, self._region) for one in self._site.bucket_names]
        return [self._arn("s3", name, region=False, account=False) for name in names]

    @property
    def _roles(self) -> list[str]:
        profiles = self._site.access.instance_profiles
        names: list[str] = [
            one for one in self._site.instance_roles if getattr(profiles, one) is None
        ]
        names += [] if self._site.snapshots is None else ["snapshots"]
        names += ["flow-logs"] if self._logged else []
        return [self._arn("iam", f"role/{self._prefix}-{one}", region=False) for one in names]

    @property
    def _profiles(self) -> list[str]:
        return [one.replace(":role/", ":instance-profile/") for one in self._roles]

    @property
    def _keys(self) -> list[str]:
        """Keys that the team names."""
        volume, access = self._site.data_volume, self._site.access
        stated = [access.encryption_key, None if volume is None else volume.encryption_key]
        return list(dict.fromkeys(one for one in stated if one is not None))

    @property
    def _logged(self) -> bool:
        return self._site.network.flow_logs is not None

    @property
    def _balanced(self) -> bool:
        return self._site.login_address == "load-balancer"

    @property
    def _parameters(self) -> str:
        return self._arn("ssm", f"parameter{parameter_path(self._cluster, self._site.name)}/*")

    def reads(self) -> Iterator[Statement]:
        """Yield statements that read."""
        spare = set() if self._balanced else {_BALANCING}
        spare |= set() if self._logged else {"logs"}
        services = {key: names for key, names in _READS.items() if key not in spare}
        listed = [f"{service}:{name}" for service, names in services.items() for name in names]
        yield {"Sid": "List", "Effect": "Allow", "Action": listed, "Resource": "*"}
        images = self._arn("ssm", "parameter/aws/service/*", account=False)
        yield _allow("ReadParameters", "ssm", ("GetParameter", "ListTagsForResource"), [self._parameters, images])  # fmt: skip
        yield _allow("ReadRoles", "iam", _ROLE_READS, self._roles)
        yield _allow("ReadProfiles", "iam", _PROFILE_READS, [*self._roles, *self._profiles])
        yield _allow("ReadBuckets", "s3", _BUCKET_READS, self._buckets)
        keys = list(self._keys)
        if self._site.makes_key:
            made = {"StringEquals": self._own}
            yield _allow("ReadOwnKey", "kms", _KEY_READS, self._arn("kms", "key/*"), **made)
        yield _allow("ReadKeys", "kms", _KEY_READS, keys)

    def changes(self) -> Iterator[Statement]:
        """Yield statements that change."""
        here = {"aws:RequestedRegion": self._region}
        yield _allow("MakeInRegion", "ec2", _EC2_CREATIONS, "*", StringEquals=here)
        rules = ("AuthorizeSecurityGroupEgress", "AuthorizeSecurityGroupIngress")
        created = here | {"ec2:CreateAction": [*_EC2_CREATIONS, *rules]}
        yield _allow("TagWhatIsMade", "ec2", ("CreateTags",), "*", StringEquals=created)
        own = here | self._own
        yield _allow("ChangeOwn", "ec2", ("CreateTags", *_EC2_CHANGES), "*", StringEquals=own)
        yield from self._existing()
        group = self._arn(
            "autoscaling", f"autoScalingGroup:*:autoScalingGroupName/{self._prefix}-*"
        )
        yield _allow("ChangeGroups", "autoscaling", _GROUP_CHANGES, group)
        if self._balanced:
            name = f"{self._prefix}-login"
            ways = (
                f"loadbalancer/net/{name}/*",
                f"listener/net/{name}/*/*",
                f"targetgroup/{name}/*",
            )
            arns = [self._arn(_BALANCING, way) for way in ways]
            yield _allow("ChangeBalancer", _BALANCING, _BALANCER_CHANGES, arns)
        if self._logged:
            name = f"log-group:{self._prefix}-flow-logs"
            arns = [self._arn("logs", name), self._arn("logs", f"{name}:*")]
            yield _allow("ChangeFlowLogs", "logs", _LOG_CHANGES, arns)
        yield from self._identities()
        parameters = ("AddTagsToResource", "DeleteParameter", "PutParameter")
        yield _allow("WriteParameters", "ssm", parameters, self._parameters)
        yield from self._names()
        yield from self._storage()
        yield from self._encryption()

    def _existing(self) -> Iterator[Statement]:
        """Yield statements about a network and groups that exist, and have no tags of the cluster."""
        groups = [one.existing.security_group for one in self._site.file_systems if one.existing]
        groups += [one.existing.security_group for one in self._site.efs if one.existing]
        rules = (
            "AuthorizeSecurityGroupEgress",
            "AuthorizeSecurityGroupIngress",
            "RevokeSecurityGroupEgress",
            "RevokeSecurityGroupIngress",
        )
        named = [self._arn("ec2", f"security-group/{one}") for one in groups if one]
        yield _allow("LetClusterIn", "ec2", rules, named)

    def _identities(self) -> Iterator[Statement]:
        boundary = self._site.access.permissions_boundary
        bound = {} if boundary is None else {"StringEquals": {"iam:PermissionsBoundary": boundary}}
        yield _allow("MakeRoles", "iam", ("CreateRole", "PutRolePolicy"), self._roles, **bound)
        roles = ("DeleteRole", "DeleteRolePolicy", "TagRole", "UntagRole", "UpdateAssumeRolePolicy")
        yield _allow("ChangeRoles", "iam", roles, self._roles)
        profiles = (
            "AddRoleToInstanceProfile",
            "CreateInstanceProfile",
            "DeleteInstanceProfile",
            "RemoveRoleFromInstanceProfile",
            "TagInstanceProfile",
        )
        yield _allow("ChangeProfiles", "iam", profiles, [*self._profiles, *self._roles])
        services = [f"ec2.{dns_suffix(self._region)}", "ec2.amazonaws.com", "dlm.amazonaws.com"]
        services += [FLOW_LOG_SERVICE] if self._logged else []
        passed = {"iam:PassedToService": list(dict.fromkeys(services))}
        yield _allow("PassRoles", "iam", ("PassRole",), self._roles, StringEquals=passed)
        linked = self._arn("iam", "role/aws-service-role/*", region=False)
        services = [*_LINKED, *([_LINK_OF_LUSTRE] if self._buckets else [])]
        services += [f"{_BALANCING}.amazonaws.com"] if self._balanced else []
        names = {"iam:AWSServiceName": services}
        yield _allow(
            "LinkServices", "iam", ("CreateServiceLinkedRole",), linked, StringEquals=names
        )
        if any(one.data_repositories for one in self._site.made_file_systems):
            role = self._arn("iam", f"role/aws-service-role/{_LINK_OF_LUSTRE}/*", region=False)
            yield _allow("LinkBuckets", "iam", ("AttachRolePolicy", "PutRolePolicy"), role)

    def _names(self) -> Iterator[Statement]:
        yield _allow("MakeZone", "route53", ("CreateHostedZone",), "*")
        changes = (
            "AssociateVPCWithHostedZone",
            "ChangeResourceRecordSets",
            "ChangeTagsForResource",
            "DeleteHostedZone",
        )
        zones = f"arn:{self._partition}:route53:::hostedzone/*"
        # AWS binds a zone neither to tags nor to a name; records are bound to the domain.
        domain = self._site.network.dns_zone
        records = {"route53:ChangeResourceRecordSetsNormalizedRecordNames": [domain, f"*.{domain}"]}
        own = {"ForAllValues:StringLike": records}
        yield _allow("WriteRecords", "route53", changes[1:2], zones, **own)
        yield _allow("ChangeZone", "route53", (changes[0], *changes[2:]), zones)

    def _storage(self) -> Iterator[Statement]:
        site = self._site
        if site.made_file_systems:
            fsx = (
                "CreateDataRepositoryAssociation",
                "CreateFileSystem",
                "DeleteDataRepositoryAssociation",
                "TagResource",
                "UpdateDataRepositoryAssociation",
                "UpdateFileSystem",
            )
            on = [self._arn("fsx", "file-system/*"), self._arn("fsx", "association/*")]
            yield _allow("ChangeLustre", "fsx", fsx, on)
        if site.made_efs:
            here = {"aws:RequestedRegion": site.region}
            made = ("CreateFileSystem", "TagResource")
            yield _allow("MakeElastic", "elasticfilesystem", made, "*", StringEquals=here)
            efs = (
                "CreateMountTarget",
                "DeleteMountTarget",
                "PutBackupPolicy",
                "PutLifecycleConfiguration",
                "UpdateFileSystem",
            )
            system = self._arn("elasticfilesystem", "file-system/*")
            own = {"StringEquals": self._own}
            yield _allow("ChangeElastic", "elasticfilesystem", efs, system, **own)
        yield _allow("ChangeBuckets", "s3", _BUCKET_CHANGES, self._buckets)
        if site.snapshots is not None:
            here = {"aws:RequestedRegion": site.region}
            yield _allow("PlanSnapshots", "dlm", ("CreateLifecyclePolicy",), "*", StringEquals=here)
            policy, own = self._arn("dlm", "policy/*"), {"StringEquals": self._own}
            yield _allow("TagSnapshots", "dlm", ("TagResource",), policy)
            dlm = ("DeleteLifecyclePolicy", "UpdateLifecyclePolicy")
            yield _allow("ChangeSnapshots", "dlm", dlm, policy, **own)
            yield _allow("MakeSnapshots", "ec2", ("CreateSnapshot", "CreateTags"), [f"arn:{self._partition}:ec2:{site.region}::snapshot/*", self._arn("ec2", "volume/*")])  # fmt: skip

    def _encryption(self) -> Iterator[Statement]:
        yield _allow("UseKeys", "kms", (*_KEY_USES, "RevokeGrant"), self._keys)
        if self._site.makes_key:
            tagged = {key.replace("Resource", "Request"): one for key, one in self._own.items()}
            here = {"aws:RequestedRegion": self._region} | tagged
            yield _allow("MakeKey", "kms", ("CreateKey", "TagResource"), "*", StringEquals=here)
            names = ("CreateAlias", "EnableKeyRotation", "UpdateKeyDescription", *_KEY_USES)  # fmt: skip
            own = {"StringEquals": self._own}
            yield _allow("ChangeOwnKey", "kms", names, self._arn("kms", "key/*"), **own)
            alias = self._arn("kms", f"alias/{self._prefix}-storage")
            yield _allow("NameOwnKey", "kms", ("CreateAlias",), alias)
