"""Who may do what on AWS, as plain data: roles of instances, and buckets.

The stacks deploy these documents and the rules judge them; none is written anywhere else.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

from rackwright.model.aws import AwsSite
from rackwright.model.aws_partitions import partition
from rackwright.plan.aws.tags import SNAPSHOT_TAG

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
    """Names of the parameters that instances of a role may read, as IAM matches them.

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
