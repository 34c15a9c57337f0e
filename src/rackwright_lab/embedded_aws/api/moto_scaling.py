"""Capacity that runs out: Auto Scaling launches what there is, says why it launches no more, and asks again.

moto launches all instances of a group or none, and has no scaling activities.
"""

from __future__ import annotations

import datetime as dt
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, cast
from uuid import uuid4

from moto.autoscaling import models as autoscaling
from moto.autoscaling.responses import AutoScalingResponse
from moto.core.exceptions import ServiceException
from moto.core.responses import ActionResult
from moto.ec2.models import ec2_backends

from rackwright_lab.embedded_aws.api import moto_capacity
from rackwright_lab.embedded_aws.api.patching import first_time, put
from rackwright_lab.embedded_aws.pace import PACE

_ACCOUNT = "123456789012"
_MOST_ACTIVITIES = 100
_LACKING = (
    "InsufficientInstanceCapacity",
    "ReservationCapacityExceeded",
    "InsufficientFreeAddressesInSubnet",
)
"""Codes of EC2 for capacity and addresses that are lacking: Auto Scaling notes them, and the call succeeds."""


def install() -> None:
    """Put capacity and activities into moto's classes; a second call changes nothing."""
    if not first_time(__name__):
        return
    launch = autoscaling.FakeAutoScalingGroup.replace_autoscaling_group_instances
    describe = autoscaling.AutoScalingBackend.describe_auto_scaling_groups

    def replace(self: Any, count_needed: int, propagated_tags: dict[str, str]) -> None:
        # Off the pace all instances come with the call; else the reads that follow find them come.
        since = vars(self).setdefault("rackwright_asked", None)
        if PACE.settings.launch_s and since is None:
            self.rackwright_asked = time.time()
            return
        free = _free(self)
        wanted = count_needed if free is None else min(count_needed, free)
        before = len(self.instance_states)
        failure = None
        if wanted:
            try:
                launch(self, wanted, propagated_tags)
            except ServiceException as error:
                failure = error
        launched = self.instance_states[before:]
        for state in launched:
            _note(self, f"Launching a new EC2 instance: {state.instance.id}", None)
        words = _refusal(self) if failure is None else _words(failure.code, failure.message)
        for _ in range(count_needed - len(launched)):
            _note(self, "Launching a new EC2 instance", words)
        if failure is not None and failure.code not in _LACKING:
            raise failure

    def describe_auto_scaling_groups(self: Any, *arguments: Any, **named: Any) -> Any:
        for group in self.autoscaling_groups.values():
            _ask_again(group)
        return describe(self, *arguments, **named)

    def describe_scaling_activities(self: Any) -> ActionResult:
        group = self.autoscaling_backend.autoscaling_groups.get(
            self._get_param("AutoScalingGroupName")
        )
        return ActionResult({"Activities": [] if group is None else _activities(group)})

    put(autoscaling.FakeAutoScalingGroup, replace_autoscaling_group_instances=replace)
    put(autoscaling.AutoScalingBackend, describe_auto_scaling_groups=describe_auto_scaling_groups)
    put(AutoScalingResponse, describe_scaling_activities=describe_scaling_activities)


def limit(regions: Mapping[str, Mapping[str, Any]]) -> None:
    """Set the instances of each type that a region has for Auto Scaling in all; None for no end of them.

    Raises:
        ValueError: a number is negative or none.
    """
    for region, types in regions.items():
        for name, count in types.items():
            if count is not None and (not isinstance(count, int) or count < 0):
                raise ValueError(f"{count!r} is not a number of instances of '{name}'")
        moto_capacity.limits(ec2_backends[_ACCOUNT][region]).update(types)


def _type(group: Any) -> str:
    """Return the type that a group launches."""
    if group.ec2_launch_template:
        version = group.ec2_launch_template.get_version(group.launch_template_version)
        return str(version.data.get("InstanceType", ""))
    return str(group.instance_type)


def _reservation(group: Any) -> moto_capacity.Reservation | None:
    """Return the capacity reservation that the launch template of a group targets, if there is one."""
    if not group.ec2_launch_template:
        return None
    version = group.ec2_launch_template.get_version(group.launch_template_version)
    specification = version.data.get("CapacityReservationSpecification") or {}
    target = specification.get("CapacityReservationTarget") or {}
    held = moto_capacity.reservations(group.autoscaling_backend.ec2_backend)
    return held.get(target.get("CapacityReservationId", ""))


def _free(group: Any) -> int | None:
    """Return the number of instances that a group can launch now; None without a limit."""
    backend = group.autoscaling_backend.ec2_backend
    free = []
    wanted = _type(group)
    most = moto_capacity.left(backend, wanted)
    if most is not None:
        free.append(most)
    reservation = _reservation(group)
    if reservation is not None:
        free.append(_left(backend, reservation))
    return min(free, default=None)


def _left(backend: Any, reservation: moto_capacity.Reservation) -> int:
    """Return the number of free instances of a reservation; 0 unless it is active."""
    if reservation.current_state != "active":
        return 0
    return max(0, moto_capacity.available(backend, reservation))


def _ask_again(group: Any) -> None:
    """Launch what a group lacks, if there is capacity again and it is not suspended."""
    lacking = (group.desired_capacity or 0) - len(group.active_instances())
    suspended = {one["ProcessName"] for one in group.suspended_processes}
    since = vars(group).get("rackwright_asked")
    if since is not None:
        if "Launch" not in suspended and time.time() - since >= PACE.settings.launch_s:
            _launch_half(group, lacking)
        return
    if lacking > 0 and "Launch" not in suspended and _activities(group) and _free(group) != 0:
        with suppress(ServiceException):  # noted as an activity; a read does not fail by it
            group.set_desired_capacity(group.desired_capacity)


def _launch_half(group: Any, lacking: int) -> None:
    """Launch half of what a group lacks; the rest is due after the same time."""
    if lacking <= 0:
        group.rackwright_asked = None
        return
    wanted = group.desired_capacity
    with suppress(ServiceException):  # noted as an activity; a read does not fail by it
        group.set_desired_capacity(wanted - lacking // 2)
    group.desired_capacity = wanted
    group.rackwright_asked = time.time() if lacking // 2 else None


def _activities(group: Any) -> list[dict[str, Any]]:
    """Return what a group has done, the newest first."""
    found = vars(group).setdefault("rackwright_activities", [])
    return cast("list[dict[str, Any]]", found)


def _refusal(group: Any) -> str:
    """Return the words of AWS where capacity is lacking ("Troubleshoot Amazon EC2 Auto Scaling")."""
    reservation = _reservation(group)
    if reservation is not None and not _left(group.autoscaling_backend.ec2_backend, reservation):
        return _words(
            "ReservationCapacityExceeded",
            "The requested reservation does not have sufficient compatible and available capacity for"
            " this request.",
        )
    zone = group.availability_zones[0]
    return (
        f"We currently do not have sufficient {_type(group)} capacity in the Availability Zone you"
        f" requested ({zone}). Our system will be working on provisioning additional capacity."
        " Launching EC2 instance failed."
    )


def _words(code: str, message: str) -> str:
    """Return what an activity states of an error of EC2."""
    return (
        f"Could not launch On-Demand Instances. {code} - {message} Launching EC2 instance failed."
    )


def _note(group: Any, description: str, failure: str | None) -> None:
    now = dt.datetime.now(dt.UTC)
    activity = {
        "ActivityId": str(uuid4()),
        "AutoScalingGroupName": group.name,
        "Description": description,
        "Cause": f"At {now:%Y-%m-%dT%H:%M:%SZ} an instance was started in response to a difference"
        " between desired and actual capacity.",
        "StartTime": now,
        "EndTime": now,
        "StatusCode": "Successful" if failure is None else "Failed",
        "Progress": 100,
    }
    if failure is not None:
        activity["StatusMessage"] = failure
    found = _activities(group)
    found.insert(0, activity)
    del found[_MOST_ACTIVITIES:]
