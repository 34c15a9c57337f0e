"""Runs of ``up`` that are killed at calls by which they change something, and the count of what exists in the end."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import time
import urllib.request
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path

import psutil

from aws_inventory import count_resources
from e2e.conftest import Lab
from rackwright_lab.embedded_aws import control
from rackwright_lab.embedded_aws.operations import Operation

VICTIMS = ("engine", "command", "server")
PATIENCE_S = 600
"""Seconds for which a call is held at most, and for which anything else is waited for."""
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
    """Return kills at ``count`` different places among the calls of a whole run, each victim's turn as often."""
    chance = random.Random(seed)
    places = sorted(chance.sample(range(calls), count))
    gaps = [place - before - 1 for before, place in zip([-1, *places], places, strict=False)]
    victims = list(islice(cycle(VICTIMS), count))
    chance.shuffle(victims)
    return [
        Kill(victim, gap, chance.random() < 0.7) for victim, gap in zip(victims, gaps, strict=True)
    ]


@dataclass(frozen=True)
class Whole:
    """A run that nobody killed: how many calls changed something, and what existed after it."""

    calls: int
    resources: Counter[str]


def live_whole(lab: Lab) -> Whole:
    """The run of a life in which nobody is killed."""
    lab.stacks("up", lab.blueprint(CLUSTER, **BUCKET), "--yes")
    changing = [name for name in lab.calls() if not Operation("", "", name).reads_only]
    return Whole(len(changing), count_resources(lab.client))


def held(endpoint: str) -> int:
    """How many calls the AWS server holds."""
    with urllib.request.urlopen(f"{endpoint}/rackwright/faults") as answer:
        return int(json.load(answer)["held"])


def quiet(lab: Lab) -> str:
    """Return the AWS server's address once it holds no call.

    A call whose caller was killed is released, and done all the same.
    """
    endpoint = lab.endpoint
    lab.clear_faults()
    deadline = time.monotonic() + PATIENCE_S
    while held(endpoint):
        assert time.monotonic() < deadline
        time.sleep(0.1)
    return endpoint


def kill(lab: Lab, process: subprocess.Popen[bytes], victim: str) -> None:
    """Kill one of the three; the others may finish their work, the held call included."""
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
    if victim != "server":
        lab.clear_faults()
    process.wait(timeout=PATIENCE_S)
    _gone, left = psutil.wait_procs(engines, timeout=PATIENCE_S)
    assert not left, "an engine stays behind"


def killed_up(lab: Lab, blueprint: Path, planned: Kill, log: Path) -> bool:
    """Whether an ``up`` was killed as planned; False where it was done before."""
    endpoint = quiet(lab)
    lab.inject(operation="*", skip=planned.skip, latency_s=PATIENCE_S, after=planned.after)
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


def live(lab: Lab, seed: int, kills: int, whole: Whole) -> None:
    """A life with as many kills, at whose end is what there is without them."""
    print(f"the seed of this life is {seed}")
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
