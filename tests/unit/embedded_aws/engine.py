"""A client that speaks to the embedded provider as the Pulumi engine does."""

from __future__ import annotations

import json
import urllib.request
from dataclasses import dataclass, field
from typing import Any

import boto3
import grpc
from botocore.config import Config
from pulumi.runtime.proto import provider_pb2, provider_pb2_grpc

from rackwright.embedded_aws import control
from rackwright.embedded_aws.provider.wire import decode, encode


def urn_of(token: str, name: str) -> str:
    return f"urn:pulumi:dev::lab::{token}::{name}"


@dataclass
class Made:
    """What the engine's checkpoint holds of one resource."""

    urn: str
    id: str
    inputs: dict[str, Any]
    outputs: dict[str, Any]


@dataclass
class Engine:
    """Calls the provider in the order of the Pulumi engine."""

    port: int
    region: str = "us-west-2"
    default_tags: dict[str, str] = field(default_factory=dict)
    seed: int = 0

    def __post_init__(self) -> None:
        self.channel = grpc.insecure_channel(
            f"127.0.0.1:{self.port}",
            options=[("grpc.enable_http_proxy", 0), ("grpc.use_local_subchannel_pool", 1)],
        )
        self.stub = provider_pb2_grpc.ResourceProviderStub(self.channel)
        self.stub.Handshake(provider_pb2.ProviderHandshakeRequest())
        settings: dict[str, Any] = {"region": self.region}
        if self.default_tags:
            settings["defaultTags"] = json.dumps({"tags": self.default_tags})
        self.stub.Configure(provider_pb2.ConfigureRequest(args=encode(settings)))

    def check(self, urn: str, news: dict[str, Any], olds: dict[str, Any] | None = None) -> Any:
        self.seed += 1
        return self.stub.Check(
            provider_pb2.CheckRequest(
                urn=urn,
                name=urn.rsplit("::", 1)[-1],
                news=encode(news),
                olds=encode(olds or {}),
                randomSeed=f"{self.port}-{id(self)}-{self.seed}".encode(),
            )
        )

    def create(self, token: str, name: str, news: dict[str, Any], preview: bool = False) -> Made:
        urn = urn_of(token, name)
        reply = self.check(urn, news)
        assert not reply.failures, list(reply.failures)
        made = self.stub.Create(
            provider_pb2.CreateRequest(urn=urn, properties=reply.inputs, preview=preview)
        )
        return Made(urn, made.id, decode(reply.inputs), decode(made.properties))

    def diff(self, made: Made, news: dict[str, Any]) -> Any:
        checked = self.check(made.urn, news, made.inputs)
        assert not checked.failures, list(checked.failures)
        return self.stub.Diff(
            provider_pb2.DiffRequest(
                id=made.id,
                urn=made.urn,
                olds=encode(made.outputs),
                old_inputs=encode(made.inputs),
                news=checked.inputs,
            )
        )

    def update(self, made: Made, news: dict[str, Any], preview: bool = False) -> Made:
        checked = self.check(made.urn, news, made.inputs)
        reply = self.stub.Update(
            provider_pb2.UpdateRequest(
                id=made.id,
                urn=made.urn,
                olds=encode(made.outputs),
                old_inputs=encode(made.inputs),
                news=checked.inputs,
                preview=preview,
            )
        )
        return Made(made.urn, made.id, decode(checked.inputs), decode(reply.properties))

    def read(self, made: Made) -> Any:
        return self.stub.Read(
            provider_pb2.ReadRequest(
                id=made.id,
                urn=made.urn,
                properties=encode(made.outputs),
                inputs=encode(made.inputs),
            )
        )

    def delete(self, made: Made) -> None:
        self.stub.Delete(
            provider_pb2.DeleteRequest(
                id=made.id,
                urn=made.urn,
                properties=encode(made.outputs),
                old_inputs=encode(made.inputs),
            )
        )

    def invoke(self, token: str, **arguments: Any) -> dict[str, Any]:
        reply = self.stub.Invoke(provider_pb2.InvokeRequest(tok=token, args=encode(arguments)))
        return decode(getattr(reply, "return"))


def client_of(
    embedded: control.Embedded, service: str, region: str = "us-west-2", retries: bool = True
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
    with opener.open(request, timeout=30) as reply:
        return json.loads(reply.read())
