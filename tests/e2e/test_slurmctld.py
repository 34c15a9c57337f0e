"""A real slurmctld reads the files generated for 12,500 nodes, in a network of its own.

Their addresses are in the files: the one name server there is never answers.

It needs root, for the namespaces, and ``slurmctld``, ``scontrol``, ``sinfo`` and ``munged``.
"""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from ipaddress import IPv4Address
from pathlib import Path
from typing import Any

import pytest

from large_cluster import FIRST, LEAVES_PER_POD, NODES, PER_LEAF, PODS, large_cluster
from rackwright.model.names import expand_hostlist
from rackwright.plan.model import Plan
from rackwright.render.slurm import render_slurm

PROGRAMS = ("slurmctld", "scontrol", "sinfo", "munged", "unshare", "nsenter")
MISSING = [name for name in PROGRAMS if shutil.which(name) is None]

NAMESPACES = ("--net", "--uts", "--mount")
NAME_SERVER = """
import socket, sys
server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
server.bind(("127.0.0.1", 53))
with open(sys.argv[1], "ab", buffering=0) as asked:
    while True:
        words, at = [], 12
        message = server.recv(512)
        while message[at]:
            words.append(message[at + 1 : at + 1 + message[at]])
            at += 1 + message[at]
        asked.write(b".".join(words) + b"\\n")
"""
"""It writes down what it is asked and never answers: whoever asks waits for seconds, each time."""

Measured = Callable[[str], None]

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(os.geteuid() != 0, reason="namespaces need root"),
    pytest.mark.skipif(bool(MISSING), reason=f"not installed: {', '.join(MISSING)}"),
]


def a_plan(folder: Path) -> Plan:
    """The large cluster with its folders and its MUNGE in ``folder``."""
    return large_cluster(
        folders={name: str(folder / name) for name in ("state", "spool", "log", "run")},
        extra={
            "AuthInfo": f"socket={folder}/munge/socket",
            "SchedulerParameters": "bf_max_job_user=50",
        },
    )


@dataclass(frozen=True)
class Controller:
    """A running slurmctld with the namespaces and the configuration it has."""

    folder: Path
    namespaces: int
    pid: int
    started: float
    """Seconds until it answered."""

    def ask(self, *command: str) -> str:
        enter = ["nsenter", "-t", str(self.namespaces), *NAMESPACES, *command]
        environment = {**os.environ, "SLURM_CONF": str(self.folder / "slurm.conf")}
        done = subprocess.run(enter, env=environment, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, f"{command}: {done.stderr}{done.stdout}"
        return done.stdout

    def memory_mib(self) -> float:
        status = Path(f"/proc/{self.pid}/status").read_text()
        (line,) = [line for line in status.splitlines() if line.startswith("VmHWM")]
        return int(line.split()[1]) / 1024


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """A folder that the user 'slurm' may enter, which pytest's own are not."""
    made = Path(tempfile.mkdtemp(prefix="rackwright-slurm-"))
    made.chmod(0o755)
    yield made
    shutil.rmtree(made)


@pytest.fixture(scope="module")
def files(folder: Path) -> dict[str, str]:
    made = dict(render_slurm(a_plan(folder)))
    for name, text in made.items():
        (folder / name).write_text(text)
    return made


@pytest.fixture(scope="module")
def controller(folder: Path, files: dict[str, str]) -> Iterator[Controller]:
    user = pwd.getpwnam("slurm")
    for name in ("state", "spool", "log", "run"):
        (folder / name).mkdir()
        os.chown(folder / name, user.pw_uid, user.pw_gid)
    processes: list[subprocess.Popen[bytes]] = []
    try:
        (folder / "resolv.conf").write_text("nameserver 127.0.0.1\n")
        hold = (
            "ip link set lo up && ip addr add 10.99.0.1/32 dev lo && "  # lookups want an address
            'mount --bind "$1" /etc/resolv.conf && hostname head-1'
            " && exec sleep infinity"
        )
        command = ["unshare", *NAMESPACES, "sh", "-c", hold, "sh", str(folder / "resolv.conf")]
        processes.append(subprocess.Popen(command))
        processes.append(start_munge(folder / "munge"))
        wait_for(lambda: (folder / "munge" / "socket").exists(), "munged")
        holder = processes[0].pid
        wait_for(lambda: "head-1" in run_in(holder, "hostname"), "the namespaces")
        enter = ["nsenter", "-t", str(holder), *NAMESPACES]
        asked = folder / "asked"
        processes.append(subprocess.Popen([*enter, sys.executable, "-c", NAME_SERVER, str(asked)]))
        wait_for(asked.exists, "the name server")
        began = time.monotonic()
        environment = {**os.environ, "SLURM_CONF": str(folder / "slurm.conf")}
        with (folder / "slurmctld.log").open("wb") as log:
            command = [*enter, "slurmctld", "-D", "-c", "-v"]
            processes.append(subprocess.Popen(command, env=environment, stdout=log, stderr=log))
        made = Controller(folder, holder, processes[-1].pid, 0.0)
        wait_for(lambda: answers(made, processes[-1]), "slurmctld", folder / "slurmctld.log")
        yield Controller(folder, holder, processes[-1].pid, time.monotonic() - began)
    finally:
        for process in reversed(processes):
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(timeout=300)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def start_munge(folder: Path) -> subprocess.Popen[bytes]:
    folder.mkdir(mode=0o755)
    key = folder / "key"
    key.write_bytes(os.urandom(1024))
    key.chmod(0o600)
    files = [f"--{n}={folder / n}" for n in ("socket", "pid-file", "log-file", "seed-file")]
    return subprocess.Popen(["munged", "--foreground", "--force", f"--key-file={key}", *files])


def run_in(holder: int, *command: str) -> str:
    enter = ["nsenter", "-t", str(holder), *NAMESPACES, *command]
    return subprocess.run(enter, capture_output=True, text=True, timeout=300, check=False).stdout


def answers(controller: Controller, process: subprocess.Popen[bytes]) -> bool:
    assert process.poll() is None, (controller.folder / "slurmctld.log").read_text()[-3000:]
    environment = {**os.environ, "SLURM_CONF": str(controller.folder / "slurm.conf")}
    enter = ["nsenter", "-t", str(controller.namespaces), *NAMESPACES, "scontrol", "ping"]
    done = subprocess.run(enter, env=environment, capture_output=True, text=True, timeout=300)
    return "is UP" in done.stdout


def wait_for(condition: Any, what: str, log: Path | None = None) -> None:
    end = time.monotonic() + 300
    while not condition():
        tail = log.read_text()[-3000:] if log is not None else ""
        assert time.monotonic() < end, f"{what} did not start {tail}"
        time.sleep(0.1)


def words(line: str) -> dict[str, str]:
    return dict(word.split("=", 1) for word in line.split() if "=" in word)


def test_it_starts_and_says_what_it_took(controller: Controller, measured: Measured) -> None:
    memory = controller.memory_mib()
    measured(f"slurmctld with {NODES:,} nodes: up in {controller.started:.2f} s, {memory:.0f} MiB")
    assert memory < 1024


def test_no_name_of_a_node_is_looked_up(controller: Controller) -> None:
    run_in(controller.namespaces, "timeout", "1", "getent", "hosts", "dgx-00000.example.com")
    asked = set((controller.folder / "asked").read_text().splitlines())
    assert "dgx-00000.example.com" in asked, "the name server writes down what it is asked"
    assert not [name for name in asked if name.startswith("dgx-") and "00000" not in name]


def test_each_node_has_its_planned_address(controller: Controller) -> None:
    for number in (1, 247, NODES):
        shown = words(controller.ask("scontrol", "show", "node", f"dgx-{number}"))
        assert shown["NodeAddr"] == str(IPv4Address(FIRST) + number - 1)


def test_sinfo_agrees_with_the_blueprint(controller: Controller) -> None:
    rows = [
        row.split() for row in controller.ask("sinfo", "-h", "-o", "%R %D %c %m %G").splitlines()
    ]
    assert {row[0] for row in rows} == {"gpu", "urgent"}
    for name in ("gpu", "urgent"):
        mine = [row for row in rows if row[0] == name]
        assert sum(int(row[1]) for row in mine) == NODES
        # 95 % of 2 TiB; eight H100 and 224 CPUs, as the catalogue says of a DGX H100.
        assert {tuple(row[2:]) for row in mine} == {("224", "1992294", "gpu:h100:8")}


def test_it_has_the_sizes_of_so_many_nodes(controller: Controller) -> None:
    lines = controller.ask("scontrol", "show", "config").splitlines()
    shown = {key.strip(): value.strip() for key, _, value in (ln.partition("=") for ln in lines)}
    assert {key: shown[key] for key in SIZES} == SIZES


SIZES = {
    "MaxArraySize": "20001",
    "MaxJobCount": "200000",
    "MessageTimeout": "30 sec",
    "PrivateData": "jobs",
    "SchedulerParameters": "bf_window=10080,bf_resolution=420,bf_continue,max_rpc_cnt=150,"
    "bf_max_job_user=50",
    "TreeWidth": "23",
    "UnkillableStepTimeout": "150 sec",
}
"""What ``scontrol show config`` says of 12,500 nodes with eight GPUs and jobs of a week."""


def test_jobs_have_shares_of_what_the_nodes_do_not_keep(controller: Controller) -> None:
    node = words(controller.ask("scontrol", "show", "node", "dgx-1"))
    assert (node["CoreSpecCount"], node["MemSpecLimit"]) == ("4", "65536")
    for name in ("gpu", "urgent"):
        shown = controller.ask("scontrol", "show", "partition", name)
        (line,) = [ln.strip() for ln in shown.splitlines() if "JobDefaults=" in ln]
        # 112 cores less 4 are 13 for each of eight GPUs, with two threads each.
        wanted = {"DefCpuPerGPU=26", f"DefMemPerGPU={(1_992_294 - 65_536) // 8}"}
        assert set(line.removeprefix("JobDefaults=").split(",")) == wanted


def test_the_tree_is_that_of_the_fabric(controller: Controller) -> None:
    lines = [words(line) for line in controller.ask("scontrol", "show", "topo").splitlines()]
    by_level: dict[int, list[dict[str, str]]] = {}
    for line in lines:
        by_level.setdefault(int(line["Level"]), []).append(line)
    leaves = -(-NODES // PER_LEAF)
    assert {level: len(found) for level, found in by_level.items()} == {0: leaves, 1: PODS, 2: 1}
    hosts = [expand_hostlist(line["Nodes"]) for line in by_level[0]]
    assert all(len(nodes) <= PER_LEAF for nodes in hosts)
    assert len({node for nodes in hosts for node in nodes}) == NODES == sum(map(len, hosts))
    assert len(expand_hostlist(by_level[2][0]["Nodes"])) == NODES
    for pod in by_level[1]:
        assert len(expand_hostlist(pod["Switches"])) <= LEAVES_PER_POD


def test_a_host_is_on_the_leaf_that_the_files_say(
    controller: Controller, files: dict[str, str]
) -> None:
    written = [words(line) for line in files["topology.conf"].splitlines() if "Nodes=" in line]
    (first,) = [w["SwitchName"] for w in written if "dgx-33" in expand_hostlist(w["Nodes"])]
    shown = controller.ask("scontrol", "show", "topo", "dgx-33").splitlines()
    assert words(shown[0])["SwitchName"] == first


def test_nothing_in_the_files_is_refused(controller: Controller) -> None:
    log = (controller.folder / "slurmctld.log").read_text()
    log += (controller.folder / "log" / "slurmctld.log").read_text()
    wrong = [line for line in log.splitlines() if "error:" in line or "fatal:" in line]
    # What has nothing to do with the files: no mailer, no PMIx library, no state to read yet, and
    # how long a busy machine takes to tell the time.
    known = ("MailProg is invalid", "mpi/pmix", "state file", "backup state save", "gettimeofday()")
    other = [line for line in wrong if not any(text in line for text in known)]
    assert not other, "\n".join(other)


def test_a_reconfiguration_takes_the_same_files(controller: Controller, measured: Measured) -> None:
    began = time.monotonic()
    controller.ask("scontrol", "reconfigure")
    measured(f"scontrol reconfigure: {time.monotonic() - began:.2f} s")
    assert "is UP" in controller.ask("scontrol", "ping")
