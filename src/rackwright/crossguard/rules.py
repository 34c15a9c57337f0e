"""Rules over the resources that a program really declares, whatever the blueprint says.

They hold for resources of any origin: a team's own code beside the stacks is judged as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

from rackwright.crossguard.decode import UNKNOWN


@dataclass(frozen=True)
class DeclaredResource:
    """A resource as the engine sees it before it is created.

    Attributes:
        options: ``protect`` and ``retain`` as the program set them.
    """

    type: str
    urn: str
    name: str
    inputs: dict[str, Any]
    protect: bool = False


@dataclass(frozen=True)
class Verdict:
    """One violation, or one thing that cannot be decided."""

    message: str
    outcome: Literal["fail", "unknown"] = "fail"


@dataclass(frozen=True)
class ResourceRule:
    """A rule over single resources of some types; no types means all.

    Attributes:
        id: stable name, like ``RES-001``.
        check: yields a verdict for each violation and nothing when the resource is fine.
    """

    id: str
    title: str
    types: frozenset[str]
    check: Callable[[DeclaredResource], Iterator[Verdict]] = field(repr=False)
    mandatory: bool = True


_LAUNCH_TEMPLATE = "aws:ec2/launchTemplate:LaunchTemplate"
_INSTANCE = "aws:ec2/instance:Instance"
_INGRESS = "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule"
_GROUP = "aws:ec2/securityGroup:SecurityGroup"
_LUSTRE = "aws:fsx/lustreFileSystem:LustreFileSystem"
_ELASTIC = "aws:efs/fileSystem:FileSystem"
_BUCKET = "aws:s3/bucket:Bucket"
_EVERYWHERE = frozenset({"0.0.0.0/0", "::/0"})


def _items(value: Any) -> list[Any]:
    """The items of an optional list; an unknown list is one unknown item."""
    if value is UNKNOWN:
        return [UNKNOWN]
    return [] if value is None else list(value)


def _requires_imdsv2(resource: DeclaredResource) -> Iterator[Verdict]:
    options = resource.inputs.get("metadataOptions")
    tokens = options.get("httpTokens") if isinstance(options, dict) else options
    if options is UNKNOWN or tokens is UNKNOWN:
        yield Verdict("whether the metadata service requires tokens is not known", "unknown")
    elif tokens != "required":
        yield Verdict(
            f"the instance metadata service accepts version 1 (httpTokens is {tokens!r}); "
            "set metadata_options.http_tokens to 'required'"
        )


def _volumes(resource: DeclaredResource) -> Iterator[tuple[str, Any]]:
    if resource.type == _LAUNCH_TEMPLATE:
        for mapping in _items(resource.inputs.get("blockDeviceMappings")):
            if mapping is UNKNOWN or mapping.get("ebs") is UNKNOWN:
                yield "a volume", UNKNOWN
            elif mapping.get("ebs") is not None:
                yield str(mapping.get("deviceName")), mapping["ebs"].get("encrypted")
        return
    root = resource.inputs.get("rootBlockDevice", {})
    yield "the root volume", UNKNOWN if root is UNKNOWN else root.get("encrypted")
    for device in _items(resource.inputs.get("ebsBlockDevices")):
        if device is UNKNOWN:
            yield "a volume", UNKNOWN
        else:
            yield str(device.get("deviceName")), device.get("encrypted")


def _encrypts_volumes(resource: DeclaredResource) -> Iterator[Verdict]:
    for name, encrypted in _volumes(resource):
        if encrypted is UNKNOWN:
            yield Verdict(f"whether {name} is encrypted is not known", "unknown")
        elif str(encrypted).lower() != "true":
            yield Verdict(f"{name} is not encrypted; set encrypted to true")


def _refuses_open_ingress(resource: DeclaredResource) -> Iterator[Verdict]:
    is_group = resource.type == _GROUP
    rules = _items(resource.inputs.get("ingress")) if is_group else [resource.inputs]
    for rule in rules:
        if rule is UNKNOWN:
            yield Verdict("the ingress rules are not known", "unknown")
            continue
        single = [rule.get("cidrIpv4"), rule.get("cidrIpv6")]
        for block in [
            *single,
            *_items(rule.get("cidrBlocks")),
            *_items(rule.get("ipv6CidrBlocks")),
        ]:
            if block is UNKNOWN:
                yield Verdict("the network that may enter is not known", "unknown")
            elif block in _EVERYWHERE:
                yield Verdict(
                    f"the whole Internet ({block}) may enter; name the networks that need to"
                )


def _protects_storage(resource: DeclaredResource) -> Iterator[Verdict]:
    if not resource.protect:
        yield Verdict(
            "stateful storage can be deleted by an update; set protect in the resource's options"
        )


RULES: tuple[ResourceRule, ...] = (
    ResourceRule(
        "RES-001",
        "The instance metadata service requires tokens",
        frozenset({_LAUNCH_TEMPLATE, _INSTANCE}),
        _requires_imdsv2,
    ),
    ResourceRule(
        "RES-002",
        "Volumes are encrypted",
        frozenset({_LAUNCH_TEMPLATE, _INSTANCE}),
        _encrypts_volumes,
    ),
    ResourceRule(
        "RES-003",
        "No security group is open to the Internet",
        frozenset({_INGRESS, _GROUP}),
        _refuses_open_ingress,
    ),
    ResourceRule(
        "RES-004",
        "Stateful storage is protected",
        frozenset({_LUSTRE, _ELASTIC, _BUCKET}),
        _protects_storage,
    ),
)
"""The built-in rules."""
