"""Runs a stack's declarations against mocks, and hands back what was registered."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pulumi.runtime
from google.protobuf import empty_pb2
from pulumi.runtime import mocks, settings
from pulumi.runtime.stack import run_pulumi_func


@dataclass(frozen=True)
class Registered:
    """A resource as the engine would have received it."""

    type: str
    name: str
    inputs: Mapping[str, Any]
    custom: bool = True
    parent: str = ""
    protect: bool = False
    retain_on_delete: bool = False
    aliases: tuple[str, ...] = ()
    timeouts: tuple[str, str, str] = ("", "", "")
    """For its creation, update and deletion."""
    ignore_changes: tuple[str, ...] = ()
    import_id: str = ""
    secrets: tuple[str, ...] = ()
    """Names of the inputs that a state has encrypted."""


@dataclass
class Recording:
    """Everything that one program declared."""

    resources: list[Registered] = field(default_factory=list)

    def of(self, token: str) -> list[Registered]:
        """The resources whose type ends in ``token``."""
        return [found for found in self.resources if found.type.rsplit(":", 1)[-1] == token]

    def one(self, token: str, name: str | None = None) -> Registered:
        """The only resource of that type, or the one of that name."""
        found = [r for r in self.of(token) if name is None or r.name == name]
        assert len(found) == 1, [r.name for r in self.of(token)]
        return found[0]

    @property
    def names(self) -> list[str]:
        """Type and name of all resources, sorted."""
        return sorted(f"{r.type} {r.name}" for r in self.resources)


class Engine(mocks.Mocks):
    """Gives every resource an id and the computed attributes that others refer to.

    Args:
        stacks: outputs of the stacks that programs refer to, by full name.
    """

    def __init__(self, stacks: Mapping[str, Mapping[str, Any]]) -> None:
        self._stacks = stacks

    def new_resource(self, args: mocks.MockResourceArgs) -> tuple[str, dict[str, Any]]:
        state = dict(args.inputs)
        if args.typ == "pulumi:pulumi:StackReference":
            outputs = dict(self._stacks.get(args.inputs["name"], {}))
            return args.name, {**state, "outputs": outputs, "secretOutputNames": []}
        state.setdefault("arn", f"arn:aws:mock:::{args.name}")
        state.setdefault("name", args.name)
        if args.typ == "aws:ec2/instance:Instance":
            state |= {"privateIp": "10.20.0.9", "publicIp": "203.0.113.9"}
        if args.typ == "aws:ec2/launchTemplate:LaunchTemplate":
            state["latestVersion"] = 1
        if args.typ == "aws:fsx/lustreFileSystem:LustreFileSystem":
            state |= {"dnsName": "fs-1.fsx.us-east-1.amazonaws.com", "mountName": "abcdefg"}
        if args.typ == "aws:efs/fileSystem:FileSystem":
            state["dnsName"] = "fs-2.efs.us-east-1.amazonaws.com"
        if args.typ == "aws:kms/key:Key":
            state["keyId"] = "key-1"
        if args.typ == "aws:route53/zone:Zone":
            state["zoneId"] = "Z1"
        return f"{args.name}-id", state

    def call(self, args: mocks.MockCallArgs) -> tuple[dict[str, Any], list[tuple[str, str]]]:
        if args.token == "aws:index/getCallerIdentity:getCallerIdentity":
            account = "123456789012"
            return {"accountId": account, "id": account, "arn": "a", "userId": "u"}, []
        if args.token == "aws:ssm/getParameter:getParameter":
            return {"value": "ami-00000000000000001", "name": args.args["name"]}, []
        if args.token == "aws:ec2/getVpcEndpointService:getVpcEndpointService":
            return {"serviceName": f"{args.args['serviceType']} of {args.args['service']}"}, []
        raise AssertionError(f"unexpected call of '{args.token}'")


def _plain(value: Any) -> Any:
    """``value`` with secrets opened."""
    from pulumi.runtime import rpc

    if isinstance(value, dict):
        if rpc._special_sig_key in value:
            return _plain(value["value"])
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list) else value


def _is_secret(value: Any) -> bool:
    from pulumi.runtime import rpc

    return isinstance(value, dict) and value.get(rpc._special_sig_key) == rpc._special_secret_sig


def _closing_loop(method: Callable[..., Any]) -> Callable[..., Any]:
    """``method``, closing the event loop that the SDK opens in its worker thread."""

    @functools.wraps(method)
    def call(self: Any, request: Any) -> Any:
        try:
            return method(self, request)
        finally:
            if threading.current_thread() is not threading.main_thread():
                with contextlib.suppress(RuntimeError):
                    asyncio.get_event_loop_policy().get_event_loop().close()
                asyncio.set_event_loop(None)

    return call


class RecordingMonitor(mocks.MockMonitor):
    """A mock monitor that keeps the options of each registration as well."""

    def __init__(self, recording: Recording, engine: Engine) -> None:
        super().__init__(engine)
        self._recording = recording

    @_closing_loop
    def RegisterResource(self, request: Any) -> Any:  # noqa: N802
        from pulumi.runtime import rpc

        if request.type != "pulumi:pulumi:Stack":
            waits = request.customTimeouts
            given = rpc.deserialize_properties(request.object, keep_unknowns=True)
            self._recording.resources.append(
                Registered(
                    type=request.type,
                    name=request.name,
                    inputs=_plain(given),
                    custom=request.custom,
                    parent="" if request.parent.endswith("aws-test-atlas-use1") else request.parent,
                    protect=request.protect,
                    retain_on_delete=request.retainOnDelete,
                    aliases=tuple(alias.spec.name or alias.urn for alias in request.aliases),
                    timeouts=(waits.create, waits.update, waits.delete),
                    ignore_changes=tuple(request.ignoreChanges),
                    import_id=request.importId,
                    secrets=tuple(name for name in given if _is_secret(given[name])),
                )
            )
        return super().RegisterResource(request)

    @_closing_loop
    def Invoke(self, request: Any) -> Any:  # noqa: N802
        return super().Invoke(request)

    @_closing_loop
    def ReadResource(self, request: Any) -> Any:  # noqa: N802
        return super().ReadResource(request)

    def SignalAndWaitForShutdown(self, request: Any) -> Any:  # noqa: N802
        return empty_pb2.Empty()


def record(
    program: Callable[[], None],
    *,
    preview: bool = False,
    config: Mapping[str, str] | None = None,
    stacks: Mapping[str, Mapping[str, Any]] | None = None,
    into: Recording | None = None,
) -> Recording:
    """What ``program`` registers; errors in its outputs are raised here, none is lost.

    Args:
        program: declares resources.
        preview: run it as a preview.
        config: configuration of the stack.
        stacks: outputs of other stacks, by full name.
        into: keeps what was registered when the program fails.
    """
    recording = Recording() if into is None else into
    engine = Engine(stacks or {})

    async def run() -> None:
        # The first error is raised below; the futures that depend on it would repeat it.
        asyncio.get_running_loop().set_exception_handler(lambda _loop, _context: None)
        pulumi.runtime.set_mocks(
            engine,
            project="aws-test",
            stack="atlas-use1",
            preview=preview,
            monitor=RecordingMonitor(recording, engine),
            organization="organization",
        )
        settings.SETTINGS.outputs.clear()
        pulumi.runtime.set_all_config(dict(config or {}))
        await run_pulumi_func(program)

    asyncio.run(run())
    return recording
