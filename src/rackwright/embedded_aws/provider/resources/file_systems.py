# ruff: noqa: D102, S105 - Resource describes the methods; a token names a type
"""File systems of FSx for Lustre with their data repository associations, and of EFS with mount targets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from rackwright.embedded_aws.provider.aws import ACCOUNT, Aws, client_token
from rackwright.embedded_aws.provider.resource import Resource, changed, public_tags, tag_list, take
from rackwright.embedded_aws.provider.resources.ec2_template import to_api
from rackwright.embedded_aws.provider.wire import Props
from rackwright.model.aws_partitions import dns_suffix

_LUSTRE = {
    "autoImportPolicy": "AutoImportPolicy",
    "automaticBackupRetentionDays": "AutomaticBackupRetentionDays",
    "copyTagsToBackups": "CopyTagsToBackups",
    "dailyAutomaticBackupStartTime": "DailyAutomaticBackupStartTime",
    "dataCompressionType": "DataCompressionType",
    "deploymentType": "DeploymentType",
    "driveCacheType": "DriveCacheType",
    "efaEnabled": "EfaEnabled",
    "exportPath": "ExportPath",
    "importPath": "ImportPath",
    "importedFileChunkSize": "ImportedFileChunkSize",
    "metadataConfiguration": "MetadataConfiguration",
    "perUnitStorageThroughput": "PerUnitStorageThroughput",
    "rootSquashConfiguration": "RootSquashConfiguration",
    "throughputCapacity": "ThroughputCapacity",
    "weeklyMaintenanceStartTime": "WeeklyMaintenanceStartTime",
}
_CHANGEABLE = {
    name: _LUSTRE[name]
    for name in (
        "autoImportPolicy",
        "automaticBackupRetentionDays",
        "dailyAutomaticBackupStartTime",
        "dataCompressionType",
        "metadataConfiguration",
        "perUnitStorageThroughput",
        "rootSquashConfiguration",
        "throughputCapacity",
        "weeklyMaintenanceStartTime",
    )
}


def _tags(tags: Mapping[str, str]) -> dict[str, Any]:
    """The argument with the tags; FSx refuses one without any."""
    return {"Tags": tag_list(tags)} if tags else {}


class _FsxResource(Resource):
    """What FSx resources share: looking up by id, and tagging."""

    arn_of: ClassVar[str] = "ResourceARN"
    operation: ClassVar[str] = ""
    ids: ClassVar[str] = ""
    items: ClassVar[str] = ""
    key: ClassVar[str] = ""

    def one(self, aws: Aws, identity: str) -> dict[str, Any] | None:
        reply = getattr(aws.client("fsx"), self.operation)(**{self.ids: [identity]})
        found = reply[self.items]
        return dict(found[0]) if found else None

    def tag(self, aws: Aws, identity: str, put: dict[str, str], drop: list[str]) -> None:
        item = self.one(aws, identity)
        if item is None:
            return
        client, arn = aws.client("fsx"), item["ResourceARN"]
        if drop:
            client.untag_resource(ResourceARN=arn, TagKeys=drop)
        if put:
            client.tag_resource(ResourceARN=arn, Tags=tag_list(put))


class LustreFileSystem(_FsxResource):
    """An FSx for Lustre file system."""

    token = "aws:fsx/lustreFileSystem:LustreFileSystem"
    operation, ids, items = "describe_file_systems", "FileSystemIds", "FileSystems"
    key = "FileSystemId"
    required = ("subnetIds",)
    silent = frozenset(
        {
            "dailyAutomaticBackupStartTime",
            "fileSystemTypeVersion",
            "kmsKeyId",
            "weeklyMaintenanceStartTime",
        }
    )
    unordered = frozenset({"securityGroupIds"})
    inputs = (
        "subnetIds",
        "securityGroupIds",
        "storageCapacity",
        "storageType",
        "kmsKeyId",
        "fileSystemTypeVersion",
        *_LUSTRE,
    )
    replace = frozenset(inputs) - frozenset(_CHANGEABLE) - {"storageCapacity"}
    computed = (
        "arn",
        "dnsName",
        "fileSystemTypeVersion",
        "mountName",
        "networkInterfaceIds",
        "ownerId",
        "vpcId",
    )

    def defaults(self, aws: Aws, inputs: Props) -> Props:
        return {"storageType": "SSD", **inputs}

    def create(self, aws: Aws, inputs: Props, tags: Mapping[str, str]) -> str:
        names = {
            "fileSystemTypeVersion": "FileSystemTypeVersion",
            "kmsKeyId": "KmsKeyId",
            "securityGroupIds": "SecurityGroupIds",
            "storageCapacity": "StorageCapacity",
            "storageType": "StorageType",
        }
        made = aws.client("fsx").create_file_system(
            FileSystemType="LUSTRE",
            # The provider's ``subnetIds`` is one id: a Lustre file system has one subnet.
            SubnetIds=[inputs["subnetIds"]],
            ClientRequestToken=client_token(),
            LustreConfiguration=self._lustre(inputs, _LUSTRE),
            **_tags(tags),
            **take(inputs, names),
        )
        return str(made["FileSystem"]["FileSystemId"])

    @staticmethod
    def _lustre(inputs: Props, names: Mapping[str, str]) -> dict[str, Any]:
        return {api: to_api(value) for api, value in take(inputs, names).items()}

    def apply(self, aws: Aws, identity: str, olds: Props, news: Props) -> None:
        if not olds or not changed(olds, news, "storageCapacity", *_CHANGEABLE):
            return
        names = {name: api for name, api in _CHANGEABLE.items() if olds.get(name) != news.get(name)}
        arguments: dict[str, Any] = {}
        if olds.get("storageCapacity") != news.get("storageCapacity"):
            arguments.update(take(news, {"storageCapacity": "StorageCapacity"}))
        lustre = self._lustre(news, names)
        if lustre:
            arguments["LustreConfiguration"] = lustre
        if arguments:
            aws.client("fsx").update_file_system(FileSystemId=identity, **arguments)

    def read(self, aws: Aws, identity: str, state: Props) -> Props | None:
        item = self.one(aws, identity)
        if item is None:
            return None
        lustre = item.get("LustreConfiguration", {})
        live: Props = {
            name: lustre[api]
            for name, api in _LUSTRE.items()
            if api in lustre and not isinstance(lustre[api], dict)
        }
        metadata = lustre.get("MetadataConfiguration")
        if metadata:
            live["metadataConfiguration"] = take(metadata, {"Iops": "iops", "Mode": "mode"})
        return {
            **live,
            "arn": item["ResourceARN"],
            "dnsName": item["DNSName"],
            "mountName": lustre.get("MountName"),
            "fileSystemTypeVersion": item.get("FileSystemTypeVersion"),
            "kmsKeyId": item.get("KmsKeyId"),
            "networkInterfaceIds": item.get("NetworkInterfaceIds", []),
            "ownerId": ACCOUNT,
            "storageCapacity": item["StorageCapacity"],
            "storageType": item.get("StorageType"),
            "subnetIds": item["SubnetIds"][0],
            "vpcId": item.get("VpcId"),
            "tagsAll": public_tags(item.get("Tags", [])),
        }

    def delete(self, aws: Aws, identity: str, state: Props) -> None:
        aws.client("fsx").delete_file_system(FileSystemId=identity)


class DataRepositoryAssociation(_FsxResource):
    """A bucket linked to a path of a Lustre file system."""

    token = "aws:fsx/dataRepositoryAssociation:DataRepositoryAssociation"
    operation = "describe_data_repository_associations"
    ids, items, key = "AssociationIds", "Associations", "AssociationId"
    required = ("dataRepositoryPath", "fileSystemId", "fileSystemPath")
    replace = frozenset({*required, "batchImportMetaDataOnCreate"})
    inputs = (*required, "batchImportMetaDataOnCreate", "importedFileChunkSize", "s3")
    computed = ("arn", "associationId", "importedFileChunkSize")

    def create(self, aws: Aws, inputs: Props, tags: Mapping[str, str]) -> str:
        names = {
            "batchImportMetaDataOnCreate": "BatchImportMetaDataOnCreate",
            "dataRepositoryPath": "DataRepositoryPath",
            "fileSystemId": "FileSystemId",
            "fileSystemPath": "FileSystemPath",
            "importedFileChunkSize": "ImportedFileChunkSize",
        }
        policies = {"S3": to_api(inputs["s3"])} if inputs.get("s3") else {}
        made = aws.client("fsx").create_data_repository_association(
            ClientRequestToken=client_token(),
            **_tags(tags),
            **take(inputs, names),
            **policies,
        )
        return str(made["Association"]["AssociationId"])

    def apply(self, aws: Aws, identity: str, olds: Props, news: Props) -> None:
        if not olds or not changed(olds, news, "importedFileChunkSize", "s3"):
            return
        arguments = take(news, {"importedFileChunkSize": "ImportedFileChunkSize"})
        if news.get("s3"):
            arguments["S3"] = to_api(news["s3"])
        aws.client("fsx").update_data_repository_association(AssociationId=identity, **arguments)

    def read(self, aws: Aws, identity: str, state: Props) -> Props | None:
        item = self.one(aws, identity)
        if item is None:
            return None
        policies = {
            name: {"events": item["S3"][api].get("Events", [])}
            for name, api in (
                ("autoImportPolicy", "AutoImportPolicy"),
                ("autoExportPolicy", "AutoExportPolicy"),
            )
            if api in item.get("S3", {})
        }
        return {
            "arn": item["ResourceARN"],
            "associationId": identity,
            "batchImportMetaDataOnCreate": item.get("BatchImportMetaDataOnCreate"),
            "dataRepositoryPath": item["DataRepositoryPath"],
            "fileSystemId": item["FileSystemId"],
            "fileSystemPath": item["FileSystemPath"],
            "importedFileChunkSize": item.get("ImportedFileChunkSize"),
            "s3": policies or None,
            "tagsAll": public_tags(item.get("Tags", [])),
        }

    def delete(self, aws: Aws, identity: str, state: Props) -> None:
        aws.client("fsx").delete_data_repository_association(
            AssociationId=identity,
            DeleteDataInFileSystem=bool(state.get("deleteDataInFilesystem", False)),
        )


def _regional_host(aws: Aws, name: str) -> str:
    return f"{name}.{aws.region}.{dns_suffix(aws.region)}"


_TRANSITIONS = {
    "transitionToArchive": "TransitionToArchive",
    "transitionToIa": "TransitionToIA",
    "transitionToPrimaryStorageClass": "TransitionToPrimaryStorageClass",
}


class EfsFileSystem(Resource):
    """A file system of EFS."""

    token = "aws:efs/fileSystem:FileSystem"
    replace = frozenset(
        {"availabilityZoneName", "creationToken", "encrypted", "kmsKeyId", "performanceMode"}
    )
    inputs = (
        "availabilityZoneName",
        "creationToken",
        "encrypted",
        "kmsKeyId",
        "lifecyclePolicies",
        "performanceMode",
        "provisionedThroughputInMibps",
        "throughputMode",
    )
    silent = frozenset(
        {"availabilityZoneName", "creationToken", "encrypted", "kmsKeyId", "performanceMode"}
    )
    computed = (
        "arn",
        "availabilityZoneId",
        "availabilityZoneName",
        "creationToken",
        "dnsName",
        "encrypted",
        "kmsKeyId",
        "name",
        "numberOfMountTargets",
        "ownerId",
        "performanceMode",
        "sizeInBytes",
    )

    def defaults(self, aws: Aws, inputs: Props) -> Props:
        return {"throughputMode": "bursting", **inputs}

    def check(self, inputs: Props) -> list[tuple[str, str]]:
        wrong: list[tuple[str, str]] = []
        token, policies = inputs.get("creationToken"), inputs.get("lifecyclePolicies")
        if isinstance(token, str) and len(token) > 64:
            wrong.append(("creationToken", f"has {len(token)} characters, 64 at most"))
        if isinstance(policies, list) and len(policies) > 3:
            wrong.append(("lifecyclePolicies", "there are at most 3"))
        return wrong

    def create(self, aws: Aws, inputs: Props, tags: Mapping[str, str]) -> str:
        names = {
            "availabilityZoneName": "AvailabilityZoneName",
            "encrypted": "Encrypted",
            "kmsKeyId": "KmsKeyId",
            "performanceMode": "PerformanceMode",
            "throughputMode": "ThroughputMode",
        }
        if inputs.get("throughputMode") == "provisioned":
            names["provisionedThroughputInMibps"] = "ProvisionedThroughputInMibps"
        made = aws.client("efs").create_file_system(
            CreationToken=inputs.get("creationToken") or client_token(),
            **_tags(tags),
            **take(inputs, names),
        )
        return str(made["FileSystemId"])

    def apply(self, aws: Aws, identity: str, olds: Props, news: Props) -> None:
        client = aws.client("efs")
        if olds and changed(olds, news, "throughputMode", "provisionedThroughputInMibps"):
            mode = news["throughputMode"]
            rate = {"provisionedThroughputInMibps": "ProvisionedThroughputInMibps"}
            client.update_file_system(
                FileSystemId=identity,
                ThroughputMode=mode,
                **(take(news, rate) if mode == "provisioned" else {}),
            )
        if changed(olds, news, "lifecyclePolicies"):
            policies = [take(one, _TRANSITIONS) for one in news.get("lifecyclePolicies") or ()]
            client.put_lifecycle_configuration(FileSystemId=identity, LifecyclePolicies=policies)

    def tag(self, aws: Aws, identity: str, put: dict[str, str], drop: list[str]) -> None:
        client = aws.client("efs")
        if drop:
            client.untag_resource(ResourceId=identity, TagKeys=drop)
        if put:
            client.tag_resource(ResourceId=identity, Tags=tag_list(put))

    def read(self, aws: Aws, identity: str, state: Props) -> Props | None:
        client = aws.client("efs")
        (item,) = client.describe_file_systems(FileSystemId=identity)["FileSystems"]
        told = client.describe_lifecycle_configuration(FileSystemId=identity)
        back = {api: name for name, api in _TRANSITIONS.items()}
        return {
            "arn": item["FileSystemArn"],
            "availabilityZoneId": item.get("AvailabilityZoneId"),
            "availabilityZoneName": item.get("AvailabilityZoneName"),
            "creationToken": item["CreationToken"],
            "dnsName": _regional_host(aws, f"{identity}.efs"),
            "encrypted": item["Encrypted"],
            "kmsKeyId": item.get("KmsKeyId"),
            "lifecyclePolicies": [take(one, back) for one in told["LifecyclePolicies"]],
            "name": item.get("Name"),
            "numberOfMountTargets": item["NumberOfMountTargets"],
            "ownerId": ACCOUNT,
            "performanceMode": item["PerformanceMode"],
            "provisionedThroughputInMibps": item.get("ProvisionedThroughputInMibps"),
            "sizeInBytes": [
                {"value": item["SizeInBytes"]["Value"], "valueInIa": 0, "valueInStandard": 0}
            ],
            "throughputMode": item["ThroughputMode"],
            "tagsAll": public_tags(item.get("Tags", [])),
        }

    def delete(self, aws: Aws, identity: str, state: Props) -> None:
        aws.client("efs").delete_file_system(FileSystemId=identity)


class EfsMountTarget(Resource):
    """Where the hosts of a zone reach a file system of EFS."""

    token = "aws:efs/mountTarget:MountTarget"
    required = ("fileSystemId", "subnetId")
    replace = frozenset({*required, "ipAddress"})
    inputs = (*required, "ipAddress", "securityGroups")
    silent = frozenset({"ipAddress", "securityGroups"})
    unordered = frozenset({"securityGroups"})
    computed = (
        "availabilityZoneId",
        "availabilityZoneName",
        "dnsName",
        "fileSystemArn",
        "ipAddress",
        "mountTargetDnsName",
        "networkInterfaceId",
        "ownerId",
        "securityGroups",
    )
    taggable = False

    def create(self, aws: Aws, inputs: Props, tags: Mapping[str, str]) -> str:
        names = {
            "fileSystemId": "FileSystemId",
            "ipAddress": "IpAddress",
            "securityGroups": "SecurityGroups",
            "subnetId": "SubnetId",
        }
        made = aws.client("efs").create_mount_target(**take(inputs, names))
        return str(made["MountTargetId"])

    def apply(self, aws: Aws, identity: str, olds: Props, news: Props) -> None:
        if olds and changed(olds, news, "securityGroups") and news.get("securityGroups"):
            aws.client("efs").modify_mount_target_security_groups(
                MountTargetId=identity, SecurityGroups=news["securityGroups"]
            )

    def read(self, aws: Aws, identity: str, state: Props) -> Props | None:
        client = aws.client("efs")
        (item,) = client.describe_mount_targets(MountTargetId=identity)["MountTargets"]
        groups = client.describe_mount_target_security_groups(MountTargetId=identity)
        system, zone = item["FileSystemId"], item["AvailabilityZoneName"]
        return {
            "availabilityZoneId": item["AvailabilityZoneId"],
            "availabilityZoneName": zone,
            "dnsName": _regional_host(aws, f"{system}.efs"),
            "fileSystemArn": aws.arn("elasticfilesystem", f"file-system/{system}"),
            "fileSystemId": system,
            "ipAddress": item["IpAddress"],
            "mountTargetDnsName": _regional_host(aws, f"{zone}.{system}.efs"),
            "networkInterfaceId": item["NetworkInterfaceId"],
            "ownerId": ACCOUNT,
            "securityGroups": groups["SecurityGroups"],
            "subnetId": item["SubnetId"],
        }

    def delete(self, aws: Aws, identity: str, state: Props) -> None:
        aws.client("efs").delete_mount_target(MountTargetId=identity)


class EfsBackupPolicy(Resource):
    """Whether AWS Backup copies a file system of EFS; taken away, it does not."""

    token = "aws:efs/backupPolicy:BackupPolicy"
    required = ("backupPolicy", "fileSystemId")
    replace = frozenset({"fileSystemId"})
    inputs = required
    computed = ()
    taggable = False

    def create(self, aws: Aws, inputs: Props, tags: Mapping[str, str]) -> str:
        self._put(aws, str(inputs["fileSystemId"]), str(inputs["backupPolicy"]["status"]))
        return str(inputs["fileSystemId"])

    def apply(self, aws: Aws, identity: str, olds: Props, news: Props) -> None:
        if olds and changed(olds, news, "backupPolicy"):
            self._put(aws, identity, str(news["backupPolicy"]["status"]))

    @staticmethod
    def _put(aws: Aws, identity: str, status: str) -> None:
        aws.client("efs").put_backup_policy(FileSystemId=identity, BackupPolicy={"Status": status})

    def read(self, aws: Aws, identity: str, state: Props) -> Props | None:
        told = aws.client("efs").describe_backup_policy(FileSystemId=identity)
        return {
            "backupPolicy": {"status": told["BackupPolicy"]["Status"]},
            "fileSystemId": identity,
        }

    def delete(self, aws: Aws, identity: str, state: Props) -> None:
        self._put(aws, identity, "DISABLED")
