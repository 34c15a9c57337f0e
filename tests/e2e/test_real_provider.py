"""The code of AWS's own provider plans, makes, changes and removes what the stacks declare.

The target is ``aws``: Rackwright does what it does there, and Pulumi's engine starts a plugin with the code of
Terraform's AWS provider in it, the one that pulumi-aws is made of. Only AWS is the embedded one.
"""

from __future__ import annotations

import datetime as dt
import json
import os
import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from e2e.conftest import IMAGE, SITE, Lab
from killed_runs import live, live_whole
from rackwright.catalog.loader import load_catalogue
from rackwright.embedded_aws import control
from rackwright.model.hardware import fact_value
from rackwright.model.instances import Instance
from rackwright.provision.tools.aws_provider import add_plugin, find_aws_provider

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(3600)]

REGION = "us-east-1"
LAYOUTS = (
    "m7i.xlarge", "g4dn.metal", "g6e.24xlarge", "p4d.24xlarge", "trn1.32xlarge", "trn2.48xlarge",
    "p5.48xlarge", "p5en.48xlarge", "p6-b200.48xlarge", "p6-b300.48xlarge", "hpc7a.96xlarge",
)  # fmt: skip
"""One type for each layout of network cards that the catalogue has."""


@dataclass(frozen=True)
class Real(Lab):
    """The command line, the engine with AWS's own provider, and the embedded AWS."""

    plugins: Path

    @property
    def target(self) -> str:
        return "aws"

    @property
    def environment(self) -> dict[str, str]:
        embedded = control.start(self.folder / "state/local/embedded-aws")
        backend, passphrase = self.folder / "backend", self.folder / "passphrase"
        backend.mkdir(exist_ok=True)
        passphrase.write_text("correct horse battery staple")
        return {
            **super().environment,
            "AWS_ENDPOINT_URL": embedded.endpoint,
            "AWS_ACCESS_KEY_ID": "embedded",
            "AWS_SECRET_ACCESS_KEY": "embedded",
            "AWS_REGION": REGION,
            "AWS_EC2_METADATA_DISABLED": "true",
            # S3 Control has the account in the name of its host, which nobody can resolve here.
            "HTTP_PROXY": embedded.endpoint,
            "NO_PROXY": "127.0.0.1,localhost",
            "PULUMI_BACKEND_URL": f"file://{backend}",
            "PULUMI_CONFIG_PASSPHRASE_FILE": str(passphrase),
            "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
            "PULUMI_HOME": str(self.plugins),
        }

    def changes(self, verb: str, blueprint: Path, *more: str, expect: int = 0) -> dict[str, Any]:
        """What a verb changes in each stack."""
        said = self.run(verb, blueprint, "--target", "aws", "--json", *more, expect=expect)
        return {one["stack"]: one["changes"] for one in json.loads(said)["stacks"]}


def start(folder: Path) -> Real:
    """The command line with an embedded AWS of its own in ``folder``."""
    plugin = find_aws_provider()
    assert plugin is not None, "run 'make aws-provider'"
    add_plugin(plugin, folder / "pulumi-home")
    return Real(folder, folder / "pulumi-home")


def stop(real: Real) -> None:
    control.stop(real.folder / "state/local/embedded-aws")


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Real]:
    made = start(tmp_path_factory.mktemp("real"))
    yield made
    stop(made)


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


def a_blueprint(real: Real, name: str, groups: Sequence[dict[str, Any]]) -> Path:
    """The small site of the other tests with other node groups, and quotas for all of them."""
    document = yaml.safe_load(SITE.format(name=name, image=IMAGE))
    (site,) = document["sites"]
    quotas = {entry.quota: 1_000_000 for entry in instances().values() if entry.quota}
    site |= {"node_groups": list(groups)}
    site["limits"]["quotas"] = quotas
    path = real.folder / f"{name}.yaml"
    path.write_text(yaml.safe_dump(document, sort_keys=False))
    return path


def instances() -> dict[str, Instance]:
    catalogue = load_catalogue()
    return {name: catalogue.get(Instance, name) for name in catalogue.ids(Instance)}


def reserved(real: Real, instance: str, count: int) -> dict[str, Any]:
    """A capacity reservation of EC2, as a blueprint names it."""
    made = real.client("ec2").create_capacity_reservation(
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


def bought(real: Real, instance: str, count: int) -> dict[str, Any]:
    """A capacity block, as a blueprint names it."""
    ec2 = real.client("ec2")
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


def test_every_type_and_kind_of_capacity_is_planned(real: Real) -> None:
    groups = []
    known = [entry for entry in instances().values() if entry.efa_interfaces is not None]
    for number, entry in enumerate(known):
        name = f"g{number}"
        kinds = [{"kind": "on-demand"}]
        if entry.accelerators is not None:
            kinds += [reserved(real, entry.instance_type, 1), bought(real, entry.instance_type, 1)]
        groups += [a_group(f"{name}-{kind['kind'][0]}", entry, kind) for kind in kinds]
    planned = real.changes("preview", a_blueprint(real, "planned", groups))
    # A launch template and a group of each, and placement groups of those that are bought on demand.
    assert planned["aws-cluster"]["create"] > 2 * len(groups)


def test_the_life_of_each_layout_and_kind(real: Real) -> None:
    known = instances()
    groups = [
        a_group(f"g{number}", known[name], {"kind": "on-demand"})
        for number, name in enumerate(LAYOUTS)
    ]
    groups.append(a_group("odcr", known["p5.48xlarge"], reserved(real, "p5.48xlarge", 1)))
    groups.append(a_group("block", known["p5en.48xlarge"], bought(real, "p5en.48xlarge", 1)))
    blueprint = a_blueprint(real, "layouts", groups)
    made = real.changes("up", blueprint, "--yes")
    assert all(stack["create"] > 0 for stack in made.values()), made
    nothing: dict[str, Any] = {"aws-network": {}, "aws-storage": {}, "aws-cluster": {}}
    assert real.changes("preview", blueprint) == nothing
    assert real.changes("up", blueprint, "--yes") == nothing

    running = instances_of(real, "layouts")
    assert len(running) == len(groups) + 1, "the nodes and the head"
    larger = [{**group, "root_volume": "600 GiB"} for group in groups]
    changed = real.changes("up", a_blueprint(real, "layouts", larger), "--yes", expect=8)
    assert changed["aws-network"] == changed["aws-storage"] == {}
    assert set(changed["aws-cluster"]) == {"update"}, changed
    assert instances_of(real, "layouts") == running, (
        "nodes stay what they are until they are replaced"
    )
    assert real.changes("preview", blueprint) == nothing

    real.run("down", blueprint, "--target", "aws", "--yes")
    assert instances_of(real, "layouts") == []
    vpcs = real.client("ec2").describe_vpcs(
        Filters=[{"Name": "tag:rackwright:cluster", "Values": ["layouts"]}]
    )
    # What holds data is retained, and with it the network interfaces' groups and their VPC.
    assert len(vpcs["Vpcs"]) <= 1


def test_runs_that_are_killed_make_nothing_twice_and_forget_nothing(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    seed = int(os.environ.get("RACKWRIGHT_SEED") or secrets.randbelow(1_000_000))
    print(f"RACKWRIGHT_SEED={seed}")
    first, second = (start(tmp_path_factory.mktemp(name)) for name in ("whole", "killed"))
    try:
        live(second, seed, 6, live_whole(first))
    finally:
        stop(first)
        stop(second)


def instances_of(real: Real, cluster: str) -> list[str]:
    """Ids of the cluster's instances that are not ended, sorted."""
    wanted = [
        {"Name": "tag:rackwright:cluster", "Values": [cluster]},
        {"Name": "instance-state-name", "Values": ["pending", "running"]},
    ]
    told = real.client("ec2").describe_instances(Filters=wanted)["Reservations"]
    return sorted(one["InstanceId"] for part in told for one in part["Instances"])
