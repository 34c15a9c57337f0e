"""Status checks of the embedded EC2 that fail."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest

from rackwright_lab.embedded_aws import control
from unit.embedded_aws.clients import IMAGE, REGION, Connect, a_subnet, admin


def impaired(ec2: Any, check: str = "system") -> list[dict[str, Any]]:
    """Return the status of each instance whose check fails."""
    wanted = [{"Name": f"{check}-status.status", "Values": ["impaired"]}]
    found: list[dict[str, Any]] = ec2.describe_instance_status(Filters=wanted)["InstanceStatuses"]
    return found


def test_check_that_fails_is_found_by_its_status_until_the_instance_ends(
    embedded: control.Embedded, aws: Connect
) -> None:
    ec2 = aws("ec2")
    made = ec2.run_instances(ImageId=IMAGE, SubnetId=a_subnet(ec2), MinCount=2, MaxCount=2)
    broken, healthy = (one["InstanceId"] for one in made["Instances"])
    assert impaired(ec2) == []
    admin(embedded, "POST", "health", {REGION: {broken: 300}})
    (found,) = impaired(ec2)
    assert found["InstanceId"] == broken
    (detail,) = found["SystemStatus"]["Details"]
    assert dt.datetime.now(dt.UTC) - detail["ImpairedSince"] >= dt.timedelta(seconds=300)
    assert impaired(ec2, "instance") == []
    told = {one["InstanceId"]: one for one in ec2.describe_instance_status()["InstanceStatuses"]}
    assert told[healthy]["SystemStatus"]["Status"] == "ok"
    ec2.terminate_instances(InstanceIds=[broken])
    assert impaired(ec2) == []


def test_health_of_an_instance_that_does_not_run_is_refused(embedded: control.Embedded) -> None:
    with pytest.raises(OSError, match="400"):
        admin(embedded, "POST", "health", {REGION: {"i-0": 1}})
