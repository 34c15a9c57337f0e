"""What a Slurm cluster in the lab survives: the loss of a controller, the reboot of a host."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from lab_snapshots import PAIR, configured_machines
from lab_support import LAB_MARKS, Machines
from rackwright_lab.host import switch_off
from rackwright_lab.system import wait_for

pytestmark = LAB_MARKS


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machines]:
    folder = tmp_path_factory.mktemp("failover")
    with configured_machines(folder, "fail", "10.213.9.0/24", PAIR) as made:
        yield made


def state_of(cluster: Machines, job: str) -> str:
    """The state of a job, as whichever controller answers knows it."""
    told = cluster.on("head-2", f"scontrol --oneliner show job {job}", check=False)
    return next((word[9:] for word in told.split() if word.startswith("JobState=")), "")


def test_a_host_that_reboots_comes_back_by_itself(cluster: Machines) -> None:
    before = cluster.on("gpu-1", "cat /proc/sys/kernel/random/boot_id")
    cluster.on("gpu-1", "systemctl reboot", check=False)

    def is_back() -> bool:
        boot = cluster.on("gpu-1", "cat /proc/sys/kernel/random/boot_id", check=False)
        return bool(boot) and boot != before

    assert wait_for(is_back, 300, 0.5)
    assert wait_for(lambda: cluster.on("head-1", "sinfo -h -o %T") == "idle", 300, 1.0)
    assert (
        cluster.on("head-1", "srun --gres=gpu:8 printenv CUDA_VISIBLE_DEVICES") == "0,1,2,3,4,5,6,7"
    )


def test_the_backup_takes_over_and_the_job_ends_well(cluster: Machines) -> None:
    submitted = cluster.on("head-1", "sbatch --parsable --gres=gpu:2 --wrap 'sleep 25'")
    assert wait_for(lambda: state_of(cluster, submitted) == "RUNNING", 300, 1.0)
    switch_off(cluster.host("head-1"))

    def backup_leads() -> bool:
        return "backup) at head-2 is UP" in cluster.on("head-2", "scontrol ping", check=False)

    assert wait_for(backup_leads, 300, 1.0)
    assert wait_for(lambda: state_of(cluster, submitted) == "COMPLETED", 300, 1.0)
    another = cluster.on("head-2", "sbatch --parsable --wrap true")
    assert wait_for(lambda: state_of(cluster, another) == "COMPLETED", 300, 1.0), (
        "it schedules, too"
    )
