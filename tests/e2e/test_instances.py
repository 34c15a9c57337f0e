"""A cluster on AWS from `up` to its end: instances of the embedded AWS are machines of a lab, born as ``ip-10-…``.

They get their names by the user data of their launch, which the cloud-init of Debian runs. Users and Ansible come in by
the public address of the login node.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest

from cloud_site import BLUEPRINT, NAME, Site
from instances import USER, some_instances
from lab_support import LAB_MARKS
from rackwright_lab.system import wait_for

pytestmark = LAB_MARKS


@pytest.fixture(scope="module")
def site(lab: Any) -> Iterator[Site]:
    path = lab.folder / f"{NAME}.yaml"
    path.write_text(BLUEPRINT)
    with some_instances(lab.folder, lab, NAME) as instances:
        made = Site(lab, instances, path)
        made.run("up", "--yes")
        yield made


def test_hosts_are_born_with_names_of_ec2_and_take_those_of_the_plan(site: Site) -> None:
    site.look()
    assert set(site.addresses) == {"head-1", "login-1", "train-1", "train-2"}
    for host, address in site.addresses.items():
        named = wait_for(partial(site.is_named, host), 900, 2)
        assert named, (host, site.on(host, "hostname; cloud-init status --long", check=False))
        born = f"ip-{address.replace('.', '-')}"
        assert (
            born in site.on(host, "sudo journalctl -b -o short | cut -d' ' -f4 | sort -u").split()
        )
    for host in site.addresses:
        for other, there in site.addresses.items():
            assert site.on(host, f"getent ahostsv4 {other}").split()[0] == there


def test_private_hosts_are_reached_through_the_login_node_alone(site: Site) -> None:
    words = [
        "ssh",
        "-F",
        str(site.instances.ssh_config),
        f"{USER}@{site.addresses['train-1']}",
        "id",
    ]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.returncode, "timed out" in done.stderr) == (255, True), done.stderr
    assert f"({USER})" in site.on("train-1", "id")


def test_they_become_a_cluster_that_runs_a_job_across_nodes(site: Site) -> None:
    site.configure()
    ran = site.on("login-1", "srun --chdir=/ -N2 hostname")
    assert sorted(ran.split()) == ["train-1", "train-2"]
    refused = site.on(
        "train-1", "curl -s -m 5 http://169.254.169.254/latest/meta-data/", check=False
    )
    assert refused == ""


def test_another_type_rolls_through_the_group_and_no_job_is_killed(site: Site) -> None:
    """`up --waves` is interrupted at three steps of its first node, and goes on.

    The job ends once the second run waits for it.
    """
    before = site.look()
    work = "until test -e /tmp/enough; do sleep 1; done"
    sent = f"sbatch --parsable --chdir=/tmp --output=/dev/null --nodelist=train-1 --wrap '{work}'"
    job = site.on("login-1", sent)
    assert wait_for(partial(site.runs, job), 900, 2)
    meanwhile: dict[str, Callable[[], object]] = {}
    site.change("type: p5.48xlarge", "type: p5en.48xlarge")
    waves = ("--inventory", site.inventory, "--launch-timeout", "10 min")
    begun = ["--waves", "unit", "--wave-limit", "1"]
    states = {"draining": "RUNNING", "ending i-": "COMPLETED", "verifying": "COMPLETED"}
    for mark, state in states.items():
        site.interrupt("up", "--yes", *begun, *waves, at=mark, meanwhile=meanwhile)
        shown = site.on("login-1", f"scontrol --oneliner show job {job}")
        assert (f"JobState={state}" in shown, "Restarts=0" in shown) == (True, True), (mark, shown)
        begun = ["--resume"]
        meanwhile["1 job still running on train-1"] = partial(
            site.on, "train-1", "touch /tmp/enough"
        )
    site.run("up", "--yes", *begun, *waves)
    after = site.look()
    assert set(after) == set(before)
    assert not set(after.values()) & set(before.values()), "each host has another instance"
    assert site.types() == dict.fromkeys(after.values(), "p5en.48xlarge")
    assert site.instances.born == 4 + 2, "and none has been launched twice"
    ran = site.on("login-1", "srun --chdir=/ -N2 hostname")
    assert sorted(ran.split()) == ["train-1", "train-2"]
    site.run("up", "--yes")  # ends with 8 where a node is outdated


def test_a_group_that_gets_smaller_loses_the_nodes_that_were_drained(site: Site) -> None:
    before = site.look()
    site.change("count: 2", "count: 1")
    site.run("up", "--yes", expect=2)
    site.run("replace", "--yes", "--surplus", "--inventory", site.inventory)
    site.run("up", "--yes")
    assert site.look() == {"train-1": before["train-1"]}
    site.configure()
    assert site.on("login-1", "sinfo -h -N -o %N") == "train-1"
    assert site.on("login-1", "srun --chdir=/ hostname") == "train-1"
