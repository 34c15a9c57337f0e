"""A cluster on AWS grows from 4 to 12 machines and loses one, with real Ansible and Slurm beside its jobs.

The rest of the year is in `test_year.py`. This takes too long for every run.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest

from cloud_site import BLUEPRINT, NAME, Site
from instances import some_instances
from lab_support import LAB_MARKS
from rackwright_lab.system import wait_for

pytestmark = [
    *LAB_MARKS,
    pytest.mark.soak(reason="14 machines are configured: a quarter of an hour"),
    pytest.mark.timeout(7200),
]
TIME = {"make_s": 3, "launch_s": 2, "see_after": 2, "throttle_every": 40}
WAIT_S = 1800
"""Seconds for the start of a job or a state of a node on a slow machine."""
SHORT = "{SlurmdTimeout: 30, SlurmdParameters: config_overrides"
"""A machine that does not answer is down after half a minute instead of five."""


@pytest.fixture
def site(lab: Any) -> Iterator[Site]:
    path = lab.folder / f"{NAME}.yaml"
    text = BLUEPRINT.replace("count: 2", "count: 4")
    path.write_text(text.replace("{SlurmdParameters: config_overrides", SHORT))
    with some_instances(lab.folder, lab, NAME) as instances:
        yield Site(lab, instances, path)


def work(site: Site, nodes: int, *more: str) -> str:
    """Submit a job that runs until its file is there; return its number."""
    wrap = "until test -e /tmp/enough-$SLURM_JOB_ID; do sleep 1; done"
    words = (f"sbatch --parsable --requeue --chdir=/tmp --output=/dev/null -N{nodes}", *more)
    return site.on("login-1", f"{' '.join(words)} --wrap '{wrap}'")


def fields(site: Site, job: str) -> dict[str, str]:
    """Return the fields of a job."""
    shown = site.on("login-1", f"scontrol --oneliner show job {job}").split()
    return dict(word.split("=", 1) for word in shown if "=" in word)


def idle(site: Site) -> int:
    """Return the number of nodes that wait for jobs."""
    return len(site.on("login-1", "sinfo -h -N -t idle -o %N").split())


def test_cluster_grows_beside_its_job_and_a_dead_machine_is_replaced(site: Site) -> None:
    cloud = site.cloud
    cloud.pace(**TIME)
    cloud.capacity(p5_48xlarge=2)
    site.run("up", "--yes", expect=10)
    cloud.capacity(p5_48xlarge=None)
    site.run("up", "--yes")
    four = site.look()
    assert set(four) == {f"train-{number}" for number in range(1, 5)}
    for host in site.addresses:
        assert wait_for(partial(site.is_named, host), WAIT_S, 2), host
    site.configure()
    long = work(site, 4)
    assert wait_for(partial(site.runs, long), WAIT_S, 2)

    site.change("count: 4", "count: 12")
    site.run("up", "--yes")
    twelve = site.look()
    assert set(twelve) == {f"train-{number}" for number in range(1, 13)}
    assert {host: twelve[host] for host in four} == four
    for host in set(twelve) - set(four):
        assert wait_for(partial(site.is_named, host), WAIT_S, 2), host
    site.configure()
    assert wait_for(lambda: idle(site) == 8, WAIT_S, 2), site.on("login-1", "sinfo -N")
    seen = fields(site, long)
    assert (seen["JobState"], seen["Restarts"]) == ("RUNNING", "0")

    # The machine below a job dies.
    other = work(site, 1)
    assert wait_for(partial(site.runs, other), WAIT_S, 2)
    dead = fields(site, other)["NodeList"]
    assert dead not in four
    cloud.client("ec2").terminate_instances(InstanceIds=[twelve[dead]])
    told = wait_for(lambda: fields(site, other)["NodeList"] not in {dead, ""}, WAIT_S, 2)
    assert told, fields(site, other)
    assert fields(site, other)["Restarts"] == "1"
    site.run("replace", "--yes", "--unhealthy", "--inventory", site.inventory)
    after = site.look()
    assert set(after) == set(twelve)
    assert {host for host in after if after[host] != twelve[host]} == {dead}
    assert site.instances.born == 2 + 12 + 1, "and none has been launched twice"
    assert wait_for(lambda: idle(site) == 7, WAIT_S, 2), site.on("login-1", "sinfo -N")

    for job in (long, other):
        for host in after:
            site.on(host, f"touch /tmp/enough-{job}")
        assert wait_for(lambda job=job: fields(site, job)["JobState"] == "COMPLETED", WAIT_S, 2)  # type: ignore[misc]
    assert fields(site, long)["Restarts"] == "0"
    assert site.on("login-1", "srun --chdir=/ -N12 hostname | sort -u | wc -l") == "12"
    site.run("up", "--yes")
    assert site.look() == after
