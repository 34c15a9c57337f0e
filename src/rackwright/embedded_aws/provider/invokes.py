"""The functions (data sources) that programs call on the embedded provider."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from rackwright.embedded_aws.provider.aws import ACCOUNT, Aws
from rackwright.embedded_aws.provider.resource import public_tags, take
from rackwright.embedded_aws.provider.wire import Props

Function = Callable[[Aws, Props], Props]


def _filters(arguments: Props) -> list[dict[str, Any]]:
    return [
        {"Name": one["name"], "Values": list(one["values"])}
        for one in arguments.get("filters") or []
    ]


def availability_zones(aws: Aws, arguments: Props) -> Props:
    """Returns the zones of the region, without those excluded."""
    zones = aws.ec2.describe_availability_zones(Filters=_filters(arguments))["AvailabilityZones"]
    state = arguments.get("state")
    kept = [
        zone
        for zone in zones
        if zone["ZoneName"] not in (arguments.get("excludeNames") or ())
        and zone["ZoneId"] not in (arguments.get("excludeZoneIds") or ())
        and state in (None, zone["State"])
    ]
    kept.sort(key=lambda zone: str(zone["ZoneName"]))
    return {
        **arguments,
        "id": aws.region,
        "region": aws.region,
        "names": [zone["ZoneName"] for zone in kept],
        "zoneIds": [zone["ZoneId"] for zone in kept],
        "groupNames": sorted({zone.get("GroupName") or aws.region for zone in kept}),
    }


def caller_identity(aws: Aws, arguments: Props) -> Props:
    """Returns the account and the principal."""
    held = aws.client("sts").get_caller_identity()
    return {
        "accountId": held["Account"],
        "arn": held["Arn"],
        "userId": held["UserId"],
        "id": held["Account"],
    }


def region(aws: Aws, arguments: Props) -> Props:
    """Returns the region."""
    return {
        "id": aws.region,
        "name": aws.region,
        "region": aws.region,
        "description": aws.region,
        "endpoint": f"ec2.{aws.region}.amazonaws.com",
    }


def partition(aws: Aws, arguments: Props) -> Props:
    """Returns the partition."""
    suffix = "amazonaws.com.cn" if aws.partition == "aws-cn" else "amazonaws.com"
    reverse = ".".join(reversed(suffix.split(".")))
    return {
        "id": aws.partition,
        "partition": aws.partition,
        "dnsSuffix": suffix,
        "reverseDnsPrefix": reverse,
    }


def ami(aws: Aws, arguments: Props) -> Props:
    """Returns the one image that matches, or the newest where ``mostRecent`` is set.

    Raises:
        LookupError: none matches, or several do.
    """
    wanted: dict[str, Any] = {"Filters": _filters(arguments)}
    if arguments.get("owners"):
        wanted["Owners"] = list(arguments["owners"])
    images = aws.ec2.describe_images(**wanted)["Images"]
    if arguments.get("nameRegex"):
        pattern = re.compile(arguments["nameRegex"])
        images = [one for one in images if pattern.search(one.get("Name", ""))]
    if not images:
        raise LookupError("no image matches; the embedded AWS offers a fixed list of images")
    if len(images) > 1 and not arguments.get("mostRecent"):
        raise LookupError(f"{len(images)} images match; narrow the filters or set mostRecent")
    image = max(images, key=lambda one: (str(one["CreationDate"]), str(one["ImageId"])))
    names = {
        "Architecture": "architecture",
        "CreationDate": "creationDate",
        "Description": "description",
        "Hypervisor": "hypervisor",
        "ImageId": "imageId",
        "ImageLocation": "imageLocation",
        "ImageOwnerAlias": "imageOwnerAlias",
        "ImageType": "imageType",
        "Name": "name",
        "OwnerId": "ownerId",
        "Public": "public",
        "RootDeviceName": "rootDeviceName",
        "RootDeviceType": "rootDeviceType",
        "State": "state",
        "VirtualizationType": "virtualizationType",
    }
    return {
        **arguments,
        **take(image, names),
        "id": image["ImageId"],
        "arn": f"arn:{aws.partition}:ec2:{aws.region}::image/{image['ImageId']}",
        "blockDeviceMappings": [],
        "productCodes": [],
        "stateReason": {},
        "region": aws.region,
        "tags": public_tags(image.get("Tags", [])),
    }


def parameter(aws: Aws, arguments: Props) -> Props:
    """Returns a parameter and its value."""
    item = aws.client("ssm").get_parameter(
        Name=arguments["name"], WithDecryption=arguments.get("withDecryption", True)
    )["Parameter"]
    return {
        **arguments,
        "id": item["Name"],
        "arn": item.get("ARN", ""),
        "type": item["Type"],
        "value": item["Value"],
        "insecureValue": item["Value"] if item["Type"] != "SecureString" else "",
        "version": item["Version"],
        "region": aws.region,
    }


def _one_or_more(values: list[Any]) -> Any:
    return values[0] if len(values) == 1 else values


def _principals(entries: list[Mapping[str, Any]]) -> Any:
    if any(one["type"] == "*" for one in entries):
        return "*"
    merged: dict[str, list[str]] = {}
    for one in entries:
        merged.setdefault(one["type"], []).extend(one["identifiers"])
    return {kind: _one_or_more(values) for kind, values in merged.items()}


def policy_document(aws: Aws, arguments: Props) -> Props:
    """Returns an IAM policy document as JSON; nothing is asked of AWS."""
    statements: dict[str, dict[str, Any]] = {}

    def add(statement: dict[str, Any], number: int) -> None:
        statements[statement.get("Sid") or f"\0{len(statements)}-{number}"] = statement

    for text in arguments.get("sourcePolicyDocuments") or []:
        for number, one in enumerate(json.loads(text).get("Statement", [])):
            add(one, number)
    for number, one in enumerate(arguments.get("statements") or []):
        statement: dict[str, Any] = {}
        if one.get("sid"):
            statement["Sid"] = one["sid"]
        statement["Effect"] = one.get("effect") or "Allow"
        for name, key in (
            ("actions", "Action"),
            ("notActions", "NotAction"),
            ("resources", "Resource"),
            ("notResources", "NotResource"),
        ):
            if one.get(name):
                statement[key] = _one_or_more(sorted(one[name], reverse=True))
        for name, key in (("principals", "Principal"), ("notPrincipals", "NotPrincipal")):
            if one.get(name):
                statement[key] = _principals(one[name])
        for condition in one.get("conditions") or []:
            test = statement.setdefault("Condition", {}).setdefault(condition["test"], {})
            test[condition["variable"]] = _one_or_more(list(condition["values"]))
        add(statement, number)
    for text in arguments.get("overridePolicyDocuments") or []:
        for number, one in enumerate(json.loads(text).get("Statement", [])):
            add(one, number)
    document: dict[str, Any] = {"Version": arguments.get("version") or "2012-10-17"}
    if arguments.get("policyId"):
        document["Id"] = arguments["policyId"]
    document["Statement"] = list(statements.values())
    return {
        **arguments,
        "id": arguments.get("policyId") or "policy-document",
        "json": json.dumps(document, indent=2),
        "minifiedJson": json.dumps(document, separators=(",", ":")),
    }


def instance_type(aws: Aws, arguments: Props) -> Props:
    """Returns what moto's table says of an instance type."""
    name = arguments["instanceType"]
    item = aws.ec2.describe_instance_types(InstanceTypes=[name])["InstanceTypes"][0]
    network = item.get("NetworkInfo", {})
    gpus = item.get("GpuInfo", {})
    return {
        **arguments,
        "id": name,
        "instanceType": name,
        "region": aws.region,
        "bareMetal": item.get("BareMetal", False),
        "currentGeneration": item.get("CurrentGeneration", True),
        "defaultVcpus": item.get("VCpuInfo", {}).get("DefaultVCpus"),
        "memorySize": item.get("MemoryInfo", {}).get("SizeInMiB"),
        "efaSupported": network.get("EfaSupported", False),
        "efaMaximumInterfaces": network.get("EfaInfo", {}).get("MaximumEfaInterfaces"),
        "maximumNetworkCards": network.get("MaximumNetworkCards"),
        "maximumNetworkInterfaces": network.get("MaximumNetworkInterfaces"),
        "networkPerformance": network.get("NetworkPerformance"),
        "totalGpuMemory": gpus.get("TotalGpuMemoryInMiB"),
        "gpuses": [
            {
                "count": one.get("Count"),
                "manufacturer": one.get("Manufacturer"),
                "memorySize": one.get("MemoryInfo", {}).get("SizeInMiB"),
                "name": one.get("Name"),
            }
            for one in gpus.get("Gpus", [])
        ],
        "supportedArchitectures": item.get("ProcessorInfo", {}).get("SupportedArchitectures", []),
    }


def capacity_block_offering(aws: Aws, arguments: Props) -> Props:
    """Returns the first capacity block on offer.

    Raises:
        LookupError: none is.
    """
    names = {
        "capacityDurationHours": "CapacityDurationHours",
        "endDateRange": "EndDateRange",
        "instanceCount": "InstanceCount",
        "instanceType": "InstanceType",
        "startDateRange": "StartDateRange",
    }
    found = aws.ec2.describe_capacity_block_offerings(**take(arguments, names))
    if not found["CapacityBlockOfferings"]:
        raise LookupError("no capacity block is on offer")
    item = found["CapacityBlockOfferings"][0]
    return {
        **arguments,
        "id": item["CapacityBlockOfferingId"],
        "capacityBlockOfferingId": item["CapacityBlockOfferingId"],
        "availabilityZone": item["AvailabilityZone"],
        "currencyCode": item["CurrencyCode"],
        "upfrontFee": item["UpfrontFee"],
        "tenancy": item["Tenancy"],
        "region": aws.region,
        **{
            name: _date(item[key])
            for name, key in (("startDateRange", "StartDate"), ("endDateRange", "EndDate"))
            if name not in arguments
        },
    }


def _date(value: Any) -> Any:
    return value.strftime("%Y-%m-%dT%H:%M:%SZ") if isinstance(value, datetime) else value


def subnets(aws: Aws, arguments: Props) -> Props:
    """Returns the ids of the subnets that match."""
    filters = _filters(arguments)
    filters += [
        {"Name": f"tag:{key}", "Values": [value]}
        for key, value in (arguments.get("tags") or {}).items()
    ]
    found = aws.ec2.describe_subnets(Filters=filters)["Subnets"]
    ids = sorted(one["SubnetId"] for one in found)
    return {**arguments, "id": aws.region, "region": aws.region, "ids": ids}


def vpc(aws: Aws, arguments: Props) -> Props:
    """Returns the one VPC that matches.

    Raises:
        LookupError: none or several match.
    """
    filters = _filters(arguments)
    if arguments.get("default") is not None:
        filters.append({"Name": "is-default", "Values": [str(arguments["default"]).lower()]})
    filters += [
        {"Name": f"tag:{key}", "Values": [value]}
        for key, value in (arguments.get("tags") or {}).items()
    ]
    wanted: dict[str, Any] = {"Filters": filters}
    if arguments.get("id"):
        wanted["VpcIds"] = [arguments["id"]]
    found = aws.ec2.describe_vpcs(**wanted)["Vpcs"]
    if len(found) != 1:
        raise LookupError(f"{len(found)} VPCs match, one was asked for")
    item = found[0]
    return {
        **arguments,
        "id": item["VpcId"],
        "arn": aws.arn("ec2", f"vpc/{item['VpcId']}"),
        "cidrBlock": item["CidrBlock"],
        "default": item.get("IsDefault", False),
        "ownerId": ACCOUNT,
        "region": aws.region,
        "tags": public_tags(item.get("Tags", [])),
    }


INVOKES: dict[str, Function] = {
    "aws:index/getAvailabilityZones:getAvailabilityZones": availability_zones,
    "aws:index/getCallerIdentity:getCallerIdentity": caller_identity,
    "aws:index/getRegion:getRegion": region,
    "aws:index/getPartition:getPartition": partition,
    "aws:ec2/getAmi:getAmi": ami,
    "aws:ec2/getCapacityBlockOffering:getCapacityBlockOffering": capacity_block_offering,
    "aws:ec2/getInstanceType:getInstanceType": instance_type,
    "aws:ec2/getSubnets:getSubnets": subnets,
    "aws:ec2/getVpc:getVpc": vpc,
    "aws:iam/getPolicyDocument:getPolicyDocument": policy_document,
    "aws:ssm/getParameter:getParameter": parameter,
}
