"""A hall whose queue is long gets hosts on AWS, for as long as its jobs last and its budget goes.

A real slurmctld has a node of the hall and elastic ones, which are instances of an embedded AWS that the stacks have
provisioned; each gets a real slurmd, which goes with its instance. The program that launches them is killed 20 times.
"""

from __future__ import annotations

import json
import random
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from elastic_fakes import load_program
from elastic_hall import ElasticHall, age_failures, elastic_hall, kill, living, own_network
from rackwright.policy.packs.loader import builtin_pack

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(2400)]
MOST, BUDGET, JOBS = 3, 1000, 6
KILLS = {"launch": 7, "stop": 4, "second launch": 4, "end": 5}
HALL_NODE, HALL_ADDRESS = "hall-1", "10.20.200.1"
BURST_NODES = {f"train-{number}" for number in range(1, MOST + 1)}
WITHIN_S = 900


@pytest.fixture(scope="module", autouse=True)
def network() -> Iterator[None]:
    """Put what this module starts into a network of its own."""
    with own_network():
        yield


def a_hall_with_a_burst(lab: Any, name: str) -> ElasticHall:
    """Provision the site on AWS, and return the controller of the hall's cluster, which is not started yet."""
    cloud = lab.blueprint(name, **{"count: 2": f"count: {{min: 0, max: {MOST + 2}}}"})
    document = yaml.safe_load(cloud.read_text())
    del document["sites"][0]["file_systems"]
    cloud.write_text(yaml.safe_dump(document))
    lab.run("up", cloud, "--target", "local", "--yes")
    text = (builtin_pack() / "fixtures/federation.yaml").read_text(encoding="utf-8")
    own = yaml.safe_load(text)["sites"][0]
    own["node_groups"] = [{"name": "hall", "role": "compute", "type": "dgx-h100", "count": 1}]
    del own["addresses"]
    document |= {
        "derive": "1",
        "sites": [own, *document["sites"]],
        "scheduler": {
            "kind": "slurm",
            "version": "22.05",
            "controllers": [{"host": "head-1"}],
            "topology": {"plugin": "flat"},
            "configless": True,
            "partitions": [
                {
                    "name": "gpu",
                    "groups": ["hall"],
                    "default": True,
                    "default_time": "0-01:00:00",
                    "max_time": "1-00:00:00",
                }
            ],
        },
        "burst": [
            {
                "partition": "gpu",
                "to": "cloud/train",
                "max": MOST,
                "when": {"wait": "1 h"},
                "budget": f"{BUDGET} USD",
            }
        ],
    }
    whole: Path = lab.folder / f"{name}-whole.yaml"
    whole.write_text(yaml.safe_dump(document))
    hall = elastic_hall(lab, whole)
    hall.static, hall.within_s = {HALL_NODE: HALL_ADDRESS}, WITHIN_S
    return hall


def terms(hall: ElasticHall, **changes: Any) -> None:
    """Change what the program knows of the burst, as the role does after a change of the blueprint."""
    path = hall.folder / "elastic.json"
    known = json.loads(path.read_text())
    known["bursts"][0] |= changes
    part = path.with_suffix(".part")
    part.write_text(json.dumps(known))
    part.replace(path)


def submit(hall: ElasticHall) -> int:
    """Submit a job that ends when the test lets it, and says so once."""
    gate, done = hall.folder / "go", hall.folder / "done"
    script = f"until test -e {gate}; do sleep 1; done; echo $SLURM_JOB_ID >> {done}"
    words = ("--parsable", "-N1", "--exclusive", "-t60", "-o/dev/null", "-D/tmp")
    return int(hall.call("sbatch", *words, f"--wrap={script}"))


def places(hall: ElasticHall) -> dict[int, tuple[str, str]]:
    """Return partitions and state of each job that has not ended."""
    lines = hall.call("squeue", "--noheader", "--all", "--format=%A %P %T").splitlines()
    rows = (line.split() for line in lines)
    return {int(job): (partitions, state) for job, partitions, state in rows}


def let_in(hall: ElasticHall) -> set[int]:
    """Return the jobs that may go to AWS."""
    return {job for job, (partitions, _) in places(hall).items() if "gpu-burst" in partitions}


def on_aws(hall: ElasticHall) -> set[int]:
    """Return the jobs that run on AWS."""
    return {job for job, place in places(hall).items() if place == ("gpu-burst", "RUNNING")}


def ended(hall: ElasticHall) -> Counter[int]:
    """Return how often each job has come to its end."""
    path = hall.folder / "done"
    return Counter(int(line) for line in path.read_text().split()) if path.exists() else Counter()


def spent(hall: ElasticHall) -> float:
    """Return the dollars that the hosts have cost by the journal."""
    program = load_program()
    known = json.loads((hall.folder / "elastic.json").read_text())["bursts"][0]
    found: float = program.Burst(known, None, program.Journal(hall.folder / "elastic")).spent(
        time.time()
    )
    return found


def kill_each(hall: ElasticHall, lab: Any, phase: str, calls: int) -> None:
    """Kill the program some times, each after up to so many calls of AWS; no node has two instances at any time."""
    drawn = random.Random(f"55380 {phase}")
    for _ in range(KILLS[phase]):
        kill(hall, lab, drawn.randint(1, calls))
        assert max(living(lab).values(), default=1) == 1
        hall.join()


def test_a_queue_that_waits_gets_hosts_on_aws_and_20_kills_leave_none(lab: Any) -> None:
    assert sum(KILLS.values()) == 20
    hall = a_hall_with_a_burst(lab, "burst")
    sweep = [lambda: hall.run("sweep")]
    work = [*sweep, hall.join]
    with hall:
        hall.serve()
        hall.wait_for(lambda: hall.states("IDLE") >= {HALL_NODE}, "the node of the hall")
        submitted = [submit(hall) for _ in range(JOBS)]
        first, *waiting = submitted
        hall.wait_for(lambda: places(hall)[first][1] == "RUNNING", "a job on the node of the hall")
        hall.run("sweep")
        assert not let_in(hall), "no job has waited for an hour"
        assert not living(lab)

        terms(hall, wait_s=1)
        hall.wait_for(lambda: len(let_in(hall)) == MOST, "jobs that are let in", each=sweep)
        eldest = set(waiting[:MOST])
        assert let_in(hall) == eldest, "as many as there are hosts"
        kill_each(hall, lab, "launch", 4)
        hall.wait_for(lambda: on_aws(hall) == eldest, "jobs on AWS", each=work)
        assert set(living(lab)) == BURST_NODES

        # Less of the budget is left than hosts and jobs may cost: all on AWS ends, and nothing is launched.
        terms(hall, budget=spent(hall) + 1)
        kill_each(hall, lab, "stop", 2)
        back = dict.fromkeys(waiting, ("gpu", "PENDING"))
        hall.wait_for(
            lambda: not living(lab) and places(hall) == {first: ("gpu", "RUNNING"), **back},
            "jobs of the hall alone",
            each=work,
        )
        for job in eldest:  # Slurm holds back for 2 minutes what it has queued again
            hall.call("scontrol", "update", f"JobId={job}", "StartTime=now")
        for _ in range(2):
            hall.run("sweep")
        assert not let_in(hall)
        assert not living(lab)

        terms(hall, budget=BUDGET)
        age_failures(hall)
        kill_each(hall, lab, "second launch", 4)
        hall.wait_for(lambda: len(on_aws(hall)) == MOST, "jobs on AWS again", each=work)
        assert set(living(lab)) == BURST_NODES
        (hall.folder / "go").touch()
        hall.wait_for(lambda: len(ended(hall)) == JOBS, "the jobs", each=work)
        kill_each(hall, lab, "end", 2)
        hall.wait_for(
            lambda: hall.states("POWERED_DOWN") >= BURST_NODES and not living(lab),
            "nothing that runs on AWS",
            each=work,
        )
        assert ended(hall) == Counter(submitted), "none lost, none twice"
        assert 0 < spent(hall) < BUDGET
