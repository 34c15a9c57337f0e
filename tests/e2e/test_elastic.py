"""Elastic nodes: a real slurmctld launches and ends instances of an embedded AWS that the stacks have provisioned.

Each instance gets a real slurmd. Nothing is lost, nothing runs twice, and an idle night costs no compute instance.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from elastic_hall import (
    ElasticHall,
    age_failures,
    elastic_blueprint,
    elastic_hall,
    journal,
    kill,
    living,
    own_network,
)

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(1500)]
NODES, LARGEST, KILLS = 20, 500, 20
SOAK_S = 3600
TYPE = "p5_48xlarge"


@pytest.fixture(scope="module", autouse=True)
def network() -> Iterator[None]:
    """Put what this module starts into a network of its own."""
    with own_network():
        yield


def hall_of(lab: Any, most: int, *, spot: bool = False) -> tuple[ElasticHall, Path]:
    """Provision a cluster with elastic nodes, and return its controller, which is not started yet."""
    changes = {"count: 2": f"count: {{min: 0, max: {most}}}"}
    if spot:
        changes["kind: on-demand"] = "kind: spot, max_price: 25 USD/h"
        changes["L-417A185B: 4096"] = "L-C4BD4855: 8192"
    if most == LARGEST:  # 33 interfaces of each would only keep the embedded AWS busy
        changes["type: p5.48xlarge"] = "type: m7i.4xlarge\n        efa: false"
        changes["L-1216C47A: 1024"] = "L-1216C47A: 100000"
    blueprint = elastic_blueprint(lab, f"elastic{most}", changes)
    if spot:
        text = blueprint.read_text().replace("default: true", "default: true, spot: true")
        blueprint.write_text(text)
    lab.run("up", blueprint, "--target", "local", "--yes")
    hall = elastic_hall(lab, blueprint)
    if most == LARGEST:
        hall.within_s = SOAK_S
    return hall, blueprint


def start_a_job(hall: ElasticHall, lab: Any) -> tuple[str, Any]:
    """Start a long job on one node; return the node's name and its instance."""
    hall.call("sbatch", "-N1", "-o/dev/null", "-D/tmp", "--wrap=sleep 600")
    hall.wait_for(lambda: " R " in hall.call("squeue", "--noheader"), "the job", each=[hall.join])
    (name,) = hall.states("MIXED")
    (held,) = lab.client("ec2").describe_instances(
        Filters=[
            {"Name": "tag:rackwright:host", "Values": [name]},
            {"Name": "instance-state-name", "Values": ["running"]},
        ]
    )["Reservations"]
    (instance,) = held["Instances"]
    return name, instance


def test_jobs_launch_nodes_and_an_idle_night_has_none(lab: Any) -> None:
    hall, blueprint = hall_of(lab, NODES)
    every = {f"train-{number}" for number in range(1, NODES + 1)}
    with hall:
        assert hall.states("POWERED_DOWN") == every
        assert not living(lab)

        hall.call("sbatch", f"-N{NODES}", "-o/dev/null", "-D/tmp", "--wrap=sleep 2")
        hall.wait_for(lambda: set(living(lab)) == every, "instances")
        assert set(living(lab).values()) == {1}
        (first, *_) = lab.client("ec2").describe_instances(
            Filters=[{"Name": "tag:rackwright:host", "Values": ["train-1"]}]
        )["Reservations"][0]["Instances"]
        # All that the launch template of the stack says, and the tags of the site.
        assert len(first["NetworkInterfaces"]) == 33
        assert first["Placement"]["GroupName"] == f"elastic{NODES}-cloud-train"
        assert {"Key": "rackwright:site", "Value": "cloud"} in first["Tags"]
        # 'hosts' gives names to the instances of Auto Scaling groups and leaves these alone.
        lab.run("hosts", blueprint, "--target", "local")
        zone = lab.client("route53").list_hosted_zones()["HostedZones"][0]["Id"]
        records = lab.client("route53").list_resource_record_sets(HostedZoneId=zone)
        names = {one["Name"].split(".")[0] for one in records["ResourceRecordSets"]}
        assert every <= names

        hall.wait_for(lambda: hall.states("IDLE") == every, "the job", each=[hall.join])
        assert "COMPLETED" in hall.call("scontrol", "show", "job", "1")
        # The idle night.
        hall.wait_for(lambda: hall.states("POWERED_DOWN") == every, "power down")
        hall.run("sweep")
        assert not living(lab)
        records = lab.client("route53").list_resource_record_sets(HostedZoneId=zone)
        left = {one["Name"].split(".")[0] for one in records["ResourceRecordSets"]}
        assert not every & left

        # Capacity for 2 of 4: the others are down with AWS's words, and idle again after a pause.
        lab.capacity(**{TYPE: 2})
        hall.call("sbatch", "-wtrain-[1-4]", "-N4", "-o/dev/null", "-D/tmp", "--wrap=sleep 2")
        hall.wait_for(lambda: len(hall.states("DOWN")) == 2, "failed nodes")
        failed = hall.states("DOWN")
        for name in failed:
            assert "InsufficientInstanceCapacity" in hall.nodes()[name]["Reason"]
            assert "sufficient p5.48xlarge capacity" in hall.nodes()[name]["Reason"]
        assert len(living(lab)) == 2
        age_failures(hall)
        hall.run("sweep")
        hall.wait_for(
            lambda: hall.states("POWERED_DOWN", "IDLE") == every, "idle again", each=[hall.join]
        )
        # Slurm does not wait for the program, which may be slower than SuspendTimeout.
        hall.wait_for(lambda: not living(lab), "the end of the instances")
        lab.capacity(**{TYPE: None})


def test_an_instance_that_ends_by_itself_takes_its_node_down_and_its_job_runs_again(
    lab: Any,
) -> None:
    hall, _ = hall_of(lab, NODES + 1)
    with hall:
        name, instance = start_a_job(hall, lab)
        lab.client("ec2").terminate_instances(InstanceIds=[instance["InstanceId"]])
        with journal(hall) as known:
            known["launches"][name]["at"] = 0  # it was launched long ago
        hall.run("sweep")
        assert hall.states("DOWN") == {name}
        assert "has ended" in hall.nodes()[name]["Reason"]
        assert " PD " in hall.call("squeue", "--noheader")
        assert not living(lab)


def test_a_spot_instance_with_notice_is_drained_and_its_job_runs_on_another_node(lab: Any) -> None:
    hall, _ = hall_of(lab, NODES + 2, spot=True)
    with hall:
        name, instance = start_a_job(hall, lab)
        assert instance["InstanceLifecycle"] == "spot"
        lab.take_back(instance["InstanceId"])
        hall.run("sweep")
        assert "DRAIN" in hall.nodes()[name]["State"]
        assert "AWS takes the spot instance back" in hall.nodes()[name]["Reason"]
        hall.wait_for(lambda: " R " not in hall.call("squeue", "--noheader"), "the queue")

        lab.take_back(instance["InstanceId"], end=True)
        with journal(hall) as known:
            known["launches"].get(name, {})["at"] = 0  # it was launched long ago
        hall.run("sweep")
        # Slurm waits two minutes before a job that was queued again may start.
        hall.call("scontrol", "update", "JobId=1", "StartTime=now")
        hall.wait_for(
            lambda: " R " in hall.call("squeue", "--noheader"),
            "the job on another node",
            each=[hall.join],
        )
        assert instance["InstanceId"] not in set(running(lab))
        age_failures(hall)
        hall.run("sweep")
        hall.wait_for(lambda: name not in hall.states("DRAIN"), "the node", each=[hall.join])
        assert not hall.states("DOWN")


def running(lab: Any) -> list[str]:
    """Return the ids of the instances that run."""
    pages = (
        lab.client("ec2")
        .get_paginator("describe_instances")
        .paginate(Filters=[{"Name": "instance-state-name", "Values": ["running"]}])
    )
    return [
        one["InstanceId"]
        for page in pages
        for held in page["Reservations"]
        for one in held["Instances"]
    ]


@pytest.mark.soak
@pytest.mark.timeout(4 * SOAK_S)
def test_500_nodes_with_20_kills_of_the_program_leave_no_orphan_and_none_twice(lab: Any) -> None:
    """slurmd joins nowhere here: resumption and suspension are asked of slurmctld."""
    hall, _ = hall_of(lab, LARGEST)
    drawn = random.Random(55_104)
    every = {f"train-{number}" for number in range(1, LARGEST + 1)}
    with hall:
        # A launch is a call of its own; 100 instances are ended by one.
        for name, wanted, calls in (
            ("POWER_UP", every, LARGEST // 10),
            ("POWER_DOWN_FORCE", set[str](), LARGEST // 100),
        ):
            hall.call("scontrol", "update", f"NodeName=train-[1-{LARGEST}]", f"State={name}")
            for _ in range(KILLS // 2):
                kill(hall, lab, drawn.randint(1, calls))
                assert max(living(lab).values(), default=1) == 1
            hall.wait_for(lambda: not hall.running(), "the programs")
            hall.wait_for(
                lambda wanted=wanted: set(living(lab)) == wanted,  # type: ignore[misc]
                name,
                each=[lambda: hall.run("sweep")],
            )
            assert max(living(lab).values(), default=1) == 1
