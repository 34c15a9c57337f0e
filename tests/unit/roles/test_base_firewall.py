"""A firewall that is at work lets the cluster through, or its host is refused.

Each case is a host of one run of Ansible on this machine, with programs that answer what the case says.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from role_cases import failure_of, play_cases, write_program

ADD = "--permanent --zone=trusted --add-source={}"
UFW = "Status: active\n\nTo  Action  From\nAnywhere  ALLOW  10.20.0.0/24"


@dataclass(frozen=True)
class Case:
    """A host.

    Attributes:
        programs: what each prints.
        networks: that are to be trusted.
        changes: what its programs are told beside questions.
        says: part of what it is refused with; empty where it is not.
    """

    programs: dict[str, str]
    networks: tuple[str, ...] = ("10.20.0.0/24", "10.30.0.0/16")
    changes: tuple[str, ...] = ()
    says: str = ""


FIREWALLD, NONE = {"systemctl": "active"}, {"systemctl": "inactive", "ufw": "Status: inactive"}
CASES = {
    "none": Case(NONE),
    "none-and-nobody": Case(NONE, ()),
    "firewalld": Case(
        FIREWALLD,
        changes=(
            f"firewall-cmd {ADD.format('10.20.0.0/24')}",
            f"firewall-cmd {ADD.format('10.30.0.0/16')}",
            "firewall-cmd --reload",
        ),
    ),
    "firewalld-again": Case(FIREWALLD | {"firewall-cmd": "10.20.0.0/24 10.30.0.0/16"}),
    "firewalld-half": Case(
        FIREWALLD | {"firewall-cmd": "10.30.0.0/16"},
        changes=(f"firewall-cmd {ADD.format('10.20.0.0/24')}", "firewall-cmd --reload"),
    ),
    "ufw": Case(NONE | {"ufw": UFW}, changes=("ufw allow from 10.30.0.0/16",)),
    "firewalld-and-nobody": Case(
        FIREWALLD, (), says="firewalld of firewalld-and-nobody would keep Slurm's daemons, MPI and"
    ),
    "ufw-and-nobody": Case(NONE | {"ufw": UFW}, (), says="ufw of ufw-and-nobody would keep"),
}
QUESTIONS = {"ufw status", "firewall-cmd --permanent --zone=trusted --list-sources"}


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """What Ansible says of all cases, and the folder of them."""
    folder = tmp_path_factory.mktemp("firewall")
    hosts = {}
    for name, case in CASES.items():
        own = folder / name
        own.mkdir()
        for program in ("systemctl", "firewall-cmd", "ufw"):
            told = case.programs.get(program, "")
            text = f"echo \"{program} $*\" >> {own}/log\nprintf '%s\\n' '{told}'"
            write_program(own / program, text)
        hosts[name] = {"case_folder": str(own), "base_trusted_networks": list(case.networks)}
    role = {"name": "base", "tasks_from": "firewall"}
    return play_cases(folder, hosts, [{"ansible.builtin.include_role": role}]), folder


@pytest.mark.parametrize("name", CASES)
def test_a_firewall_trusts_the_cluster_once(done: tuple[str, Path], name: str) -> None:
    output, folder = done
    case = CASES[name]
    failure = failure_of(output, name)
    assert bool(failure) == bool(case.says), failure
    assert case.says in failure
    told = (folder / name / "log").read_text().splitlines()
    changes = [one for one in told if one not in QUESTIONS and not one.startswith("systemctl")]
    assert tuple(changes) == case.changes
