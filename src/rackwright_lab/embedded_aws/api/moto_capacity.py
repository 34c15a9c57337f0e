"""Placement groups, capacity reservations and capacity blocks of the embedded EC2."""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, cast

from moto.ec2.exceptions import EC2ClientError
from moto.ec2.models import ec2_backends
from moto.ec2.models.instances import StateReason

_ACCOUNT = "123456789012"
SPOT_STATUS = {
    "fulfilled": "Your spot request is fulfilled.",
    "marked-for-termination": "Your spot instance is marked for termination.",
    "instance-terminated-no-capacity": "Your spot instance was terminated, as there is no spot capacity for it.",
    "instance-terminated-by-user": "Your spot instance was terminated by a user.",
}
"""Codes of the requests of spot instances, with words for each."""
_HOURLY_USD = {"p5.48xlarge": 31.464, "p5en.48xlarge": 33.1, "p4d.24xlarge": 11.8}


@dataclass(slots=True)
class PlacementGroup:
    """A placement group; attribute names follow the API's shape."""

    id: str
    name: str
    strategy: str
    arn: str
    partition_count: int | None = None
    spread_level: str | None = None
    state: str = "available"


@dataclass(slots=True)
class Reservation:
    """A capacity reservation, or a capacity block where ``reservation_type`` says so."""

    id: str
    arn: str
    owner_id: str
    instance_type: str
    instance_platform: str
    availability_zone: str
    total: int
    end_date_type: str
    end_date: datetime | None
    match_criteria: str
    tenancy: str
    ebs_optimized: bool
    token: str
    placement_group_arn: str | None = None
    reservation_type: str = "default"
    state: str = "active"
    start_date: datetime | None = None
    created: datetime = field(default_factory=lambda: datetime.now(UTC))

    @property
    def current_state(self) -> str:
        """Returns the state, expired once the end date has passed."""
        now = datetime.now(UTC)
        if self.state == "active" and self.end_date is not None and self.end_date <= now:
            return "expired"
        if self.state == "active" and self.start_date is not None and self.start_date > now:
            return "scheduled"
        return self.state


def placement_groups(backend: Any) -> dict[str, PlacementGroup]:
    """Return the placement groups of a backend by name."""
    groups = vars(backend).setdefault("rackwright_placement_groups", {})
    return cast("dict[str, PlacementGroup]", groups)


def reservations(backend: Any) -> dict[str, Reservation]:
    """Return the capacity reservations of a backend by id."""
    found = vars(backend).setdefault("rackwright_capacity_reservations", {})
    return cast("dict[str, Reservation]", found)


def placement_group(backend: Any, name: str) -> PlacementGroup:
    """Return a placement group by its name.

    Raises:
        EC2ClientError: there is none of that name.
    """
    try:
        return placement_groups(backend)[name]
    except KeyError:
        raise EC2ClientError(
            "InvalidPlacementGroup.Unknown", f"The Placement Group '{name}' is unknown."
        ) from None


def reservation(backend: Any, reservation_id: str) -> Reservation:
    """Return a capacity reservation by its id.

    Raises:
        EC2ClientError: there is none of that id.
    """
    try:
        return reservations(backend)[reservation_id]
    except KeyError:
        raise EC2ClientError(
            "InvalidCapacityReservationId.NotFound",
            f"The capacity reservation '{reservation_id}' does not exist",
        ) from None


def limits(backend: Any) -> dict[str, int | None]:
    """Return the instances of each type that there are in all, where a test limits them."""
    found = vars(backend).setdefault("rackwright_capacity", {})
    return cast("dict[str, int | None]", found)


def left(backend: Any, instance_type: str) -> int | None:
    """Return the instances of a type that can be launched still; None for no limit."""
    most = limits(backend).get(instance_type)
    if most is None:
        return None
    used: int = sum(one.instance_type == instance_type for one in _instances(backend))
    return max(0, most - used)


def _instances(backend: Any) -> list[Any]:
    return [
        instance
        for held in backend.all_reservations()
        for instance in held.instances
        if instance.state in ("pending", "running", "stopping", "stopped")
    ]


def members(backend: Any, group: str) -> list[Any]:
    """Return the live instances of a placement group."""
    return [i for i in _instances(backend) if i.placement.group_name == group]


def available(backend: Any, held: Reservation) -> int:
    """Return how many instances of a reservation are free."""
    used: int = sum(
        getattr(instance, "capacity_reservation_id", None) == held.id
        for instance in _instances(backend)
    )
    return held.total - used


def reserve(
    backend: Any, specification: dict[str, Any], instance_type: Any, count: int, market: Any
) -> Reservation | None:
    """Return the reservation that a launch is to use, None for capacity on demand.

    Raises:
        EC2ClientError: the reservation is unknown, not active, of another type or full.
    """
    target = (specification.get("CapacityReservationTarget") or {}).get("CapacityReservationId")
    if not target:
        return None
    held = reservation(backend, target)
    if held.current_state != "active":
        raise EC2ClientError(
            "ReservationCapacityExceeded",
            f"The capacity reservation {held.id} is {held.current_state}, not active",
        )
    if held.instance_type != instance_type:
        raise EC2ClientError(
            "InvalidParameterValue",
            f"The capacity reservation {held.id} is for {held.instance_type}, "
            f"the launch for {instance_type}",
        )
    if held.reservation_type == "capacity-block" and market != "capacity-block":
        raise EC2ClientError(
            "InvalidParameterCombination",
            f"The capacity block {held.id} needs the market type capacity-block",
        )
    free = available(backend, held)
    if free < count:
        raise EC2ClientError(
            "ReservationCapacityExceeded",
            f"The capacity reservation {held.id} has {free} instances left, {count} asked for",
        )
    return held


def spot_status(instance: Any) -> str:
    """Return the status of the request of a spot instance."""
    marked = getattr(instance, "rackwright_marked", False)
    if instance.state in ("pending", "running"):
        return "marked-for-termination" if marked else "fulfilled"
    return "instance-terminated-no-capacity" if marked else "instance-terminated-by-user"


def take_back(regions: dict[str, dict[str, Any]]) -> None:
    """Give notice of spot instances of regions, or end them (``{"us-east-1": {"ids": ["i-…"], "end": true}}``).

    Raises:
        ValueError: one is no spot instance that runs.
    """
    for region, asked in regions.items():
        _take_back(ec2_backends[_ACCOUNT][region], **asked)


def _take_back(backend: Any, ids: list[str], *, end: bool = False) -> None:
    instances = {one.id: one for one in _instances(backend)}
    for identity in ids:
        instance = instances.get(identity)
        if instance is None or instance.lifecycle != "spot":
            raise ValueError(f"'{identity}' is no spot instance that runs")
        instance.rackwright_marked = True
        if end:
            instance.terminate()
            reason = "Server.SpotInstanceTermination"
            instance.state_reason = StateReason(f"{reason}: Spot instance termination", reason)


def new_id(prefix: str) -> str:
    """Return a fresh resource id such as ``cr-0123456789abcdef0``."""
    return f"{prefix}-{secrets.token_hex(9)[:17]}"


def offerings(
    backend: Any, instance_type: str, count: int, hours: int, earliest: datetime | None
) -> list[dict[str, Any]]:
    """Return the capacity block offerings for a request: one per zone, the same every time.

    An offering's id holds what is bought, so that nothing needs to be kept until the purchase.
    """
    start = (earliest or datetime.now(UTC)).replace(minute=30, second=0, microsecond=0)
    fee = _HOURLY_USD.get(instance_type, 10.0) * hours * count
    zones = [zone.name for zone in backend.describe_availability_zones()][:2]
    return [
        {
            "CapacityBlockOfferingId": offering_id(instance_type, count, hours, zone, start),
            "InstanceType": instance_type,
            "AvailabilityZone": zone,
            "InstanceCount": count,
            "StartDate": start,
            "EndDate": start + timedelta(hours=hours),
            "CapacityBlockDurationHours": hours,
            "CapacityBlockDurationMinutes": hours * 60,
            "UpfrontFee": f"{fee:.2f}",
            "CurrencyCode": "USD",
            "Tenancy": "default",
        }
        for zone in zones
    ]


def offering_id(instance_type: str, count: int, hours: int, zone: str, start: datetime) -> str:
    """Return the id that stands for an offering."""
    text = f"{instance_type}|{count}|{hours}|{zone}|{int(start.timestamp())}"
    return f"cbo-{text.encode().hex()}"


def parse_offering(identity: str) -> tuple[str, int, int, str, datetime]:
    """Return type, count, hours, zone and start of an offering.

    Raises:
        EC2ClientError: the id is none of an offering.
    """
    try:
        text = bytes.fromhex(identity.removeprefix("cbo-")).decode()
        instance_type, count, hours, zone, start = text.split("|")
        begin = datetime.fromtimestamp(int(start), UTC)
        return instance_type, int(count), int(hours), zone, begin
    except ValueError:
        raise EC2ClientError(
            "InvalidCapacityBlockOfferingId.NotFound",
            f"The capacity block offering '{identity}' does not exist",
        ) from None


def network_nodes(instance: Any, position: int) -> list[str]:
    """Return the three network nodes above an instance, the outermost first.

    The first is one per zone, the second one per placement group (or none), the third one for
    every 8 instances, in launch order.
    """
    zone, group = instance.placement.zone, instance.placement.group_name or ""
    names = (zone, f"{zone}/{group}", f"{zone}/{group}/{position // 8}")
    return [f"nn-{hashlib.sha256(name.encode()).hexdigest()[:17]}" for name in names]
