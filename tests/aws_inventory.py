"""What exists in AWS, counted by type: what is there twice or not at all shows as a number."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any

Client = Callable[[str], Any]
"""Makes the client of a service."""

_GONE = frozenset({"deleted", "deleting", "terminated", "shutting-down"})
_EC2 = {
    "describe_addresses": "Addresses",
    "describe_capacity_reservations": "CapacityReservations",
    "describe_dhcp_options": "DhcpOptions",
    "describe_flow_logs": "FlowLogs",
    "describe_internet_gateways": "InternetGateways",
    "describe_launch_templates": "LaunchTemplates",
    "describe_nat_gateways": "NatGateways",
    "describe_network_interfaces": "NetworkInterfaces",
    "describe_placement_groups": "PlacementGroups",
    "describe_route_tables": "RouteTables",
    "describe_security_group_rules": "SecurityGroupRules",
    "describe_security_groups": "SecurityGroups",
    "describe_subnets": "Subnets",
    "describe_volumes": "Volumes",
    "describe_vpc_endpoints": "VpcEndpoints",
    "describe_vpcs": "Vpcs",
}
_SERVICES = (
    ("autoscaling", "describe_auto_scaling_groups", "AutoScalingGroups"),
    ("fsx", "describe_data_repository_associations", "Associations"),
    ("fsx", "describe_file_systems", "FileSystems"),
    ("iam", "list_instance_profiles", "InstanceProfiles"),
    ("kms", "list_aliases", "Aliases"),
    ("kms", "list_keys", "Keys"),
    ("logs", "describe_log_groups", "logGroups"),
    ("s3", "list_buckets", "Buckets"),
    ("ssm", "describe_parameters", "Parameters"),
)


def count_resources(client: Client) -> Counter[str]:
    """How many there are of each type, those that were there before the first run included."""
    return Counter(name for name, _item in _everything(client))


def _everything(client: Client) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for operation, items in _EC2.items():
        for item in _pages(client("ec2"), operation, items):
            yield items, item
            for part in ("Routes", "Associations", "Attachments"):
                yield from ((f"{part} of {items}", one) for one in item.get(part, ()))
    for reservation in _pages(client("ec2"), "describe_instances", "Reservations"):
        yield from (("Instances", one) for one in reservation["Instances"] if _lives(one))
    for template in _pages(client("ec2"), "describe_launch_templates", "LaunchTemplates"):
        versions = client("ec2").describe_launch_template_versions(
            LaunchTemplateId=template["LaunchTemplateId"]
        )["LaunchTemplateVersions"]
        yield from (("LaunchTemplateVersions", one) for one in versions)
    for service, operation, items in _SERVICES:
        yield from ((items, one) for one in _pages(client(service), operation, items))
    yield from _identities(client("iam"))
    for zone in _pages(client("route53"), "list_hosted_zones", "HostedZones"):
        yield "HostedZones", zone
        records = client("route53").list_resource_record_sets(HostedZoneId=zone["Id"])
        yield from (("ResourceRecordSets", one) for one in records["ResourceRecordSets"])


def _identities(iam: Any) -> Iterator[tuple[str, Mapping[str, Any]]]:
    yield from (("Policies", one) for one in iam.list_policies(Scope="Local")["Policies"])
    for role in _pages(iam, "list_roles", "Roles"):
        yield "Roles", role
        name = role["RoleName"]
        inline = iam.list_role_policies(RoleName=name)["PolicyNames"]
        yield from (("policies in Roles", {"name": one}) for one in inline)
        attached = iam.list_attached_role_policies(RoleName=name)["AttachedPolicies"]
        yield from (("policies of Roles", one) for one in attached)


def _pages(client: Any, operation: str, items: str) -> Iterator[Mapping[str, Any]]:
    pages = (
        client.get_paginator(operation).paginate()
        if client.can_paginate(operation)
        else (getattr(client, operation)(),)
    )
    for page in pages:
        yield from filter(_lives, page.get(items, ()))


def _lives(item: Mapping[str, Any]) -> bool:
    state = item.get("State", "")
    return str(state.get("Name", "") if isinstance(state, dict) else state) not in _GONE
