"""Calls and fields that moto's FSx lacks: lifecycle, updates and data repository associations."""

from __future__ import annotations

import json
import secrets
import time
from typing import Any

from moto.core.exceptions import JsonRESTError
from moto.ec2.models import ec2_backends
from moto.fsx.exceptions import FileSystemNotFound
from moto.fsx.models import FileSystem, FSxBackend
from moto.fsx.responses import FSxResponse

from rackwright_lab.embedded_aws.api.patching import first_time, put
from rackwright_lab.embedded_aws.pace import PACE

_THROUGHPUTS = {"PERSISTENT_1": (12, 40, 50, 100, 200), "PERSISTENT_2": (125, 250, 500, 1000)}


def install() -> None:
    """Put the additions into moto's FSx classes; a second call changes nothing."""
    if not first_time(__name__):
        return
    first_dict, first_create, first_delete = (
        FileSystem.to_dict,
        FSxBackend.create_file_system,
        FSxBackend.delete_file_system,
    )

    def to_dict(self: Any) -> dict[str, Any]:
        return {**first_dict(self), **_extra(self)}

    def create_file_system(self: Any, **kwargs: Any) -> Any:
        token = kwargs.get("client_request_token")
        for held in self.file_systems.values():
            if token and getattr(held, "token", None) == token:
                return held
        _check(kwargs)
        made: Any = first_create(self, **kwargs)
        made.token = token
        made.created = time.time()
        made.version = kwargs.get("file_system_type_version")
        return made

    def delete_file_system(self: Any, file_system_id: str, **kwargs: Any) -> Any:
        for key, one in list(_associations(self).items()):
            if one["FileSystemId"] == file_system_id:
                del _associations(self)[key]
        return first_delete(self, file_system_id=file_system_id, **kwargs)

    put(FileSystem, to_dict=to_dict)
    put(FSxBackend, create_file_system=create_file_system, delete_file_system=delete_file_system)
    for method in (
        describe_file_systems,
        update_file_system,
        create_data_repository_association,
        describe_data_repository_associations,
        update_data_repository_association,
        delete_data_repository_association,
    ):
        put(FSxResponse, **{method.__name__: method})


def _bad(message: str) -> JsonRESTError:
    return JsonRESTError("BadRequest", message)


def _check(kwargs: dict[str, Any]) -> None:
    if kwargs.get("file_system_type") != "LUSTRE":
        return
    lustre = kwargs.get("lustre_configuration") or {}
    kind = lustre.get("DeploymentType", "SCRATCH_1")
    capacity = int(kwargs.get("storage_capacity") or 0)
    if lustre.get("EfaEnabled"):
        if kind != "PERSISTENT_2":
            raise _bad("EFA needs the deployment type PERSISTENT_2")
        if not lustre.get("MetadataConfiguration"):
            raise _bad("EFA needs a metadata configuration")
    if kind != "SCRATCH_1" and capacity != 1200 and (capacity < 2400 or capacity % 2400):
        raise _bad(f"the storage capacity {capacity} is neither 1200 nor a multiple of 2400 GiB")
    rate = lustre.get("PerUnitStorageThroughput")
    rates = _THROUGHPUTS.get(kind)
    if rates and rate is None:
        raise _bad(f"the deployment type {kind} needs PerUnitStorageThroughput")
    if rates and rate not in rates:
        raise _bad(f"PerUnitStorageThroughput {rate} is none of {', '.join(map(str, rates))}")


def _extra(self: Any) -> dict[str, Any]:
    backend = self.backend
    ec2 = ec2_backends[backend.account_id][backend.region_name]
    network = ec2.get_subnet(self.subnet_ids[0]).vpc_id if self.subnet_ids else None
    extra: dict[str, Any] = {
        "Lifecycle": _lifecycle(getattr(self, "created", 0.0)),
        "OwnerId": backend.account_id,
        "CreationTime": getattr(self, "created", 0.0),
        "VpcId": network,
        "StorageType": self.storage_type or "SSD",
        "NetworkInterfaceIds": [f"eni-{self.file_system_id.removeprefix('fs-'):0>17}"],
    }
    if self.file_system_type == "LUSTRE":
        lustre = dict(self.lustre_configuration or {})
        lustre.setdefault("DeploymentType", "SCRATCH_1")
        lustre.setdefault("DataCompressionType", "NONE")
        lustre.setdefault("WeeklyMaintenanceStartTime", "7:05:00")
        lustre.setdefault("CopyTagsToBackups", False)
        lustre.setdefault("EfaEnabled", False)
        mount = self.file_system_id.removeprefix("fs-")[:8]
        lustre["MountName"] = mount if lustre["DeploymentType"] != "SCRATCH_1" else "fsx"
        extra["LustreConfiguration"] = lustre
        version = getattr(self, "version", None)
        newest = "2.15" if lustre["DeploymentType"] == "PERSISTENT_2" else "2.10"
        extra["FileSystemTypeVersion"] = version or newest
    return {key: value for key, value in extra.items() if value is not None}


def _file_system(backend: Any, identity: str) -> Any:
    if identity not in backend.file_systems:
        raise FileSystemNotFound(identity)
    return backend.file_systems[identity]


def _associations(backend: Any) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = vars(backend).setdefault("rackwright_associations", {})
    return found


def _association(backend: Any, identity: str) -> dict[str, Any]:
    try:
        return _associations(backend)[identity]
    except KeyError:
        raise JsonRESTError(
            "DataRepositoryAssociationNotFound",
            f"Data repository association '{identity}' does not exist.",
        ) from None


def _association_document(backend: Any, held: dict[str, Any]) -> dict[str, Any]:
    return {
        **held,
        "Lifecycle": _lifecycle(held["CreationTime"]),
        "Tags": backend.list_tags_for_resource(held["ResourceARN"]),
    }


def _lifecycle(made: float) -> str:
    return "AVAILABLE" if PACE.is_ready(made) else "CREATING"


def describe_file_systems(self: Any) -> str:
    """Return the file systems asked for; an unknown id is an error, as in AWS."""
    params = json.loads(self.body)
    backend = self.fsx_backend
    for identity in params.get("FileSystemIds") or []:
        _file_system(backend, identity)
    found, token = backend.describe_file_systems(
        file_system_ids=params.get("FileSystemIds"),
        max_results=params.get("MaxResults"),
        next_token=params.get("NextToken"),
    )
    return json.dumps({"FileSystems": [one.to_dict() for one in found], "NextToken": token})


def update_file_system(self: Any) -> str:
    """Return the file system with its capacity and Lustre settings changed.

    Raises:
        FileSystemNotFound: there is none of that id.
        JsonRESTError: its capacity would be smaller, or its settings do not go together.
    """  # noqa: DOC501 - _bad() makes the JsonRESTError
    params = json.loads(self.body)
    held = _file_system(self.fsx_backend, params["FileSystemId"])
    lustre = {**(held.lustre_configuration or {}), **params.get("LustreConfiguration", {})}
    capacity = params.get("StorageCapacity", held.storage_capacity)
    if capacity < held.storage_capacity:
        raise _bad("the storage capacity of a file system cannot be made smaller")
    _check(
        {
            "file_system_type": held.file_system_type,
            "storage_capacity": capacity,
            "lustre_configuration": lustre,
        }
    )
    held.storage_capacity = capacity
    held.lustre_configuration = lustre
    return json.dumps({"FileSystem": held.to_dict()})


def create_data_repository_association(self: Any) -> str:
    """Return the new association of a file system path with a bucket.

    Raises:
        FileSystemNotFound: there is none of that id.
        JsonRESTError: the file system is of the deployment type SCRATCH_1, or the path has an
            association.
    """  # noqa: DOC501 - _bad() makes the JsonRESTError
    params = json.loads(self.body)
    backend = self.fsx_backend
    held = _file_system(backend, params["FileSystemId"])
    token = params.get("ClientRequestToken")
    for one in _associations(backend).values():
        if token and one["ClientRequestToken"] == token:
            return json.dumps({"Association": _association_document(backend, one)})
    kind = (held.lustre_configuration or {}).get("DeploymentType", "SCRATCH_1")
    if kind == "SCRATCH_1":
        raise _bad("a data repository association needs another deployment type than SCRATCH_1")
    path = params.get("FileSystemPath") or "/"
    for one in _associations(backend).values():
        if one["FileSystemId"] == held.file_system_id and one["FileSystemPath"] == path:
            raise _bad(f"the path {path} has a data repository association")
    identity = f"dra-{secrets.token_hex(9)[:17]}"
    association = {
        "AssociationId": identity,
        "ResourceARN": f"arn:{backend.partition}:fsx:{backend.region_name}:{backend.account_id}"
        f":association/{held.file_system_id}/{identity}",
        "FileSystemId": held.file_system_id,
        "Lifecycle": "AVAILABLE",
        "FileSystemPath": path,
        "DataRepositoryPath": params["DataRepositoryPath"],
        "BatchImportMetaDataOnCreate": params.get("BatchImportMetaDataOnCreate", False),
        "ImportedFileChunkSize": params.get("ImportedFileChunkSize", 1024),
        "S3": params.get("S3") or {},
        "CreationTime": time.time(),
        "ClientRequestToken": token,
    }
    _associations(backend)[identity] = association
    if params.get("Tags"):
        backend.tagger.tag_resource(association["ResourceARN"], params["Tags"])
    return json.dumps({"Association": _association_document(backend, association)})


def describe_data_repository_associations(self: Any) -> str:
    """Return the associations asked for by id or filter."""
    params = json.loads(self.body)
    backend = self.fsx_backend
    ids = params.get("AssociationIds") or []
    held = [_association(backend, one) for one in ids] or list(_associations(backend).values())
    for entry in params.get("Filters") or []:
        if entry["Name"] == "file-system-id":
            held = [one for one in held if one["FileSystemId"] in entry["Values"]]
    return json.dumps({"Associations": [_association_document(backend, one) for one in held]})


def update_data_repository_association(self: Any) -> str:
    """Return the association with its S3 policies or chunk size changed."""
    params = json.loads(self.body)
    held = _association(self.fsx_backend, params["AssociationId"])
    for key in ("ImportedFileChunkSize", "S3"):
        if key in params:
            held[key] = params[key]
    return json.dumps({"Association": _association_document(self.fsx_backend, held)})


def delete_data_repository_association(self: Any) -> str:
    """Return the id and lifecycle of the association now gone."""
    params = json.loads(self.body)
    backend = self.fsx_backend
    held = _association(backend, params["AssociationId"])
    del _associations(backend)[held["AssociationId"]]
    return json.dumps(
        {
            "AssociationId": held["AssociationId"],
            "Lifecycle": "DELETING",
            "DeleteDataInFileSystem": params.get("DeleteDataInFileSystem", False),
        }
    )
