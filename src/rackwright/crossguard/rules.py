"""Rules over the resources that a program really declares, whatever the blueprint says.

They hold for resources of any origin: a team's own code beside the stacks is judged as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from ipaddress import IPv4Network, IPv6Network, collapse_addresses, ip_network
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
_HOSTS = frozenset(
    {
        _LAUNCH_TEMPLATE,
        "aws:ec2/instance:Instance",
        "aws:ec2/launchConfiguration:LaunchConfiguration",
        "aws:ec2/spotInstanceRequest:SpotInstanceRequest",
    }
)
_VOLUME = "aws:ebs/volume:Volume"
_DATABASES = frozenset({"aws:rds/instance:Instance", "aws:rds/cluster:Cluster"})
_RULE = "aws:ec2/securityGroupRule:SecurityGroupRule"
_INLINE = frozenset(
    {
        "aws:ec2/securityGroup:SecurityGroup",
        "aws:ec2/defaultSecurityGroup:DefaultSecurityGroup",
    }
)
_INGRESS = frozenset({*_INLINE, _RULE, "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule"})
_STATEFUL = frozenset(
    {
        *_DATABASES,
        "aws:efs/fileSystem:FileSystem",
        "aws:fsx/lustreFileSystem:LustreFileSystem",
        "aws:fsx/ontapFileSystem:OntapFileSystem",
        "aws:fsx/openZfsFileSystem:OpenZfsFileSystem",
        "aws:fsx/windowsFileSystem:WindowsFileSystem",
        "aws:s3/bucket:Bucket",
        "aws:s3/bucketV2:BucketV2",
    }
)
_WEB = frozenset({80, 443})
_MOST_OPEN = {4: 2**28, 6: 2**112}
"""Public addresses from which on networks are the Internet, however they are written: sixteen /8, or one /16."""


def _items(value: Any) -> list[Any]:
    """Return the items of an optional list; an unknown list is one unknown item."""
    if value is UNKNOWN:
        return [UNKNOWN]
    return [] if value is None else list(value)


def _from_template(resource: DeclaredResource, key: str) -> bool:
    """Return True if a launch template sets a field that the resource leaves out; it is judged by itself."""
    return resource.inputs.get("launchTemplate") is not None and resource.inputs.get(key) is None


def _requires_imdsv2(resource: DeclaredResource) -> Iterator[Verdict]:
    options = resource.inputs.get("metadataOptions")
    if _from_template(resource, "metadataOptions"):
        return
    tokens = options.get("httpTokens") if isinstance(options, dict) else options
    if options is UNKNOWN or tokens is UNKNOWN:
        yield Verdict("whether the metadata service requires tokens is not known", "unknown")
    elif tokens != "required":
        yield Verdict(
            f"the instance metadata service accepts version 1 (httpTokens is {tokens!r}); "
            "set metadata_options.http_tokens to 'required'"
        )


def _volumes(resource: DeclaredResource) -> Iterator[tuple[str, Any]]:
    if resource.type == _VOLUME:
        yield "the volume", resource.inputs.get("encrypted")
        return
    if resource.type in _DATABASES:
        yield "the database", resource.inputs.get("storageEncrypted")
        return
    if resource.type == _LAUNCH_TEMPLATE:
        for mapping in _items(resource.inputs.get("blockDeviceMappings")):
            if mapping is UNKNOWN or mapping.get("ebs") is UNKNOWN:
                yield "a volume", UNKNOWN
            elif mapping.get("ebs") is not None:
                yield str(mapping.get("deviceName")), mapping["ebs"].get("encrypted")
        return
    if not _from_template(resource, "rootBlockDevice"):
        root = resource.inputs.get("rootBlockDevice") or {}
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
    """Yield a verdict for what the whole Internet may enter by, web ports aside."""
    yield from _open_ingress(resource, web=False)


def _tells_open_web_ports(resource: DeclaredResource) -> Iterator[Verdict]:
    """Yield a verdict for web ports that the whole Internet may enter by, which many programs mean."""
    yield from _open_ingress(resource, web=True)


def _open_ingress(resource: DeclaredResource, *, web: bool) -> Iterator[Verdict]:
    if resource.type == _RULE and resource.inputs.get("type") not in {"ingress", UNKNOWN}:
        return
    rules = (
        _items(resource.inputs.get("ingress")) if resource.type in _INLINE else [resource.inputs]
    )
    ranges: dict[tuple[Any, Any, str], list[str]] = {}
    for rule in rules:
        if rule is UNKNOWN:
            if not web:
                yield Verdict("the ingress rules are not known", "unknown")
            continue
        ports = (rule.get("fromPort"), rule.get("toPort"))
        protocol = str(rule.get("protocol", rule.get("ipProtocol", "-1"))).lower()
        if _is_web(ports, protocol) is not web:
            continue
        for key in ("cidrIpv4", "cidrIpv6", "cidrBlocks", "ipv6CidrBlocks"):
            value = rule.get(key)
            for block in [value] if isinstance(value, str) else _items(value):
                if block is not UNKNOWN:
                    ranges.setdefault((*ports, protocol), []).append(block)
                elif not web:
                    yield Verdict("the network that may enter is not known", "unknown")
    for blocks in ranges.values():
        for version in (4, 6):
            if (found := _public(blocks, version)) and _size(found) >= _MOST_OPEN[version]:
                shown = ", ".join(map(str, found[:4]))
                yield Verdict(
                    f"the whole Internet ({shown}) may enter; name the networks that need to"
                )


def _is_web(ports: tuple[Any, Any], protocol: str) -> bool:
    return ports[0] == ports[1] and ports[0] in _WEB and protocol in {"tcp", "6"}


def _public(blocks: Sequence[str], version: int) -> list[IPv4Network | IPv6Network]:
    """Return the public networks among some, joined where they are neighbours."""
    found = []
    for block in blocks:
        try:
            network = ip_network(block, strict=False)
        except ValueError:  # AWS refuses it
            continue
        if network.version == version and not network.is_private:
            found.append(network)
    return list(collapse_addresses(found))  # type: ignore[type-var]


def _size(networks: Iterable[IPv4Network | IPv6Network]) -> int:
    return sum(network.num_addresses for network in networks)


def _protects_storage(resource: DeclaredResource) -> Iterator[Verdict]:
    """Yield a verdict for storage that an update may delete; ``forceDestroy`` says that its content may go."""
    if not resource.protect and resource.inputs.get("forceDestroy") is not True:
        yield Verdict(
            "stateful storage can be deleted by an update; set protect in the resource's options"
        )


RULES: tuple[ResourceRule, ...] = (
    ResourceRule(
        "RES-001",
        "The instance metadata service requires tokens",
        _HOSTS,
        _requires_imdsv2,
    ),
    ResourceRule(
        "RES-002",
        "Volumes are encrypted",
        frozenset({*_HOSTS, *_DATABASES, _VOLUME}),
        _encrypts_volumes,
    ),
    ResourceRule(
        "RES-003",
        "No security group is open to the Internet",
        _INGRESS,
        _refuses_open_ingress,
    ),
    ResourceRule(
        "RES-004",
        "Stateful storage is protected",
        _STATEFUL,
        _protects_storage,
    ),
    ResourceRule(
        "RES-005",
        "Web ports are open to the Internet on purpose",
        _INGRESS,
        _tells_open_web_ports,
        mandatory=False,
    ),
)
"""The built-in rules."""
