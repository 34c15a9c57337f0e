"""Fields of launch templates that moto ignores when it launches instances, as far as they matter here.

moto 5.2.5 gives an instance one interface per device index, so that the 32 EFA cards of a p5
fold into one, and lets an Auto Scaling group forget the template's interfaces, disks, metadata
options, placement and instance profile. It launches nothing by the second version of a template
that has user data, refuses to terminate an instance twice, and walks all tags of the account for
those of one instance. ``install`` fixes that in moto's own classes.
"""

from __future__ import annotations

import copy
from typing import Any

from moto.autoscaling import models as autoscaling
from moto.autoscaling.exceptions import ValidationError
from moto.ec2.exceptions import EC2ClientError
from moto.ec2.models import EC2Backend, elastic_network_interfaces
from moto.ec2.models.instances import Instance
from moto.ec2.models.launch_templates import LaunchTemplate, LaunchTemplateVersion
from moto.ec2.models.subnets import Subnet
from moto.ec2.models.tags import TagBackend
from moto.ec2.utils import EC2_PREFIX_TO_RESOURCE, get_prefix, parse_user_data

from rackwright_lab.embedded_aws.api import moto_capacity
from rackwright_lab.embedded_aws.api.patching import first_time, put

_DEVICES_PER_CARD = 64
_TEMPLATE_DECIDES = {"CapacityReservationPreference": "default"}


def install() -> None:
    """Put the additions into moto's classes; a second call changes nothing."""
    if not first_time(__name__):
        return
    _patch_interfaces()
    _patch_versions()
    _patch_run_instances()
    _patch_autoscaling()
    _patch_second_termination()
    _patch_tags()


def _patch_second_termination() -> None:
    """Let a second termination succeed (Amazon EC2 API Reference, TerminateInstances: it is idempotent).

    moto deletes the interfaces again, and no longer finds them. The second request is that of a program whose first
    one was killed before it had the answer.
    """
    first = Instance.terminate

    def terminate(self: Any) -> Any:
        return copy.copy(self._state) if self._state.name == "terminated" else first(self)

    put(Instance, terminate=terminate)


def _patch_tags() -> None:
    every_tag = TagBackend.describe_tags

    def describe_tags(
        self: Any, filters: dict[str, list[str]] | None = None
    ) -> list[dict[str, str]]:
        ids = (filters or {}).get("resource-id", [])
        if set(filters or ()) != {"resource-id"} or any(set("*?[") & set(one) for one in ids):
            found: list[dict[str, str]] = every_tag(self, filters)
            return found
        return [
            {
                "resource_id": one,
                "key": key,
                "value": value,
                "resource_type": EC2_PREFIX_TO_RESOURCE.get(get_prefix(one), ""),
            }
            for one in ids
            for key, value in self.tags.get(one, {}).items()
        ]

    put(TagBackend, describe_tags=describe_tags)


def _patch_interfaces() -> None:
    attachment = elastic_network_interfaces.Attachment
    first_init = attachment.__init__
    first_prep = Instance.prep_nics

    def init(self: Any, eni: Any) -> None:
        first_init(self, eni)
        self.network_card_index = getattr(eni, "network_card_index", 0)

    def prep_nics(self: Any, nic_spec: list[dict[str, Any]], **kwargs: Any) -> None:
        primary = [nic for nic in nic_spec if _position(nic) == (0, 0)][:1]
        first_prep(self, primary, **kwargs)
        if primary:
            _mark(self.nics[0], primary[0])
        for nic in nic_spec:
            card, device = _position(nic)
            if (card, device) == (0, 0):
                continue
            eni = self.ec2_backend.create_network_interface(
                self.ec2_backend.get_subnet(nic.get("SubnetId") or self.subnet_id),
                None,
                device_index=device,
                group_ids=list(nic.get("Groups") or []),
                delete_on_termination=nic.get("DeleteOnTermination") is True,
                description=nic.get("Description"),
            )
            # attach_eni files the interface by device index alone: move it to its own place.
            other = self.nics.get(device)
            self.attach_eni(eni, device)
            del self.nics[device]
            if other is not None:
                self.nics[device] = other
            self.nics[card * _DEVICES_PER_CARD + device] = eni
            _mark(eni, nic)
        self.nics = dict(sorted(self.nics.items()))

    def detach_eni(self: Any, eni: Any) -> None:
        self.nics.pop(_key(eni), None)
        eni.instance = eni.attachment_id = eni.attach_time = eni.device_index = None
        eni.status = "available"

    put(attachment, __init__=init)
    put(Instance, prep_nics=prep_nics, detach_eni=detach_eni)


def _patch_versions() -> None:
    first = LaunchTemplate.create_version

    def create_version(self: Any, data: dict[str, Any], description: str) -> LaunchTemplateVersion:
        # moto marks the user data of a template's first version as base 64, and launches by no other.
        # AWS's own provider sends an empty text where there is none.
        text = data.get("UserData")
        if not text:
            data = {name: value for name, value in data.items() if name != "UserData"}
        elif isinstance(text, str):
            data = {**data, "UserData": parse_user_data(text)}
        # moto files the template's own tags among those that its first version gives to instances.
        given = data.get("TagSpecifications")
        if given is not None:
            kept = [one for one in given if one.get("ResourceType") != "launch-template"]
            data = {**data, "TagSpecifications": kept}
        return first(self, data, description)

    put(LaunchTemplate, create_version=create_version)


def _position(nic: dict[str, Any]) -> tuple[int, int]:
    return int(nic.get("NetworkCardIndex") or 0), int(nic.get("DeviceIndex") or 0)


def _key(eni: Any) -> int:
    return getattr(eni, "network_card_index", 0) * _DEVICES_PER_CARD + int(eni.device_index or 0)


def _mark(eni: Any, nic: dict[str, Any]) -> None:
    eni.network_card_index = int(nic.get("NetworkCardIndex") or 0)
    eni.interface_type = nic.get("InterfaceType") or "interface"
    eni.delete_on_termination = nic.get("DeleteOnTermination", True) is not False
    if eni.interface_type == "efa-only":
        # An efa-only interface carries no IP address. moto has drawn one, and not marked it as used.
        eni.private_ip_address = None
        eni.private_ip_addresses = []


def _merge_template(backend: Any, kwargs: dict[str, Any]) -> dict[str, Any]:
    argument = kwargs.get("launch_template")
    if not argument:
        return {}
    data: dict[str, Any] = backend._get_template_from_args(argument).data
    nics = data.get("NetworkInterfaces")
    if nics and not kwargs.get("nics"):
        kwargs["nics"] = [dict(nic) for nic in nics]
    if kwargs.get("subnet_id") and kwargs.get("nics"):
        # The subnets of an Auto Scaling group win over those of the template.
        kwargs["nics"] = [{**nic, "SubnetId": kwargs["subnet_id"]} for nic in kwargs["nics"]]
    if data.get("MetadataOptions") and not kwargs.get("metadata_options"):
        kwargs["metadata_options"] = data["MetadataOptions"]
    if data.get("BlockDeviceMappings") and "block_device_mappings" not in kwargs:
        kwargs["block_device_mappings"] = [
            mapping for mapping in data["BlockDeviceMappings"] if "Ebs" in mapping
        ]
    if data.get("InstanceMarketOptions") and not kwargs.get("instance_market_options"):
        kwargs["instance_market_options"] = data["InstanceMarketOptions"].get("MarketType")
    if "EbsOptimized" in data and not kwargs.get("ebs_optimized"):
        kwargs["ebs_optimized"] = data["EbsOptimized"]
    return data


def _patch_run_instances() -> None:
    first = EC2Backend.run_instances

    def run_instances(
        self: Any,
        image_id: str,
        count: int,
        user_data: Any,
        security_group_names: list[str],
        **kwargs: Any,
    ) -> Any:
        extra = kwargs.pop("rackwright_extra", {})
        data = _merge_template(self, kwargs)
        placement = {**data.get("Placement", {}), **extra.get("Placement", {})}
        group = placement.get("GroupName")
        if group:
            moto_capacity.placement_group(self, group)
        specification = extra.get("CapacityReservationSpecification") or data.get(
            "CapacityReservationSpecification", {}
        )
        instance_type = kwargs.get("instance_type")
        if kwargs.get("is_instance_type_default"):
            instance_type = data.get("InstanceType", instance_type)
        free = moto_capacity.left(self, str(instance_type))
        if free is not None and free < count:
            raise EC2ClientError(
                "InsufficientInstanceCapacity",
                f"We currently do not have sufficient {instance_type} capacity in the Availability Zone you requested."
                " Our system will be working on provisioning additional capacity.",
            )
        reservation = moto_capacity.reserve(
            self, specification, instance_type, count, kwargs.get("instance_market_options")
        )
        subnet = kwargs.get("subnet_id") or next(
            (nic["SubnetId"] for nic in kwargs.get("nics") or [] if "SubnetId" in nic), None
        )
        if subnet and reservation is not None:
            _same_zone(self.get_subnet(subnet), reservation)
        if subnet:
            _has_room(self.get_subnet(subnet), count, kwargs.get("nics") or [])
        launched = first(self, image_id, count, user_data, security_group_names, **kwargs)
        profile = extra.get("IamInstanceProfile") or data.get("IamInstanceProfile") or {}
        for position, instance in enumerate(launched.instances):
            _complete(instance, group, specification, reservation)
            if profile and (position > 0 or not extra.get("IamInstanceProfile")):
                self.associate_iam_instance_profile(
                    instance_id=instance.id,
                    iam_instance_profile_name=profile.get("Name"),
                    iam_instance_profile_arn=profile.get("Arn"),
                )
        return launched

    put(EC2Backend, run_instances=run_instances)


def _same_zone(subnet: Subnet, reservation: Any) -> None:
    if subnet.availability_zone != reservation.availability_zone:
        raise EC2ClientError(
            "InvalidParameterValue",
            f"the capacity reservation {reservation.id} is in "
            f"{reservation.availability_zone}, the subnet in {subnet.availability_zone}",
        )


def _has_room(subnet: Subnet, count: int, nics: list[dict[str, Any]]) -> None:
    """Refuse a launch for whose interfaces a subnet lacks addresses, where moto runs out in the middle.

    Raises:
        EC2ClientError: it lacks them.
    """
    each = sum(nic.get("InterfaceType") != "efa-only" for nic in nics) or 1
    if subnet.available_ip_address_count < count * each:
        raise EC2ClientError(
            "InsufficientFreeAddressesInSubnet",
            f"The subnet '{subnet.id}' does not have enough free addresses to satisfy the requested number of instances.",
        )


def _complete(
    instance: Any, group: str | None, specification: dict[str, Any], reservation: Any
) -> None:
    if group:
        instance.placement.group_name = group
    instance.capacity_reservation_specification = specification or {
        "CapacityReservationPreference": "open"
    }
    if reservation is not None:
        instance.capacity_reservation_id = reservation.id
        if reservation.reservation_type == "capacity-block":
            instance.lifecycle = "capacity-block"
    if not instance.security_groups and instance.nics:
        instance.security_groups = list(instance.nics[min(instance.nics)]._group_set)


def _patch_autoscaling() -> None:
    def replace(self: Any, count_needed: int, propagated_tags: dict[str, str]) -> None:
        tags = {autoscaling.ASG_NAME_TAG: self.name, **self.instance_tags, **propagated_tags}
        subnets = self.vpc_zone_identifier.split(",") if self.vpc_zone_identifier else [None]
        template = None
        if self.ec2_launch_template:
            template = {
                "LaunchTemplateId": self.ec2_launch_template.id,
                "Version": self.launch_template_version,
            }
        shares = [len(range(index, count_needed, len(subnets))) for index in range(len(subnets))]
        for subnet, share in zip(subnets, shares, strict=True):
            if not share:
                continue
            reservation = self.autoscaling_backend.ec2_backend.run_instances(
                self.image_id,
                share,
                self.user_data,
                self.security_groups,
                instance_type=self.instance_type,
                tags={"instance": dict(tags)},
                placement=None if subnet else self.availability_zones[0],
                launch_config=self.launch_config,
                launch_template=template,
                is_instance_type_default=False,
                associate_public_ip=(
                    self.launch_config.associate_public_ip_address if self.launch_config else None
                ),
                subnet_id=subnet,
                region_name=self.region,
                **(
                    {"rackwright_extra": {"Placement": {"GroupName": self.placement_group}}}
                    if self.placement_group
                    else {}
                ),
            )
            for instance in reservation.instances:
                instance.autoscaling_group = self
                self.instance_states.append(
                    autoscaling.InstanceState(
                        instance,
                        protected_from_scale_in=self.new_instances_protected_from_scale_in,
                    )
                )

    put(
        autoscaling.FakeAutoScalingGroup,
        replace_autoscaling_group_instances=replace,
        # moto takes none; AWS says of a group that was given none that its template decides.
        capacity_reservation_specification=property(lambda _group: dict(_TEMPLATE_DECIDES)),
    )
    _patch_termination()


def _patch_termination() -> None:
    """Raise if a group has fewer instances than its minimum, or replaces what it must not replace.

    A group with more instances than it should have ends those that are protected no longer.
    """
    first = autoscaling.AutoScalingBackend.terminate_instance
    first_notified = autoscaling.AutoScalingBackend.notify_terminate_instances
    first_protection = autoscaling.AutoScalingBackend.set_instance_protection

    def terminate_instance(self: Any, instance_id: str, should_decrement: Any) -> Any:
        instance = self.ec2_backend.get_instance(instance_id)
        group = instance.autoscaling_group
        if should_decrement and group.desired_capacity <= group.min_size:
            raise ValidationError(
                f"Currently, desiredSize equals minSize ({group.min_size}). Terminating instance "
                "without replacement will violate group's min size constraint. Either set "
                "shouldDecrementDesiredCapacity flag to false or lower group's min size."
            )
        return first(self, instance_id, should_decrement)

    def notify_terminate_instances(self: Any, instance_ids: list[str]) -> None:
        kept = {
            state.instance.id: state
            for group in self.autoscaling_groups.values()
            if {"ProcessName": "ReplaceUnhealthy", "SuspensionReason": ""}
            in group.suspended_processes
            for state in group.instance_states
        }
        for one in kept.keys() & set(instance_ids):
            kept[one].health_status = "Unhealthy"
        first_notified(self, [one for one in instance_ids if one not in kept])

    def set_instance_protection(
        self: Any, group_name: str, instance_ids: list[str], protected_from_scale_in: Any
    ) -> None:
        first_protection(self, group_name, instance_ids, protected_from_scale_in)
        group = self.autoscaling_groups[group_name]
        if len(group.active_instances()) > (group.desired_capacity or 0):
            group.set_desired_capacity(group.desired_capacity)

    put(
        autoscaling.AutoScalingBackend,
        terminate_instance=terminate_instance,
        notify_terminate_instances=notify_terminate_instances,
        set_instance_protection=set_instance_protection,
    )
