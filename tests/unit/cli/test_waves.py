"""Changes in waves on the command line: what contradicts, what the blueprint allows, what is told."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import pytest

from rackwright.ansible_runs.files import Workspace
from rackwright.ansible_runs.hosts import AnsibleHosts
from rackwright.cli import main
from rackwright.cli.commands.configure import configure
from rackwright.cli.options.waves import _as_json, _as_text, _leftovers, is_wanted, limit_of
from rackwright.errors import UsageError
from rackwright.plan.load import load_plan
from rackwright.render.blueprints import find_template, write_blueprint
from rackwright.rollout.executor import AnsibleExecutor
from rackwright.rollout.journal import RolloutProgress
from rackwright.rollout.rollout import Pace, Rollout
from rackwright.rollout.waves import Limit, Wave, WaveKind


def parsed(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    configure(parser, "configure")
    return parser.parse_args(["blueprint.yaml", *words])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--wave-limit", "8"], "--wave-limit is for changes with --waves"),
        (["--drain-timeout", "1 h"], "--drain-timeout is for changes with --waves"),
        (["--waves", "rack", "--retry"], "--retry is for changes without waves"),
        (["--resume", "--waves", "rack"], "without --waves"),
        (["--resume", "--limit", "gpu-1"], "without --limit"),
        (["--resume", "--tags", "run"], "without --tags"),
        (["--resume", "--check"], "without --check"),
        (["--waves", "rack", "--tags", "verfy"], "no task has the tag 'verfy' of --tags"),
        (
            ["--waves", "rack", "--tags", "always,preflight"],
            "--tags always,preflight changes nothing",
        ),
    ],
)
def test_contradictions_are_refused(words: list[str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        is_wanted(parsed(*words))


def test_waves_are_wanted_when_they_are_asked_for() -> None:
    assert not is_wanted(parsed("--retry"))
    assert is_wanted(parsed("--waves", "rack", "--check", "--limit", "gpu-1"))
    assert is_wanted(parsed("--resume"))


def test_the_blueprint_has_the_last_word_on_the_limit(tmp_path: Path) -> None:
    write_blueprint(find_template("lab"), tmp_path, {})
    path = tmp_path / "blueprint.yaml"
    text, declared = path.read_text(), "  changes: {most_nodes: 25 %}\n"
    assert text.count(declared) == 1
    path.write_text(text.replace(declared, ""))
    silent = load_plan(path).plan
    assert limit_of(parsed("--waves", "rack"), silent) == Limit()
    assert limit_of(parsed("--waves", "rack", "--wave-limit", "90%"), silent) == Limit(None, 90)
    path.write_text(text)
    plan = load_plan(path).plan
    assert limit_of(parsed("--waves", "rack"), plan) == Limit(None, 25)
    assert limit_of(parsed("--waves", "rack", "--wave-limit", "3"), plan) == Limit(3, 25)
    assert limit_of(parsed("--waves", "rack", "--wave-limit", "5%"), plan) == Limit(None, 5)
    with pytest.raises(UsageError, match="25 % of a node group"):
        limit_of(parsed("--waves", "rack", "--wave-limit", "26%"), plan)


def test_there_is_nothing_to_go_on_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("RACKWRIGHT_STATE", str(tmp_path / "state"))
    write_blueprint(find_template("lab"), tmp_path, {})
    blueprint = str(tmp_path / "blueprint.yaml")
    assert main(["configure", blueprint, "--resume"]) == 2
    assert "no change in waves is unfinished" in capsys.readouterr().err
    assert main(["configure", blueprint, "--waves", "rack", "--drain-timeout", "soon"]) == 2
    assert "--drain-timeout" in capsys.readouterr().err


def a_rollout(tmp_path: Path) -> Rollout:
    waves = (
        Wave(WaveKind.SERVICE, "head-1: controller", ("head-1",)),
        Wave(WaveKind.COMPUTE, "rack r1", ("n1", "n2")),
        Wave(WaveKind.COMPUTE, "rack r2", ("n3",)),
    )
    progress = RolloutProgress("change 1a", "1a", waves, {f"n{n}": f"n{n}" for n in range(1, 4)})
    progress.pass_host("head-1")
    progress.pass_host("n1")
    progress.failed["n2"] = "7 of 8 accelerators"
    progress.own(["n2"], "rackwright: 7 of 8 accelerators (change 1a)")
    executor = AnsibleExecutor(AnsibleHosts(Workspace(tmp_path)), ("head-1",), {})
    made = Rollout(progress, executor, Pace(), print, lambda _: None)
    made.seconds = {0: 12.34, 1: 60.0}
    made.stopped = "1 of 2 hosts of the wave failed, more than 20 %"
    return made


def test_waves_that_did_not_start_are_reported(tmp_path: Path) -> None:
    rollout = a_rollout(tmp_path)
    assert _as_text(rollout, {"n1": ["base / x"]}, {"n2": "7 of 8 accelerators"}).splitlines() == [
        "wave 1 of 3 (head-1: controller): 1 of 1 host accepted in 12.3 s",
        "wave 2 of 3 (rack r1): 1 of 2 hosts accepted in 60.0 s",
        "wave 3 of 3 (rack r2): not started",
        "quarantined n2: 7 of 8 accelerators",
        "the change has stopped: 1 of 2 hosts of the wave failed, more than 20 %",
        "2 of 4 hosts done, 1 thing changed",
    ]
    document = json.loads(_as_json(rollout, {"n1": ["base / x"], "n2": []}, {}))
    assert document["schema"] == "rackwright.rollout/v1"
    assert [wave["state"] for wave in document["waves"]] == ["done", "incomplete", "not started"]
    assert document["waves"][1]["failed"] == {"n2": "7 of 8 accelerators"}
    assert document["changed"] == {"n1": ["base / x"]}
    assert document["drained"] == {"n2": "rackwright: 7 of 8 accelerators (change 1a)"}


def test_drained_hosts_are_named_with_the_command_to_resume(tmp_path: Path) -> None:
    progress = a_rollout(tmp_path).progress
    progress.own(["n1", "n3"], "rackwright: change 1a, wave 2 of 3")
    assert _leftovers(progress, ["head-1"]).splitlines() == [
        "drained by us: n2 (rackwright: 7 of 8 accelerators (change 1a))",
        "drained by us: n[1,3] (rackwright: change 1a, wave 2 of 3)",
        "to give them back as they are, on head-1: scontrol update NodeName=n[1-3] State=RESUME",
        "to go on, with failed hosts as well: rackwright configure … --resume",
    ]
