# ruff: noqa: D102, S105 - Resource describes the methods; a token names a type
"""Launch templates: the translation of every field that a GPU fleet needs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rackwright.embedded_aws.provider.aws import Aws, client_token
from rackwright.embedded_aws.provider.resource import changed, flag, tag_list
from rackwright.embedded_aws.provider.resources.ec2_base import Ec2Resource
from rackwright.embedded_aws.provider.wire import Props

_FLAGS = frozenset(
    {
        "associateCarrierIpAddress",
        "associatePublicIpAddress",
        "deleteOnTermination",
        "ebsOptimized",
        "encrypted",
        "primaryIpv6",
    }
)
_RENAMED = {
    "securityGroups": "Groups",
    "ipv4Addresses": "PrivateIpAddresses",
    "ipv4AddressCount": "SecondaryPrivateIpAddressCount",
    "ramDiskId": "RamDiskId",
    "vpcSecurityGroupIds": "SecurityGroupIds",
    "securityGroupNames": "SecurityGroups",
}
_DATA = (
    "blockDeviceMappings",
    "capacityReservationSpecification",
    "cpuOptions",
    "creditSpecification",
    "disableApiStop",
    "disableApiTermination",
    "ebsOptimized",
    "enclaveOptions",
    "hibernationOptions",
    "iamInstanceProfile",
    "imageId",
    "instanceInitiatedShutdownBehavior",
    "instanceMarketOptions",
    "instanceRequirements",
    "instanceType",
    "kernelId",
    "keyName",
    "maintenanceOptions",
    "metadataOptions",
    "monitoring",
    "networkInterfaces",
    "networkPerformanceOptions",
    "placement",
    "privateDnsNameOptions",
    "ramDiskId",
    "securityGroupNames",
    "tagSpecifications",
    "userData",
    "vpcSecurityGroupIds",
)


def to_api(value: Any, name: str = "") -> Any:
    """Returns a launch template field in the API's form: its names, and booleans for strings."""
    if name in _FLAGS and not isinstance(value, (list, dict)):
        return flag(value)
    if isinstance(value, list):
        return [to_api(one) for one in value]
    if not isinstance(value, Mapping):
        return value
    result: dict[str, Any] = {}
    for key, one in value.items():
        if one is None or one == "":
            continue
        if key == "tags":
            result["Tags"] = tag_list(one)
        elif key == "ipv4Addresses":
            addresses: list[dict[str, Any]] = [
                {"PrivateIpAddress": address, "Primary": position == 0}
                for position, address in enumerate(one)
            ]
            result["PrivateIpAddresses"] = addresses
        else:
            result[_RENAMED.get(key, key[0].upper() + key[1:])] = to_api(one, key)
    return result


def template_data(inputs: Props) -> dict[str, Any]:
    """Returns the launch template data of the API for the inputs of a program."""
    data: dict[str, Any] = to_api({name: inputs[name] for name in _DATA if name in inputs})
    return {name: value for name, value in data.items() if value not in ({}, [])}


class LaunchTemplate(Ec2Resource):
    """A launch template; a change of its data makes a new version."""

    token = "aws:ec2/launchTemplate:LaunchTemplate"
    kind, operation, ids = "launch-template", "describe_launch_templates", "LaunchTemplateIds"
    items, key = "LaunchTemplates", "LaunchTemplateId"
    replace = frozenset({"name", "namePrefix"})
    named = "name"
    name_limit = 128
    inputs = ("name", "description", "defaultVersion", "updateDefaultVersion", *_DATA)
    computed = ("arn", "defaultVersion", "latestVersion")

    def check(self, inputs: Props) -> list[tuple[str, str]]:
        seen: set[tuple[Any, Any]] = set()
        wrong = []
        for nic in inputs.get("networkInterfaces") or []:
            if not isinstance(nic, dict):
                continue
            place = (nic.get("networkCardIndex") or 0, nic.get("deviceIndex") or 0)
            if place in seen:
                wrong.append(
                    (
                        "networkInterfaces",
                        f"two interfaces have network card {place[0]} and device {place[1]}",
                    )
                )
            seen.add(place)
        return wrong

    def create(self, aws: Aws, inputs: Props, tags: Mapping[str, str]) -> str:
        made = aws.ec2.create_launch_template(
            LaunchTemplateName=inputs["name"],
            ClientToken=client_token(),
            LaunchTemplateData=template_data(inputs),
            TagSpecifications=self.specifications(tags),
            **({"VersionDescription": inputs["description"]} if inputs.get("description") else {}),
        )
        return str(made["LaunchTemplate"]["LaunchTemplateId"])

    def renewed(self, olds: Props, news: Props) -> tuple[str, ...]:
        if not changed(olds, news, "description", *_DATA):
            return ()
        default = ("defaultVersion",) if news.get("updateDefaultVersion") else ()
        return ("latestVersion", *default)

    def apply(self, aws: Aws, identity: str, olds: Props, news: Props) -> None:
        ec2 = aws.ec2
        latest = None
        if olds and self.renewed(olds, news):
            made = ec2.create_launch_template_version(
                LaunchTemplateId=identity,
                LaunchTemplateData=template_data(news),
                **({"VersionDescription": news["description"]} if news.get("description") else {}),
            )
            latest = made["LaunchTemplateVersion"]["VersionNumber"]
        wanted = latest if news.get("updateDefaultVersion") else None
        if olds and changed(olds, news, "defaultVersion") and news.get("defaultVersion"):
            wanted = news["defaultVersion"]
        if wanted is not None:
            ec2.modify_launch_template(LaunchTemplateId=identity, DefaultVersion=str(wanted))

    def read(self, aws: Aws, identity: str, state: Props) -> Props | None:
        item = self.one(aws, identity)
        if item is None:
            return None
        return {
            "arn": self.arn(aws, identity),
            "name": item["LaunchTemplateName"],
            "defaultVersion": item["DefaultVersionNumber"],
            "latestVersion": item["LatestVersionNumber"],
            **self.tagged(item),
        }

    def delete(self, aws: Aws, identity: str, state: Props) -> None:
        aws.ec2.delete_launch_template(LaunchTemplateId=identity)
