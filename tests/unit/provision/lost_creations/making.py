"""Resources made in AWS by the calls that AWS's own provider makes for the inputs of a program.

An input is the argument of its name, in the shape that botocore knows of the operation; what the
provider names or builds otherwise stands in a table.
"""

from __future__ import annotations

import re
import uuid
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

Given = Mapping[str, Any]

_TOKENS = ("CallerReference", "ClientRequestToken", "ClientToken", "CreationToken")
"""Arguments by which AWS knows a call that is repeated."""
_TAGS = ({"Key", "Value"}, {"TagKey", "TagValue"})


@dataclass(frozen=True, slots=True)
class Making:
    """The call that makes a resource.

    Attributes:
        identity: the id that the provider gives it, of ``given`` inputs and the keys of the answer.
        kind: what its tags in ``TagSpecifications`` are for; others get theirs as ``Tags``.
        named: arguments by the inputs that they have another name than.
        inner: argument that takes what the operation itself does not.
        fixed: arguments that are no inputs.
        later: inputs of calls that come after it.
        built: inputs in the form of the operation, made with the client of the service.
    """

    service: str
    operation: str
    identity: str | Callable[[Given, Any], str]
    kind: str = ""
    named: Mapping[str, str] = field(default_factory=dict)
    inner: str = ""
    fixed: Mapping[str, Any] = field(default_factory=dict)
    later: frozenset[str] = frozenset()
    built: Callable[[Any, Given], Given] = lambda _, given: given


def make(client: Callable[[str], Any], token: str, inputs: Given) -> str:
    """The id of a resource, made by the first call alone that makes it.

    A hosted zone gets its tags too, which take a call of their own.

    Args:
        client: the client of a service.
        token: the resource's type.
        inputs: as a program gives them.
    """
    making = _MAKINGS[token]
    speaks = client(making.service)
    called = speaks.meta.method_to_api_mapping[making.operation]
    shape = speaks.meta.service_model.operation_model(called).input_shape
    built = making.built(speaks, inputs)
    answer = getattr(speaks, making.operation)(**_arguments(making, shape, built))
    if isinstance(making.identity, str):
        identity = making.identity.format(given=inputs, **answer)
    else:
        identity = making.identity(inputs, answer)
    if token == _ZONE and inputs.get("tags"):
        speaks.change_tags_for_resource(
            ResourceType="hostedzone", ResourceId=identity, AddTags=_tag_list(inputs["tags"])
        )
    return identity


def _arguments(making: Making, shape: Any, built: Given) -> dict[str, Any]:
    """The arguments of the call; what is None is left out."""
    given = {name: one for name, one in built.items() if name not in making.later}
    named = {making.named.get(name, name): one for name, one in given.items() if one is not None}
    if making.kind and (tags := named.pop("tags", None)):
        named["tagSpecifications"] = {"resourceType": making.kind, "tags": tags}
    own = {name.lower() for name in shape.members}
    if making.inner:
        inside = {name: named.pop(name) for name in list(named) if name.lower() not in own}
        if inside:
            named[making.inner] = inside
    unique = {name: uuid.uuid4().hex for name in _TOKENS if name in shape.members}
    shaped: dict[str, Any] = _shaped(named, shape)
    return {**unique, **making.fixed, **shaped}


def _shaped(value: Any, shape: Any) -> Any:
    """A value as AWS wants it: members by their names, one of a list as a list, tags as pairs."""
    if shape.type_name == "structure":
        names = {name.lower(): name for name in shape.members}
        pairs = ((names[key.lower()], one) for key, one in value.items())
        return {name: _shaped(one, shape.members[name]) for name, one in pairs}
    if shape.type_name == "list":
        if isinstance(value, Mapping) and set(getattr(shape.member, "members", ())) in _TAGS:
            return _tag_list(value, *sorted(shape.member.members))
        values = value if isinstance(value, list) else [value]
        return [_shaped(one, shape.member) for one in values]
    return value


def _tag_list(tags: Given, key: str = "Key", value: str = "Value") -> list[dict[str, Any]]:
    return [{key: name, value: text} for name, text in tags.items()]


def _digest(text: str) -> int:
    """The CRC-32 of a text, of which the provider makes ids."""
    return zlib.crc32(text.encode())


def _group(_: Any, given: Given) -> Given:
    template = given["launchTemplate"]
    own = {"resourceId": given["name"], "resourceType": "auto-scaling-group"}
    return {
        **{key: value for key, value in given.items() if key != "vpcZoneIdentifiers"},
        "launchTemplate": {"launchTemplateId": template["id"], "version": template["version"]},
        "vpcZoneIdentifier": ",".join(given["vpcZoneIdentifiers"]),
        "tags": [{**own, **one} for one in given["tags"]],
    }


def _dhcp(_: Any, given: Given) -> Given:
    options = [
        {"key": re.sub(r"([A-Z])", r"-\1", name).lower(), "values": value}
        for name, value in given.items()
        if name != "tags"
    ]
    return {"dhcpConfigurations": options, "tags": given.get("tags")}


def _flow_log(_: Any, given: Given) -> Given:
    rest = {key: value for key, value in given.items() if key != "vpcId"}
    return {**rest, "resourceIds": [given["vpcId"]], "resourceType": "VPC"}


def _rule(_: Any, given: Given) -> Given:
    peers = {
        "cidrIpv4": ("ipRanges", "cidrIp"),
        "cidrIpv6": ("ipv6Ranges", "cidrIpv6"),
        "prefixListId": ("prefixListIds", "prefixListId"),
        "referencedSecurityGroupId": ("userIdGroupPairs", "groupId"),
    }
    (peer,) = peers.keys() & given.keys()
    list_name, member = peers[peer]
    ports = {key: given[key] for key in ("fromPort", "toPort") if key in given}
    permission = {"ipProtocol": given["ipProtocol"], **ports, list_name: {member: given[peer]}}
    return {
        "groupId": given["securityGroupId"],
        "ipPermissions": permission,
        "tags": given.get("tags"),
    }


def _record(route53: Any, given: Given) -> Given:
    zone = route53.get_hosted_zone(Id=given["zoneId"])["HostedZone"]["Name"].removesuffix(".")
    name = _plain_name(given)
    record = {
        "name": name if name.endswith(zone) else f"{name}.{zone}",
        "type": given["type"],
        "ttl": given.get("ttl", 60),
        "resourceRecords": [{"value": one} for one in given["records"]],
    }
    changes = {"action": "CREATE", "resourceRecordSet": record}
    return {"hostedZoneId": given["zoneId"], "changeBatch": {"changes": changes}}


def _plain_name(given: Given) -> str:
    return str(given["name"]).removesuffix(".").lower()


def _zone(_: Any, given: Given) -> Given:
    networks = [{"vpcRegion": "us-east-1", **one} for one in given.get("vpcs") or ()]
    return {
        "name": given["name"],
        "hostedZoneConfig": {"comment": given.get("comment", "Managed by Terraform")},
        "vpc": networks[0] if networks else None,
    }


_ZONE = "aws:route53/zone:Zone"
_NAME = "{given[name]}"
_RULE = Making(
    "ec2",
    "authorize_security_group_ingress",
    "{SecurityGroupRules[0][SecurityGroupRuleId]}",
    "security-group-rule",
    built=_rule,
)
_MAKINGS: Mapping[str, Making] = {
    "aws:autoscaling/group:Group": Making(
        "autoscaling",
        "create_auto_scaling_group",
        _NAME,
        named={"name": "autoScalingGroupName"},
        built=_group,
    ),
    "aws:cloudwatch/logGroup:LogGroup": Making(
        "logs", "create_log_group", _NAME, named={"name": "logGroupName"}
    ),
    "aws:dlm/lifecyclePolicy:LifecyclePolicy": Making(
        "dlm", "create_lifecycle_policy", "{PolicyId}", fixed={"State": "ENABLED"}
    ),
    "aws:ebs/volume:Volume": Making(
        "ec2", "create_volume", "{VolumeId}", "volume", {"type": "volumeType"}
    ),
    "aws:ec2/capacityBlockReservation:CapacityBlockReservation": Making(
        "ec2",
        "purchase_capacity_block",
        "{CapacityReservation[CapacityReservationId]}",
        "capacity-reservation",
    ),
    "aws:ec2/capacityReservation:CapacityReservation": Making(
        "ec2",
        "create_capacity_reservation",
        "{CapacityReservation[CapacityReservationId]}",
        "capacity-reservation",
        fixed={"EndDateType": "unlimited"},
    ),
    "aws:ec2/eip:Eip": Making("ec2", "allocate_address", "{AllocationId}", "elastic-ip"),
    "aws:ec2/flowLog:FlowLog": Making(
        "ec2", "create_flow_logs", "{FlowLogIds[0]}", "vpc-flow-log", built=_flow_log
    ),
    "aws:ec2/instance:Instance": Making(
        "ec2",
        "run_instances",
        "{Instances[0][InstanceId]}",
        "instance",
        {"ami": "imageId"},
        fixed={"MinCount": 1, "MaxCount": 1},
    ),
    "aws:ec2/internetGateway:InternetGateway": Making(
        "ec2",
        "create_internet_gateway",
        "{InternetGateway[InternetGatewayId]}",
        "internet-gateway",
        later=frozenset({"vpcId"}),
    ),
    "aws:ec2/launchTemplate:LaunchTemplate": Making(
        "ec2",
        "create_launch_template",
        "{LaunchTemplate[LaunchTemplateId]}",
        "launch-template",
        {"name": "launchTemplateName", "description": "versionDescription"},
        inner="LaunchTemplateData",
    ),
    "aws:ec2/natGateway:NatGateway": Making(
        "ec2", "create_nat_gateway", "{NatGateway[NatGatewayId]}", "natgateway"
    ),
    "aws:ec2/placementGroup:PlacementGroup": Making(
        "ec2", "create_placement_group", _NAME, "placement-group", {"name": "groupName"}
    ),
    "aws:ec2/route:Route": Making(
        "ec2",
        "create_route",
        lambda given, _: f"r-{given['routeTableId']}{_digest(given['destinationCidrBlock'])}",
    ),
    "aws:ec2/routeTable:RouteTable": Making(
        "ec2", "create_route_table", "{RouteTable[RouteTableId]}", "route-table"
    ),
    "aws:ec2/routeTableAssociation:RouteTableAssociation": Making(
        "ec2", "associate_route_table", "{AssociationId}"
    ),
    "aws:ec2/securityGroup:SecurityGroup": Making(
        "ec2",
        "create_security_group",
        "{GroupId}",
        "security-group",
        {"name": "groupName"},
        fixed={"Description": "Managed by Terraform"},
    ),
    "aws:ec2/subnet:Subnet": Making("ec2", "create_subnet", "{Subnet[SubnetId]}", "subnet"),
    "aws:ec2/volumeAttachment:VolumeAttachment": Making(
        "ec2",
        "attach_volume",
        lambda given, _: f"vai-{_digest('{deviceName}-{instanceId}-{volumeId}-'.format(**given))}",
        named={"deviceName": "device"},
    ),
    "aws:ec2/vpc:Vpc": Making(
        "ec2", "create_vpc", "{Vpc[VpcId]}", "vpc", fixed={"InstanceTenancy": "default"}
    ),
    "aws:ec2/vpcDhcpOptions:VpcDhcpOptions": Making(
        "ec2", "create_dhcp_options", "{DhcpOptions[DhcpOptionsId]}", "dhcp-options", built=_dhcp
    ),
    "aws:ec2/vpcEndpoint:VpcEndpoint": Making(
        "ec2",
        "create_vpc_endpoint",
        "{VpcEndpoint[VpcEndpointId]}",
        "vpc-endpoint",
        fixed={"VpcEndpointType": "Gateway", "PrivateDnsEnabled": False},
    ),
    "aws:efs/fileSystem:FileSystem": Making("efs", "create_file_system", "{FileSystemId}"),
    "aws:efs/mountTarget:MountTarget": Making("efs", "create_mount_target", "{MountTargetId}"),
    "aws:fsx/dataRepositoryAssociation:DataRepositoryAssociation": Making(
        "fsx", "create_data_repository_association", "{Association[AssociationId]}"
    ),
    "aws:fsx/lustreFileSystem:LustreFileSystem": Making(
        "fsx",
        "create_file_system",
        "{FileSystem[FileSystemId]}",
        inner="LustreConfiguration",
        fixed={"FileSystemType": "LUSTRE", "StorageType": "SSD"},
    ),
    "aws:iam/instanceProfile:InstanceProfile": Making(
        "iam",
        "create_instance_profile",
        "{InstanceProfile[InstanceProfileName]}",
        named={"name": "instanceProfileName"},
        fixed={"Path": "/"},
        later=frozenset({"role"}),
    ),
    "aws:iam/policy:Policy": Making(
        "iam",
        "create_policy",
        "{Policy[Arn]}",
        named={"name": "policyName", "policy": "policyDocument"},
        fixed={"Path": "/"},
    ),
    "aws:iam/role:Role": Making(
        "iam",
        "create_role",
        "{Role[RoleName]}",
        named={"name": "roleName", "assumeRolePolicy": "assumeRolePolicyDocument"},
        fixed={"Path": "/"},
    ),
    "aws:iam/rolePolicy:RolePolicy": Making(
        "iam",
        "put_role_policy",
        "{given[role]}:{given[name]}",
        named={"role": "roleName", "name": "policyName", "policy": "policyDocument"},
    ),
    "aws:kms/alias:Alias": Making("kms", "create_alias", _NAME, named={"name": "aliasName"}),
    "aws:kms/key:Key": Making(
        "kms",
        "create_key",
        "{KeyMetadata[KeyId]}",
        fixed={"KeySpec": "SYMMETRIC_DEFAULT", "KeyUsage": "ENCRYPT_DECRYPT"},
    ),
    "aws:lb/listener:Listener": Making("elbv2", "create_listener", "{Listeners[0][ListenerArn]}"),
    "aws:lb/loadBalancer:LoadBalancer": Making(
        "elbv2",
        "create_load_balancer",
        "{LoadBalancers[0][LoadBalancerArn]}",
        named={"loadBalancerType": "type"},
    ),
    "aws:lb/targetGroup:TargetGroup": Making(
        "elbv2", "create_target_group", "{TargetGroups[0][TargetGroupArn]}"
    ),
    "aws:route53/record:Record": Making(
        "route53",
        "change_resource_record_sets",
        lambda given, _: "_".join((given["zoneId"], _plain_name(given), given["type"])),
        built=_record,
    ),
    _ZONE: Making(
        "route53",
        "create_hosted_zone",
        lambda _, answer: str(answer["HostedZone"]["Id"]).removeprefix("/hostedzone/"),
        built=_zone,
    ),
    "aws:s3/bucket:Bucket": Making(
        "s3",
        "create_bucket",
        "{given[bucket]}",
        inner="CreateBucketConfiguration",
        fixed={"ACL": "private"},
    ),
    "aws:ssm/parameter:Parameter": Making(
        "ssm", "put_parameter", _NAME, fixed={"Overwrite": False}
    ),
    "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule": replace(
        _RULE, operation="authorize_security_group_egress"
    ),
    "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule": _RULE,
}
"""How each type is made."""
