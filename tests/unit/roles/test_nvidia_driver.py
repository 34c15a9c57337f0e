"""What the driver needs to become a module: a stream, DKMS, and a key that the firmware knows.

Each case is a host of one run of Ansible on this machine, with programs that answer what the case says.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import pytest

from role_cases import failure_of, play_cases, role_tasks, write_program

ENABLED = "Name          Stream      Profiles   Summary\nnvidia-driver {} [d][e] default [d] NVIDIA"


@dataclass(frozen=True)
class Case:
    """A host that runs one file of tasks.

    Attributes:
        programs: what each prints.
        says: part of what it is refused with; empty where it is not.
        asked: commands of dnf that change something.
    """

    tasks: str
    programs: dict[str, str] = field(default_factory=dict)
    says: str = ""
    asked: tuple[str, ...] = ()
    key: bool = False


RESET, ENABLE = (
    "--assumeyes module reset nvidia-driver",
    "--assumeyes module enable nvidia-driver:570-open",
)
ON, OFF = {"od": "   1"}, {"od": "   0"}
CASES = {
    "stream-none": Case("stream", {"dnf": ""}, asked=(RESET, ENABLE)),
    "stream-other": Case("stream", {"dnf": ENABLED.format("565-open")}, asked=(RESET, ENABLE)),
    "stream-longer": Case(
        "stream", {"dnf": ENABLED.format("570-open-dkms")}, asked=(RESET, ENABLE)
    ),
    "stream-there": Case("stream", {"dnf": ENABLED.format("570-open")}),
    "dkms-none": Case(
        "preflight_dkms", {"dnf": ""}, "no repository of dkms-none has dkms, with which kmod-"
    ),
    "dkms-there": Case("preflight_dkms", {"dnf": "dkms-0:3.1.6-1.el9.noarch"}),
    "off": Case("signing", OFF),
    "no-uefi": Case("signing", {"od": ""}),
    "unknown-key": Case(
        "signing", ON, "its firmware does not know {key}, with which DKMS signs", key=True
    ),
    "known-key": Case("signing", ON | {"mokutil": "{key} is already enrolled"}, key=True),
    "signed-by-its-maker": Case(
        "signing", ON | {"modinfo": "Canonical Ltd. Kernel Module Signing"}
    ),
    "signed-by-nobody": Case("signing", ON, "the driver is signed by nobody; install one that is"),
}


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """What Ansible says of all cases, and the folder of them."""
    folder = tmp_path_factory.mktemp("driver")
    hosts = {}
    for name, case in CASES.items():
        programs, key = folder / name, folder / name / "mok.pub"
        programs.mkdir()
        for program in ("dnf", "od", "mokutil", "modinfo"):
            text = case.programs.get(program, "").format(key=key)
            log = f'echo "$*" >> {programs}/{program}.log'
            write_program(programs / program, f"{log}\necho '{text}'")
        if case.key:
            key.touch()
        hosts[name] = {
            "case_tasks": case.tasks,
            "case_key": str(key),
            "case_folder": str(programs),
        }
    of_role = {
        "nvidia_driver_version": "570.133.20",
        "nvidia_driver_family": "RedHat",
        "nvidia_driver_wanted": ["kmod-nvidia-open-dkms", "nvidia-driver-cuda"],
        "nvidia_driver_key": "{{ case_key }}",
    }
    tasks = role_tasks("nvidia_driver", ("stream", "preflight_dkms", "signing"), of_role)
    return play_cases(folder, hosts, tasks), folder


@pytest.mark.parametrize("name", CASES)
def test_a_driver_that_could_drive_nothing_is_refused(done: tuple[str, Path], name: str) -> None:
    output, folder = done
    case = CASES[name]
    failure = failure_of(output, name)
    assert bool(failure) == bool(case.says), failure
    assert case.says.format(key=folder / name / "mok.pub") in failure
    log = folder / name / "dnf.log"
    told = log.read_text().splitlines() if log.exists() else []
    assert tuple(line for line in told if line.startswith("--assumeyes")) == case.asked
