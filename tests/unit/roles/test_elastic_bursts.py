"""Bursts of the program of elastic nodes: who is let in, what it costs, and a program that is killed 20 times."""

from __future__ import annotations

import datetime as dt
import os
import random
import time
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from elastic_fakes import KNOWN, Aws, KilledError, Slurm, load_program

NOW = dt.datetime(2026, 11, 10, 12, tzinfo=dt.UTC).timestamp()
HOUR = 3600.0
BURST: dict[str, Any] = {
    "partition": "gpu",
    "into": "gpu-burst",
    "site": "cloud",
    "group": "train",
    "nodes": 4,
    "wait_s": 600,
    "budget": 1000.0,
    "per_hour": 10.0,
    "boot_s": 600,
    "idle_s": 300,
}
BURST_NODES = [f"train-{number}" for number in range(3, 7)]


@dataclass
class Clock:
    """A clock that a test moves."""

    now: float = NOW

    def time(self) -> float:
        return self.now

    def __getattr__(self, name: str) -> Any:
        return getattr(time, name)


class TimedAws(Aws):
    """EC2 with times of launches, and of ends."""

    def __init__(self, clock: Clock) -> None:
        super().__init__()
        self.clock = clock
        self.times: dict[str, list[float]] = {}

    def run_instances(self, **asked: Any) -> dict[str, Any]:
        self.instances_before = set(self.instances)
        try:
            return super().run_instances(**asked)
        finally:
            for one in set(self.instances) - self.instances_before:
                self.times[one] = [self.clock.now]
                at = dt.datetime.fromtimestamp(self.clock.now, dt.UTC)
                self.instances[one]["LaunchTime"] = at

    def terminate_instances(self, InstanceIds: list[str]) -> None:  # noqa: N803
        for one in InstanceIds:
            super().terminate_instances([one])
            self.times[one].append(self.clock.now)

    def dollars(self) -> float:
        """Return what AWS asks for until now."""
        ran = sum(
            (one[1] if len(one) > 1 else self.clock.now) - one[0] for one in self.times.values()
        )
        return ran / HOUR * float(BURST["per_hour"])


@dataclass
class QueuedJob:
    """A job of the fake queue."""

    number: int
    nodes: int
    limit_s: float
    submitted: float
    partitions: list[str] = field(default_factory=lambda: ["gpu"])
    state: str = "PENDING"
    reason: str = "Resources"
    began: float | None = None
    on: list[str] = field(default_factory=list)


class Queue(Slurm):
    """A queue whose own partition is full: only hosts of the burst take jobs."""

    def __init__(self, program: ModuleType, clock: Clock) -> None:
        super().__init__()
        self.program, self.clock = program, clock
        self.queue: list[QueuedJob] = []
        self.done: list[int] = []
        self.idle_since: dict[str, float] = {}

    def jobs(self) -> list[Any]:
        return [self.program.Job(*self._words(one)) for one in self.queue]

    def _words(self, job: QueuedJob) -> list[str]:
        def text(seconds: float) -> str:
            minutes, rest = divmod(int(seconds), 60)
            hours, minutes = divmod(minutes, 60)
            return f"{hours // 24}-{hours % 24:02d}:{minutes:02d}:{rest:02d}"

        used = 0.0 if job.began is None else self.clock.now - job.began
        eligible = time.strftime("%Y-%m-%dT%H:%M:%S", time.localtime(job.submitted))
        limit = "UNLIMITED" if job.limit_s == float("inf") else text(job.limit_s)
        places = ",".join(job.partitions if job.state == "PENDING" else ["gpu-burst"])
        return [str(job.number), "N/A", job.state, places, str(job.nodes), limit, text(used), eligible, eligible, job.reason]  # fmt: skip

    def send(self, job: Any, partitions: list[str]) -> None:
        next(one for one in self.queue if str(one.number) == job.name).partitions = partitions

    def free(self) -> list[str]:
        busy = {name for job in self.queue for name in job.on}
        return [
            name
            for name in BURST_NODES
            if name not in busy and "DOWN" not in self.told[name]["states"]
        ]


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def program(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.setattr(os, "fsync", lambda _: None)  # the machine is not lost, the program is
    module = load_program()
    module.__dict__["time"] = clock
    return module


@pytest.fixture
def aws(clock: Clock) -> TimedAws:
    return TimedAws(clock)


@pytest.fixture
def queue(program: ModuleType, clock: Clock) -> Queue:
    return Queue(program, clock)


@pytest.fixture
def run(program: ModuleType, aws: TimedAws, queue: Queue, tmp_path: Path) -> Any:
    """Run a job as a process of its own does, which reads the journal again; with other terms, if wanted."""

    def job(name: str, *nodes: str, **terms: Any) -> None:
        journal = program.Journal(tmp_path)
        bursts = [program.Burst({**BURST, **terms}, queue, journal)]
        elastic = program.Elastic([program.Site(KNOWN, aws.client)], queue, journal, bursts)
        getattr(elastic, name)(*([list(nodes)] if name != "sweep" else []))

    return job


def test_jobs_that_waited_are_let_in_the_eldest_first_as_far_as_there_are_hosts(
    run: Any, queue: Queue
) -> None:
    for number, waited in ((1, 700), (2, 5000), (3, 900), (4, 30)):
        queue.queue.append(QueuedJob(number, 2, HOUR, NOW - waited))
    run("sweep")
    let_in = [job.number for job in queue.queue if "gpu-burst" in job.partitions]
    assert let_in == [2, 3], "four hosts; the fourth job has not waited"


def test_jobs_of_one_second_are_let_in_in_the_order_of_their_numbers(
    run: Any, queue: Queue
) -> None:
    """A real squeue lists the jobs of one second with the last one first."""
    for number in (11, 10, 9, 8):
        queue.queue.append(QueuedJob(number, 2, HOUR, NOW - 700))
    run("sweep")
    let_in = {job.number for job in queue.queue if "gpu-burst" in job.partitions}
    assert let_in == {8, 9}
    run("sweep", budget=40.0)
    let_in = {job.number for job in queue.queue if "gpu-burst" in job.partitions}
    assert let_in == {8}, "without room, the last goes back first"


@pytest.mark.parametrize(
    "changes",
    [
        {"reason": "Dependency"},
        {"reason": "JobHeldUser"},
        {"reason": "QOSMaxNodePerUserLimit"},
        {"partitions": ["cpu"]},
        {"limit_s": float("inf")},
        {"limit_s": 101 * HOUR},
        {"nodes": 5},
    ],
)
def test_jobs_that_hosts_or_money_would_not_help_stay(
    run: Any, queue: Queue, changes: dict[str, Any]
) -> None:
    terms = {"nodes": 1, "limit_s": HOUR, **changes}
    queue.queue.append(QueuedJob(number=1, submitted=NOW - HOUR, **terms))
    run("sweep")
    assert "gpu-burst" not in queue.queue[0].partitions


def test_a_name_that_looks_like_fields_of_a_job_is_none_of_them(program: ModuleType) -> None:
    """No field that the program asks for has a user's own words."""
    names = [one.partition(":")[0] for one in program.JOB_FIELDS.split(",")]
    assert not {"Name", "Comment", "Command", "WorkDir", "AdminComment"} & set(names)


def test_a_task_of_an_array_is_sent_alone(program: ModuleType) -> None:
    words = [
        "7",
        "3",
        "PENDING",
        "gpu",
        "2",
        "1:00:00",
        "0:00",
        "N/A",
        "2026-11-10T12:00:00",
        "Resources",
    ]
    job = program.Job(*words)
    assert (job.name, job.nodes, job.limit, job.waits) == ("7_3", 2, 3600, True)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("1-00:00:00", 86_400), ("2:03:04", 7384), ("5:06", 306), ("7", 420), ("UNLIMITED", None)],
)
def test_times_of_slurm_are_read(program: ModuleType, text: str, seconds: int | None) -> None:
    assert program.seconds_of(text) == seconds


def test_user_of_the_burst_partition_gets_no_host_beyond_the_budget(
    run: Any, aws: TimedAws, queue: Queue
) -> None:
    queue.queue.append(QueuedJob(1, 1, 200 * HOUR, NOW, ["gpu-burst"], "CONFIGURING"))
    queue.state("train-3", to="ALLOCATED+POWERING_UP")
    run("resume", "train-3")
    assert not aws.living()
    assert "the budget of 1,000 USD a month has no room" in queue.reasons["train-3"]


def test_a_lower_budget_takes_back_who_waits_and_ends_who_runs(
    run: Any, aws: TimedAws, queue: Queue, clock: Clock
) -> None:
    queue.queue.append(QueuedJob(1, 1, 10 * HOUR, NOW - HOUR))
    run("sweep")
    job = queue.queue[0]
    job.state, job.began, job.on = "CONFIGURING", clock.now, ["train-3"]
    queue.state("train-3", to="ALLOCATED+POWERING_UP")
    run("resume", "train-3")
    assert aws.living() == ["train-3"]
    queue.queue.append(QueuedJob(2, 1, HOUR, NOW - HOUR))
    run("sweep")
    assert "gpu-burst" in queue.queue[1].partitions
    clock.now += HOUR
    run("sweep", budget=10.5)
    assert queue.queue[1].partitions == ["gpu"]
    assert not aws.living()
    assert "DOWN" in queue.told["train-3"]["states"], "Slurm queues its job again"


def test_a_month_has_a_budget_of_its_own(
    run: Any, aws: TimedAws, queue: Queue, clock: Clock, program: ModuleType, tmp_path: Path
) -> None:
    queue.queue.append(QueuedJob(1, 1, 40 * HOUR, NOW - HOUR))
    queue.state("train-3", to="ALLOCATED+POWERING_UP")
    run("resume", "train-3")
    clock.now = dt.datetime(2026, 11, 30, 22, tzinfo=dt.UTC).timestamp()
    burst = program.Burst(BURST, queue, program.Journal(tmp_path))
    assert burst.spent(clock.now) == pytest.approx(10.0 * (20 * 24 + 10))
    clock.now += 4 * HOUR
    assert burst.spent(clock.now) == pytest.approx(10.0 * 2)
    del aws


@pytest.mark.parametrize("seed", range(3))
def test_20_kills_leave_no_orphan_and_keep_the_budget(
    run: Any, aws: TimedAws, queue: Queue, clock: Clock, seed: int
) -> None:
    """Five days of a queue with more work than the budget pays for; nothing waits for a program that was killed."""
    drawn = random.Random(seed)
    for number in range(80):
        limit = drawn.choice([1, 1, 2, 3]) * HOUR
        queue.queue.append(QueuedJob(number, drawn.choice([1, 1, 2, 4]), limit, NOW - HOUR))
    kills, passed = 0, 0.0

    def call(name: str, *nodes: str) -> None:
        nonlocal kills
        if kills < 20 and drawn.random() < 0.8:
            aws.calls_left = drawn.randint(0, 3)
            aws.killed_after = drawn.random() < 0.3
        try:
            run(name, *nodes)
        except KilledError:
            kills += 1
        finally:
            aws.calls_left, aws.killed_after = 10_000, False

    while clock.now < NOW + 5 * 24 * HOUR:
        clock.now += 600
        for job in list(queue.queue):
            if job.began is not None and clock.now - job.began >= job.limit_s:
                queue.queue.remove(job)
                queue.done.append(job.number)
                for name in job.on:
                    queue.state(name, to="IDLE")
                    queue.idle_since[name] = clock.now
            elif job.began is not None and any("DOWN" in queue.told[n]["states"] for n in job.on):
                job.state, job.began, job.on = "PENDING", None, []
        for name, since in list(queue.idle_since.items()):
            if clock.now - since >= BURST["idle_s"]:
                del queue.idle_since[name]
                queue.state(name, to="IDLE+POWERING_DOWN")
                call("suspend", name)
        for job in queue.queue:
            free = queue.free()
            if job.began is None and "gpu-burst" in job.partitions and len(free) >= job.nodes:
                job.state, job.began, job.on = "RUNNING", clock.now, free[: job.nodes]
                sleeping = [n for n in job.on if queue.idle_since.pop(n, None) is None]
                for name in job.on:
                    queue.state(
                        name, to="ALLOCATED+POWERING_UP" if name in sleeping else "ALLOCATED"
                    )
                if sleeping:
                    job.state = "CONFIGURING"
                    call("resume", *sleeping)
        call("sweep")
        for job in queue.queue:
            if job.state == "CONFIGURING":
                job.state = "RUNNING"
                for name in job.on:
                    queue.state(name, to="ALLOCATED")
        passed = max(passed, aws.dollars())
        assert passed <= BURST["budget"]
    for name in BURST_NODES:
        queue.state(name, to="IDLE+POWERING_DOWN")
    queue.queue.clear()
    run("sweep")
    assert aws.living() == []
    assert kills == 20
    assert queue.done, "some work was done"
    assert passed > 0.5 * BURST["budget"], "and the money was not left lying"
