"""Partitions of AWS: parts that share nothing, neither accounts nor names of resources."""

from __future__ import annotations

import re

REGION = r"^[a-z]{2,4}(-[a-z]+)+-\d$"
"""The name of a region, like ``us-east-1``, ``us-gov-west-1`` or ``eusc-de-east-1``."""

_BEGINNINGS = {
    "cn-": "aws-cn",
    "us-gov-": "aws-us-gov",
    "eusc-": "aws-eusc",
    "us-iso-": "aws-iso",
    "us-isob-": "aws-iso-b",
    "eu-isoe-": "aws-iso-e",
    "us-isof-": "aws-iso-f",
}
"""Partition by how the names of its regions begin (``partitions.json`` of botocore 1.44)."""

_ARN = re.compile(r"arn:(aws[a-z-]*):")


def partition(region: str) -> str:
    """The partition of ``region``, as ARNs name it."""
    found = (name for start, name in _BEGINNINGS.items() if region.startswith(start))
    return next(found, "aws")


def partition_of_arn(arn: str) -> str | None:
    """The partition that ``arn`` names; None where it is no ARN."""
    match = _ARN.match(arn)
    return match.group(1) if match else None
