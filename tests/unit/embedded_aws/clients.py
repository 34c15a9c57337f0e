"""Clients of a running embedded AWS, of its API and of what is there for tests alone."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Callable
from typing import Any

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError

from rackwright_lab.embedded_aws import control
from rackwright_lab.embedded_aws.api.amis import IMAGES

REGION = "us-west-2"
ZONE = f"{REGION}a"
IMAGE = IMAGES[0].id
Connect = Callable[..., Any]
"""Makes a client of a service."""


def client_of(
    embedded: control.Embedded, service: str, region: str = REGION, retries: bool = True
) -> Any:
    return boto3.session.Session().client(
        service,
        region_name=region,
        endpoint_url=embedded.endpoint,
        aws_access_key_id="embedded",
        aws_secret_access_key="embedded",
        config=Config(retries={"total_max_attempts": 5 if retries else 1}),
    )


def admin(embedded: control.Embedded, method: str, action: str, document: Any = None) -> Any:
    data = None if document is None else json.dumps(document).encode()
    request = urllib.request.Request(
        f"{embedded.endpoint}/rackwright/{action}", data=data, method=method
    )
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(request, timeout=300) as reply:
        return json.loads(reply.read())


def refused(call: Callable[..., Any], **arguments: Any) -> str:
    """The code and the message with which a call is refused."""
    with pytest.raises(ClientError) as told:
        call(**arguments)
    error = told.value.response["Error"]
    return f"{error['Code']}: {error['Message']}"


def a_vpc(ec2: Any) -> str:
    return str(ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"])


def a_subnet(ec2: Any, vpc: str | None = None, zone: str = ZONE, number: int = 0) -> str:
    made = ec2.create_subnet(
        VpcId=vpc or a_vpc(ec2), CidrBlock=f"10.0.{number * 16}.0/20", AvailabilityZone=zone
    )
    return str(made["Subnet"]["SubnetId"])
