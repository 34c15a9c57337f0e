"""The gRPC status of a resource that exists but is not complete."""

from __future__ import annotations

from typing import Any, NoReturn

import grpc
from google.protobuf import any_pb2
from pulumi.runtime.proto import provider_pb2, status_pb2

from rackwright.embedded_aws.provider.wire import Props, encode


class InitFailedError(Exception):
    """A resource was made, and a later step of its making failed."""

    def __init__(self, identity: str, state: Props, inputs: Props, reason: str) -> None:
        super().__init__(reason)
        self.identity = identity
        self.state = state
        self.inputs = inputs
        self.reason = reason


def abort_init_failed(context: Any, error: InitFailedError) -> NoReturn:
    """Ends the call so that the engine records the resource and mends it on the next update."""  # noqa: DOC501 - abort() always raises
    detail = any_pb2.Any()
    detail.Pack(
        provider_pb2.ErrorResourceInitFailed(
            id=error.identity,
            properties=encode(error.state),
            reasons=[error.reason],
            inputs=encode(error.inputs),
        )
    )
    code = grpc.StatusCode.UNKNOWN
    status = status_pb2.Status(code=code.value[0], message=error.reason, details=[detail])
    context.set_trailing_metadata((("grpc-status-details-bin", status.SerializeToString()),))
    context.abort(code, error.reason)
    raise AssertionError("abort returned")
