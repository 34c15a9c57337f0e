"""Releases of Slurm as Debian 12, 13 and sid have them: their daemons read configurations.

Each release is installed once, by debootstrap, and kept in the cache of the lab. Its daemons run in
namespaces of their own, on a layer over that root which is gone with them: nothing of this machine is
seen there, and no name is resolved but those that a case gives.

    python tests/slurm_releases.py FOLDER    inside the namespaces: answers FOLDER/request.json
"""

from __future__ import annotations

import contextlib
import datetime as dt
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

DAEMONS = ("slurmctld", "slurmd", "slurmdbd", "slurm-client", "munge", "mariadb-server")
PACKAGES: Mapping[str, tuple[str, ...]] = {
    "bookworm": (*DAEMONS, "libpmix2"),
    "trixie": (*DAEMONS, "libpmix2t64"),
    "sid": (*DAEMONS, "libpmix2t64"),
}
"""What each suite is installed with, and what that needs."""
UNNEEDED = (
    "usr/share/doc",
    "usr/share/man",
    "usr/share/locale",
    "var/cache/apt",
    "var/lib/apt/lists",
)
ADDRESS = "10.99.0.1"
"""Of the machine, beside loopback."""
WITHIN_S = 300
"""Time in which a daemon answers, also on a busy machine."""
NAMESPACES = ("--net", "--uts", "--mount", "--pid", "--ipc")


@dataclass(frozen=True)
class Case:
    """A configuration, and the surroundings that it is for.

    Attributes:
        files: content by name, of ``/etc/slurm``.
        host: that runs slurmctld.
        hosts: addresses by name, of ``/etc/hosts``.
        addresses: of the machine.
        accounting: words for ``sacctmgr --immediate``, before slurmctld begins.
    """

    files: Mapping[str, str]
    host: str
    hosts: Mapping[str, str]
    addresses: Sequence[str] = ()
    accounting: Sequence[Sequence[str]] = ()


@dataclass(frozen=True)
class Reading:
    """What the daemons of a release made of a case.

    Attributes:
        log: of slurmctld.
        config: what ``scontrol show config`` says, by key.
        nodes: how many ``sinfo`` counts.
        seconds: until slurmctld answered.
        memory_mib: that it had at most until then.
        asked: names that were asked of a name server.
    """

    log: str
    config: Mapping[str, str]
    nodes: int
    seconds: float
    memory_mib: float
    asked: Sequence[str]


@dataclass(frozen=True)
class Answers:
    """What a release made of all cases.

    Attributes:
        version: of its Slurm.
        database_log: of slurmdbd, which read the ``slurmdbd.conf`` of the role.
        readings: by the name of the case.
    """

    version: str
    database_log: str
    readings: Mapping[str, Reading]


def root_of(suite: str) -> Path:
    """The root file system of a suite with its Slurm, made where there is none.

    That of sid is of the day; the others do not change but for mended faults.

    Raises:
        ExternalToolError: it cannot be made.
    """
    from rackwright.locks import turn
    from rackwright_lab.base import cache_folder, clear, machine_repository, recipe_key
    from rackwright_lab.system import run

    packages = PACKAGES[suite]
    day = dt.datetime.now(dt.UTC).date().isoformat() if suite == "sid" else ""
    folder = cache_folder() / f"slurm-{suite}-{recipe_key([suite, packages, UNNEEDED, day])}"
    cache_folder().mkdir(parents=True, exist_ok=True)
    with turn(cache_folder() / f"slurm-{suite}.lock"):
        if folder.is_dir():
            return folder
        for old in cache_folder().glob(f"slurm-{suite}-*"):
            clear(old)
        unfinished = folder.with_suffix(".new")
        run(
            *("unshare", "--mount", "--propagation", "private"),
            *("debootstrap", "--variant=minbase", f"--include={','.join(packages)}"),
            *(suite, unfinished, machine_repository().uri),
            timeout_s=1200,
        )
        for name in UNNEEDED:
            shutil.rmtree(unfinished / name, ignore_errors=True)
        unfinished.rename(folder)
    return folder


def version_of(suite: str) -> str:
    """The version of Slurm that a suite has, like ``24.11.5``.

    Raises:
        ExternalToolError: its root cannot be made.
    """
    from rackwright_lab.system import run

    return run("chroot", root_of(suite), "slurmctld", "-V").split()[-1]


def read_all(
    suite: str, folder: Path, cases: Mapping[str, Case], database: Mapping[str, str]
) -> Answers:
    """What the release of ``suite`` makes of the cases.

    Args:
        folder: that is empty.
        database: content of ``slurmdbd.conf`` and of ``mariadb.cnf``, and the SQL ``statement`` of the role.

    Raises:
        ExternalToolError: its root cannot be made.
        AssertionError: a daemon did not answer; with its log.
    """
    request = {
        "root": str(root_of(suite)),
        "database": dict(database),
        "cases": {name: asdict(case) for name, case in cases.items()},
    }
    (folder / "request.json").write_text(json.dumps(request))
    program = [sys.executable, __file__, str(folder)]
    command = ["unshare", *NAMESPACES, "--fork", "--kill-child", "--mount-proc", *program]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-6000:]
    made = json.loads((folder / "answer.json").read_text())
    readings = {name: Reading(**reading) for name, reading in made.pop("readings").items()}
    return Answers(**made, readings=readings)


class Inside:
    """The namespaces, in which this process is the first."""

    def __init__(self, folder: Path, request: Mapping[str, Any]) -> None:
        self.folder = folder
        self.request = request
        self.root = folder / "root"
        self.asked: list[str] = []

    def answer(self) -> dict[str, Any]:
        """What is asked for."""
        self.prepare()
        version = self.do("slurmctld", "-V").split()[-1]
        with self.database_runs():
            readings = {name: self.read(case) for name, case in self.request["cases"].items()}
        return {
            "version": version,
            "database_log": (self.root / "var/log/slurm/slurmdbd.log").read_text(),
            "readings": {name: asdict(reading) for name, reading in readings.items()},
        }

    def prepare(self) -> None:
        """Mount the root, and have a name server that never answers."""
        call("ip", "link", "set", "lo", "up")
        call("ip", "address", "add", f"{ADDRESS}/32", "dev", "lo")  # lookups want an address
        upper, work = self.folder / "upper", self.folder / "work"
        for path in (self.root, upper, work):
            path.mkdir()
        options = f"lowerdir={self.request['root']},upperdir={upper},workdir={work}"
        call("mount", "-t", "overlay", "overlay", "-o", options, str(self.root))
        call("mount", "-t", "proc", "proc", str(self.root / "proc"))
        call("mount", "-t", "sysfs", "-o", "ro", "sysfs", str(self.root / "sys"))
        call("mount", "-t", "tmpfs", "-o", "mode=755", "tmpfs", str(self.root / "dev"))
        for name, major, minor in (("null", 1, 3), ("zero", 1, 5), ("urandom", 1, 9)):
            self.make_device(self.root / "dev" / name, major, minor)
        (self.root / "dev/shm").mkdir(mode=0o1777)
        for name in ("mysqld", "mariadbd"):  # where each release has its socket
            (self.root / "run" / name).mkdir(exist_ok=True)
            (self.root / "run" / name).chmod(0o777)
        (self.root / "etc/resolv.conf").unlink(missing_ok=True)
        (self.root / "etc/resolv.conf").write_text("nameserver 127.0.0.1\n")
        mail = self.root / "usr/bin/mail"
        mail.write_text("#!/bin/sh\n")
        mail.chmod(0o755)
        server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        server.bind(("127.0.0.1", 53))
        threading.Thread(target=self.listen, args=(server,), daemon=True).start()

    def listen(self, server: socket.socket) -> None:
        """Write down what the name server is asked."""
        while True:
            message, words, at = server.recv(512), [], 12
            while message[at]:
                words.append(message[at + 1 : at + 1 + message[at]].decode())
                at += 1 + message[at]
            self.asked.append(".".join(words))

    @staticmethod
    def make_device(path: Path, major: int, minor: int) -> None:
        os.mknod(path, 0o20666, os.makedev(major, minor))
        path.chmod(0o666)

    def do(self, *words: str) -> str:
        """What a command prints, in the root of the release."""
        return call("chroot", str(self.root), *words)

    def start(self, *words: str) -> subprocess.Popen[bytes]:
        """A program in the root; what it says is in a file of its name."""
        with (self.folder / f"{words[0]}.log").open("ab") as log:
            command = ["chroot", str(self.root), *words]
            return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    @contextlib.contextmanager
    def database_runs(self) -> Iterator[None]:
        """MariaDB, MUNGE and slurmdbd."""
        call("hostname", "database")
        (self.root / "etc/hosts").write_text(f"127.0.0.1 localhost\n{ADDRESS} database\n")
        settings = self.root / "etc/mysql/mariadb.conf.d/90-rackwright.cnf"
        settings.write_text(self.request["database"]["mariadb.cnf"])
        maria = self.start("mariadbd", "--user=mysql", "--skip-networking")
        self.wait(maria, lambda: any((self.root / "run").glob("m*d/m*d.sock")))
        self.do("mariadb", "-e", self.request["database"]["statement"])
        key = self.root / "etc/munge/munge.key"
        key.write_bytes(os.urandom(1024))
        owner = (self.root / "etc/munge").stat()
        os.chown(key, owner.st_uid, owner.st_gid)
        key.chmod(0o600)
        (self.root / "run/munge").mkdir(exist_ok=True)
        os.chown(self.root / "run/munge", owner.st_uid, owner.st_gid)
        munge = self.start("setpriv", "--reuid=munge", "--regid=munge", "--clear-groups",
                           "munged", "--foreground", "--force")  # fmt: skip
        self.wait(munge, (self.root / "run/munge/munge.socket.2").exists)
        for name in ("var/log/slurm", "run/slurm", "var/spool/slurmctld", "var/spool/slurmd"):
            path = self.root / name
            path.mkdir(parents=True, exist_ok=True)
            shutil.chown(path, *self.slurm())
        config = self.root / "etc/slurm/slurmdbd.conf"
        config.parent.mkdir(exist_ok=True)
        config.write_text(self.request["database"]["slurmdbd.conf"])
        config.chmod(0o600)
        shutil.chown(config, *self.slurm())
        dbd = self.start("slurmdbd", "-D")
        self.wait(dbd, lambda: is_open("127.0.0.1", 6819))
        yield
        for daemon in (dbd, munge, maria):
            stop(daemon)

    def slurm(self) -> tuple[int, int]:
        """Numbers of the user of Slurm in the root."""
        words = self.do("getent", "passwd", "slurm").split(":")
        return int(words[2]), int(words[3])

    def read(self, case: Mapping[str, Any]) -> Reading:
        """What slurmctld and slurmd make of a case."""
        self.asked.clear()
        folder = self.root / "etc/slurm"
        for path in folder.iterdir():
            if path.is_file() and path.name != "slurmdbd.conf":
                path.unlink()
        for name, text in case["files"].items():
            (folder / name).write_text(text)
        call("hostname", case["host"])
        for address in case["addresses"]:
            subprocess.run(["ip", "address", "add", f"{address}/32", "dev", "lo"], check=False)
        hosts = [f"{address} {name}\n" for name, address in case["hosts"].items()]
        (self.root / "etc/hosts").write_text(
            f"127.0.0.1 localhost\n{ADDRESS} machine\n" + "".join(hosts)
        )
        log = self.root / "var/log/slurm/slurmctld.log"
        log.unlink(missing_ok=True)
        for path in (self.root / "var/spool/slurmctld").iterdir():
            path.unlink() if path.is_file() else shutil.rmtree(path)
        for words in case["accounting"]:  # it fails where another case has made the same
            command = ["chroot", str(self.root), "sacctmgr", "--immediate", *words]
            subprocess.run(command, capture_output=True, timeout=300, check=False)
        began = time.monotonic()
        controller = self.start("slurmctld", "-D", "-c", "-v")
        self.wait(controller, self.answers, log)
        seconds = time.monotonic() - began
        status = Path(f"/proc/{controller.pid}/status").read_text().splitlines()
        (peak,) = [line.split()[1] for line in status if line.startswith("VmHWM")]
        lines = self.do("scontrol", "show", "config").splitlines()
        pairs = (line.partition("=") for line in lines)
        nodes = sum(map(int, self.do("sinfo", "-h", "-o", "%D").split()))
        stop(controller)
        return Reading(
            log=log.read_text(),
            config={key.strip(): value.strip() for key, _, value in pairs},
            nodes=nodes,
            seconds=seconds,
            memory_mib=int(peak) / 1024,
            asked=list(self.asked),
        )

    def answers(self) -> bool:
        command = ["chroot", str(self.root), "scontrol", "ping"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
        return " is UP" in done.stdout

    def wait(self, daemon: subprocess.Popen[bytes], ready: Callable[[], bool], *logs: Path) -> None:
        end = time.monotonic() + WITHIN_S
        while not ready():
            if daemon.poll() is not None or time.monotonic() > end:
                own = self.folder.glob("*.log")
                said = [path.read_text(errors="replace") for path in (*own, *logs) if path.exists()]
                raise SystemExit(
                    f"{daemon.args!r}: {daemon.returncode}\n" + "\n".join(said)[-5000:]
                )
            time.sleep(0.1)


def call(*words: str) -> str:
    """What a command prints.

    Raises:
        SystemExit: it failed; with what it said.
    """
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{words} ended with {done.returncode}: {done.stderr}{done.stdout}")
    return done.stdout


def is_open(host: str, port: int) -> bool:
    """Whether somebody listens."""
    with contextlib.suppress(OSError), socket.create_connection((host, port), timeout=1):
        return True
    return False


def stop(daemon: subprocess.Popen[bytes]) -> None:
    """End a daemon, by force after a while."""
    daemon.send_signal(signal.SIGTERM)
    try:
        daemon.wait(timeout=30)
    except subprocess.TimeoutExpired:
        daemon.kill()
        daemon.wait()


def main(folder: Path) -> None:
    """Answer the request in a folder."""
    request = json.loads((folder / "request.json").read_text())
    (folder / "answer.json").write_text(json.dumps(Inside(folder, request).answer()))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
