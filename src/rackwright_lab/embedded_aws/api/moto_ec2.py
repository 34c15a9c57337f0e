"""The EC2 operations that moto lacks: placement groups, capacity and instance topology."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from fnmatch import fnmatchcase
from typing import Any

from moto.core.responses import ActionResult, EmptyResult
from moto.ec2.exceptions import EC2ClientError
from moto.ec2.responses import EC2Response

from rackwright_lab.embedded_aws.api import moto_capacity as capacity
from rackwright_lab.embedded_aws.api.patching import first_time, put

_TOPOLOGY_FAMILIES = ("p3dn", "p4", "p5", "p6", "g6e", "g7e", "trn", "hpc", "dl1")
_STRATEGIES = ("cluster", "partition", "spread")


def install() -> None:
    """Put the operations into moto's EC2 response class; a second call changes nothing."""
    if not first_time(__name__):
        return
    first_create, first_delete = EC2Response.create_tags, EC2Response.delete_tags
    first_run = EC2Response.run_instances

    def create_tags(self: Any) -> ActionResult:
        return _tagged(self, first_create, lambda one: {one["Key"]: one["Value"]}, "create_tags")

    def delete_tags(self: Any) -> ActionResult:
        return _tagged(
            self, first_delete, lambda one: {one["Key"]: one.get("Value")}, "delete_tags"
        )

    def run_instances(self: Any) -> ActionResult:
        return _run_instances(self, first_run)

    for method in (
        create_tags,
        delete_tags,
        run_instances,
        create_placement_group,
        describe_placement_groups,
        delete_placement_group,
        create_capacity_reservation,
        describe_capacity_reservations,
        modify_capacity_reservation,
        cancel_capacity_reservation,
        describe_capacity_block_offerings,
        purchase_capacity_block,
        describe_instance_topology,
        describe_spot_instance_requests,
    ):
        put(EC2Response, **{method.__name__: method})


def _tagged(self: Any, first: Any, pair: Any, action: str) -> ActionResult:
    ids: list[str] = self._get_param("Resources", [])
    mine = [one for one in ids if one.startswith(("pg-", "cr-"))]
    if not mine:
        result: ActionResult = first(self)
        return result
    backend = self.ec2_backend
    known = {group.id for group in capacity.placement_groups(backend).values()}
    known |= set(capacity.reservations(backend))
    missing = [one for one in mine if one not in known]
    if missing:
        raise EC2ClientError("InvalidID", f"The ID '{missing[0]}' is not valid")
    if len(mine) != len(ids):
        raise EC2ClientError("InvalidParameterValue", "tag these resources one kind at a time")
    tags: dict[str, str] = {}
    for one in self._get_param("Tags", []):
        tags.update(pair(one))
    getattr(backend, action)(mine, tags)
    return EmptyResult()


def _run_instances(self: Any, first: Any) -> ActionResult:
    extra = {
        key: value
        for key in ("Placement", "CapacityReservationSpecification", "IamInstanceProfile")
        if (value := self._get_param(key, {}))
    }
    token = self._get_param("ClientToken")
    backend = self.ec2_backend
    launched: dict[str, Any] = vars(backend).setdefault("rackwright_launches", {})
    held = launched.get(token) if token else None
    # A cluster that is removed and made again sends the token of instances that are no more.
    if held is not None and any(one._state.name != "terminated" for one in held.instances):
        return ActionResult(held)
    run = backend.run_instances

    # moto knows the protection from termination, and does not read it here.
    protected = bool(self._get_param("DisableApiTermination"))

    def with_extra(*args: Any, **kwargs: Any) -> Any:
        kwargs["disable_api_termination"] = protected
        reservation = run(*args, **kwargs, rackwright_extra=extra)
        if token:
            launched[token] = reservation
        return reservation

    backend.run_instances = with_extra
    try:
        result: ActionResult = first(self)
        return result
    finally:
        del backend.run_instances


def _tags(backend: Any, resource: str) -> list[dict[str, str]]:
    found: list[dict[str, str]] = backend.describe_tags(filters={"resource-id": [resource]})
    return found


def _matches(values: dict[str, Any], tags: list[dict[str, str]], filters: dict[str, Any]) -> bool:
    held = {tag["key"]: tag["value"] for tag in tags}
    for name, wanted in filters.items():
        if name.startswith("tag:"):
            actual: Any = held.get(name[4:])
        elif name == "tag-key":
            if not any(fnmatchcase(key, one) for key in held for one in wanted):
                return False
            continue
        elif name in values:
            actual = values[name]
        else:
            raise EC2ClientError("InvalidParameterValue", f"The filter '{name}' is invalid")
        if actual is None or not any(fnmatchcase(str(actual), str(one)) for one in wanted):
            return False
    return True


def _group_document(backend: Any, group: capacity.PlacementGroup) -> dict[str, Any]:
    return {
        "GroupName": group.name,
        "GroupId": group.id,
        "GroupArn": group.arn,
        "State": group.state,
        "Strategy": group.strategy,
        "PartitionCount": group.partition_count,
        "SpreadLevel": group.spread_level,
        "Tags": _tags(backend, group.id),
    }


def create_placement_group(self: Any) -> ActionResult:
    """Return the new placement group.

    Raises:
        EC2ClientError: a parameter is missing or wrong, or there is a group of that name.
    """
    backend = self.ec2_backend
    name = self._get_param("GroupName")
    strategy = self._get_param("Strategy") or "cluster"
    if not name:
        raise EC2ClientError("MissingParameter", "The request must contain the group name")
    if strategy not in _STRATEGIES:
        raise EC2ClientError("InvalidParameterValue", f"Invalid strategy '{strategy}'")
    groups = capacity.placement_groups(backend)
    if name in groups:
        raise EC2ClientError(
            "InvalidPlacementGroup.Duplicate", f"The Placement Group '{name}' already exists."
        )
    partitions = self._get_param("PartitionCount")
    if partitions is not None and strategy != "partition":
        raise EC2ClientError(
            "InvalidParameterCombination", "A partition count needs the strategy partition"
        )
    group = capacity.PlacementGroup(
        id=capacity.new_id("pg"),
        name=name,
        strategy=strategy,
        arn=f"arn:{backend.partition}:ec2:{backend.region_name}:{backend.account_id}"
        f":placement-group/{name}",
        partition_count=int(partitions or 2) if strategy == "partition" else None,
        spread_level=(self._get_param("SpreadLevel") or "rack") if strategy == "spread" else None,
    )
    tags = self._parse_tag_specification("placement-group").get("placement-group", {})
    groups[name] = group
    backend.create_tags([group.id], tags)
    return ActionResult({"PlacementGroup": _group_document(backend, group)})


def describe_placement_groups(self: Any) -> ActionResult:
    """Return the placement groups asked for by name, id or filter.

    Raises:
        EC2ClientError: there is no group of a name; or, without filters, none of an id.
    """
    backend = self.ec2_backend
    names, ids = self._get_param("GroupNames", []), self._get_param("GroupIds", [])
    groups = capacity.placement_groups(backend)
    for name in names:
        capacity.placement_group(backend, name)
    filters = self._filters_from_querystring()
    found = [
        document
        for group in groups.values()
        if (not names or group.name in names) and (not ids or group.id in ids)
        for document in (_group_document(backend, group),)
        if _matches(
            {
                "group-name": group.name,
                "group-arn": group.arn,
                "state": group.state,
                "strategy": group.strategy,
                "spread-level": group.spread_level,
            },
            document["Tags"],
            filters,
        )
    ]
    if ids and len({document["GroupId"] for document in found}) < len(set(ids)) and not filters:
        raise EC2ClientError("InvalidPlacementGroupId.Unknown", "The Placement Group is unknown.")
    return ActionResult({"PlacementGroups": found})


def delete_placement_group(self: Any) -> ActionResult:
    """Return nothing; an occupied group stays.

    Raises:
        EC2ClientError: there is no group of that name, or instances are in it.
    """
    backend = self.ec2_backend
    name = self._get_param("GroupName")
    group = capacity.placement_group(backend, name)
    if capacity.members(backend, name):
        raise EC2ClientError(
            "InvalidPlacementGroup.InUse",
            f"The placement group '{name}' is in use and may not be deleted.",
        )
    del capacity.placement_groups(backend)[name]
    backend.tags.pop(group.id, None)
    return EmptyResult()


def _date(value: Any) -> datetime | None:
    if value is None or value == "":
        return None
    date = value if isinstance(value, datetime) else datetime.fromisoformat(str(value))
    return date if date.tzinfo else date.replace(tzinfo=UTC)


def _reservation_document(backend: Any, held: capacity.Reservation) -> dict[str, Any]:
    return {
        "CapacityReservationId": held.id,
        "CapacityReservationArn": held.arn,
        "OwnerId": held.owner_id,
        "InstanceType": held.instance_type,
        "InstancePlatform": held.instance_platform,
        "AvailabilityZone": held.availability_zone,
        "Tenancy": held.tenancy,
        "TotalInstanceCount": held.total,
        "AvailableInstanceCount": capacity.available(backend, held),
        "EbsOptimized": held.ebs_optimized,
        "EphemeralStorage": False,
        "State": held.current_state,
        "StartDate": held.start_date or held.created,
        "EndDate": held.end_date,
        "EndDateType": held.end_date_type,
        "InstanceMatchCriteria": held.match_criteria,
        "CreateDate": held.created,
        "PlacementGroupArn": held.placement_group_arn,
        "ReservationType": held.reservation_type,
        "CapacityBlockId": held.id.replace("cr-", "cb-")
        if held.reservation_type == "capacity-block"
        else None,
        "Tags": _tags(backend, held.id),
    }


def _add_reservation(self: Any, held: capacity.Reservation) -> None:
    backend = self.ec2_backend
    tags = self._parse_tag_specification("capacity-reservation").get("capacity-reservation", {})
    capacity.reservations(backend)[held.id] = held
    backend.create_tags([held.id], tags)


def _arn(backend: Any, identity: str) -> str:
    return (
        f"arn:{backend.partition}:ec2:{backend.region_name}:{backend.account_id}"
        f":capacity-reservation/{identity}"
    )


def create_capacity_reservation(self: Any) -> ActionResult:
    """Return the new capacity reservation, or that of an earlier call with the same token.

    Raises:
        EC2ClientError: it is for less than one instance, or there is no such availability zone.
    """
    backend = self.ec2_backend
    token = self._get_param("ClientToken") or ""
    for held in capacity.reservations(backend).values():
        if token and held.token == token:
            return ActionResult({"CapacityReservation": _reservation_document(backend, held)})
    count = int(self._get_param("InstanceCount") or 0)
    zone = self._get_param("AvailabilityZone")
    if count < 1:
        raise EC2ClientError("InvalidInstanceCount", "The instance count must be at least 1")
    if zone not in {one.name for one in backend.describe_availability_zones()}:
        raise EC2ClientError("InvalidParameterValue", f"Invalid availability zone: [{zone}]")
    end = _date(self._get_param("EndDate"))
    identity = capacity.new_id("cr")
    held = capacity.Reservation(
        id=identity,
        arn=_arn(backend, identity),
        owner_id=backend.account_id,
        instance_type=self._get_param("InstanceType"),
        instance_platform=self._get_param("InstancePlatform"),
        availability_zone=zone,
        total=count,
        end_date_type=self._get_param("EndDateType") or ("limited" if end else "unlimited"),
        end_date=end,
        match_criteria=self._get_param("InstanceMatchCriteria") or "open",
        tenancy=self._get_param("Tenancy") or "default",
        ebs_optimized=bool(self._get_param("EbsOptimized") or False),
        token=token,
        placement_group_arn=self._get_param("PlacementGroupArn"),
    )
    _add_reservation(self, held)
    return ActionResult({"CapacityReservation": _reservation_document(backend, held)})


def describe_capacity_reservations(self: Any) -> ActionResult:
    """Return the capacity reservations asked for by id or filter."""
    backend = self.ec2_backend
    ids = self._get_param("CapacityReservationIds", [])
    held = [capacity.reservation(backend, one) for one in ids] or list(
        capacity.reservations(backend).values()
    )
    filters = self._filters_from_querystring()
    found = []
    for one in held:
        document = _reservation_document(backend, one)
        values = {
            "instance-type": one.instance_type,
            "availability-zone": one.availability_zone,
            "state": one.current_state,
            "instance-platform": one.instance_platform,
            "instance-match-criteria": one.match_criteria,
            "end-date-type": one.end_date_type,
            "tenancy": one.tenancy,
            "owner-id": one.owner_id,
            "placement-group-arn": one.placement_group_arn,
            "reservation-type": one.reservation_type,
        }
        if _matches(values, document["Tags"], filters):
            found.append(document)
    return ActionResult({"CapacityReservations": found})


def modify_capacity_reservation(self: Any) -> ActionResult:
    """Return whether the reservation was changed.

    Raises:
        EC2ClientError: there is no such reservation, it is neither active nor scheduled, or more
            instances run in it than it would hold.
    """
    backend = self.ec2_backend
    held = capacity.reservation(backend, self._get_param("CapacityReservationId"))
    if held.current_state not in ("active", "scheduled"):
        raise EC2ClientError("InvalidState", f"The reservation is {held.current_state}")
    count = self._get_param("InstanceCount")
    if count is not None:
        used = held.total - capacity.available(backend, held)
        if int(count) < used:
            raise EC2ClientError("InvalidInstanceCount", f"{used} instances run in it")
        held.total = int(count)
    end = _date(self._get_param("EndDate"))
    kind = self._get_param("EndDateType")
    if end is not None:
        held.end_date, held.end_date_type = end, "limited"
    if kind == "unlimited":
        held.end_date, held.end_date_type = None, "unlimited"
    if criteria := self._get_param("InstanceMatchCriteria"):
        held.match_criteria = criteria
    return ActionResult({"Return": True})


def cancel_capacity_reservation(self: Any) -> ActionResult:
    """Return whether the reservation was cancelled; a capacity block cannot be.

    Raises:
        EC2ClientError: there is no reservation of that id, or it is a capacity block.
    """
    held = capacity.reservation(self.ec2_backend, self._get_param("CapacityReservationId"))
    if held.reservation_type == "capacity-block":
        raise EC2ClientError("OperationNotPermitted", "A capacity block cannot be cancelled")
    held.state = "cancelled"
    return ActionResult({"Return": True})


def describe_capacity_block_offerings(self: Any) -> ActionResult:
    """Return the capacity blocks on offer for a type, a count and a duration."""
    found = capacity.offerings(
        self.ec2_backend,
        self._get_param("InstanceType"),
        int(self._get_param("InstanceCount") or 1),
        int(self._get_param("CapacityDurationHours")),
        _date(self._get_param("StartDateRange")),
    )
    return ActionResult({"CapacityBlockOfferings": found})


def purchase_capacity_block(self: Any) -> ActionResult:
    """Return the capacity reservation that the purchase made."""
    backend = self.ec2_backend
    kind, count, hours, zone, start = capacity.parse_offering(
        self._get_param("CapacityBlockOfferingId")
    )
    identity = capacity.new_id("cr")
    held = capacity.Reservation(
        id=identity,
        arn=_arn(backend, identity),
        owner_id=backend.account_id,
        instance_type=kind,
        instance_platform=self._get_param("InstancePlatform") or "Linux/UNIX",
        availability_zone=zone,
        total=count,
        end_date_type="limited",
        end_date=start + timedelta(hours=hours),
        match_criteria="targeted",
        tenancy="default",
        ebs_optimized=False,
        token="",
        reservation_type="capacity-block",
        start_date=min(start, datetime.now(UTC)),
    )
    _add_reservation(self, held)
    return ActionResult({"CapacityReservation": _reservation_document(backend, held)})


def describe_instance_topology(self: Any) -> ActionResult:
    """Return the network nodes above the running instances of a supporting type."""
    backend = self.ec2_backend
    ids, groups = self._get_param("InstanceIds", []), self._get_param("GroupNames", [])
    for name in groups:
        capacity.placement_group(backend, name)
    wanted = set(ids)
    filters = self._filters_from_querystring()
    zones = {zone.name: zone.zone_id for zone in backend.describe_availability_zones()}
    positions: dict[tuple[Any, str], int] = {}
    found = []
    for held in backend.all_reservations():
        for instance in held.instances:
            kind = instance.instance_type
            if instance.state != "running" or not kind.startswith(_TOPOLOGY_FAMILIES):
                continue
            key = (instance.placement.zone, instance.placement.group_name)
            position = positions[key] = positions.get(key, -1) + 1
            if (wanted and instance.id not in wanted) or (groups and key[1] not in groups):
                continue
            zone = key[0]
            values = {"instance-type": kind, "availability-zone": zone, "zone-id": zones.get(zone)}
            if not _matches(values, [], filters):
                continue
            block = getattr(instance, "capacity_reservation_id", None)
            is_block = instance.lifecycle == "capacity-block"
            found.append(
                {
                    "InstanceId": instance.id,
                    "InstanceType": kind,
                    "GroupName": key[1] or None,
                    "NetworkNodes": capacity.network_nodes(instance, position),
                    "AvailabilityZone": zone,
                    "ZoneId": zones.get(zone),
                    "CapacityBlockId": block.replace("cr-", "cb-") if is_block and block else None,
                }
            )
    size = int(self._get_param("MaxResults") or 100)
    start = int(self._get_param("NextToken") or 0)
    token = str(start + size) if len(found) > start + size else None
    return ActionResult({"Instances": found[start : start + size], "NextToken": token})


def describe_spot_instance_requests(self: Any) -> ActionResult:
    """Describe the request of each spot instance, which EC2 makes as it launches one."""
    filters = self._filters_from_querystring()
    found = []
    for held in self.ec2_backend.all_reservations():
        for instance in held.instances:
            if instance.lifecycle != "spot":
                continue
            code = capacity.spot_status(instance)
            values = {"status-code": code, "instance-id": instance.id}
            if _matches(values, [], filters):
                request = f"sir-{instance.id.removeprefix('i-')[:8]}"
                status = {"Code": code, "Message": capacity.SPOT_STATUS[code]}
                found.append(
                    {
                        "SpotInstanceRequestId": request,
                        "InstanceId": instance.id,
                        "State": "active" if instance.state == "running" else "closed",
                        "Status": status,
                    }
                )
    return ActionResult({"SpotInstanceRequests": found})
