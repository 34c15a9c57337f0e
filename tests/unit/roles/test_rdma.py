"""Types of ports and the loaded driver: what mlxconfig and the kernel say, and what the role concludes.

Each case is a host of one run of Ansible on this machine, with programs that answer what the case says.
"""

from __future__ import annotations

import importlib.util
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import pytest

from role_cases import failure_of, play_cases, role_tasks, write_program

ROLES = Path(__file__).parents[3] / "roles"
QUERY = """\
Device #1:
----------

Device type:        ConnectX7
Name:               MCX75310AAS-NEA_Ax
Device:             0000:18:00.0

Configurations:                                          Next Boot
        NUM_OF_VFS                                  0
        LINK_TYPE_P1                                {first}
        LINK_TYPE_P2                                ETH(2)
"""
"""As NVIDIA's documents of mlxconfig print it."""


@pytest.fixture(scope="module")
def program() -> ModuleType:
    spec = importlib.util.spec_from_file_location("link_types", ROLES / "rdma/files/link_types.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_types_of_ports_are_read(program: ModuleType) -> None:
    assert program.link_types(QUERY.format(first="IB(1)")) == [("1", "IB"), ("2", "ETH")]
    assert program.link_types("-E- Failed to open device") == []


def test_an_adapter_is_asked_once_whatever_its_devices_are_called(
    program: ModuleType, tmp_path: Path
) -> None:
    function = tmp_path / "devices/0000:18:00.0"
    function.mkdir(parents=True)
    for name in ("mlx5_0", "mlx5_1"):
        (tmp_path / "infiniband" / name).mkdir(parents=True)
        (tmp_path / "infiniband" / name / "device").symlink_to(function)
    assert program.adapters(str(tmp_path / "infiniband")) == ["0000:18:00.0"]


@dataclass(frozen=True)
class Case:
    """A host.

    Attributes:
        tasks: the file of tasks that it runs.
        first: type of the first of two ports of its adapter.
        loaded: source of the driver that is loaded; None where none is.
        installed: of the one that is installed; empty where none is.
        says: part of what it is refused with; empty where it is not.
    """

    tasks: str
    first: str = "IB(1)"
    loaded: str | None = None
    installed: str = "533BB7E"
    says: str = ""


CASES = {
    "right-types": Case("link_types"),
    "wrong-type": Case(
        "link_types",
        first="ETH(2)",
        says="wrong-type has too few ports of a type: 0 of 1 infiniband; set are 0000:18:00.0 1 Ethernet, ",
    ),
    "same-driver": Case("loaded", loaded="533BB7E"),
    "no-driver": Case("loaded"),
    "other-driver": Case(
        "loaded",
        loaded="A1B2C3D",
        says="has loaded mlx5_core of the source A1B2C3D, and installed is that of 533BB7E; reboot it",
    ),
    "none-for-this-kernel": Case(
        "loaded",
        loaded="A1B2C3D",
        installed="",
        says="and none is installed for its kernel 6.8.0-60",
    ),
}


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("rdma")
    hosts = {}
    for name, case in CASES.items():
        own = folder / name
        function = own / "devices/0000:18:00.0"
        function.mkdir(parents=True)
        (own / "infiniband/mlx5_0").mkdir(parents=True)
        (own / "infiniband/mlx5_0/device").symlink_to(function)
        if case.loaded is not None:
            (own / "module/mlx5_core").mkdir(parents=True)
            (own / "module/mlx5_core/srcversion").write_text(f"{case.loaded}\n")
        (own / "query").write_text(QUERY.format(first=case.first))
        programs = {
            "mlxconfig": f"cat {own}/query",
            "modinfo": f"echo '{case.installed}'" if case.installed else "exit 1",
        }
        for program, text in programs.items():
            write_program(own / program, text)
        hosts[name] = {
            "case_tasks": case.tasks,
            "case_folder": str(own),
            "rdma_stack": "doca",
            "rdma_own_kernel": True,
            "rdma_ports": [
                {"technology": "infiniband", "rate_gbps": 400.0, "count": 1},
                {"technology": "ethernet", "rate_gbps": 200.0, "count": 1},
            ],
        }
    facts = {"python": {"executable": sys.executable}, "kernel": "6.8.0-60", "cacheable": True}
    of_role = {
        "rdma_sysfs": "{{ case_folder }}/infiniband",
        "rdma_modules": "{{ case_folder }}/module",
    }
    tasks = role_tasks("rdma", ("link_types", "loaded"), of_role)
    return play_cases(folder, hosts, [{"ansible.builtin.set_fact": facts}, *tasks])


@pytest.mark.parametrize("name", CASES)
def test_a_port_of_the_other_type_and_a_stale_driver_are_told(said: str, name: str) -> None:
    failure = failure_of(said, name)
    assert bool(failure) == bool(CASES[name].says), failure
    assert CASES[name].says in failure
