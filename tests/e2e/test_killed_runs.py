"""Runs that are killed anywhere: the next goes on, nothing is made twice and nothing is forgotten.

Each life is an AWS of its own, in which ``up`` is killed at several of the calls by which it changes
something: the engine, the command or the AWS server, before the call is done or before its answer is
heard. Then ``up`` completes, and what exists is counted against a run that nobody killed. The places
come from a seed that is printed; ``RACKWRIGHT_SEED`` repeats it.
"""

from __future__ import annotations

import json
import os
import random
import secrets
import signal
import subprocess
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

from aws_inventory import count_resources
from e2e.conftest import Lab
from rackwright.embedded_aws import control
from rackwright.embedded_aws.operations import Operation

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(3600)]

SEED = int(os.environ.get("RACKWRIGHT_SEED") or secrets.randbelow(1_000_000))
VICTIMS = ("engine", "command", "server")
HELD_S = 20
"""How long the call is held at which somebody is killed."""
PATIENCE_S = 600
CLUSTER = "killed"
BUCKET = {
    "mount: /scratch": "mount: /scratch\n"
    "        data_repositories: [{bucket: 'killed-{account}', path: /data}]"
}
"""A bucket with its settings, linked to the file system."""


@dataclass(frozen=True)
class Kill:
    """Who is killed, and at which call.

    Attributes:
        skip: calls that change something and pass before it.
        after: the call is done, and its answer held; else it is held before.
    """

    victim: str
    skip: int
    after: bool


def plan_kills(seed: int, count: int, calls: int) -> list[Kill]:
    """Kills at ``count`` different places among the calls of a whole run."""
    chance = random.Random(seed)
    places = sorted(chance.sample(range(calls), count))
    gaps = [place - before - 1 for before, place in zip([-1, *places], places, strict=False)]
    return [Kill(chance.choice(VICTIMS), gap, chance.random() < 0.7) for gap in gaps]


def start_life(folder: Path) -> Lab:
    folder.mkdir()
    return Lab(folder)


def end_life(lab: Lab) -> None:
    control.stop(lab.folder / "state/local/embedded-aws")


@dataclass(frozen=True)
class Whole:
    """A run that nobody killed: how many calls changed something, and what existed after it."""

    calls: int
    resources: Counter[str]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Whole]:
    lab = start_life(tmp_path_factory.mktemp("whole") / "life")
    try:
        lab.stacks("up", lab.blueprint(CLUSTER, **BUCKET), "--yes")
        changing = [name for name in lab.calls() if not Operation("", "", name).reads_only]
        yield Whole(len(changing), count_resources(lab.client))
    finally:
        end_life(lab)


def held(endpoint: str) -> int:
    """How many calls the AWS server holds."""
    with urllib.request.urlopen(f"{endpoint}/rackwright/faults") as answer:
        return int(json.load(answer)["held"])


def quiet(lab: Lab) -> str:
    """The AWS server's address, once it holds no call: one whose caller was killed is done all the same."""
    endpoint = lab.endpoint
    deadline = time.monotonic() + PATIENCE_S
    while held(endpoint):
        assert time.monotonic() < deadline
        time.sleep(0.5)
    lab.clear_faults()
    return endpoint


def kill(lab: Lab, process: subprocess.Popen[bytes], victim: str) -> None:
    """Kill one of the three; who is left may end what it does."""
    engines = [one for one in psutil.Process(process.pid).children(True) if one.name() == "pulumi"]
    if victim == "server":
        running = control.status(lab.folder / "state/local/embedded-aws")
        assert running is not None
        os.kill(running.pid, signal.SIGKILL)
    elif victim == "engine" and engines:
        for engine in engines:
            with suppress(ProcessLookupError):
                os.kill(engine.pid, signal.SIGKILL)
    else:
        process.kill()
    process.wait(timeout=PATIENCE_S)
    _gone, left = psutil.wait_procs(engines, timeout=PATIENCE_S)
    assert not left, "an engine stays behind"


def killed_up(lab: Lab, blueprint: Path, planned: Kill, log: Path) -> bool:
    """Whether an ``up`` was killed as planned; False where it was done before."""
    endpoint = quiet(lab)
    lab.inject(operation="*", skip=planned.skip, latency_s=HELD_S, after=planned.after)
    command = lab.command("up", blueprint, "--target", "local", "--yes")
    with (
        log.open("w") as output,
        subprocess.Popen(
            command, env=lab.environment, stdout=output, stderr=subprocess.STDOUT
        ) as process,
    ):
        try:
            deadline = time.monotonic() + PATIENCE_S
            while process.poll() is None and not held(endpoint):
                assert time.monotonic() < deadline, log.read_text()
                time.sleep(0.1)
            if process.poll() is not None:
                assert process.returncode == 0, log.read_text()
                return False
            kill(lab, process, planned.victim)
        finally:
            process.kill()
    assert process.returncode in {4, -signal.SIGKILL}, log.read_text()
    assert "Traceback" not in log.read_text(), log.read_text()
    return True


def test_places_are_repeated_by_their_seed() -> None:
    kills = plan_kills(7, 5, 60)
    assert kills == plan_kills(7, 5, 60)
    assert kills != plan_kills(8, 5, 60)
    assert sum(one.skip + 1 for one in kills) <= 60
    assert {one.victim for n in range(20) for one in plan_kills(n, 5, 60)} == set(VICTIMS)


def live(lab: Lab, seed: int, kills: int, whole: Whole) -> None:
    """A life with as many kills, at whose end is what there is without them."""
    print(f"RACKWRIGHT_SEED={SEED}, here {seed}")
    blueprint = lab.blueprint(CLUSTER, **BUCKET)
    done = []
    for number, planned in enumerate(plan_kills(seed, kills, whole.calls)):
        print(planned)
        if killed_up(lab, blueprint, planned, lab.folder / f"{number}.log"):
            done.append(planned)
    print(f"{len(done)} of {kills} places were reached before all was done")
    assert done, f"seed {seed}: no run was killed"
    quiet(lab)
    lab.stacks("up", blueprint, "--yes")
    assert count_resources(lab.client) == whole.resources, f"seed {seed}: {done}"
    again = lab.stacks("up", blueprint, "--yes")
    assert [stack["changes"] for stack in again.values()] == [{}, {}, {}], f"seed {seed}: {done}"


@pytest.fixture
def alive(tmp_path: Path) -> Iterator[Lab]:
    lab = start_life(tmp_path / "life")
    yield lab
    end_life(lab)


def test_a_run_killed_at_three_places_makes_nothing_twice_and_forgets_nothing(
    alive: Lab, whole: Whole
) -> None:
    live(alive, SEED, 3, whole)


@pytest.mark.parametrize("life", range(1, 11))
def test_fifty_places_make_nothing_twice_and_forget_nothing(
    alive: Lab, whole: Whole, life: int
) -> None:
    # Of six places the last is sometimes not reached: what runs beside a held call is done.
    live(alive, SEED + life, 6, whole)
