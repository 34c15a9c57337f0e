"""The program of elastic nodes, cut off at any call: no orphan, none twice, nothing ended that jobs use."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from elastic_fakes import KNOWN, Aws, KilledError, Slurm, load_program


@pytest.fixture
def program() -> ModuleType:
    return load_program()


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


def test_a_sweep_notes_the_instance_of_a_launch_whose_answer_is_lost(
    run: Any, aws: Aws, slurm: Slurm, program: ModuleType, tmp_path: Path
) -> None:
    """Its end had no reason of AWS: no one asked, as the journal named no instance."""
    slurm.state("train-3", to="ALLOCATED+POWERING_UP")
    aws.killed_after = True
    with pytest.raises(KilledError):
        run("resume", "train-3")
    aws.killed_after = False
    run("sweep")
    slurm.state("train-3", to="ALLOCATED")
    (instance,) = aws.instances
    journal = program.Journal(tmp_path)
    journal.launches["train-3"]["at"] = 0  # it was launched long ago
    journal.save()
    aws.instances[instance]["State"] = {"Name": "terminated"}
    aws.instances[instance]["StateReason"] = {"Message": "Server.InternalError"}
    run("sweep")
    assert f"{instance} has ended: Server.InternalError" in slurm.reasons["train-3"]


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


def test_a_spot_instance_with_notice_is_drained_and_its_jobs_are_queued_again(
    run: Any, aws: Aws, slurm: Slurm, monkeypatch: pytest.MonkeyPatch
) -> None:
    """H5: AWS takes it back two minutes later, whatever runs on it."""
    slurm.state("train-3", "train-4", to="ALLOCATED+POWERING_UP")
    run("resume", "train-3", "train-4")
    slurm.state("train-3", "train-4", to="ALLOCATED")
    aws.marked = {"i-1"}
    run("sweep")
    assert slurm.requeued == []

    monkeypatch.setitem(KNOWN, "spot", True)
    run("sweep")
    run("sweep")
    assert slurm.requeued == ["train-3"], "once for a notice"
    assert slurm.told["train-3"]["states"] == {"CLOUD", "ALLOCATED", "DRAIN"}
    assert slurm.told["train-3"]["reason"].endswith("AWS takes the spot instance back")
    assert slurm.told["train-4"]["states"] == {"CLOUD", "ALLOCATED"}

    # AWS has ended it, and Slurm had powered the node down meanwhile: jobs may have it again.
    aws.terminate_instances(["i-1"])
    slurm.state("train-3", to="IDLE+DRAIN+POWERED_DOWN")
    run("sweep")
    assert "DRAIN" not in slurm.told["train-3"]["states"]
    assert aws.living() == ["train-4"]


def test_a_drained_spot_node_whose_instance_ended_comes_back_after_its_pause(
    run: Any, aws: Aws, slurm: Slurm, program: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 1_000_000.0
    monkeypatch.setattr(program.time, "time", lambda: now)
    monkeypatch.setitem(KNOWN, "spot", True)
    slurm.state("train-3", to="ALLOCATED+POWERING_UP")
    run("resume", "train-3")
    slurm.state("train-3", to="ALLOCATED")
    aws.marked = {"i-1"}
    run("sweep")
    aws.terminate_instances(["i-1"])
    now += 400
    run("sweep")
    assert "DOWN" in slurm.told["train-3"]["states"]
    assert "has ended" in slurm.reasons["train-3"]
    now += 60
    run("sweep")
    assert slurm.told["train-3"]["states"] == {"CLOUD", "IDLE", "POWERING_DOWN"}


def test_instance_that_fails_a_status_check_is_replaced_and_its_job_is_queued_again(
    run: Any, aws: Aws, slurm: Slurm, program: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A broken instance stayed, and was paid for, until somebody looked."""
    now = dt.datetime(2026, 3, 1, tzinfo=dt.UTC)
    clock = [now.timestamp()]
    monkeypatch.setattr(program.time, "time", lambda: clock[0])
    slurm.state("train-3", "train-4", to="ALLOCATED+POWERING_UP")
    run("resume", "train-3", "train-4")
    slurm.state("train-3", "train-4", to="ALLOCATED")
    aws.impaired = {"i-1": now - dt.timedelta(seconds=program.ILL_S - 1)}
    run("sweep")
    assert "DOWN" not in slurm.told["train-3"]["states"], "it may be a reboot"

    clock[0] += 1
    run("sweep")
    assert slurm.reasons["train-3"].endswith("EC2's check of the host of AWS of i-1 fails")
    assert aws.living() == ["train-4"]
    clock[0] += program.FIRST_PAUSE_S
    run("sweep")
    assert slurm.told["train-3"]["states"] == {"CLOUD", "IDLE", "POWERING_DOWN"}


def test_node_that_its_health_check_drained_gets_another_instance_once_its_jobs_have_ended(
    run: Any, aws: Aws, slurm: Slurm
) -> None:
    slurm.state("train-3", "train-4", to="ALLOCATED+POWERING_UP")
    run("resume", "train-3", "train-4")
    slurm.state("train-3", "train-4", to="ALLOCATED+DRAIN")
    slurm.told["train-3"]["reason"] = "node health: 7 of 8 accelerators"
    slurm.told["train-4"]["reason"] = "the operator looks at it"
    run("sweep")
    assert aws.living() == ["train-3", "train-4"]

    slurm.state("train-3", "train-4", to="IDLE+DRAIN")
    run("sweep")
    assert aws.living() == ["train-4"], "an operator's drain is left alone"
    assert slurm.told["train-3"]["states"] == {"CLOUD", "IDLE", "POWERING_DOWN"}


def test_replacements_end_at_the_budgets_of_an_hour_and_of_a_week(
    run: Any, aws: Aws, slurm: Slurm, program: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = dt.datetime(2026, 3, 1, tzinfo=dt.UTC)
    clock = [now.timestamp()]
    monkeypatch.setattr(program.time, "time", lambda: clock[0])
    nodes = [f"train-{number}" for number in range(3, 8)]
    slurm.state(*nodes, to="ALLOCATED+POWERING_UP")
    run("resume", *nodes)
    slurm.state(*nodes, to="ALLOCATED")
    aws.impaired = dict.fromkeys(aws.instances, now - dt.timedelta(hours=1))
    run("sweep")
    assert aws.living() == ["train-6", "train-7"], "three within an hour"
    clock[0] += program.HOUR_S
    run("sweep")
    assert aws.living() == []

    aws.impaired = {}
    for survives in (False, True):
        slurm.state("train-3", to="ALLOCATED+POWERING_UP")
        run("resume", "train-3")
        slurm.state("train-3", to="ALLOCATED")
        (one,) = (i for i, each in aws.instances.items() if each["State"]["Name"] == "running")
        aws.impaired = {one: now}
        clock[0] += 2 * program.HOUR_S
        run("sweep")
        assert (aws.living() == ["train-3"]) is survives, "the third of one node within a week"
    clock[0] += program.WEEK_S
    run("sweep")
    assert aws.living() == []
