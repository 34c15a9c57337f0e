"""Placement by kind of capacity, and the launch template of a node group as plain data.

What is built here is what is deployed: the stacks pass it to the provider unchanged, and policies
and tests look at the same dictionary.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from rackwright.model.aws_instances import AwsNodeGroup, AwsServer, CapacityBlock, Reservation, Spot
from rackwright.plan.aws.nic import Nic
from rackwright.plan.aws.user_data import encoded


@dataclass(frozen=True, slots=True)
class Placement:
    """Placement and capacity of the instances of a group."""

    group: Literal["none", "cluster", "existing"]
    """``cluster``: the cluster placement group that the stack makes."""
    group_name: str | None = None
    """Name of the existing placement group."""
    reservation: str | None = None
    """Capacity reservation or block to launch into, by id."""
    market: Literal["capacity-block", "spot"] | None = None


def placement(group: AwsNodeGroup) -> Placement:
    """Return the placement of ``group``: a rule of the kind of capacity, unless the group names its own.

    On-demand and spot nodes with EFA share a cluster placement group; a targeted reservation allows only
    the placement group that it was made in; a capacity block allows none.
    """
    capacity = group.capacity
    kind: Literal["none", "cluster", "existing"] = "none"
    name: str | None = None
    market: Literal["capacity-block", "spot"] | None = None
    if isinstance(capacity, (CapacityBlock, Spot)):
        market = capacity.kind
    if group.placement_group is not None:
        kind, name = "existing", group.placement_group
    elif capacity.kind == "reservation" and capacity.placement_group is not None:
        kind, name = "existing", capacity.placement_group
    elif capacity.kind in ("on-demand", "spot") and group.efa:
        kind = "cluster"
    return Placement(
        group=kind,
        group_name=name,
        reservation=capacity.id if isinstance(capacity, (Reservation, CapacityBlock)) else None,
        market=market,
    )


def required_group(group: AwsNodeGroup) -> Placement:
    """Return the placement that the kind of capacity demands, whatever the group names."""
    return placement(group.model_copy(update={"placement_group": None}))


@dataclass(frozen=True, slots=True)
class Wiring:
    """Ids that exist only once the network does; in a plan they are names that stand for them."""

    image: Any = "image"
    instance_profile: Any = "instance-profile"
    """ARN or name of a group's profile, as ``profile_by`` says; of servers the name."""
    profile_by: Literal["arn", "name"] = "arn"
    encryption_key: str | None = None
    """Key of root volumes; None for AWS's own."""
    user_data: str | None = None
    """What cloud-init does at the first boot."""
    key_pair: str | None = None
    """Key pair of EC2 with which the image's user is reached."""
    security_groups: tuple[Any, ...] = ("cluster",)
    placement_group: Any = "placement-group"


PLANNED = Wiring()
"""Stand-ins for looking at a launch template before anything exists."""

METADATA_OPTIONS: dict[str, Any] = {
    "http_endpoint": "enabled",
    "http_tokens": "required",
    "http_put_response_hop_limit": 1,
    "instance_metadata_tags": "enabled",
}
"""Instance metadata: version 2 only, and not beyond the instance unless its group says so."""


def network_interfaces(nics: tuple[Nic, ...], security_groups: tuple[Any, ...]) -> list[Any]:
    """Return the interfaces of a launch template, in the order of cards and devices."""
    return [
        {
            "network_card_index": nic.card,
            "device_index": nic.device,
            "interface_type": nic.kind,
            "security_groups": list(security_groups),
            "delete_on_termination": "true",
            "description": f"card {nic.card} device {nic.device} {nic.kind}",
        }
        for nic in nics
    ]


def root_volume(size: float, key: str | None = None) -> dict[str, Any]:
    """Return an encrypted gp3 root volume of ``size`` GiB, with a KMS key or AWS's own."""
    return {
        "volume_size": int(-(-size // 1)),
        "volume_type": "gp3",
        "encrypted": True,
        "delete_on_termination": True,
        **({} if key is None else {"kms_key_id": key}),
    }


def launch_template_args(
    group: AwsNodeGroup,
    nics: tuple[Nic, ...],
    *,
    name: str,
    tags: Mapping[str, str],
    wiring: Wiring = PLANNED,
) -> dict[str, Any]:
    """Return the whole launch template of ``group``.

    Args:
        group: the node group.
        nics: its interfaces, from ``nic_layout``.
        name: name of the template and of the instances.
        tags: tags of everything that the template makes.
        wiring: ids of what the template refers to.
    """
    placed = placement(group)
    template: dict[str, Any] = {
        "name": name,
        "description": group.type,
        "image_id": wiring.image,
        "instance_type": group.type,
        "update_default_version": True,
        "ebs_optimized": "true",
        "iam_instance_profile": {wiring.profile_by: wiring.instance_profile},
        "metadata_options": METADATA_OPTIONS | {"http_put_response_hop_limit": group.metadata_hops},
        "network_interfaces": network_interfaces(nics, wiring.security_groups),
        "block_device_mappings": [
            {
                "device_name": group.root_device,
                "ebs": {
                    key: str(value).lower() if isinstance(value, bool) else value
                    for key, value in root_volume(group.root_volume, wiring.encryption_key).items()
                },
            }
        ],
        "tag_specifications": [
            {"resource_type": kind, "tags": {**tags, "Name": name}}
            for kind in ("instance", "volume", "network-interface")
        ],
        "tags": dict(tags),
    }
    if wiring.user_data is not None:
        template["user_data"] = encoded(wiring.user_data)
    if wiring.key_pair is not None:
        template["key_name"] = wiring.key_pair
    if placed.group == "cluster":
        template["placement"] = {"group_name": wiring.placement_group}
    elif placed.group == "existing":
        template["placement"] = {"group_name": placed.group_name}
    if placed.reservation is not None:
        template["capacity_reservation_specification"] = {
            "capacity_reservation_target": {"capacity_reservation_id": placed.reservation}
        }
    if placed.market is not None:
        template["instance_market_options"] = {"market_type": placed.market}
    if isinstance(group.capacity, Spot):
        template["instance_market_options"]["spot_options"] = {
            "max_price": f"{group.capacity.max_price:f}",
            "spot_instance_type": "one-time",
            "instance_interruption_behavior": "terminate",
        }
    return template


def server_args(
    server: AwsServer,
    *,
    name: str,
    tags: Mapping[str, str],
    wiring: Wiring = PLANNED,
    public: bool = False,
    protected: bool = False,
) -> dict[str, Any]:
    """Return a head or login instance, its subnet aside.

    Args:
        server: what the blueprint says of it.
        name: name of the instance.
        tags: its tags.
        wiring: ids of what it refers to.
        public: it takes a public address.
        protected: EC2 ends it only after its protection is lifted.
    """
    return {
        "ami": wiring.image,
        "instance_type": server.type,
        "iam_instance_profile": wiring.instance_profile,
        "vpc_security_group_ids": list(wiring.security_groups),
        "associate_public_ip_address": public,
        "ebs_optimized": True,
        "metadata_options": dict(METADATA_OPTIONS),
        "root_block_device": {
            **root_volume(server.root_volume, wiring.encryption_key),
            "tags": {**tags, "Name": name},
        },
        "tags": {**tags, "Name": name},
        **({"disable_api_termination": True} if protected else {}),
        **({} if wiring.user_data is None else {"user_data": wiring.user_data}),
        **({} if wiring.key_pair is None else {"key_name": wiring.key_pair}),
    }


def settled_properties(server: AwsServer, *, kept: bool) -> list[str]:
    """Return the properties that an instance keeps from its launch, whatever the blueprint states later.

    Args:
        server: what the blueprint says of it.
        kept: its root volume holds data, so that no other instance may take its place.
    """
    # User data is for the first boot: a server that runs must not be stopped for another one.
    settled = ["userData"]
    # A parameter of an image moves with each release; the server must not be replaced by it.
    if kept or server.image.startswith("ssm:"):
        settled.append("ami")
    if kept:
        settled.append("keyName")
    return settled
