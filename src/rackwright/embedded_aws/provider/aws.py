"""The AWS API clients of one provider configuration, and the errors they raise."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError

DEFAULT_REGION = "us-west-2"
ACCOUNT = "123456789012"
# moto takes any key for the one account there is.
_KEY = "embedded"
_CONFIG = Config(
    retries={"total_max_attempts": 1, "mode": "standard"},
    connect_timeout=10,
    read_timeout=300,
    parameter_validation=True,
    max_pool_connections=32,
    s3={"addressing_style": "path"},
    proxies={},
)
_MISSING = (
    "NotFound",
    "NoSuch",
    "Unknown",
    "DoesNotExist",
    "ParameterNotFound",
    "ResourceNotFoundException",
    "404",
)


@dataclass(slots=True)
class Clients:
    """The boto3 clients of an endpoint, one for each service and region, shared by threads."""

    endpoint: str
    _made: dict[tuple[str, str], Any] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def get(self, service: str, region: str) -> Any:
        """Returns the client of a service in a region."""
        with self._lock:
            client = self._made.get((service, region))
            if client is None:
                client = boto3.session.Session().client(
                    service,
                    region_name=region,
                    endpoint_url=self.endpoint,
                    aws_access_key_id=_KEY,
                    aws_secret_access_key=_KEY,
                    config=_CONFIG,
                )
                self._made[(service, region)] = client
            return client


@dataclass(frozen=True, slots=True)
class Aws:
    """The AWS that one request works on: a region, its clients and the default tags."""

    clients: Clients
    region: str = DEFAULT_REGION
    default_tags: Mapping[str, str] = field(default_factory=dict)

    def client(self, service: str) -> Any:
        """Returns the client of a service in this region."""
        return self.clients.get(service, self.region)

    @property
    def ec2(self) -> Any:
        """Returns the EC2 client."""
        return self.client("ec2")

    @property
    def partition(self) -> str:
        """Returns the partition of the region."""
        if self.region.startswith("cn-"):
            return "aws-cn"
        return "aws-us-gov" if self.region.startswith("us-gov-") else "aws"

    def arn(self, service: str, resource: str) -> str:
        """Returns the ARN of a resource of this account and region."""
        return f"arn:{self.partition}:{service}:{self.region}:{ACCOUNT}:{resource}"


def client_token() -> str:
    """Returns a token for one call: AWS takes a repetition of the call with it for the call itself."""
    return uuid4().hex


def code_of(error: ClientError) -> str:
    """Returns the AWS error code."""
    return str(error.response.get("Error", {}).get("Code", "Unknown"))


def is_missing(error: ClientError) -> bool:
    """Returns whether the error says that the resource is not there."""
    code = code_of(error)
    return any(part in code for part in _MISSING)


def describe(error: ClientError) -> str:
    """Returns what people read of an AWS error: code, message and operation."""
    message = str(error.response.get("Error", {}).get("Message", "")).strip() or "no message"
    return f"{code_of(error)}: {message} (operation {error.operation_name})"
