"""``upgrade`` on the command line: what it shows, what it refuses, and that it touches nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rackwright.ansible_runs.files import workspace
from rackwright.cli import main
from rackwright.plan.load import load_plan
from rackwright.render.blueprints import find_template, write_blueprint
from rackwright.rollout.journal import RolloutProgress, save
from rackwright.rollout.software_record import SoftwareRecord, record_of, save_record
from rackwright.rollout.waves import Wave, WaveKind

OLD, NEW = "570.124.06", "570.133.20"
NAME = "bench"


@pytest.fixture
def blueprint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RACKWRIGHT_STATE", str(tmp_path / "state"))
    write_blueprint(find_template("lab"), tmp_path, {})
    return tmp_path / "blueprint.yaml"


def with_driver(path: Path, version: str, slurm: str = "22.05") -> Path:
    """The blueprint in ``path`` with a bill."""
    text = path.read_text()
    bill = f"  software:\n    - {{name: all, driver: {version}, fabric_manager: {version}}}\n"
    made = path.with_name(f"driver-{version}-{slurm}.yaml")
    made.write_text(
        text.replace("\noperations:\n", f"\noperations:\n{bill}").replace('"22.05"', f'"{slurm}"')
    )
    return made


def test_the_plan_is_shown_and_nothing_is_written(
    blueprint: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    new, old = with_driver(blueprint, NEW), with_driver(blueprint, OLD)
    assert main(["upgrade", str(new), "--from", str(old)]) == 0
    assert capsys.readouterr().out.splitlines() == [
        f"driver {OLD} → {NEW} on gpu-[1-4]: drained and rebooted",
        f"fabric_manager {OLD} → {NEW} on gpu-[1-4]: drained and rebooted",
        "wave 1 of 4 (gpu-1, the first dgx-h100): 1 host, 1 rebooted",
        "wave 2 of 4 (rack c01): 1 host, 1 rebooted",
        "wave 3 of 4 (rack c02, gpu-3): 1 host, 1 rebooted",
        "wave 4 of 4 (rack c02, gpu-4): 1 host, 1 rebooted",
        "nothing was drained or changed; --yes does it",
    ]
    assert [path.name for path in workspace(NAME).folder.iterdir()] == []


def test_the_plan_for_programs(blueprint: Path, capsys: pytest.CaptureFixture[str]) -> None:
    new, old = with_driver(blueprint, NEW), with_driver(blueprint, OLD)
    save_record(workspace(NAME).software, record_of(load_plan(old).plan))
    assert main(["upgrade", str(new), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["schema"] == "rackwright.upgrade/v1"
    assert [(s["component"], s["from"], s["to"]) for s in told["steps"]] == [
        ("driver", OLD, NEW),
        ("fabric_manager", OLD, NEW),
    ]
    assert all(step["drain"] and step["reboot"] for step in told["steps"])
    assert told["waves"][0] == {
        "kind": "canary",
        "title": "gpu-1, the first dgx-h100",
        "hosts": ["gpu-1"],
        "reboot": ["gpu-1"],
    }
    assert told["apart"] == []


def test_nothing_to_upgrade(blueprint: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["upgrade", str(blueprint), "--from", str(blueprint)]) == 3
    assert "nothing to upgrade" in capsys.readouterr().out


def test_an_upgrade_beyond_the_window_is_refused_before_anything_is_touched(
    blueprint: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    new, old = with_driver(blueprint, NEW, "24.11"), with_driver(blueprint, OLD)
    for words in ([], ["--yes"]):
        assert main(["upgrade", str(new), "--from", str(old), *words]) == 2
        said = capsys.readouterr().err
        assert "Slurm 24.11 reads the state of 24.05, 23.11, 23.02 and not of 22.05" in said
        assert "first 23.11, then 24.11" in said
    assert [path.name for path in workspace(NAME).folder.iterdir()] == []


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "the software entry of the hosts is not recorded"),
        (["--resume"], "no upgrade is unfinished"),
        (["--resume", "--from", "x.yaml"], "without --from"),
        (["--yes", "--resume"], "give one"),
        (["--max-failures", "101"], "between 0 and 100"),
    ],
)
def test_contradictions_are_refused(
    blueprint: Path, capsys: pytest.CaptureFixture[str], words: list[str], message: str
) -> None:
    assert main(["upgrade", str(blueprint), *words]) == 2
    assert message in capsys.readouterr().err


def test_configure_and_upgrade_do_not_go_on_with_each_other(
    blueprint: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = workspace(NAME)
    waves = (Wave(WaveKind.CANARY, "gpu-1, the first dgx-h100", ("gpu-1",)),)
    progress = RolloutProgress("change 1a", "1a", waves, {"gpu-1": "gpu-1"})
    save(progress, place.waves)
    assert main(["upgrade", str(blueprint), "--resume"]) == 2
    said = capsys.readouterr().err
    assert "the change 1a, is no upgrade" in said
    assert "rackwright configure … --resume" in said
    progress.change, progress.upgraded_from = "upgrade 2b", SoftwareRecord("22.05", ())
    save(progress, place.waves)
    assert main(["configure", str(blueprint), "--resume"]) == 2
    said = capsys.readouterr().err
    assert "the upgrade 2b, is an upgrade" in said
    assert "rackwright upgrade … --resume" in said


def test_hosts_of_an_unfinished_upgrade_are_taken_back(
    blueprint: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    new, old = with_driver(blueprint, NEW), with_driver(blueprint, OLD)
    place, former = workspace(NAME), record_of(load_plan(old).plan)
    save_record(place.software, former)
    waves = (
        Wave(WaveKind.CANARY, "gpu-1, the first dgx-h100", ("gpu-1",)),
        Wave(WaveKind.COMPUTE, "rack c01", ("gpu-2",)),
    )
    progress = RolloutProgress("upgrade 2b", "2b", waves, {})
    progress.upgraded_from, progress.upgraded_to = former, record_of(load_plan(new).plan)
    progress.pass_host("gpu-1")
    save(progress, place.waves)
    assert main(["upgrade", str(old)]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[0] == f"driver {NEW} → {OLD} on gpu-1: drained and rebooted"
    assert said[2] == "wave 1 of 1 (gpu-1, the first dgx-h100): 1 host, 1 rebooted"
