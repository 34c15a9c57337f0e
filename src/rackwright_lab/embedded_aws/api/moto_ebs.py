"""Checks of volumes that moto omits: one on two instances, one that shrinks, one of another zone.

Sources: Amazon EC2 API Reference, AttachVolume, DetachVolume, ModifyVolume and CreateVolume; Amazon EBS User Guide,
"Modify a volume" (a volume never shrinks) and "Create an Amazon EBS volume" (it is no smaller than its snapshot).
"""

from __future__ import annotations

from typing import Any

from moto.ec2.exceptions import EC2ClientError
from moto.ec2.models import EC2Backend
from moto.ec2.models.elastic_block_store import Snapshot

from rackwright_lab.embedded_aws.api.patching import first_time, put

_ATTACHABLE = frozenset({"pending", "running", "stopped"})
_GP3_RATE = 125


def install() -> None:
    """Put the checks into moto's classes; a second call changes nothing."""
    if not first_time(__name__):
        return
    first_attach, first_detach = EC2Backend.attach_volume, EC2Backend.detach_volume
    first_modify, first_create = EC2Backend.modify_volume, EC2Backend.create_volume
    first_init = Snapshot.__init__

    def attach_volume(
        self: Any, volume_id: str, instance_id: str, device_path: str, *more: Any, **named: Any
    ) -> Any:
        volume, instance = self.get_volume(volume_id), self.get_instance(instance_id)
        _check_attachment(volume, instance, device_path)
        # An instance that is launched is pending while it gets the volumes of its image.
        if instance._state.name not in _ATTACHABLE:
            raise EC2ClientError(
                "IncorrectState", f"Instance '{instance_id}' is not 'running' or 'stopped'."
            )
        return first_attach(self, volume_id, instance_id, device_path, *more, **named)

    def detach_volume(self: Any, volume_id: str, instance_id: str, device_path: str) -> Any:
        volume = self.get_volume(volume_id)
        if volume.attachment is None:
            raise EC2ClientError(
                "IncorrectState", f"Volume '{volume_id}' is in the 'available' state."
            )
        held = volume.attachment.instance.id
        if instance_id and instance_id != held:
            raise EC2ClientError(
                "InvalidAttachment.NotFound",
                f"The volume '{volume_id}' is not attached to instance '{instance_id}'.",
            )
        return first_detach(self, volume_id, held, device_path)

    def modify_volume(self: Any, volume_id: str, target_size: Any = None, *more: Any) -> Any:
        volume = self.get_volume(volume_id)
        if target_size and int(target_size) < volume.size:
            raise EC2ClientError(
                "InvalidParameterValue",
                f"New size cannot be smaller than existing size ({volume.size} GiB)",
            )
        return first_modify(self, volume_id, target_size and int(target_size), *more)

    def create_volume(self: Any, *arguments: Any, **named: Any) -> Any:
        source = named.get("snapshot_id")
        if source:
            least = self.get_snapshot(source).volume_size
            named["size"] = int(named.get("size") or least)
            if named["size"] < least:
                raise EC2ClientError(
                    "InvalidParameterValue",
                    f"The size {named['size']} is smaller than that of snapshot '{source}' ({least} GiB)",
                )
        made = first_create(self, *arguments, **named)
        if made.volume_type == "gp3" and made.throughput is None:
            made.throughput = _GP3_RATE
        return made

    def init(self: Any, *arguments: Any, **named: Any) -> None:
        first_init(self, *arguments, **named)
        self.size_then = self.volume.size

    put(
        EC2Backend,
        attach_volume=attach_volume,
        detach_volume=detach_volume,
        modify_volume=modify_volume,
        create_volume=create_volume,
    )
    # Of states that were written before, a snapshot is as large as its volume.
    size = property(lambda self: getattr(self, "size_then", self.volume.size))
    put(Snapshot, __init__=init, volume_size=size)


def _check_attachment(volume: Any, instance: Any, device: str) -> None:
    """Refuse what EC2 refuses.

    Raises:
        EC2ClientError: the volume is in use or in another zone, or the device is taken.
    """
    if volume.attachment is not None:
        raise EC2ClientError(
            "VolumeInUse",
            f"{volume.id} is already attached to an instance",
        )
    if volume.availability_zone != instance.placement.zone:
        raise EC2ClientError(
            "InvalidVolume.ZoneMismatch",
            f"The volume '{volume.id}' is not in the same availability zone as instance '{instance.id}'",
        )
    if device in instance.block_device_mapping:
        raise EC2ClientError(
            "InvalidParameterValue",
            f"Invalid value '{device}' for unixDevice. Attachment point {device} is already in use",
        )
