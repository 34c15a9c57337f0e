"""EC2 and Slurm as the program of elastic nodes asks them, in the process of a test."""

from __future__ import annotations

import copy
import importlib.util
import itertools
from datetime import datetime
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

PROGRAM = Path(__file__).parents[1] / "roles/elastic/files/rackwright_elastic.py"
KNOWN: dict[str, Any] = {
    "cluster": "atlas",
    "site": "cloud",
    "region": "us-east-1",
    "zone": "atlas.internal",
    "parameter": "/rackwright/atlas/cloud/network",
    "subnets": ["subnet-1", "subnet-2"],
    "replacements": {"per_hour": 3, "per_week": 2},
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
        self.marked: set[str] = set()
        self.impaired: dict[str, datetime | None] = {}
        self.unreachable: dict[str, datetime | None] = {}
        self.denied: set[str] = set()
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

    def get_paginator(self, name: str) -> Any:
        if name in self.denied:
            raise AwsError("UnauthorizedOperation")
        return SimpleNamespace(paginate=getattr(self, f"_{name}"))

    def _describe_spot_instance_requests(self, **_: Any) -> list[dict[str, Any]]:
        return [{"SpotInstanceRequests": [{"InstanceId": one} for one in sorted(self.marked)]}]

    def _describe_instance_status(self, Filters: Any) -> list[dict[str, Any]]:  # noqa: N803
        check = Filters[0]["Name"].removesuffix("-status.status")
        failing = self.impaired if check == "system" else self.unreachable
        statuses = [
            {
                "InstanceId": one,
                f"{check.title()}Status": {"Details": [{"ImpairedSince": at} if at else {}]},
            }
            for one, at in failing.items()
        ]
        return [{"InstanceStatuses": statuses}]

    def _describe_instances(self, **_: Any) -> list[dict[str, Any]]:
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
            f"train-{number}": {
                "states": {"IDLE", "CLOUD", "POWERED_DOWN"},
                "address": "",
                "reason": "",
            }
            for number in range(1, 13)
        }
        self.reasons: dict[str, str] = {}
        self.requeued: list[str] = []

    def nodes(self) -> dict[str, dict[str, Any]]:
        return copy.deepcopy(self.told)

    def state(self, *nodes: str, to: str) -> None:
        for node in nodes:
            self.told[node]["states"] = {"CLOUD", *to.split("+")}

    def place(self, addresses: dict[str, str]) -> None:
        for node, address in addresses.items():
            self.told[node]["address"] = address

    def requeue(self, node: str) -> None:
        self.requeued.append(node)

    def update(self, names: list[str], *words: str) -> None:
        for name in names:
            if words[0] == "State=DRAIN":
                self.told[name]["states"] |= {"DRAIN"}
                self.told[name]["reason"] = words[1].removeprefix("Reason=")
            elif words[0] == "State=DOWN":
                base = {"IDLE", "ALLOCATED", "MIXED"}
                self.told[name]["states"] = self.told[name]["states"] - base | {"DOWN"}
                self.told[name]["reason"] = words[1].removeprefix("Reason=")
                self.reasons[name] = words[1]
            elif words[0] == "State=RESUME":
                self.state(name, to="IDLE+POWERING_DOWN")
                self.told[name]["reason"] = ""


def load_program() -> ModuleType:
    """Return the program as a module of its own; one thread, so that calls have an order."""
    spec = importlib.util.spec_from_file_location("rackwright_elastic", PROGRAM)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.__dict__["THREADS"] = 1
    return module
