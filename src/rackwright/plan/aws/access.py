"""Who may do what on AWS, as plain data: roles of instances, and buckets.

The stacks deploy these documents and the rules judge them; none is written anywhere else.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

from rackwright.model.aws import AwsSite
from rackwright.model.aws_partitions import dns_suffix, partition
from rackwright.plan.aws.tags import ELASTIC_TAG, SNAPSHOT_TAG

InstanceRole = Literal["head", "login", "node"]
"""What instances of one role have in common; ``node`` is that of the compute nodes."""


def instance_roles(site: AwsSite) -> Iterator[InstanceRole]:
    """Yield the roles of the site's instances, each with rights of its own."""
    yield "head"
    if site.login is not None:
        yield "login"
    yield "node"


STACK_PARAMETERS = ("network", "storage", "cluster")
"""Parameters that the stacks write, one each, with their outputs: ids and addresses, nothing secret."""


def parameter_path(cluster: str, site: str) -> str:
    """Return the path below which the site's SSM parameters lie."""
    return f"/rackwright/{cluster}/{site}"


def readable_parameters(cluster: str, site: str, role: InstanceRole) -> tuple[str, ...]:
    """Return the names of the parameters that instances of a role may read, as IAM matches them.

    A role that may read a path by ``GetParametersByPath`` gets all that lies below it, so a compute node is
    granted the outputs of the stacks by name and not the path that they share with the head's own.
    Users have shells on login nodes, which read nothing.
    """
    path = parameter_path(cluster, site)
    if role == "head":
        return (path, f"{path}/*")
    if role == "node":
        own = f"{path}/{role}"
        return (*(f"{path}/{name}" for name in STACK_PARAMETERS), own, f"{own}/*")
    return ()


def assume_role_policy() -> dict[str, Any]:
    """Return the trust policy of instance roles.

    The service is called so in every partition, also where names of hosts end otherwise (AWS CDK, feature flag
    ``@aws-cdk/aws-iam:standardizedServicePrincipals``).
    """
    return _document(
        {
            "Effect": "Allow",
            "Principal": {"Service": "ec2.amazonaws.com"},
            "Action": "sts:AssumeRole",
        }
    )


def instance_policy(
    cluster: str, site: AwsSite, account: str, role: InstanceRole
) -> dict[str, Any]:
    """Return the policy of an instance's role: Session Manager, and parameters of its own role and cluster.

    AWS's own policy for Session Manager (``AmazonSSMManagedInstanceCore``) would let it read every parameter
    of the account. Nothing ships logs, so nothing is granted for them.
    """
    statements = [
        {
            "Sid": "SessionManager",
            "Effect": "Allow",
            "Action": [
                "ssm:UpdateInstanceInformation",
                "ssmmessages:CreateControlChannel",
                "ssmmessages:CreateDataChannel",
                "ssmmessages:OpenControlChannel",
                "ssmmessages:OpenDataChannel",
            ],
            "Resource": "*",
        }
    ]
    if role == "head" and any(group.is_elastic for group in site.node_groups):
        statements += _elastic_rights(cluster, site, account)
    if readable := readable_parameters(cluster, site.name, role):
        start = f"arn:{partition(site.region)}:ssm:{site.region}:{account}:parameter"
        statements.append(
            {
                "Sid": "ReadOwnParameters",
                "Effect": "Allow",
                "Action": ["ssm:GetParameter", "ssm:GetParameters", "ssm:GetParametersByPath"],
                "Resource": [start + name for name in readable],
            }
        )
    return _document(*statements)


_FROM_TEMPLATE = (
    *("capacity-reservation", "key-pair", "network-interface", "placement-group"),
    *("security-group", "subnet", "volume"),
)
"""Types of resources that a launch uses or makes beside the instance."""
_KEY_ACTIONS = (
    *("kms:CreateGrant", "kms:Decrypt", "kms:DescribeKey", "kms:GenerateDataKeyWithoutPlaintext"),
    *("kms:ReEncryptFrom", "kms:ReEncryptTo"),
)
"""Amazon EBS User Guide, "Amazon EBS encryption": permissions of a caller that launches with a key."""


def _elastic_rights(cluster: str, site: AwsSite, account: str) -> Iterator[dict[str, Any]]:
    """Yield the rights of the head node to launch and end the elastic nodes of its cluster, and no other instance.

    Names of actions, resources and conditions: AWS Service Authorization Reference, "Amazon EC2", "AWS IAM", "Amazon Route
    53" and "AWS KMS".
    """
    of = partition(site.region)
    ec2 = f"arn:{of}:ec2:{site.region}:{account}"
    own = {"rackwright:cluster": cluster, "rackwright:site": site.name}
    templates = f"{ec2}:launch-template/*"
    by_template = {"ArnLike": {"ec2:LaunchTemplate": templates}}
    spot = any(group.capacity.kind == "spot" for group in site.node_groups)
    seen = [
        *("ec2:DescribeInstances", "ec2:DescribeInstanceStatus"),
        "ec2:DescribeLaunchTemplateVersions",
    ]
    yield _allow(
        "SeeElasticNodes", [*seen, *(["ec2:DescribeSpotInstanceRequests"] if spot else [])], "*"
    )
    yield _allow(
        "LaunchFromOwnTemplates",
        ["ec2:RunInstances"],
        templates,
        {"StringEquals": {f"aws:ResourceTag/{key}": value for key, value in own.items()}},
    )
    marks = {**own, ELASTIC_TAG: "true"}
    yield _allow(
        "LaunchElasticNodes",
        ["ec2:RunInstances"],
        f"{ec2}:instance/*",
        {
            **by_template,
            "StringEquals": {f"aws:RequestTag/{key}": value for key, value in marks.items()},
        },
    )
    parts = [
        f"{ec2}:{kind}/*"
        for kind in (*_FROM_TEMPLATE, *(["spot-instances-request"] if spot else []))
    ]
    images = f"arn:{of}:ec2:{site.region}::image/*"
    yield _allow("LaunchWithTheirParts", ["ec2:RunInstances"], [*parts, images], by_template)
    yield _allow(
        "TagWhatIsLaunched",
        ["ec2:CreateTags"],
        [f"{ec2}:{kind}/*" for kind in ("instance", "network-interface", "volume")],
        {"StringEquals": {"ec2:CreateAction": "RunInstances"}},
    )
    yield _allow(
        "EndElasticNodes",
        ["ec2:TerminateInstances"],
        f"{ec2}:instance/*",
        {"StringEquals": {f"aws:ResourceTag/{key}": value for key, value in marks.items()}},
    )
    # IAM calls the service by either name outside of the first partition.
    services = list(dict.fromkeys(("ec2.amazonaws.com", f"ec2.{dns_suffix(site.region)}")))
    if site.access.instance_profiles.node is None:
        yield _allow(
            "GiveThemTheRoleOfNodes",
            ["iam:PassRole"],
            f"arn:{of}:iam::{account}:role/{cluster}-{site.name}-node",
            {"StringEquals": {"iam:PassedToService": services}},
        )
    if spot:
        # The first spot instance of an account makes it.
        role = f"role/aws-service-role/{SPOT_SERVICE}/AWSServiceRoleForEC2Spot"
        yield _allow(
            "MakeTheRoleOfSpot",
            ["iam:CreateServiceLinkedRole"],
            f"arn:{of}:iam::{account}:{role}",
            {"StringEquals": {"iam:AWSServiceName": SPOT_SERVICE}},
        )
    names = [f"{group.name}-*.{site.network.dns_zone}" for group in site.node_groups]
    yield _allow(
        "NameElasticNodes",
        ["route53:ChangeResourceRecordSets"],
        f"arn:{of}:route53:::hostedzone/*",
        {
            "ForAllValues:StringLike": {
                "route53:ChangeResourceRecordSetsNormalizedRecordNames": names
            },
            "ForAllValues:StringEquals": {"route53:ChangeResourceRecordSetsRecordTypes": ["A"]},
        },
    )
    if site.access.encryption_key is not None:
        yield _allow(
            "EncryptTheirVolumes",
            list(_KEY_ACTIONS),
            site.access.encryption_key,
            {"StringEquals": {"kms:ViaService": f"ec2.{site.region}.{dns_suffix(site.region)}"}},
        )


def _allow(
    sid: str, actions: list[str], resources: str | list[str], condition: Any = None
) -> dict[str, Any]:
    made = {"Sid": sid, "Effect": "Allow", "Action": actions, "Resource": resources}
    return made if condition is None else {**made, "Condition": condition}


def snapshot_trust_policy() -> dict[str, Any]:
    """Return the trust policy of the role that makes snapshots: that of Amazon Data Lifecycle Manager."""
    return _document(
        {
            "Effect": "Allow",
            "Principal": {"Service": "dlm.amazonaws.com"},
            "Action": "sts:AssumeRole",
        }
    )


def snapshot_policy(site: AwsSite, prefix: str) -> dict[str, Any]:
    """Return the policy of the snapshot role: snapshot the site's own volumes, remove its own snapshots.

    AWS's own (``AWSDataLifecycleManagerServiceRole``) deletes any snapshot of the account and shares it with others.
    EC2 tells of volumes and snapshots only all together. Nobody but the service sets a tag that begins with ``aws:``.
    """
    start = f"arn:{partition(site.region)}:ec2:{site.region}"
    volumes, snapshots = f"{start}:*:volume/*", f"{start}::snapshot/*"
    made_by_it = {"aws:ResourceTag/aws:dlm:lifecycle-policy-id": "*"}
    return _document(
        {
            "Sid": "SeeVolumesAndSnapshots",
            "Effect": "Allow",
            "Action": ["ec2:DescribeVolumes", "ec2:DescribeSnapshots", "ec2:DescribeInstances"],
            "Resource": "*",
        },
        {
            "Sid": "MakeSnapshotsOfOwnVolumes",
            "Effect": "Allow",
            "Action": "ec2:CreateSnapshot",
            "Resource": volumes,
            "Condition": {"StringEquals": {f"aws:ResourceTag/{SNAPSHOT_TAG}": prefix}},
        },
        {
            "Sid": "MakeSnapshots",
            "Effect": "Allow",
            "Action": "ec2:CreateSnapshot",
            "Resource": snapshots,
        },
        {
            "Sid": "TagThem",
            "Effect": "Allow",
            "Action": "ec2:CreateTags",
            "Resource": snapshots,
        },
        {
            "Sid": "RemoveOwnSnapshots",
            "Effect": "Allow",
            "Action": "ec2:DeleteSnapshot",
            "Resource": snapshots,
            "Condition": {
                "StringEquals": {f"aws:ResourceTag/{SNAPSHOT_TAG}": prefix},
                "StringLike": made_by_it,
            },
        },
    )


def flow_log_trust_policy() -> dict[str, Any]:
    """Return the trust policy of the role that writes flow logs: that of the service."""
    return _document(
        {
            "Effect": "Allow",
            "Principal": {"Service": FLOW_LOG_SERVICE},
            "Action": "sts:AssumeRole",
        }
    )


def flow_log_policy(group_arn: str) -> dict[str, Any]:
    """Return the policy of the role that writes flow logs: events of one log group.

    VPC User Guide, "IAM role for publishing flow logs to CloudWatch Logs".
    """
    actions = ["CreateLogStream", "DescribeLogStreams", "PutLogEvents"]
    return _document(
        {
            "Sid": "WriteEvents",
            "Effect": "Allow",
            "Action": [f"logs:{name}" for name in actions],
            "Resource": [group_arn, f"{group_arn}:*"],
        }
    )


SPOT_SERVICE = "spot.amazonaws.com"
FLOW_LOG_SERVICE = "vpc-flow-logs.amazonaws.com"
AUTO_SCALING_SERVICE = "autoscaling.amazonaws.com"
_KEY_OPERATIONS = (
    "CreateGrant",
    "Decrypt",
    "DescribeKey",
    "Encrypt",
    "GenerateDataKey",
    "GenerateDataKeyWithoutPlaintext",
    "ReEncryptFrom",
    "ReEncryptTo",
)
"""Amazon EC2 Auto Scaling User Guide, "Required AWS KMS key policy for use with encrypted volumes"."""


def auto_scaling_grant(region: str, account: str, key: str) -> dict[str, Any]:
    """Return the grant on a key that lets Auto Scaling start nodes with volumes that the key encrypts."""
    role = f"role/aws-service-role/{AUTO_SCALING_SERVICE}/AWSServiceRoleForAutoScaling"
    return {
        "key_id": key,
        "grantee_principal": f"arn:{partition(region)}:iam::{account}:{role}",
        "operations": list(_KEY_OPERATIONS),
    }


def tls_only_policy(region: str, bucket: str) -> dict[str, Any]:
    """Return a bucket policy that refuses requests without TLS."""
    arn = f"arn:{partition(region)}:s3:::{bucket}"
    return _document(
        {
            "Sid": "DenyWithoutTls",
            "Effect": "Deny",
            "Principal": "*",
            "Action": "s3:*",
            "Resource": [arn, f"{arn}/*"],
            "Condition": {"Bool": {"aws:SecureTransport": "false"}},
        }
    )


def _document(*statements: dict[str, Any]) -> dict[str, Any]:
    return {"Version": "2012-10-17", "Statement": list(statements)}
