"""Nodes to which two controllers serve the configuration: there and back, and what changes on the way."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from lab_snapshots import PAIR, configured_machines
from lab_support import LAB_MARKS, Machines
from rackwright_lab.system import wait_for

pytestmark = LAB_MARKS
CHANGE = ("--tags", "configure,run")
"""Steps to which a change of the configuration comes: nothing is installed, and tests verify it themselves."""

FILES = {"slurm.conf", "gres.conf", "cgroup.conf", "topology.conf"}
SERVED = "  configless: true"
RUNNING_JOB = (
    "runs jobs, which read the configuration that they were started with (/run/slurm/conf)"
)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machines]:
    """A node with files of its own, of which the next ``configure`` makes one that is served."""
    folder = tmp_path_factory.mktemp("configless")
    with configured_machines(folder, "served", "10.213.34.0/24", PAIR) as made:
        yield made


def configure(cluster: Machines, *arguments: str, expect: int = 0) -> Any:
    return json.loads(cluster.rackwright("configure", "--json", *arguments, expect=expect))


def changed(cluster: Machines, *arguments: str) -> set[str]:
    """The hosts that a run changes, or would change."""
    hosts = configure(cluster, *arguments)["hosts"]
    return {name for name, host in hosts.items() if host["changed"]}


def refusal(cluster: Machines) -> str:
    """Why a run ends on the node before anything is changed."""
    told = configure(cluster, "--tags", "preflight", "--limit", "gpu-1", expect=4)
    return " ".join(told["quarantine"]["gpu-1"].split())


def pid(cluster: Machines) -> str:
    return cluster.on("gpu-1", "systemctl show --property MainPID --value slurmd")


def visible(cluster: Machines) -> str:
    return cluster.on("head-1", "srun --gres=gpu:2 printenv CUDA_VISIBLE_DEVICES")


def files(cluster: Machines, folder: str) -> set[str]:
    return set(cluster.on("gpu-1", f"ls {folder}/").split()) & FILES


def blueprint(cluster: Machines, *, configless: bool = True, option: str = "") -> None:
    """Write the blueprint anew, perhaps with an option of ``slurm.conf``."""
    path = cluster.folder / "blueprint.yaml"
    lines = path.read_text().splitlines()
    kept = [line for line in lines if line != SERVED]
    place = next(i for i, line in enumerate(kept) if line.startswith("  extra: {"))
    kept[place] = f"  extra: {{{option}SlurmctldTimeout: 10, SlurmdParameters: config_overrides}}"
    path.write_text("\n".join([*kept[:place], *[SERVED] * configless, *kept[place:], ""]))


def is_idle(cluster: Machines) -> bool:
    return cluster.on("head-1", "sinfo -h -o %T", check=False) == "idle"


def test_a_node_with_files_is_served_from_then_on(cluster: Machines) -> None:
    assert files(cluster, "/etc/slurm") == FILES
    cluster.on("gpu-1", "echo 'SLURMD_OPTIONS=\"-v\"' >>/etc/default/slurmd")
    blueprint(cluster)
    configure(cluster)
    assert files(cluster, "/etc/slurm") == set()
    assert files(cluster, "/run/slurm/conf") == FILES
    started = cluster.on("gpu-1", f"tr '\\0' ' ' </proc/{pid(cluster)}/cmdline")
    assert started.endswith("-v --conf-server head-1:6817,head-2:6817"), "the team's option stays"
    assert visible(cluster) == "0,1"
    assert cluster.on("gpu-1", "sinfo -h -o %N") == "gpu-1", "commands on the node find it as well"


def test_a_second_run_changes_nothing(cluster: Machines) -> None:
    assert changed(cluster) == set()


def test_a_setting_reaches_a_node_without_a_restart(cluster: Machines) -> None:
    before = pid(cluster)
    blueprint(cluster, option="MessageTimeout: 20, ")
    configure(cluster, *CHANGE)
    assert "MessageTimeout=20" in cluster.on("gpu-1", "cat /run/slurm/conf/slurm.conf")
    assert pid(cluster) == before


def test_a_slurmd_that_must_start_again_for_a_setting_does(cluster: Machines) -> None:
    before = pid(cluster)
    blueprint(cluster, option="MaxJobCount: 5000, ")
    configure(cluster, *CHANGE)
    assert "MaxJobCount=5000" in cluster.on("gpu-1", "cat /run/slurm/conf/slurm.conf")
    assert pid(cluster) != before
    assert visible(cluster) == "0,1"


def test_a_node_that_starts_before_its_controllers_waits_for_them(cluster: Machines) -> None:
    for head in ("head-1", "head-2"):
        cluster.on(head, "systemctl stop slurmctld")
    boot = cluster.on("gpu-1", "cat /proc/sys/kernel/random/boot_id")
    cluster.on("gpu-1", "systemctl reboot", check=False)

    def asks() -> bool:
        now = cluster.on("gpu-1", "cat /proc/sys/kernel/random/boot_id", check=False)
        if not now or now == boot:
            return False
        return "failed" in cluster.on("gpu-1", "journalctl --unit slurmd --boot", check=False)

    assert wait_for(asks, 300, 1.0)
    for head in ("head-1", "head-2"):
        cluster.on(head, "systemctl start slurmctld")
    assert wait_for(lambda: is_idle(cluster), 300, 1.0)
    assert visible(cluster) == "0,1"


def test_a_file_that_somebody_wrote_is_not_read_in_silence(cluster: Machines) -> None:
    cluster.on("gpu-1", "echo ClusterName=other >/etc/slurm/slurm.conf")
    assert "gpu-1 has an /etc/slurm/slurm.conf that somebody wrote" in refusal(cluster)
    cluster.on("gpu-1", "rm /etc/slurm/slurm.conf")
    assert configure(cluster, "--retry")["quarantine"] == {}


def test_the_way_back_leads_over_a_node_without_jobs(cluster: Machines) -> None:
    job = cluster.on("head-1", "sbatch --parsable --wrap 'sleep 600'")
    assert wait_for(
        lambda: cluster.on("head-1", f"squeue -h -j {job} -o %T") == "RUNNING", 300, 0.5
    )
    blueprint(cluster, configless=False)
    assert RUNNING_JOB in refusal(cluster)
    cluster.on("head-1", f"scancel {job}")
    assert wait_for(lambda: is_idle(cluster), 300, 1.0)
    configure(cluster, "--retry")
    configure(cluster, *CHANGE)
    assert files(cluster, "/etc/slurm") == FILES
    assert "--conf-server" not in cluster.on("gpu-1", f"tr '\\0' ' ' </proc/{pid(cluster)}/cmdline")
    assert visible(cluster) == "0,1"
