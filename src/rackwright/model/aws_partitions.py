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

_SUFFIXES = {
    "aws-cn": "amazonaws.com.cn",
    "aws-eusc": "amazonaws.eu",
    "aws-iso": "c2s.ic.gov",
    "aws-iso-b": "sc2s.sgov.gov",
    "aws-iso-e": "cloud.adc-e.uk",
    "aws-iso-f": "csp.hci.ic.gov",
}
"""What the names of hosts of a partition end in (the same)."""

_ARN = re.compile(r"arn:(aws[a-z-]*):")


def partition(region: str) -> str:
    """Return the partition of ``region``, as ARNs name it."""
    found = (name for start, name in _BEGINNINGS.items() if region.startswith(start))
    return next(found, "aws")


def dns_suffix(region: str) -> str:
    """Return the DNS suffix of AWS host names in ``region``, the part after the region."""
    return _SUFFIXES.get(partition(region), "amazonaws.com")


def partition_of_arn(arn: str) -> str | None:
    """Return the partition that ``arn`` names; None where it is no ARN."""
    match = _ARN.match(arn)
    return match.group(1) if match else None
