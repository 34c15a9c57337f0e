"""Checkpoints in the background, over ports of the hosts and of adapters: the time that they cost, and the advice."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from cli_support import run_here
from rackwright.plan.load import load_plan
from rackwright.plan.reliability.failures import (
    DAY,
    daly_interval,
    effective_time,
    longest_restart,
)
from rackwright.plan.workload.changes import changes
from rackwright.plan.workload.prediction import Prediction
from rackwright.policy.api import Outcome
from rackwright.policy.check import check_blueprint
from rackwright.policy.packs.loader import builtin_pack
from rackwright.report.prediction import facts
from unit.plan.workload.test_storage import CHECKPOINTS, DRAIN, PARAMETERS, predicted

FIXTURES = builtin_pack() / "fixtures"
RATE = 64 * 6.5e-3
"""Failures of the fixture's job in a day."""
COPY = 14 * PARAMETERS / (512 * 48e9)
BEHIND = {"checkpoint_stall": None, "async_save": True}


def result(folder: Path, rule: str) -> Any:
    """Return what a rule finds in the blueprint that ``predicted`` has written."""
    (found,) = check_blueprint(folder / "blueprint.yaml", only=(rule,)).results
    return found


def unmet(prediction: Prediction) -> str:
    return "; ".join(text for name, text in facts(prediction, None) if name == "not counted")


def test_a_failure_during_the_writing_costs_the_interval_before_it_as_well(tmp_path: Path) -> None:
    found = predicted(tmp_path, CHECKPOINTS, profile={**BEHIND, "checkpoint_interval": "10 min"})
    expected = effective_time(RATE, 600 + DRAIN, 600, COPY)
    assert found.effective == pytest.approx(expected, rel=1e-6)
    assert expected < effective_time(RATE, 600, 600, COPY) - 4e-4


def test_storage_writes_after_a_stated_stall_of_asynchronous_checkpoints(tmp_path: Path) -> None:
    """``async_save`` beside ``checkpoint_stall`` did nothing."""
    stated = {"checkpoint_stall": "30 s", "async_save": True}
    found = predicted(tmp_path, CHECKPOINTS, profile={**stated, "checkpoint_interval": "10 min"})
    assert found.effective == pytest.approx(effective_time(RATE, 600 + DRAIN, 600, 30), rel=1e-6)
    short = predicted(tmp_path, CHECKPOINTS, profile={**stated, "checkpoint_interval": "60 s"})
    assert short.lost is not None
    stall = 30 + DRAIN - 60
    assert short.lost.checkpoints == pytest.approx(stall / (60 + stall), rel=1e-3)
    assert short.effective == pytest.approx(effective_time(RATE, 660, 60, stall), rel=1e-3)


@pytest.mark.parametrize("rule", ["PERF-004", "REL-002"])
def test_a_stated_stall_without_a_rate_of_the_writing_is_unknown(tmp_path: Path, rule: str) -> None:
    stated = {"checkpoint_stall": "30 s", "async_save": True}
    found = predicted(tmp_path, profile=stated)
    lacks = "one file system of 'sjc1' with a write throughput whose workload has a 'checkpoint'"
    assert f"writing of checkpoints in the background: unknown without {lacks}" in unmet(found)
    unknown = result(tmp_path, rule)
    assert (unknown.outcome, unknown.missing) == (Outcome.UNKNOWN, (lacks,))
    predicted(tmp_path, profile={**stated, "checkpoint_interval": "10 s"})
    assert result(tmp_path, rule).outcome is Outcome.FAIL  # too often, however fast storage is
    predicted(tmp_path, CHECKPOINTS, profile=stated)
    assert result(tmp_path, rule).outcome is Outcome.PASS


def test_a_stall_without_a_workload_of_the_job_is_unknown_if_storage_writes_after_it(
    tmp_path: Path,
) -> None:
    predicted(
        tmp_path,
        CHECKPOINTS,
        profile={"checkpoint_stall": "30 s", "async_save": True},
        job={"job": None},
    )
    unknown = result(tmp_path, "REL-002")
    assert unknown.outcome is Outcome.UNKNOWN
    assert unknown.missing == ("a workload of the job, for the size of its checkpoints",)


@pytest.mark.parametrize(
    ("profile", "told", "not_told"),
    [
        ({"checkpoint_interval": "15 s"}, "shorten 'restart', or set 'checkpoint_interval' to", "set 'async_save: true', or"),
        ({"checkpoint_interval": "15 s"}, "'checkpoint_stall' to the time of the copies alone", "–"),
        ({"checkpoint_stall": None, "checkpoint_interval": "4 min"}, "set 'async_save: true'", "copies"),
        ({**BEHIND, "checkpoint_interval": "15 s"}, "'checkpoint_interval' to 2.15 min", "async"),
        ({"async_save": True, "checkpoint_interval": "15 s"}, "'checkpoint_interval' to", "async"),
    ],
)  # fmt: skip
def test_lost_time_is_reduced_by_fields_with_their_values(
    tmp_path: Path, profile: dict[str, Any], told: str, not_told: str
) -> None:
    """``async_save`` was advised where it was set, or had no effect."""
    predicted(tmp_path, CHECKPOINTS, profile=profile)
    failed = result(tmp_path, "PERF-004")
    assert failed.outcome is Outcome.FAIL
    assert told in failed.fix
    assert not_told not in failed.fix


def test_effective_time_is_that_of_the_prediction(tmp_path: Path) -> None:
    """REL-002 was unknown where PERF-004 and the prediction were not."""
    found = predicted(tmp_path, CHECKPOINTS, profile=BEHIND)
    assert found.effective is not None
    passed = result(tmp_path, "REL-002")
    assert passed.outcome is Outcome.PASS
    assert passed.value == pytest.approx(100 * found.effective)
    predicted(tmp_path, profile={**BEHIND, "restart": None})
    unknown = result(tmp_path, "REL-002")
    other = "one file system of 'sjc1' with a write throughput whose workload has a 'checkpoint'"
    stall = f"'checkpoint_stall' of the job 'pretrain', or {other}"
    assert unknown.missing == ("'restart' of the job", stall)


def test_remedy_of_effective_time_counts_the_writing_in_the_background(tmp_path: Path) -> None:
    """Storage writes for 198 s: the restart has to be that much faster, and no interval is shorter."""
    drain = 2 * DRAIN
    slow = {"servers": "dgx", "count": 2, "target_write": "2.5 GB/s", "server_write": "5 GB/s"}
    half = {**CHECKPOINTS, "objects": slow}
    predicted(tmp_path, half, profile={**BEHIND, "target": "99.7 %"})
    text = result(tmp_path, "REL-002").fix
    longest = longest_restart(RATE, 0.997, drain, COPY) - drain
    assert text.startswith(f"write a checkpoint every {drain / 60:.2f} min and restart within ")
    assert float(text.split("within ")[1].split(" min")[0]) == pytest.approx(longest / 60, abs=6e-3)
    predicted(tmp_path, half, profile={**BEHIND, "target": "99.9 %"})
    most = 100 * effective_time(RATE, drain, drain, COPY)
    text = result(tmp_path, "REL-002").fix
    assert text.startswith("write checkpoints faster, or use fewer hosts: at best")
    assert float(text.split("at best ")[1].split(" %")[0]) == pytest.approx(most, abs=6e-3)


def small(folder: Path, **attached: Any) -> Prediction:
    """Return the prediction of a job on one host, before a file system that is written at 120 GB/s."""
    document = yaml.safe_load((FIXTURES / "storage.yaml").read_text(encoding="utf-8"))
    (site,) = document["sites"]
    site["fabrics"][0]["attached"] = [{"group": "dgx", "rails": False, **attached}]
    document["reliability"] = {
        "node_failures_per_1000_days": 6.5,
        "jobs": [
            {"name": "small", "parts": [{"site": "sjc1", "group": "dgx", "hosts": 1}], "restart": "10 min",
             "checkpoint_interval": "60 min"}
        ],
    }  # fmt: skip
    document["workloads"] = [
        {"name": "small", "model": "llama3.1-8b", "site": "sjc1", "group": "dgx", "hosts": 1,
         "sequence": 8192, "batch": "1048576 tokens", "job": "small"}
    ]  # fmt: skip
    path = folder / "blueprint.yaml"
    path.write_text(yaml.safe_dump(document))
    (found,) = load_plan(path).plan.predictions
    return found


def test_ports_of_the_hosts_limit_the_writing_of_checkpoints(tmp_path: Path) -> None:
    """One host with 2 × 10 Gbps was to write 120 GB/s."""
    found = small(tmp_path, interfaces=2, rate="10 Gbps")
    assert found.lost is not None
    size = 14 * 8.03e9
    assert found.lost.writing.blocking == pytest.approx(size / 2.5e9, rel=1e-3)
    wide = small(tmp_path, interfaces=2, rate="800 Gbps")
    assert wide.lost is not None
    assert wide.lost.writing.blocking == pytest.approx(size / 120e9, rel=1e-3)


def test_ports_of_unknown_rate_leave_reads_and_checkpoints_unknown(tmp_path: Path) -> None:
    """They were skipped, as if the file system alone limited the job."""
    found = small(tmp_path, interfaces=2, ports="management")
    assert found.reads is not None
    assert found.reads.rate is None
    (missing,) = found.reads.missing
    assert missing == "rate of the ports of 'dgx' on the fabric 'storage'"
    assert found.lost is None
    place = ("reliability", "jobs", 0, "checkpoint_stall")
    assert found.lacking == (
        (f"'checkpoint_stall' of the job 'small', or {missing}", place),
    )  # fmt: skip


def test_a_job_without_progress_is_told_the_fields_by_which_it_makes_some(tmp_path: Path) -> None:
    """Gains were counted for jobs alone that make progress anyway."""
    rare = {"checkpoint_stall": None, "checkpoint_interval": "15 d", "restart": "10 d"}
    found = predicted(tmp_path, CHECKPOINTS, profile=rare)
    assert found.effective == 0
    (change,) = (one for one in changes(found) if one.path[-1] == "checkpoint_interval")
    better = effective_time(RATE, 10 * DAY, daly_interval(DRAIN, DAY / RATE), DRAIN)
    assert change.gain == pytest.approx(better / 1e-3 - 1, rel=1e-3)
    ended = run_here(tmp_path, "predict", "blueprint.yaml")
    assert f"at least +{change.gain:.1%} tokens: reliability.jobs.pretrain.checkpoint" in ended.out


def test_an_adapter_has_no_checkpoint_that_follows_from_its_model(tmp_path: Path) -> None:
    """A file system with a 'checkpoint' was asked for, which changes nothing; the place was the workload's job."""
    found = predicted(
        tmp_path, CHECKPOINTS, profile={"checkpoint_stall": None}, job={"task": "lora"}
    )
    text = "'checkpoint_stall' of the job 'pretrain' (the size of an adapter is unknown)"
    assert found.lacking == ((text, ("reliability", "jobs", 0, "checkpoint_stall")),)
    stated = predicted(tmp_path, profile={"async_save": True}, job={"task": "lora"})
    assert stated.lost is not None
    assert stated.lost.writing.missing == ()


def test_times_of_checkpoints_are_plain_numbers(tmp_path: Path) -> None:
    """5,670 s were told as 5.67e+03 s."""
    slow = {"servers": "dgx", "count": 2, "target_write": "80 MB/s", "server_write": "80 MB/s"}
    found = predicted(tmp_path, {**CHECKPOINTS, "objects": slow}, profile=BEHIND)
    text = dict(facts(found, None))["checkpoints"]
    assert f" {14 * PARAMETERS / 160e6:,.0f} s of writing" in text
    assert "e+" not in text
    rare = predicted(tmp_path, CHECKPOINTS, profile={"checkpoint_interval": "1 d"})
    (change,) = (one for one in changes(rare) if one.path[-1] == "checkpoint_interval")
    assert change.what.startswith("a checkpoint each 1,440 min → ")
