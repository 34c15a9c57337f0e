"""Names of instances on moto: many pages, a replacement, a refusal."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.awsrequest import AWSResponse
from botocore.exceptions import ClientError
from moto import mock_aws

from rackwright.errors import ExternalToolError, UsageError
from rackwright.provision.aws import calls, fleet_calls
from rackwright.provision.aws.fleet_calls import Fleet, NothingProvisionedError
from rackwright.provision.naming import HOST_TAG, REGISTER
from rackwright.provision.nodes import (
    answers,
    bind,
    launch,
    launch_failures,
    network_nodes,
    read,
    release_servers,
    surplus,
)
from rackwright.provision.targets import Target
from rackwright_lab.embedded_aws.api import moto_ec2, moto_instances, moto_scaling

REGION, ZONE, COUNT = "us-east-1", "atlas.internal", 12
FLEET = Fleet("atlas", "use1", REGION, ZONE, {"dgx": COUNT}, ("head-1",), {"dgx": 2})


class Cloud:
    """A site with one Auto Scaling group and a private zone."""

    def __init__(self, folder: Path) -> None:
        self.target = Target("aws", folder, {}, None)
        self.ec2, self.scaling, self.route53, self.ssm = (
            boto3.client(service, region_name=REGION)
            for service in ("ec2", "autoscaling", "route53", "ssm")
        )
        vpc = self.ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
        self.subnet = self.ec2.create_subnet(VpcId=vpc, CidrBlock="10.0.0.0/20")["Subnet"][
            "SubnetId"
        ]
        self.ec2.create_launch_template(
            LaunchTemplateName="nodes",
            LaunchTemplateData={"ImageId": "ami-12c6146b", "InstanceType": "t3.micro"},
        )
        zone = self.route53.create_hosted_zone(
            Name=ZONE, CallerReference="1", VPC={"VPCRegion": REGION, "VPCId": vpc}
        )
        self.zone_id = zone["HostedZone"]["Id"].rsplit("/", 1)[-1]
        self.ssm.put_parameter(
            Name="/rackwright/atlas/use1/network",
            Type="String",
            Value=json.dumps({"dns_zone_id": self.zone_id}),
        )

    def group(self, name: str, count: int, *, site: str = "use1") -> None:
        tags = {
            "rackwright:cluster": "atlas",
            "rackwright:site": site,
            "rackwright:node-group": name,
        }
        self.scaling.create_auto_scaling_group(
            AutoScalingGroupName=f"atlas-{site}-{name}",
            MinSize=0,
            MaxSize=count,
            DesiredCapacity=count,
            VPCZoneIdentifier=self.subnet,
            LaunchTemplate={"LaunchTemplateName": "nodes", "Version": "$Latest"},
            Tags=[{"Key": k, "Value": v, "PropagateAtLaunch": True} for k, v in tags.items()],
        )

    def tags(self) -> dict[str, str]:
        """The instance of each tagged host."""
        filters = [
            {"Name": "tag-key", "Values": [HOST_TAG]},
            {"Name": "instance-state-name", "Values": ["running"]},
        ]
        found: dict[str, str] = {}
        for page in self.ec2.get_paginator("describe_instances").paginate(Filters=filters):
            for one in (one for r in page["Reservations"] for one in r["Instances"]):
                host = {tag["Key"]: tag["Value"] for tag in one["Tags"]}[HOST_TAG]
                assert host not in found, "no name is given twice"
                found[host] = one["InstanceId"]
        return found

    def launched(self) -> int:
        """How many instances there have ever been."""
        pages = self.ec2.get_paginator("describe_instances").paginate()
        return sum(len(r["Instances"]) for page in pages for r in page["Reservations"])

    def records(self) -> dict[str, list[str]]:
        pages = self.route53.get_paginator("list_resource_record_sets").paginate(
            HostedZoneId=self.zone_id
        )
        return {
            one["Name"].removesuffix(f".{ZONE}."): [v["Value"] for v in one["ResourceRecords"]]
            for page in pages
            for one in page["ResourceRecordSets"]
            if one["Type"] in {"A", "TXT"}
        }


@pytest.fixture
def cloud(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cloud]:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    monkeypatch.delenv("AWS_PROFILE", raising=False)
    monkeypatch.setenv("MOTO_EC2_LOAD_DEFAULT_AMIS", "false")  # a thousand, made anew for each test
    monkeypatch.setattr(fleet_calls, "INSTANCES_PER_PAGE", 5)
    monkeypatch.setattr(fleet_calls, "RECORDS_PER_PAGE", 4)
    monkeypatch.setattr(fleet_calls, "CHANGES_PER_BATCH", 6)
    with mock_aws():
        yield Cloud(tmp_path)


def addresses(cloud: Cloud) -> dict[str, str | None]:
    (naming,) = read(FLEET, cloud.target).namings
    return {host: one.address for host, one in naming.holders.items()}


def test_up_waits_no_longer_than_aws_says_that_there_is_no_capacity(cloud: Cloud) -> None:
    moto_instances.install()
    moto_scaling.install()
    moto_scaling.limit({REGION: {"t3.micro": 5}})
    cloud.group("dgx", COUNT)
    said: list[str] = []
    slept: list[float] = []
    done = launch(FLEET, cloud.target, say=said.append, before={}, sleep=slept.append)
    assert done.is_partial
    assert [len(one.holders) for one in done.namings] == [5]
    assert len(slept) == 1, "an answer counts when it is there again"
    (line,) = launch_failures(FLEET, cloud.target)
    assert line.startswith("'dgx' has 5 of 12 nodes: We currently do not have sufficient t3.micro")

    def more(_seconds: float) -> None:
        moto_scaling.limit({REGION: {"t3.micro": None}})

    done = launch(FLEET, cloud.target, say=said.append, before={}, sleep=more)
    assert not done.is_partial, "the group asks again by itself"
    assert len(cloud.records()) == COUNT + 1


def test_an_old_failure_was_taken_for_the_answer_to_a_larger_group(cloud: Cloud) -> None:
    """The group lacked capacity before ``up`` made it larger, and launches a minute later."""
    moto_instances.install()
    moto_scaling.install()
    moto_scaling.limit({REGION: {"t3.micro": 4}})
    cloud.group("dgx", 5)
    before = answers(FLEET, cloud.target)
    name = {"AutoScalingGroupName": "atlas-use1-dgx"}
    cloud.scaling.suspend_processes(**name, ScalingProcesses=["Launch"])
    moto_scaling.limit({REGION: {"t3.micro": None}})
    cloud.scaling.update_auto_scaling_group(**name, MinSize=1, MaxSize=COUNT)
    looks: list[float] = []

    def sleep(seconds: float) -> None:
        looks.append(seconds)
        if len(looks) == 4:
            cloud.scaling.resume_processes(**name)
            cloud.scaling.update_auto_scaling_group(**name, DesiredCapacity=COUNT)

    done = launch(FLEET, cloud.target, say=lambda _: None, before=before, sleep=sleep)
    assert not done.is_partial


def test_running_hosts_are_never_renamed(cloud: Cloud) -> None:
    cloud.group("dgx", COUNT)
    bind(FLEET, cloud.target)
    before = cloud.records()
    for act in (bind, surplus):
        with pytest.raises(
            UsageError, match="9 running hosts of 'dgx' would be renamed"
        ) as refused:
            act(replace(FLEET, digits={}), cloud.target)
        assert "'name_digits: 2'" in str(refused.value.hint)
    assert cloud.records() == before


def test_every_instance_gets_a_name_and_a_replacement_a_free_one(cloud: Cloud) -> None:
    cloud.group("dgx", COUNT)
    cloud.group("dgx", 2, site="other")
    (before,) = read(FLEET, cloud.target).namings
    assert len(before.missing) == COUNT
    assert len(before.unnamed) == COUNT

    foreseen = bind(FLEET, cloud.target, dry=True)
    assert (foreseen.named, foreseen.records) == (COUNT, COUNT + 1)
    assert not cloud.tags(), "a dry run changes nothing"
    assert not cloud.records()

    done = bind(FLEET, cloud.target)
    assert (done.named, done.records) == (COUNT, COUNT + 1)
    named = cloud.tags()
    assert sorted(named) == [f"dgx-{number:02d}" for number in range(1, COUNT + 1)]
    assert cloud.records() == {
        **{host: [address] for host, address in addresses(cloud).items()},
        REGISTER: ['"dgx"'],
    }
    again = bind(FLEET, cloud.target)
    assert (again.named, again.records) == (0, 0)

    cloud.scaling.terminate_instance_in_auto_scaling_group(
        InstanceId=named["dgx-07"], ShouldDecrementDesiredCapacity=False
    )
    cloud.scaling.set_desired_capacity(AutoScalingGroupName="atlas-use1-dgx", DesiredCapacity=COUNT)
    (between,) = read(FLEET, cloud.target).namings
    assert between.missing == ("dgx-07",)
    assert "dgx-07" not in addresses(cloud), "who has the name is not there any more"
    assert bind(FLEET, cloud.target).named == 1
    after = cloud.tags()
    assert after["dgx-07"] != named["dgx-07"]
    assert {**after, "dgx-07": ""} == {**named, "dgx-07": ""}, "the others keep their names"
    assert cloud.records()["dgx-07"] == [addresses(cloud)["dgx-07"]]


def test_a_group_that_shrinks_or_goes_leaves_no_names(cloud: Cloud) -> None:
    cloud.group("dgx", 3)
    done = bind(FLEET, cloud.target)
    assert len(done.namings[0].missing) == COUNT - 3
    assert set(cloud.records()) == {"dgx-01", "dgx-02", "dgx-03", REGISTER}
    cloud.scaling.delete_auto_scaling_group(AutoScalingGroupName="atlas-use1-dgx", ForceDelete=True)
    bind(Fleet("atlas", "use1", REGION, ZONE, {"new": 1}, ()), cloud.target)
    assert cloud.records() == {}


def refuse(monkeypatch: pytest.MonkeyPatch, status: int, code: str, times: int) -> list[str]:
    """Let the first calls of ``CreateTags`` be refused; the list tells of every call."""
    called: list[str] = []

    def answer(request: Any, **_kwargs: Any) -> AWSResponse | None:
        called.append(request.url)
        if len(called) > times:
            return None
        text = (
            "<Response><Errors><Error>"
            f"<Code>{code}</Code><Message>m</Message></Error></Errors></Response>"
        )
        return AWSResponse(request.url, status, {}, Body(text.encode()))

    first = calls.make_client

    def make(*arguments: Any) -> Any:
        client = first(*arguments)
        client.meta.events.register_first("before-send.ec2.CreateTags", answer)
        return client

    monkeypatch.setattr(fleet_calls, "make_client", make)
    return called


class Body(io.BytesIO):
    def stream(self, **_kwargs: Any) -> Iterator[bytes]:
        yield self.read()


def test_an_instance_that_goes_meanwhile_is_missing(
    cloud: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    cloud.group("dgx", 2)
    called = refuse(monkeypatch, 400, "InvalidInstanceID.NotFound", 1)
    done = bind(FLEET, cloud.target)
    assert len(called) == 2
    assert done.named == 1
    assert done.namings[0].missing[0] == "dgx-01"
    assert set(cloud.records()) == {"dgx-02", REGISTER}


def test_a_call_that_is_throttled_is_repeated(
    cloud: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    cloud.group("dgx", 1)
    called = refuse(monkeypatch, 503, "RequestLimitExceeded", 2)
    assert bind(FLEET, cloud.target).named == 1
    assert len(called) == 3


def test_a_permission_that_is_missing_is_named(
    cloud: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    cloud.group("dgx", 1)
    refuse(monkeypatch, 403, "UnauthorizedOperation", 9)
    with pytest.raises(ExternalToolError, match="UnauthorizedOperation: m") as caught:
        bind(FLEET, cloud.target)
    assert caught.value.hint == "the credentials need the permission 'ec2:CreateTags'"


def test_unprovisioned_and_refused_nodes_are_reported(
    cloud: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(NothingProvisionedError, match="/rackwright/other/use1/network"):
        bind(Fleet("other", "use1", REGION, ZONE, {"dgx": 1}, ()), cloud.target)
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/nonexistent")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    with pytest.raises(ExternalToolError, match="credentials"):
        read(FLEET, cloud.target)


def test_network_nodes_are_told_of_named_hosts_in_calls_of_few_instances(
    cloud: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    """moto lacks the call, which the embedded AWS adds to it; EC2 takes 100 instances at most."""
    moto_ec2.install()
    cloud.ec2.create_launch_template_version(
        LaunchTemplateName="nodes",
        LaunchTemplateData={"ImageId": "ami-12c6146b", "InstanceType": "p5.48xlarge"},
    )
    cloud.group("dgx", COUNT)
    monkeypatch.setattr(fleet_calls, "TOPOLOGIES_PER_CALL", 5)
    assert network_nodes(FLEET, cloud.target) == {}  # nobody has a name yet
    bind(FLEET, cloud.target)
    found = network_nodes(FLEET, cloud.target)
    assert list(found) == [f"dgx-{number:02}" for number in range(1, COUNT + 1)]
    assert {len(above) for above in found.values()} == {3}
    assert len({above[0] for above in found.values()}) == 1


def changed_template(cloud: Cloud, **data: str) -> None:
    """Give the group another version of its launch template; what runs stays what it is."""
    cloud.ec2.create_launch_template_version(
        LaunchTemplateName="nodes",
        LaunchTemplateData={"ImageId": "ami-12c6146b", "InstanceType": "t3.micro", **data},
    )
    cloud.scaling.update_auto_scaling_group(
        AutoScalingGroupName="atlas-use1-dgx",
        LaunchTemplate={"LaunchTemplateName": "nodes", "Version": "$Latest"},
    )


def test_nodes_are_outdated_until_they_are_replaced(cloud: Cloud) -> None:
    moto_instances.install()
    moto_scaling.install()  # moto's own groups do not say what their instances were launched from
    fleet = Fleet("atlas", "use1", REGION, ZONE, {"dgx": 3}, ())
    cloud.group("dgx", 3)
    assert bind(fleet, cloud.target).outdated == ()
    changed_template(cloud)
    assert read(fleet, cloud.target).outdated == (), "another version, and nothing in it differs"
    changed_template(cloud, InstanceType="t3.large")
    found = read(fleet, cloud.target).outdated
    assert [(one.host, one.differs) for one in found] == [
        (f"dgx-{number}", ("instance type",)) for number in (1, 2, 3)
    ]
    cloud.scaling.terminate_instance_in_auto_scaling_group(
        InstanceId=found[1].instance, ShouldDecrementDesiredCapacity=False
    )
    done = bind(fleet, cloud.target)
    assert done.named == 1
    assert [one.host for one in done.outdated] == ["dgx-1", "dgx-3"]


def test_a_group_may_choose_none_of_its_nodes_after_their_naming(
    cloud: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Groups of earlier releases did not protect what they launched."""
    monkeypatch.setattr(fleet_calls, "PROTECTED_PER_CALL", 5)
    cloud.group("dgx", COUNT)

    def protected() -> set[bool]:
        groups = cloud.scaling.describe_auto_scaling_groups()["AutoScalingGroups"]
        return {one["ProtectedFromScaleIn"] for group in groups for one in group["Instances"]}

    assert bind(FLEET, cloud.target, dry=True).protected == COUNT
    assert protected() == {False}, "a dry run changes nothing"
    assert bind(FLEET, cloud.target).protected == COUNT
    assert protected() == {True}
    assert bind(FLEET, cloud.target).protected == 0
    cloud.scaling.update_auto_scaling_group(
        AutoScalingGroupName="atlas-use1-dgx", MinSize=0, MaxSize=4, DesiredCapacity=4
    )
    assert len(cloud.tags()) == COUNT, "nobody has been chosen"


def test_nodes_that_the_blueprint_has_no_place_for_are_named(cloud: Cloud) -> None:
    cloud.group("dgx", COUNT)
    bind(FLEET, cloud.target)
    assert surplus(FLEET, cloud.target) == ()
    smaller = replace(FLEET, groups={"dgx": COUNT - 2})
    (found,) = surplus(smaller, cloud.target)
    assert sorted(filter(None, found.nodes.values())) == ["dgx-11", "dgx-12"]
    assert read(smaller, cloud.target).surplus == (found,)
    without = Fleet("atlas", "use1", REGION, ZONE, {}, ())
    (found,) = surplus(without, cloud.target)
    assert (found.wanted, found.there, len(found.nodes)) == (0, COUNT, COUNT)


def test_head_nodes_are_let_go_when_a_site_is_removed(cloud: Cloud) -> None:
    tags = {
        "rackwright:cluster": "atlas",
        "rackwright:site": "use1",
        "rackwright:role": "head",
    }
    made = []
    for role, site in (("head", "use1"), ("head", "other"), ("login", "use1")):
        own = tags | {"rackwright:role": role, "rackwright:site": site}
        launched = cloud.ec2.run_instances(
            ImageId="ami-12c6146b",
            MinCount=1,
            MaxCount=1,
            TagSpecifications=[
                {
                    "ResourceType": "instance",
                    "Tags": [{"Key": key, "Value": value} for key, value in own.items()],
                }
            ],
        )
        made.append(launched["Instances"][0]["InstanceId"])
        cloud.ec2.modify_instance_attribute(
            InstanceId=made[-1], DisableApiTermination={"Value": True}
        )
    head, *others = made
    with pytest.raises(ClientError, match="OperationNotPermitted"):
        cloud.ec2.terminate_instances(InstanceIds=[head])
    assert release_servers(FLEET, cloud.target) == [head]
    cloud.ec2.terminate_instances(InstanceIds=[head])
    for other in others:
        with pytest.raises(ClientError, match="OperationNotPermitted"):
            cloud.ec2.terminate_instances(InstanceIds=[other])
