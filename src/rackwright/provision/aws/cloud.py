"""AWS as it is asked for what is there: by operation, and in pages."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from rackwright.provision.access.errors import refusals
from rackwright.provision.aws.calls import make_client
from rackwright.provision.targets import Target

_PREFIXES = {"efs": "elasticfilesystem", "elbv2": "elasticloadbalancing"}
"""What IAM calls a service that boto3 calls otherwise."""


@dataclass
class Cloud:
    """AWS where the stack is, asked in pages."""

    target: Target
    region: str
    _clients: dict[str, Any] = field(default_factory=dict)

    def client(self, service: str) -> Any:
        """Return the client of a service."""
        if service not in self._clients:
            with refusals(service):
                self._clients[service] = make_client(self.target, service, self.region)
        return self._clients[service]

    def call(
        self, service: str, operation: str, *, missing: tuple[str, ...] = (), **arguments: Any
    ) -> dict[str, Any] | None:
        """Return the answer of one call; None where its error's code is among ``missing``.

        Raises:
            ExternalToolError: AWS refuses, or cannot be asked.
        """  # noqa: DOC501 - refusals() turns ClientError into it
        from botocore.exceptions import ClientError

        client = self.client(service)
        with refusals(_action(service, operation)):
            try:
                answer: dict[str, Any] = getattr(client, operation)(**arguments)
            except ClientError as error:
                if error.response.get("Error", {}).get("Code") in missing:
                    return None
                raise
        return answer

    def listed(
        self, service: str, operation: str, items: str, **arguments: Any
    ) -> Iterator[dict[str, Any]]:
        """Yield the items of all pages of an operation."""
        client = self.client(service)
        with refusals(_action(service, operation)):
            if client.can_paginate(operation):
                for page in client.get_paginator(operation).paginate(**arguments):
                    yield from page.get(items, ())
            else:
                # Some have pages that botocore does not know.
                told = getattr(client, operation)(**arguments)
                yield from told[items]
                while token := told.get("NextToken"):
                    told = getattr(client, operation)(**arguments, NextToken=token)
                    yield from told[items]


def _action(service: str, operation: str) -> str:
    """Return an operation as permissions name it."""
    return f"{_PREFIXES.get(service, service)}:{operation.title().replace('_', '')}"
