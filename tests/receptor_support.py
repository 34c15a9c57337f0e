"""A lab whose hosts are configured by workers, each in the network of its own host."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

from lab_snapshots import TRIO, configured_machines
from lab_support import rackwright
from rackwright.provision.tools import install_receptor
from rackwright.receptor.control import Control
from rackwright_lab.host import LabHost
from rackwright_lab.lab import Lab
from rackwright_lab.system import Process, start, wait_for

WORKERS = {"hall-1": "gpu-1", "hall-2": "gpu-2", "hall-3": "gpu-3"}
LOST_AFTER_S = 8


@dataclass
class Mesh:
    """The command line, a lab and Receptor in it."""

    lab: Lab
    folder: Path
    blueprint: Path
    processes: dict[str, Process] = field(default_factory=dict)

    @property
    def nodes(self) -> Path:
        return self.folder / "nodes"

    @property
    def control(self) -> Control:
        return Control(self.folder / "control.sock")

    def configure(self, *words: str, workers: bool = True, expect: int = 0) -> Any:
        over = ("--workers", str(self.folder / "workers.yaml")) if workers else ()
        told = rackwright(
            *("configure", self.blueprint, "--lab", "recep", "--json", *over, *words),
            expect=expect,
        )
        return json.loads(told)

    def configure_and_stop(self, node: str, *words: str) -> Any:
        """What a run tells whose worker is stopped when it has begun."""
        command = [sys.executable, "-m", "rackwright", "configure", self.blueprint, "--json"]
        over = ("--lab", "recep", "--workers", self.folder / "workers.yaml")
        with subprocess.Popen(
            [*map(str, (*command, *over, *words))],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            assert process.stdout is not None
            assert process.stderr is not None
            for line in process.stderr:
                if f"{node}: base" in line:
                    self.stop(node)
                    break
            else:
                pytest.fail(f"{node} never began")
            said = process.stderr.read()
            told = process.stdout.read()
        assert process.returncode == 4, said
        return json.loads(told)

    def start(self, node: str) -> None:
        """Start Receptor on a node; that of a worker is in the network of its host."""
        place = self.nodes / node
        (place / "data").mkdir(exist_ok=True)
        (place / "tmp").mkdir(exist_ok=True)
        inside: tuple[str, ...] = ()
        if node in WORKERS:
            inside = ("ip", "netns", "exec", self.host(WORKERS[node]).namespace)
        programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        receptor = install_receptor(progress=print)
        self.processes[node] = start(
            ("env", f"--chdir={place}", *inside, str(receptor), "--config", "receptor.yml"),
            log=place / "log",
            environment={**os.environ, "PATH": programs, "TMPDIR": str(place / "tmp")},
        )

    def stop(self, node: str) -> None:
        self.processes.pop(node).end(timeout_s=5)

    def host(self, name: str) -> LabHost:
        (found,) = [host for host in self.lab.hosts() if host.name == name]
        return found

    def connected(self) -> bool:
        return (self.folder / "control.sock").exists() and self.control.nodes() == set(WORKERS)

    def left_behind(self) -> list[str]:
        """Files of Receptor and of runs that hold a key, or what was sent with one."""
        (munge,) = self.folder.glob("configure/*/secrets/munge.key")
        keys = (self.lab.key.read_bytes().strip(), munge.read_bytes())
        found = list(self.folder.glob("configure/*/distribution"))
        files = [path for path in self.nodes.rglob("*") if path.is_file()]
        files += [path for path in self.folder.glob("configure/*/runner/**/*") if path.is_file()]
        found += [path for path in files if path.name == "stdin"]
        found += [path for path in files if any(key in path.read_bytes() for key in keys)]
        return [str(path) for path in found]


def failures(made: Any) -> dict[str, str]:
    return {name: host["failure"] for name, host in made["hosts"].items() if host["failure"]}


def changes(made: Any) -> dict[str, list[str]]:
    return {name: host["changed"] for name, host in made["hosts"].items() if host["changed"]}


@contextmanager
def a_mesh(folder: Path) -> Iterator[Mesh]:
    """A configured cluster, and Receptor on the controller and on a worker for each host of jobs."""
    with configured_machines(folder, "recep", "10.213.61.0/24", TRIO) as machines:
        lab = machines.lab
        made = Mesh(lab, folder, folder / "blueprint.yaml")
        workers = {
            "apiVersion": "rackwright/v1",
            "head": {
                "address": str(lab.controller.ip),
                "listen": str(lab.controller.ip),
                "socket": str(folder / "control.sock"),
            },
            "here": ["role_head"],
            "workers": [{"node": node, "hosts": [host]} for node, host in WORKERS.items()],
            "data_folder": "data",
            "lost_after": f"{LOST_AFTER_S} s",
        }
        (folder / "workers.yaml").write_text(yaml.safe_dump(workers))
        try:
            rackwright("receptor", folder / "workers.yaml", "--output", made.nodes)
            for node in ("controller", *WORKERS):
                made.start(node)
            assert wait_for(made.connected, 300), made.control.nodes()
            yield made
        finally:
            for process in made.processes.values():
                process.end(timeout_s=5)
