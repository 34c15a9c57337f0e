"""The closed forms of lost time against a simulation, event by event, of hosts that fail and are repaired."""

from __future__ import annotations

import heapq
import random
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import assume, given
from hypothesis import strategies as st

from rackwright.plan.load import load_plan
from rackwright.plan.reliability.failures import (
    DAY,
    best_interval,
    effective_time,
    reach,
    waiting_time,
)
from rackwright.plan.storage.training import CheckpointWriting
from rackwright.plan.workload.run import effective_share
from rackwright.policy.packs.loader import builtin_pack


def simulated_effective_time(
    failures_a_day: float,
    restart: float,
    interval: float,
    stall: float,
    days: float,
    background: float = 0.0,
) -> float:
    """Return the share of ``days`` that a job spends on steps which are not repeated.

    It writes a checkpoint after each interval. A failure at any time, checkpoints and restarts included, costs all work since the
    last checkpoint, and a restart. Storage writes for ``background`` s after the stall: until then the checkpoint is lost with
    the host, and no other one begins.
    """
    draw = random.Random(20261127)
    now = kept = 0.0
    failure = draw.expovariate(failures_a_day / DAY)
    while now < days * DAY:
        usable = now
        while True:
            stopped = max(now + interval, usable)  # the one before is written
            now, usable = stopped + stall, stopped + stall + background
            if usable > failure:
                break
            kept += interval
        now = failure + restart
        failure += draw.expovariate(failures_a_day / DAY)
        while failure < now:  # one that strikes during the restart begins it again
            now, failure = failure + restart, failure + draw.expovariate(failures_a_day / DAY)
    return kept / now


@pytest.mark.parametrize(
    ("failures_a_day", "restart", "interval", "stall"),
    [
        (419 / 54, 300, 900, 5),  # as Llama 3 on 16,384 GPUs
        (2.0, 1200, 3600, 30),
        (0.4, 600, 3600, 120),
        (12.0, 120, 300, 2),
    ],
)
def test_effective_time_is_that_of_a_simulation(
    failures_a_day: float, restart: float, interval: float, stall: float
) -> None:
    closed = effective_time(failures_a_day, restart, interval, stall)
    found = simulated_effective_time(failures_a_day, restart, interval, stall, days=4000)
    assert found == pytest.approx(closed, abs=0.004)


@pytest.mark.parametrize(
    ("failures_a_day", "restart", "interval", "stall"),
    [(40.0, 600, 900, 5), (10.0, 0, 3600, 3600), (100.0, 600, 600, 60), (850.0, 60, 60, 5)],
)
def test_effective_time_is_that_of_a_simulation_where_failures_are_frequent(
    failures_a_day: float, restart: float, interval: float, stall: float
) -> None:
    """One failure in 2,160 to 102 s: the first order of the formula is 5 to 17 points away."""
    closed = effective_time(failures_a_day, restart, interval, stall)
    found = simulated_effective_time(failures_a_day, restart, interval, stall, days=2000)
    assert found == pytest.approx(closed, abs=0.004)
    rough = 1 - failures_a_day / DAY * (restart + interval / 2)
    assert abs(found - max(0.0, rough) / (1 + stall / interval)) > 0.05


@pytest.mark.parametrize(
    ("mttf", "restart", "interval", "stall", "background"),
    [
        (11_135, 600, 900, 0, 567),
        (3600, 600, 900, 0, 800),
        (3600, 300, 600, 0, 1200),
        (3600, 300, 600, 30, 400),
        (3600, 300, 600, 30, 900),
    ],
)
def test_effective_time_of_checkpoints_in_the_background_is_that_of_a_simulation(
    mttf: float, restart: float, interval: float, stall: float, background: float
) -> None:
    """A host that fails while a checkpoint is written takes the copy with it: up to 15 points were missing."""
    writing, rate = CheckpointWriting(stall, background), DAY / mttf
    closed = effective_share(writing, rate, restart, interval)
    found = simulated_effective_time(rate, restart, interval, stall, 2000, background)
    assert found == pytest.approx(closed, abs=0.006)
    assert effective_time(rate, restart, interval, writing.stall(interval)) > found + 0.03


@given(
    st.floats(0, 100), st.floats(0, 3600), st.floats(1, 200), st.floats(0.05, 20)
)  # fmt: skip
def test_no_interval_beats_the_best_one_by_much(
    stall: float, background: float, failures: float, factor: float
) -> None:
    assume(stall + background > 1e-3)  # the share of none is not defined
    writing = CheckpointWriting(stall, background)
    best = best_interval(stall, DAY / failures, background)
    assume(best * factor > stall)  # else it is as slow as a synchronous one
    most = effective_share(writing, failures, 600, best)
    assert effective_share(writing, failures, 600, best * factor) <= most + 1e-3


@given(
    st.floats(0, 0.99), st.floats(1, 200), st.floats(0, 7200), st.floats(0, 100), st.floats(1, 3600)
)
def test_the_remedy_of_checkpoints_in_the_background_reaches_the_target(
    target: float, failures: float, restart: float, stall: float, background: float
) -> None:
    writing = CheckpointWriting(stall, background)
    best = best_interval(stall, DAY / failures, background)
    assume(best > stall)
    found = reach(target, failures, restart, stall, background)
    if found is None:
        assert effective_share(writing, failures, 0, best) <= target + 1e-9
        return
    faster, interval = found
    assert 0 <= faster <= restart + 1e-6
    assert interval == best >= min(background, DAY / failures)
    assert effective_share(writing, failures, faster, interval) >= target - 1e-9


def simulated_waiting(hosts: int, rate: float, repair: float, spares: int, days: float) -> float:
    """Return the share of ``days`` in which more than ``spares`` of ``hosts`` are down.

    Args:
        hosts: that run, whatever is down: repairs go on beside each other.
        rate: failures of one host in a day.
        repair: time of one, in days, always the same.
        spares: hosts that stand by.
        days: simulated time.
    """
    draw = random.Random(20261127)
    now = waited = 0.0
    back: list[float] = []
    failure = draw.expovariate(hosts * rate)
    while now < days:
        then = min(failure, back[0] if back else failure)
        waited += (then - now) * (len(back) > spares)
        now = then
        if back and now == back[0]:
            heapq.heappop(back)
        else:
            heapq.heappush(back, now + repair)
            failure = now + draw.expovariate(hosts * rate)
    return waited / now


@pytest.mark.parametrize("spares", [0, 2, 4, 8])
def test_waiting_for_repairs_is_that_of_a_simulation(spares: int) -> None:
    mean = 512 * 6.5e-3 * 1.0  # 512 hosts, a day each
    found = simulated_waiting(512, 6.5e-3, 1.0, spares, days=20_000)
    assert found == pytest.approx(waiting_time(mean, spares), abs=0.012)


def simulated_job(
    hosts: int,
    spares: int,
    rate: float,
    repair: float,
    restart: float,
    interval: float,
    stall: float,
) -> tuple[float, float]:
    """Return the shares of the time that go to steps which are not repeated, and to waiting for hosts.

    Every host in service fails at the same rate, also one that stands by or whose job waits. A failure of a host of the job costs
    the work since the last checkpoint, and a restart, once there are hosts enough. Repairs take times of any length.

    Args:
        hosts: of the job.
        spares: that stand by.
        rate: failures of one host in service, in 1/s.
        repair: mean time of one, in s.
        restart: from a failure, or the end of the wait, to the first new step, in s.
        interval: of steps between checkpoints, in s.
        stall: of a checkpoint, in s.
    """
    draw = random.Random(20261128)
    now = kept = waited = since = 0.0
    ready = 0.0  # end of the restart
    back: list[float] = []
    for _ in range(60_000):
        failure = now + draw.expovariate((hosts + spares - len(back)) * rate)
        while True:  # until the failure: repairs end, and steps go on between them
            then = min(failure, back[0] if back else failure)
            if len(back) > spares:
                waited += then - now
                ready = then + restart
            else:
                worked = since + max(0.0, then - max(now, ready))
                rounds, since = divmod(worked, interval + stall)
                kept += rounds * interval
            now = then
            if then == failure:
                break
            heapq.heappop(back)
            # In service again, so the rate of failures is another one; it has no memory.
            failure = now + draw.expovariate((hosts + spares - len(back)) * rate)
        if draw.random() * (hosts + spares - len(back)) < hosts or len(back) >= spares:
            since, ready = 0.0, now + restart
        heapq.heappush(back, now + draw.expovariate(1 / repair))
    return kept / now, waited / now


@pytest.mark.parametrize(
    ("spares", "rate", "repair"),
    [(0, 0.0065, 0.5), (2, 0.0065, 1.0), (4, 0.02, 1.0), (12, 0.02, 3.0), (20, 0.05, 20.0)],
)
def test_failures_repairs_and_restarts_together_are_those_of_a_simulation(
    spares: int, rate: float, repair: float
) -> None:
    """The product of both closed forms, where spares run out and failures are frequent: within two points."""
    hosts, restart, interval, stall = 128, 1800.0, 3600.0, 60.0
    waits = waiting_time((hosts + spares) * rate * repair, spares, hosts + spares)
    closed = (1 - waits) * effective_time(hosts * rate, restart, interval, stall)
    kept, waited = simulated_job(hosts, spares, rate / DAY, repair * DAY, restart, interval, stall)
    assert waited == pytest.approx(waits, abs=0.02)
    assert kept == pytest.approx(closed, abs=0.02)


def test_hosts_that_are_down_do_not_fail() -> None:
    """Poisson counts 600 of 512 hosts as down on average, where half of them are."""
    assert waiting_time(600, 590, 600) == pytest.approx(0, abs=1e-12)
    assert waiting_time(600, 590) == pytest.approx(0.65, abs=0.01)
    assert waiting_time(3.0, 4, 10**9) == pytest.approx(waiting_time(3.0, 4))
    assert waiting_time(64 * 6.5e-3, 0, 64) == pytest.approx(1 - (1 + 6.5e-3) ** -64)


def test_more_spares_never_wait_longer_and_more_hosts_never_shorter() -> None:
    for mean in (0.01, 0.5, 3.0, 40.0, 1e6):
        shares = [waiting_time(mean, spares) for spares in range(20)]
        assert shares == sorted(shares, reverse=True)
        assert waiting_time(2 * mean, 3) >= waiting_time(mean, 3)
    assert waiting_time(1e12, 5) == 1.0
    assert waiting_time(0.5, 100) == 0.0


REPAIRS: dict[str, Any] = {"repair_time": "24 h"}


def predicted(folder: Path, hosts: int, **more: Any) -> Any:
    """Return the prediction of a job on some of 64 hosts, whose repair takes a time."""
    document = yaml.safe_load((builtin_pack() / "fixtures/workloads.yaml").read_text("utf-8"))
    document["reliability"] |= more
    document["workloads"][0] |= {"hosts": hosts}
    path = folder / "blueprint.yaml"
    path.write_text(yaml.safe_dump(document))
    (found,) = load_plan(path).plan.predictions
    return found


def test_a_job_on_all_hosts_waits_for_every_repair(tmp_path: Path) -> None:
    whole = predicted(tmp_path, 64, **REPAIRS)
    plain = predicted(tmp_path, 64)
    share = waiting_time(64 * 6.5e-3, 0, 64)
    assert plain.lost.repairs is None
    assert whole.lost.repairs == pytest.approx(share * plain.effective)
    assert whole.a_day.value == pytest.approx(plain.a_day.value * (1 - share))


def test_idle_hosts_of_the_group_and_stated_spares_stand_by(tmp_path: Path) -> None:
    stated = {"groups": [{"site": "sjc1", "group": "dgx", "spares": 4}]}
    waits = [
        predicted(tmp_path, 64, **REPAIRS).lost.repairs,
        predicted(tmp_path, 32, **REPAIRS).lost.repairs,
        predicted(tmp_path, 64, **REPAIRS, **stated).lost.repairs,
    ]
    assert waits[1] < 1e-9 < waits[2] < 0.01 < waits[0]
