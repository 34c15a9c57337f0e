"""Refusals of a distributed run, before anything is run anywhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from rackwright.accept.expected import expect
from rackwright.ansible_runs.files import Workspace, prepare
from rackwright.ansible_runs.observer import Lines
from rackwright.ansible_runs.run import Options
from rackwright.errors import ExternalToolError
from rackwright.plan.model import Plan
from rackwright.receptor.control import Control
from rackwright.receptor.distribute import check_workers, list_inventory, run_distributed
from rackwright.receptor.workers import Workers, WorkersError, members
from rackwright.rollout.executor import AnsibleExecutor


@pytest.fixture
def place(place: Workspace, plan: Plan) -> Workspace:
    prepare(plan, place)
    return place


def workers(**hosts: list[str]) -> Workers:
    return Workers.model_validate(
        {
            "apiVersion": "rackwright/v1",
            "head": {"address": "10.0.0.1", "socket": "/nowhere/control.sock"},
            "here": ["role_head"],
            "workers": [{"node": node, "hosts": names} for node, names in hosts.items()],
        }
    )


@pytest.mark.parametrize(
    ("hosts", "limit", "error", "message"),
    [
        ({"a": ["role_compute"]}, None, WorkersError, "no worker configures login-1"),
        ({"a": ["all"]}, None, WorkersError, "'head-1' by here, a"),
        ({"a": ["all", "!role_head"]}, "gpu-9", WorkersError, "no host matches 'gpu-9'"),
        ({"a": ["all", "!role_head"]}, "gpu-1", ExternalToolError, "/nowhere/control.sock"),
    ],
)
def test_nothing_is_begun_that_cannot_be_done(
    place: Workspace,
    hosts: dict[str, list[str]],
    limit: str | None,
    error: type[Exception],
    message: str,
) -> None:
    with pytest.raises(error, match=message):
        run_distributed(place, Options(limit=limit), workers(**hosts), None, Lines(print))
    assert not (place.folder / "runner").exists()
    assert not (place.folder / "distribution").exists()


def test_a_teams_own_inventory_is_part_of_it(place: Workspace, tmp_path: Path) -> None:
    own = tmp_path / "own.yaml"
    own.write_text("all: {children: {canary: {hosts: {gpu-1: {}}, vars: {x: '{{ y }}'}}}}\n")
    listing = list_inventory(place, Options(inventories=(own,)))
    assert members(listing)["canary"] == {"gpu-1"}
    assert listing["canary"]["vars"] == {"x": "{{ y }}"}, "not templated here"
    assert members(listing)["slurm_compute"] == {"gpu-1", "gpu-2", "gpu-3", "gpu-4"}
    limited = list_inventory(place, Options(), limit="slurm_compute:!gpu-1")
    assert members(limited)["all"] == {"gpu-2", "gpu-3", "gpu-4"}


def test_hosts_wait_in_quarantine_when_too_many_servers_fail(place: Workspace) -> None:
    """Nobody answers by these names; no host of the worker is chosen, so Receptor is not needed."""
    made = Workers.model_validate(
        {
            "apiVersion": "rackwright/v1",
            "head": {"address": "10.0.0.1", "socket": "/nowhere/control.sock"},
            "here": ["role_head", "role_login"],
            "workers": [{"node": "a", "hosts": ["role_compute"]}],
        }
    )
    said: list[str] = []
    tally = run_distributed(place, Options(limit="!role_compute"), made, None, Lines(said.append))
    assert tally.failed == ("head-1", "login-1")
    assert tally.hosts["head-1"].unreachable
    assert tally.hosts["login-1"].failure == "not begun: 1 of 1 servers failed before"
    assert any(line.startswith("here: head-1 failed") for line in said)
    assert not (place.folder / "distribution").exists()


def test_workers_that_are_needed_have_to_be_there(place: Workspace) -> None:
    made = workers(a=["role_compute", "role_login"])
    check_workers(place, (), made, ["head-1"])  # which this machine configures
    with pytest.raises(ExternalToolError, match=r"/nowhere/control\.sock"):
        check_workers(place, (), made, ["head-1", "gpu-1"])
    with pytest.raises(WorkersError, match="no worker configures login-1"):
        check_workers(place, (), workers(a=["role_compute"]), ["head-1"])


def test_a_worker_that_is_not_connected_is_named(
    place: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Control, "nodes", lambda _: frozenset({"b"}))
    made = workers(a=["role_compute"], b=["role_login"])
    check_workers(place, (), made, ["login-1"])
    with pytest.raises(ExternalToolError, match="not connected: a"):
        check_workers(place, (), made, ["login-1", "gpu-1"])


def test_a_crew_works_by_its_workers(plan: Plan, place: Workspace) -> None:
    """Nobody answers by these names: what is said of them has come through the parts of a run."""
    expected = {host.name: host for host in expect(plan, lab=True)}
    made = workers(a=["role_compute"], b=["role_login"])
    made = made.model_copy(
        update={"here": ("role_head", "role_login"), "workers": made.workers[:1]}
    )
    executor = AnsibleExecutor(place, ["head-1"], expected, 5, (), print, made)
    failed = executor.change(["login-1"], ["preflight"])
    assert "Failed to connect" in failed["login-1"] or "Could not resolve" in failed["login-1"]
    assert executor.accept(["login-1"]).keys() == {"login-1"}
    with pytest.raises(ExternalToolError, match=r"/nowhere/control\.sock"):
        executor.change(["gpu-1"], ["preflight"])
