"""Debian 13: bare hosts become a cluster with its Slurm 24.11, which ``make soak`` upgrades to that of sid.

Sid is what it is that day: its version is printed, and what cannot be had is reported and fails nothing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest

import lab_snapshots
import newer_slurm
from lab_snapshots import NO_LOGIN, Configured, configured_machines, digests, keep
from lab_support import LAB_MARKS, Machines, some_machines
from rackwright.errors import ExternalToolError
from rackwright.plan.slurm.releases import name_of, release_of
from rackwright_lab.base import cache_folder, make_base, recipe_key
from rackwright_lab.lab import HostSpec
from rackwright_lab.repository import make_repository
from rackwright_lab.system import wait_for

pytestmark = LAB_MARKS
SUITE = "trixie"
HOSTS = (HostSpec("gpu-1", 8), HostSpec("gpu-2", 8), HostSpec("head-1"))
CHANGES = {
    'count: 4, racks: "c[01-02]", per_rack: 2': 'count: 2, racks: "c[01-02]", per_rack: 1',
    'version: "22.05"': 'version: "24.11"',
    "  changes: {most_nodes: 25 %}\n": "  changes: {most_nodes: 50 %}\n",
    NO_LOGIN: "",
}
SERVED = "  return_to_service: 2\n  configless: true\n"
WORDS = "journalctl --unit slurmd --since -2min"
JOB = "cd /tmp; sbatch --parsable --gres=gpu:h100:4 --output=/dev/null"


@contextmanager
def debian_13() -> Iterator[None]:
    """Make labs of snapshots have hosts of Debian 13."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lab_snapshots, "some_machines", partial(some_machines, suite=SUITE))
        yield


class OnDebian13(Configured):
    """A cluster that ``configure`` has made of bare hosts of Debian 13."""

    def kept(self) -> Path:
        """Return the folder of what the hosts start from, which the first caller makes."""
        base = make_base(print, SUITE)
        recipe = self.recipe(base, make_repository(base, print))
        return keep(cache_folder(), self.name, recipe_key(recipe), self.make)

    def settings(self, scratch: Path) -> object:
        """Return what its blueprint gives, and this file, which says what is asserted of it."""
        return [super().settings(scratch), digests([Path(__file__)])]

    def make(self, folder: Path) -> None:
        """Make it of bare hosts in ``folder``."""
        with debian_13():
            super().make(folder)

    def configure(self, machines: Machines) -> None:
        """Make it of bare hosts, on which a second run would change nothing."""
        super().configure(machines)
        assert "0 things would change" in machines.rackwright("configure", "--check")


CLUSTER = OnDebian13(name="deb13", network="10.213.89.0/24", hosts=HOSTS, changes=CHANGES)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machines]:
    folder = tmp_path_factory.mktemp("debian-13")
    with debian_13(), configured_machines(folder, "debn", "10.213.33.0/24", CLUSTER) as machines:
        yield machines


def states(cluster: Machines) -> set[str]:
    """What Slurm says of the nodes."""
    return set(cluster.on("head-1", "sinfo -h -N -o %T").split())


def state(cluster: Machines, job: str) -> str:
    """What is accounted of a job."""
    return cluster.on("head-1", f"sacct -nX -P -j {job} --format=State")


def test_hosts_of_debian_13_become_a_cluster_whose_jobs_are_accounted(cluster: Machines) -> None:
    versions = cluster.on("head-1", "slurmctld -V; slurmdbd -V; mariadbd --version")
    assert versions.count("24.11.") == 2, versions
    assert "11.8." in versions, versions
    job = cluster.on("head-1", f"{JOB} --nodes=2 --wait --wrap 'srun hostname'")
    assert wait_for(lambda: state(cluster, job) == "COMPLETED", 300, 1), state(cluster, job)
    cluster.rackwright("verify")


def test_slurmdbd_outlives_a_restart_of_its_database(cluster: Machines) -> None:
    before = cluster.on("head-1", "systemctl show --property MainPID --value slurmdbd")
    cluster.on("head-1", "systemctl stop mariadb")
    job = cluster.on("head-1", f"{JOB} --wrap true")
    cluster.on("head-1", "systemctl start mariadb")
    assert wait_for(lambda: state(cluster, job) == "COMPLETED", 300, 1), state(cluster, job)
    assert cluster.on("head-1", "systemctl show --property MainPID --value slurmdbd") == before


@pytest.mark.soak(reason="`configless` promises the same on Debian 12, in minutes")
def test_nodes_are_served_their_configuration(cluster: Machines) -> None:
    blueprint = cluster.folder / "blueprint.yaml"
    text = blueprint.read_text()
    blueprint.write_text(text.replace("  return_to_service: 2\n", SERVED))
    cluster.rackwright("configure")
    there = "ls /etc/slurm/slurm.conf /run/slurm/conf/slurm.conf"
    assert cluster.on("gpu-1", there, check=False) == "/run/slurm/conf/slurm.conf"
    cluster.on("head-1", "systemctl stop slurmctld")
    cluster.on("gpu-1", "systemctl restart --no-block slurmd")
    assert wait_for(lambda: "failed" in cluster.on("gpu-1", WORDS, check=False), 300, 1)
    cluster.on("head-1", "systemctl start slurmctld")
    assert wait_for(lambda: states(cluster) == {"idle"}, 300, 1), states(cluster)
    cluster.on("head-1", f"{JOB} --nodes=2 --wait --wrap 'srun hostname'")


@pytest.mark.soak(reason="Debian sid is another each day")
def test_slurm_is_upgraded_with_a_queue_and_what_was_accounted(
    cluster: Machines, tmp_path: Path, measured: Callable[[str], None]
) -> None:
    try:
        version = newer_slurm.fetch(tmp_path / "sid")
    except ExternalToolError as error:
        pytest.skip(f"Slurm of sid cannot be had today: {error}")
    measured(f"Debian sid has Slurm {version}")
    release = name_of(release_of(version))
    blueprint = cluster.folder / "blueprint.yaml"
    former = cluster.on("head-1", f"{JOB} --wait --wrap true")
    queued = cluster.on("head-1", f"{JOB} --hold --wrap true")
    script = "until test -e /tmp/end; do sleep 0.3; done"
    running = cluster.on("head-1", f"{JOB} -w gpu-2 --no-requeue --wrap '{script}'")
    assert wait_for(lambda: state(cluster, running) == "RUNNING", 300, 1), state(cluster, running)
    cluster.on("gpu-2", "(sleep 60; touch /tmp/end) >/dev/null 2>&1 &")
    with newer_slurm.served(tmp_path / "sid", str(cluster.lab.controller.ip)) as source:
        for host in HOSTS:
            cluster.on(host.name, f"echo '{source}' > /etc/apt/sources.list.d/newer.list")
        text = blueprint.read_text()
        blueprint.write_text(text.replace('version: "24.11"', f'version: "{release}"'))
        if release != "26.05":  # one that 24.11 does not go to is refused, and nothing is touched
            cluster.rackwright("upgrade", "--yes", expect=2)
            return
        told = json.loads(cluster.rackwright("upgrade", "--yes", "--json"))
    assert told["stopped"] is None, told
    assert [wave["state"] for wave in told["waves"]] == ["done"] * 3
    for host in HOSTS:
        daemon = "slurmctld" if host.name == "head-1" else "slurmd"
        assert release in cluster.on(host.name, f"{daemon} -V")
    assert wait_for(lambda: states(cluster) == {"idle"}, 300, 1), states(cluster)
    assert state(cluster, former) == "COMPLETED"
    assert state(cluster, running) == "COMPLETED", "its node was changed after it"
    assert state(cluster, queued) == "PENDING"
    cluster.on("head-1", f"scontrol release {queued}")
    assert wait_for(lambda: state(cluster, queued) == "COMPLETED", 300, 1), state(cluster, queued)
    assert "slurm_acct_db" in cluster.on("head-1", "mariadb -N -e 'SHOW DATABASES'")
    assert cluster.on("head-1", "ls /var/backups/slurm/upgrades").count("database-") == 1
    cluster.rackwright("upgrade", expect=3)
