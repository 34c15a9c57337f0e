"""Configuration from several machines: three workers, each in the network of its own lab host."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

from lab_support import LAB_MARKS, rackwright
from rackwright.configure.credentials import make_signing_key
from rackwright.configure.receptor import Control
from rackwright.lab import lab as labs
from rackwright.lab.host import Host
from rackwright.lab.lab import HostSpec, Lab
from rackwright.lab.system import Process, run, start, wait_for
from rackwright.provision.tools import install_receptor
from rackwright.render.blueprints import find_template, write_blueprint

pytestmark = LAB_MARKS
HOSTS = [HostSpec("gpu-1", 8), HostSpec("gpu-2", 8), HostSpec("gpu-3", 8), HostSpec("head-1")]
WORKERS = {"hall-1": "gpu-1", "hall-2": "gpu-2", "hall-3": "gpu-3"}
LEFT_OUT = ("      - {name: login, role: login, type: cpu-2u", "  accounting: {host: head-1}")
"""Lines of the blueprint that nobody needs here: a host more, and a database."""

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
        self.processes.pop(node).end(patience_s=5)

    def host(self, name: str) -> Host:
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


@pytest.fixture(scope="module")
def mesh(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mesh]:
    folder = tmp_path_factory.mktemp("receptor")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RACKWRIGHT_STATE", str(folder))
        write_blueprint(find_template("lab"), folder, {})
        blueprint = folder / "blueprint.yaml"
        lines = blueprint.read_text().replace("count: 4, racks:", "count: 3, racks:").splitlines()
        kept = [line for line in lines if not line.startswith(LEFT_OUT)]
        assert len(kept) == len(lines) - len(LEFT_OUT)
        blueprint.write_text("\n".join(kept) + "\n")
        lab = labs.open_lab("recep", "10.213.61.0/24")
        made = Mesh(lab, folder, blueprint)
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
            labs.up(lab, HOSTS, print)
            rackwright("receptor", folder / "workers.yaml", "--output", made.nodes)
            for node in ("controller", *WORKERS):
                made.start(node)
            assert wait_for(made.connected, 30), made.control.nodes()
            yield made
        finally:
            for process in made.processes.values():
                process.end(patience_s=5)
            labs.down(lab)


def test_workers_configure_their_own_hosts_and_leave_nothing_behind(
    mesh: Mesh, measured: Callable[[str], None]
) -> None:
    made = mesh.configure()
    assert failures(made) == {}
    assert sorted(made["hosts"]) == [spec.name for spec in HOSTS]
    assert len(changes(made)) == len(HOSTS)
    runs = {path.parent.name for path in mesh.folder.glob("configure/*/runner/workers/*/hosts")}
    assert runs == set(WORKERS)
    for node, name in WORKERS.items():
        (told,) = mesh.folder.glob(f"configure/*/runner/workers/{node}/hosts/artifacts/stdout")
        others = set(WORKERS.values()) - {name}
        assert name in told.read_text()
        assert not any(other in told.read_text() for other in others), "only its own host"
    assert mesh.left_behind() == []

    again = mesh.configure("--limit", "slurm_compute")
    assert (failures(again), changes(again), len(again["hosts"])) == ({}, {}, 3)
    alone = mesh.configure("--limit", "slurm_compute", workers=False)
    assert (failures(alone), changes(alone), len(alone["hosts"])) == ({}, {}, 3)
    measured(
        f"3 hosts with nothing to change: {again['seconds']} s by 3 workers, {alone['seconds']} s "
        f"by one controller, all on this machine: {again['seconds'] / alone['seconds']:.2f} times"
    )


def test_workers_change_a_running_cluster_in_waves(mesh: Mesh) -> None:
    words = ("--waves", "unit", "--limit", "gpu-1,gpu-2", "--tags", "configure")
    made = mesh.configure(*words)
    assert {wave["state"] for wave in made["waves"]} == {"done"}
    assert sorted(host for wave in made["waves"] for host in wave["hosts"]) == ["gpu-1", "gpu-2"]
    assert (made["drained"], made["stopped"], made["quarantine"]) == ({}, None, {})
    for node in ("hall-1", "hall-2"):
        (told,) = mesh.folder.glob(f"configure/*/runner/workers/{node}/hosts/artifacts/stdout")
        assert "[acceptance : " in told.read_text(), "it was verified from there"
    assert mesh.left_behind() == []

    mesh.stop("hall-2")
    assert wait_for(lambda: "hall-2" not in mesh.control.nodes(), 60)
    over = ("--lab", "recep", "--workers", mesh.folder / "workers.yaml")
    rackwright("configure", mesh.blueprint, *over, *words, expect=4)
    states = run(*mesh.lab.ssh(mesh.host("head-1")), "sinfo -h -N -o '%N %T'", timeout_s=60)
    assert "drain" not in states, "nothing was drained for a worker that is not there"
    mesh.start("hall-2")
    assert wait_for(mesh.connected, 30)


def test_hosts_of_workers_that_are_lost_are_quarantined_and_the_others_finish(mesh: Mesh) -> None:
    mesh.stop("hall-1")
    lost = mesh.configure_and_stop("hall-2", "--limit=slurm_compute", "--tags=configure")
    assert failures(lost) == {
        "gpu-1": "the worker 'hall-1' is not connected",
        "gpu-2": f"the worker 'hall-2' was out of reach for more than {LOST_AFTER_S} s",
    }
    assert set(lost["quarantine"]) == {"gpu-1", "gpu-2"}
    assert lost["hosts"]["gpu-3"]["ok"] > 5

    mesh.start("hall-1")
    mesh.start("hall-2")
    assert wait_for(mesh.connected, 30)
    mended = mesh.configure("--retry", "--tags", "configure")
    assert (set(mended["hosts"]), failures(mended)) == ({"gpu-1", "gpu-2"}, {})
    assert set(mended["quarantine"]) == {"gpu-1", "gpu-2"}, "these were not all the steps"
    assert wait_for(lambda: mesh.left_behind() == [], 30), mesh.left_behind()


def test_a_worker_runs_nothing_for_another_worker(mesh: Mesh) -> None:
    """Whoever has taken over a worker has its certificate, and can sign with a key of his own."""
    mesh.stop("hall-1")
    place = mesh.nodes / "hall-1"
    good = (place / "receptor.yml").read_text()
    service = "control-service: {service: control, tls: mesh}"
    assert service in good
    rogue = good.replace(service, f"{service[:-1]}, filename: rogue.sock}}")
    (place / "receptor.yml").write_text(
        f"{rogue}- work-signing: {{privatekey: rogue.key, tokenexpiration: 1h}}\n"
    )
    (place / "rogue.key").write_bytes(make_signing_key())
    (mesh.folder / "work").write_text("{}")
    mesh.start("hall-1")
    try:
        assert wait_for(mesh.connected, 30)
        control = Control(place / "rogue.sock")
        assert wait_for(lambda: control.nodes() >= {"controller", "hall-2"}, 30)
        units = [
            control.submit(node, mesh.folder / "work", begin_within_s=3)
            for node in ("hall-2", "controller")
        ]
        assert wait_for(lambda: all(control.unit(unit).state == "Failed" for unit in units), 30)
        assert all("expired" in control.unit(unit).detail for unit in units), "it reached nobody"
        assert not list((mesh.nodes / "hall-2/data/hall-2").glob("*"))
    finally:
        mesh.stop("hall-1")
        (place / "receptor.yml").write_text(good)
        mesh.start("hall-1")
