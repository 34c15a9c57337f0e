"""Every instance type and kind of capacity is planned, and each layout of network cards made, changed and removed."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from e2e.conftest import IMAGE, SITE, Lab
from rackwright.catalog.loader import load_catalogue
from rackwright.model.hardware import fact_value
from rackwright.model.instances import Instance

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(3600)]

REGION = "us-east-1"
LAYOUTS = (
    "m7i.xlarge", "g4dn.metal", "g6e.24xlarge", "p4d.24xlarge", "trn1.32xlarge", "trn2.48xlarge",
    "p5.48xlarge", "p5en.48xlarge", "p6-b200.48xlarge", "p6-b300.48xlarge", "hpc7a.96xlarge",
)  # fmt: skip
"""One type for each layout of network cards that the catalogue has."""


def changes(lab: Lab, verb: str, blueprint: Path, *more: str, expect: int = 0) -> dict[str, Any]:
    """What a verb changes in each stack."""
    stacks = lab.stacks(verb, blueprint, *more, expect=expect)
    return {kind: stack["changes"] for kind, stack in stacks.items()}


def a_group(name: str, instance: Instance, capacity: dict[str, Any]) -> dict[str, Any]:
    efa: int | None = fact_value(instance.efa_interfaces)
    return {
        "name": name,
        "type": instance.instance_type,
        "count": 1,
        "capacity": capacity,
        "image": IMAGE,
        "root_volume": "500 GiB",
        "efa": bool(efa),
    }


def a_blueprint(lab: Lab, name: str, groups: Sequence[dict[str, Any]]) -> Path:
    """The small site of the other tests with other node groups, and quotas for all of them."""
    document = yaml.safe_load(SITE.format(name=name, image=IMAGE))
    (site,) = document["sites"]
    quotas = {entry.quota: 1_000_000 for entry in instances().values() if entry.quota}
    site |= {"node_groups": list(groups)}
    site["limits"]["quotas"] = quotas
    path = lab.folder / f"{name}.yaml"
    path.write_text(yaml.safe_dump(document, sort_keys=False))
    return path


def instances() -> dict[str, Instance]:
    catalogue = load_catalogue()
    return {name: catalogue.get(Instance, name) for name in catalogue.ids(Instance)}


def reserved(lab: Lab, instance: str, count: int) -> dict[str, Any]:
    """A capacity reservation of EC2, as a blueprint names it."""
    made = lab.client("ec2").create_capacity_reservation(
        InstanceType=instance,
        InstancePlatform="Linux/UNIX",
        AvailabilityZone=f"{REGION}a",
        InstanceCount=count,
        InstanceMatchCriteria="targeted",
    )["CapacityReservation"]
    return {
        "kind": "reservation",
        "id": made["CapacityReservationId"],
        "instances": count,
        "availability_zone": f"{REGION}a",
        "ends": "never",
    }


def bought(lab: Lab, instance: str, count: int) -> dict[str, Any]:
    """A capacity block, as a blueprint names it."""
    ec2 = lab.client("ec2")
    offer = ec2.describe_capacity_block_offerings(
        InstanceType=instance, InstanceCount=count, CapacityDurationHours=24 * 7
    )["CapacityBlockOfferings"][0]
    made = ec2.purchase_capacity_block(
        CapacityBlockOfferingId=offer["CapacityBlockOfferingId"], InstancePlatform="Linux/UNIX"
    )["CapacityReservation"]
    ends: dt.datetime = made["EndDate"]
    return {
        "kind": "capacity-block",
        "id": made["CapacityReservationId"],
        "instances": count,
        "availability_zone": f"{REGION}a",
        "ends": ends.isoformat(),
    }


def test_every_type_and_kind_of_capacity_is_planned(lab: Lab) -> None:
    groups = []
    known = [entry for entry in instances().values() if entry.efa_interfaces and entry.memory]
    for number, entry in enumerate(known):
        name = f"g{number}"
        kinds = [{"kind": "on-demand"}]
        if entry.accelerators is not None:
            kinds += [reserved(lab, entry.instance_type, 1), bought(lab, entry.instance_type, 1)]
        groups += [a_group(f"{name}-{kind['kind'][0]}", entry, kind) for kind in kinds]
    planned = changes(lab, "preview", a_blueprint(lab, "planned", groups))
    # A launch template and a group of each, and placement groups of those that are bought on demand.
    assert planned["aws-cluster"]["create"] > 2 * len(groups)


def test_the_life_of_each_layout_and_kind(lab: Lab) -> None:
    known = instances()
    groups = [
        a_group(f"g{number}", known[name], {"kind": "on-demand"})
        for number, name in enumerate(LAYOUTS)
    ]
    groups.append(a_group("odcr", known["p5.48xlarge"], reserved(lab, "p5.48xlarge", 1)))
    groups.append(a_group("block", known["p5en.48xlarge"], bought(lab, "p5en.48xlarge", 1)))
    blueprint = a_blueprint(lab, "layouts", groups)
    made = changes(lab, "up", blueprint, "--yes")
    assert all(stack["create"] > 0 for stack in made.values()), made
    nothing: dict[str, Any] = {"aws-network": {}, "aws-storage": {}, "aws-cluster": {}}
    assert changes(lab, "up", blueprint, "--yes") == nothing

    running = instances_of(lab, "layouts")
    assert len(running) == len(groups) + 1, "the nodes and the head"
    larger = [{**group, "root_volume": "600 GiB"} for group in groups]
    changed = changes(lab, "up", a_blueprint(lab, "layouts", larger), "--yes", expect=8)
    assert changed["aws-network"] == changed["aws-storage"] == {}
    assert set(changed["aws-cluster"]) == {"update"}, changed
    assert instances_of(lab, "layouts") == running, (
        "nodes stay what they are until they are replaced"
    )
    assert changes(lab, "preview", blueprint) == nothing

    lab.run("down", blueprint, "--target", "local", "--yes")
    assert instances_of(lab, "layouts") == []
    vpcs = lab.client("ec2").describe_vpcs(
        Filters=[{"Name": "tag:rackwright:cluster", "Values": ["layouts"]}]
    )
    # What holds data is retained, and with it the network interfaces' groups and their VPC.
    assert len(vpcs["Vpcs"]) <= 1


def instances_of(lab: Lab, cluster: str) -> list[str]:
    """Ids of the cluster's instances that are not ended, sorted."""
    wanted = [
        {"Name": "tag:rackwright:cluster", "Values": [cluster]},
        {"Name": "instance-state-name", "Values": ["pending", "running"]},
    ]
    told = lab.client("ec2").describe_instances(Filters=wanted)["Reservations"]
    return sorted(one["InstanceId"] for part in told for one in part["Instances"])
