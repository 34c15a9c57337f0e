"""What is done for each host of a fleet, in processor time: a fleet, and one twice as large.

How much work it is, and that it grows with the hosts, is counted in unit tests.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from bench.test_check import write
from rackwright.ansible_runs.host_patterns import hosts_of
from rackwright.ansible_runs.state import Live
from rackwright.inventory.inventory import build_inventory
from rackwright.model.names import expand_hostlist
from rackwright.plan.load import load_plan

pytestmark = pytest.mark.bench

FLEET = 12_500
RUNS = int(os.environ.get("RACKWRIGHT_BENCH_RUNS", "5"))


def names_of(count: int) -> list[str]:
    return [f"gpu-{number:06}" for number in range(count)]


def a_limit(count: int, _folder: Path) -> Callable[[], object]:
    hosts = frozenset(names_of(count))
    pattern = ",".join(hosts)
    return lambda: hosts_of(pattern, {"all": hosts})


def a_list(count: int, _folder: Path) -> Callable[[], object]:
    text = ",".join(names_of(count))
    return lambda: expand_hostlist(text)


def events(count: int, _folder: Path) -> Callable[[], object]:
    hosts = frozenset(names_of(count))
    begun = {"role": "base", "task": "Copy"}
    ended = [
        {"event": "runner_on_ok", "event_data": {"host": host, "role": "base", "task": "Copy"}}
        for host in hosts
    ]

    def take() -> None:
        live = Live(hosts, lambda _: hosts)
        live.take({"event": "playbook_on_play_start", "event_data": {"pattern": "all"}}, 0.0)
        live.take({"event": "playbook_on_task_start", "event_data": begun}, 0.0)
        for event in ended:
            live.take(event, 1.0)
        assert live.view(1.0).done == count

    return take


def an_inventory(count: int, folder: Path) -> Callable[[], object]:
    plan = load_plan(write(folder, count // 4)).plan
    return lambda: build_inventory(plan)


@pytest.mark.parametrize("make", [a_limit, a_list, events, an_inventory])
def test_twice_the_hosts(tmp_path: Path, make: Callable[[int, Path], Callable[[], object]]) -> None:
    medians = []
    for count in (FLEET, 2 * FLEET):
        call, taken = make(count, tmp_path), []
        for _ in range(RUNS):
            began = time.process_time()
            call()
            taken.append(time.process_time() - began)
        medians.append(statistics.median(taken))
    one, two = medians
    print(
        f"\n{make.__name__}: {FLEET:,} hosts {1000 * one:.0f} ms, twice as many {two / one:.1f} ×"
    )
