"""``hosts``, and what ``status`` and ``preview`` tell of the instances of node groups."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path
from typing import Any

import pytest

from rackwright.cli import main
from rackwright.errors import ExternalToolError
from rackwright.policy.packs.loader import builtin_pack
from rackwright.provision import engine, nodes, targets
from rackwright.provision.aws.fleet_calls import NothingProvisionedError
from rackwright.provision.engine import StackOutcome
from rackwright.provision.naming import NodeInstance, assigned
from rackwright.provision.nodes import Bound
from rackwright.provision.outdated import OutdatedNode, Surplus
from rackwright.provision.targets import Target

BLUEPRINT = builtin_pack() / "fixtures" / "aws.yaml"
CLUSTER = StackOutcome("aws-cluster", {}, 7, {}, {"servers": {}})


@pytest.fixture(autouse=True)
def target(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(nodes, "launch_failures", lambda *_args: [])
    monkeypatch.setattr(nodes, "refuse_moved_subnets", lambda *_args: None)
    monkeypatch.setattr(nodes, "answers", lambda *_args: {})
    Path("first-set.yaml").write_text('policy_set: "0.1"\n')
    here = Target("aws", tmp_path, {}, None)
    monkeypatch.setattr(targets, "open_target", lambda _name: here)
    monkeypatch.setattr(engine, "status", lambda *_args: [CLUSTER])
    monkeypatch.setattr(engine, "preview", lambda *_args, **_options: [])


def a_group(count: int, instances: int) -> Any:
    launched = dt.datetime(2026, 11, 1, tzinfo=dt.UTC)
    fleet = [NodeInstance(f"i-{n}", launched, f"10.0.0.{n}") for n in range(1, instances + 1)]
    return assigned("train", count, fleet)


def run(verb: str, *more: str) -> int:
    """The end of a command on a blueprint that is judged by the first policy set."""
    layer = ["--layer", "first-set.yaml"]
    return main([verb, str(BLUEPRINT), *layer, "--target", "aws", *more])


@pytest.mark.parametrize(("instances", "code"), [(3, 0), (2, 10)])
def test_a_host_without_an_instance_is_named_and_ends_with_10(
    instances: int, code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    done = Bound((a_group(3, instances),), instances, instances)
    monkeypatch.setattr(nodes, "bind", lambda *_args, **_options: done)
    assert run("hosts", "--json") == code
    shown = capsys.readouterr()
    assert json.loads(shown.out)["nodes"]["train"]["private_ips"]["train-2"] == "10.0.0.2"
    assert ("no instance with an address: train-3" in shown.err) == (code == 10)
    assert run("hosts") == code
    assert f"{instances} instances named" in capsys.readouterr().out


def test_a_site_that_is_not_there_has_no_names(monkeypatch: pytest.MonkeyPatch) -> None:
    def bind(*_args: Any, **_options: Any) -> Bound:
        raise NothingProvisionedError("there is no parameter")

    monkeypatch.setattr(nodes, "bind", bind)
    assert run("hosts") == 3
    assert run("preview", "--expect-no-changes") == 0


def test_status_tells_addresses_and_that_it_does_not_know_them(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(nodes, "read", lambda *_args: Bound((a_group(3, 2),), 0, 0))
    assert run("status", "--json") == 10
    shown = capsys.readouterr()
    assert json.loads(shown.out)["nodes"]["train"]["missing"] == ["train-3"]
    assert "1 of 3 hosts of 'train' have no instance" in shown.err
    assert run("status") == 10
    assert "hosts of train: 2 of 3 with an address: train-[1-2]" in capsys.readouterr().out

    def refuse(*_args: Any) -> Any:
        raise ExternalToolError("AWS refuses 'ec2:DescribeInstances'")

    monkeypatch.setattr(nodes, "read", refuse)
    assert run("status", "--json") == 4
    shown = capsys.readouterr()
    told = json.loads(shown.out)
    assert told["nodes"] is None
    assert [stack["stack"] for stack in told["stacks"]] == ["aws-cluster"]
    assert "AWS refuses" in shown.err


def test_names_that_would_change_are_a_difference(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = []

    def bind(*_args: Any, dry: bool, **_options: Any) -> Bound:
        asked.append(dry)
        return Bound((a_group(3, 3),), 1, 2)

    monkeypatch.setattr(nodes, "bind", bind)
    assert run("preview") == 0
    assert "1 instance to name, 2 records to change" in capsys.readouterr().err
    assert run("preview", "--expect-no-changes") == 5
    assert asked == [True, True]

    def refuse(*_args: Any, **_options: Any) -> Bound:
        raise ExternalToolError("AWS refuses")

    monkeypatch.setattr(nodes, "bind", refuse)
    assert run("preview") == 0
    assert "names cannot be foreseen: AWS refuses" in capsys.readouterr().err
    assert run("preview", "--expect-no-changes") == 4


def test_topology_writes_a_layer_where_it_changed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    done = Bound((a_group(16, 16),), 0, 0)
    above = {f"train-{number}": ("nn-1", f"nn-{2 + number % 2}") for number in range(1, 17)}
    monkeypatch.setattr(nodes, "bind", lambda *_args, **_options: done)
    monkeypatch.setattr(nodes, "network_nodes", lambda *_args: above)
    assert run("hosts", "--topology", "told.yaml") == 2
    assert "needs a blueprint with a 'scheduler'" in capsys.readouterr().err
    Path("first-set.yaml").write_text(
        'policy_set: "0.1"\nscheduler: {kind: slurm, version: "24.11", controllers: [{host: head-1}], '
        "topology: {plugin: tree}, partitions: [{name: gpu, groups: [train], default: true}]}\n"
    )
    for state in ("written", "unchanged"):
        assert run("hosts", "--topology", "told.yaml") == 0
        assert (
            f"told.yaml: 3 switches, AWS tells of 16 of 16 hosts; {state}"
            in capsys.readouterr().err
        )
    assert 'children: "nn-3,nn-2"' in Path("told.yaml").read_text()


OUTDATED = OutdatedNode("train", "train-1", "i-1", ("image", "instance type"))


def test_up_names_outdated_nodes_and_ends_with_8(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    found = Bound((a_group(2, 2),), 0, 0)
    monkeypatch.setattr(nodes, "surplus", lambda *_args: ())
    monkeypatch.setattr(engine, "up", lambda *_args, **_options: [CLUSTER])
    monkeypatch.setattr(nodes, "bind", lambda *_args, **_options: found)
    assert run("up", "--yes") == 0
    assert "outdated" not in capsys.readouterr().out
    assert run("up", "--yes", "--json") == 0
    assert json.loads(capsys.readouterr().out)["outdated"] == []

    found = Bound((a_group(2, 2),), 0, 0, (OUTDATED,))
    assert run("up", "--yes") == 8
    shown = capsys.readouterr().out
    assert "outdated nodes of train: train-1 (image, instance type)" in shown
    assert "rackwright replace" in shown
    assert run("up", "--yes", "--json") == 8
    (told,) = json.loads(capsys.readouterr().out)["outdated"]
    assert told == {
        "group": "train",
        "host": "train-1",
        "instance": "i-1",
        "differs": ["image", "instance type"],
    }
    monkeypatch.setattr(nodes, "read", lambda *_args: found)
    assert run("status") == 0
    assert "outdated nodes of train: train-1" in capsys.readouterr().out


def test_status_names_nodes_that_fail_the_checks_of_ec2(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    found = Bound((a_group(3, 3),), 0, 0, unhealthy={"train-2": "i-2", "train-3": ""})
    monkeypatch.setattr(nodes, "read", lambda *_args: found)
    assert run("status") == 0
    assert "EC2's status checks fail for train-[2-3]" in capsys.readouterr().out
    assert run("status", "--json") == 0
    assert json.loads(capsys.readouterr().out)["unhealthy"] == {"train-2": "i-2", "train-3": ""}


def test_up_lets_no_group_choose_which_nodes_go(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    surplus = Surplus("train", 2, 3, {"i-3": "train-3"})
    changed = []
    monkeypatch.setattr(engine, "up", lambda *_args, **_options: changed.append("up"))
    monkeypatch.setattr(nodes, "surplus", lambda *_args: (surplus,))
    assert run("up", "--yes") == 2
    shown = capsys.readouterr().err
    assert "'train' has 3 nodes and the blueprint wants 2: train-3" in shown
    assert "replace BLUEPRINT --surplus" in shown
    assert not changed

    would = Bound((a_group(2, 2),), 0, 0, surplus=(surplus,))
    monkeypatch.setattr(nodes, "bind", lambda *_args, **_options: would)
    assert run("preview", "--expect-no-changes") == 5
    assert "'up' will refuse to end nodes" in capsys.readouterr().err


def test_a_resumed_up_keeps_what_a_replacement_launched_before_it_was_cut_off(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("first-set.yaml").write_text(
        'policy_set: "0.1"\nscheduler: {kind: slurm, version: "24.11", controllers: [{host: head-1}], '
        "topology: {plugin: flat}, partitions: [{name: gpu, groups: [train], default: true}]}\n"
    )
    launched = Surplus("train", 2, 3, {"i-3": None})
    monkeypatch.setattr(nodes, "surplus", lambda *_args: (launched,))

    def changed(*_args: Any, **_options: Any) -> Any:
        raise ExternalToolError("the stacks were changed")

    monkeypatch.setattr(engine, "up", changed)
    monkeypatch.setattr(nodes, "launch_failures", lambda *_args: [])
    assert run("up", "--yes", "--resume") == 4
    assert "the stacks were changed" in capsys.readouterr().err

    assert run("up", "--yes") == 2, "an instance nobody waits for is a surplus"
    assert "up BLUEPRINT --resume" in capsys.readouterr().err

    named = Surplus("train", 2, 3, {"i-3": "train-3"})
    monkeypatch.setattr(nodes, "surplus", lambda *_args: (named,))
    assert run("up", "--yes", "--resume") == 2


def test_up_with_a_part_of_the_nodes_ends_with_10_and_the_words_of_aws(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    found = Bound((a_group(4, 2),), 2, 2, (OUTDATED,))
    monkeypatch.setattr(nodes, "surplus", lambda *_args: ())
    monkeypatch.setattr(engine, "up", lambda *_args, **_options: [CLUSTER])
    monkeypatch.setattr(nodes, "launch", lambda *_args, **_options: found)
    monkeypatch.setattr(
        nodes, "launch_failures", lambda *_args: ["'train' has 2 of 4 nodes: none left"]
    )
    assert run("up", "--yes") == 10
    shown = capsys.readouterr()
    assert "hosts of train: 2 of 4 with an address: train-[1-2]" in shown.out
    assert "'train' has 2 of 4 nodes: none left" in shown.err
    assert "rackwright hosts" in shown.err


def test_aws_errors_of_nodes_are_shown_when_the_engine_fails(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_args: Any, **_options: Any) -> Any:
        raise ExternalToolError("'up' of stack 'aws-cluster/atlas-use1' failed")

    monkeypatch.setattr(nodes, "surplus", lambda *_args: ())
    monkeypatch.setattr(engine, "up", fail)
    monkeypatch.setattr(
        nodes, "launch_failures", lambda *_args: ["'train' has 3 of 16 nodes: none left"]
    )
    assert run("up", "--yes") == 4
    shown = capsys.readouterr().err
    assert "'train' has 3 of 16 nodes: none left" in shown
    assert "'up' of stack" in shown

    def refuse(*_args: Any) -> Any:
        raise ExternalToolError("AWS refuses")

    monkeypatch.setattr(nodes, "launch_failures", refuse)
    assert run("up", "--yes") == 4
    assert "'up' of stack" in capsys.readouterr().err
