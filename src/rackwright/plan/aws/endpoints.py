"""Endpoints of a VPC: how AWS services are reached without a way to the internet."""

from __future__ import annotations

from typing import Literal

from rackwright.model.aws import AwsNetwork

GATEWAYS = frozenset({"s3", "dynamodb"})
"""Services with gateway endpoints, the only two (AWS PrivateLink Guide, "Gateway endpoints")."""

SERVICES = frozenset(
    """
    access-analyzer account acm acm-pca application-autoscaling aps aps-workspaces athena autoscaling backup
    batch bedrock bedrock-runtime cloudcontrolapi cloudformation cloudtrail codeartifact.api
    codeartifact.repositories codebuild codecommit codepipeline compute-optimizer config datasync
    directconnect dlm ds dynamodb dynamodb-streams ebs ec2 ec2messages ecr.api ecr.dkr ecs ecs-agent
    ecs-telemetry eks eks-auth elasticache elasticfilesystem elasticloadbalancing events execute-api fsx
    git-codecommit glue grafana grafana-workspace guardduty-data imagebuilder inspector2 kinesis-firehose
    kinesis-streams kms lambda license-manager logs monitoring organizations pcs pricing.api ram rds rds-data
    resource-groups rolesanywhere s3 s3tables sagemaker.api sagemaker.metrics sagemaker.runtime scheduler
    secretsmanager securityhub servicequotas sns sqs ssm ssm-contacts ssm-incidents ssmmessages states
    storagegateway sts tagging transfer transfer.server vpc-lattice wafv2 xray
    """.split()  # noqa: SIM905 - one each line would be a hundred lines
)
"""Services with endpoints that hosts of a cluster may call: what follows ``com.amazonaws.REGION.`` in the AWS
PrivateLink Guide, "AWS services that integrate with AWS PrivateLink". Some have another one that ends in ``-fips``."""

NEEDED = {
    "ssm": "instances read the parameters of the cluster there, and Session Manager finds them",
    "ssmmessages": "sessions of Session Manager go through it",
}
"""Services that hosts call, and why. SSM Agent needs ``ec2messages`` up to version 3.3.39 only (AWS Systems Manager
User Guide, "Improve the security of EC2 instances by using VPC endpoints")."""


def endpoint_type(service: str) -> Literal["Gateway", "Interface"]:
    """Return the kind of endpoint by which ``service`` is reached: a gateway where there is one, it is free."""
    return "Gateway" if service in GATEWAYS else "Interface"


def interface_endpoints(network: AwsNetwork) -> tuple[str, ...]:
    """Return the services that get an interface in each zone; none in a VPC that exists."""
    if network.existing is not None:
        return ()
    return tuple(name for name in network.endpoints if endpoint_type(name) == "Interface")


def is_known(service: str) -> bool:
    """Return True if ``service`` is known to have an endpoint."""
    return service.removesuffix("-fips") in SERVICES


def unreachable(network: AwsNetwork) -> tuple[str, ...]:
    """Return services that hosts need and do not reach: those without an endpoint where there is no NAT gateway."""
    if network.nat != "none":
        return ()
    return tuple(name for name in NEEDED if not {name, f"{name}-fips"} & set(network.endpoints))
