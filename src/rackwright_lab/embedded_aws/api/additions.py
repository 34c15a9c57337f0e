"""Everything that the embedded AWS adds to moto, and fixes in it."""

from __future__ import annotations

from rackwright_lab.embedded_aws.api import (
    dlm,
    moto_access,
    moto_ebs,
    moto_ec2,
    moto_efs,
    moto_elb,
    moto_fsx,
    moto_health,
    moto_iam,
    moto_instances,
    moto_network,
    moto_route53,
    moto_s3,
    moto_scaling,
    moto_ssm,
    moto_sts,
)

_ADDITIONS = (
    dlm,
    moto_access,
    moto_ebs,
    moto_ec2,
    moto_efs,
    moto_elb,
    moto_fsx,
    moto_health,
    moto_iam,
    moto_instances,
    moto_network,
    moto_route53,
    moto_s3,
    moto_scaling,
    moto_ssm,
    moto_sts,
)


def install_additions() -> None:
    """Put all of it into moto; a second call changes nothing."""
    for addition in _ADDITIONS:
        addition.install()
