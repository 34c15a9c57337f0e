"""Calls that moto's EFS lacks: changes of throughput, and backup policies, also disabled ones."""

from __future__ import annotations

import json
from typing import Any

from moto.efs.exceptions import BadRequest, FileSystemNotFound
from moto.efs.models import EFSBackend, FileSystem
from moto.efs.responses import TYPE_RESPONSE, EFSResponse

from rackwright_lab.embedded_aws.api.patching import first_time, put

_JSON: dict[str, str | int] = {"Content-Type": "application/json"}
_STATES = ("ENABLED", "DISABLED")


def install() -> None:
    """Put the additions into moto's EFS classes; a second call changes nothing."""
    if not first_time(__name__):
        return
    first_policy: Any = vars(FileSystem)["backup_policy"]

    def backup_policy(self: Any) -> dict[str, str] | None:
        """Return the value that was put, else that of the new file system."""
        status = getattr(self, "_backup_status", None)
        return first_policy.fget(self) if status is None else {"Status": status}

    put(FileSystem, backup_policy=property(backup_policy))
    put(EFSResponse, put_backup_policy=put_backup_policy, update_file_system=update_file_system)


def _held(backend: EFSBackend, identity: str) -> Any:
    """Return the file system, as moto has it.

    Raises:
        FileSystemNotFound: there is none of that id.
    """
    found = backend.file_systems_by_id.get(identity)
    if found is None:
        raise FileSystemNotFound(identity)
    return found


def put_backup_policy(self: Any) -> TYPE_RESPONSE:
    """Answer PutBackupPolicy.

    Raises:
        BadRequest: it is neither on nor off.
    """
    status = self._get_param("BackupPolicy")["Status"]
    if status not in _STATES:
        raise BadRequest(f"the status of a backup policy is one of {', '.join(_STATES)}")
    held = _held(self.efs_backend, self._get_param("FileSystemId"))
    held._backup_status = status
    return json.dumps({"BackupPolicy": held.backup_policy}), _JSON


def update_file_system(self: Any) -> TYPE_RESPONSE:
    """Answer UpdateFileSystem, which changes the throughput.

    Raises:
        BadRequest: a rate is given for another mode, or none for the provisioned one.
    """
    held = _held(self.efs_backend, self._get_param("FileSystemId"))
    mode = self._get_param("ThroughputMode") or held.throughput_mode
    rate = self._get_param("ProvisionedThroughputInMibps")
    if (mode == "provisioned") != (rate is not None):
        raise BadRequest("ProvisionedThroughputInMibps goes with the mode 'provisioned' alone")
    held.throughput_mode, held.provisioned_throughput_in_mibps = mode, rate
    return json.dumps(held.info_json()), {**_JSON, "status": 202}
