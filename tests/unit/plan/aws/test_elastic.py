"""Elastic node groups: bounds, names, what is static, what Slurm is told, and what they cost."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from aws_factories import a_group, a_plan, a_site
from rackwright.inventory.inventory import build_inventory
from rackwright.model.aws_instances import AwsNodeGroup
from rackwright.plan.aws.access import instance_policy
from rackwright.plan.load import load_plan
from rackwright.plan.model import Plan
from rackwright.policy.packs.loader import builtin_pack
from rackwright.provision.nodes import fleet_in
from rackwright.render.slurm import render_slurm

SLURM = """
sites:
  - name: use1
    node_groups: [{name: train, count: COUNT, name_digits: 2}]
scheduler:
  kind: slurm
  version: "VERSION"
  controllers: [{host: head-1}]
  configless: true
  topology: {plugin: flat}
  partitions: [{name: train, groups: [train]}]
"""


def a_cluster(folder: Path, count: str = "{min: 2, max: 12}", version: str = "25.05") -> Plan:
    layer = folder / "layer.yaml"
    layer.write_text(SLURM.replace("COUNT", count).replace("VERSION", version))
    return load_plan(builtin_pack() / "fixtures/aws.yaml", [layer]).plan


@pytest.mark.parametrize(
    "count", [{"min": 4, "max": 4}, {"min": 5, "max": 4}, {"min": -1, "max": 4}, {"max": 0}, {}]
)
def test_bounds_that_leave_nothing_to_launch_are_refused(count: dict[str, int]) -> None:
    with pytest.raises(ValidationError):
        AwsNodeGroup.model_validate(a_group(count=count))


def test_static_nodes_come_first_and_addresses_and_quotas_are_for_all() -> None:
    planned = a_plan(a_group(count={"min": 2, "max": 12}))
    (group,) = planned.groups
    assert group.host_names == ("gpu-01", "gpu-02")
    assert group.elastic_names[0] == "gpu-03"
    assert len(group.elastic_names) == 10
    assert group.vcpus == 12 * 192
    every = a_plan(a_group(count=12))
    assert planned.demand == every.demand


def test_slurm_conf_has_cloud_nodes_and_never_suspends_static_ones(tmp_path: Path) -> None:
    lines = render_slurm(a_cluster(tmp_path))["slurm.conf"].splitlines()
    nodes = [line for line in lines if line.startswith("NodeName=")]
    assert [line.split()[0] for line in nodes] == [
        "NodeName=train-[01-02]",
        "NodeName=train-[03-12]",
    ]
    assert [line.endswith(" State=CLOUD") for line in nodes] == [False, True]
    for line in (
        "ResumeProgram=/usr/local/sbin/rackwright-resume",
        "ResumeFailProgram=/usr/local/sbin/rackwright-resume-failed",
        "SuspendProgram=/usr/local/sbin/rackwright-suspend",
        "SuspendExcNodes=train-[01-02]",
        "SuspendTime=600",
        "ResumeTimeout=1800",
        "ReconfigFlags=KeepPowerSaveSettings",
        "PrivateData=cloud",
    ):
        assert line in lines
    assert any("Nodes=train-[01-12]" in line for line in lines if line.startswith("PartitionName"))


def test_a_group_without_bounds_has_no_power_saving(tmp_path: Path) -> None:
    text = render_slurm(a_cluster(tmp_path, "12"))["slurm.conf"]
    assert "Suspend" not in text
    assert "CLOUD" not in text


def test_older_releases_get_no_flag_that_they_do_not_know(tmp_path: Path) -> None:
    text = render_slurm(a_cluster(tmp_path, "{max: 12}", "22.05"))["slurm.conf"]
    assert "ReconfigFlags" not in text
    assert "SuspendExcNodes" not in text


def test_auto_scaling_and_ansible_have_the_static_nodes_alone(tmp_path: Path) -> None:
    plan = a_cluster(tmp_path)
    fleet = fleet_in(plan, "use1")
    assert fleet.groups == {"train": 2}
    assert "train-03" in fleet.servers
    inventory = build_inventory(plan)
    assert {"train-01", "train-02"} <= set(inventory["_meta"]["hostvars"])
    assert "train-03" not in inventory["_meta"]["hostvars"]
    (site,) = inventory["slurm_controller"]["vars"]["elastic_sites"]
    assert site["groups"] == {
        "train": {"template": "atlas-use1-train", "first": 3, "last": 12, "digits": 2}
    }
    assert site["replacements"] == {"per_hour": 10, "per_week": 2}
    assert inventory["_meta"]["hostvars"]["head-1"]["instance_metadata_users"] == ["slurm"]


def test_cost_says_the_largest_and_the_idle_night(tmp_path: Path) -> None:
    (site,) = a_cluster(tmp_path, "{max: 16}").cost.sites
    (full,) = a_cluster(tmp_path, "16").cost.sites
    (none,) = a_cluster(tmp_path, "0").cost.sites
    assert site.amount == full.amount
    assert site.idle is not None
    assert site.idle.per_hour == none.amount.per_hour
    assert full.idle is None


def test_only_the_head_of_elastic_groups_may_launch() -> None:
    def actions(role: str, **group: object) -> set[str]:
        document = instance_policy("atlas", a_site(a_group(**group)), "111122223333", role)  # type: ignore[arg-type]
        return {action for one in document["Statement"] for action in one["Action"]}

    launch = {"ec2:RunInstances", "ec2:TerminateInstances", "iam:PassRole"}
    assert launch <= actions("head", count={"max": 4})
    assert not launch & actions("head")
    assert not launch & actions("node", count={"max": 4})
