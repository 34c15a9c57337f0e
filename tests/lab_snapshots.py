"""Clusters of the lab that are configured already: made once, and then the lower layers of disks.

What `rackwright configure` makes of bare hosts is kept beside the lab's base, under a key of all that
decides how it comes out. A lab that starts from it boots the same hosts with keys and addresses of its
own; everything else on them, and the secrets of the cluster, is as `configure` has left it.
"""

from __future__ import annotations

import os
import shutil
import signal
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from lab_support import Machines, lab_blueprint, some_machines
from rackwright.inventory.inventory import build_inventory
from rackwright.locks import turn
from rackwright.plan.load import load_plan
from rackwright.render.slurm import render_slurm
from rackwright_lab import lab as labs
from rackwright_lab.base import cache_folder, clear, code_digests, make_base, recipe_key
from rackwright_lab.host import switch_off
from rackwright_lab.lab import HostSpec
from rackwright_lab.repository import make_repository
from rackwright_lab.system import run, wait_for

ROOT = Path(__file__).parents[1]
CODE = (
    Path(__file__), ROOT / "tests/lab_support.py", ROOT / "src/ansible_collections", ROOT / "stacks/baremetal",
    ROOT / "src/rackwright/cli/commands/configure.py", ROOT / "src/rackwright/ansible_runs",
    *sorted((ROOT / "src/rackwright_lab").glob("*.py")), ROOT / "src/rackwright_lab/mock_packages",
)  # fmt: skip
"""What boots and configures hosts. What reads a blueprint is in the key by what it makes of it, and of roles those
that were played: which they are follows from the rest of the key and from themselves."""
PLAYED = "RACKWRIGHT_PLAYED_ROLES"
"""Names a file to which ``callbacks/played_roles.py`` adds the roles that it sees."""

PROGRAMS = ("ansible-core", "ansible-runner")
NEWEST, UNUSED_S = 2, 2 * 3600
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


@dataclass(frozen=True, kw_only=True)
class Snapshot(ABC):
    """A cluster on hosts that were bare.

    Attributes:
        name: of the lab in which it is made.
        network: of that lab; no test has it.
        hosts: the lab's hosts.
        controller: the host that is asked for the states of nodes.
        files: patterns of files and folders on this machine that belong to it, like secrets.
    """

    name: str
    network: str
    hosts: tuple[HostSpec, ...]
    controller: str = "head-1"
    files: tuple[str, ...]

    @abstractmethod
    def settings(self, scratch: Path) -> object:
        """What decides how it comes out, besides hosts and code; ``scratch`` is empty."""

    @abstractmethod
    def configure(self, machines: Machines) -> None:
        """Make it of bare hosts."""

    def kept(self) -> Path:
        """The folder of what the hosts start from; it is made by whoever is the first to need it."""
        base = make_base(print)
        recipe = self.recipe(base, make_repository(base, print))
        return keep(cache_folder(), self.name, recipe_key(recipe), self.make, key_of_roles)

    def recipe(self, base: Path, repository: Path) -> list[object]:
        """All that decides how it comes out, but roles."""
        with TemporaryDirectory() as scratch:
            settings = self.settings(Path(scratch))
        return [
            [asdict(host) for host in self.hosts],
            [base.name, repository.name],
            [f"{name} {version(name)}" for name in PROGRAMS],
            settings,
            digests(CODE),
        ]

    def make(self, folder: Path) -> None:
        """Make it of bare hosts in ``folder``, where an earlier call may have been killed."""
        state = folder / "state"
        with pytest.MonkeyPatch.context() as patch:  # hosts of a maker that was killed still run
            patch.setenv("RACKWRIGHT_STATE", str(state))
            labs.down(labs.open_lab(self.name, self.network))
        clear(folder)
        state.mkdir(parents=True, mode=0o700)
        folder.chmod(0o700)
        (folder / "roles").touch()
        with (
            pytest.MonkeyPatch.context() as patch,
            some_machines(state, self.name, self.network, self.hosts) as machines,
        ):
            patch.setenv(PLAYED, str(folder / "roles"))
            self.configure(machines)
            freeze(machines, folder)
        for found in (path for pattern in self.files for path in state.glob(pattern)):
            target = folder / "files" / found.relative_to(state)
            target.parent.mkdir(parents=True, exist_ok=True)
            found.rename(target)
        shutil.rmtree(state)


@dataclass(frozen=True, kw_only=True)
class Configured(Snapshot):
    """A cluster as `rackwright configure` leaves it.

    Attributes:
        changes: texts of the blueprint of the template ``lab``, with what is in their place.
    """

    changes: Mapping[str, str]
    files: tuple[str, ...] = ("blueprint.yaml", "configure/*/secrets")

    def settings(self, scratch: Path) -> object:
        """The inventory and the files of Slurm that its blueprint gives."""
        plan = load_plan(lab_blueprint(scratch, self.changes)).plan
        return [build_inventory(plan), dict(render_slurm(plan))]

    def configure(self, machines: Machines) -> None:
        """Make it of bare hosts."""
        machines.lab_blueprint(self.changes)
        machines.rackwright("configure")


@dataclass(frozen=True, kw_only=True)
class ByRoles(Snapshot):
    """A cluster that a test makes by roles alone.

    Attributes:
        source: the file that says how.
        play: plays the roles.
    """

    source: Path
    play: Callable[[Machines], None]

    def settings(self, scratch: Path) -> object:
        """The file that says how."""
        return digests([self.source])

    def configure(self, machines: Machines) -> None:
        """Make it of bare hosts."""
        self.play(machines)


@contextmanager
def configured_machines(
    folder: Path, name: str, network: str, snapshot: Snapshot
) -> Iterator[Machines]:
    """The hosts of a new lab as ``snapshot`` has them, when every node takes jobs."""
    kept = snapshot.kept()
    shutil.copytree(kept / "files", folder, dirs_exist_ok=True)
    with some_machines(folder, name, network, snapshot.hosts, kept) as machines:

        def states() -> set[str]:
            told = machines.on(snapshot.controller, "sinfo -h -N -o %T", check=False)
            return set(told.split())

        assert wait_for(lambda: states() == {"idle"}, 300, 0.5), states()
        yield machines


def freeze(machines: Machines, folder: Path) -> None:
    """Switch the hosts off, and move what is over the base on their disks, and shared, to ``folder``."""
    hosts = machines.lab.hosts()
    for host in reversed(hosts):  # the first controller last, so that no other one takes over
        machines.on(host.name, STOP)
    for host in hosts:  # all shut down at the same time
        assert host.supervisor is not None, host.name
        os.kill(host.supervisor.pid, signal.SIGTERM)
    (folder / "hosts").mkdir()
    for host in hosts:
        switch_off(host)
        run("umount", host.root)
        disk = (host.folder / "upper").rename(folder / "hosts" / host.name)
        for archive in (disk / "var/cache/apt/archives").glob("*.deb"):
            archive.unlink()
    run("cp", "--archive", hosts[0].shared, folder)


def keep(
    root: Path,
    name: str,
    key: str,
    make: Callable[[Path], None],
    rest: Callable[[Path], str] = lambda made: "",
) -> Path:
    """The folder in ``root`` that ``make`` has filled for ``name`` and ``key``; older ones may go.

    Who needs it meanwhile waits. ``make`` is given a path where an earlier call may have been killed.
    ``rest`` gives the part of the key that is known from what was made.
    """
    stem = f"configured-{name}"
    unfinished = root / f"{stem}.new"

    def named(made: Path) -> Path:
        return root / f"{stem}-{key}{rest(made)}"

    with turn(root / f"{stem}.lock"):
        made = (path for path in root.glob(f"{stem}-{key}*") if path == named(path))
        folder = next(made, None)
        if folder is None:
            make(unfinished)
            os.sync()  # a machine that goes down leaves all of it or nothing
            folder = unfinished.rename(named(unfinished))
        os.utime(folder)
        used = {path: path.stat().st_mtime for path in root.glob(f"{stem}-*")}
        for path in sorted(used, key=used.__getitem__)[:-NEWEST]:
            if used[path] < time.time() - UNUSED_S:
                shutil.rmtree(path)
    return folder


def key_of_roles(made: Path, roles: Path = ROOT / "roles") -> str:
    """The part of the key for the roles that were played when ``made`` was: as they are now."""
    played = sorted(set((made / "roles").read_text().split()))
    return f"-{recipe_key(digests(roles / name for name in played))}"


def digests(sources: Iterable[Path]) -> list[list[str]]:
    """Path and SHA-256 of each file, alone or in a folder; what Python compiled is none of them."""
    found = []
    for source in sources:
        files = [source] if source.is_file() else sorted(filter(Path.is_file, source.rglob("*")))
        kept = [path for path in files if "__pycache__" not in path.parts]
        found += [[str(path.relative_to(source.parent)), *code_digests(path)] for path in kept]
    return found


NO_LOGIN = (
    "      - {name: login, role: login, type: cpu-2u, count: 1, racks: n01, per_rack: 1,"
    " start_unit: 24 U}\n"
)
"""A host that most tests can do without."""

SLURM = Configured(
    name="slurm",
    network="10.213.90.0/24",
    hosts=(HostSpec("gpu-1", 8), HostSpec("gpu-2", 8), HostSpec("head-1")),
    changes={
        'count: 4, racks: "c[01-02]", per_rack: 2': 'count: 2, racks: "c[01-02]", per_rack: 1',
        "  return_to_service: 2\n": "  return_to_service: 1\n"
        # Long, so that what the tests see is of the prolog, or of a health check that they run.
        "  health_check: {program: /usr/local/sbin/rackwright-health, interval: 30 min}\n"
        "  prolog: /usr/local/sbin/rackwright-prolog\n",
        "  changes: {most_nodes: 25 %}\n": "  health_checks: true\n"
        "  changes: {most_nodes: 50 %}\n"
        "  all_reduce:\n    - {group: gpu, node: 460 GB/s, across: 350 GB/s}\n",
        "  topology: {plugin: flat}\n": "  topology:\n    plugin: tree\n    switches:\n"
        "      - {name: leaf-1, nodes: gpu-1}\n      - {name: leaf-2, nodes: gpu-2}\n"
        '      - {name: spine, children: "leaf-[1-2]"}\n',
        NO_LOGIN: "",
        # A slow machine takes longer than the 300 s after which Slurm forgets a job that ended.
        "extra: {SlurmdParameters": "extra: {MinJobAge: 86400, SlurmdParameters",
    },
)
"""Two racks with a node each, watched by health checks and a prolog, and a head with accounting."""

TRIO = Configured(
    name="trio",
    network="10.213.92.0/24",
    hosts=(HostSpec("gpu-1", 8), HostSpec("gpu-2", 8), HostSpec("gpu-3", 8), HostSpec("head-1")),
    changes={
        "count: 4, racks:": "count: 3, racks:",
        NO_LOGIN: "",
        "  accounting: {host: head-1}\n": "",
    },
)
"""Three nodes and a head that keeps no accounts."""

PAIR = Configured(
    name="pair",
    network="10.213.91.0/24",
    hosts=(HostSpec("gpu-1", 8), HostSpec("head-1"), HostSpec("head-2")),
    changes={
        'count: 4, racks: "c[01-02]"': 'count: 1, racks: "c[01-02]"',
        "type: cpu-2u, count: 1, racks: n01, per_rack: 1, start_unit: 20 U": (
            "type: cpu-2u, count: 2, racks: n01, per_rack: 2, start_unit: 20 U"
        ),
        NO_LOGIN: "",
        "    - {host: head-1}\n  accounting: {host: head-1}\n": (
            "    - {host: head-1}\n    - {host: head-2}\n  folders: {state: /shared/slurmctld}\n"
            "  shared_state: {mount: /shared}\n"
        ),
        "extra: {SlurmdParameters": "extra: {SlurmctldTimeout: 10, SlurmdParameters",
    },
)
"""Two controllers, which share a folder, and a node."""
