"""Spot instances: elastic alone, with a limit, in partitions that say so, drained when AWS takes them back."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from aws_factories import a_group, a_plan, a_site
from rackwright.errors import SpecErrors
from rackwright.inventory.role_variables.slurm.elastic import SPOT_SWEEP_S, elastic_variables
from rackwright.model.aws_instances import AwsNodeGroup
from rackwright.plan.aws.access import instance_policy
from rackwright.plan.aws.site import spot_quota
from rackwright.plan.load import load_plan
from rackwright.plan.model import Plan
from rackwright.policy.packs.loader import builtin_pack

SPOT = {"kind": "spot", "max_price": "20 USD/h"}
BOUNDS = {"min": 0, "max": 8}
LAYER = """
sites:
  - name: use1
    node_groups:
      - {name: train, count: {min: 0, max: 8}, capacity: {kind: spot, max_price: 20.50 USD/h}}
scheduler:
  kind: slurm
  version: "25.05"
  controllers: [{host: head-1}]
  configless: true
  topology: {plugin: flat}
  partitions: [{name: train, groups: [train], SPOT}]
"""


def a_cluster(folder: Path, spot: str = "spot: true") -> Plan:
    layer = folder / "layer.yaml"
    layer.write_text(LAYER.replace("SPOT", spot))
    return load_plan(builtin_pack() / "fixtures/aws.yaml", [layer]).plan


def refusal(folder: Path, text: str) -> str:
    """The words by which a plan is refused, with their place."""
    (folder / "layer.yaml").write_text(text)
    with pytest.raises(SpecErrors) as refused:
        load_plan(builtin_pack() / "fixtures/aws.yaml", [folder / "layer.yaml"])
    return str(refused.value)


@pytest.mark.parametrize("count", [4, 0, {"min": 1, "max": 4}])
def test_spot_instances_that_always_run_are_refused(count: Any) -> None:
    with pytest.raises(ValidationError, match="so that Slurm launches them"):
        AwsNodeGroup.model_validate(a_group(count=count, capacity=SPOT))


@pytest.mark.parametrize("limit", [{}, {"max_price": "0 USD/h"}, {"max_price": 20}])
def test_spot_without_a_limit_is_refused(limit: dict[str, Any]) -> None:
    """A spot request without a limit could cost as much as on demand, without a word."""
    with pytest.raises(ValidationError, match="max_price"):
        AwsNodeGroup.model_validate(a_group(count=BOUNDS, capacity={"kind": "spot", **limit}))


def test_a_partition_says_that_its_jobs_may_be_interrupted(tmp_path: Path) -> None:
    told = refusal(tmp_path, LAYER.replace("SPOT", "max_nodes: 4"))
    assert "layer.yaml:12:16: scheduler.partitions.train.spot: jobs of 'train' may run" in told
    assert "spot instances of 'train', which AWS takes back" in told
    assert a_cluster(tmp_path).scheduler is not None


def test_a_partition_without_spot_instances_says_nothing_of_them(tmp_path: Path) -> None:
    text = LAYER.replace("SPOT", "spot: true")
    text = text.replace("capacity: {kind: spot, max_price: 20.50 USD/h}", "efa: true")
    assert "none of its groups has any" in refusal(tmp_path, text)


def test_the_launch_template_has_the_limit_and_asks_once() -> None:
    (group,) = a_plan(a_group(count=BOUNDS, capacity=SPOT)).groups
    made = group.launch_template("name", {})
    assert made["instance_market_options"] == {
        "market_type": "spot",
        "spot_options": {
            "max_price": "20",
            "spot_instance_type": "one-time",
            "instance_interruption_behavior": "terminate",
        },
    }
    assert "capacity_reservation_specification" not in made
    assert group.placement.group == "cluster"


def test_cost_is_at_most_the_limit(tmp_path: Path) -> None:
    plan = a_cluster(tmp_path)
    (line,) = [one for one in plan.cost.lines if (one.group, one.kind) == ("train", "instances")]
    assert line.what == "8 × p5.48xlarge spot, at the limit"
    assert line.price is not None
    assert line.price.amount == Decimal("20.50")
    assert line.micros == 8 * 20_500_000 * 8760


@pytest.mark.parametrize(
    ("kind", "on_demand", "spot"),
    [
        ("p5en.48xlarge", "L-417A185B", "L-C4BD4855"),
        ("p4d.24xlarge", "L-417A185B", "L-7212CCBC"),
        ("p6-b200.48xlarge", "L-417A185B", None),
        ("m7i.4xlarge", "L-1216C47A", "L-34B43A08"),
        ("g6.48xlarge", "L-DB2E81BA", "L-3819A6DF"),
        ("trn2.48xlarge", "L-2C3B7624", "L-6B0D517C"),
        ("own.large", None, None),
    ],
)
def test_spot_has_quotas_of_its_own(kind: str, on_demand: str | None, spot: str | None) -> None:
    assert spot_quota(kind, on_demand) == spot


def test_the_head_node_sees_notices_and_may_make_the_role_of_spot_alone() -> None:
    def actions(**group: Any) -> dict[str, list[str]]:
        site = a_site(a_group(count=BOUNDS, **group))
        policy = instance_policy("atlas", site, "123456789012", "head")
        return {one["Sid"]: one["Action"] for one in policy["Statement"]}

    spot, plain = actions(capacity=SPOT), actions()
    assert "ec2:DescribeSpotInstanceRequests" in spot["SeeElasticNodes"]
    assert spot["MakeTheRoleOfSpot"] == ["iam:CreateServiceLinkedRole"]
    assert "MakeTheRoleOfSpot" not in plain
    assert "ec2:DescribeSpotInstanceRequests" not in plain["SeeElasticNodes"]


def test_notices_are_looked_for_several_times_within_two_minutes(tmp_path: Path) -> None:
    variables = elastic_variables(a_cluster(tmp_path))
    assert variables["elastic_sites"][0]["spot"] is True
    assert variables["elastic_sweep_s"] == SPOT_SWEEP_S < 60
