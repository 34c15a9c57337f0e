"""A Slurm cluster of one machine in a lab: controller, database, and where jobs run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lab_snapshots import ByRoles
from lab_support import Machines, Played
from rackwright.render.slurm import HEADER
from rackwright_lab.lab import HostSpec

HEAD = f"{HEADER} 'small'; change it there.\n"
SLURM = f"""\
{HEAD}ClusterName=small
SlurmctldHost=gpu-1
SlurmUser=slurm
AuthType=auth/munge
StateSaveLocation=/var/spool/slurmctld
SlurmdSpoolDir=/var/spool/slurmd
SlurmctldPidFile=/run/slurm/slurmctld.pid
SlurmdPidFile=/run/slurm/slurmd.pid
SlurmctldLogFile=/var/log/slurm/slurmctld.log
SlurmdLogFile=/var/log/slurm/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
PriorityType=priority/multifactor
PriorityWeightFairshare=10000
PriorityDecayHalfLife=1-0
PriorityCalcPeriod=1
PreemptType=preempt/qos
PreemptMode=CANCEL
ReturnToService=2
SlurmdParameters=config_overrides
GresTypes=gpu
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=gpu-1
AccountingStorageEnforce=associations,limits,qos,safe
AccountingStorageTRES=gres/gpu
NodeName=gpu-1 CPUs=4 RealMemory=500 Gres=gpu:h100:2
PartitionName=all Nodes=gpu-1 Default=YES
PartitionName=spare Nodes=gpu-1 QOS=scavenger
PartitionName=shares Nodes=gpu-1 DefMemPerGPU=250 DefCpuPerGPU=2
"""
GRES = f"{HEAD}NodeName=gpu-1 Name=gpu Type=h100 File=/dev/nvidia[0-1]\n"
LATER = "PartitionName=later Nodes=gpu-1 QOS=later\n"
URGENT = {
    "name": "urgent",
    "priority": 1000,
    "preempts": ["scavenger"],
    "max_gpus_per_user": 1,
    "grace_s": 90061,
}
SCAVENGER = {
    "name": "scavenger",
    "preempt_mode": "requeue",
    "max_wall_minutes": 2940,
    "max_nodes_per_user": 8,
}
ASSOCIATIONS = {"role": "users", "tasks_from": "slurm"}
QOS_NAMES = {"role": "slurm_controller", "tasks_from": "qos_names"}
EVERY = ("slurm_config", "slurm_controller", ASSOCIATIONS)


@dataclass
class Machine:
    """The only host of a lab: controller, database, and where jobs run."""

    machines: Machines
    folder: Path
    qos: list[Mapping[str, Any]] = field(default_factory=lambda: [URGENT, SCAVENGER])

    @property
    def variables(self) -> dict[str, Any]:
        ada = {"name": "ada", "uid": 20001, "group": "research", "slurm_account": "research"}
        return {
            "munge_key_file": str(self.folder / "munge.key"),
            "slurm_config_source": str(self.folder / "slurm"),
            "slurm_controller_state_folder": "/var/spool/slurmctld",
            "slurm_controller_cluster": "small",
            "slurm_controller_qos": self.qos,
            "slurm_database_host": "gpu-1",
            "slurm_compute_accelerators": 2,
            "users_groups": [{"name": "research", "gid": 20000}],
            "users_accounts": [ada],
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

    def processes(self) -> list[str]:
        """The process ids of slurmctld and slurmd."""
        return self.on("systemctl show --property MainPID --value slurmctld slurmd").split()

    def qos_there(self) -> list[str]:
        fields = "Name,Priority,Preempt,PreemptMode,GraceTime,MaxWall,MaxTRESPU"
        return sorted(self.on(f"sacctmgr -nP show qos format={fields}").split())

    def send(self, qos: str, seconds: int) -> str:
        """The number of a job of ada that wants the whole machine."""
        wrap = f'--wrap "sleep {seconds}"'
        options = f"--qos={qos} --cpus-per-task=4 --requeue --output=/dev/null"
        return self.on(f"su ada -c 'cd /tmp; sbatch --parsable {options} {wrap}'")

    def state(self, job: str) -> str:
        """What slurmctld says of a job, and how often it was started anew."""
        said = self.on(f"scontrol --oneliner show job {job}")
        words = dict(word.split("=", 1) for word in said.split() if "=" in word)
        return f"{words['JobState']} {words['Restarts']}"


def first_run(machines: Machines) -> None:
    """From a bare host to a cluster whose partition names a QOS."""
    folder = machines.folder
    (folder / "slurm").mkdir()
    (folder / "slurm/slurm.conf").write_text(SLURM)
    (folder / "slurm/gres.conf").write_text(GRES)
    (folder / "slurm/topology.conf").write_text(f"{HEAD}SwitchName=leaf Nodes=gpu-1\n")
    key = folder / "munge.key"
    key.write_bytes(b"k" * 128)
    key.chmod(0o600)
    made = Machine(machines, folder)
    made.on("apt-get update -q")
    assert made.play(QOS_NAMES).changed == 0, "there is no slurmdbd yet"
    made.play("slurm_config", "munge", "slurm_database")
    made.play("slurm_controller", "slurm_compute", "users", ASSOCIATIONS)


CLUSTER = ByRoles(
    name="small",
    network="10.213.93.0/24",
    hosts=(HostSpec("gpu-1", 2),),
    controller="gpu-1",
    files=("munge.key", "slurm"),
    source=Path(__file__),
    play=first_run,
)
