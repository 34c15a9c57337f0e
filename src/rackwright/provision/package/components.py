"""Components ``Network``, ``Storage`` and ``Nodes`` of a site on AWS, whose schema Pulumi's SDK infers from these classes.

The SDK reads the annotations as they are, so this module does not postpone them. Names of components, inputs and
outputs keep their meaning within a major version of Rackwright; an input that is added is optional.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NotRequired, TypedDict

import pulumi

from rackwright.components.cluster import Cluster, StackKind
from rackwright.provision.program import StackSource, declare_cluster, team_packs


class NetworkArgs(TypedDict):
    """Blueprint of the site."""

    blueprint: str
    """Path of the blueprint, relative to the folder of the program."""
    layers: NotRequired[list[str]]
    """Paths of layers over the blueprint, the last one on top. None if omitted."""
    site: NotRequired[str]
    """Name of the site on AWS. The only one of the blueprint if omitted."""
    protect: NotRequired[bool]
    """True to protect storage, and the network that it stands in, from deletion. True if omitted."""


class StorageArgs(NetworkArgs):
    """Blueprint of the site, and outputs of its ``Network``."""

    vpc_id: pulumi.Input[str]
    """Id of the VPC."""
    subnet_ids: pulumi.Input[dict[str, pulumi.Input[str]]]
    """Ids of subnets by name."""
    security_group_ids: pulumi.Input[dict[str, pulumi.Input[str]]]
    """Ids of security groups by name."""


class NodesArgs(StorageArgs):
    """Blueprint of the site, and outputs of its ``Network`` and ``Storage``."""

    dns_zone_id: pulumi.Input[str]
    """Id of the private zone."""
    data_volumes: NotRequired[pulumi.Input[dict[str, pulumi.Input[str]]]]
    """Ids of the data volumes of head nodes, by host name. None if omitted."""
    file_systems: NotRequired[pulumi.Input[dict[str, Any]]]
    """Settings with which hosts mount file systems of FSx for Lustre, by name. None if omitted."""
    efs: NotRequired[pulumi.Input[dict[str, Any]]]
    """Settings with which hosts mount file systems of EFS, by name. None if omitted."""


class Network(pulumi.ComponentResource):
    """VPC of a site: subnets, routes, endpoints, security groups and a private zone."""

    vpc_id: pulumi.Output[str]
    """Id of the VPC."""
    subnet_ids: pulumi.Output[dict[str, str]]
    """Ids of subnets by name."""
    security_group_ids: pulumi.Output[dict[str, str]]
    """Ids of security groups by name."""
    dns_zone_id: pulumi.Output[str]
    """Id of the private zone."""

    def __init__(
        self, name: str, args: NetworkArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__("rackwright-components:index:Network", name, {}, opts)
        _declare(
            self,
            "aws-network",
            args,
            ("vpc_id", "subnet_ids", "security_group_ids", "dns_zone_id"),
        )


class Storage(pulumi.ComponentResource):
    """File systems and data volumes of a site."""

    file_systems: pulumi.Output[dict[str, Any]]
    """Settings with which hosts mount file systems of FSx for Lustre, by name."""
    efs: pulumi.Output[dict[str, Any]]
    """Settings with which hosts mount file systems of EFS, by name."""
    data_volumes: pulumi.Output[dict[str, str]]
    """Ids of the data volumes of head nodes, by host name."""

    def __init__(
        self, name: str, args: StorageArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__("rackwright-components:index:Storage", name, {}, opts)
        _declare(self, "aws-storage", args, ("file_systems", "efs", "data_volumes"))


class Nodes(pulumi.ComponentResource):
    """Head and login nodes and the node groups of a site."""

    servers: pulumi.Output[dict[str, Any]]
    """Addresses and instances of head and login nodes."""
    node_groups: pulumi.Output[dict[str, Any]]
    """Auto Scaling group and launch template of each node group."""

    def __init__(
        self, name: str, args: NodesArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__("rackwright-components:index:Nodes", name, {}, opts)
        _declare(self, "aws-cluster", args, ("servers", "node_groups"))


COMPONENTS: list[type[pulumi.ComponentResource]] = [Network, Storage, Nodes]


def _declare(
    component: pulumi.ComponentResource,
    kind: StackKind,
    args: Mapping[str, Any],
    outputs: tuple[str, ...],
) -> None:
    """Declare the resources of ``kind`` below a component, and set its outputs.

    Raises:
        RefusedError: the blueprint does not pass; no resource was declared.
    """
    blueprint = Path(args["blueprint"]).absolute()
    source = StackSource(
        blueprint=blueprint,
        layers=tuple(Path(layer).absolute() for layer in args.get("layers") or ()),
        site=args.get("site"),
        protect=args.get("protect") is not False,
        packs=team_packs(blueprint, ()),
    )

    def lookup(_kind: StackKind, name: str) -> pulumi.Output[Any]:
        return pulumi.Output.from_input(args.get(name) or {})

    cluster: Cluster = declare_cluster(
        kind, source, lookup, opts=pulumi.ResourceOptions(parent=component)
    )
    found = {name: pulumi.Output.from_input(cluster.exports.get(name, {})) for name in outputs}
    for name, value in found.items():
        setattr(component, name, value)
    component.register_outputs(found)
