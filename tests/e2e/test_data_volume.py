"""The data volume of a head node in a lab: Slurm's state and its database move there, and to the next head node.

Real block devices, the real MariaDB and slurmctld. What udev does on a machine of its own, links below /dev/disk, a
stand-in does; a snapshot is a copy of the device at one moment, as EBS makes it, while everything runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from block_devices import Disks, some_disks
from kept_hosts import kept_machines
from lab_snapshots import ByRoles
from lab_support import LAB_MARKS, Machines, Played, Refused
from rackwright.render.slurm import HEADER
from rackwright_lab.lab import HostSpec
from rackwright_lab.system import run, wait_for

pytestmark = LAB_MARKS
HEAD, NEXT = "head-1", "head-2"
STATE = "/srv/state"
SLURM = """\
ClusterName=small
SlurmctldHost={head}
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
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost={head}
AccountingStorageEnforce=associations
NodeName=node-1 NodeAddr=127.0.0.9 CPUs=4 RealMemory=500
PartitionName=all Nodes=node-1 Default=YES
"""
UDEV = """\
#!/bin/sh
mkdir -p /dev/disk/by-uuid
for device in /dev/disk/by-id/*; do
  uuid=$(blkid --probe --match-tag UUID --output value $device) || continue
  ln -sfn $(readlink -f $device) /dev/disk/by-uuid/$uuid
done
"""
FOLDERS: list[dict[str, Any]] = [
    {
        "name": "slurmctld",
        "path": "/var/spool/slurmctld",
        "user": "slurm",
        "services": ["slurmctld"],
    },
    {
        "name": "mysql",
        "path": "/var/lib/mysql",
        "user": "mysql",
        "services": ["slurmdbd", "mariadb"],
    },
    {"name": "backups", "path": "/var/backups/slurm"},
]
SIZE = 400 / 1024


def named(number: int) -> str:
    """How an instance would see a volume."""
    return f"nvme-Amazon_Elastic_Block_Store_vol{number:017x}"


@dataclass
class Heads:
    """Two head nodes, one after the other, and their devices."""

    machines: Machines
    disks: Disks
    device: str

    def variables(self, host: str) -> dict[str, Any]:
        return {
            "data_volume_device": self.device,
            "data_volume_size_gib": SIZE,
            "data_volume_folders": FOLDERS,
            **variables_of_slurm(self.machines.folder, host),
        }

    def play(
        self, host: str, *roles: str, arguments: Any = (), expect: int = 0, **changed: Any
    ) -> Played:
        variables = {**self.variables(host), **changed}
        played = play_on(self.machines, host, roles, variables, *arguments)
        assert played.code == expect, played.output
        return played

    def on(self, host: str, command: str) -> str:
        return self.machines.on(host, command, timeout_s=120)

    def mounted(self, host: str) -> str:
        """What of the volume is mounted where."""
        return self.on(host, "findmnt --raw --noheadings --output TARGET,FSROOT -t xfs | sort")


EVERY = ("slurm_config", "munge", "slurm_database", "slurm_controller")


def variables_of_slurm(folder: Path, host: str) -> dict[str, Any]:
    """Return the variables of the head node ``host`` whose files are in ``folder``."""
    return {
        "munge_key_file": str(folder / "munge.key"),
        "slurm_config_source": str(folder / host),
        "slurm_controller_state_folder": "/var/spool/slurmctld",
        "slurm_controller_cluster": "small",
        "slurm_database_host": host,
    }


def play_on(
    machines: Machines,
    host: str,
    roles: Sequence[str],
    variables: Mapping[str, Any],
    *arguments: str,
) -> Played:
    """Run roles on one of the hosts."""
    own = machines.lab.connection(machines.host(host))
    plays = [{"hosts": host, "roles": list(roles)}]
    return machines.play(plays, *arguments, variables=variables, hosts={host: own})


def first_run(machines: Machines) -> None:
    """Make the first head node of a bare host, beside another one that stays bare."""
    prepare(machines, machines.folder)
    played = play_on(machines, HEAD, EVERY, variables_of_slurm(machines.folder, HEAD))
    assert played.code == 0, played.output


CLUSTER = ByRoles(
    name="heads",
    network="10.213.77.0/24",
    hosts=(HostSpec(HEAD), HostSpec(NEXT)),
    controller=HEAD,
    files=("munge.key", HEAD, NEXT),
    source=Path(__file__),
    play=first_run,
)


@pytest.fixture(scope="module")
def heads(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Heads]:
    folder = tmp_path_factory.mktemp("data")
    with (
        kept_machines(folder, "data", CLUSTER) as machines,
        some_disks(machines) as disks,
    ):
        up = "sacctmgr -nP show cluster >/dev/null && scontrol ping || true"
        assert wait_for(lambda: "is UP" in machines.on(HEAD, up), 300, 1)
        yield Heads(machines, disks, disks.add(named(1), "400M", [HEAD]))


def prepare(machines: Machines, folder: Path) -> None:
    """Files of the cluster on this machine, and on each host what udev does."""
    (folder / "munge.key").write_bytes(b"k" * 128)
    (folder / "munge.key").chmod(0o600)
    for host in (HEAD, NEXT):
        (folder / host).mkdir()
        head = f"{HEADER} 'small'; change it there.\n"
        (folder / host / "slurm.conf").write_text(head + SLURM.format(head=host))
        machines.on(host, f"printf %s '{UDEV}' > /usr/local/bin/udevadm")
        machines.on(host, "chmod 755 /usr/local/bin/udevadm; apt-get update -q")
    # Users have other numbers than on the first host, as those of another image.
    machines.on(NEXT, "for n in $(seq 100 120); do useradd --system --uid $n u$n || true; done")


BLANK = "/dev/disk/by-id/nvme-blank"
REFUSED: Refused = {
    "nobody-said": ("data_volume", {"data_volume_device": ""}, "unknown device of the data volume"),
    "a-letter": ("data_volume", {"data_volume_device": "/dev/sdf"}, "named below /dev/disk/by-id"),
    "not-attached": (
        "data_volume",
        {"data_volume_device": "/dev/disk/by-id/nvme-gone", "data_volume_attempts": 1},
        "the volume is not attached to it",
    ),
    "too-small": ("data_volume", {"data_volume_size_gib": 1.0}, "GiB; wanted are 1.0"),
    "somebody-s": (
        "data_volume",
        {"data_volume_device": "/dev/disk/by-id/other", "data_volume_size_gib": 0.05},
        "it has ext2 and is used by nothing; the role wipes nothing",
    ),
    "twice": (
        "data_volume",
        {"data_volume_folders": [FOLDERS[0], FOLDERS[0]]},
        "each is there once",
    ),
}
"""Variables under which the role must refuse, and what it says."""


def test_it_refuses_devices_that_it_does_not_know(heads: Heads) -> None:
    other = heads.disks.add("other", "64M", [HEAD])
    heads.on(HEAD, f"mke2fs -q -F {other}")
    heads.machines.check_refusals(HEAD, REFUSED, variables=heads.variables(HEAD))
    assert "TYPE" not in heads.on(HEAD, f"blkid -p {heads.device} || true")


def test_the_state_of_a_running_head_node_moves_to_its_volume(heads: Heads) -> None:
    heads.on(HEAD, "sacctmgr --immediate add account research")
    before = heads.on(HEAD, "systemctl show --property MainPID --value mariadb")

    foreseen = heads.play(HEAD, "data_volume", arguments=["--check", "--diff"])
    assert "would make a file system on the blank" in foreseen.words
    assert heads.mounted(HEAD) == ""
    assert heads.on(HEAD, "systemctl show --property MainPID --value mariadb") == before

    heads.play(HEAD, "data_volume")
    assert heads.mounted(HEAD).split() == [
        *(STATE, "/"),
        *("/var/backups/slurm", "/backups"),
        *("/var/lib/mysql", "/mysql"),
        *("/var/spool/slurmctld", "/slurmctld"),
    ]
    assert "research" in heads.on(HEAD, "sacctmgr -nP show account")
    assert "UP" in heads.on(HEAD, "scontrol ping")
    # What was there is kept, and not below the mount, from where an old state could come back.
    assert heads.on(HEAD, "ls -d /var/lib/mysql.before-* /var/spool/slurmctld.before-*")


def test_a_second_run_changes_nothing_and_a_check_foresees_nothing(heads: Heads) -> None:
    again = heads.play(HEAD, "data_volume", *EVERY)
    assert again.changed == 0, again.output
    foreseen = heads.play(HEAD, "data_volume", arguments=["--check", "--diff"])
    assert foreseen.changed == 0, foreseen.output


def test_a_volume_that_has_grown_is_filled(heads: Heads) -> None:
    node = heads.disks.nodes[named(1)]
    file = heads.machines.lab.hosts()[0].shared / f"{named(1)}.disk"
    run("truncate", "-s", "600M", file)
    run("losetup", "--set-capacity", node)
    assert heads.play(HEAD, "data_volume").changed == 1
    assert heads.play(HEAD, "data_volume").changed == 0
    assert int(heads.on(HEAD, f"findmnt -bno SIZE {STATE}")) > 450 << 20


def test_services_do_not_start_without_the_volume(heads: Heads) -> None:
    heads.on(HEAD, "systemctl stop slurmctld slurmdbd mariadb srv-state.mount")
    heads.on(HEAD, "mv /dev/disk/by-uuid /dev/disk/nowhere")
    assert "failed" in heads.on(HEAD, "systemctl start mariadb slurmctld 2>&1 || echo failed")
    assert heads.on(HEAD, "ls -A /var/lib/mysql /var/spool/slurmctld").split() == [
        "/var/lib/mysql:",
        "/var/spool/slurmctld:",
    ]
    heads.on(HEAD, "mv /dev/disk/nowhere /dev/disk/by-uuid; systemctl reset-failed")
    heads.on(HEAD, "systemctl start mariadb slurmdbd slurmctld")
    assert heads.mounted(HEAD).count("/var/lib/mysql /mysql") == 1


def test_it_refuses_a_blank_volume_in_the_place_of_one_with_files(heads: Heads) -> None:
    blank = heads.disks.add(named(7), "600M", [HEAD])
    played = heads.play(HEAD, "data_volume", expect=2, data_volume_device=blank)
    assert "is blank, and the host had a data volume with files before" in played.words
    assert "TYPE" not in heads.on(HEAD, f"blkid -p {blank} || true")


def test_the_next_head_node_has_the_state_of_a_snapshot(heads: Heads) -> None:
    """The first one was lost in the midst of its work; of its last snapshot a volume is made."""
    heads.on(HEAD, "sacctmgr --immediate add account physics")
    held = "sbatch --parsable --hold --job-name=kept --output=/dev/null --wrap true"
    job = heads.on(HEAD, f"cd /tmp; {held}")
    saved = "grep --count --text kept /var/spool/slurmctld/job_state || true"
    assert wait_for(lambda: heads.on(HEAD, saved) != "0", 300, 1)
    shared = heads.machines.lab.hosts()[0].shared
    heads.on(HEAD, f"fsfreeze --freeze {STATE}")  # one moment, which EBS has by itself
    run("cp", "--sparse=always", shared / f"{named(1)}.disk", shared / f"{named(2)}.disk")
    heads.on(HEAD, f"fsfreeze --unfreeze {STATE}")
    heads.on(HEAD, "sacctmgr --immediate add account later")
    owners = heads.on(HEAD, "stat -c %u /var/lib/mysql")
    # The kernel of this machine is that of both hosts, and mounts a file system once.
    heads.on(HEAD, "systemctl stop slurmctld slurmdbd mariadb srv-state.mount")

    heads.device = heads.disks.add(named(2), "600M", [NEXT])
    heads.play(NEXT, "data_volume", *EVERY)
    accounts = heads.on(NEXT, "sacctmgr -nP show account format=Account").split()
    assert {"research", "physics"} <= set(accounts)
    assert "later" not in accounts
    assert heads.on(NEXT, "stat -c %U /var/lib/mysql /var/lib/mysql/ibdata1").split() == [
        "mysql",
        "mysql",
    ]
    assert heads.on(NEXT, "stat -c %u /var/lib/mysql") != owners
    assert wait_for(lambda: "UP" in heads.on(NEXT, "scontrol ping"), 300, 1)
    assert heads.on(NEXT, "squeue --noheader --format='%i %j'") == f"{job} kept"
