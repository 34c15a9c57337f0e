"""Rules over the resources that a program really declares, whatever the blueprint says.

They hold for resources of any origin: a team's own code beside the stacks is judged as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from ipaddress import IPv4Network, IPv6Network, collapse_addresses, ip_network
from typing import Any, Literal

from rackwright.crossguard.decode import UNKNOWN


@dataclass(frozen=True)
class DeclaredResource:
    """A resource as the engine sees it before it is created.

    Attributes:
        protect: as the program set it in the options of the resource.
        has_templates: the program has declared launch templates before it, which are judged by themselves.
        group: security group that its rules belong to, by URN, id or name; empty if unknown.
    """

    type: str
    urn: str
    name: str
    inputs: dict[str, Any]
    protect: bool = False
    has_templates: bool = False
    group: str = ""


@dataclass(frozen=True)
class Verdict:
    """One violation, or one thing that cannot be decided; advice is told and blocks nothing."""

    message: str
    outcome: Literal["fail", "unknown"] = "fail"
    advice: bool = False


@dataclass(frozen=True)
class ResourceRule:
    """A rule over resources of some types; no types means all.

    Attributes:
        id: stable name, like ``RES-001``.
        check: yields a verdict for each violation and nothing when the resource is fine.
        check_together: yields violations of several resources of its types that none of them is by itself, each with one of them.
    """

    id: str
    title: str
    types: frozenset[str]
    check: Callable[[DeclaredResource], Iterator[Verdict]] = field(repr=False)
    mandatory: bool = True
    check_together: (
        Callable[[Sequence[DeclaredResource]], Iterator[tuple[DeclaredResource, Verdict]]] | None
    ) = field(default=None, repr=False)


TEMPLATES = frozenset({"aws:ec2/launchTemplate:LaunchTemplate", "aws-native:ec2:LaunchTemplate"})
_HOSTS = TEMPLATES | {
    "aws:ec2/instance:Instance",
    "aws:ec2/launchConfiguration:LaunchConfiguration",
    "aws:ec2/spotInstanceRequest:SpotInstanceRequest",
    "aws-native:ec2:Instance",
    "aws-native:autoscaling:LaunchConfiguration",
}
_MAPPED = TEMPLATES | {"aws-native:ec2:Instance", "aws-native:autoscaling:LaunchConfiguration"}
"""Hosts whose root volume is one of their mappings."""
_ENCRYPTED = {
    "aws:ebs/volume:Volume": ("the volume", "encrypted"),
    "aws:efs/fileSystem:FileSystem": ("the file system", "encrypted"),
    "aws:redshift/cluster:Cluster": ("the database", "encrypted"),
    **dict.fromkeys(
        (
            "aws:rds/instance:Instance",
            "aws:rds/cluster:Cluster",
            "aws:docdb/cluster:Cluster",
            "aws:neptune/cluster:Cluster",
            "aws-native:rds:DbInstance",
            "aws-native:rds:DbCluster",
        ),
        ("the database", "storageEncrypted"),
    ),
    "aws-native:ec2:Volume": ("the volume", "encrypted"),
    "aws-native:efs:FileSystem": ("the file system", "encrypted"),
}
"""Resources that hold data, with the noun of each and its input for encryption."""
_VOLUMES = frozenset({"aws:ebs/volume:Volume", "aws-native:ec2:Volume"})
_RULE = "aws:ec2/securityGroupRule:SecurityGroupRule"
GROUPS = {
    "aws:ec2/securityGroup:SecurityGroup": "ingress",
    "aws:ec2/defaultSecurityGroup:DefaultSecurityGroup": "ingress",
    "aws-native:ec2:SecurityGroup": "securityGroupIngress",
}
"""Groups with rules of their own, by the input that has them."""
_INGRESS = frozenset(
    {
        *GROUPS,
        _RULE,
        "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule",
        "aws-native:ec2:SecurityGroupIngress",
    }
)
_CIDRS = ("cidrIpv4", "cidrIpv6", "cidrIp", "cidrBlocks", "ipv6CidrBlocks")
_BUCKETS = ("aws:s3/bucket:Bucket", "aws:s3/bucketV2:BucketV2", "aws-native:s3:Bucket")
_STATEFUL = (frozenset(_ENCRYPTED) - _VOLUMES) | {
    "aws:fsx/lustreFileSystem:LustreFileSystem",
    "aws:fsx/ontapFileSystem:OntapFileSystem",
    "aws:fsx/openZfsFileSystem:OpenZfsFileSystem",
    "aws:fsx/windowsFileSystem:WindowsFileSystem",
    "aws-native:fsx:FileSystem",
    *_BUCKETS,
}
_WEB = frozenset({80, 443})
_LAST_PORT = 65535
_MOST_OPEN = {4: 2**28, 6: 2**112}
"""Public addresses from which on networks are the Internet, however they are written: sixteen /8, or one /16."""


def _items(value: Any) -> list[Any]:
    """Return the items of an optional list; an unknown list is one unknown item."""
    if value is UNKNOWN:
        return [UNKNOWN]
    return [] if value is None else list(value)


def _from_template(resource: DeclaredResource, key: str) -> bool:
    """Return True if a launch template sets a field that the resource leaves out."""
    return resource.inputs.get("launchTemplate") is not None and resource.inputs.get(key) is None


def _template_elsewhere(resource: DeclaredResource) -> Iterator[Verdict]:
    """Yield advice where the program has no launch template that the resource could take its fields from."""
    if not resource.has_templates:
        yield Verdict(
            "the launch template is not of this program, so what it sets is not known",
            "unknown",
            advice=True,
        )


def _requires_imdsv2(resource: DeclaredResource) -> Iterator[Verdict]:
    options = _settings(resource).get("metadataOptions")
    if _from_template(resource, "metadataOptions"):
        yield from _template_elsewhere(resource)
        return
    tokens = options.get("httpTokens") if isinstance(options, dict) else options
    if options is UNKNOWN or tokens is UNKNOWN:
        yield Verdict("whether the metadata service requires tokens is not known", "unknown")
    elif tokens != "required":
        yield Verdict(
            f"the instance metadata service accepts version 1 (httpTokens is {tokens!r}); "
            "set metadata_options.http_tokens to 'required'"
        )


def _settings(resource: DeclaredResource) -> dict[str, Any]:
    """Return the inputs that describe a host; those of a native launch template are one level down."""
    data = resource.inputs.get("launchTemplateData")
    return data if isinstance(data, dict) else resource.inputs


def _volumes(resource: DeclaredResource) -> Iterator[tuple[str, Any]]:
    if resource.type in _ENCRYPTED:
        name, key = _ENCRYPTED[resource.type]
        yield name, resource.inputs.get(key)
        return
    if resource.type in _MAPPED:
        mappings = _items(_settings(resource).get("blockDeviceMappings"))
        for mapping in mappings:
            if mapping is UNKNOWN or mapping.get("ebs") is UNKNOWN:
                yield "a volume", UNKNOWN
            elif mapping.get("ebs") is not None:
                yield str(mapping.get("deviceName")), mapping["ebs"].get("encrypted")
        if mappings or resource.type in TEMPLATES or resource.inputs.get("launchTemplate"):
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
    if resource.type in _HOSTS and _from_template(resource, "rootBlockDevice"):
        yield from _template_elsewhere(resource)
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
    found = list(_ingress(resource, web=web))
    yield from (one for one in found if isinstance(one, Verdict))
    yield from _joined([one for one in found if isinstance(one, _Entry)])


def _open_together(
    resources: Sequence[DeclaredResource], *, web: bool
) -> Iterator[tuple[DeclaredResource, Verdict]]:
    """Yield a verdict for each port that several resources of one security group open to the Internet together."""
    groups: dict[str, list[DeclaredResource]] = {}
    for resource in resources:
        if resource.group:
            groups.setdefault(resource.group, []).append(resource)
    for these in groups.values():
        entries = [
            one for each in these for one in _ingress(each, web=web) if isinstance(one, _Entry)
        ]
        for verdict in _joined(entries) if len(these) > 1 else ():
            shown = ", ".join(f"'{each.name}'" for each in these[:4])
            more = f" and {len(these) - 4:,} more" if len(these) > 4 else ""
            text = f"the rules of one security group in {shown}{more} are open together: {verdict.message}"
            yield these[0], Verdict(text)


def _ingress(resource: DeclaredResource, *, web: bool) -> Iterator[_Entry | Verdict]:
    """Yield the networks that may enter, and a verdict for each that is not known."""
    if resource.type == _RULE and resource.inputs.get("type") not in {"ingress", UNKNOWN}:
        return
    rules = (
        _items(resource.inputs.get(GROUPS[resource.type]))
        if resource.type in GROUPS
        else [resource.inputs]
    )
    for rule in rules:
        if rule is UNKNOWN:
            if not web:
                yield Verdict("the ingress rules are not known", "unknown")
            continue
        ports = (rule.get("fromPort"), rule.get("toPort"))
        protocol = str(rule.get("protocol", rule.get("ipProtocol", "-1"))).lower()
        if _is_web(ports, protocol) is not web:
            continue
        for key in _CIDRS:
            value = rule.get(key)
            for block in [value] if isinstance(value, str) else _items(value):
                if block is not UNKNOWN:
                    yield _entry(ports, protocol, block)
                elif not web:
                    yield Verdict("the network that may enter is not known", "unknown")


def _joined(entries: Sequence[_Entry]) -> Iterator[Verdict]:
    """Yield a verdict for each set of rules that share a port and are the Internet together."""
    told: set[int] = set()
    # Each set of rules that share a port shares the lowest port of one of them.
    for one in {(entry.protocol, entry.low): entry for entry in entries}.values():
        near = {at: other for at, other in enumerate(entries) if other.covers(one)}
        if near.keys() <= told:
            continue
        for version in (4, 6):
            found = _public([other.block for other in near.values()], version)
            if found and _size(found) >= _MOST_OPEN[version]:
                told |= near.keys()
                shown = ", ".join(map(str, found[:4]))
                yield Verdict(
                    f"the whole Internet ({shown}) may enter by {one}; name the networks that need to"
                )


@dataclass(frozen=True)
class _Entry:
    """Network that may enter, and the ports that it may enter by."""

    protocol: str
    low: int
    high: int
    block: str

    def covers(self, other: _Entry) -> bool:
        """Return True if the lowest port of another one is among its ports."""
        same = self.protocol in {other.protocol, "all"}
        return same and self.low <= other.low <= self.high

    def __str__(self) -> str:
        if self.protocol not in {"tcp", "udp"}:
            return "every port" if self.protocol == "all" else self.protocol
        ports = f"{self.low}" if self.low == self.high else f"{self.low}-{self.high}"
        return f"{self.protocol} port {ports}"


def _entry(ports: tuple[Any, Any], protocol: str, block: str) -> _Entry:
    """Return a network with its ports; all of them where the protocol has none, or they are not known."""
    name = {"-1": "all", "6": "tcp", "17": "udp"}.get(protocol, protocol)
    low, high = ports
    if name not in {"tcp", "udp"} or not isinstance(low, int) or not isinstance(high, int):
        low, high = 0, _LAST_PORT
    return _Entry(name, low, high, block)


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
    if resource.protect or resource.inputs.get("forceDestroy") is True:
        return
    if resource.type in _BUCKETS:  # S3 deletes no bucket that has objects
        text = "an update can delete the bucket once it is empty; set protect in the resource's options"
        yield Verdict(text, advice=True)
    else:
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
        _HOSTS | frozenset(_ENCRYPTED),
        _encrypts_volumes,
    ),
    ResourceRule(
        "RES-003",
        "No security group is open to the Internet",
        _INGRESS,
        _refuses_open_ingress,
        check_together=partial(_open_together, web=False),
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
        check_together=partial(_open_together, web=True),
    ),
)
"""The built-in rules."""
