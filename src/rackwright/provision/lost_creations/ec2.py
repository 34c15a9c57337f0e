"""Finding what EC2 has made: by the tags of the stack program, by name, or by what it joins."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from rackwright.provision.aws.cloud import Cloud
from rackwright.provision.lost_creations.creation import (
    Finder,
    FoundResource,
    LostCreation,
    UnclearError,
    carries,
    own,
    tags_of,
)

_GONE = frozenset(
    {"deleted", "deleting", "terminated", "shutting-down", "cancelled", "failed", "expired"}
)
_MAKING = frozenset({"pending", "creating"})
_WILDCARDS = re.compile(r"([*?\\])")


@dataclass(frozen=True, slots=True)
class Tagged:
    """A kind of resource that is told from others by its tags.

    Attributes:
        operation: call that describes them.
        items: key of the answer that lists them.
        key: key of an item with its id.
        scope: filters by inputs: where it stands.
        filters: name of the argument that takes filters.
        by_tag: the call knows filters by tag.
    """

    operation: str
    items: str
    key: str
    scope: Mapping[str, str] = field(default_factory=dict)
    filters: str = "Filters"
    by_tag: bool = True

    def __call__(self, cloud: Cloud, lost: LostCreation) -> list[FoundResource]:
        """Return the living resources of this kind that have all tags and stand where they should.

        Raises:
            UnclearError: the creation gives no tags.
        """
        if not lost.tags:
            raise UnclearError(
                "it gets no tags by which it could be told from others",
                "give it a tag 'Name', or look for it in AWS and remove it if it is there",
            )
        wanted = [
            {"Name": name, "Values": [lost.inputs[given]]}
            for given, name in self.scope.items()
            if lost.inputs.get(given)
        ]
        if self.by_tag:
            key = "Name" if "Name" in lost.tags else min(lost.tags)
            wanted.append({"Name": f"tag:{key}", "Values": [_literal(lost.tags[key])]})
        arguments = {self.filters: wanted} if wanted else {}
        described = cloud.listed("ec2", self.operation, self.items, **arguments)
        return [
            FoundResource(str(one[self.key]), making=_state(one) in _MAKING)
            for one in _each(described)
            if carries(tags_of(one), lost.tags) and _state(one) not in _GONE
        ]


def _each(described: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the items; instances come in reservations."""
    for one in described:
        yield from one.get("Instances", (one,))


def _literal(value: str) -> str:
    """Return a value of a filter that stands for itself."""
    return _WILDCARDS.sub(r"\\\1", value)


def _state(item: Mapping[str, Any]) -> str:
    state = item.get("State") or item.get("FlowLogStatus") or ""
    return str(state.get("Name", "") if isinstance(state, Mapping) else state).lower()


_IN_VPC = {"vpcId": "vpc-id"}
_RESERVATION = (
    "describe_capacity_reservations",
    "CapacityReservations",
    "CapacityReservationId",
)


def placement_group(cloud: Cloud, lost: LostCreation) -> list[FoundResource]:
    """Return the placement group of the name."""
    name = lost.inputs["name"]
    told = cloud.call(
        "ec2",
        "describe_placement_groups",
        missing=("InvalidPlacementGroup.Unknown",),
        GroupNames=[name],
    )
    found = [one for one in (told or {}).get("PlacementGroups", ()) if _state(one) not in _GONE]
    return own(lost, name, tags_of(found[0])) if found else []


def launch_template(cloud: Cloud, lost: LostCreation) -> list[FoundResource]:
    """Return the launch template of the name."""
    told = cloud.call(
        "ec2",
        "describe_launch_templates",
        missing=(
            "InvalidLaunchTemplateName.NotFoundException",
            "InvalidLaunchTemplateName.NotFound",
        ),
        LaunchTemplateNames=[lost.inputs["name"]],
    )
    found = (told or {}).get("LaunchTemplates", ())
    return own(lost, found[0]["LaunchTemplateId"], tags_of(found[0])) if found else []


_DESTINATIONS = {
    "destinationCidrBlock": "DestinationCidrBlock",
    "destinationIpv6CidrBlock": "DestinationIpv6CidrBlock",
    "destinationPrefixListId": "DestinationPrefixListId",
}
_TARGETS = {
    "carrierGatewayId": "CarrierGatewayId",
    "coreNetworkArn": "CoreNetworkArn",
    "egressOnlyGatewayId": "EgressOnlyInternetGatewayId",
    "gatewayId": "GatewayId",
    "localGatewayId": "LocalGatewayId",
    "natGatewayId": "NatGatewayId",
    "networkInterfaceId": "NetworkInterfaceId",
    "transitGatewayId": "TransitGatewayId",
    "vpcEndpointId": "GatewayId",
    "vpcPeeringConnectionId": "VpcPeeringConnectionId",
}


def route_id(table: str, destination: str) -> str:
    """Return the id of a route as the AWS provider makes it: its table and the CRC-32 of its destination."""
    return f"r-{table}{zlib.crc32(destination.encode())}"


def route(cloud: Cloud, lost: LostCreation) -> list[FoundResource]:
    """Return the route of the table to the destination.

    Raises:
        UnclearError: the table sends what goes there somewhere else.
    """
    table = lost.inputs["routeTableId"]
    given, destination = next(
        (name, lost.inputs[name]) for name in _DESTINATIONS if lost.inputs.get(name)
    )
    wanted = {api: lost.inputs[name] for name, api in _TARGETS.items() if lost.inputs.get(name)}
    for one in _route_table(cloud, table).get("Routes", ()):
        if one.get(_DESTINATIONS[given]) != destination:
            continue
        if all(one.get(api) == value for api, value in wanted.items()):
            return [FoundResource(route_id(table, destination))]
        held = ", ".join(str(one[api]) for api in sorted(set(_TARGETS.values())) if one.get(api))
        raise UnclearError(
            f"'{table}' has a route to {destination} through {held or 'something else'}, and not "
            f"through {', '.join(map(str, wanted.values()))}",
            f"remove that route: aws ec2 delete-route --route-table-id {table}",
        )
    return []


def route_table_association(cloud: Cloud, lost: LostCreation) -> list[FoundResource]:
    """Return the association of the subnet or gateway with a route table.

    Raises:
        UnclearError: it has another route table.
    """
    given = "subnetId" if lost.inputs.get("subnetId") else "gatewayId"
    name, key = {
        "subnetId": ("association.subnet-id", "SubnetId"),
        "gatewayId": ("association.gateway-id", "GatewayId"),
    }[given]
    joined, table = lost.inputs[given], lost.inputs["routeTableId"]
    filters = [{"Name": name, "Values": [joined]}]
    for held in cloud.listed("ec2", "describe_route_tables", "RouteTables", Filters=filters):
        for one in held["Associations"]:
            if one.get(key) != joined:
                continue
            identity = one["RouteTableAssociationId"]
            if held["RouteTableId"] == table:
                return [FoundResource(identity)]
            raise UnclearError(
                f"'{joined}' has the route table '{held['RouteTableId']}' by '{identity}', and not "
                f"'{table}'",
                f"end it: aws ec2 disassociate-route-table --association-id {identity}",
            )
    return []


def _route_table(cloud: Cloud, table: str) -> dict[str, Any]:
    told = cloud.call(
        "ec2",
        "describe_route_tables",
        missing=("InvalidRouteTableID.NotFound",),
        RouteTableIds=[table],
    )
    found: dict[str, Any] = ((told or {}).get("RouteTables") or [{}])[0]
    return found


_ANY = "-1"
_PEERS = {"cidrIpv4": "CidrIpv4", "cidrIpv6": "CidrIpv6", "prefixListId": "PrefixListId"}


def ingress_rule(cloud: Cloud, lost: LostCreation) -> list[FoundResource]:
    """Return the rule of the group that lets the same in."""
    return _rules(cloud, lost, egress=False)


def egress_rule(cloud: Cloud, lost: LostCreation) -> list[FoundResource]:
    """Return the rule of the group that lets the same out."""
    return _rules(cloud, lost, egress=True)


def _rules(cloud: Cloud, lost: LostCreation, *, egress: bool) -> list[FoundResource]:
    """Return the rules that allow the same: a group has no two of them, and one without tags is its own."""
    group = lost.inputs["securityGroupId"]
    wanted = (egress, *_allowed(lost.inputs))
    found: list[FoundResource] = []
    for one in rules_of(cloud, group):
        given = {name: one.get(api) for name, api in _PEERS.items()}
        peer = (one.get("ReferencedGroupInfo") or {}).get("GroupId")
        said = {
            **given,
            "ipProtocol": one["IpProtocol"],
            "fromPort": one.get("FromPort"),
            "toPort": one.get("ToPort"),
            "referencedSecurityGroupId": peer,
        }
        if (one["IsEgress"], *_allowed(said)) == wanted:
            identity, tags = one["SecurityGroupRuleId"], tags_of(one)
            found += own(lost, identity, tags) if tags else [FoundResource(identity)]
    return found


def rules_of(cloud: Cloud, group: str) -> Iterator[dict[str, Any]]:
    """Yield the rules of a security group, as AWS tells them."""
    wanted = [{"Name": "group-id", "Values": [group]}]
    return cloud.listed(
        "ec2", "describe_security_group_rules", "SecurityGroupRules", Filters=wanted
    )


def _allowed(rule: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return the protocol, ports and peer that a rule allows."""
    protocol = str(rule["ipProtocol"]).lower()
    protocol = _ANY if protocol == "all" else protocol
    ports = (None, None) if protocol == _ANY else (rule.get("fromPort"), rule.get("toPort"))
    peer = str(rule.get("referencedSecurityGroupId") or "").rsplit("/", 1)[-1]
    return (protocol, *ports, peer, *(rule.get(name) or None for name in _PEERS))


def volume_attachment(cloud: Cloud, lost: LostCreation) -> list[FoundResource]:
    """Return the attachment of the volume to the instance.

    Raises:
        UnclearError: the volume is attached elsewhere.
    """
    volume, instance, device = (
        lost.inputs[name] for name in ("volumeId", "instanceId", "deviceName")
    )
    told = cloud.call(
        "ec2", "describe_volumes", missing=("InvalidVolume.NotFound",), VolumeIds=[volume]
    )
    for one in ((told or {}).get("Volumes") or [{}])[0].get("Attachments", ()):
        if one.get("State") in {"detaching", "detached"}:
            continue
        if (one["InstanceId"], one["Device"]) == (instance, device):
            # As the AWS provider makes it.
            digest = zlib.crc32(f"{device}-{instance}-{volume}-".encode())
            return [FoundResource(f"vai-{digest}", making=one.get("State") == "attaching")]
        raise UnclearError(
            f"'{volume}' is attached to '{one['InstanceId']}' as {one['Device']}, and not to "
            f"'{instance}' as {device}",
            f"detach it: aws ec2 detach-volume --volume-id {volume}",
        )
    return []


FINDERS: Mapping[str, Finder] = {
    "aws:ebs/volume:Volume": Tagged("describe_volumes", "Volumes", "VolumeId"),
    "aws:ec2/capacityBlockReservation:CapacityBlockReservation": Tagged(*_RESERVATION),
    "aws:ec2/capacityReservation:CapacityReservation": Tagged(*_RESERVATION),
    "aws:ec2/eip:Eip": Tagged("describe_addresses", "Addresses", "AllocationId"),
    "aws:ec2/flowLog:FlowLog": Tagged(
        "describe_flow_logs",
        "FlowLogs",
        "FlowLogId",
        {"vpcId": "resource-id", "subnetId": "resource-id", "eniId": "resource-id"},
        filters="Filter",
    ),
    "aws:ec2/instance:Instance": Tagged(
        "describe_instances", "Reservations", "InstanceId", {"subnetId": "subnet-id"}
    ),
    "aws:ec2/internetGateway:InternetGateway": Tagged(
        "describe_internet_gateways", "InternetGateways", "InternetGatewayId"
    ),
    "aws:ec2/launchTemplate:LaunchTemplate": launch_template,
    "aws:ec2/natGateway:NatGateway": Tagged(
        "describe_nat_gateways",
        "NatGateways",
        "NatGatewayId",
        {"subnetId": "subnet-id"},
        filters="Filter",
    ),
    "aws:ec2/placementGroup:PlacementGroup": placement_group,
    "aws:ec2/route:Route": route,
    "aws:ec2/routeTable:RouteTable": Tagged(
        "describe_route_tables", "RouteTables", "RouteTableId", _IN_VPC
    ),
    "aws:ec2/routeTableAssociation:RouteTableAssociation": route_table_association,
    "aws:ec2/securityGroup:SecurityGroup": Tagged(
        "describe_security_groups", "SecurityGroups", "GroupId", _IN_VPC
    ),
    "aws:ec2/subnet:Subnet": Tagged("describe_subnets", "Subnets", "SubnetId", _IN_VPC),
    "aws:ec2/volumeAttachment:VolumeAttachment": volume_attachment,
    "aws:ec2/vpc:Vpc": Tagged("describe_vpcs", "Vpcs", "VpcId"),
    "aws:ec2/vpcDhcpOptions:VpcDhcpOptions": Tagged(
        "describe_dhcp_options", "DhcpOptions", "DhcpOptionsId", by_tag=False
    ),
    "aws:ec2/vpcEndpoint:VpcEndpoint": Tagged(
        "describe_vpc_endpoints",
        "VpcEndpoints",
        "VpcEndpointId",
        {**_IN_VPC, "serviceName": "service-name"},
    ),
    "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule": egress_rule,
    "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule": ingress_rule,
}
"""What finds each type."""

REPEATED = frozenset(
    {
        "aws:ec2/defaultSecurityGroup:DefaultSecurityGroup",
        "aws:ec2/vpcDhcpOptionsAssociation:VpcDhcpOptionsAssociation",
        "aws:ec2transitgateway/instanceState:InstanceState",
    }
)
"""Types that AWS takes twice without harm."""
