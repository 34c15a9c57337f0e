"""Labs for end-to-end tests, and roles that are run on their hosts by themselves."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from collection_support import COLLECTIONS
from first_set import name_first_set
from rackwright.render.blueprints import find_template, write_blueprint
from rackwright_lab import lab as labs
from rackwright_lab.host import LabHost
from rackwright_lab.lab import HostSpec, Lab
from rackwright_lab.system import run

LAB_MARKS = [
    pytest.mark.e2e,
    pytest.mark.timeout(3000),
    pytest.mark.skipif(os.geteuid() != 0, reason="the lab needs root"),
]


INTERRUPT = object()
"""What a happening returns after which ``configure`` is interrupted."""


Refused = Mapping[str, tuple[str, Mapping[str, Any], str]]
"""By case a role, variables under which it must refuse, and what it says."""


def rackwright(*words: object, expect: int = 0) -> str:
    """What ``rackwright`` prints; it must end with ``expect``."""
    done = subprocess.run(
        [sys.executable, "-m", "rackwright", *map(str, words)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == expect, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout


def lab_blueprint(folder: Path, changes: Mapping[str, str]) -> Path:
    """The blueprint of the template ``lab``, in ``folder``, with texts in it replaced.

    It is judged by the first policy set, in which a cluster with fewer hosts or other switches than
    the template has passes: tests of the lab are about its hosts.
    """
    write_blueprint(find_template("lab"), folder, {})
    path = name_first_set(folder / "blueprint.yaml")
    text = path.read_text()
    for old, new in changes.items():
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    path.write_text(text)
    return path


@dataclass(frozen=True)
class Played:
    """How a playbook ended."""

    code: int
    output: str

    @property
    def changed(self) -> int:
        """Changes on all hosts."""
        return sum(self.changes.values())

    @property
    def changes(self) -> dict[str, int]:
        """For each host how many tasks changed something."""
        counted = re.findall(r"^(\S+)\s*: ok=\d+\s+changed=(\d+)", self.output, re.MULTILINE)
        return {name: int(count) for name, count in counted}

    @property
    def words(self) -> str:
        """The output with its line breaks and columns as single spaces."""
        return " ".join(self.output.split())

    def failure(self, host: str) -> str:
        """What Ansible says of a task that failed on ``host``; empty where none did."""
        return "".join(re.findall(rf"^(?:fatal|failed): \[{host}\].*$", self.output, re.MULTILINE))


@dataclass(frozen=True)
class Machines:
    """The hosts of a lab; inventories and playbooks are written to ``folder``."""

    lab: Lab
    folder: Path

    def host(self, name: str) -> LabHost:
        """The host ``name``."""
        (found,) = [host for host in self.lab.hosts() if host.name == name]
        return found

    def on(self, name: str, command: str, *, check: bool = True, timeout_s: float = 300) -> str:
        """What ``command`` prints on the host ``name``."""
        command_line = (*self.lab.ssh(self.host(name)), command)
        return run(*command_line, check=check, timeout_s=timeout_s).strip()

    def lab_blueprint(self, changes: Mapping[str, str]) -> Path:
        """The blueprint of the template ``lab`` with texts in it replaced."""
        return lab_blueprint(self.folder, changes)

    def rackwright(self, verb: str, *arguments: object, expect: int = 0) -> str:
        """What ``rackwright`` prints for the blueprint and the lab; it must end with ``expect``."""
        blueprint = self.folder / "blueprint.yaml"
        return rackwright(verb, blueprint, "--lab", self.lab.name, *arguments, expect=expect)

    def configure_while(
        self, *arguments: str, at: Mapping[str, Callable[[], object]], expect: int
    ) -> tuple[str, str]:
        """Output and progress of ``configure``, in which things happen at a line of progress."""
        command = [sys.executable, "-m", "rackwright", "configure"]
        process = subprocess.Popen(
            [*command, str(self.folder / "blueprint.yaml"), "--lab", self.lab.name, *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert process.stdout is not None
        assert process.stderr is not None
        waiting, said = dict(at), ""
        with process:
            for line in process.stderr:
                said += line
                for mark in [mark for mark in waiting if mark in line]:
                    happen = waiting.pop(mark)
                    if happen() is INTERRUPT:
                        process.send_signal(signal.SIGINT)
            output = process.stdout.read()
        assert process.returncode == expect, output + said
        assert "Traceback" not in said
        assert waiting == {}, said
        return output, said

    def play(
        self,
        plays: Sequence[Mapping[str, Any]],
        *arguments: str,
        variables: Mapping[str, Any] | None = None,
        hosts: Mapping[str, Mapping[str, Any]] | None = None,
        groups: Mapping[str, Any] | None = None,
        roles: Path = Path("roles"),
    ) -> Played:
        """Run plays on the hosts of the lab.

        Args:
            arguments: of ansible-playbook.
            variables: of all hosts.
            hosts: variables of each host, all those of the lab unless told. A name that the lab
                does not have stands for the lab's only host.
            groups: children of ``all``, as in an inventory.
            roles: folder of the roles.
        """
        real = {host.name: self.lab.connection(host) for host in self.lab.hosts()}
        listed = {
            name: {**(real.get(name) or next(iter(real.values()))), **own}
            for name, own in (hosts or {name: {} for name in real}).items()
        }
        inventory, playbook = self.folder / "inventory.json", self.folder / "play.yml"
        every = {"hosts": listed, "vars": dict(variables or {}), "children": dict(groups or {})}
        inventory.write_text(json.dumps({"all": every}))
        playbook.write_text(json.dumps(list(plays)))
        program = Path(sys.executable).parent / "ansible-playbook"
        done = subprocess.run(
            [program, "-i", inventory, playbook, *arguments],
            env={
                **os.environ,
                "ANSIBLE_ROLES_PATH": str(roles.resolve()),
                "ANSIBLE_COLLECTIONS_PATH": str(COLLECTIONS),
                "ANSIBLE_PIPELINING": "True",
                "ANSIBLE_NOCOLOR": "True",
            },
            capture_output=True,
            text=True,
            check=False,
        )
        return Played(done.returncode, done.stdout + done.stderr)

    def check_refusals(self, host: str, refused: Refused, **settings: Any) -> None:
        """Check what roles say of variables under which they must refuse, in one run on ``host``.

        It stands in the inventory under the name of each case; ``settings`` are those of ``play``.
        """
        reached = self.lab.connection(self.host(host))
        role = {"ansible.builtin.include_role": {"name": "{{ refusing_role }}"}}
        played = self.play(
            [{"hosts": "all", "gather_subset": ["min", "hardware"], "tasks": [role]}],
            hosts={
                case: {**reached, "refusing_role": name, **variables}
                for case, (name, variables, _) in refused.items()
            },
            **settings,
        )
        for case, (_, _, message) in refused.items():
            assert message in " ".join(played.failure(case).split()), (case, played.output)
        assert played.changed == 0

    def play_roles(self, *names: str, arguments: Sequence[str] = (), **settings: Any) -> Played:
        """Run roles on all hosts; ``settings`` are those of ``play``."""
        return self.play([{"hosts": "all", "roles": list(names)}], *arguments, **settings)


@contextmanager
def some_machines(
    folder: Path,
    name: str,
    network: str,
    wanted: Sequence[HostSpec],
    frozen: Path | None = None,
    suite: str | None = None,
) -> Iterator[Machines]:
    """The hosts of a new lab, which is removed in the end.

    Args:
        folder: for the state of the command line, and for what tests write.
        name: of the lab.
        network: of the lab.
        wanted: the hosts.
        frozen: what is over the base on their disks from the beginning, ``hosts/NAME`` of each, and
            what is in the folder that they share, ``shared``; absent, the hosts are bare.
        suite: the Debian of the hosts; absent, that of this machine.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RACKWRIGHT_STATE", str(folder))
        lab = labs.open_lab(name, network)
        layers = {}
        if frozen is not None:
            layers = {spec.name: frozen / "hosts" / spec.name for spec in wanted}
            lab.folder.mkdir(parents=True, mode=0o700)
            run("cp", "--archive", frozen / "shared", lab.folder)
        try:
            labs.up(lab, wanted, print, layers, suite)
            yield Machines(lab, folder)
        finally:
            labs.down(lab)
