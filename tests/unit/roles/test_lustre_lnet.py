"""LNet over EFA: what the role refuses, which devices it takes, and what it has lnet.service run.

Each case is a host of one run of Ansible on this machine, with programs that answer what the case says.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

from role_cases import failure_of, play_cases, write_program

ROLE = Path(__file__).parents[3] / "roles/lustre_lnet"


@dataclass(frozen=True)
class Case:
    """A host.

    Attributes:
        devices: EFA devices that it has.
        driver: version of the driver that is loaded; empty for the kernel's own, None for none.
        modules: versions of Lustre's modules by name; None for one without a version.
        wanted: what differs from eight devices with the oldest driver 2.12.1.
        says: part of what it is refused with; empty where it is not.
        takes: numbers of the devices that it takes.
    """

    devices: int = 32
    driver: str | None = "2.17.2g"
    modules: dict[str, str] = field(default_factory=lambda: {"lnet": "2.15.6", "kefalnd": "1.2.2"})
    wanted: dict[str, Any] = field(default_factory=dict)
    says: str = ""
    takes: tuple[int, ...] = ()


P6 = {"kefalnd": "1.1.1"}
CASES = {
    "one-of-four": Case(takes=(0, 4, 8, 12, 16, 20, 24, 28)),
    "one-of-two": Case(devices=16, takes=(0, 2, 4, 6, 8, 10, 12, 14)),
    "each": Case(devices=8, wanted=P6, takes=tuple(range(8))),
    "ends": Case(devices=4, wanted={"devices": 2}, takes=(0, 3)),
    "single": Case(devices=1, wanted={"devices": 1}, takes=(0,)),
    "before-lustre": Case(devices=8, modules={}, takes=tuple(range(8))),
    "oldest": Case(devices=8, driver="2.12.1", takes=tuple(range(8))),
    "no-driver": Case(
        devices=0,
        driver=None,
        says="no-driver has 0 of 8 EFA devices that Lustre uses; the driver of EFA is not loaded",
    ),
    "too-few": Case(devices=7, says="too-few has 7 of 8 EFA devices that Lustre uses"),
    "old-driver": Case(
        driver="2.10.0g",
        says="the driver of EFA of old-driver is 2.10.0g; Lustre needs 2.12.1 or newer",
    ),
    "own-driver": Case(driver=None, says="is the kernel's own, without a version"),
    "no-kefalnd": Case(
        modules={"lnet": "2.15.6"},
        says="Lustre of no-kefalnd has no module kefalnd for its kernel 6.8.0-60",
    ),
    "old-kefalnd": Case(
        devices=8,
        modules={"lnet": "2.15.6", "kefalnd": "1.0.9"},
        wanted=P6,
        says="kefalnd of old-kefalnd is 1.0.9; this type of instance needs 1.1.1 or newer",
    ),
}


def device(number: int) -> str:
    """Names that come in the order of their numbers."""
    return f"rdmap{100 + number}s0"


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    folder = tmp_path_factory.mktemp("lnet")
    hosts = {}
    for name, case in CASES.items():
        own = folder / name
        own.mkdir()
        for number in range(case.devices):
            (own / f"efa/0000:{number:02x}:00.0/infiniband" / device(number)).mkdir(parents=True)
        if case.driver is not None:
            (own / "version").write_text(f"{case.driver}\n")
        answers = "".join(f"{key}) echo {text};; " for key, text in case.modules.items())
        write_program(own / "modinfo", f'case "$3" in {answers}*) exit 1;; esac')
        hosts[name] = {
            "case_folder": str(own),
            "lustre_lnet_networks": [{"name": "tcp", "interfaces": ["default"]}],
            "lustre_lnet_efa": {
                "devices": 8,
                "peer_credits": 32,
                "driver": "2.12.1",
                **case.wanted,
            },
        }
    facts = {
        "kernel": "6.8.0-60",
        "interfaces": ["lo", "enp71s0"],
        "default_ipv4": {"interface": "enp71s0"},
        "cacheable": True,
    }
    places = {
        "lustre_lnet_efa_driver": "{{ case_folder }}/efa",
        "lustre_lnet_efa_module": "{{ case_folder }}/version",
    }
    role = {"name": "lustre_lnet", "tasks_from": "preflight"}
    write = {"src": str(ROLE / "templates/efa.conf.j2"), "dest": "{{ case_folder }}/efa.conf"}
    tasks = [
        {"ansible.builtin.set_fact": facts},
        {"ansible.builtin.include_role": {**role, "public": True}, "vars": places},
        {"ansible.builtin.template": {**write, "mode": "0644"}, "vars": places},
    ]
    return play_cases(folder, hosts, tasks), folder


@pytest.mark.parametrize("name", CASES)
def test_efa_that_lustre_cannot_use_is_told(played: tuple[str, Path], name: str) -> None:
    failure = failure_of(played[0], name)
    assert bool(failure) == bool(CASES[name].says), failure
    assert CASES[name].says in failure


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.takes])
def test_the_service_runs_what_aws_documents(played: tuple[str, Path], name: str) -> None:
    lines = (played[1] / name / "efa.conf").read_text().splitlines()
    nets = [
        f"ExecStartPost=/usr/sbin/lnetctl net add --net efa --if {device(number)} --peer-credits 32"
        for number in CASES[name].takes
    ]
    assert [line for line in lines if not line.startswith("#")] == [
        "[Service]",
        "ExecStartPre=/usr/sbin/modprobe kefalnd ipif_name=enp71s0",
        *nets,
        "ExecStartPost=/usr/sbin/lnetctl set discovery 1",
        "ExecStartPost=/usr/sbin/lnetctl udsp add --src efa --priority 0",
        "ExecStopPost=-/usr/sbin/lustre_rmmod",
    ]


def test_the_drop_in_goes_where_efa_is_not_wanted() -> None:
    tasks = yaml.safe_load((ROLE / "tasks/configure.yml").read_text())
    (gone,) = (task for task in tasks if task.get("when") == "lustre_lnet_efa is undefined")
    assert gone["ansible.builtin.file"] == {"path": "{{ lustre_lnet_dropin }}", "state": "absent"}
    assert gone["notify"] == "lustre_lnet restart"
