"""The program of elastic nodes, cut off at any call: no orphan, none twice, nothing ended that jobs use."""

from __future__ import annotations

import importlib.util
import itertools
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

PROGRAM = Path(__file__).parents[3] / "roles/elastic/files/rackwright_elastic.py"
KNOWN: dict[str, Any] = {
    "cluster": "atlas",
    "site": "cloud",
    "region": "us-east-1",
    "zone": "atlas.internal",
    "parameter": "/rackwright/atlas/cloud/network",
    "subnets": ["subnet-1", "subnet-2"],
    "groups": {"train": {"template": "atlas-cloud-train", "first": 3, "last": 12, "digits": 1}},
}


class KilledError(BaseException):
    """The program is killed, which nothing in it catches."""


class AwsError(Exception):
    """An error of AWS as boto3 raises it."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.response = {"Error": {"Code": code, "Message": f"{code} of a test"}}


class Aws:
    """EC2 as far as the program asks it; a launch with the token of another returns its instance."""

    def __init__(self) -> None:
        self.instances: dict[str, dict[str, Any]] = {}
        self.tokens: dict[str, str] = {}
        self.refusals: dict[str, str] = {}
        self.calls_left = 10_000
        self.killed_after = False
        self.numbers = itertools.count(1)

    def client(self, _service: str, _region: str) -> Aws:
        return self

    def _called(self) -> None:
        self.calls_left -= 1
        if self.calls_left < 0:
            raise KilledError

    def get_parameter(self, **_: Any) -> dict[str, Any]:
        return {"Parameter": {"Value": '{"dns_zone_id": "Z1", "subnet_ids": {}}'}}

    def change_resource_record_sets(self, **_: Any) -> None:
        self._called()

    def get_paginator(self, _name: str) -> Aws:
        return self

    def paginate(self, **_: Any) -> list[dict[str, Any]]:
        alive = [one for one in self.instances.values() if one["State"]["Name"] == "running"]
        return [{"Reservations": [{"Instances": [one]} for one in alive]}]

    def describe_instances(self, InstanceIds: list[str]) -> dict[str, Any]:  # noqa: N803
        found = [self.instances[one] for one in InstanceIds if one in self.instances]
        return {"Reservations": [{"Instances": found}]}

    def describe_launch_template_versions(self, **_: Any) -> dict[str, Any]:
        tags = [{"Key": "rackwright:cluster", "Value": "atlas"}]
        data = {
            "NetworkInterfaces": [{"DeviceIndex": 0, "NetworkCardIndex": 0}],
            "TagSpecifications": [{"ResourceType": "instance", "Tags": tags}],
        }
        return {"LaunchTemplateVersions": [{"VersionNumber": 4, "LaunchTemplateData": data}]}

    def run_instances(self, **asked: Any) -> dict[str, Any]:
        subnet = asked["NetworkInterfaces"][0]["SubnetId"]
        if subnet in self.refusals:
            raise AwsError(self.refusals[subnet])
        token = asked["ClientToken"]
        if token not in self.tokens:
            self._called()
            number = next(self.numbers)
            made = {
                "InstanceId": f"i-{number}",
                "LaunchTime": number,
                "State": {"Name": "running"},
                "PrivateIpAddress": f"10.20.0.{number}",
                "Tags": asked["TagSpecifications"][-1]["Tags"],
                "SubnetId": subnet,
            }
            self.instances[made["InstanceId"]] = made
            self.tokens[token] = made["InstanceId"]
        if self.killed_after:
            raise KilledError
        return {"Instances": [self.instances[self.tokens[token]]]}

    def terminate_instances(self, InstanceIds: list[str]) -> None:  # noqa: N803
        for one in InstanceIds:
            self._called()
            self.instances[one]["State"] = {"Name": "terminated"}

    def living(self) -> list[str]:
        """Return the nodes of the instances that run."""
        alive = (one for one in self.instances.values() if one["State"]["Name"] == "running")
        return sorted(
            tag["Value"] for one in alive for tag in one["Tags"] if tag["Key"] == "rackwright:host"
        )


class Slurm:
    """Slurm's nodes, and what they were told."""

    def __init__(self) -> None:
        self.told: dict[str, dict[str, Any]] = {
            f"train-{number}": {"states": {"IDLE", "CLOUD", "POWERED_DOWN"}, "address": ""}
            for number in range(1, 13)
        }
        self.reasons: dict[str, str] = {}

    def nodes(self) -> dict[str, dict[str, Any]]:
        return self.told

    def state(self, *nodes: str, to: str) -> None:
        for node in nodes:
            self.told[node]["states"] = {"CLOUD", *to.split("+")}

    def place(self, addresses: dict[str, str]) -> None:
        for node, address in addresses.items():
            self.told[node]["address"] = address

    def update(self, names: list[str], *words: str) -> None:
        for name in names:
            if words[0] == "State=DOWN":
                self.state(name, to="DOWN+POWERING_UP")
                self.reasons[name] = words[1]
            elif words[0] == "State=RESUME":
                self.state(name, to="IDLE+POWERING_DOWN")


@pytest.fixture
def program() -> ModuleType:
    spec = importlib.util.spec_from_file_location("rackwright_elastic", PROGRAM)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.__dict__["THREADS"] = 1
    return module


@pytest.fixture
def aws() -> Aws:
    return Aws()


@pytest.fixture
def slurm() -> Slurm:
    return Slurm()


@pytest.fixture
def run(program: ModuleType, aws: Aws, slurm: Slurm, tmp_path: Path) -> Any:
    """Run a job as a process of its own does, which reads the journal again."""

    def job(name: str, *nodes: str) -> None:
        site = program.Site(KNOWN, aws.client)
        elastic = program.Elastic([site], slurm, program.Journal(tmp_path))
        getattr(elastic, name)(*([list(nodes)] if name != "sweep" else []))

    return job


def test_a_node_is_launched_once_however_often_it_is_asked_for(
    run: Any, aws: Aws, slurm: Slurm
) -> None:
    slurm.state("train-3", "train-4", to="ALLOCATED+POWERING_UP")
    run("resume", "train-3", "train-4")
    run("resume", "train-3", "train-4")
    run("sweep")
    assert aws.living() == ["train-3", "train-4"]
    assert slurm.told["train-3"]["address"] == "10.20.0.1"


@pytest.mark.parametrize("calls", range(14))
def test_a_program_that_is_killed_before_any_call_leaves_no_orphan(
    run: Any, aws: Aws, slurm: Slurm, calls: int
) -> None:
    wanted = ["train-3", "train-4", "train-5"]
    slurm.state(*wanted, to="ALLOCATED+POWERING_UP")
    aws.calls_left = calls
    for job in ("resume", "suspend"):
        try:
            run(job, *wanted)
        except KilledError:
            break
        slurm.state(*wanted, to="IDLE+POWERING_DOWN")
    aws.calls_left = 10_000
    up = "POWERING_UP" in slurm.told["train-3"]["states"]
    run("sweep")
    assert aws.living() == (wanted if up else [])


def test_a_launch_whose_answer_is_lost_is_found_again(run: Any, aws: Aws, slurm: Slurm) -> None:
    slurm.state("train-3", to="ALLOCATED+POWERING_UP")
    aws.killed_after = True
    with pytest.raises(KilledError):
        run("resume", "train-3")
    aws.killed_after = False
    run("resume", "train-3")
    assert aws.living() == ["train-3"]


def test_lack_of_capacity_is_the_reason_of_the_node_which_comes_back_after_a_pause(
    run: Any, aws: Aws, slurm: Slurm, program: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 1_000_000.0
    monkeypatch.setattr(program.time, "time", lambda: now)
    aws.refusals = {"subnet-1": "InsufficientInstanceCapacity"}
    for pause in (60, 120, 240):
        slurm.state("train-3", to="ALLOCATED+POWERING_UP")
        run("resume", "train-3")
        assert "InsufficientInstanceCapacity of a test" in slurm.reasons["train-3"]
        now += pause - 1
        run("sweep")
        assert "DOWN" in slurm.told["train-3"]["states"]
        now += 1
        run("sweep")
        assert slurm.told["train-3"]["states"] == {"CLOUD", "IDLE", "POWERING_DOWN"}
    aws.refusals = {}
    slurm.state("train-3", to="ALLOCATED+POWERING_UP")
    run("resume", "train-3")
    assert aws.living() == ["train-3"]


def test_the_next_subnet_is_taken_where_one_is_full(run: Any, aws: Aws, slurm: Slurm) -> None:
    aws.refusals = {"subnet-1": "InsufficientFreeAddressesInSubnet"}
    slurm.state("train-3", to="ALLOCATED+POWERING_UP")
    run("resume", "train-3")
    assert [one["SubnetId"] for one in aws.instances.values()] == ["subnet-2"]


def test_a_sweep_ends_no_instance_of_a_node_with_jobs(run: Any, aws: Aws, slurm: Slurm) -> None:
    """A healthy node was ended, since the sweep had asked EC2 twice and compared objects."""
    slurm.state("train-3", "train-4", to="ALLOCATED+POWERING_UP")
    run("resume", "train-3", "train-4")
    slurm.state("train-3", to="ALLOCATED")
    # 'train-4' is a static node by a new blueprint, and its job still runs.
    slurm.state("train-4", to="ALLOCATED")
    KNOWN["groups"]["train"]["last"], last = 3, KNOWN["groups"]["train"]["last"]
    try:
        run("sweep")
        assert aws.living() == ["train-3", "train-4"]
        slurm.state("train-4", to="IDLE")
        run("sweep")
        assert aws.living() == ["train-3"]
    finally:
        KNOWN["groups"]["train"]["last"] = last


def test_names_outside_of_the_bounds_are_launched_for_no_one(
    run: Any, aws: Aws, capsys: pytest.CaptureFixture[str]
) -> None:
    run("resume", "train-1", "train-03", "train-13", "login-1")
    assert not aws.instances
    assert capsys.readouterr().err.count("is no elastic node") == 4
