# ruff: noqa: D102, S105 - Resource describes the methods; a token names a type
"""Route tables, routes, their associations, VPC endpoints and flow logs."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping
from typing import Any

from botocore.exceptions import ClientError

from rackwright.embedded_aws.provider.aws import ACCOUNT, Aws, client_token, is_missing
from rackwright.embedded_aws.provider.resource import Resource, changed, take
from rackwright.embedded_aws.provider.resources.ec2_base import Ec2Resource
from rackwright.embedded_aws.provider.wire import Props

_TARGETS = {
    "gatewayId": "GatewayId",
    "natGatewayId": "NatGatewayId",
    "networkInterfaceId": "NetworkInterfaceId",
    "transitGatewayId": "TransitGatewayId",
    "vpcPeeringConnectionId": "VpcPeeringConnectionId",
    "vpcEndpointId": "VpcEndpointId",
    "egressOnlyGatewayId": "EgressOnlyInternetGatewayId",
    "carrierGatewayId": "CarrierGatewayId",
    "localGatewayId": "LocalGatewayId",
}
_DESTINATIONS = {
    "destinationCidrBlock": "DestinationCidrBlock",
    "destinationIpv6CidrBlock": "DestinationIpv6CidrBlock",
    "destinationPrefixListId": "DestinationPrefixListId",
}
_INLINE = {
    "cidrBlock": "DestinationCidrBlock",
    "ipv6CidrBlock": "DestinationIpv6CidrBlock",
    "destinationPrefixListId": "DestinationPrefixListId",
}


def _is_own(route: Mapping[str, Any]) -> bool:
    """Returns whether a route is the program's, not that of the VPC or of an endpoint."""
    gateway = str(route.get("GatewayId", ""))
    return gateway != "local" and not gateway.startswith("vpce-")


def _same_target(route: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    return all(route.get(key) == value for key, value in wanted.items())


class RouteTable(Ec2Resource):
    """A route table and the routes written in it."""

    token = "aws:ec2/routeTable:RouteTable"
    kind, operation, ids = "route-table", "describe_route_tables", "RouteTableIds"
    items, key = "RouteTables", "RouteTableId"
    replace = frozenset({"vpcId"})
    required = ("vpcId",)
    inputs = ("vpcId", "routes")
    computed = ("arn", "ownerId", "routes")
    unordered = frozenset({"routes"})

    def create(self, aws: Aws, inputs: Props, tags: Mapping[str, str]) -> str:
        made = aws.ec2.create_route_table(
            VpcId=inputs["vpcId"], TagSpecifications=self.specifications(tags)
        )
        return str(made["RouteTable"]["RouteTableId"])

    def apply(self, aws: Aws, identity: str, olds: Props, news: Props) -> None:
        if "routes" not in news and "routes" not in olds:
            return
        item = self.one(aws, identity) or {}
        held = {
            key: route
            for route in item.get("Routes", [])
            if _is_own(route)
            for key in (_destination(route, _INLINE.values()),)
        }
        wanted = {}
        for route in news.get("routes") or []:
            arguments = take(route, {**_INLINE, **_TARGETS})
            wanted[_destination(arguments, _INLINE.values())] = arguments
        for key in held.keys() - wanted.keys():
            aws.ec2.delete_route(RouteTableId=identity, **dict([key]))
        for key, arguments in wanted.items():
            if key not in held:
                aws.ec2.create_route(RouteTableId=identity, **arguments)
            elif not _same_target(held[key], arguments):
                aws.ec2.replace_route(RouteTableId=identity, **arguments)

    def read(self, aws: Aws, identity: str, state: Props) -> Props | None:
        item = self.one(aws, identity)
        if item is None:
            return None
        names = {**_INLINE, **_TARGETS}
        routes = [
            {name: route[api] for name, api in names.items() if route.get(api)}
            for route in item.get("Routes", [])
            if _is_own(route)
        ]
        return {
            "arn": self.arn(aws, identity),
            "vpcId": item["VpcId"],
            "ownerId": ACCOUNT,
            "routes": routes,
            **self.tagged(item),
        }

    def delete(self, aws: Aws, identity: str, state: Props) -> None:
        item = self.one(aws, identity) or {}
        for held in item.get("Associations", []):
            if not held.get("Main"):
                aws.ec2.disassociate_route_table(AssociationId=held["RouteTableAssociationId"])
        aws.ec2.delete_route_table(RouteTableId=identity)


def _destination(route: Mapping[str, Any], names: Iterable[str]) -> tuple[str, Any]:
    return next(((name, route[name]) for name in names if route.get(name)), ("", None))


class Route(Resource):
    """One route of a table."""

    token = "aws:ec2/route:Route"
    replace = frozenset({"routeTableId", *_DESTINATIONS})
    required = ("routeTableId",)
    inputs = ("routeTableId", *_DESTINATIONS, *_TARGETS)
    computed = ("origin", "state")
    taggable = False
    delete_first = True

    def check(self, inputs: Props) -> list[tuple[str, str]]:
        wrong = []
        if sum(inputs.get(name) is not None for name in _DESTINATIONS) != 1:
            wrong.append(("destinationCidrBlock", "a route has exactly one destination"))
        if sum(inputs.get(name) is not None for name in _TARGETS) != 1:
            wrong.append(("gatewayId", "a route has exactly one target"))
        return wrong

    def _held(self, aws: Aws, state: Props) -> dict[str, Any] | None:
        key, value = _destination(take(state, _DESTINATIONS), _DESTINATIONS.values())
        try:
            tables = aws.ec2.describe_route_tables(RouteTableIds=[state["routeTableId"]])
        except ClientError as error:
            if is_missing(error):
                return None
            raise
        routes: list[dict[str, Any]] = tables["RouteTables"][0]["Routes"]
        return next((one for one in routes if one.get(key) == value), None)

    @staticmethod
    def _identity(inputs: Props) -> str:
        _, value = _destination(take(inputs, _DESTINATIONS), _DESTINATIONS.values())
        # As the provider of AWS itself makes it: the CRC-32 of the destination ends it.
        return f"r-{inputs['routeTableId']}{zlib.crc32(str(value).encode())}"

    def create(self, aws: Aws, inputs: Props, tags: Mapping[str, str]) -> str:
        aws.ec2.create_route(
            RouteTableId=inputs["routeTableId"], **take(inputs, {**_DESTINATIONS, **_TARGETS})
        )
        return self._identity(inputs)

    def apply(self, aws: Aws, identity: str, olds: Props, news: Props) -> None:
        if olds and changed(olds, news, *_TARGETS):
            aws.ec2.replace_route(
                RouteTableId=news["routeTableId"], **take(news, {**_DESTINATIONS, **_TARGETS})
            )

    def read(self, aws: Aws, identity: str, state: Props) -> Props | None:
        held = self._held(aws, state)
        if held is None:
            return None
        live = {name: held.get(api) for name, api in _TARGETS.items() if name in state}
        return {**live, "origin": held.get("Origin"), "state": held.get("State")}

    def delete(self, aws: Aws, identity: str, state: Props) -> None:
        aws.ec2.delete_route(RouteTableId=state["routeTableId"], **take(state, _DESTINATIONS))


class RouteTableAssociation(Resource):
    """The route table of a subnet or gateway."""

    token = "aws:ec2/routeTableAssociation:RouteTableAssociation"
    replace = frozenset({"subnetId", "gatewayId"})
    required = ("routeTableId",)
    inputs = ("routeTableId", "subnetId", "gatewayId")
    computed = ()
    taggable = False
    delete_first = True

    def _held(self, aws: Aws, filters: dict[str, str]) -> dict[str, Any] | None:
        tables = aws.ec2.describe_route_tables(
            Filters=[{"Name": name, "Values": [value]} for name, value in filters.items()]
        )["RouteTables"]
        keys = {
            "association.subnet-id": "SubnetId",
            "association.gateway-id": "GatewayId",
            "association.route-table-association-id": "RouteTableAssociationId",
        }
        for table in tables:
            for one in table["Associations"]:
                if all(one.get(keys[name]) == value for name, value in filters.items()):
                    found: dict[str, Any] = one
                    return found
        return None

    def create(self, aws: Aws, inputs: Props, tags: Mapping[str, str]) -> str:
        names = {"subnetId": "SubnetId", "gatewayId": "GatewayId"}
        made = aws.ec2.associate_route_table(
            RouteTableId=inputs["routeTableId"], **take(inputs, names)
        )
        return str(made["AssociationId"])

    def apply(self, aws: Aws, identity: str, olds: Props, news: Props) -> None:
        if not olds or not changed(olds, news, "routeTableId"):
            return
        held = self._current(aws, identity, olds)
        if held is not None and held["RouteTableId"] != news["routeTableId"]:
            aws.ec2.replace_route_table_association(
                AssociationId=held["RouteTableAssociationId"], RouteTableId=news["routeTableId"]
            )

    def _current(self, aws: Aws, identity: str, state: Props) -> dict[str, Any] | None:
        if state.get("subnetId"):
            return self._held(aws, {"association.subnet-id": state["subnetId"]})
        return self._held(aws, {"association.route-table-association-id": identity})

    def read(self, aws: Aws, identity: str, state: Props) -> Props | None:
        held = self._current(aws, identity, state)
        if held is None:
            return None
        return {"routeTableId": held["RouteTableId"], "subnetId": held.get("SubnetId")}

    def delete(self, aws: Aws, identity: str, state: Props) -> None:
        held = self._current(aws, identity, state)
        if held is not None:
            aws.ec2.disassociate_route_table(AssociationId=held["RouteTableAssociationId"])


_SETS = {
    "routeTableIds": "RouteTableIds",
    "subnetIds": "SubnetIds",
    "securityGroupIds": "SecurityGroupIds",
}


class VpcEndpoint(Ec2Resource):
    """A gateway or interface endpoint."""

    token = "aws:ec2/vpcEndpoint:VpcEndpoint"
    kind, operation, ids = "vpc-endpoint", "describe_vpc_endpoints", "VpcEndpointIds"
    items, key = "VpcEndpoints", "VpcEndpointId"
    replace = frozenset({"vpcId", "serviceName", "vpcEndpointType"})
    required = ("vpcId", "serviceName")
    inputs = ("vpcId", "serviceName", "vpcEndpointType", "policy", "privateDnsEnabled", *_SETS)
    computed = (
        "arn",
        "cidrBlocks",
        "dnsEntries",
        "networkInterfaceIds",
        "ownerId",
        "policy",
        "prefixListId",
        "state",
    )
    unordered = frozenset(_SETS)
    documents = frozenset({"policy"})

    def defaults(self, aws: Aws, inputs: Props) -> Props:
        return {"vpcEndpointType": "Gateway", **inputs}

    def create(self, aws: Aws, inputs: Props, tags: Mapping[str, str]) -> str:
        names = {
            "vpcId": "VpcId",
            "serviceName": "ServiceName",
            "vpcEndpointType": "VpcEndpointType",
            "policy": "PolicyDocument",
            "privateDnsEnabled": "PrivateDnsEnabled",
            **_SETS,
        }
        made = aws.ec2.create_vpc_endpoint(
            ClientToken=client_token(),
            TagSpecifications=self.specifications(tags),
            **take(inputs, names),
        )
        return str(made["VpcEndpoint"]["VpcEndpointId"])

    def apply(self, aws: Aws, identity: str, olds: Props, news: Props) -> None:
        if not olds:
            return
        arguments: dict[str, Any] = {}
        for name, verb in (
            ("routeTableIds", "RouteTableIds"),
            ("subnetIds", "SubnetIds"),
            ("securityGroupIds", "SecurityGroupIds"),
        ):
            before, after = set(olds.get(name) or ()), set(news.get(name) or ())
            if after - before:
                arguments[f"Add{verb}"] = sorted(after - before)
            if before - after:
                arguments[f"Remove{verb}"] = sorted(before - after)
        if changed(olds, news, "policy"):
            arguments.update(
                {"PolicyDocument": news["policy"]} if news.get("policy") else {"ResetPolicy": True}
            )
        if changed(olds, news, "privateDnsEnabled"):
            arguments["PrivateDnsEnabled"] = bool(news.get("privateDnsEnabled", False))
        if arguments:
            aws.ec2.modify_vpc_endpoint(VpcEndpointId=identity, **arguments)

    def read(self, aws: Aws, identity: str, state: Props) -> Props | None:
        item = self.one(aws, identity)
        if item is None:
            return None
        return {
            "arn": self.arn(aws, identity),
            "vpcId": item["VpcId"],
            "serviceName": item["ServiceName"],
            "vpcEndpointType": item.get("VpcEndpointType"),
            "state": item.get("State"),
            "policy": item.get("PolicyDocument") or None,
            "routeTableIds": item.get("RouteTableIds", []),
            "subnetIds": item.get("SubnetIds", []),
            "securityGroupIds": [one["GroupId"] for one in item.get("Groups", [])]
            or state.get("securityGroupIds"),
            "networkInterfaceIds": item.get("NetworkInterfaceIds", []),
            "dnsEntries": [
                {"dnsName": one.get("DnsName"), "hostedZoneId": one.get("HostedZoneId")}
                for one in item.get("DnsEntries", [])
            ],
            "cidrBlocks": [],
            "ownerId": ACCOUNT,
            **self.tagged(item),
        }

    def delete(self, aws: Aws, identity: str, state: Props) -> None:
        aws.ec2.delete_vpc_endpoints(VpcEndpointIds=[identity])


class FlowLog(Ec2Resource):
    """A flow log of a VPC, subnet or interface."""

    token = "aws:ec2/flowLog:FlowLog"
    kind, operation, ids = "vpc-flow-log", "describe_flow_logs", "FlowLogIds"
    items, key = "FlowLogs", "FlowLogId"
    inputs = (
        "iamRoleArn",
        "logDestination",
        "logDestinationType",
        "logFormat",
        "maxAggregationInterval",
        "subnetId",
        "trafficType",
        "vpcId",
        "eniId",
    )
    replace = frozenset(inputs)

    def defaults(self, aws: Aws, inputs: Props) -> Props:
        return {"logDestinationType": "cloud-watch-logs", "maxAggregationInterval": 600, **inputs}

    def create(self, aws: Aws, inputs: Props, tags: Mapping[str, str]) -> str:
        kinds = {"vpcId": "VPC", "subnetId": "Subnet", "eniId": "NetworkInterface"}
        name = next((one for one in kinds if inputs.get(one)), "vpcId")
        names = {
            "iamRoleArn": "DeliverLogsPermissionArn",
            "logDestination": "LogDestination",
            "logDestinationType": "LogDestinationType",
            "logFormat": "LogFormat",
            "maxAggregationInterval": "MaxAggregationInterval",
            "trafficType": "TrafficType",
        }
        made = aws.ec2.create_flow_logs(
            ResourceIds=[inputs[name]],
            ResourceType=kinds[name],
            TagSpecifications=self.specifications(tags),
            **take(inputs, names),
        )
        if not made["FlowLogIds"]:
            reason = made["Unsuccessful"][0]["Error"]
            raise ClientError({"Error": reason}, "CreateFlowLogs")
        return str(made["FlowLogIds"][0])

    def read(self, aws: Aws, identity: str, state: Props) -> Props | None:
        item = self.one(aws, identity)
        if item is None:
            return None
        return {
            "arn": self.arn(aws, identity),
            "trafficType": item.get("TrafficType"),
            "logDestination": item.get("LogDestination"),
            "logDestinationType": item.get("LogDestinationType"),
            **self.tagged(item),
        }

    def delete(self, aws: Aws, identity: str, state: Props) -> None:
        aws.ec2.delete_flow_logs(FlowLogIds=[identity])
