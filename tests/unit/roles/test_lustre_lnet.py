"""LNet over EFA: what the role refuses, which devices it takes, and what it has lnet.service run.

Each case is a host of one run of Ansible on this machine, with programs that answer what the case says.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.rackwright.cluster.plugins.filter.efa_devices import (
    FilterModule,
    efa_devices,
)
from role_cases import failure_of, play_cases, write_program

ROLE = Path(__file__).parents[3] / "roles/lustre_lnet"
TREE = Path("sys/devices")


def way_of(number: int, of_port: int, of_switch: int) -> Path:
    """Where a device hangs: ports and switches that each have some of them."""
    switch, port = number // of_switch, number % of_switch // of_port
    root = f"pci0000:{16 * switch:02x}/0000:{16 * switch:02x}:00.0/0000:{16 * switch + 1:02x}:00.0"
    return Path(
        f"{root}/0000:{16 * switch + 2:02x}:{port:02x}.{number % of_port}/0000:{number:02x}:00.0"
    )


def device(number: int) -> str:
    """Names that come in the order of their numbers."""
    return f"rdmap{100 + number}s0"


def paths(count: int, of_port: int, of_switch: int) -> Iterable[str]:
    return [
        f"/sys/devices/{way_of(number, of_port, of_switch)}/infiniband/{device(number)}"
        for number in range(count)
    ]


@pytest.mark.parametrize(
    ("count", "of_port", "of_switch", "of_each", "takes"),
    [
        pytest.param(32, 4, 4, "switch", range(0, 32, 4), id="P5"),
        pytest.param(16, 2, 4, "port", range(0, 16, 2), id="P5en"),
        pytest.param(16, 2, 4, "switch", range(0, 16, 4), id="the first of each switch"),
        pytest.param(8, 1, 1, None, range(8), id="all"),
        pytest.param(0, 1, 1, "switch", (), id="none"),
    ],
)
def test_devices_are_chosen_as_by_aws(
    count: int, of_port: int, of_switch: int, of_each: str | None, takes: Iterable[int]
) -> None:
    names = [device(number) for number in reversed(range(count))]
    found = efa_devices(names, paths(count, of_port, of_switch), of_each)
    assert found == [device(number) for number in takes]


def test_a_device_elsewhere_is_none_of_a_switch() -> None:
    short = "/sys/devices/pci0000:00/0000:00:05.0/infiniband/efa_0"
    other = "/sys/devices/pci0000:00/0000:00:01.0/0000:01:00.0/0000:02:01.0/0000:03:00.0/infiniband/mlx5_0"
    assert efa_devices(["efa_0", "efa_1"], [short, other], "switch") == []
    assert FilterModule().filters() == {"efa_devices": efa_devices}


@dataclass(frozen=True)
class Case:
    """A host.

    Attributes:
        devices: EFA devices that it has.
        of_port: how many of them each port of a switch has.
        of_switch: how many of them each switch has.
        driver: version of the driver that is loaded; empty for the kernel's own, None for none.
        modules: versions of Lustre's modules by name.
        wanted: what differs from eight devices with the oldest driver 2.12.1.
        up: devices that LNet has up; None where LNet is down.
        mounted: whether Lustre is mounted.
        service: whether AWS's service is enabled.
        says: part of what it is refused with; empty where it is not.
        takes: numbers of the devices that it takes.
    """

    devices: int = 8
    of_port: int = 1
    of_switch: int = 1
    driver: str | None = "2.17.2g"
    modules: dict[str, str] = field(default_factory=lambda: {"lnet": "2.15.6", "kefalnd": "1.2.2"})
    wanted: dict[str, Any] = field(default_factory=dict)
    up: tuple[int, ...] | None = None
    mounted: bool = False
    service: bool = False
    says: str = ""
    takes: tuple[int, ...] = ()


P5 = {"of_each": "switch"}
P6 = {"kefalnd": "1.1.1"}
EACH = tuple(range(8))
CASES = {
    "p5": Case(32, 4, 4, wanted=P5, takes=tuple(range(0, 32, 4))),
    "p5en": Case(16, 2, 4, wanted={"of_each": "port"}, takes=tuple(range(0, 16, 2))),
    "p6": Case(wanted=P6, takes=EACH),
    "single": Case(1, wanted={"devices": 1, "peer_credits": 32}, takes=(0,)),
    "before-lustre": Case(modules={}, takes=EACH),
    "oldest": Case(driver="2.12.1", takes=EACH),
    "no-driver": Case(
        devices=0,
        driver=None,
        says="no-driver has 0 of 8 EFA devices that Lustre uses; the driver of EFA is not loaded",
    ),
    "too-few": Case(7, says="too-few has 7 of 8 EFA devices that Lustre uses"),
    "too-many": Case(9, says="too-many has 9 of 8 EFA devices that Lustre uses"),
    "one-switch": Case(
        32, 4, 32, wanted=P5, says="has 1 of 8 EFA devices on PCI switches of their own that"
    ),
    "old-driver": Case(
        driver="2.10.0g",
        says="the driver of EFA of old-driver is 2.10.0g; Lustre needs 2.12.1 or newer",
    ),
    "own-driver": Case(driver="", says="is the kernel's own, without a version"),
    "no-kefalnd": Case(
        modules={"lnet": "2.15.6"},
        says="Lustre of no-kefalnd has no module kefalnd for its kernel 6.8.0-60",
    ),
    "old-kefalnd": Case(
        modules={"lnet": "2.15.6", "kefalnd": "1.0.9"},
        wanted=P6,
        says="kefalnd of old-kefalnd is 1.0.9; this type of instance needs 1.1.1 or newer",
    ),
    "over-tcp": Case(
        up=(),
        mounted=True,
        says="over-tcp is to use Lustre over EFA, and scratch.mount, /scratch is up without it",
    ),
    "over-some": Case(up=EACH[:-1], mounted=True, says="drain the host, stop it"),
    "not-mounted": Case(up=(), takes=EACH),
    "over-efa": Case(up=EACH, mounted=True, takes=EACH),
    "service": Case(
        service=True, says="configure-efa-fsx-lustre-client.service of service sets up"
    ),
}


def write_case(folder: Path, case: Case) -> None:
    """What the host of a case has: devices, and programs that answer."""
    folder.mkdir()
    for number in range(case.devices):
        own = folder / TREE / way_of(number, case.of_port, case.of_switch)
        (own / "infiniband" / device(number)).mkdir(parents=True)
        (folder / "efa").mkdir(exist_ok=True)
        (folder / "efa" / own.name).symlink_to(own)
    if case.driver is not None:
        (folder / "version").write_text(f"{case.driver}\n")
    answers = "".join(f"{key}) echo {text};; " for key, text in case.modules.items())
    write_program(folder / "modinfo", f'case "$3" in {answers}*) exit 1;; esac')
    state = "echo active" if case.mounted else "echo inactive; exit 3"
    enabled = "echo enabled" if case.service else "exit 1"
    write_program(
        folder / "systemctl",
        f'case "$1" in show) echo scratch.mount;; is-active) {state};; is-enabled) {enabled};; esac',
    )
    write_program(folder / "findmnt", "echo /scratch" if case.mounted else "exit 1")
    nets: list[dict[str, Any]] = [
        {"net type": "lo", "local NI(s)": [{"nid": "0@lo", "status": "up"}]}
    ]
    if case.up:
        found = [{"status": "up", "interfaces": {0: device(number)}} for number in case.up]
        nets.append({"net type": "efa", "local NI(s)": found})
    (folder / "nets").write_text(yaml.safe_dump({"net": nets}))
    down = "echo 'show:' >&2; exit 156"
    write_program(folder / "lnetctl", down if case.up is None else f"cat {folder}/nets")


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    folder = tmp_path_factory.mktemp("lnet")
    hosts: dict[str, dict[str, Any]] = {}
    for name, case in CASES.items():
        write_case(folder / name, case)
        hosts[name] = {
            "case_folder": str(folder / name),
            "lustre_lnet_networks": [{"name": "tcp", "interfaces": ["default"]}],
            "lustre_lnet_efa": {
                "devices": 8,
                "peer_credits": 128,
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
        "lustre_lnet_efa_tree": f"{{{{ case_folder }}}}/{TREE}",
    }
    role = {"name": "lustre_lnet", "tasks_from": "preflight"}
    write = {"src": str(ROLE / "templates/efa.conf.j2"), "dest": "{{ case_folder }}/efa.conf"}
    tasks: list[dict[str, Any]] = [
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
    case = CASES[name]
    lines = (played[1] / name / "efa.conf").read_text().splitlines()
    add = "ExecStartPost=/usr/sbin/lnetctl net add --net efa --if {} --peer-credits {}"
    messages = case.wanted.get("peer_credits", 128)
    assert [line for line in lines if not line.startswith("#")] == [
        "[Service]",
        "ExecStartPre=/usr/sbin/modprobe kefalnd ipif_name=enp71s0",
        *(add.format(device(number), messages) for number in case.takes),
        "ExecStartPost=/usr/sbin/lnetctl set discovery 1",
        "ExecStartPost=/usr/sbin/lnetctl udsp add --src efa --priority 0",
        "ExecStopPost=-/usr/sbin/lustre_rmmod",
    ]


def test_the_drop_in_goes_where_efa_is_not_wanted() -> None:
    tasks = yaml.safe_load((ROLE / "tasks/configure.yml").read_text())
    (gone,) = (task for task in tasks if task.get("when") == "lustre_lnet_efa is undefined")
    assert gone["ansible.builtin.file"] == {"path": "{{ lustre_lnet_dropin }}", "state": "absent"}
    assert gone["notify"] == "lustre_lnet restart"
