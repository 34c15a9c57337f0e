"""Who may do what on AWS, as plain data: roles of instances, and buckets.

The stacks deploy these documents and the rules judge them; none is written anywhere else.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

from rackwright.model.aws import AwsSite
from rackwright.model.aws_partitions import partition

InstanceRole = Literal["head", "login", "node"]
"""What instances of one role have in common; ``node`` is that of the compute nodes."""


def instance_roles(site: AwsSite) -> Iterator[InstanceRole]:
    """The roles of the site's instances, each with rights of its own."""
    yield "head"
    if site.login is not None:
        yield "login"
    yield "node"


def parameter_path(cluster: str, site: str) -> str:
    """The path below which the site's SSM parameters lie."""
    return f"/rackwright/{cluster}/{site}"


def assume_role_policy() -> dict[str, Any]:
    """The trust policy of instance roles.

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
    """What an instance may do: be reached by Session Manager, and read its own cluster's parameters.

    Users have shells on login nodes, which read nothing. AWS's own policy for Session Manager
    (``AmazonSSMManagedInstanceCore``) would let every job read every parameter of the account.
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
    if role != "login":
        start = f"arn:{partition(site.region)}:ssm:{site.region}:{account}:parameter"
        path = start + parameter_path(cluster, site.name)
        statements.append(
            {
                "Sid": "ReadOwnParameters",
                "Effect": "Allow",
                "Action": ["ssm:GetParameter", "ssm:GetParameters", "ssm:GetParametersByPath"],
                "Resource": [path, f"{path}/*"],
            }
        )
    return _document(*statements)


def tls_only_policy(region: str, bucket: str) -> dict[str, Any]:
    """A bucket policy that refuses requests without TLS."""
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
