"""A host that is not in service yet is rebooted for its drivers; one that runs Slurm never is.

Ansible refuses to reboot the machine that it runs on, by which a case is known that would have been rebooted.
"""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from role_cases import failure_of, play_cases, role_tasks, write_program

REBOOTED = "would reboot the control node"


@dataclass(frozen=True)
class Case:
    """A host.

    Attributes:
        role: whose driver is looked at.
        modules: what the kernel says of loaded modules, by file.
        service: what systemctl says of Slurm's daemons.
        rebooted: the host is rebooted.
    """

    role: str
    modules: dict[str, str]
    service: str = "inactive"
    rebooted: bool = False
    given: str = "true"


CASES = {
    "inbox-mlx5": Case("rdma", {"mlx5_core/srcversion": "A"}, rebooted=True),
    "inbox-mlx5-in-service": Case("rdma", {"mlx5_core/srcversion": "A"}, "inactive\nactive"),
    "inbox-mlx5-by-hand": Case("rdma", {"mlx5_core/srcversion": "A"}, given="false"),
    "doca": Case("rdma", {"mlx5_core/srcversion": "B"}),
    "no-mlx5": Case("rdma", {}),
    "nouveau": Case("nvidia_driver", {"nouveau/x": ""}, rebooted=True),
    "nouveau-in-service": Case("nvidia_driver", {"nouveau/x": ""}, "active"),
    "older-driver": Case("nvidia_driver", {"nvidia/version": "570.1"}, "failed", rebooted=True),
    "same-driver": Case("nvidia_driver", {"nvidia/version": "595.112.07"}),
    "no-driver": Case("nvidia_driver", {}),
}


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return the output of Ansible for the cases of each role."""
    found = {}
    for role in ("rdma", "nvidia_driver"):
        folder = tmp_path_factory.mktemp(role)
        hosts = {}
        for name, case in CASES.items():
            if case.role == role:
                place = folder / name
                place.mkdir()
                write_program(place / "modinfo", "echo B")
                write_program(place / "systemctl", f"printf '{case.service}\n'; exit 3")
                for path, text in case.modules.items():
                    (place / "module" / path).parent.mkdir(parents=True)
                    (place / "module" / path).write_text(f"{text}\n")
                hosts[name] = {
                    "case_tasks": "first_boot",
                    "case_folder": str(place),
                    "case_modules": str(place / "module"),
                    f"{role}_first_boot": case.given == "true",
                    "nvidia_driver_version": "595.112.07",
                }
        given = {f"{role}_modules": "{{ case_modules }}"}
        found[role] = play_cases(folder, hosts, role_tasks(role, ("first_boot",), given))
    return found


@pytest.mark.parametrize("name", CASES)
def test_host_without_slurm_is_rebooted_for_its_drivers(said: dict[str, str], name: str) -> None:
    """Two runs of a first bring-up ended, and two reboots by hand were between them."""
    case = CASES[name]
    failure = failure_of(said[case.role], name)
    assert (REBOOTED in failure) == case.rebooted, failure
    assert case.rebooted or not failure
