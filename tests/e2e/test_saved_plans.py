"""What was reviewed is what is applied; what is there is what was applied."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(900)]


def test_exactly_the_saved_plan_is_applied(lab: Any) -> None:
    path = lab.blueprint("planned")
    before = path.read_text()
    after = before.replace("root_volume: 500 GiB", "root_volume: 600 GiB")
    assert after != before
    target = ("--target", "local")

    lab.run("preview", path, *target, "--save-plan", "first")
    path.write_text(after)
    lab.run("up", path, *target, "--yes", "--plan", "first", expect=2)  # another blueprint
    path.write_text(before)
    done = lab.stacks("up", path, "--yes", "--plan", "first")
    assert done["aws-cluster"]["changes"]["create"] > 5
    lab.run("preview", path, *target, "--refresh", "--expect-no-changes")

    # A plan that was reviewed when nothing had to change does not undo what came after it.
    lab.run("preview", path, *target, "--save-plan", "second")
    path.write_text(after)
    lab.run("up", path, *target, "--yes", expect=8)  # nodes that run keep their disks
    path.write_text(before)
    lab.run("up", path, *target, "--yes", "--plan", "second", expect=4)
    (template,) = lab.client("ec2").describe_launch_templates()["LaunchTemplates"]
    assert template["LatestVersionNumber"] == 2

    seal = Path(lab.folder / "second/seal.json")
    seal.write_text(seal.read_text().replace("planned-cloud", "other-cloud"))
    lab.run("up", path, *target, "--yes", "--plan", "second", expect=2)


def test_what_was_changed_by_hand_is_drift(lab: Any) -> None:
    path = lab.blueprint("drifted")
    lab.run("up", path, "--target", "local", "--yes")
    ec2 = lab.client("ec2")
    tagged = [{"Name": "tag:rackwright:cluster", "Values": ["drifted"]}]
    (vpc,) = ec2.describe_vpcs(Filters=tagged)["Vpcs"]
    ec2.create_tags(Resources=[vpc["VpcId"]], Tags=[{"Key": "rackwright:site", "Value": "hand"}])
    asked = ("preview", path, "--target", "local", "--expect-no-changes")
    lab.run(*asked)  # the record alone does not know
    shown = lab.run(*asked, "--refresh", expect=5)
    assert "aws-network/drifted-cloud: 1 to update" in shown
    assert "drifted-cloud-vpc: tags" in shown
