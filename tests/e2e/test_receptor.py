"""Configuration from several machines: three workers, each in the network of its own lab host."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

from rackwright.configure.receptor import Control
from rackwright.lab import lab as labs
from rackwright.lab.host import Host
from rackwright.lab.lab import HostSpec, Lab
from rackwright.lab.system import Process, start, wait_for
from rackwright.provision.tools import install_receptor
from rackwright.render.blueprints import find_template, write_blueprint

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.timeout(1500),
    pytest.mark.skipif(os.geteuid() != 0, reason="the lab needs root"),
]
HOSTS = [HostSpec("gpu-1", 8), HostSpec("gpu-2", 8), HostSpec("gpu-3", 8), HostSpec("head-1")]
WORKERS = {"hall-1": "gpu-1", "hall-2": "gpu-2", "hall-3": "gpu-3"}
LOGIN = "      - {name: login, role: login, type: cpu-2u"
LOST_AFTER_S = 6


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

    def run(self, *words: str | Path, expect: int = 0) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "rackwright", *map(str, words)],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == expect, done.stdout + done.stderr
        assert "Traceback" not in done.stderr
        return done.stdout

    def configure(self, *words: str, workers: bool = True, expect: int = 0) -> Any:
        over = ("--workers", str(self.folder / "workers.yaml")) if workers else ()
        told = self.run(
            *("configure", self.blueprint, "--lab", "recep", "--json", *over, *words),
            expect=expect,
        )
        return json.loads(told)

    def start(self, node: str) -> None:
        """Start Receptor on a node; that of a worker is in the network of its host."""
        place = self.nodes / node
        (place / "data").mkdir(exist_ok=True)
        (place / "tmp").mkdir(exist_ok=True)
        inside = ()
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
        self.processes.pop(node).end(patience_s=5)

    def host(self, name: str) -> Host:
        (found,) = [host for host in self.lab.hosts() if host.name == name]
        return found

    def connected(self) -> bool:
        return (self.folder / "control.sock").exists() and self.control.nodes() == set(WORKERS)

    def left_behind(self) -> list[str]:
        """Files in which a run's secrets could be: nobody but the lab and the workspace has any."""
        secrets = (
            self.lab.key.read_bytes()[:60],
            next(self.folder.rglob("munge.key")).read_bytes(),
        )
        found = []
        for top in (self.nodes, self.folder / "configure/lab"):
            for path in top.rglob("*"):
                if path.is_file() and path.parent.name != "secrets":
                    content = path.read_bytes()
                    found += [str(path) for secret in secrets if secret in content]
                    found += [str(path)] if path.name in {"stdin", "munge.key"} else []
        return found


@pytest.fixture(scope="module")
def mesh(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mesh]:
    folder = tmp_path_factory.mktemp("receptor")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RACKWRIGHT_STATE", str(folder))
        write_blueprint(find_template("lab"), folder, {})
        blueprint = folder / "blueprint.yaml"
        lines = blueprint.read_text().replace("count: 4, racks:", "count: 3, racks:").splitlines()
        kept = [line for line in lines if not line.startswith(LOGIN)]
        assert len(kept) == len(lines) - 1
        blueprint.write_text("\n".join(kept) + "\n")
        lab = labs.open_lab("recep", "10.213.61.0/24")
        made = Mesh(lab, folder, blueprint)
        workers = {
            "apiVersion": "rackwright/v1",
            "head": {
                "address": str(lab.controller.ip),
                "socket": str(folder / "control.sock"),
            },
            "here": ["role_head"],
            "workers": [{"node": node, "hosts": [host]} for node, host in WORKERS.items()],
            "data_folder": "data",
            "lost_after": f"{LOST_AFTER_S} s",
        }
        (folder / "workers.yaml").write_text(yaml.safe_dump(workers))
        try:
            labs.up(lab, HOSTS, print)
            made.run("receptor", folder / "workers.yaml", "--output", made.nodes)
            for node in ("controller", *WORKERS):
                made.start(node)
            assert wait_for(made.connected, 30), made.control.nodes()
            yield made
        finally:
            for process in made.processes.values():
                process.end(patience_s=5)
            labs.down(lab)


def test_workers_configure_their_own_hosts(mesh: Mesh) -> None:
    made = mesh.configure()
    assert sorted(made["hosts"]) == [spec.name for spec in HOSTS]
    assert made["quarantine"] == {}
    assert mesh.left_behind() == []
