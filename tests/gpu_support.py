"""What is checked of a machine with GPUs, by the roles and programs that check a node of a cluster.

What is right is what ``nvidia-smi`` says here, so that the checks themselves are tested: each must pass
with it, and fail by name with one GPU more.
"""

from __future__ import annotations

import csv
import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import yaml

from collection_support import COLLECTIONS
from node_support import load_health
from rackwright.accept.compare import ItemOutcome, compare_item
from rackwright.accept.expected import HostExpectations, expect
from rackwright.accept.run import read_facts
from rackwright.inventory.inventory import build_inventory, host_variables
from rackwright.plan.load import load_plan
from rackwright.render.blueprints import find_template, write_blueprint

ROOT = Path(__file__).parents[1]
ROLES = ROOT / "roles"
NODE = "gpu-1"
"""A node of the lab's blueprint, whose expectations are taken with the numbers of this machine."""


@dataclass(frozen=True)
class GpuMachine:
    """This machine.

    Attributes:
        folder: for files that checks need.
        gpus: that ``nvidia-smi`` tells of.
        model: word in their names that the catalogue would have, like ``h200``.
        devices: pattern of their device files.
        path: folders of programs.
    """

    folder: Path
    gpus: int
    driver: str
    model: str
    devices: str
    path: str

    def run(
        self, *command: str | Path, text: str | None = None
    ) -> subprocess.CompletedProcess[str]:
        """How a program ended."""
        return subprocess.run(
            command,
            input=text,
            env={
                **os.environ,
                "PATH": self.path,
                "ANSIBLE_ROLES_PATH": str(ROLES),
                "ANSIBLE_COLLECTIONS_PATH": str(COLLECTIONS),
                "ANSIBLE_NOCOLOR": "True",
            },
            capture_output=True,
            text=True,
            check=False,
        )

    def play(
        self,
        role: str,
        part: str | None,
        cases: Mapping[str, Mapping[str, Any]],
        *,
        start: str | None = None,
        **extra: Any,
    ) -> dict[str, str]:
        """Run a role on this machine, or only a part of it, under each name with its variables.

        ``extra`` takes the place of what the role works out itself. ``start`` is the first task that is run.

        Returns:
            the failure of each, empty where there is none.
        """
        include = {"name": role, **({} if part is None else {"tasks_from": part})}
        how = "include_role" if start is None else "import_role"  # what is included starts whole
        tasks = [{f"ansible.builtin.{how}": include}]
        (self.folder / "play.yml").write_text(
            json.dumps([{"hosts": "all", "gather_subset": ["min"], "tasks": tasks}])
        )
        local = {"ansible_connection": "local", "ansible_python_interpreter": sys.executable}
        (self.folder / "hosts.json").write_text(
            json.dumps({"all": {"hosts": cases, "vars": local}}, default=dict)
        )
        done = self.run(
            Path(sys.executable).parent / "ansible-playbook",
            *("-i", self.folder / "hosts.json", self.folder / "play.yml"),
            *("-e", json.dumps(extra)),
            *(() if start is None else ("--start-at-task", start)),
        )
        found = {
            name: "".join(
                re.findall(rf"^(?:fatal|failed): \[{name}\].*$", done.stdout, re.MULTILINE)
            )
            for name in cases
        }
        assert (done.returncode == 0) == (not any(found.values())), done.stdout + done.stderr
        return found

    def installed(self, names: Sequence[str]) -> list[str]:
        """Those of the packages that are there; drivers of a container came from its machine."""
        shown = "--showformat=${Package} ${db:Status-Status}\n"
        told = self.run("dpkg-query", "--show", shown, *names).stdout if names else ""
        return [line.split()[0] for line in told.splitlines() if line.endswith(" installed")]

    def version(self, names: Sequence[str]) -> str:
        """Version of the first of the packages; one that fits nothing where there is none."""
        if not names:
            return "0"
        return self.run("dpkg-query", "--show", "--showformat=${Version}", names[0]).stdout

    def services(self, names: Sequence[str]) -> list[str]:
        """Those of the services that are there; a container has no systemd."""
        if not Path("/run/systemd/system").is_dir():
            return []
        return [name for name in names if self.run("systemctl", "cat", name).returncode == 0]


def ask_machine(folder: Path, devices: str = "/dev/nvidia[0-9]*", path: str = "") -> GpuMachine:
    """This machine as ``nvidia-smi`` tells of it, found in ``path`` first."""
    made = GpuMachine(folder, 0, "", "", devices, f"{path}:{os.environ['PATH']}".strip(":"))
    names = re.findall(r"^GPU \d+: (.+?) \(UUID", made.run("nvidia-smi", "-L").stdout, re.MULTILINE)
    query = ("--query-gpu=driver_version", "--format=csv,noheader")
    drivers = set(made.run("nvidia-smi", *query).stdout.split())
    assert names, "nvidia-smi tells of no GPU"
    assert len(drivers) == 1, drivers
    model = re.search(r"\b[A-Z]+\d+\w*", names[0])
    word = names[0].split()[-1] if model is None else model[0]  # the 4090 of an RTX 4090
    return replace(made, gpus=len(names), driver=drivers.pop(), model=word.lower())


Cases = Mapping[str, Mapping[str, Any]]
"""By name variables of a role that differ from what is true of the machine."""


def driver_failures(machine: GpuMachine, cases: Cases) -> dict[str, str]:
    """What the verification of the role ``nvidia_driver`` says."""
    packages = read_default("nvidia_driver", "nvidia_driver_packages")["Debian"]["driver"]
    names = {"driver": machine.installed(packages), "fabric_manager": [], "imex": []}
    true = {
        "nvidia_driver_version": machine.driver,
        "nvidia_driver_gpus": machine.gpus,
        "nvidia_driver_packages": {"Debian": names, "RedHat": names},
    }
    return machine.play(
        "nvidia_driver",
        "verify",
        {name: {**true, **own} for name, own in cases.items()},
        nvidia_driver_services=machine.services(["nvidia-persistenced"]),
    )


def nccl_failures(machine: GpuMachine, cases: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """What the verification of the role ``nccl`` says where NCCL is to use the adapters of a case."""
    names = machine.installed(read_default("nccl", "nccl_packages")["Debian"])
    true = {
        "nccl_version": machine.version(names),
        "nccl_packages": {"Debian": names, "RedHat": names},
    }
    return machine.play(
        "nccl",
        "verify",
        {
            name: {**true, "nccl_settings": {"NCCL_IB_HCA": f"={','.join(own)}"} if own else {}}
            for name, own in cases.items()
        },
    )


def cuda_failures(machine: GpuMachine, versions: Mapping[str, str]) -> dict[str, str]:
    """What the verification of the role ``cuda`` says where a toolkit is to be there."""
    packages: dict[str, list[str]] = {"Debian": [], "RedHat": []}
    cases = {n: {"cuda_version": own, "cuda_packages": packages} for n, own in versions.items()}
    return machine.play("cuda", "verify", cases)


def cuda_refusal(machine: GpuMachine, minimum: str) -> str:
    """Why the role ``cuda`` refuses a toolkit that needs this driver."""
    wanted = {"cuda_version": "12.8.0", "cuda_driver_minimum": minimum}
    return machine.play("cuda", "preflight", {"one": wanted})["one"]


def cuda_toolkits() -> list[str]:
    """Releases of the toolkits that are installed where the role expects them, like ``12.8``."""
    found = Path("/usr/local").glob("cuda-*.*/bin/nvcc")
    return sorted(path.parents[1].name.removeprefix("cuda-") for path in found)


def read_default(role: str, variable: str) -> Any:
    """The default of a variable of a role."""
    return yaml.safe_load((ROLES / role / "defaults/main.yml").read_text())[variable]


def blueprint(machine: GpuMachine) -> Path:
    """The lab's blueprint with health checks that end up in the folder of the machine."""
    path = machine.folder / "blueprint.yaml"
    if path.exists():
        return path
    write_blueprint(find_template("lab"), machine.folder, {})
    text = path.read_text()
    program = f"  health_check: {{program: {machine.folder}/health}}\n"
    for key, more in (("scheduler", program), ("operations", "  health_checks: true\n")):
        assert text.count(f"\n{key}:\n") == 1
        text = text.replace(f"\n{key}:\n", f"\n{key}:\n{more}")
    path.write_text(text)
    return path


def health(machine: GpuMachine, cases: Mapping[str, int]) -> dict[str, tuple[int, str]]:
    """How the generated health check ends, and what it prints, where so many GPUs are expected."""
    found = host_variables(build_inventory(load_plan(blueprint(machine)).plan), NODE)
    assert found is not None
    own = {name: value for name, value in found.items() if name.startswith("health_check_")}
    failures = machine.play(
        "health_check",
        None,
        {
            name: {
                **own,
                "health_check_program": f"{machine.folder}/health-{name}",
                "health_check_library": f"{machine.folder}/{name}.py",
                "health_check_settings": f"{machine.folder}/health-{name}.json",
                "health_check_accelerators": gpus,
                "health_check_device_pattern": machine.devices,
                "health_check_services": [],  # those of Slurm
                "health_check_free": [{"path": str(machine.folder), "percent": 0}],
            }
            for name, gpus in cases.items()
        },
    )
    assert not any(failures.values()), failures
    ended = {name: machine.run(machine.folder / f"health-{name}") for name in cases}
    return {name: (done.returncode, done.stdout.strip()) for name, done in ended.items()}


def judge_gpus(machine: GpuMachine, gpus: int, **asked: Any) -> list[str]:
    """What the health check has against so many GPUs, of which this is asked."""
    program: Any = load_health()
    program.PATHS = machine.path
    settings = {"accelerators": gpus, "gpus": asked}
    reasons: list[str] = program.judge(settings, (program.check_gpus,))
    return reasons


def query_gpus(machine: GpuMachine, *fields: str) -> list[dict[str, str]]:
    """Fields of each GPU as ``nvidia-smi --query-gpu`` tells them, which the health check does not ask."""
    wanted = (f"--query-gpu={','.join(fields)}", "--format=csv,noheader,nounits")
    done = machine.run("nvidia-smi", *wanted)
    assert done.returncode == 0, done.stdout
    rows = csv.reader(done.stdout.splitlines(), skipinitialspace=True)
    return [dict(zip(fields, row, strict=True)) for row in rows]


def probe(machine: GpuMachine, gpus: int) -> dict[str, tuple[ItemOutcome, str | None]]:
    """What ``rackwright verify`` finds of the GPUs where so many are expected, by item."""
    (node,) = (host for host in expect(load_plan(blueprint(machine)).plan) if host.name == NODE)
    true: dict[str, int | str] = {"accelerators": gpus, "accelerator model": machine.model}
    items = [replace(item, expected=true[item.item]) for item in node.items if item.item in true]
    assert len(items) == len(true)
    asked = HostExpectations(NODE, None, (machine.devices,), tuple(items)).request
    collector = (ROLES / "acceptance/files/collect.py").read_text()
    done = machine.run(sys.executable, "-", json.dumps(asked), text=collector)
    facts = read_facts(done.stdout)
    assert facts is not None, done.stderr
    assert facts["versions"]["driver"] == machine.driver
    found = [compare_item(item, facts) for item in items]
    return {one.item: (one.outcome, one.reason) for one in found}
