"""``replace`` on the command line: which nodes, and a whole change on moto with a Slurm that lives in this file."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from botocore.client import BaseClient

from examples import MANY
from rackwright.ansible_runs.hosts import AnsibleHosts
from rackwright.cli import main
from rackwright.nodelife.slurm_nodes import NodesSeen, NodeUpdate, read_nodes
from rackwright.policy.packs.loader import builtin_pack
from rackwright.provision import engine, nodes, replacing, targets
from rackwright.provision.aws.fleet_calls import Fleet
from rackwright.provision.nodes import Bound, bind
from rackwright.provision.outdated import OutdatedNode, Surplus
from rackwright.provision.targets import Target
from rackwright.rollout import executor
from rackwright_lab.embedded_aws.api import moto_instances
from unit.cli.test_name_hosts import a_group
from unit.provision.test_nodes import Cloud, cloud

__all__ = ["cloud"]  # the fixture

BLUEPRINT = builtin_pack() / "fixtures" / "aws.yaml"
SCHEDULER = (
    'scheduler: {kind: slurm, version: "24.11", controllers: [{host: head-1}], '
    "topology: {plugin: flat}, partitions: [{name: gpu, groups: [train], default: true}]}\n"
)


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RACKWRIGHT_STATE", str(tmp_path / "state"))
    layer(scheduler=False)
    here = Target("aws", tmp_path, {}, None)
    monkeypatch.setattr(targets, "open_target", lambda _name: here)


def layer(*, scheduler: bool = True, count: int = 3) -> None:
    Path("small.yaml").write_text(
        f'policy_set: "0.1"\nsites: [{{name: use1, node_groups: [{{name: train, count: {count}}}]}}]\n'
        + (SCHEDULER if scheduler else "")
    )


def run(*more: str) -> int:
    return main(["replace", str(BLUEPRINT), *more, "--layer", "small.yaml", "--target", "aws"])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "name the nodes to replace"),
        (["train-1", "--outdated"], "name the nodes to replace"),
        (["--resume", "--waves", "unit"], "without --waves"),
        (["--resume"], "without a 'scheduler'"),
        (["train-9"], "'train-9' is no host of the node groups of 'use1'"),
        (["head-1"], "head and login nodes hold data"),
        (["train-["], "no list of hosts"),
        (["train-1", "--launch-timeout", "soon", "--yes"], "--launch-timeout"),
        (["train-1"], "'replace' changes 'atlas-use1'"),
    ],
)
def test_unclear_state_terminates_no_instance(
    words: list[str],
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(nodes, "read", lambda *_args: Bound((a_group(3, 3),), 0, 0))
    assert run(*words) == 2
    assert message in capsys.readouterr().err


def test_nodes_are_chosen_by_name_by_kind_and_by_count(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    found = Bound((a_group(3, 2),), 0, 0)
    monkeypatch.setattr(nodes, "read", lambda *_args: found)
    assert run("train-[2-3]", "train-2", "--check") == 0
    assert "to be replaced: train-[2-3]" in capsys.readouterr().err
    assert run("--outdated", "--check") == 3
    assert run("--surplus", "--check") == 3
    assert "no node has to go" in capsys.readouterr().out
    found = Bound(
        (a_group(3, 2),),
        0,
        0,
        (
            OutdatedNode("train", "train-1", "i-1", ("image",)),
            OutdatedNode("train", None, "i-8", ()),
        ),
        (Surplus("train", 3, 4, {"i-8": None}),),
    )
    assert run("--outdated", "--check") == 0
    shown = capsys.readouterr().err
    assert "to be replaced: train-1\n" in shown
    assert "left alone, since they have no host names: i-8" in shown
    found = Bound(
        (a_group(3, 2),), 0, 0, (), (Surplus("train", 3, 5, {"i-4": "train-4", "i-5": None}),)
    )
    assert run("--surplus", "--check") == 0
    shown = capsys.readouterr().err
    assert "to be ended: train-4\n" in shown
    assert "without a host name: i-5" in shown


class Controller:
    """Slurm, Ansible and acceptance, in place of the executor that runs them."""

    states: dict[str, str]
    did: list[tuple[str, tuple[str, ...]]]
    bad: dict[str, str]
    inventories: Sequence[Path]

    def __init__(
        self,
        hosts: AnsibleHosts,
        controllers: Sequence[str],
        _expected: Any,
    ) -> None:
        self.controllers = controllers
        self.changed: dict[str, list[str]] = {}
        Controller.inventories = hosts.inventories

    def update(self, names: Collection[str], updates: Sequence[NodeUpdate]) -> NodesSeen:
        before = read_nodes(self._lines(names))
        for update in updates:
            settings = dict(word.split("=", 1) for word in update.arguments)
            for name in update.names:
                if settings.get("State") == "DRAIN":
                    Controller.states[name] = (
                        f"IDLE+DRAIN Reason={settings['Reason']} [root@2026-11-21T11:32:14]"
                    )
                elif settings.get("State") == "RESUME":
                    Controller.states[name] = "IDLE"
            Controller.did.append((update.arguments[0], update.names))
        return NodesSeen(before, read_nodes(self._lines(names)))

    def _lines(self, names: Collection[str]) -> str:
        known = [name for name in names if name in Controller.states]
        return "\n".join(
            f"NodeName={name} Arch=x86_64 State={Controller.states[name]}" for name in known
        )

    def reach(self, hosts: Sequence[str]) -> Mapping[str, str]:
        Controller.did.append(("reach", tuple(hosts)))
        return {}

    def change(self, hosts: Sequence[str], _tags: Sequence[str]) -> Mapping[str, str]:
        Controller.did.append(("change", tuple(hosts)))
        return {}

    def accept(self, hosts: Sequence[str]) -> Mapping[str, str]:
        Controller.did.append(("accept", tuple(hosts)))
        return {host: why for host, why in Controller.bad.items() if host in hosts}


@pytest.fixture
def site(cloud: Cloud, monkeypatch: pytest.MonkeyPatch) -> Cloud:
    """Three named nodes that are provisioned, and Slurm on them."""
    moto_instances.install()
    cloud.group("train", 3)
    cloud.scaling.update_auto_scaling_group(AutoScalingGroupName="atlas-use1-train", MinSize=3)
    cloud.ssm.put_parameter(
        Name="/rackwright/atlas/use1/cluster",
        Type="String",
        Value=json.dumps(
            {
                "servers": {
                    "head": {
                        "private_ips": {"head-1": "10.0.9.1"},
                        "public_ips": {},
                        "instance_ids": {"head-1": "i-0123456789abcdef0"},
                    }
                }
            }
        ),
    )
    fleet = Fleet(
        "atlas", "use1", "us-east-1", "atlas.internal", {"train": 3}, ("head-1", "login-1")
    )
    bind(fleet, cloud.target)
    Controller.states = {f"train-{number}": "IDLE" for number in range(1, 4)}
    Controller.did, Controller.bad = [], {}
    monkeypatch.setattr(executor, "AnsibleExecutor", Controller)
    monkeypatch.setattr(replacing, "FIRST_PAUSE", 0.01)
    return cloud


def test_a_node_is_drained_ended_named_configured_verified_and_resumed(site: Cloud) -> None:
    layer()
    before = site.tags()
    assert run("train-2", "--yes", "--reason", "bad GPU") == 0
    after = site.tags()
    assert after["train-2"] != before["train-2"]
    assert {**after, "train-2": ""} == {**before, "train-2": ""}
    assert [what for what, _ in Controller.did] == [
        "State=DRAIN",
        "reach",
        "NodeAddr=train-2",
        "change",
        "accept",
        "State=RESUME",
    ]
    assert {hosts for _, hosts in Controller.did} == {("train-2",)}
    assert set(Controller.states.values()) == {"IDLE"}
    (addresses,) = Controller.inventories
    told = json.loads(addresses.read_text())["all"]["hosts"]
    assert told["train-2"]["ansible_host"] == site.records()["train-2"][0]
    assert told["train-2"]["rackwright_instance_id"] == after["train-2"]
    assert told["head-1"]["ansible_host"] == "10.0.9.1"


def test_failed_replacement_continues_and_terminates_no_instance_twice(
    site: Cloud, capsys: pytest.CaptureFixture[str]
) -> None:
    layer()
    before = site.tags()
    Controller.bad = {"train-1": "7 of 8 accelerators"}
    assert run("train-[1-2]", "--yes") == 4
    shown = capsys.readouterr().out
    assert "rackwright replace … --resume" in shown
    middle = site.tags()
    assert middle["train-1"] != before["train-1"]
    assert middle["train-2"] == before["train-2"], "the first one has failed, so the change stops"
    assert Controller.states["train-1"].startswith("IDLE+DRAIN")
    configured = ["configure", str(BLUEPRINT), "--layer", "small.yaml", "--resume"]
    assert main(configured) == 2
    assert "rackwright replace … --resume" in capsys.readouterr().err

    Controller.bad = {}
    assert run("--resume", "--yes") == 0
    after = site.tags()
    assert after["train-1"] == middle["train-1"], "its instance is another one already"
    assert after["train-2"] != before["train-2"]
    assert set(Controller.states.values()) == {"IDLE"}
    assert run("--resume", "--yes") == 2


CALLS = 80
"""More than a replacement makes of Slurm, Ansible and AWS."""


class Interruption:
    """Ctrl+C at one of the calls of Slurm, Ansible and AWS, before it is done or after.

    Attributes:
        at: number of the call; the first is 0.
        made: names of the calls.
    """

    def __init__(self, at: int, *, after: bool) -> None:
        self.at, self.after = at, after
        self.made: list[str] = []

    def meet(self, name: str, call: Callable[[], Any]) -> Any:
        here = len(self.made) == self.at
        self.made.append(name)
        if here and not self.after:
            raise KeyboardInterrupt
        answer = call()
        if here:
            raise KeyboardInterrupt
        return answer


@contextmanager
def interrupted(at: int, *, after: bool) -> Iterator[Interruption]:
    """While it lasts, the call ``at`` is interrupted."""
    interruption = Interruption(at, after=after)
    asked = BaseClient._make_api_call

    def ask(client: Any, name: str, arguments: Any) -> Any:
        return interruption.meet(name, partial(asked, client, name, arguments))

    def seen(name: str) -> Callable[..., Any]:
        done = getattr(Controller, name)
        return lambda *given: interruption.meet(name, partial(done, *given))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(BaseClient, "_make_api_call", ask)
        for name in ("update", "reach", "change", "accept"):
            patch.setattr(Controller, name, seen(name))
        yield interruption


@pytest.mark.sweep
@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("at", range(0, CALLS, 1 if MANY else 10))
def test_a_replacement_that_is_interrupted_anywhere_is_gone_on_with(
    at: int, *, after: bool, site: Cloud, capsys: pytest.CaptureFixture[str]
) -> None:
    layer()
    before = site.tags()
    with interrupted(at, after=after) as interruption:
        code = run("train-2", "--yes")
    reached = len(interruption.made) > at
    assert code == (130 if reached else 0)
    assert "Traceback" not in capsys.readouterr().err
    if reached and run("--resume", "--yes") == 2 and site.tags() == before:
        # Nothing had begun that could be gone on with.
        assert run("train-2", "--yes") == 0
    capsys.readouterr()
    after_all = site.tags()
    assert after_all["train-2"] != before["train-2"]
    assert {**after_all, "train-2": ""} == {**before, "train-2": ""}
    assert site.launched() == 4, "one more than there were, and no other"
    assert set(Controller.states.values()) == {"IDLE"}
    assert site.records()["train-2"][0].startswith("10.")


def test_every_call_of_a_replacement_is_interrupted(site: Cloud) -> None:
    layer()
    with interrupted(CALLS, after=False) as interruption:
        assert run("train-2", "--yes") == 0
    assert 20 < len(interruption.made) <= CALLS
    assert {"update", "reach", "change", "accept"} < set(interruption.made)


def test_a_node_that_fails_the_checks_of_ec2_is_replaced(
    site: Cloud, capsys: pytest.CaptureFixture[str]
) -> None:
    layer()
    before = site.tags()
    assert run("--unhealthy", "--yes") == 3
    site.scaling.set_instance_health(InstanceId=before["train-2"], HealthStatus="Unhealthy")
    assert run("--unhealthy", "--yes") == 0
    assert "to be replaced: train-2\n" in capsys.readouterr().err
    after = site.tags()
    assert after["train-2"] != before["train-2"]
    assert {**after, "train-2": ""} == {**before, "train-2": ""}
    assert run("--unhealthy", "--yes") == 3


def test_a_node_beyond_the_count_got_the_name_of_the_node_that_was_replaced(
    site: Cloud, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its jobs run under the old name, and Slurm would have ended them."""
    layer(count=2)
    before = site.tags()
    assert run("train-1", "--yes") == 2
    assert "'train' has nodes that the blueprint no longer has: train-3" in capsys.readouterr().err
    assert site.tags() == before
    assert run("--surplus", "--yes") == 0
    assert run("train-1", "--yes") == 0
    assert site.tags().keys() == {"train-1", "train-2"}


def test_nodes_that_the_blueprint_has_no_more_are_drained_and_ended(site: Cloud) -> None:
    layer(count=1)
    before = site.tags()
    assert run("--surplus", "--yes") == 0
    assert site.tags() == {"train-1": before["train-1"]}
    assert [what for what, _ in Controller.did] == ["State=DRAIN"]
    assert Controller.states["train-1"] == "IDLE"
    assert all(Controller.states[f"train-{number}"] != "IDLE" for number in (2, 3))
    assert run("--surplus", "--yes") == 3


def test_without_a_scheduler_nodes_are_replaced_and_nothing_else(
    site: Cloud, capsys: pytest.CaptureFixture[str]
) -> None:
    before = site.tags()
    assert run("train-3", "--yes", "--json") == 0
    assert json.loads(capsys.readouterr().out) == {
        "schema": "rackwright.replace/v1",
        "hosts": ["train-3"],
        "done": ["train-3"],
        "failed": {},
    }
    assert site.tags()["train-3"] != before["train-3"]
    assert Controller.did == []


def test_without_a_scheduler_no_node_follows_one_that_failed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(nodes, "read", lambda *_args: Bound((a_group(3, 3),), 0, 0))
    asked: list[Sequence[str]] = []

    def renew(_self: Any, hosts: Sequence[str]) -> Mapping[str, str]:
        asked.append(hosts)
        return {"train-2": "no capacity"} if "train-2" in hosts else {}

    monkeypatch.setattr(replacing.Replacing, "renew", renew)
    assert run("train-[1-3]", "--yes") == 4
    assert asked == [["train-1"], ["train-2"]]
    assert capsys.readouterr().out == "train-2 failed: no capacity\n1 of 3 hosts done\n"


def up(*more: str) -> int:
    return main(["up", str(BLUEPRINT), *more, "--layer", "small.yaml", "--target", "aws", "--yes"])


def test_up_rolls_outdated_nodes_in_waves_when_it_is_asked_to(
    site: Cloud, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    layer()
    applied: list[str] = []

    def apply(*_args: Any, **_options: Any) -> list[Any]:
        applied.append("up")
        return []

    monkeypatch.setattr(engine, "up", apply)
    before = site.tags()
    assert up("--waves", "unit") == 0
    assert site.tags() == before, "nothing is outdated"

    site.ec2.create_launch_template_version(
        LaunchTemplateName="nodes",
        LaunchTemplateData={"ImageId": "ami-12c6146b", "InstanceType": "t3.large"},
    )
    assert up() == 8
    assert site.tags() == before
    Controller.bad = {"train-2": "7 of 8 accelerators"}
    assert up("--waves", "unit", "--wave-limit", "1") == 4
    middle = site.tags()
    assert [host for host in before if middle[host] == before[host]] == ["train-3"]
    Controller.bad = {}
    capsys.readouterr()
    assert up("--resume") == 0
    assert "3 of 3 hosts done" in capsys.readouterr().out
    after = site.tags()
    assert after["train-2"] == middle["train-2"]
    assert not set(after.values()) & set(before.values())
    assert applied == ["up"] * 4
    assert up() == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--wave-limit", "1"], "--wave-limit is for 'up' with --waves"),
        (["--waves", "unit", "--json"], "--json tells of the stacks alone"),
        (["--resume", "--reason", "x"], "without --reason"),
    ],
)
def test_contradictions_of_up_are_refused(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    layer()
    assert up(*words) == 2
    assert message in capsys.readouterr().err
