"""What slurmctld itself makes of a configuration: a daemon in namespaces of its own, asked by ``scontrol``.

Only the keys that start the daemon are replaced: where it keeps files, whom it trusts, what it asks others.
No name is resolved but those of the configuration, all of which are the one address there is.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

ADDRESS = "10.98.0.1"
_STARTS: Mapping[str, str] = {
    "AuthType": "auth/none",
    "CredType": "cred/none",
    "SlurmUser": "root",
    "SlurmctldPort": "47017",
    "SlurmdPort": "47018",
    "AccountingStorageType": "accounting_storage/none",
    "JobCompType": "jobcomp/none",
    "ProctrackType": "proctrack/linuxproc",
    "TaskPlugin": "task/none",
    "JobAcctGatherType": "jobacct_gather/none",
    "MpiDefault": "none",
}
_LEFT_OUT = (
    *_STARTS,
    *(
        "StateSaveLocation",
        "SlurmdSpoolDir",
        "SlurmctldPidFile",
        "SlurmdPidFile",
        "SlurmctldLogFile",
    ),
    *(
        "SlurmdLogFile",
        "AccountingStorageHost",
        "AccountingStorageEnforce",
        "AccountingStorageTRES",
    ),
    *(
        "Prolog",
        "Epilog",
        "HealthCheckProgram",
        "HealthCheckInterval",
        "HealthCheckNodeState",
        "PrologFlags",
    ),
    *(
        "ControlMachine",
        "ControlAddr",
        "BackupController",
        "SlurmctldHost",
        "PrivateData",
        "PreemptType",
    ),
    *("ClusterName", "FastSchedule", "SelectType", "SelectTypeParameters", "PriorityType"),
)
"""Keys of the cluster that have nothing to do with its nodes and partitions."""
_DAEMON = """
set -e
ip link set lo up
ip link add own type veth peer name other
ip address add {address}/24 dev own
ip link set own up
ip link set other up
mount --bind hosts /etc/hosts
mount --bind nsswitch.conf /etc/nsswitch.conf
export SLURM_CONF=$PWD/slurm.conf
slurmctld -D -f $PWD/slurm.conf >output 2>&1 &
daemon=$!
for _ in $(seq 100); do
  kill -0 $daemon 2>/dev/null || exit 1
  if timeout 10 scontrol ping 2>/dev/null | grep -q UP; then break; fi
  sleep 0.1
done
scontrol -o show node >nodes
scontrol -o show partition >partitions
kill $daemon
wait $daemon || true
"""


@dataclass(frozen=True)
class SlurmReading:
    """Nodes and partitions as ``scontrol`` shows them, by name; ``error`` where slurmctld does not start."""

    nodes: Mapping[str, Mapping[str, str]]
    partitions: Mapping[str, Mapping[str, str]]
    error: str = ""


def ask_slurmctld(folder: Path, files: Mapping[str, str], hosts: Iterable[str]) -> SlurmReading:
    """Return what slurmctld makes of a ``slurm.conf`` and the files beside it."""
    folder.mkdir(parents=True)
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(_without(text), "utf-8")
    own = {
        **_STARTS,
        "ClusterName": "found",
        "SlurmctldHost": "ctl",
        "SelectType": "select/cons_tres",
        "SelectTypeParameters": "CR_Core_Memory",
        "StateSaveLocation": folder / "state",
        "SlurmdSpoolDir": folder / "spool",
        "SlurmctldPidFile": folder / "slurmctld.pid",
        "SlurmctldLogFile": folder / "log",
    }
    (folder / "state").mkdir()
    with (folder / "slurm.conf").open("a", encoding="utf-8") as file:
        file.writelines(f"{key}={value}\n" for key, value in own.items())
    names = " ".join(sorted({"ctl", *hosts}))
    (folder / "hosts").write_text(
        "127.0.0.1 localhost\n" + "".join(f"{ADDRESS} {name}\n" for name in names.split()), "utf-8"
    )
    (folder / "nsswitch.conf").write_text("hosts: files\npasswd: files\ngroup: files\n", "utf-8")
    start = "import os, socket, sys; socket.sethostname('ctl'); os.execvp('bash', ['bash', '-c', sys.argv[1]])"
    done = subprocess.run(
        [
            *("unshare", "--net", "--mount", "--uts", "--pid", "--fork", "--kill-child"),
            *(
                "--propagation",
                "private",
                sys.executable,
                "-c",
                start,
                _DAEMON.format(address=ADDRESS),
            ),
        ],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    if done.returncode:
        logs = [folder / "log", folder / "output"]
        log = "\n".join(path.read_text("utf-8", "replace") for path in logs if path.exists())
        wrong = [line for line in log.splitlines() if "fatal" in line or "error:" in line]
        return SlurmReading({}, {}, "\n".join(wrong) or done.stderr)
    return SlurmReading(
        _shown(folder / "nodes", "NodeName"), _shown(folder / "partitions", "PartitionName")
    )


def host_names(folder: Path, lists: Iterable[str]) -> list[str]:
    """Return the names of host lists as Slurm itself expands them."""
    conf = folder / "names.conf"
    conf.write_text("ClusterName=names\nSlurmctldHost=localhost\n", "utf-8")
    command = ["scontrol", "show", "hostnames", ",".join(lists)]
    environment = {**os.environ, "SLURM_CONF": str(conf)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return done.stdout.split()


def _without(text: str) -> str:
    keys = "|".join(_LEFT_OUT)
    return re.sub(rf"(?im)^[ \t]*({keys})[ \t]*=.*$", "", text)


def _shown(path: Path, key: str) -> dict[str, dict[str, str]]:
    found = {}
    for line in path.read_text("utf-8").splitlines():
        words = dict(re.findall(r"([A-Za-z:/]+)=(.*?)(?=\s+[A-Za-z:/]+=|\s*$)", line))
        found[words[key]] = words
    return found
