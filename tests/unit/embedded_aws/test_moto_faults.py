"""What moto answers otherwise than AWS, as AWS's own provider asks it."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError
from moto import mock_aws

from rackwright_lab.embedded_aws.api import (
    moto_ec2,
    moto_iam,
    moto_instances,
    moto_network,
    moto_route53,
)

REGION = "us-east-1"
IMAGE = "ami-12c6146b"


@pytest.fixture(autouse=True)
def _moto(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "embedded")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "embedded")
    for addition in (moto_ec2, moto_iam, moto_instances, moto_network, moto_route53):
        addition.install()
    with mock_aws():
        yield


def _client(service: str) -> Any:
    return boto3.client(service, region_name=REGION)


def _subnet(ec2: Any) -> tuple[str, str]:
    """Ids of a VPC and of a subnet in it."""
    vpc = ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
    made = ec2.create_subnet(VpcId=vpc, CidrBlock="10.0.1.0/24", AvailabilityZone="us-east-1a")
    return vpc, made["Subnet"]["SubnetId"]


def test_a_zone_in_a_vpc_is_private_and_read_back_with_it() -> None:
    vpc, _ = _subnet(_client("ec2"))
    route53 = _client("route53")
    place = {"VPCRegion": REGION, "VPCId": vpc}
    made = route53.create_hosted_zone(Name="a.internal", CallerReference="1", VPC=place)
    read = route53.get_hosted_zone(Id=made["HostedZone"]["Id"])
    assert read["VPCs"] == [place]
    assert read["HostedZone"]["Config"]["PrivateZone"] is True


def test_a_zone_without_a_vpc_stays_public() -> None:
    route53 = _client("route53")
    made = route53.create_hosted_zone(Name="b.example", CallerReference="2")
    read = route53.get_hosted_zone(Id=made["HostedZone"]["Id"])
    assert "VPCs" not in read
    assert read["HostedZone"]["Config"]["PrivateZone"] is False


@pytest.mark.parametrize("public", [False, True])
def test_an_interface_has_an_association_only_with_a_public_address(public: bool) -> None:
    ec2 = _client("ec2")
    _, subnet = _subnet(ec2)
    nic = {"DeviceIndex": 0, "SubnetId": subnet, "AssociatePublicIpAddress": public}
    made = ec2.run_instances(
        ImageId=IMAGE, InstanceType="m5.large", MinCount=1, MaxCount=1, NetworkInterfaces=[nic]
    )
    wanted = [made["Instances"][0]["InstanceId"]]
    (read,) = ec2.describe_instances(InstanceIds=wanted)["Reservations"][0]["Instances"]
    (interface,) = read["NetworkInterfaces"]
    assert ("Association" in interface) is public
    assert ("PublicIpAddress" in read) is public


def test_a_group_starts_from_a_version_with_empty_user_data() -> None:
    ec2, scaling = _client("ec2"), _client("autoscaling")
    _, subnet = _subnet(ec2)
    data = {"ImageId": IMAGE, "InstanceType": "m5.large"}
    text = base64.b64encode(b"first").decode()
    made = ec2.create_launch_template(
        LaunchTemplateName="template", LaunchTemplateData={**data, "UserData": text}
    )
    template = made["LaunchTemplate"]["LaunchTemplateId"]
    ec2.create_launch_template_version(
        LaunchTemplateId=template, LaunchTemplateData={**data, "UserData": ""}
    )
    scaling.create_auto_scaling_group(
        AutoScalingGroupName="g",
        MinSize=1,
        MaxSize=1,
        VPCZoneIdentifier=subnet,
        LaunchTemplate={"LaunchTemplateId": template, "Version": "2"},
    )
    (group,) = scaling.describe_auto_scaling_groups()["AutoScalingGroups"]
    assert len(group["Instances"]) == 1
    second = ec2.describe_launch_template_versions(LaunchTemplateId=template, Versions=["2"])
    (version,) = second["LaunchTemplateVersions"]
    assert "UserData" not in version["LaunchTemplateData"]


def test_the_tags_of_a_template_are_not_those_of_its_instances() -> None:
    ec2 = _client("ec2")
    tags = {
        kind: {"ResourceType": kind, "Tags": [{"Key": "of", "Value": kind}]}
        for kind in ("launch-template", "instance")
    }
    made = ec2.create_launch_template(
        LaunchTemplateName="template",
        LaunchTemplateData={"ImageId": IMAGE, "TagSpecifications": [tags["instance"]]},
        TagSpecifications=[tags["launch-template"]],
    )
    assert made["LaunchTemplate"]["Tags"] == tags["launch-template"]["Tags"]
    template = made["LaunchTemplate"]["LaunchTemplateId"]
    read = ec2.describe_launch_template_versions(LaunchTemplateId=template, Versions=["1"])
    (version,) = read["LaunchTemplateVersions"]
    assert version["LaunchTemplateData"]["TagSpecifications"] == [tags["instance"]]


@pytest.mark.parametrize("protected", [False, True])
def test_an_instance_is_protected_from_termination_from_its_launch(protected: bool) -> None:
    ec2 = _client("ec2")
    made = ec2.run_instances(
        ImageId=IMAGE,
        InstanceType="m5.large",
        MinCount=1,
        MaxCount=1,
        DisableApiTermination=protected,
    )
    identity = made["Instances"][0]["InstanceId"]
    read = ec2.describe_instance_attribute(InstanceId=identity, Attribute="disableApiTermination")
    assert read["DisableApiTermination"]["Value"] is protected
    if protected:
        with pytest.raises(ClientError, match="may not be terminated"):
            ec2.terminate_instances(InstanceIds=[identity])
        ec2.modify_instance_attribute(InstanceId=identity, DisableApiTermination={"Value": False})
    (ended,) = ec2.terminate_instances(InstanceIds=[identity])["TerminatingInstances"]
    assert ended["InstanceId"] == identity


def test_an_instance_with_an_interface_of_its_own_is_terminated_twice() -> None:
    ec2 = _client("ec2")
    _, subnet = _subnet(ec2)
    nic = {"DeviceIndex": 0, "SubnetId": subnet, "DeleteOnTermination": True}
    one = ec2.run_instances(ImageId=IMAGE, MinCount=1, MaxCount=1, NetworkInterfaces=[nic])
    ids = [one["Instances"][0]["InstanceId"]]
    assert ec2.terminate_instances(InstanceIds=ids)["TerminatingInstances"]
    (again,) = ec2.terminate_instances(InstanceIds=ids)["TerminatingInstances"]
    assert again["PreviousState"]["Name"] == "terminated"


def test_a_group_that_is_too_large_ends_instances_once_they_are_protected_no_longer() -> None:
    ec2, scaling = _client("ec2"), _client("autoscaling")
    _, subnet = _subnet(ec2)
    ec2.create_launch_template(
        LaunchTemplateName="template",
        LaunchTemplateData={"ImageId": IMAGE, "InstanceType": "m5.large"},
    )
    scaling.create_auto_scaling_group(
        AutoScalingGroupName="g",
        MinSize=2,
        MaxSize=2,
        VPCZoneIdentifier=subnet,
        LaunchTemplate={"LaunchTemplateName": "template"},
        NewInstancesProtectedFromScaleIn=True,
    )

    def running() -> list[str]:
        (group,) = scaling.describe_auto_scaling_groups()["AutoScalingGroups"]
        return [one["InstanceId"] for one in group["Instances"]]

    (group,) = scaling.describe_auto_scaling_groups()["AutoScalingGroups"]
    assert group["CapacityReservationSpecification"] == {"CapacityReservationPreference": "default"}
    first, second = running()
    scaling.set_instance_protection(
        AutoScalingGroupName="g", InstanceIds=[first], ProtectedFromScaleIn=False
    )
    assert running() == [first, second], "it is no larger than it should be"
    scaling.update_auto_scaling_group(
        AutoScalingGroupName="g", MinSize=0, MaxSize=0, DesiredCapacity=0
    )
    assert running() == [second]
    scaling.set_instance_protection(
        AutoScalingGroupName="g", InstanceIds=[second], ProtectedFromScaleIn=False
    )
    assert running() == []


def test_a_profile_gives_its_role_back() -> None:
    iam = _client("iam")
    iam.create_role(RoleName="role", AssumeRolePolicyDocument="{}")
    iam.create_instance_profile(InstanceProfileName="profile")
    names = {"InstanceProfileName": "profile", "RoleName": "role"}
    iam.add_role_to_instance_profile(**names)
    iam.remove_role_from_instance_profile(**names)
    read = iam.get_instance_profile(InstanceProfileName="profile")
    assert read["InstanceProfile"]["Roles"] == []
    iam.delete_instance_profile(InstanceProfileName="profile")
    assert iam.list_instance_profiles()["InstanceProfiles"] == []


def test_a_rule_for_all_protocols_is_changed_without_ports() -> None:
    ec2 = _client("ec2")
    vpc, _ = _subnet(ec2)
    group = ec2.create_security_group(GroupName="g", Description="d", VpcId=vpc)["GroupId"]
    made = ec2.authorize_security_group_ingress(
        GroupId=group, IpPermissions=[{"IpProtocol": "-1", "IpRanges": [{"CidrIp": "10.0.0.0/8"}]}]
    )
    rule = made["SecurityGroupRules"][0]["SecurityGroupRuleId"]
    changed = {"IpProtocol": "-1", "CidrIpv4": "10.1.0.0/16", "Description": "hosts"}
    ec2.modify_security_group_rules(
        GroupId=group,
        SecurityGroupRules=[{"SecurityGroupRuleId": rule, "SecurityGroupRule": changed}],
    )
    (read,) = ec2.describe_security_group_rules(SecurityGroupRuleIds=[rule])["SecurityGroupRules"]
    assert (read["CidrIpv4"], read["Description"]) == ("10.1.0.0/16", "hosts")
    assert read.get("FromPort", -1) == read.get("ToPort", -1) == -1


def test_a_rule_for_a_group_or_a_prefix_list_keeps_its_description() -> None:
    ec2 = _client("ec2")
    vpc, _ = _subnet(ec2)
    group = ec2.create_security_group(GroupName="g", Description="d", VpcId=vpc)["GroupId"]
    lists = ec2.describe_managed_prefix_lists()["PrefixLists"]
    peers: list[dict[str, Any]] = [
        {"UserIdGroupPairs": [{"GroupId": group, "Description": "each other"}]},
        {"PrefixListIds": [{"PrefixListId": lists[0]["PrefixListId"], "Description": "S3"}]},
        {"IpRanges": [{"CidrIp": "10.0.0.0/8", "Description": "hosts"}]},
        {"UserIdGroupPairs": [{"GroupId": group}]},
    ]
    told = []
    for number, peer in enumerate(peers):
        ports = {"IpProtocol": "tcp", "FromPort": number, "ToPort": number}
        made = ec2.authorize_security_group_egress(GroupId=group, IpPermissions=[{**ports, **peer}])
        rule = made["SecurityGroupRules"][0]["SecurityGroupRuleId"]
        (read,) = ec2.describe_security_group_rules(SecurityGroupRuleIds=[rule])[
            "SecurityGroupRules"
        ]
        told.append(read.get("Description"))
    assert told == ["each other", "S3", "hosts", None]


def test_dhcp_options_keep_the_tags_that_they_are_made_with() -> None:
    ec2 = _client("ec2")
    tags = [{"Key": "of", "Value": "lab"}]
    made = ec2.create_dhcp_options(
        DhcpConfigurations=[{"Key": "domain-name", "Values": ["lab"]}],
        TagSpecifications=[{"ResourceType": "dhcp-options", "Tags": tags}],
    )["DhcpOptions"]
    assert made["Tags"] == tags
    (read,) = ec2.describe_dhcp_options(DhcpOptionsIds=[made["DhcpOptionsId"]])["DhcpOptions"]
    assert read["Tags"] == tags


def test_a_gateway_endpoint_has_a_route_in_each_of_its_tables() -> None:
    ec2 = _client("ec2")
    vpc, _ = _subnet(ec2)
    first, second = (
        ec2.create_route_table(VpcId=vpc)["RouteTable"]["RouteTableId"] for _ in range(2)
    )

    def routed(table: str) -> bool:
        (read,) = ec2.describe_route_tables(RouteTableIds=[table])["RouteTables"]
        return any(route.get("GatewayId") == endpoint for route in read["Routes"])

    endpoint = ec2.create_vpc_endpoint(
        VpcId=vpc, ServiceName=f"com.amazonaws.{REGION}.s3", RouteTableIds=[first]
    )["VpcEndpoint"]["VpcEndpointId"]
    assert [routed(first), routed(second)] == [True, False]
    ec2.modify_vpc_endpoint(
        VpcEndpointId=endpoint, AddRouteTableIds=[second], RemoveRouteTableIds=[first]
    )
    assert [routed(first), routed(second)] == [False, True]
    (read,) = ec2.describe_vpc_endpoints(VpcEndpointIds=[endpoint])["VpcEndpoints"]
    assert read["RouteTableIds"] == [second]


MANAGED = "arn:aws:iam::aws:policy/AmazonSSMManagedInstanceCore"


def _attach(kind: str) -> Callable[[Any], list[str]]:
    """Attaches a managed policy to a new role, user or group, and reads what it has."""

    def attach(iam: Any) -> list[str]:
        trust = {"AssumeRolePolicyDocument": "{}"} if kind == "role" else {}
        name = {f"{kind.capitalize()}Name": "one"}
        getattr(iam, f"create_{kind}")(**name, **trust)
        getattr(iam, f"attach_{kind}_policy")(**name, PolicyArn=MANAGED)
        read = getattr(iam, f"list_attached_{kind}_policies")(**name)
        return [one["PolicyArn"] for one in read["AttachedPolicies"]]

    return attach


@pytest.mark.parametrize(
    "ask",
    [
        lambda iam: [iam.get_policy(PolicyArn=MANAGED)["Policy"]["Arn"]],
        lambda iam: [MANAGED for _ in iam.list_policy_versions(PolicyArn=MANAGED)["Versions"]],
        lambda iam: [
            MANAGED
            for statement in iam.get_policy_version(PolicyArn=MANAGED, VersionId="v2")[
                "PolicyVersion"
            ]["Document"]["Statement"]
            if "ssm:UpdateInstanceInformation" in statement["Action"]
        ],
        _attach("role"),
        _attach("user"),
        _attach("group"),
    ],
    ids=["get", "versions", "version", "role", "user", "group"],
)
def test_a_managed_policy_is_there_once_it_is_asked_for(ask: Callable[[Any], list[str]]) -> None:
    iam = _client("iam")
    assert MANAGED not in [one["Arn"] for one in iam.list_policies(Scope="AWS")["Policies"]]
    assert ask(iam) == [MANAGED]
    with pytest.raises(ClientError, match="NoSuchEntity"):
        iam.get_policy(PolicyArn=f"{MANAGED}s")
