# ruff: noqa: D102, N802 - the engine's protocol names and describes the methods
"""The Pulumi ResourceProvider for package aws that works on the embedded AWS."""

from __future__ import annotations

import contextlib
import importlib
import json
import logging
import threading
from collections import OrderedDict
from collections.abc import Iterator
from concurrent import futures
from dataclasses import dataclass, field
from typing import Any, NoReturn

import grpc
from botocore.exceptions import BotoCoreError, ClientError
from google.protobuf import empty_pb2
from pulumi.runtime.proto import plugin_pb2, provider_pb2, provider_pb2_grpc

from rackwright.embedded_aws.provider import invokes
from rackwright.embedded_aws.provider.aws import (
    DEFAULT_REGION,
    Aws,
    Clients,
    code_of,
    describe,
    is_missing,
)
from rackwright.embedded_aws.provider.resource import (
    REGISTRY,
    Resource,
    autoname,
    differing,
    preview_outputs,
    put_tags,
    read_outputs,
    wanted_tags,
)
from rackwright.embedded_aws.provider.status import InitFailedError, abort_init_failed
from rackwright.embedded_aws.provider.wire import UNKNOWN, Props, decode, encode, has_unknown

VERSION = "7.51.1"
_MODULES = ("ec2_network", "ec2_routing", "ec2_security", "ec2_capacity", "ec2_template",
            "ec2_instance", "ec2_volume", "autoscaling", "dlm", "iam", "s3", "file_systems", "route53", "ssm_kms")  # fmt: skip
_PEERS = 256
_MEGABYTE = 1 << 20
_INCOMPLETE = "__incomplete"
_LOG = logging.getLogger(__name__)
_DIFF = provider_pb2.DiffResponse
_KIND = provider_pb2.PropertyDiff
_SERVER_SIDE = frozenset({"InternalError", "InternalFailure", "ServiceUnavailable"})

for _module in _MODULES:
    importlib.import_module(f"rackwright.embedded_aws.provider.resources.{_module}")


class MissingTypeError(Exception):
    """The embedded AWS has no resource type or function of that token."""

    def __init__(self, token: str) -> None:
        super().__init__(
            f"the embedded AWS has no '{token}'; it has {len(REGISTRY)} resource types and "
            f"{len(invokes.INVOKES)} functions, and the real aws plugin has them all"
        )


@dataclass(slots=True)
class _Memory:
    """The configuration that the engine gave on each connection."""

    aws: OrderedDict[str, Aws] = field(default_factory=OrderedDict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def configure(self, peer: str, aws: Aws) -> None:
        with self.lock:
            self.aws[peer] = aws
            self.aws.move_to_end(peer)
            while len(self.aws) > _PEERS:
                self.aws.popitem(last=False)

    def of(self, peer: str) -> Aws | None:
        with self.lock:
            found = self.aws.get(peer)
            return found or (next(reversed(self.aws.values())) if self.aws else None)


class Provider(provider_pb2_grpc.ResourceProviderServicer):
    """Answers the Pulumi engine in place of the aws plugin; AWS holds all the state."""

    def __init__(self, endpoint: str) -> None:
        self._clients = Clients(endpoint)
        self._memory = _Memory()

    # Configuration

    def Handshake(self, request: Any, context: Any) -> Any:
        return provider_pb2.ProviderHandshakeResponse(supports_autonaming_configuration=True)

    def Attach(self, request: Any, context: Any) -> Any:
        return empty_pb2.Empty()

    def GetPluginInfo(self, request: Any, context: Any) -> Any:
        return plugin_pb2.PluginInfo(version=VERSION)

    def GetSchema(self, request: Any, context: Any) -> Any:
        schema = {
            "name": "aws",
            "version": VERSION,
            "resources": {token: {} for token in sorted(REGISTRY)},
            "functions": {token: {} for token in sorted(invokes.INVOKES)},
        }
        return provider_pb2.GetSchemaResponse(schema=json.dumps(schema))

    def GetMapping(self, request: Any, context: Any) -> Any:
        return provider_pb2.GetMappingResponse()

    def GetMappings(self, request: Any, context: Any) -> Any:
        return provider_pb2.GetMappingsResponse()

    def Cancel(self, request: Any, context: Any) -> Any:
        return empty_pb2.Empty()

    def CheckConfig(self, request: Any, context: Any) -> Any:
        return provider_pb2.CheckResponse(inputs=request.news)

    def DiffConfig(self, request: Any, context: Any) -> Any:
        olds, news = decode(request.old_inputs) or decode(request.olds), decode(request.news)
        if olds.get("region") != news.get("region") and not has_unknown(news.get("region")):
            return _DIFF(changes=_DIFF.DIFF_SOME, replaces=["region"], diffs=["region"])
        some = olds != news
        return _DIFF(changes=_DIFF.DIFF_SOME if some else _DIFF.DIFF_NONE)

    def Configure(self, request: Any, context: Any) -> Any:
        given = decode(request.args)
        for key, value in request.variables.items():
            given.setdefault(key.removeprefix("aws:config:"), value)
        region = given.get("region")
        tags: Any = given.get("defaultTags") or {}
        with contextlib.suppress(TypeError, ValueError):
            tags = json.loads(tags)
        tags = tags.get("tags") or {} if isinstance(tags, dict) else {}
        if isinstance(tags, str):
            tags = json.loads(tags)
        aws = Aws(
            self._clients, region if isinstance(region, str) and region else DEFAULT_REGION, tags
        )
        self._memory.configure(context.peer(), aws)
        return provider_pb2.ConfigureResponse(
            acceptSecrets=False,
            supportsPreview=True,
            acceptResources=False,
            acceptOutputs=False,
            supports_autonaming_configuration=True,
        )

    # Resources

    def Check(self, request: Any, context: Any) -> Any:
        with _reported(context, "checking", request.urn):
            resource = _resource(request.urn)
            olds, news = decode(request.olds), decode(request.news)
            news.pop("__defaults", None)
            if resource.named and news.get(resource.named) is None:
                _name(resource, resource.named, request, olds, news)
            inputs = resource.defaults(self._aws(context, news), news)
            missing = [name for name in resource.required if inputs.get(name) is None]
            wrong = [(name, f"missing required property '{name}'") for name in missing]
            wrong += [] if missing else resource.check(inputs)
            return provider_pb2.CheckResponse(
                inputs=encode(inputs),
                failures=[
                    provider_pb2.CheckFailure(property=name, reason=reason)
                    for name, reason in wrong
                ],
            )

    def Diff(self, request: Any, context: Any) -> Any:
        with _reported(context, "comparing", request.urn):
            resource = _resource(request.urn)
            olds, news = decode(request.old_inputs) or decode(request.olds), decode(request.news)
            names = [n for n in differing(resource, olds, news) if n not in request.ignoreChanges]
            aws, state = self._aws(context, news), decode(request.olds)
            fixed = resource.replace | {"region"}
            detailed: dict[str, Any] = {}
            replaces = []
            for name in names:
                old, new = olds.get(name), news.get(name)
                forced = name in fixed and not (name == "region" and new == aws.region)
                if name == "region" and not forced:
                    continue
                if old is None and new is not None:
                    kind = _KIND.ADD_REPLACE if forced else _KIND.ADD
                elif new is None:
                    kind = _KIND.DELETE_REPLACE if forced else _KIND.DELETE
                else:
                    kind = _KIND.UPDATE_REPLACE if forced else _KIND.UPDATE
                detailed[name] = _KIND(kind=kind, inputDiff=True)
                if forced:
                    replaces.append(name)
            held_tags = state.get("tagsAll")
            known = held_tags is not None and not has_unknown(news.get("tags"))
            if resource.taggable and known and wanted_tags(aws, news) != held_tags:
                detailed.setdefault("tags", _KIND(kind=_KIND.UPDATE))
            if state.get(_INCOMPLETE):
                detailed.setdefault("id", _KIND(kind=_KIND.UPDATE))
            named = resource.named
            same_name = (
                named is not None
                and named not in olds.get("__defaults", [])
                and olds.get(named) == news.get(named)
            )
            return _DIFF(
                changes=_DIFF.DIFF_SOME if detailed else _DIFF.DIFF_NONE,
                diffs=sorted(detailed),
                replaces=replaces,
                detailedDiff=detailed,
                hasDetailedDiff=True,
                deleteBeforeReplace=bool(replaces) and (resource.delete_first or same_name),
            )

    def Create(self, request: Any, context: Any) -> Any:
        with _reported(context, "creating", request.urn):
            resource = _resource(request.urn)
            inputs = decode(request.properties)
            aws = self._aws(context, inputs)
            if request.preview:
                outputs = preview_outputs(resource, inputs)
                if resource.taggable:
                    outputs["tagsAll"] = (
                        wanted_tags(aws, inputs)
                        if not has_unknown(inputs.get("tags"))
                        else inputs["tags"]
                    )
                outputs.setdefault("region", aws.region)
                return provider_pb2.CreateResponse(id="", properties=encode(outputs))
            identity = resource.create(aws, inputs, wanted_tags(aws, inputs))
            try:
                resource.apply(aws, identity, {}, inputs)
                outputs_read = read_outputs(resource, aws, identity, inputs)
            except (ClientError, BotoCoreError) as error:
                reason = describe(error) if isinstance(error, ClientError) else str(error)
                half = {**inputs, "id": identity, _INCOMPLETE: True}
                raise InitFailedError(identity, half, inputs, reason) from error
            if outputs_read is None:
                raise LookupError(f"{identity} was made and is gone again")
            return provider_pb2.CreateResponse(id=identity, properties=encode(outputs_read))

    def Read(self, request: Any, context: Any) -> Any:
        with _reported(context, "reading", request.urn):
            resource = _resource(request.urn)
            state, inputs = decode(request.properties), decode(request.inputs)
            outputs = read_outputs(resource, self._aws(context, state), request.id, state)
            if outputs is None:
                return provider_pb2.ReadResponse(id="")
            live = _live_inputs(resource, inputs, outputs)
            if not inputs:  # it is imported
                live = resource.defaults(self._aws(context, state), live)
            if state.get(_INCOMPLETE):
                outputs[_INCOMPLETE] = True
            return provider_pb2.ReadResponse(
                id=request.id, properties=encode(outputs), inputs=encode(live)
            )

    def Update(self, request: Any, context: Any) -> Any:
        with _reported(context, "updating", request.urn):
            resource = _resource(request.urn)
            state, news = decode(request.olds), decode(request.news)
            olds = decode(request.old_inputs) or state
            aws = self._aws(context, news)
            if request.preview:
                kept = {**state, **news, **dict.fromkeys(resource.renewed(olds, news), UNKNOWN)}
                if resource.taggable and not has_unknown(news.get("tags")):
                    kept["tagsAll"] = wanted_tags(aws, news)
                return provider_pb2.UpdateResponse(properties=encode(_clean(kept)))
            # A Create that ended half way is done again: there is nothing to build on.
            resource.apply(aws, request.id, {} if state.get(_INCOMPLETE) else olds, news)
            put_tags(resource, aws, request.id, {**olds, "tagsAll": state.get("tagsAll")}, news)
            dropped = set(olds) - set(news)
            base = {name: value for name, value in state.items() if name not in dropped}
            outputs = read_outputs(resource, aws, request.id, {**base, **news})
            if outputs is None:
                raise LookupError(f"{request.id} is gone; refresh the stack")
            return provider_pb2.UpdateResponse(properties=encode(outputs))

    def Delete(self, request: Any, context: Any) -> Any:
        with _reported(context, "deleting", request.urn):
            resource = _resource(request.urn)
            state = decode(request.properties)
            aws = self._aws(context, state)
            try:
                resource.delete(aws, request.id, state)
            except ClientError as error:
                # What is missing may be another resource that the deletion had to look at.
                if not is_missing(error) or read_outputs(resource, aws, request.id, state):
                    raise
            return empty_pb2.Empty()

    # Functions

    def Invoke(self, request: Any, context: Any) -> Any:
        with _reported(context, "calling", request.tok):
            function = invokes.INVOKES.get(request.tok)
            if function is None:
                raise MissingTypeError(request.tok)
            arguments = decode(request.args)
            result: dict[str, Any] = {
                "return": encode(function(self._aws(context, arguments), arguments))
            }
            return provider_pb2.InvokeResponse(**result)

    def _aws(self, context: Any, inputs: Props) -> Aws:
        aws = self._memory.of(context.peer())
        if aws is None:
            aws = Aws(self._clients)
        region = inputs.get("region")
        if isinstance(region, str) and region and region != aws.region:
            return Aws(aws.clients, region, aws.default_tags)
        return aws


@contextlib.contextmanager
def _reported(context: Any, doing: str, subject: str) -> Iterator[None]:
    """Turns what goes wrong into a gRPC status that says it to people."""
    name = subject.rsplit("::", 1)[-1]
    try:
        yield
    except InitFailedError as error:
        abort_init_failed(context, error)
    except MissingTypeError as error:
        _abort(context, grpc.StatusCode.UNIMPLEMENTED, str(error))
    except ClientError as error:
        status = (
            grpc.StatusCode.ABORTED
            if code_of(error) in _SERVER_SIDE
            else grpc.StatusCode.FAILED_PRECONDITION
        )
        _abort(context, status, f"{doing} '{name}': {describe(error)}")
    except BotoCoreError as error:
        _abort(context, grpc.StatusCode.INVALID_ARGUMENT, f"{doing} '{name}': {error}")
    except (LookupError, ValueError, TypeError) as error:
        _LOG.exception("%s %s", doing, subject)
        _abort(context, grpc.StatusCode.INVALID_ARGUMENT, f"{doing} '{name}': {error}")


def _abort(context: Any, status: grpc.StatusCode, message: str) -> NoReturn:
    _LOG.warning("%s: %s", status.name, message)
    context.abort(status, message)
    raise AssertionError("abort returned")


def _resource(urn: str) -> Resource:
    token = urn.split("::")[2].rsplit("$", 1)[-1]
    resource = REGISTRY.get(token)
    if resource is None:
        raise MissingTypeError(token)
    return resource


def _name(resource: Resource, named: str, request: Any, olds: Props, news: Props) -> None:
    """Gives a name to a resource that has none: the old one, or one that the engine proposes."""
    held = olds.get(named)
    prefix = news.get("namePrefix") or news.get("bucketPrefix")
    options = request.autonaming
    if held is not None and named in olds.get("__defaults", []):
        news[named] = held
    elif isinstance(prefix, str):
        news[named] = prefix + autoname("x", request.randomSeed, 64)[2:]
    elif options.mode == provider_pb2.CheckRequest.AutonamingOptions.DISABLE:
        return
    elif options.proposed_name:
        news[named] = options.proposed_name
    else:
        name = request.name or request.urn.rsplit("::", 1)[-1]
        name = name.lower() if "bucket" in named else name
        news[named] = autoname(name, request.randomSeed, resource.name_limit)
    news["__defaults"] = [named]


def _live_inputs(resource: Resource, inputs: Props, outputs: Props) -> Props:
    """Returns the inputs that the program would have written for the resource as it is."""
    if inputs:
        live = {
            name: value if name == "__defaults" else _project(value, outputs.get(name))
            for name, value in inputs.items()
        }
    else:
        live = {name: outputs[name] for name in resource.inputs if outputs.get(name)}
    if resource.taggable and (outputs.get("tags") or "tags" in inputs):
        live["tags"] = outputs.get("tags", {})
    return live


def _project(old: Any, new: Any) -> Any:
    """Returns the live value in the shape of the old one, the old one where shapes differ."""
    if new is None or not isinstance(new, type(old)):
        return old
    if isinstance(old, dict):
        return {key: _project(value, new.get(key)) for key, value in old.items()}
    if isinstance(old, list) and len(old) == len(new) and all(isinstance(o, dict) for o in old):
        return [_project(one, other) for one, other in zip(old, new, strict=True)]
    return new


def _clean(props: Props) -> Props:
    return {name: value for name, value in props.items() if not name.startswith("__")}


@dataclass(frozen=True, slots=True)
class Served:
    """A provider that listens: its port and how to end it."""

    port: int
    server: grpc.Server

    def stop(self) -> None:
        """Ends the server once the requests in progress are answered, or after some seconds."""
        self.server.stop(grace=5.0).wait()


def serve_provider(endpoint: str, host: str) -> Served:
    """Returns the provider for an AWS endpoint, listening on a free port of the host."""
    server = grpc.server(
        futures.ThreadPoolExecutor(max_workers=16),
        options=[
            ("grpc.max_receive_message_length", 400 * _MEGABYTE),
            ("grpc.max_send_message_length", 400 * _MEGABYTE),
            ("grpc.so_reuseport", 0),
        ],
    )
    provider_pb2_grpc.add_ResourceProviderServicer_to_server(Provider(endpoint), server)
    port = server.add_insecure_port(f"{host}:0")
    server.start()
    return Served(port, server)
