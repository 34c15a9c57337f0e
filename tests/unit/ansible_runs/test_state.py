"""How far a run is, told from events: those of a real run of ansible-runner are in ``recorded``."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from rackwright.ansible_runs.events import LAST_TASK, Tally, leave_behind
from rackwright.ansible_runs.host_patterns import hosts_of
from rackwright.ansible_runs.run import hosts_to_finish
from rackwright.ansible_runs.state import NAMED, Line, Live, View
from work import growth, steps_of

RECORDED = Path(__file__).parent / "recorded/live.jsonl"
GROUPS = {
    "all": ("head-1", "gpu-1", "höst-2", "gpu-3"),
    "head": ("head-1",),
    "compute": ("gpu-1", "höst-2", "gpu-3"),
}
FLEET = 12_500


def recorded() -> list[dict[str, Any]]:
    return [json.loads(line) for line in RECORDED.read_text(encoding="utf-8").splitlines()]


def live(groups: dict[str, tuple[str, ...]] | None = None) -> Live:
    known = GROUPS if groups is None else groups
    return Live(frozenset(known["all"]), lambda pattern: hosts_of(pattern, known))


def played(name: str, pattern: str) -> dict[str, Any]:
    return {"event": "playbook_on_play_start", "event_data": {"play": name, "pattern": pattern}}


def started(role: str, task: str) -> dict[str, Any]:
    return {"event": "playbook_on_task_start", "event_data": {"role": role, "task": task}}


def ended(kind: str, host: str, task: str = "Copy", **result: Any) -> dict[str, Any]:
    data = {"host": host, "role": "munge", "task": task, "res": result}
    return {"event": f"runner_on_{kind}", "event_data": data}


def feed(state: Live, events: Iterable[dict[str, Any]]) -> list[Line]:
    return [line for at, event in enumerate(events) for line in state.take(event, float(at))]


def test_a_recorded_run_is_told_from_begin_to_end() -> None:
    state = live()
    lines = feed(state, recorded())
    # Each event takes a second here.
    assert [line.text for line in lines] == [
        "What every host needs: begins on 4 hosts",
        "What every host needs: ends on 4 hosts after 9.0 s",
        "first: begins on 4 hosts",
        "gpu-3 failed: first / Check disks: no space on disk",
        "first: ends on 3 hosts after 39.0 s, 1 failed",
        "handlers: begins on 3 hosts",
        "handlers: ends on 3 hosts after 8.0 s",
        "second: begins on 2 hosts",
        "höst-2 failed: second / Set a password: failed; its output is kept secret",
        "second: ends on 1 host after 10.0 s, 1 failed",
        "The end: begins on 2 hosts",
        "The end: ends on 2 hosts after 5.0 s",
    ]
    assert [line.failure for line in lines].count(True) == 2
    view = state.view(100.0)
    assert (view.finished, view.hosts) == (2, 4)
    assert (view.failed, view.names) == (2, ("gpu-3", "höst-2"))
    assert (view.step, view.seconds) == ("", 100.0)


def test_nothing_secret_and_nothing_that_steers_a_terminal_is_told() -> None:
    state = live()
    told = " ".join(line.text for line in feed(state, recorded()))
    assert "hunter2" not in told
    assert "title" not in told
    assert told.isprintable()
    hostile = ended(
        "failed", "gpu\x1b[2J-1", "Co\x9dpy", msg="\x1b]8;;http://x\x1b\\no\u202e key\x07"
    )
    (line,) = state.take(hostile, 1.0)
    assert line.text == "gpu-1 failed: munge / Copy: no key"
    assert all(name.isprintable() for name in state.view(1.0).names)


def test_hosts_of_the_task_that_runs_are_counted() -> None:
    state = live()
    views: list[View] = []
    for event in (
        played("Jobs", "compute"),
        started("munge", "Copy"),
        ended("ok", "gpu-1"),
        ended("skipped", "höst-2"),
        ended("failed", "gpu-3", msg="x"),
        started("munge", "Start"),
        ended("ok", "gpu-1"),
    ):
        state.take(event, 1.0)
        views.append(state.view(1.0))
    assert [(view.done, view.total, view.failed) for view in views] == [
        (0, 0, 0),
        (0, 3, 0),
        (1, 3, 0),
        (2, 3, 0),
        (2, 3, 1),
        (0, 2, 1),
        (1, 2, 1),
    ]
    assert (views[-1].step, views[-1].task) == ("munge", "Start")


def test_to_decide_whether_a_role_is_run_is_no_step() -> None:
    decided = started("", "NCCL")
    decided["event_data"] |= {"play": "Jobs", "task_action": "ansible.builtin.include_role"}
    skipped = ended("skipped", "gpu-1", "NCCL")
    lines = feed(
        live(),
        [
            played("Jobs", "compute"),
            started("munge", "Copy"),
            decided,
            skipped,
            started("nccl", "Get"),
        ],
    )
    assert [line.begins or line.ends for line in lines] == ["munge", "munge", "nccl"]


def test_hosts_that_the_blueprint_does_not_know_are_counted_as_they_appear() -> None:
    state = live({"all": ()})
    feed(state, (started("munge", "Copy"), ended("ok", "a"), ended("ok", "b")))
    assert (state.view(0.0).done, state.view(0.0).total) == (2, 2)
    feed(state, (started("munge", "Start"), ended("ok", "a", LAST_TASK)))
    view = state.view(0.0)
    assert (view.done, view.total, view.finished, view.hosts) == (1, 2, 1, 1)


def test_the_same_hosts_have_failed_as_in_the_result() -> None:
    state, tally = live(), Tally()
    for event in recorded():
        state.take(event, 0.0)
        tally.take(event)
    leave_behind(tally)
    assert set(state.view(0.0).names) == set(tally.failed)


def fleet_events(hosts: tuple[str, ...], tasks: int) -> Iterator[dict[str, Any]]:
    yield played("Jobs", "all")
    for number in range(tasks):
        yield started(f"role-{number // 5}", f"task {number}")
        for index, host in enumerate(hosts):
            if index % 100 == 0 and number == 3:
                yield ended("failed", host, msg="x" * 5000)
            elif index % 100 or number < 3:
                yield ended("ok", host, f"task {number}")


def test_a_fleet_takes_little_memory() -> None:
    """As many hosts as a site of 100,000 GPUs has; what is kept does not grow with the tasks."""
    hosts = tuple(f"gpu-{number:05}" for number in range(FLEET))
    state = live({"all": hosts})
    sizes = []
    tracemalloc.start()
    try:
        for _ in range(2):
            for event in fleet_events(hosts, 6):
                state.take(event, 1.0)
            sizes.append(tracemalloc.get_traced_memory()[0])
    finally:
        tracemalloc.stop()
    assert sizes[1] - sizes[0] < 100_000
    assert sizes[1] < 16_000_000
    view = state.view(1.0)
    assert (view.failed, len(view.names), view.total) == (FLEET // 100, NAMED, FLEET - FLEET // 100)


def test_an_event_is_as_much_work_in_a_large_fleet() -> None:
    def feed_fleet(count: int) -> None:
        hosts = tuple(f"gpu-{number:05}" for number in range(count))
        state = live({"all": hosts})
        for event in fleet_events(hosts, 6):
            state.take(event, 1.0)

    assert growth(feed_fleet, 200) < 2.2


def test_a_view_is_as_much_work_of_a_large_fleet() -> None:
    def steps(count: int) -> int:
        hosts = tuple(f"gpu-{number:05}" for number in range(count))
        state = live({"all": hosts})
        for event in fleet_events(hosts, 6):
            state.take(event, 1.0)
        return steps_of(lambda: state.view(1.0))

    assert steps(100 * NAMED) == steps(200 * NAMED)


def test_the_hosts_of_a_run_are_those_of_the_last_play() -> None:
    groups = {
        "all": ("a", "b", "c", "power"),
        "slurm_hosts": ("a", "b"),
        "monitoring": ("c",),
        "other": ("power",),
    }
    assert hosts_to_finish(groups) == {"a", "b", "c"}
    assert hosts_to_finish(groups, "slurm_hosts:!a") == {"b"}
