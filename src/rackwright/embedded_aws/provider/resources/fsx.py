# ruff: noqa: D102, S105 - Resource describes the methods; a token names a type
"""FSx for Lustre file systems and their data repository associations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from rackwright.embedded_aws.provider.aws import ACCOUNT, Aws, client_token
from rackwright.embedded_aws.provider.resource import Resource, changed, public_tags, tag_list, take
from rackwright.embedded_aws.provider.resources.ec2_template import to_api
from rackwright.embedded_aws.provider.wire import Props

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
