# ruff: noqa: D102, S105 - Resource describes the methods; a token names a type
"""VPCs, subnets, gateways, addresses and DHCP options."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rackwright.embedded_aws.provider.aws import ACCOUNT, Aws
from rackwright.embedded_aws.provider.resource import changed, take
from rackwright.embedded_aws.provider.resources.ec2_base import Ec2Resource
from rackwright.embedded_aws.provider.wire import Props


class Vpc(Ec2Resource):
    """A VPC with its DNS settings."""

    token = "aws:ec2/vpc:Vpc"
    kind, operation, ids, items, key = "vpc", "describe_vpcs", "VpcIds", "Vpcs", "VpcId"
    replace = frozenset({"cidrBlock", "ipv4IpamPoolId", "ipv4NetmaskLength"})
    inputs = ("cidrBlock", "enableDnsHostnames", "enableDnsSupport", "instanceTenancy")
    computed = (
        "arn",
        "defaultNetworkAclId",
        "defaultRouteTableId",
        "defaultSecurityGroupId",
        "dhcpOptionsId",
        "mainRouteTableId",
        "ownerId",
    )

    def defaults(self, aws: Aws, inputs: Props) -> Props:
        return {"enableDnsSupport": True, "instanceTenancy": "default", **inputs}

    def create(self, aws: Aws, inputs: Props, tags: Mapping[str, str]) -> str:
        made = aws.ec2.create_vpc(
            TagSpecifications=self.specifications(tags),
            **take(inputs, {"cidrBlock": "CidrBlock", "instanceTenancy": "InstanceTenancy"}),
        )
        return str(made["Vpc"]["VpcId"])

    def apply(self, aws: Aws, identity: str, olds: Props, news: Props) -> None:
        for name, api in (
            ("enableDnsSupport", "EnableDnsSupport"),
            ("enableDnsHostnames", "EnableDnsHostnames"),
        ):
            value = news.get(name, name == "enableDnsSupport")
            if changed(olds, news, name) and (olds or value != (name == "enableDnsSupport")):
                aws.ec2.modify_vpc_attribute(VpcId=identity, **{api: {"Value": bool(value)}})

    def read(self, aws: Aws, identity: str, state: Props) -> Props | None:
        item = self.one(aws, identity)
        if item is None:
            return None
        ec2 = aws.ec2
        in_vpc = [{"Name": "vpc-id", "Values": [identity]}]
        tables = ec2.describe_route_tables(
            Filters=[*in_vpc, {"Name": "association.main", "Values": ["true"]}]
        )["RouteTables"]
        groups = ec2.describe_security_groups(
            Filters=[*in_vpc, {"Name": "group-name", "Values": ["default"]}]
        )["SecurityGroups"]
        acls = ec2.describe_network_acls(
            Filters=[*in_vpc, {"Name": "default", "Values": ["true"]}]
        )["NetworkAcls"]
        main = tables[0]["RouteTableId"] if tables else None

        def attribute(name: str) -> bool:
            reply = ec2.describe_vpc_attribute(VpcId=identity, Attribute=name)
            return bool(reply[name[0].upper() + name[1:]]["Value"])

        return {
            "arn": self.arn(aws, identity),
            "cidrBlock": item["CidrBlock"],
            "instanceTenancy": item.get("InstanceTenancy", "default"),
            "dhcpOptionsId": item.get("DhcpOptionsId"),
            "enableDnsSupport": attribute("enableDnsSupport"),
            "enableDnsHostnames": attribute("enableDnsHostnames"),
            "mainRouteTableId": main,
            "defaultRouteTableId": main,
            "defaultSecurityGroupId": groups[0]["GroupId"] if groups else None,
            "defaultNetworkAclId": acls[0]["NetworkAclId"] if acls else None,
            "ownerId": ACCOUNT,
            **self.tagged(item),
        }

    def delete(self, aws: Aws, identity: str, state: Props) -> None:
        aws.ec2.delete_vpc(VpcId=identity)


class Subnet(Ec2Resource):
    """A subnet of a VPC in one zone."""

    token = "aws:ec2/subnet:Subnet"
    kind, operation, ids = "subnet", "describe_subnets", "SubnetIds"
    items, key = "Subnets", "SubnetId"
    replace = frozenset({"vpcId", "cidrBlock", "availabilityZone", "availabilityZoneId"})
    required = ("vpcId",)
    inputs = ("vpcId", "cidrBlock", "availabilityZone", "mapPublicIpOnLaunch")
    computed = ("arn", "availabilityZone", "availabilityZoneId", "ownerId")

    def create(self, aws: Aws, inputs: Props, tags: Mapping[str, str]) -> str:
        names = {
            "vpcId": "VpcId",
            "cidrBlock": "CidrBlock",
            "availabilityZone": "AvailabilityZone",
            "availabilityZoneId": "AvailabilityZoneId",
            "ipv6CidrBlock": "Ipv6CidrBlock",
        }
        made = aws.ec2.create_subnet(
            TagSpecifications=self.specifications(tags), **take(inputs, names)
        )
        return str(made["Subnet"]["SubnetId"])

    def apply(self, aws: Aws, identity: str, olds: Props, news: Props) -> None:
        for name, api in (
            ("mapPublicIpOnLaunch", "MapPublicIpOnLaunch"),
            ("assignIpv6AddressOnCreation", "AssignIpv6AddressOnCreation"),
        ):
            if changed(olds, news, name):
                value = {"Value": bool(news.get(name, False))}
                aws.ec2.modify_subnet_attribute(SubnetId=identity, **{api: value})

    def read(self, aws: Aws, identity: str, state: Props) -> Props | None:
        item = self.one(aws, identity)
        if item is None:
            return None
        return {
            "arn": item.get("SubnetArn") or self.arn(aws, identity),
            "vpcId": item["VpcId"],
            "cidrBlock": item.get("CidrBlock"),
            "availabilityZone": item["AvailabilityZone"],
            "availabilityZoneId": item.get("AvailabilityZoneId"),
            "mapPublicIpOnLaunch": item.get("MapPublicIpOnLaunch", False),
            "assignIpv6AddressOnCreation": item.get("AssignIpv6AddressOnCreation", False),
            "ownerId": ACCOUNT,
            **self.tagged(item),
        }

    def delete(self, aws: Aws, identity: str, state: Props) -> None:
        aws.ec2.delete_subnet(SubnetId=identity)


class InternetGateway(Ec2Resource):
    """An internet gateway and its attachment."""

    token = "aws:ec2/internetGateway:InternetGateway"
    kind, operation = "internet-gateway", "describe_internet_gateways"
    ids, items, key = "InternetGatewayIds", "InternetGateways", "InternetGatewayId"
    inputs = ("vpcId",)
    computed = ("arn", "ownerId")

    def create(self, aws: Aws, inputs: Props, tags: Mapping[str, str]) -> str:
        made = aws.ec2.create_internet_gateway(TagSpecifications=self.specifications(tags))
        return str(made["InternetGateway"]["InternetGatewayId"])

    def _attached(self, aws: Aws, identity: str) -> str | None:
        item = self.one(aws, identity) or {}
        return next((str(one["VpcId"]) for one in item.get("Attachments", [])), None)

    def apply(self, aws: Aws, identity: str, olds: Props, news: Props) -> None:
        held, wanted = self._attached(aws, identity), news.get("vpcId")
        if held == wanted:
            return
        if held:
            aws.ec2.detach_internet_gateway(InternetGatewayId=identity, VpcId=held)
        if wanted:
            aws.ec2.attach_internet_gateway(InternetGatewayId=identity, VpcId=wanted)

    def read(self, aws: Aws, identity: str, state: Props) -> Props | None:
        item = self.one(aws, identity)
        if item is None:
            return None
        return {
            "arn": self.arn(aws, identity),
            "vpcId": next((one["VpcId"] for one in item.get("Attachments", [])), ""),
            "ownerId": ACCOUNT,
            **self.tagged(item),
        }

    def delete(self, aws: Aws, identity: str, state: Props) -> None:
        held = self._attached(aws, identity)
        if held:
            aws.ec2.detach_internet_gateway(InternetGatewayId=identity, VpcId=held)
        aws.ec2.delete_internet_gateway(InternetGatewayId=identity)


class Eip(Ec2Resource):
    """An elastic IP address and its association."""

    token = "aws:ec2/eip:Eip"
    kind, operation, ids = "elastic-ip", "describe_addresses", "AllocationIds"
    items, key = "Addresses", "AllocationId"
    replace = frozenset({"domain", "networkBorderGroup", "publicIpv4Pool", "address"})
    inputs = ("domain", "instance", "networkInterface")
    computed = (
        "allocationId",
        "arn",
        "associationId",
        "privateIp",
        "publicDns",
        "publicIp",
    )

    def create(self, aws: Aws, inputs: Props, tags: Mapping[str, str]) -> str:
        made = aws.ec2.allocate_address(
            Domain=inputs.get("domain", "vpc"), TagSpecifications=self.specifications(tags)
        )
        return str(made["AllocationId"])

    def apply(self, aws: Aws, identity: str, olds: Props, news: Props) -> None:
        names = {"instance": "InstanceId", "networkInterface": "NetworkInterfaceId"}
        if not changed(olds, news, *names):
            return
        item = self.one(aws, identity) or {}
        if item.get("AssociationId") and olds:
            aws.ec2.disassociate_address(AssociationId=item["AssociationId"])
        target = take(news, names)
        if target and not (item.get("AssociationId") and not olds):
            aws.ec2.associate_address(AllocationId=identity, **target)

    def read(self, aws: Aws, identity: str, state: Props) -> Props | None:
        item = self.one(aws, identity)
        if item is None:
            return None
        public = item.get("PublicIp", "")
        return {
            "arn": self.arn(aws, identity),
            "allocationId": identity,
            "publicIp": public,
            "publicDns": f"ec2-{public.replace('.', '-')}.{aws.region}.compute.amazonaws.com",
            "privateIp": item.get("PrivateIpAddress") or "",
            "associationId": item.get("AssociationId") or "",
            "domain": item.get("Domain", "vpc"),
            **self.tagged(item),
        }

    def delete(self, aws: Aws, identity: str, state: Props) -> None:
        item = self.one(aws, identity)
        if item is None:
            return
        if item.get("AssociationId"):
            aws.ec2.disassociate_address(AssociationId=item["AssociationId"])
        aws.ec2.release_address(AllocationId=identity)


class NatGateway(Ec2Resource):
    """A NAT gateway."""

    token = "aws:ec2/natGateway:NatGateway"
    kind, operation, ids = "natgateway", "describe_nat_gateways", "NatGatewayIds"
    items, key = "NatGateways", "NatGatewayId"
    replace = frozenset({"allocationId", "connectivityType", "privateIp", "subnetId"})
    inputs = ("allocationId", "connectivityType", "subnetId")
    computed = ("associationId", "networkInterfaceId", "privateIp", "publicIp")

    def create(self, aws: Aws, inputs: Props, tags: Mapping[str, str]) -> str:
        names = {
            "allocationId": "AllocationId",
            "connectivityType": "ConnectivityType",
            "subnetId": "SubnetId",
        }
        made = aws.ec2.create_nat_gateway(
            TagSpecifications=self.specifications(tags), **take(inputs, names)
        )
        return str(made["NatGateway"]["NatGatewayId"])

    def read(self, aws: Aws, identity: str, state: Props) -> Props | None:
        item = self.one(aws, identity)
        if item is None:
            return None
        address: dict[str, Any] = (item.get("NatGatewayAddresses") or [{}])[0]
        return {
            "subnetId": item["SubnetId"],
            "connectivityType": item.get("ConnectivityType", "public"),
            "allocationId": address.get("AllocationId"),
            "associationId": address.get("AssociationId"),
            "networkInterfaceId": address.get("NetworkInterfaceId"),
            "privateIp": address.get("PrivateIp"),
            "publicIp": address.get("PublicIp"),
            **self.tagged(item),
        }

    def delete(self, aws: Aws, identity: str, state: Props) -> None:
        aws.ec2.delete_nat_gateway(NatGatewayId=identity)


_DHCP = {
    "domainName": "domain-name",
    "domainNameServers": "domain-name-servers",
    "ntpServers": "ntp-servers",
    "netbiosNameServers": "netbios-name-servers",
    "netbiosNodeType": "netbios-node-type",
}


class VpcDhcpOptions(Ec2Resource):
    """A set of DHCP options."""

    token = "aws:ec2/vpcDhcpOptions:VpcDhcpOptions"
    kind, operation, ids = "dhcp-options", "describe_dhcp_options", "DhcpOptionsIds"
    items, key = "DhcpOptions", "DhcpOptionsId"
    replace = frozenset(_DHCP)
    inputs = tuple(_DHCP)
    computed = ("arn", "ownerId")

    def create(self, aws: Aws, inputs: Props, tags: Mapping[str, str]) -> str:
        made = aws.ec2.create_dhcp_options(
            DhcpConfigurations=[
                {"Key": key, "Values": value if isinstance(value, list) else [value]}
                for key, value in take(inputs, _DHCP).items()
            ],
            TagSpecifications=self.specifications(tags),
        )
        return str(made["DhcpOptions"]["DhcpOptionsId"])

    def read(self, aws: Aws, identity: str, state: Props) -> Props | None:
        item = self.one(aws, identity)
        if item is None:
            return None
        values = {
            one["Key"]: [value["Value"] for value in one["Values"]]
            for one in item["DhcpConfigurations"]
        }
        single = ("domainName", "netbiosNodeType")
        held = {
            name: values[key][0] if name in single else values[key]
            for name, key in _DHCP.items()
            if values.get(key)
        }
        return {
            **held,
            "arn": self.arn(aws, identity),
            "ownerId": ACCOUNT,
            **self.tagged(item),
        }

    def delete(self, aws: Aws, identity: str, state: Props) -> None:
        aws.ec2.delete_dhcp_options(DhcpOptionsId=identity)


class VpcDhcpOptionsAssociation(Ec2Resource):
    """The DHCP options of a VPC."""

    token = "aws:ec2/vpcDhcpOptionsAssociation:VpcDhcpOptionsAssociation"
    replace = frozenset({"vpcId"})
    required = inputs = ("dhcpOptionsId", "vpcId")
    computed = ()
    taggable = False

    def create(self, aws: Aws, inputs: Props, tags: Mapping[str, str]) -> str:
        aws.ec2.associate_dhcp_options(DhcpOptionsId=inputs["dhcpOptionsId"], VpcId=inputs["vpcId"])
        return f"{inputs['dhcpOptionsId']}-{inputs['vpcId']}"

    def apply(self, aws: Aws, identity: str, olds: Props, news: Props) -> None:
        if olds and changed(olds, news, "dhcpOptionsId"):
            self.create(aws, news, {})

    def read(self, aws: Aws, identity: str, state: Props) -> Props | None:
        found = aws.ec2.describe_vpcs(VpcIds=[state["vpcId"]])["Vpcs"]
        held = found[0].get("DhcpOptionsId") if found else None
        if held is None or held != state["dhcpOptionsId"]:
            return None
        return {"dhcpOptionsId": held, "vpcId": state["vpcId"]}

    def delete(self, aws: Aws, identity: str, state: Props) -> None:
        aws.ec2.associate_dhcp_options(DhcpOptionsId="default", VpcId=state["vpcId"])
