"""Bursts of a blueprint: the partition that has their hosts, their price, and names that lead nowhere."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
import yaml

from rackwright.errors import SpecErrors
from rackwright.inventory.role_variables.slurm.elastic import elastic_variables
from rackwright.plan.load import load_data
from rackwright.plan.problems import PlanError
from rackwright.policy.packs.loader import builtin_pack
from rackwright.render.slurm import render_slurm

FIXTURES = builtin_pack() / "fixtures"
BURST: dict[str, Any] = {
    "partition": "gpu",
    "to": "use1/train",
    "max": 4,
    "when": {"wait": "20 min"},
    "budget": "20000 USD",
}


def read(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return found


HALL, CLOUD = read(FIXTURES / "slurm.yaml"), read(FIXTURES / "aws.yaml")


def document(**changes: Any) -> dict[str, Any]:
    """Return a hall and a site on AWS with 16 elastic hosts, in one Slurm cluster, with a burst."""
    made = copy.deepcopy(HALL)
    cloud = copy.deepcopy(CLOUD["sites"][0])
    cloud["node_groups"][0]["count"] = {"min": 0, "max": 16}
    made["sites"].append(cloud)
    made["sites"][0]["node_groups"][1]["name"] = "control"
    made["scheduler"] |= {
        "controllers": [{"host": "control-1"}],
        "topology": {"plugin": "flat"},
        "configless": True,
        "power_saving": {"boot": "8 min", "idle": "10 min", "resume_timeout": "20 min"},
    }
    made["scheduler"]["partitions"][0]["max_time"] = "2-00:00:00"
    made["burst"] = [{**BURST, **changes}]
    return made


def test_a_burst_has_a_partition_of_its_first_hosts_with_the_limits_of_its_own() -> None:
    plan = load_data(document()).plan
    lines = render_slurm(plan)["slurm.conf"].splitlines()
    own, burst = (line for line in lines if line.startswith("PartitionName="))
    assert own.startswith("PartitionName=gpu Nodes=dgx-[01-64] Default=YES MaxTime=2-00:00:00")
    assert burst.startswith(
        "PartitionName=gpu-burst Nodes=train-[1-4] Default=NO MaxTime=2-00:00:00"
    )


def test_the_program_gets_the_price_of_a_host_with_its_volume() -> None:
    plan = load_data(document()).plan
    (burst,) = elastic_variables(plan)["elastic_bursts"]
    group = next(one for one in plan.cost.sites[1].groups if one.name == "train")
    assert group.amount.per_hour is not None
    assert burst["per_hour"] == pytest.approx(float(group.amount.per_hour) / 16)
    assert burst["per_hour"] > 55.04, "that is the instance alone"
    assert burst | {"per_hour": 0} == {
        "partition": "gpu", "into": "gpu-burst", "site": "use1", "group": "train", "nodes": 4,
        "wait_s": 1200, "budget": 20_000.0, "per_hour": 0, "boot_s": 1200, "idle_s": 720,
    }  # fmt: skip


def test_a_burst_whose_price_is_not_known_renders_nothing() -> None:
    made = document()
    made["sites"][1]["region"] = "eu-west-1"
    made["sites"][1]["network"]["availability_zones"] = ["eu-west-1a"]
    with pytest.raises(PlanError, match="the budget of the burst of 'gpu' cannot be kept"):
        render_slurm(load_data(made).plan)


@pytest.mark.parametrize(
    ("changes", "message", "cure"),
    [
        ({"partition": "gpus"}, "there is no partition 'gpus'", "did you mean 'gpu'?"),
        ({"to": "use2/train"}, "there is no site 'use2' on AWS", "did you mean 'use1'?"),
        ({"to": "sjc1/dgx"}, "there is no site 'sjc1' on AWS", "there are: use1"),
        ({"to": "use1/trains"}, "no node group 'trains' in 'use1'", "did you mean 'train'?"),
        ({"datasets": ["corpsu"]}, "there is no data set 'corpsu'", "there are: none"),
        ({"max": 17}, "'use1/train' has at most 16 hosts; the burst takes 17", "take at most 16"),
    ],
)
def test_names_and_numbers_that_lead_nowhere_are_told_with_a_cure(
    changes: dict[str, Any], message: str, cure: str
) -> None:
    refused(document(**changes), message, cure)


def test_a_burst_without_a_scheduler_is_told() -> None:
    made = document()
    del made["scheduler"]
    with pytest.raises(SpecErrors, match="a burst needs a 'scheduler'"):
        load_data(made)


def test_a_partition_has_one_burst() -> None:
    """Two would both have been the partition 'gpu-burst', of which Slurm takes one."""
    made = document()
    group = copy.deepcopy(made["sites"][1]["node_groups"][0])
    made["sites"][1]["node_groups"].append({**group, "name": "more"})
    made["burst"].append({**BURST, "to": "use1/more"})
    refused(made, "the partition 'gpu' has two bursts", "leave one of them out")


@pytest.mark.parametrize("budget", ["1 USD", "29 USD"])
def test_a_budget_that_pays_for_no_job_is_told(budget: str) -> None:
    """The boot and the idle time of one host, 32 minutes at 55 USD an hour, were more than it."""
    refused(document(budget=budget), "starts no host: one costs 29.38 USD", "give more")
    load_data(document(budget="30 USD"))


def test_a_hall_and_a_vpc_of_one_cluster_share_no_address() -> None:
    made = document()
    cidr = made["sites"][1]["network"]["cidr"]
    first = cidr.rpartition(".")[0]
    made["sites"][0]["addresses"] = {
        "domain": "sjc1.example.com",
        "networks": [
            {
                "name": "mgmt",
                "kind": "management",
                "prefix": f"{first}.0/24",
                "ranges": [{"of": "dgx", "first": f"{first}.10"}],
            }
        ],
    }
    refused(made, f"{cidr} of the VPC of 'use1' overlap", "another prefix")
    made["scheduler"]["sites"] = ["sjc1"]
    del made["burst"]
    load_data(made)


@pytest.mark.parametrize("count", [4, {"min": 1, "max": 4}])
def test_hosts_that_run_anyway_are_no_burst(count: Any) -> None:
    made = document()
    made["sites"][1]["node_groups"][0]["count"] = count
    refused(made, "hosts of 'use1/train' run without a burst", "count: {min: 0, max: 4}")


def test_two_bursts_have_no_hosts_in_common() -> None:
    made = document()
    made["scheduler"]["partitions"].append({"name": "debug", "groups": ["dgx"]})
    made["burst"].append({**BURST, "partition": "debug"})
    refused(made, "both start hosts of 'use1/train'", "a node group of its own")


def test_the_partition_of_a_burst_has_a_name_that_is_free() -> None:
    made = document()
    made["scheduler"]["partitions"].append({"name": "gpu-burst", "groups": ["dgx"]})
    refused(made, "makes the partition 'gpu-burst', which is there already", "another name")


def test_a_scheduler_that_leaves_the_site_out_is_told() -> None:
    made = document()
    made["scheduler"]["sites"] = ["sjc1"]
    refused(made, "the scheduler does not cover 'use1'", "add 'use1' to 'scheduler.sites'")


def refused(made: dict[str, Any], message: str, cure: str) -> None:
    with pytest.raises(SpecErrors) as caught:
        load_data(made)
    assert message in str(caught.value)
    assert cure in str(caught.value)
    assert str(caught.value).count("hint:") == 1, "one mistake, one message"
