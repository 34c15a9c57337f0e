"""Machines that run daemons of a Slurm release, each in namespaces of its own.

A machine is a layer over the root of a release (``slurm_releases.root_of``). Machines are joined by cables of
their own and share a folder as from a filer; they see nothing else.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from slurm_releases import call, root_of

WITHIN_S = 300
"""Time in which a daemon answers, also on a machine that is slow and busy."""
NAMESPACES = ("--net", "--uts", "--mount", "--pid", "--ipc")


class SlurmMachine:
    """One machine; commands run in its root.

    Attributes:
        address: of the machine, in 10.98.0.0/16.
    """

    def __init__(self, folder: Path, suite: str, name: str, address: str, shared: Path) -> None:
        self.folder, self.name, self.address = folder / name, name, address
        self.daemons: list[subprocess.Popen[bytes]] = []
        self.root = self.folder / "root"
        for path in (self.root, self.folder / "upper", self.folder / "work"):
            path.mkdir(parents=True)
        layers = (
            f"lowerdir={root_of(suite)},upperdir={self.folder}/upper,workdir={self.folder}/work"
        )
        script = f"""set -e
mount -t overlay overlay -o {layers} {self.root}
mount -t proc proc {self.root}/proc
mount -t tmpfs -o mode=755 tmpfs {self.root}/dev
mount -t tmpfs -o mode=755 tmpfs {self.root}/run
mkdir -p {self.root}/dev/shm {self.root}/srv/slurm {self.root}/run/munge {self.root}/run/slurm
mount --bind {shared} {self.root}/srv/slurm
mknod -m 666 {self.root}/dev/null c 1 3
mknod -m 666 {self.root}/dev/zero c 1 5
mknod -m 666 {self.root}/dev/urandom c 1 9
hostname {name}
ip link set lo up
touch {self.folder}/ready
exec sleep infinity
"""
        self.process = subprocess.Popen(
            ["unshare", *NAMESPACES, "--fork", "--kill-child", "--propagation", "private",
             "bash", "-c", script],
            stdin=subprocess.DEVNULL,
        )  # fmt: skip
        wait_for((self.folder / "ready").exists, f"the machine {name}")
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text()
        self.pid = int(children.split()[0])

    def enter(self) -> list[str]:
        """Return the words by which a program runs in the namespaces of the machine."""
        return ["nsenter", "-t", str(self.pid), "-n", "-u", "-m", "-p", "-i"]

    def on(self, command: str, *, check: bool = True, timeout_s: float = WITHIN_S) -> str:
        """Return what a command of the shell prints in the root of the machine.

        Raises:
            AssertionError: it failed; with what it printed.
        """
        done = subprocess.run(
            [*self.enter(), "chroot", str(self.root), "bash", "-c", command],
            capture_output=True,
            text=True,
            timeout=timeout_s,
            check=False,
        )
        assert not check or done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
        return (done.stdout + done.stderr).strip()

    def put(self, files: Mapping[str, str], folder: str = "/etc/slurm") -> None:
        """Write files into a folder of the machine."""
        place = self.folder / "put"
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        for name, text in files.items():
            (place / name).write_text(text)
        call(*self.enter(), "mkdir", "-p", f"{self.root}{folder}")
        for name in files:
            call(*self.enter(), "cp", str(place / name), f"{self.root}{folder}/{name}")

    def start(self, command: str, log: str) -> subprocess.Popen[bytes]:
        """Start a daemon; what it prints is in a file of the machine's folder."""
        with (self.folder / log).open("ab") as file:
            words = [*self.enter(), "chroot", str(self.root), *command.split()]
            made = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=file, stderr=file)
        self.daemons.append(made)
        return made

    def prepare(self, key: bytes, hosts: Mapping[str, str]) -> None:
        """Start MUNGE, make the folders of Slurm, and know the other machines."""
        (self.folder / "munge.key").write_bytes(key)
        call(*self.enter(), "cp", f"{self.folder}/munge.key", f"{self.root}/etc/munge/munge.key")
        lines = "".join(f"{address} {name}\n" for name, address in hosts.items())
        self.put({"hosts": f"127.0.0.1 localhost\n{lines}"}, "/etc")
        self.on(
            "mkdir -p /var/log/munge /var/log/slurm /var/spool/slurmctld /var/spool/slurmd /etc/slurm; "
            "chown -R munge:munge /etc/munge /run/munge /var/log/munge; chmod 400 /etc/munge/munge.key; "
            "chown slurm:slurm /var/log/slurm /var/spool/slurmctld /run/slurm /srv/slurm; "
            "setpriv --reuid=munge --regid=munge --clear-groups munged --force"
        )

    def log(self, name: str) -> str:
        """Return what a daemon has printed."""
        return (self.folder / name).read_text(errors="replace")


@contextlib.contextmanager
def slurm_machines(
    folder: Path, suite: str, *names: str, step: int = 1
) -> Iterator[list[SlurmMachine]]:
    """Yield machines on one bridge that share ``/srv/slurm``; they are gone afterwards.

    The first has the bridge. Their addresses are ``step`` apart.
    """
    shared = folder / "shared"
    shared.mkdir()
    made: list[SlurmMachine] = []
    try:
        hosts = {name: f"10.98.0.{1 + step * number}" for number, name in enumerate(names)}
        made += [SlurmMachine(folder, suite, *one, shared) for one in hosts.items()]
        first, key = made[0], os.urandom(1024)
        call(*first.enter(), "ip", "link", "add", "br0", "type", "bridge")
        call(*first.enter(), "ip", "address", "add", f"{first.address}/16", "dev", "br0")
        call(*first.enter(), "ip", "link", "set", "br0", "up")
        for number, other in enumerate(made[1:], 1):
            call("ip", "link", "add", f"v{number}", "netns", str(first.pid), "type", "veth",
                 "peer", "name", "eth0", "netns", str(other.pid))  # fmt: skip
            call(*first.enter(), "ip", "link", "set", f"v{number}", "master", "br0", "up")
            call(*other.enter(), "ip", "address", "add", f"{other.address}/16", "dev", "eth0")
            call(*other.enter(), "ip", "link", "set", "eth0", "up")
        for machine in made:
            machine.prepare(key, hosts)
        yield made
    finally:
        for machine in made:
            machine.process.send_signal(signal.SIGKILL)
            for process in (machine.process, *machine.daemons):
                process.wait()


def wait_for(ready: Callable[[], bool], what: str, within_s: float = WITHIN_S) -> None:
    """Wait until ``ready`` is true.

    Raises:
        AssertionError: it does not become so.
    """
    end = time.monotonic() + within_s
    while not ready():
        assert time.monotonic() < end, f"{what}: not within {within_s:.0f} s"
        time.sleep(0.3)


def with_placed_jobs(files: Mapping[str, str]) -> dict[str, str]:
    """Return the files so that slurmctld places jobs without any slurmd.

    Nodes are those of a cloud that never come up; what needs a slurmd, a database or control groups is left out.
    """
    text = re.sub(r"^(NodeName=.*)$", r"\1 State=CLOUD", files["slurm.conf"], flags=re.MULTILINE)
    out = r"^(Accounting\w*|Prolog|Epilog|HealthCheck\w*|JobAcct\w*|PrologFlags)=.*\n"
    text = re.sub(out, "", text, flags=re.MULTILINE)
    more = "SuspendProgram=/bin/true\nResumeProgram=/bin/true\nSuspendTime=100000\n"
    gres = files["gres.conf"].replace(" AutoDetect=nvidia", "")  # which such nodes do not have
    return {**files, "slurm.conf": text + more, "gres.conf": gres}
