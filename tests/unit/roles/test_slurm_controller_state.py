"""Several controllers share their state, or the role refuses them before anything is changed.

Each case is a host of one run of Ansible on this machine.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from role_cases import failure_of, play_cases, role_tasks

LOCAL = (
    "would be a folder of {name} alone, and no backup takes over without the state of the primary"
)
NOTHING = "{name} has nothing mounted at /srv/slurm, which is to hold the state of all controllers"
CASES: dict[str, tuple[dict[str, Any], str]] = {
    "alone": ({}, ""),
    "several": ({"slurm_controller_count": 3}, LOCAL),
    "unmounted": (
        {"slurm_controller_count": 3, "slurm_controller_shared_mount": "/srv/slurm"},
        NOTHING,
    ),
    "mounted": ({"slurm_controller_count": 3, "slurm_controller_shared_mount": "/proc"}, ""),
    "right-type": (
        {
            "slurm_controller_count": 2,
            "slurm_controller_shared_mount": "/proc",
            "slurm_controller_shared_type": "proc",
        },
        "",
    ),
    "other-type": (
        {
            "slurm_controller_count": 2,
            "slurm_controller_shared_mount": "/proc",
            "slurm_controller_shared_type": "nfs4",
        },
        "{name} has a file system of type proc at /proc, not nfs4",
    ),
}
STATES = ("several of", "nothing mounted", "file system of type", "would be a folder")


@pytest.fixture(scope="module")
def refused(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("controllers")
    state = {"slurm_controller_state_folder": "/var/spool/slurmctld", "case_tasks": "preflight"}
    hosts = {name: {**state, **variables} for name, (variables, _) in CASES.items()}
    return play_cases(folder, hosts, role_tasks("slurm_controller", ("preflight",), {}))


@pytest.mark.parametrize("name", CASES)
def test_controllers_without_shared_state_are_refused(refused: str, name: str) -> None:
    """Three controllers with a folder each passed, and no backup ever took over."""
    failure, says = failure_of(refused, name), CASES[name][1].format(name=name)
    if says:
        assert says in failure
    else:
        assert not any(word in failure for word in STATES), failure


def marks(folder: Path, states: dict[str, Path]) -> str:
    """Return the output of Ansible for controllers that see these folders."""
    for state in states.values():
        state.mkdir(exist_ok=True)
    hosts = {
        name: {
            "case_tasks": "shared",
            "slurm_controller_state_folder": str(state),
            "slurm_controller_user": "root",
        }
        for name, state in states.items()
    }
    return play_cases(folder, hosts, role_tasks("slurm_controller", ("shared",), {}))


@pytest.mark.skipif(os.geteuid() != 0, reason="runuser needs root")
def test_controllers_that_see_each_other_pass(tmp_path: Path) -> None:
    state = tmp_path / "state"
    output = marks(tmp_path, {"head-1": state, "head-2": state})
    assert not failure_of(output, "head-1")
    assert not failure_of(output, "head-2")


@pytest.mark.skipif(os.geteuid() != 0, reason="runuser needs root")
def test_mounts_that_are_not_the_same_storage_are_refused(tmp_path: Path) -> None:
    output = marks(tmp_path, {"head-1": tmp_path / "one", "head-2": tmp_path / "other"})
    assert "does not see in" in failure_of(output, "head-1")
    assert "what head-1 wrote there" in failure_of(output, "head-2")
