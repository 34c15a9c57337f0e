"""Instances that are ended by name, and their successors, on moto."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from botocore.exceptions import ClientError

from rackwright.errors import UsageError
from rackwright.provision.aws import calls, fleet_calls
from rackwright.provision.aws.fleet_calls import Fleet
from rackwright.provision.naming import Naming
from rackwright.provision.nodes import bind, launch_failures, read, surplus
from rackwright.provision.replacing import Replacing
from rackwright_lab.embedded_aws.api import moto_instances
from unit.provision.test_nodes import REGION, ZONE, Cloud, cloud

__all__ = ["cloud"]  # the fixture

FLEET = Fleet("atlas", "use1", REGION, ZONE, {"dgx": 4}, ())
GROUP = "atlas-use1-dgx"


def a_site(cloud: Cloud) -> dict[str, str]:
    """Four named nodes of a group of fixed size, which a stack makes; the instance of each."""
    moto_instances.install()
    cloud.group("dgx", 4)
    cloud.scaling.update_auto_scaling_group(
        AutoScalingGroupName=GROUP, MinSize=4, NewInstancesProtectedFromScaleIn=True
    )
    cloud.scaling.suspend_processes(
        AutoScalingGroupName=GROUP, ScalingProcesses=["AZRebalance", "ReplaceUnhealthy"]
    )
    bind(FLEET, cloud.target)
    return cloud.tags()


def replacing(cloud: Cloud, ends: dict[str, str], **more: Any) -> tuple[Replacing, list[str]]:
    said: list[str] = []
    slept: list[float] = []
    made = Replacing(
        FLEET,
        cloud.target,
        ends,
        said.append,
        sleep=slept.append,
        clock=lambda: sum(slept),
        **more,
    )
    return made, said


def group_of(cloud: Cloud) -> dict[str, Any]:
    (group,) = cloud.scaling.describe_auto_scaling_groups(AutoScalingGroupNames=[GROUP])[
        "AutoScalingGroups"
    ]
    return dict(group)


def test_an_instance_is_replaced_once_and_its_host_keeps_the_name(cloud: Cloud) -> None:
    before = a_site(cloud)
    told: list[Sequence[Naming]] = []
    made, said = replacing(cloud, {"dgx-2": before["dgx-2"]}, addressed=told.append)
    assert made.renew(["dgx-2"]) == {}
    after = cloud.tags()
    assert after["dgx-2"] != before["dgx-2"]
    assert {**after, "dgx-2": ""} == {**before, "dgx-2": ""}
    assert said[:2] == [
        "launching 1 more of 'dgx', before those that run end",
        f"ending {before['dgx-2']} of dgx-2",
    ]
    (namings,) = told
    assert namings[0].holders["dgx-2"].id == after["dgx-2"]
    assert cloud.records()["dgx-2"] == [namings[0].holders["dgx-2"].address]

    made, said = replacing(cloud, {"dgx-2": before["dgx-2"]})
    assert made.renew(["dgx-2"]) == {}, "what was cut off is finished by the next"
    assert cloud.tags() == after
    assert said == []


def test_a_host_whose_instance_has_gone_gets_another_one(cloud: Cloud) -> None:
    """EC2 ended it, or somebody did: its group keeps it as unhealthy, and replaces nothing by itself."""
    before = a_site(cloud)
    gone = before["dgx-3"]
    cloud.ec2.terminate_instances(InstanceIds=[gone])
    assert read(FLEET, cloud.target).namings[0].missing == ("dgx-3",)
    made, said = replacing(cloud, {"dgx-3": ""})
    assert made.renew(["dgx-3"]) == {}
    assert gone in said[0]
    after = cloud.tags()
    assert after["dgx-3"] not in before.values()
    assert {**after, "dgx-3": ""} == {**before, "dgx-3": ""}


def test_capacity_that_is_missing_is_said_with_what_to_do(
    cloud: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = a_site(cloud)
    asked: list[dict[str, Any]] = []
    failed_activity = {
        "StatusCode": "Failed",
        "StatusMessage": "We currently do not have sufficient p5.48xlarge capacity "
        "(InsufficientInstanceCapacity). Launching EC2 instance failed.",
    }
    activities = [{"StatusCode": "Successful"}, failed_activity]
    first = calls.make_client

    def make(*arguments: Any) -> Any:
        client = first(*arguments)
        if arguments[1] == "autoscaling":
            client.terminate_instance_in_auto_scaling_group = lambda **_told: (
                cloud.ec2.terminate_instances(InstanceIds=[before["dgx-1"]])
            )

            def describe(**told: Any) -> dict[str, Any]:
                asked.append(told)
                return {"Activities": activities}

            client.describe_scaling_activities = describe
        return client

    monkeypatch.setattr(fleet_calls, "make_client", make)
    made, _ = replacing(cloud, {"dgx-1": before["dgx-1"]}, timeout=300.0, end_first=True)
    failed = made.renew(["dgx-1"])
    assert list(failed) == ["dgx-1"]
    assert "in 300 s: We currently do not have sufficient p5.48xlarge capacity" in failed["dgx-1"]
    assert "give the node group a 'capacity' that is reserved" in failed["dgx-1"]
    assert asked[0]["AutoScalingGroupName"] == GROUP
    larger = Fleet("atlas", "use1", REGION, ZONE, {"dgx": 6}, ())
    (line,) = launch_failures(larger, cloud.target)
    assert line.startswith(
        "'dgx' has 4 of 6 nodes: We currently do not have sufficient p5.48xlarge"
    )
    failed_activity["StatusMessage"] = "The image id 'ami-1' does not exist."
    (line,) = launch_failures(larger, cloud.target)
    assert line == "'dgx' has 4 of 6 nodes: The image id 'ami-1' does not exist"
    activities.clear()
    assert launch_failures(larger, cloud.target) == []
    assert launch_failures(FLEET, cloud.target) == []


REFUSED = {
    "ActivityId": "1",
    "StatusCode": "Failed",
    "StatusMessage": "We currently do not have sufficient p5.48xlarge capacity "
    "(InsufficientInstanceCapacity). Launching EC2 instance failed.",
}


def without_capacity(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """AWS launches nothing more for a group that wants more; the calls that were made of it."""
    asked: list[tuple[str, int]] = []
    activities: list[dict[str, str]] = []
    first = calls.make_client

    def make(*arguments: Any) -> Any:
        client = first(*arguments)
        if arguments[1] == "autoscaling":
            end = client.terminate_instance_in_auto_scaling_group

            def update(**told: Any) -> None:
                asked.append(("size", told["DesiredCapacity"]))
                activities[:] = [REFUSED]

            def finish(**told: Any) -> Any:
                asked.append(("smaller", told["ShouldDecrementDesiredCapacity"]))
                return end(**told)

            client.update_auto_scaling_group = update
            client.terminate_instance_in_auto_scaling_group = finish
            client.describe_scaling_activities = lambda **_told: {"Activities": activities}
        return client

    monkeypatch.setattr(fleet_calls, "make_client", make)
    return asked


def test_an_instance_ended_before_another_one_ran(
    cloud: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    """C: capacity on demand that is given back may not come again."""
    before = a_site(cloud)
    living: list[int] = []
    first = fleet_calls.FleetCalls.end

    def end(self: fleet_calls.FleetCalls, instance: str, *, smaller: bool) -> None:
        living.append(len(self.instances()["dgx"]))
        first(self, instance, smaller=smaller)

    monkeypatch.setattr(fleet_calls.FleetCalls, "end", end)
    made, _ = replacing(cloud, {host: before[host] for host in ("dgx-1", "dgx-2")})
    assert made.renew(["dgx-1", "dgx-2"]) == {}
    assert living == [6, 5]
    after = cloud.tags()
    assert set(after) == set(before)
    assert {host for host in before if after[host] != before[host]} == {"dgx-1", "dgx-2"}
    group = group_of(cloud)
    sizes = (group["MinSize"], group["MaxSize"], group["DesiredCapacity"])
    assert sizes == (4, 4, 4)
    assert len(group["Instances"]) == 4


def test_without_capacity_the_old_instance_goes_on(
    cloud: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = a_site(cloud)
    asked = without_capacity(monkeypatch)
    made, _ = replacing(cloud, {"dgx-1": before["dgx-1"]})
    failed = made.renew(["dgx-1"])
    assert "sufficient p5.48xlarge capacity" in failed["dgx-1"]
    assert "the old instance goes on; '--end-first'" in failed["dgx-1"]
    assert cloud.tags() == before
    assert asked == [("size", 5), ("size", 4)]


def test_a_failure_before_the_launch_is_no_answer_to_it(
    cloud: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A group that lacked capacity yesterday shows that until it has launched again, minutes later."""
    before = a_site(cloud)
    due: list[dict[str, Any]] = []
    looks: list[float] = []
    first = calls.make_client

    def make(*arguments: Any) -> Any:
        client = first(*arguments)
        if arguments[1] == "autoscaling":
            client.update_auto_scaling_group = lambda **told: due.append(told)
            client.describe_scaling_activities = lambda **_told: {"Activities": [REFUSED]}
        return client

    def sleep(seconds: float) -> None:
        looks.append(seconds)
        if len(looks) == 4:
            cloud.scaling.update_auto_scaling_group(**due.pop())

    monkeypatch.setattr(fleet_calls, "make_client", make)
    made, _ = replacing(cloud, {"dgx-1": before["dgx-1"]})
    made.sleep, made.clock = sleep, lambda: sum(looks)
    assert made.renew(["dgx-1"]) == {}
    assert cloud.tags()["dgx-1"] != before["dgx-1"]


def test_an_instance_that_starts_while_another_one_is_refused_is_used(
    cloud: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Capacity for one of two: the one is not running yet when AWS refuses the other."""
    before = a_site(cloud)
    activities: list[dict[str, str]] = []
    looks: list[int] = []
    first, groups = calls.make_client, fleet_calls.FleetCalls.groups

    def make(*arguments: Any) -> Any:
        client = first(*arguments)
        if arguments[1] == "autoscaling":
            update = client.update_auto_scaling_group

            def one(**told: Any) -> None:
                if told["DesiredCapacity"] == 6:
                    activities[:] = [REFUSED]
                    told["DesiredCapacity"] = 5
                update(**told)

            client.update_auto_scaling_group = one
            client.describe_scaling_activities = lambda **_told: {"Activities": activities}
        return client

    def starting(self: fleet_calls.FleetCalls) -> list[Any]:
        (found,) = groups(self)
        looks.append(1)
        spare = frozenset(found.members.keys() - set(before.values()))
        return [replace(found, pending=spare if len(looks) < 5 else frozenset())]

    monkeypatch.setattr(fleet_calls, "make_client", make)
    monkeypatch.setattr(fleet_calls.FleetCalls, "groups", starting)
    made, _ = replacing(cloud, {host: before[host] for host in ("dgx-1", "dgx-2")})
    failed = made.renew(["dgx-1", "dgx-2"])
    assert list(failed) == ["dgx-2"]
    after = cloud.tags()
    assert after["dgx-1"] != before["dgx-1"]
    assert after["dgx-2"] == before["dgx-2"]


def test_capacity_that_is_reserved_and_all_in_use_is_given_back_first(
    cloud: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = a_site(cloud)
    asked = without_capacity(monkeypatch)
    made, _ = replacing(cloud, {"dgx-1": before["dgx-1"]})
    made.fleet = replace(FLEET, reserved=frozenset({"dgx"}))
    assert made.renew(["dgx-1"]) == {}
    assert asked == [("size", 5), ("size", 4), ("smaller", False)]
    assert cloud.tags()["dgx-1"] != before["dgx-1"]


def test_a_replacement_that_was_killed_after_the_launch_launches_no_second_one(
    cloud: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = a_site(cloud)

    def killed(*_arguments: Any, **_more: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(fleet_calls.FleetCalls, "end", killed)
        made, _ = replacing(cloud, {"dgx-1": before["dgx-1"]})
        with pytest.raises(KeyboardInterrupt):
            made.renew(["dgx-1"])
    assert len(group_of(cloud)["Instances"]) == 5
    made, _ = replacing(cloud, {"dgx-1": before["dgx-1"]})
    assert made.renew(["dgx-1"]) == {}
    assert set(cloud.tags()) == set(before)
    group = group_of(cloud)
    assert (group["MaxSize"], len(group["Instances"])) == (4, 4)


def test_replacing_a_node_grew_its_group_before_up(cloud: Cloud) -> None:
    """The blueprint asks for more nodes than the stack has: they come with ``up``, after its checks."""
    before = a_site(cloud)
    made, _ = replacing(cloud, {"dgx-1": before["dgx-1"]})
    made.fleet = replace(FLEET, groups={"dgx": 8})
    made.calls.fleet = made.fleet
    assert made.renew(["dgx-1"]) == {}
    assert cloud.tags()["dgx-1"] != before["dgx-1"]
    group = group_of(cloud)
    assert (group["MaxSize"], group["DesiredCapacity"], len(group["Instances"])) == (4, 4, 4)


def test_nodes_that_are_removed_go_by_name_and_their_group_gets_smaller(cloud: Cloud) -> None:
    before = a_site(cloud)
    smaller = Fleet("atlas", "use1", REGION, ZONE, {"dgx": 2}, ())
    (found,) = surplus(smaller, cloud.target)
    ends = {host: one for one, host in found.nodes.items() if host is not None}
    assert set(ends) == {"dgx-3", "dgx-4"}
    with pytest.raises(ClientError, match="minSize"):
        cloud.scaling.terminate_instance_in_auto_scaling_group(
            InstanceId=ends["dgx-3"], ShouldDecrementDesiredCapacity=True
        )
    made, said = replacing(cloud, ends)
    assert made.remove(["dgx-3", "dgx-4"]) == {}
    assert len(said) == 2
    left = {host: one for host, one in before.items() if host in {"dgx-1", "dgx-2"}}
    assert cloud.tags() == left
    group = group_of(cloud)
    assert (group["MinSize"], group["DesiredCapacity"], len(group["Instances"])) == (2, 2, 2)
    assert surplus(smaller, cloud.target) == ()
    assert made.remove(["dgx-3", "dgx-4"]) == {}, "a second time there is nothing to end"
    assert cloud.tags() == left
    bind(smaller, cloud.target)
    assert {"dgx-3", "dgx-4"}.isdisjoint(cloud.records())


def test_nothing_ends_where_running_hosts_would_be_renamed(cloud: Cloud) -> None:
    before = a_site(cloud)
    renamer, _ = replacing(cloud, {"dgx-0001": before["dgx-1"]})
    renamer.fleet = replace(FLEET, digits={"dgx": 4})
    with pytest.raises(UsageError, match="would be renamed"):
        renamer.renew(["dgx-0001"])
    assert cloud.tags() == before
