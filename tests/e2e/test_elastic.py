"""Elastic nodes: a real slurmctld launches and ends instances of an embedded AWS that the stacks have provisioned.

Each instance gets a real slurmd. Nothing is lost, nothing runs twice, and an idle night costs no compute instance.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from elastic_hall import ElasticHall, own_network
from rackwright.inventory.role_variables.slurm.elastic import elastic_variables
from rackwright.plan.load import load_plan
from rackwright.render.slurm import render_slurm

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(1500)]
NODES, LARGEST, KILLS = 20, 500, 20
SOAK_S = 3600
TYPE = "p5_48xlarge"
SCHEDULER = """
scheduler:
  kind: slurm
  version: "22.05"
  controllers: [{host: head-1}]
  topology: {plugin: flat}
  configless: true
  partitions: [{name: train, groups: [train], default: true, default_time: 0-04:00:00, max_time: 7-00:00:00}]
"""
TIMES = {"SuspendTime": 5, "SuspendTimeout": 3, "ResumeTimeout": 60}
"""Minutes of the blueprint in seconds."""


@pytest.fixture(scope="module", autouse=True)
def network() -> Iterator[None]:
    """Put what this module starts into a network of its own."""
    with own_network():
        yield


def hall_of(lab: Any, most: int) -> tuple[ElasticHall, Path]:
    """Provision a cluster with elastic nodes, and return its controller, which is not started yet."""
    name = f"elastic{most}"
    changes = {"count: 2": f"count: {{min: 0, max: {most}}}"}
    if most == LARGEST:  # 33 interfaces of each would only keep the embedded AWS busy
        changes["type: p5.48xlarge"] = "type: m7i.4xlarge\n        efa: false"
        changes["L-1216C47A: 1024"] = "L-1216C47A: 100000"
    blueprint = lab.blueprint(name, **changes)
    blueprint.write_text(blueprint.read_text() + SCHEDULER)
    lab.run("up", blueprint, "--target", "local", "--yes")
    plan = load_plan(blueprint, []).plan
    environment = {
        "AWS_ENDPOINT_URL": lab.endpoint,
        "AWS_ACCESS_KEY_ID": "embedded",
        "AWS_SECRET_ACCESS_KEY": "embedded",
    }
    config = {"sites": elastic_variables(plan)["elastic_sites"]}
    # Where no slurmd joins, no node is given up.
    times = {**TIMES, "ResumeTimeout": 3600} if most == LARGEST else TIMES
    hall = ElasticHall(
        lab.folder / f"hall-{name}", render_slurm(plan)["slurm.conf"], config, environment, times
    )
    if most == LARGEST:
        hall.within_s = SOAK_S
    return hall, blueprint


def living(lab: Any) -> Counter[str]:
    """Return the instances that run or start, by the name of their node."""
    pages = (
        lab.client("ec2")
        .get_paginator("describe_instances")
        .paginate(
            Filters=[
                {"Name": "tag-key", "Values": ["rackwright:elastic"]},
                {"Name": "instance-state-name", "Values": ["pending", "running"]},
            ]
        )
    )
    tags = (
        {one["Key"]: one["Value"] for one in instance["Tags"]}
        for page in pages
        for held in page["Reservations"]
        for instance in held["Instances"]
    )
    return Counter(one["rackwright:host"] for one in tags)


def age_failures(hall: ElasticHall) -> None:
    """Let the pauses of nodes that could not be launched be over."""
    path = hall.folder / "elastic/journal.json"
    known = json.loads(path.read_text())
    for one in known["failures"].values():
        one["at"] = 0
    path.write_text(json.dumps(known))


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
        hall.run("sweep")
        assert hall.states("DOWN") == failed  # the pause is not over
        age_failures(hall)
        hall.run("sweep")
        hall.wait_for(
            lambda: hall.states("POWERED_DOWN", "IDLE") == every, "idle again", each=[hall.join]
        )
        assert not living(lab)
        lab.capacity(**{TYPE: None})


def test_an_instance_that_ends_by_itself_takes_its_node_down_and_its_job_runs_again(
    lab: Any,
) -> None:
    hall, _ = hall_of(lab, NODES + 1)
    with hall:
        hall.call("sbatch", "-N1", "-o/dev/null", "-D/tmp", "--wrap=sleep 600")
        hall.wait_for(
            lambda: " R " in hall.call("squeue", "--noheader"), "the job", each=[hall.join]
        )
        (name,) = hall.states("MIXED")
        (held,) = lab.client("ec2").describe_instances(
            Filters=[
                {"Name": "tag:rackwright:host", "Values": [name]},
                {"Name": "instance-state-name", "Values": ["running"]},
            ]
        )["Reservations"]
        lab.client("ec2").terminate_instances(InstanceIds=[held["Instances"][0]["InstanceId"]])
        path = hall.folder / "elastic/journal.json"
        known = json.loads(path.read_text())
        known["launches"][name]["at"] = 0  # it was launched long ago
        path.write_text(json.dumps(known))
        hall.run("sweep")
        assert hall.states("DOWN") == {name}
        assert "has ended" in hall.nodes()[name]["Reason"]
        assert " PD " in hall.call("squeue", "--noheader")
        assert not living(lab)


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


def kill(hall: ElasticHall, lab: Any, calls: int) -> None:
    """Kill a program after so many more calls of AWS; begin a sweep where none runs that long."""
    begun = len(lab.calls())

    def ripe() -> bool:
        if not hall.running():
            hall.start("sweep")
        return len(lab.calls()) >= begun + calls and bool(hall.running())

    hall.wait_for(ripe, f"{calls} calls of AWS")
    for process in hall.running():
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)
