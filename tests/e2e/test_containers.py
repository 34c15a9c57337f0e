"""Slurm with PMIx, containers and users on one machine of a lab: what srun and sshd make of them."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from lab_snapshots import ByRoles, configured_machines
from lab_support import LAB_MARKS, Machines, Played, Refused
from rackwright_lab.lab import HostSpec
from rackwright_lab.mock_packages.containers import ENROOT, OTHER_PYXIS, PYXIS
from rackwright_lab.system import run, wait_for

pytestmark = LAB_MARKS
SLURM = """\
ClusterName=small
SlurmctldHost=gpu-1
SlurmUser=slurm
AuthType=auth/munge
StateSaveLocation=/var/spool/slurmctld
SlurmdSpoolDir=/var/spool/slurmd
SlurmctldPidFile=/run/slurm/slurmctld.pid
SlurmdPidFile=/run/slurm/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
PrologFlags=Contain
MpiDefault=pmix
ReturnToService=2
SlurmdParameters=config_overrides
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=gpu-1
AccountingStorageEnforce=associations,limits
NodeName=gpu-1 CPUs=4 RealMemory=500
PartitionName=all Nodes=gpu-1 Default=YES
"""
CONTAINERS = ("pmix", "enroot", "pyxis")
PLUGINS = "/etc/slurm/plugstack.conf.d"


@dataclass(frozen=True)
class Machine:
    """The only host of a lab: controller, database, and a host for logins and jobs."""

    machines: Machines
    folder: Path

    @property
    def variables(self) -> dict[str, Any]:
        ada = {"name": "ada", "uid": 20001, "group": "research", "slurm_account": "research"}
        key = self.folder / "ada.pub"
        return {
            "munge_key_file": str(self.folder / "munge.key"),
            "slurm_config_source": str(self.folder / "slurm"),
            "slurm_controller_state_folder": "/var/spool/slurmctld",
            "slurm_database_host": "gpu-1",
            "slurm_compute_accelerators": 0,
            "users_groups": [{"name": "research", "gid": 20000}],
            "users_accounts": [{**ada, "keys": [key.read_text().strip()]}],
            "ssh_server_managed_groups": ["research"],
            "ssh_server_jobs_only": True,
            "enroot_version": ENROOT,
            "enroot_hooks": ["98-nvidia.sh", "99-mellanox.sh"],
            "pyxis_version": PYXIS,
        }

    def play(self, *roles: Any, arguments: Any = (), expect: int = 0, **changed: Any) -> Played:
        wanted = [role if isinstance(role, dict) else {"role": role} for role in roles]
        played = self.machines.play(
            # A list of roles knows no other entries of a role than its first.
            [{"hosts": "all", "tasks": [{"ansible.builtin.import_role": one} for one in wanted]}],
            *arguments,
            variables={**self.variables, **changed},
        )
        assert played.code == expect, played.output
        return played

    def on(self, command: str) -> str:
        return self.machines.on("gpu-1", command)

    def log_in(self) -> str:
        """What ssh says when ada logs in."""
        lab = self.machines.lab
        known = f"UserKnownHostsFile={lab.known_hosts}"
        address = self.machines.host("gpu-1").address.ip
        done = subprocess.run(
            [
                *("ssh", "-F", "none", "-o", known, "-o", "BatchMode=yes"),
                *("-i", self.folder / "ada", f"ada@{address}", "id -un"),
            ],
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        return done.stdout + done.stderr


JOIN = """
import ctypes

class Process(ctypes.Structure):
    _fields_ = [("namespace", ctypes.c_char * 256), ("rank", ctypes.c_uint32)]

own = Process()
pmix = ctypes.CDLL("libpmix.so.2")
joined = pmix.PMIx_Init(ctypes.byref(own), None, 0)
met = pmix.PMIx_Fence(None, 0, None, 0)
pmix.PMIx_Finalize(None, 0)
print(own.rank, joined, met, own.namespace.decode())
"""
"""A task that waits for the others of its job, as MPI does; 0 is success."""

PLUGIN = "/usr/lib/x86_64-linux-gnu/slurm-wlm/mpi_pmix.so"
LIBRARY = "/usr/lib/x86_64-linux-gnu/pmix2/lib/libpmix.so"
"""Slurm's plugin for PMIx, and what Debian's build of it opens."""

ASSOCIATIONS = {"role": "users", "tasks_from": "slurm"}


def first_run(machines: Machines) -> None:
    """From a bare host to a cluster with PMIx, containers and a user."""
    folder = machines.folder
    (folder / "slurm").mkdir()
    (folder / "slurm/slurm.conf").write_text(SLURM)
    key = folder / "munge.key"
    key.write_bytes(b"k" * 128)
    key.chmod(0o600)
    run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "ada", "-f", folder / "ada")
    made = Machine(machines, folder)
    made.on("apt-get update -q")
    made.play("slurm_config", "munge")
    foreseen = made.play(*CONTAINERS[:2], arguments=["--check"])
    assert foreseen.changed > 0
    assert made.on("dpkg-query --show libpmix2 enroot 2>/dev/null || echo none") == "none"
    made.play("slurm_database", "slurm_controller", "pmix", "slurm_compute")
    made.play("users", {"role": "users", "tasks_from": "slurm"}, "enroot", "pyxis")


CLUSTER = ByRoles(
    name="ctr",
    network="10.213.94.0/24",
    hosts=(HostSpec("gpu-1", 0),),
    controller="gpu-1",
    files=("munge.key", "slurm", "ada", "ada.pub"),
    source=Path(__file__),
    play=first_run,
)


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    folder = tmp_path_factory.mktemp("containers")
    with configured_machines(folder, "cont", "10.213.67.0/24", CLUSTER) as machines:
        yield Machine(machines, folder)


def test_a_second_run_changes_nothing_and_a_check_foresees_nothing(machine: Machine) -> None:
    every = ("users", ASSOCIATIONS, *CONTAINERS)
    assert machine.play(*every).changed == 0
    foreseen = machine.play(*every, arguments=["--check", "--diff"])
    assert foreseen.changed == 0
    assert "+++ " not in foreseen.output


def test_tasks_of_a_job_join_with_pmix(machine: Machine) -> None:
    # MpiDefault is pmix.
    said = machine.on(f"srun --immediate=60 --ntasks=2 python3 -c {shlex.quote(JOIN)}")
    first, second = sorted(said.splitlines())
    assert first.split()[:3] == ["0", "0", "0"], said
    assert second.split()[:3] == ["1", "0", "0"], said
    assert first.split()[3] == second.split()[3] != ""


def test_a_slurmd_that_started_without_pmix_is_started_again(machine: Machine) -> None:
    machine.on(f"rm {LIBRARY}; systemctl restart slurmd")
    foreseen = machine.play("pmix", arguments=["--check"])
    assert foreseen.changed == 2, "the link and the restart"
    assert "Invalid MPI type 'pmix'" in machine.on("srun --test-only true 2>&1 || true")
    assert machine.play("pmix").changed == 2
    assert machine.on("srun --immediate=60 printenv PMIX_RANK") == "0"


def test_jobs_are_started_in_a_container(machine: Machine) -> None:
    image = machine.on("srun --immediate=60 --container-image=ubuntu printenv LAB_CONTAINER_IMAGE")
    assert image == "ubuntu"
    settings = machine.on("cat /etc/enroot/enroot.conf")
    assert "ENROOT_DATA_PATH /var/lib/enroot/data/$(id -u)" in settings
    assert machine.on("stat -c %a /var/lib/enroot/data /run/enroot").split() == ["1777", "1777"]


def test_a_plugin_for_another_slurm_is_never_shown_to_slurm(machine: Machine) -> None:
    before = machine.on(f"sha256sum {PLUGINS}/pyxis.conf; rm {PLUGINS}/pyxis.conf")
    try:
        played = machine.play("pyxis", expect=2, pyxis_version=OTHER_PYXIS)
        assert "was built for Slurm 23.11, and 22.05 is installed" in played.failure("gpu-1")
        assert machine.on(f"ls {PLUGINS}") == ""
        assert machine.on("srun --immediate=60 echo works") == "works"
    finally:
        machine.play("pyxis")
    assert machine.on(f"sha256sum {PLUGINS}/pyxis.conf") == before


REFUSED: Refused = {
    "pmix": ("pmix", {"pmix_version": "5.0"}, "offers no libpmix2 5.0, but 4.2.2"),
    "enroot": ("enroot", {"enroot_version": "9.9"}, "offers 0 packages enroot 9.9 among 3.5.0-1"),
    "enroot-path": ("enroot", {"enroot_scratch": "scratch"}, "write an absolute path"),
    "enroot-hook": ("enroot", {"enroot_hooks": ["97-own.sh"]}, "lacks the hooks 97-own.sh"),
    "pyxis": ("pyxis", {"pyxis_version": "9"}, "offers 0 packages nvslurm-plugin-pyxis 9 among"),
}
"""Variables under which a role must refuse, and what it says."""


def test_the_roles_refuse_what_they_cannot_do(machine: Machine) -> None:
    machine.machines.check_refusals("gpu-1", REFUSED, variables=machine.variables)


UNFIT: dict[str, tuple[str, str, str]] = {
    "other-default": (
        "/etc/slurm/slurm.conf",
        "sed s/MpiDefault=pmix/MpiDefault=none/",
        "does not say MpiDefault=pmix; set 'mpi: pmix' in the scheduler of the blueprint",
    ),
    "no-plugin": (PLUGIN, "false", "mpi_pmi2.so, mpi_pmix_v4.so, and no mpi_pmix.so"),
    "other-plugin": (
        PLUGIN.replace("pmix", "pmix_v4"),
        "sed s/pmix_v4/pmix_v5/",
        "was built for PMIx 5, and the repository offers libpmix2 4.2.2",
    ),
}
"""Files, commands that make something else of one, and what the role says of it."""


@pytest.mark.parametrize("case", sorted(UNFIT))
def test_pmix_refuses_a_slurm_that_does_not_take_it(machine: Machine, case: str) -> None:
    path, command, message = UNFIT[case]
    machine.on(f"mv {path} /root/kept; {command} /root/kept > {path} || rm {path}")
    try:
        played = machine.play("pmix", expect=2)
    finally:
        machine.on(f"mv -T /root/kept {path}")
    assert message in " ".join(played.failure("gpu-1").split()), played.output
    assert played.changed == 0


def test_users_send_jobs_until_they_are_removed(machine: Machine) -> None:
    assert machine.on("su ada -c 'srun --immediate=60 id -un'") == "ada"
    (ada,) = machine.variables["users_accounts"]
    machine.play(ASSOCIATIONS, users_accounts=[{**ada, "removed": True}])
    refused = machine.on("su ada -c 'srun --immediate=60 id -un' 2>&1 || true")
    assert "Job violates accounting" in refused
    machine.play(ASSOCIATIONS)
    assert machine.on("su ada -c 'srun --immediate=60 id -un'") == "ada"


def test_only_a_job_opens_a_host_that_is_for_jobs(machine: Machine) -> None:
    conf = "/etc/slurm/slurm.conf"
    machine.on(f"sed -i s/^PrologFlags=Contain/PrologFlags=Alloc/ {conf}")
    shut = machine.play("ssh_server", expect=2)
    assert "would let in nobody" in shut.failure("gpu-1")
    assert shut.changed == 0
    machine.on(f"sed -i s/^PrologFlags=Alloc/PrologFlags=Contain/ {conf}")
    machine.play("ssh_server")
    assert machine.play("ssh_server").changed == 0
    assert "no active jobs on this node" in machine.log_in()
    machine.on("su ada -c 'cd; sbatch --output=/dev/null --wrap \"sleep 300\"'")
    assert wait_for(lambda: machine.log_in() == "ada\n", 300, 1), machine.log_in()
    machine.on("scancel --user ada")
    machine.play("ssh_server", ssh_server_jobs_only=False)
    assert machine.log_in() == "ada\n"
