"""A cluster on the embedded AWS that waits for capacity and grows: nothing lost, nothing renamed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(900)]
TARGET = ("--target", "local")
TIME = {"make_s": 3, "launch_s": 2, "see_after": 2, "throttle_every": 40}
"""Minutes of AWS in seconds, and the throttling of a busy account."""
GROUP = "year-cloud-train"


def hosts(lab: Any, blueprint: Path, expect: int = 0) -> dict[str, str]:
    """Return the instance of each host by ``status``."""
    told = json.loads(lab.run("status", blueprint, *TARGET, "--json", expect=expect))
    found: dict[str, str] = told["nodes"]["train"]["instance_ids"]
    return found


def suspended(lab: Any) -> set[str]:
    """Return the processes of the Auto Scaling group that are suspended."""
    (group,) = lab.client("autoscaling").describe_auto_scaling_groups(
        AutoScalingGroupNames=[GROUP]
    )["AutoScalingGroups"]
    return {one["ProcessName"] for one in group["SuspendedProcesses"]}


def test_capacity_that_comes_in_part_and_a_group_that_grows(lab: Any) -> None:
    blueprint = lab.blueprint("year")
    lab.pace(**TIME)
    lab.capacity(p5_48xlarge=1)
    lab.run("up", blueprint, *TARGET, "--yes", expect=10)
    first = hosts(lab, blueprint, expect=10)
    assert list(first) == ["train-1"]
    assert suspended(lab) == {"AZRebalance", "ReplaceUnhealthy"}
    lab.run("up", blueprint, *TARGET, "--yes", expect=10)

    lab.capacity(p5_48xlarge=None)
    lab.run("up", blueprint, *TARGET, "--yes")
    two = hosts(lab, blueprint)
    assert list(two) == ["train-1", "train-2"]
    assert two["train-1"] == first["train-1"]

    larger = lab.blueprint("year", **{"count: 2": "count: 12"})
    lab.run("up", larger, *TARGET, "--yes")
    twelve = hosts(lab, larger)
    assert set(twelve) == {f"train-{number}" for number in range(1, 13)}
    assert {name: twelve[name] for name in two} == two

    wider = lab.blueprint("year", **{"count: 2": "count: 12\n        name_digits: 2"})
    lab.run("up", wider, *TARGET, "--yes", expect=2)
    again = lab.blueprint("year", **{"count: 2": "count: 12"})
    assert hosts(lab, again) == twelve


def test_a_key_of_the_team_is_granted_to_auto_scaling_and_old_versions_are_removed(
    lab: Any,
) -> None:
    kms = lab.client("kms")
    key = kms.create_key()["KeyMetadata"]["Arn"]
    blueprint = lab.blueprint(
        "keyed",
        **{
            "    limits:": f"    access: {{encryption_key: '{key}', key_for_auto_scaling: grant}}\n    limits:",
            "mount: /scratch": "mount: /scratch\n        data_repositories: "
            "[{bucket: keyed-data, path: /data, keep_versions: 30 d}]",
        },
    )
    lab.run("up", blueprint, *TARGET, "--yes")
    (grant,) = kms.list_grants(KeyId=key)["Grants"]
    assert grant["GranteePrincipal"].endswith("/AWSServiceRoleForAutoScaling")
    s3 = lab.client("s3")
    (rule,) = s3.get_bucket_lifecycle_configuration(Bucket="keyed-data")["Rules"]
    assert rule["NoncurrentVersionExpiration"] == {"NoncurrentDays": 30}

    changes = [
        stack["changes"]
        for stack in lab.stacks("preview", blueprint).values()
        if "changes" in stack
    ]
    assert not any(set(change) - {"same"} for change in changes), changes
