# ruff: noqa: D102, S105 - Resource describes the methods; a token names a type
"""Single instances."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

from rackwright.embedded_aws.provider.aws import Aws, client_token
from rackwright.embedded_aws.provider.resource import changed, public_tags, tag_list, take
from rackwright.embedded_aws.provider.resources.ec2_base import Ec2Resource
from rackwright.embedded_aws.provider.resources.ec2_template import to_api
from rackwright.embedded_aws.provider.wire import Props

_PLACEMENT = {
    "availabilityZone": "AvailabilityZone",
    "hostId": "HostId",
    "placementGroup": "GroupName",
    "placementPartitionNumber": "PartitionNumber",
    "tenancy": "Tenancy",
}


def _template(reference: Mapping[str, Any]) -> dict[str, Any]:
    names = {"id": "LaunchTemplateId", "name": "LaunchTemplateName", "version": "Version"}
    return take(reference, names)


class Instance(Ec2Resource):
    """One instance."""

    token = "aws:ec2/instance:Instance"
    kind, operation, ids = "instance", "describe_instances", "InstanceIds"
    items, key = "Reservations", "InstanceId"
    replace = frozenset(
        {
            "ami",
            "associatePublicIpAddress",
            "availabilityZone",
            "capacityReservationSpecification",
            "ebsBlockDevices",
            "hostId",
            "instanceMarketOptions",
            "keyName",
            "launchTemplate",
            "placementGroup",
            "privateIp",
            "rootBlockDevice",
            "subnetId",
            "tenancy",
        }
    )
    inputs = (
        "ami",
        "iamInstanceProfile",
        "instanceType",
        "keyName",
        "metadataOptions",
        "subnetId",
        "vpcSecurityGroupIds",
    )
    computed = (
        "ami",
        "arn",
        "availabilityZone",
        "instanceState",
        "instanceType",
        "primaryNetworkInterfaceId",
        "privateDns",
        "privateIp",
        "publicDns",
        "publicIp",
        "subnetId",
    )
    unordered = frozenset({"vpcSecurityGroupIds"})

    def check(self, inputs: Props) -> list[tuple[str, str]]:
        if inputs.get("launchTemplate") is None and inputs.get("ami") is None:
            return [("ami", "an instance needs an ami or a launchTemplate")]
        return []

    def describe(self, aws: Aws, **arguments: Any) -> list[dict[str, Any]]:
        return [
            instance
            for reservation in super().describe(aws, **arguments)
            for instance in reservation["Instances"]
            if instance["State"]["Name"] not in ("terminated", "shutting-down")
        ]

    def create(self, aws: Aws, inputs: Props, tags: Mapping[str, str]) -> str:
        names = {
            "ami": "ImageId",
            "ebsOptimized": "EbsOptimized",
            "instanceInitiatedShutdownBehavior": "InstanceInitiatedShutdownBehavior",
            "instanceType": "InstanceType",
            "keyName": "KeyName",
            "privateIp": "PrivateIpAddress",
        }
        arguments = take(inputs, names)
        public = inputs.get("associatePublicIpAddress")
        groups = inputs.get("vpcSecurityGroupIds")
        if public is not None:
            nic: dict[str, Any] = {"DeviceIndex": 0, "AssociatePublicIpAddress": bool(public)}
            nic.update(take(inputs, {"subnetId": "SubnetId", "vpcSecurityGroupIds": "Groups"}))
            nic["DeleteOnTermination"] = True
            arguments["NetworkInterfaces"] = [nic]
        else:
            arguments.update(take(inputs, {"subnetId": "SubnetId"}))
            if groups:
                arguments["SecurityGroupIds"] = groups
        if inputs.get("launchTemplate"):
            arguments["LaunchTemplate"] = _template(inputs["launchTemplate"])
        for name in (
            "capacityReservationSpecification",
            "cpuOptions",
            "metadataOptions",
            "instanceMarketOptions",
        ):
            if inputs.get(name):
                arguments[name[0].upper() + name[1:]] = to_api(inputs[name])
        placement = take(inputs, _PLACEMENT)
        if placement:
            arguments["Placement"] = placement
        if inputs.get("disableApiTermination"):
            arguments["DisableApiTermination"] = True
        if inputs.get("iamInstanceProfile"):
            arguments["IamInstanceProfile"] = {"Name": inputs["iamInstanceProfile"]}
        if inputs.get("monitoring") is not None:
            arguments["Monitoring"] = {"Enabled": bool(inputs["monitoring"])}
        disks = self._disks(aws, inputs)
        if disks:
            arguments["BlockDeviceMappings"] = disks
        if inputs.get("userDataBase64"):
            arguments["UserData"] = base64.b64decode(inputs["userDataBase64"]).decode()
        elif inputs.get("userData"):
            arguments["UserData"] = inputs["userData"]
        specifications = self.specifications(tags)
        volume = {**(inputs.get("volumeTags") or {})}
        if volume:
            specifications.append({"ResourceType": "volume", "Tags": tag_list(volume)})
        made = aws.ec2.run_instances(
            MinCount=1,
            MaxCount=1,
            ClientToken=client_token(),
            TagSpecifications=specifications,
            **arguments,
        )
        return str(made["Instances"][0]["InstanceId"])

    @staticmethod
    def _disks(aws: Aws, inputs: Props) -> list[dict[str, Any]]:
        disks = []
        root = inputs.get("rootBlockDevice")
        if root:
            images = (
                aws.ec2.describe_images(ImageIds=[inputs["ami"]])["Images"]
                if inputs.get("ami")
                else []
            )
            device = images[0]["RootDeviceName"] if images else "/dev/sda1"
            disks.append((root.get("deviceName") or device, root))
        disks += [(one["deviceName"], one) for one in inputs.get("ebsBlockDevices") or []]
        names = {
            "deleteOnTermination": "DeleteOnTermination",
            "encrypted": "Encrypted",
            "iops": "Iops",
            "kmsKeyId": "KmsKeyId",
            "snapshotId": "SnapshotId",
            "throughput": "Throughput",
            "volumeSize": "VolumeSize",
            "volumeType": "VolumeType",
        }
        return [
            {"DeviceName": name, "Ebs": {"DeleteOnTermination": True, **take(disk, names)}}
            for name, disk in disks
        ]

    def apply(self, aws: Aws, identity: str, olds: Props, news: Props) -> None:
        if not olds:
            return
        ec2 = aws.ec2
        if changed(olds, news, "instanceType", "userData", "userDataBase64"):
            ec2.stop_instances(InstanceIds=[identity])
            if news.get("instanceType"):
                ec2.modify_instance_attribute(
                    InstanceId=identity, InstanceType={"Value": news["instanceType"]}
                )
            ec2.start_instances(InstanceIds=[identity])
        if changed(olds, news, "vpcSecurityGroupIds") and news.get("vpcSecurityGroupIds"):
            ec2.modify_instance_attribute(InstanceId=identity, Groups=news["vpcSecurityGroupIds"])
        if changed(olds, news, "metadataOptions") and news.get("metadataOptions"):
            ec2.modify_instance_metadata_options(
                InstanceId=identity, **to_api(news["metadataOptions"])
            )
        if changed(olds, news, "disableApiTermination"):
            protected = bool(news.get("disableApiTermination"))
            ec2.modify_instance_attribute(
                InstanceId=identity, DisableApiTermination={"Value": protected}
            )
        if changed(olds, news, "iamInstanceProfile"):
            self._profile(aws, identity, news.get("iamInstanceProfile"))

    @staticmethod
    def _profile(aws: Aws, identity: str, name: str | None) -> None:
        held = aws.ec2.describe_iam_instance_profile_associations(
            Filters=[{"Name": "instance-id", "Values": [identity]}]
        )["IamInstanceProfileAssociations"]
        for one in held:
            aws.ec2.disassociate_iam_instance_profile(AssociationId=one["AssociationId"])
        if name:
            aws.ec2.associate_iam_instance_profile(
                InstanceId=identity, IamInstanceProfile={"Name": name}
            )

    def read(self, aws: Aws, identity: str, state: Props) -> Props | None:
        item = self.one(aws, identity)
        if item is None:
            return None
        interfaces = item.get("NetworkInterfaces") or [{}]
        profile = item.get("IamInstanceProfile", {}).get("Arn", "")
        options = item.get("MetadataOptions", {})
        tags = public_tags(item.get("Tags") or [])
        return {
            "arn": self.arn(aws, identity),
            "ami": item["ImageId"],
            "instanceType": item["InstanceType"],
            "instanceState": item["State"]["Name"],
            "availabilityZone": item["Placement"]["AvailabilityZone"],
            "placementGroup": item["Placement"].get("GroupName") or state.get("placementGroup"),
            "subnetId": item.get("SubnetId"),
            "privateIp": item.get("PrivateIpAddress"),
            "privateDns": item.get("PrivateDnsName"),
            "publicIp": item.get("PublicIpAddress") or "",
            "publicDns": item.get("PublicDnsName") or "",
            "keyName": item.get("KeyName"),
            "primaryNetworkInterfaceId": interfaces[0].get("NetworkInterfaceId"),
            "iamInstanceProfile": profile.rsplit("/", 1)[-1] or None,
            "vpcSecurityGroupIds": [one["GroupId"] for one in item.get("SecurityGroups", [])],
            "metadataOptions": {
                "httpEndpoint": options.get("HttpEndpoint"),
                "httpTokens": options.get("HttpTokens"),
                "httpPutResponseHopLimit": options.get("HttpPutResponseHopLimit"),
                **{
                    name: value
                    for name, value in (state.get("metadataOptions") or {}).items()
                    if name not in ("httpEndpoint", "httpTokens", "httpPutResponseHopLimit")
                },
            },
            "tagsAll": tags,
        }

    def delete(self, aws: Aws, identity: str, state: Props) -> None:
        aws.ec2.terminate_instances(InstanceIds=[identity])
