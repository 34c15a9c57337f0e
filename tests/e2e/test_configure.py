"""From bare machines of the lab to a Slurm cluster that runs jobs, by Ansible."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from shlex import quote
from typing import Any

import pytest

from lab_support import LAB_MARKS, Machines, Refused, some_machines
from rackwright_lab import lab as labs
from rackwright_lab.host import LabHost, switch_off
from rackwright_lab.lab import HostSpec
from rackwright_lab.mock_packages.containers import ENROOT, PYXIS
from rackwright_lab.mock_packages.dashboards import GRAFANA
from rackwright_lab.system import run, wait_for

pytestmark = LAB_MARKS
HOSTS = [HostSpec("gpu-1", 8), HostSpec("gpu-2", 8), HostSpec("head-1"), HostSpec("login-1")]
KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ0Yw1x0Gq1m0Yw1x0Gq1m0Yw1x0Gq1m0Yw1x0Gq1m0Y"
WISHES = f"""
users:
  groups: [{{name: research, gid: 20000}}]
  accounts: [{{name: ada, uid: 20001, group: research, keys: ["{KEY}"], slurm_account: research}}]

operations:
  software: [{{name: all, enroot: {ENROOT}, pyxis: {PYXIS}, grafana: {GRAFANA}}}]
"""
QOS = """\
  qos:
    - {name: urgent, priority: 1000, preempts: [spare], max_gpus_per_user: 16}
    - {name: spare, preempt_mode: requeue, max_wall: "48:00:00"}
  preemption: {by: qos, mode: requeue}
"""
PARTITIONS = """\
    - {name: gpu, groups: [gpu], default: true}
    - {name: spare, groups: [gpu], qos: spare}
"""
CHANGES = {
    'count: 4, racks: "c[01-02]"': 'count: 2, racks: "c[01-02]"',
    "\nscheduler:\n": f"\nscheduler:\n  mpi: pmix\n{QOS}",
    "    - {name: gpu, groups: [gpu], default: true, default_time: 0-04:00:00, max_time: 7-00:00:00}\n": PARTITIONS,
    "\noperations:\n": WISHES,
}


class Cluster(Machines):
    def configure(self, *arguments: str, expect: int = 0) -> Any:
        return json.loads(self.rackwright("configure", "--json", *arguments, expect=expect))


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Machines of a lab that nobody has configured."""
    folder = tmp_path_factory.mktemp("configure")
    with some_machines(folder, "conf", "10.213.8.0/24", HOSTS) as machines:
        made = Cluster(machines.lab, folder)
        made.lab_blueprint(CHANGES)
        yield made


@pytest.fixture(scope="module")
def first(bare: Cluster) -> Any:
    """What the first run of ``configure`` tells."""
    return bare.configure()


@pytest.fixture(scope="module")
def cluster(bare: Cluster, first: Any) -> Cluster:
    """Machines that are configured."""
    assert {name for name, host in first["hosts"].items() if host["failure"] is None} == {
        spec.name for spec in HOSTS
    }
    return bare


def test_bare_machines_become_a_cluster_that_runs_jobs(
    first: Any, cluster: Cluster, measured: Callable[[str], None]
) -> None:
    measured(", ".join(f"{role} {seconds} s" for role, seconds in first["roles"].items()))

    names = cluster.on("login-1", "srun -N2 hostname").split()
    assert sorted(names) == ["gpu-1", "gpu-2"]
    assert cluster.on("login-1", "srun --gres=gpu:3 printenv CUDA_VISIBLE_DEVICES") == "0,1,2"
    cluster.on("login-1", "sbatch --wait --array=1-4 --gres=gpu:h100:8 --wrap true", timeout_s=180)
    states = cluster.on("head-1", "sacct --noheader --allocations --format=State").split()
    assert states.count("COMPLETED") >= 5

    fields = "format=Name,Priority,Preempt,MaxWall,MaxTRESPU"
    assert sorted(cluster.on("head-1", f"sacctmgr -nP show qos {fields}").split()) == [
        "normal|0|||",
        "spare|0||2-00:00:00|",
        "urgent|1000|spare||gres/gpu=16",
    ]
    as_ada = "srun --qos=urgent --partition=spare id -un"
    assert cluster.on("login-1", f"cd /tmp; su ada -c '{as_ada}'") == "ada"

    srun = "srun -N2 --ntasks=2 --container-image=ubuntu"
    task = r"sh -c 'echo \$(id -un) \$LAB_CONTAINER_IMAGE \$PMIX_RANK'"
    said = cluster.on("login-1", f'cd /tmp; su ada -c "{srun} {task}"').splitlines()
    assert sorted(said) == ["ada ubuntu 0", "ada ubuntu 1"]
    (password,) = cluster.folder.glob("configure/*/secrets/grafana_admin_password")
    health = cluster.on("head-1", "curl --silent --fail http://127.0.0.1:3000/api/health")
    assert json.loads(health)["version"] == GRAFANA
    assert password.read_text().strip() not in cluster.on("head-1", "journalctl --no-pager")


def test_a_node_that_lacks_a_gpu_is_quarantined_and_the_others_finish(cluster: Cluster) -> None:
    cluster.on("gpu-2", "rm /dev/nvidia7")
    made = cluster.configure("--max-failures", "60", "--tags", "run,verify", expect=4)
    assert set(made["quarantine"]) == {"gpu-2"}
    assert "gpu-2 has 7 of 8 accelerators" in made["quarantine"]["gpu-2"]
    assert made["hosts"]["gpu-1"]["failure"] is None
    assert made["hosts"]["login-1"]["failure"] is None, "the rest of the play went on"
    fewer = ("--max-failures", "0", "--limit", "slurm_compute", "--tags", "verify")
    given_up = cluster.configure(*fewer, expect=4)["quarantine"]
    assert given_up["gpu-1"].startswith("left behind by gpu-2: ")
    assert set(given_up) == {"gpu-1", "gpu-2"}

    cluster.on("gpu-2", "mknod -m 666 /dev/nvidia7 c 195 7")
    mended = cluster.configure("--retry")
    assert set(mended["hosts"]) == {"gpu-1", "gpu-2"}
    assert mended["quarantine"] == {}
    assert all_changed(mended) == {}, "the second whole run of these two"


def test_a_host_that_goes_down_in_the_middle_is_quarantined_and_the_run_resumes(
    cluster: Cluster,
) -> None:
    late = "/etc/enroot/enroot.conf"  # written after the role at which the power goes
    for name in ("gpu-1", "gpu-2"):
        cluster.on(name, f"rm {late}")
    output, said = cluster.configure_while(
        *("--max-failures", "60", "--json"),
        at={"munge …": lambda: cut_power(cluster.host("gpu-1"))},
        expect=4,
    )
    made = json.loads(output)
    assert set(made["quarantine"]) == {"gpu-1"}
    assert made["hosts"]["gpu-1"]["unreachable"]
    assert made["hosts"]["gpu-1"]["ok"] > 5, "it had begun"
    assert said.index("munge …") < said.index("gpu-1 failed: ") < said.index("enroot …")
    for name in ("gpu-2", "head-1", "login-1"):
        assert made["hosts"][name]["failure"] is None
    changes = all_changed(made)
    assert set(changes) == {"gpu-2"}, "the second whole run of head-1 and login-1 changes nothing"
    assert all(task.startswith("enroot / ") for task in changes["gpu-2"])
    assert cluster.on("gpu-2", f"stat --format %a {late}") == "644"

    give_power(cluster, "gpu-1")
    assert wait_for(lambda: "gpu-1" in cluster.on("login-1", "sinfo -h -t idle -o %n"), 300, 1.0)
    mended = cluster.configure("--retry")
    assert set(mended["hosts"]) == {"gpu-1"}
    assert any(task.startswith("enroot / ") for task in mended["hosts"]["gpu-1"]["changed"])
    assert mended["quarantine"] == {}
    assert cluster.on("gpu-1", f"stat --format %a {late}") == "644"
    assert sorted(cluster.on("login-1", "srun -N2 hostname").split()) == ["gpu-1", "gpu-2"]


def all_changed(told: Any) -> dict[str, list[str]]:
    """Return the tasks that changed something, by the host on which they did."""
    return {name: host["changed"] for name, host in told["hosts"].items() if host["changed"]}


def cut_power(host: LabHost) -> None:
    """End a host as a power cut does: nobody hears from it again, not even that it ends."""
    run("ip", "link", "set", host.link, "down")
    switch_off(host)


def give_power(cluster: Cluster, name: str) -> None:
    """Boot a host whose power was cut."""
    run("ip", "link", "set", cluster.host(name).link, "up")
    labs.up(cluster.lab, HOSTS, print)


BAD: Refused = {
    "memlock": ("base", {"base_memlock": "lots"}, "base_memlock is 'lots'"),
    "key": ("munge", {"munge_key_file": "/etc/passwd"}, "with mode 0600"),
    "source": ("slurm_config", {"slurm_config_source": "/etc/ssh"}, "holds no slurm.conf"),
    "sql": (
        "slurm_database",
        {"slurm_database_name": "x'; DROP", "slurm_database_host": "head-1"},
        "names are lower-case letters",
    ),
    "accelerators": (
        "slurm_compute",
        {"slurm_compute_accelerators": 9},
        "has 8 of 9 accelerators",
    ),
    "controller": (
        "slurm_controller",
        {"slurm_controller_state_folder": "/var/spool/slurmctld"},
        "run the role slurm_config first",
    ),
    "login": ("slurm_login", {}, "run the role slurm_config first"),
}
"""Variables under which roles must refuse where there is no slurm.conf, and what they say."""


def test_the_roles_refuse_what_they_cannot_do(cluster: Cluster) -> None:
    cluster.on("gpu-1", "mv /etc/slurm/slurm.conf /etc/slurm/away")
    try:
        cluster.check_refusals("gpu-1", BAD)
    finally:
        cluster.on("gpu-1", "mv /etc/slurm/away /etc/slurm/slurm.conf")


SLOW = """
[Service]
ExecStart=
ExecStart=/bin/sh -c 'sleep 10; exec /usr/sbin/slurmdbd -D -s'
"""


def test_a_first_controller_comes_up_although_its_database_is_slow(cluster: Cluster) -> None:
    cluster.on("head-1", "systemctl stop slurmctld slurmdbd; rm -r /var/spool/slurmctld/*")
    folder = "/run/systemd/system/slurmdbd.service.d"
    cluster.on("head-1", f"mkdir -p {folder}; printf %s {quote(SLOW)} > {folder}/slow.conf")
    cluster.on("head-1", "systemctl daemon-reload")
    cluster.configure("--tags", "run", "--limit", "head-1")
    up = "until scontrol ping | grep 'is UP'; do systemctl is-active slurmctld; sleep 1; done"
    cluster.on("head-1", f"set -e; {up}", timeout_s=300)
