"""A real slurmctld whose elastic nodes are instances of an embedded AWS, in a network namespace of their own.

The nodes are those of slurmd itself: each instance that runs gets one for as long as it takes to join. The program is
that of the role ``elastic``, called by slurmctld.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import functools
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import boto3

from rackwright.inventory.role_variables.slurm.elastic import elastic_variables
from rackwright.plan.load import load_plan
from rackwright.render.slurm import render_slurm
from slurm_releases import root_of

PROGRAM = Path(__file__).parents[1] / "roles/elastic/files/rackwright_elastic.py"
JOBS = ("resume", "suspend", "resume-failed", "sweep")
WITHIN_S = 240
GATEWAY = "10.20.255.254/16"
"""Address of the controller among those of the instances."""
ADDRESS = "10.98.0.1"
SCHEDULER = """
scheduler:
  kind: slurm
  version: "22.05"
  controllers: [{host: head-1}]
  topology: {plugin: flat}
  configless: true
  partitions: [{name: train, groups: [train], default: true, default_time: 0-04:00:00, max_time: 7-00:00:00}]
"""
TIMES = {"SuspendTime": 5, "SuspendTimeout": 3, "ResumeTimeout": 3600}
"""Seconds of slurm.conf: a night is short, and no node is given up on a slow machine."""
_CLONE_NEWNET = 0x40000000
_LIBC = ctypes.CDLL(None, use_errno=True)

_OWN_KEYS = re.compile(
    r"(?im)^(AuthType|CredType|SlurmUser|SlurmctldHost|StateSaveLocation|SlurmdSpoolDir|Slurm\w*PidFile|ProctrackType"
    r"|Slurm\w*LogFile|TaskPlugin|JobAcct\w*|Accounting\w*|PrologFlags|Prolog|Epilog|HealthCheck\w*|MpiDefault"
    r"|(?:Resume|Suspend|ResumeFail)Program|TopologyPlugin|GresTypes)=.*\n"
)
"""Options that are about machines, daemons and devices, and not about nodes that come and go."""


@contextlib.contextmanager
def own_network() -> Iterator[None]:
    """Put this thread, and what it starts, into a network namespace of its own for a while.

    Raises:
        OSError: the kernel refuses.
    """
    before = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
    if _LIBC.unshare(_CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), "unshare")
    try:
        # The resolver looks for addresses of a kind only where an interface beside loopback has one.
        for words in (
            "link set lo up",
            "link add own type veth peer name other",
            f"address add {ADDRESS}/24 dev own",
            "link add hall type bridge",
            f"address add {GATEWAY} dev hall",
            "link set hall up",
            "link set own up",
            "link set other up",
        ):
            subprocess.run(["ip", *words.split()], check=True)
        yield
    finally:
        _LIBC.setns(before, _CLONE_NEWNET)
        os.close(before)


@dataclass
class ElasticHall:
    """The controller of a cluster and the machines of its elastic nodes.

    Attributes:
        folder: of files; what is in it is gone with the test.
        slurm_conf: as Rackwright renders it.
        config: of the program, without its folder.
        environment: for calls of the embedded AWS.
        instances: returns those that run or start.
        times: options of ``slurm.conf`` that are set to other values, as tests cannot wait for minutes.
        daemons: processes that have been started.
        static: addresses of the nodes that always run, which no name server tells here.
        controller: slurmctld, which is one of them.
        within_s: seconds within which commands end and states come about.
    """

    folder: Path
    slurm_conf: str
    config: Mapping[str, Any]
    environment: Mapping[str, str]
    instances: Callable[[], Sequence[Any]]
    times: Mapping[str, object] = field(default_factory=dict)
    daemons: list[subprocess.Popen[bytes]] = field(default_factory=list)
    within_s: float = WITHIN_S
    static: Mapping[str, str] = field(default_factory=dict)
    controller: subprocess.Popen[bytes] = field(init=False)
    _joined: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    def __enter__(self) -> Self:
        for name in ("state", "spool", "programs", "elastic"):
            (self.folder / name).mkdir(parents=True)
        for job in JOBS:
            self._program(job)
        self._begin()
        return self

    def _begin(self) -> None:
        """Write the configuration and start slurmctld."""
        host = os.uname().nodename
        own = {
            "AuthType": "auth/none",
            "CredType": "cred/none",
            "SlurmUser": "root",
            "SlurmctldHost": f"{host}({ADDRESS})",
            "StateSaveLocation": self.folder / "state",
            "SlurmdSpoolDir": self.folder / "spool/%n",
            "SlurmctldPidFile": self.folder / "slurmctld.pid",
            "SlurmdPidFile": self.folder / "slurmd-%n.pid",
            "SlurmctldLogFile": self.folder / "slurmctld.log",
            "SlurmdLogFile": self.folder / "slurmd-%n.log",
            "ProctrackType": "proctrack/linuxproc",
            "TaskPlugin": "task/none",
            "MpiDefault": "none",
            # This machine has fewer cores than an instance: slurmd reports those of slurm.conf.
            "SlurmdParameters": "config_overrides",
            "SlurmdTimeout": 0,
        }
        text = _OWN_KEYS.sub("", self.slurm_conf)
        text = re.sub(r" Gres=\S+", "", text)
        for key, value in self.times.items():
            text = re.sub(rf"(?m)^{key}=.*\n", "", text) + f"{key}={value}\n"
        text += "".join(f"{key}={value}\n" for key, value in own.items())
        for key, job in (
            ("Resume", "resume"),
            ("Suspend", "suspend"),
            ("ResumeFail", "resume-failed"),
        ):
            text += f"{key}Program={self.folder}/programs/{job}\n"
        if self.static:
            always = next(
                line
                for line in text.splitlines()
                if line.startswith("NodeName=") and not line.endswith(" State=CLOUD")
            )
            each = [
                re.sub(r"NodeName=\S+", f"NodeName={name} NodeAddr={address}", always)
                for name, address in self.static.items()
            ]
            text = text.replace(always, "\n".join(each))
        conf = self.folder / "slurm.conf"
        conf.write_text(text)
        config = {**self.config, "folder": str(self.folder / "elastic")}
        (self.folder / "elastic.json").write_text(json.dumps(config))
        self.controller = self._daemon(
            ["slurmctld", "-D", "-f", conf], self.variables, self.folder / "output"
        )
        self.wait_for(lambda: "UP" in self.call("scontrol", "ping", check=False), "slurmctld")

    def restart(self, slurm_conf: str, config: Mapping[str, Any]) -> None:
        """Have slurmctld start again with another configuration, as a role does where nodes are added."""
        self.slurm_conf, self.config = slurm_conf, config
        self.controller.terminate()
        self.controller.wait()
        self._begin()

    def __exit__(self, *_: object) -> None:
        for daemon in self.daemons:
            daemon.send_signal(signal.SIGKILL)
            daemon.wait()
            if daemon.stdin is not None and not daemon.stdin.closed:
                daemon.stdin.close()

    @property
    def variables(self) -> dict[str, str]:
        own = {"SLURM_CONF": str(self.folder / "slurm.conf")}
        own["RACKWRIGHT_ELASTIC"] = str(self.folder / "elastic.json")
        return {**os.environ, **self.environment, **own}

    def _program(self, job: str) -> None:
        path = self.folder / "programs" / job
        own = {**self.environment, "SLURM_CONF": str(self.folder / "slurm.conf")}
        own["RACKWRIGHT_ELASTIC"] = str(self.folder / "elastic.json")
        told = "".join(f"export {key}={shlex.quote(value)}\n" for key, value in own.items())
        log = self.folder / "elastic.log"
        words = f"{sys.executable} {PROGRAM} {job}"
        path.write_text(f'#!/bin/sh\n{told}exec {words} "$@" >>{log} 2>&1\n')
        path.chmod(0o755)

    def run(self, job: str, *words: str) -> None:
        """Run one of the programs as slurmctld does."""
        done = subprocess.run(
            [self.folder / "programs" / job, *words], check=False, timeout=self.within_s
        )
        assert done.returncode == 0, self.logs()

    def start(self, job: str) -> int:
        """Start one of the programs and return its process."""
        started = subprocess.Popen([self.folder / "programs" / job])
        self.daemons.append(started)
        return started.pid

    def running(self) -> list[int]:
        """Return the processes of the program that work for this hall."""
        found = []
        for path in Path("/proc").glob("[0-9]*/environ"):
            with contextlib.suppress(OSError):
                words = (path.parent / "cmdline").read_bytes().split(b"\0")
                if (
                    str(PROGRAM).encode() in words
                    and str(self.folder).encode() in path.read_bytes()
                ):
                    found.append(int(path.parent.name))
        return found

    def call(self, *words: str, check: bool = True) -> str:
        """Return what a command of Slurm prints."""
        done = subprocess.run(
            words,
            env=self.variables,
            capture_output=True,
            text=True,
            check=False,
            timeout=self.within_s,
        )
        assert not check or done.returncode == 0, (
            f"{words}: {done.stdout}{done.stderr}{self.logs()}"
        )
        return done.stdout

    def logs(self) -> str:
        """Return the last lines of slurmctld and of the program."""
        found = []
        for name in ("slurmctld.log", "elastic.log"):
            path = self.folder / name
            if path.exists():
                found.append("\n".join(path.read_text(errors="replace").splitlines()[-40:]))
        return "\n--\n".join(found)

    def nodes(self) -> dict[str, dict[str, str]]:
        """Return the fields of each node by its name."""
        found = {}
        for line in self.call("scontrol", "-o", "show", "nodes").splitlines():
            words = dict(re.findall(r"(\w+)=(.*?)(?=\s+\w+=|\s*$)", line))
            if "NodeName" in words:
                found[words["NodeName"]] = words
        return found

    def states(self, *wanted: str) -> set[str]:
        """Return the nodes that are in all of these states."""
        return {
            name
            for name, words in self.nodes().items()
            if set(wanted) <= set(re.split(r"[+*~#!%$@^-]+", words["State"]))
        }

    def join(self) -> int:
        """Start slurmd for each node that is waited for and has an address; return their number.

        The machine of an instance that has been ended goes with its jobs.
        """
        joined = 0
        there = {one["InstanceId"]: one for one in self.instances()}
        for instance in set(self._joined) - set(there):
            self._joined.pop(instance).kill()
        nodes = self.nodes()
        for instance, one in there.items():
            name, address = _host(one), one["PrivateIpAddress"]
            words = nodes.get(name, {"State": "", "NodeAddr": ""})
            if (
                "POWERING_UP" in words["State"]
                and words["NodeAddr"] == address
                and instance not in self._joined
            ):
                # It registers when it has started.
                self._joined[instance] = self._slurmd(name, address)
                joined += 1
        return joined

    def serve(self, nodes: Mapping[str, str] | None = None) -> None:
        """Start slurmd for nodes that always run; for all of them without ``nodes``."""
        for name, address in (self.static if nodes is None else nodes).items():
            self._slurmd(name, address, elastic=False)

    def _slurmd(self, name: str, address: str, *, elastic: bool = True) -> subprocess.Popen[bytes]:
        """Start slurmd on a machine of its own, whose processes all end with the one that is returned."""
        text = (self.folder / "slurm.conf").read_text()
        group = name.rpartition("-")[0]
        lines = re.findall(rf"(?m)^NodeName={group}-.*$", text)
        own = next(line for line in lines if line.endswith(" State=CLOUD") == elastic)
        own = re.sub(r" NodeAddr=\S+", "", own)
        line = re.sub(r"NodeName=\S+", f"NodeName={name} NodeAddr={address}", own)
        folder = self.folder / f"host-{name}"
        folder.mkdir(exist_ok=True)
        # The controller has the whole list; the host needs its own line and the partitions' nodes.
        lines = [
            row for row in text.splitlines() if not row.startswith(("NodeName=", "PartitionName="))
        ]
        lines += [line.replace(" State=CLOUD", ""), f"PartitionName=own Nodes={name}"]
        lines.append("DebugFlags=NO_CONF_HASH")
        (self.folder / "spool" / name).mkdir(exist_ok=True)
        (folder / "slurm.conf").write_text("\n".join(lines) + "\n")
        base = root_of("bookworm") / "usr/sbin"
        started = self._daemon(
            [
                *("unshare", "--net", "--pid", "--fork", "--kill-child", "--mount-proc"),
                *("sh", "-c", 'read -r _; "$@"; exit', "sh"),  # it reaps what slurmd leaves
                *(base / "slurmd-wlm", "-D", "-b", "-N", name),
                *("-f", folder / "slurm.conf", "-d", base / "slurmstepd-wlm"),
            ],
            {**self.variables, "SLURM_CONF": str(folder / "slurm.conf")},
            folder / "output",
        )
        cable = f"n{len(self.daemons)}"
        own_net = Path("/proc/thread-self/ns/net").stat().st_ino
        while Path(f"/proc/{started.pid}/ns/net").stat().st_ino == own_net:
            time.sleep(0.01)
        for words in (
            f"link add {cable} type veth peer name eth0 netns {started.pid}",
            f"link set {cable} master hall up",
        ):
            subprocess.run(["ip", *words.split()], check=True)
        inside = ["nsenter", "-t", str(started.pid), "-n", "ip"]
        for words in (
            "link set lo up",
            f"address add {address}/16 dev eth0",
            "link set eth0 up",
            f"route add default via {GATEWAY.partition('/')[0]}",
        ):
            subprocess.run([*inside, *words.split()], check=True)
        assert started.stdin is not None
        started.stdin.write(b"\n")
        started.stdin.close()
        return started

    def _daemon(
        self, words: Sequence[str | Path], variables: Mapping[str, str], log: Path
    ) -> subprocess.Popen[bytes]:
        with log.open("wb") as file:
            started = subprocess.Popen(
                words, env=variables, stdin=subprocess.PIPE, stdout=file, stderr=subprocess.STDOUT
            )
        self.daemons.append(started)
        return started

    def wait_for(
        self, ready: Callable[[], object], what: str, *, each: Sequence[Callable[[], object]] = ()
    ) -> None:
        """Wait until ``ready`` is true, and do ``each`` of some things meanwhile.

        Raises:
            AssertionError: it does not become so.
        """
        end = time.monotonic() + self.within_s
        while not ready():
            assert time.monotonic() < end, f"{what}: not within {self.within_s:g} s\n{self.logs()}"
            for step in each:
                step()
            time.sleep(0.5)


def elastic_blueprint(lab: Any, name: str, changes: Mapping[str, str]) -> Path:
    """Write the blueprint of a small site on AWS with a scheduler."""
    path: Path = lab.blueprint(name, **changes)
    path.write_text(path.read_text() + SCHEDULER)
    return path


def slurm_of(blueprint: Path) -> tuple[str, dict[str, Any]]:
    """Return slurm.conf of a blueprint, and the configuration of the program."""
    plan = load_plan(blueprint, []).plan
    known = elastic_variables(plan)
    config = {"sites": known["elastic_sites"], "bursts": known["elastic_bursts"]}
    return render_slurm(plan)["slurm.conf"], config


def elastic_hall(lab: Any, blueprint: Path) -> ElasticHall:
    """Return the controller of a cluster that is provisioned; it is not started yet."""
    environment = {
        "AWS_ENDPOINT_URL": lab.endpoint,
        "AWS_ACCESS_KEY_ID": "embedded",
        "AWS_SECRET_ACCESS_KEY": "embedded",
    }
    return ElasticHall(
        lab.folder / f"hall-{blueprint.stem}",
        *slurm_of(blueprint),
        environment,
        functools.partial(_instances, lab.endpoint),
        TIMES,
    )


@functools.cache
def _ec2(endpoint: str) -> Any:
    session = boto3.Session("embedded", "embedded", region_name="us-east-1")
    return session.client("ec2", endpoint_url=endpoint)


def _instances(endpoint: str) -> list[Any]:
    pages = (
        _ec2(endpoint)
        .get_paginator("describe_instances")
        .paginate(
            Filters=[
                {"Name": "tag-key", "Values": ["rackwright:elastic"]},
                {"Name": "instance-state-name", "Values": ["pending", "running"]},
            ]
        )
    )
    return [one for page in pages for held in page["Reservations"] for one in held["Instances"]]


def _host(instance: Any) -> str:
    """Return the name of the node of an instance."""
    tags = {one["Key"]: one["Value"] for one in instance["Tags"]}
    return str(tags["rackwright:host"])


def living(lab: Any) -> Counter[str]:
    """Return the instances that run or start, by the name of their node."""
    return Counter(map(_host, _instances(lab.endpoint)))


@contextlib.contextmanager
def journal(hall: ElasticHall) -> Iterator[dict[str, Any]]:
    """Yield the journal of the program to be changed, while no program works."""
    path = hall.folder / "elastic/journal.json"
    with (hall.folder / "elastic/lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        known = json.loads(path.read_text())
        yield known
        path.write_text(json.dumps(known))


def age_failures(hall: ElasticHall) -> None:
    """Let the pauses of nodes that could not be launched be over."""
    with journal(hall) as known:
        for one in known["failures"].values():
            one["at"] = 0


def kill(hall: ElasticHall, lab: Any, calls: int) -> None:
    """Kill a program after so many more calls of AWS; begin a sweep where none runs that long."""
    begun = len(lab.calls())

    def ripe() -> bool:
        if not hall.running():
            hall.start("sweep")
        return len(lab.calls()) >= begun + calls and bool(hall.running())

    hall.wait_for(ripe, f"{calls} calls of AWS")
    for process in hall.running():
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)
