"""Clusters of the lab that are configured already: made once, and then the lower layers of disks.

What `rackwright configure` makes of bare hosts is kept beside the lab's base, under a key of all that
decides how it comes out. A lab that starts from it boots the same hosts with keys and addresses of its
own; everything else on them, and the secrets of the cluster, is as `configure` has left it.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from lab_support import Machines, lab_blueprint, some_machines
from rackwright.configure.inventory import build_inventory
from rackwright.lab import lab as labs
from rackwright.lab.base import cache_folder, clear, code_digests, make_base, recipe_key
from rackwright.lab.host import press_power_button, switch_off
from rackwright.lab.lab import HostSpec
from rackwright.lab.repository import make_repository
from rackwright.lab.system import run, wait_for
from rackwright.plan.load import load_plan
from rackwright.provision.locks import turn
from rackwright.render.slurm import render_slurm

ROOT = Path(__file__).parents[1]
CODE = (
    Path(__file__), ROOT / "roles", ROOT / "src/ansible_collections", ROOT / "stacks/baremetal",
    ROOT / "src/rackwright/cli/configure.py", ROOT / "src/rackwright/configure",
    ROOT / "src/rackwright/lab",
)  # fmt: skip
"""What boots and configures hosts. What reads a blueprint is in the key by what it makes of it."""

PROGRAMS = ("ansible-core", "ansible-runner")
CONTROLLER = "head-1"
NEWEST, UNUSED_S = 3, 2 * 3600
"""How many keys of a name are kept, and after how long without use no lab runs on another one."""

STOP = """\
set -e
systemctl is-active --quiet slurmctld || exit 0
state=$(scontrol show config | sed -n 's/^StateSaveLocation *= //p')
test -n "$state"
systemctl stop slurmctld
rm -f "$state"/node_state*
"""
"""Ends a controller, without its memory of the nodes: their clock is that of this machine, and if it is
booted before they are used again, Slurm takes them down as rebooted without its knowledge."""


@dataclass(frozen=True)
class Snapshot:
    """A cluster as `rackwright configure` leaves it.

    Attributes:
        name: of the lab in which it is made.
        network: of that lab; no test has it.
        hosts: the lab's hosts.
        changes: texts of the blueprint of the template ``lab``, with what is in their place.
    """

    name: str
    network: str
    hosts: tuple[HostSpec, ...]
    changes: Mapping[str, str]

    def kept(self) -> Path:
        """The folder of what the hosts start from; it is made by whoever is the first to need it."""
        base = make_base(print)
        with TemporaryDirectory() as scratch:
            recipe = self.recipe(Path(scratch), base, make_repository(base, print))
        return keep(cache_folder(), self.name, recipe_key(recipe), self._make)

    def recipe(self, scratch: Path, base: Path, repository: Path) -> list[object]:
        """All that decides how it comes out; the blueprint is written to ``scratch``."""
        plan = load_plan(lab_blueprint(scratch, self.changes)).plan
        return [
            [asdict(host) for host in self.hosts],
            [base.name, repository.name],
            [build_inventory(plan), dict(render_slurm(plan))],
            [f"{name} {version(name)}" for name in PROGRAMS],
            digests(CODE),
        ]

    def _make(self, folder: Path) -> None:
        state = folder / "state"
        with pytest.MonkeyPatch.context() as patch:  # hosts of a maker that was killed still run
            patch.setenv("RACKWRIGHT_STATE", str(state))
            labs.down(labs.open_lab(self.name, self.network))
        clear(folder)
        folder.mkdir(mode=0o700)
        with some_machines(state, self.name, self.network, self.hosts) as machines:
            machines.lab_blueprint(self.changes)
            machines.rackwright("configure")
            freeze(machines, folder)
        for secrets in state.glob("configure/*/secrets"):
            shutil.copytree(secrets, folder / secrets.relative_to(state))
        shutil.rmtree(state)


@contextmanager
def configured_machines(
    folder: Path, name: str, network: str, snapshot: Snapshot
) -> Iterator[Machines]:
    """The hosts of a new lab as ``snapshot`` has them, when every node takes jobs."""
    kept = snapshot.kept()
    shutil.copytree(kept / "configure", folder / "configure")
    with some_machines(folder, name, network, snapshot.hosts, kept) as machines:
        machines.lab_blueprint(snapshot.changes)

        def states() -> set[str]:
            return set(machines.on(CONTROLLER, "sinfo -h -N -o %T", check=False).split())

        assert wait_for(lambda: states() == {"idle"}, 120, 0.5), states()
        yield machines


def freeze(machines: Machines, folder: Path) -> None:
    """Switch the hosts off, and move what is over the base on their disks, and shared, to ``folder``."""
    hosts = machines.lab.hosts()
    for host in reversed(hosts):  # the first controller last, so that no other one takes over
        machines.on(host.name, STOP)
    for host in hosts:  # all shut down at the same time
        press_power_button(host)
    (folder / "hosts").mkdir()
    for host in hosts:
        switch_off(host)
        run("umount", host.root)
        disk = (host.folder / "upper").rename(folder / "hosts" / host.name)
        for archive in (disk / "var/cache/apt/archives").glob("*.deb"):
            archive.unlink()
    run("cp", "--archive", hosts[0].shared, folder)


def keep(root: Path, name: str, key: str, make: Callable[[Path], None]) -> Path:
    """The folder in ``root`` that ``make`` has filled for ``name`` and ``key``; older ones may go.

    Who needs it meanwhile waits. ``make`` is given a path where an earlier call may have been killed.
    """
    stem = f"configured-{name}"
    folder = root / f"{stem}-{key}"
    with turn(root / f"{stem}.lock"):
        if not folder.is_dir():
            unfinished = root / f"{stem}.new"
            make(unfinished)
            os.sync()  # a machine that goes down leaves all of it or nothing
            unfinished.rename(folder)
        os.utime(folder)
        used = {path: path.stat().st_mtime for path in root.glob(f"{stem}-*")}
        for path in sorted(used, key=used.__getitem__)[:-NEWEST]:
            if used[path] < time.time() - UNUSED_S:
                shutil.rmtree(path)
    return folder


def digests(sources: Iterable[Path]) -> list[list[str]]:
    """Path and SHA-256 of each file, alone or in a folder; what Python compiled is none of them."""
    found = []
    for source in sources:
        files = [source] if source.is_file() else sorted(filter(Path.is_file, source.rglob("*")))
        kept = [path for path in files if "__pycache__" not in path.parts]
        found += [[str(path.relative_to(source.parent)), *code_digests(path)] for path in kept]
    return found


SLURM = Snapshot(
    "slurm",
    "10.213.90.0/24",
    (HostSpec("gpu-1", 8), HostSpec("gpu-2", 8), HostSpec("head-1")),
    {
        'count: 4, racks: "c[01-02]", per_rack: 2': 'count: 2, racks: "c[01-02]", per_rack: 1',
        "  return_to_service: 2\n": "  return_to_service: 1\n"
        # Long, so that what the tests see is of the prolog, or of a health check that they run.
        "  health_check: {program: /usr/local/sbin/rackwright-health, interval: 30 min}\n"
        "  prolog: /usr/local/sbin/rackwright-prolog\n",
        "\npolicies:\n": "\noperations:\n  health_checks: true\n"
        "  changes: {most_nodes: 50 %}\n"
        "  all_reduce:\n    - {group: gpu, node: 460 GB/s, across: 350 GB/s}\n\npolicies:\n",
        "  topology: {plugin: flat}\n": "  topology:\n    plugin: tree\n    switches:\n"
        "      - {name: leaf-1, nodes: gpu-1}\n      - {name: leaf-2, nodes: gpu-2}\n"
        '      - {name: spine, children: "leaf-[1-2]"}\n',
        "      - {name: login, role: login, type: cpu-2u, count: 1, racks: n01, per_rack: 1,"
        " start_unit: 24 U}\n": "",
    },
)
"""Two racks with a node each, watched by health checks and a prolog, and a head with accounting."""

PAIR = Snapshot(
    "pair",
    "10.213.91.0/24",
    (HostSpec("gpu-1", 8), HostSpec("head-1"), HostSpec("head-2")),
    {
        'count: 4, racks: "c[01-02]"': 'count: 1, racks: "c[01-02]"',
        "type: cpu-2u, count: 1, racks: n01, per_rack: 1, start_unit: 20 U": (
            "type: cpu-2u, count: 2, racks: n01, per_rack: 2, start_unit: 20 U"
        ),
        "      - {name: login, role: login, type: cpu-2u, count: 1, racks: n01, per_rack: 1,"
        " start_unit: 24 U}\n": "",
        "    - {host: head-1}\n  accounting: {host: head-1}\n": (
            "    - {host: head-1}\n    - {host: head-2}\n  folders: {state: /shared/slurmctld}\n"
        ),
        "extra: {SlurmdParameters": "extra: {SlurmctldTimeout: 10, SlurmdParameters",
    },
)
"""Two controllers, which share a folder, and a node."""
