"""Who configures which hosts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rackwright.errors import SpecErrors
from rackwright.receptor.workers import (
    HERE,
    RunStage,
    Workers,
    WorkersError,
    load_workers,
    members,
    partition,
    stages,
    too_many_failed,
)

LISTING = {
    "_meta": {"hostvars": {}},
    "all": {"children": ["hall_a", "hall_b", "role_head", "slurm_controller", "empty"]},
    "hall_a": {"children": ["rack_1"], "hosts": ["head-1"]},
    "rack_1": {"hosts": ["gpu-1", "gpu-2"]},
    "hall_b": {"hosts": ["gpu-3", "login-1"]},
    "role_head": {"hosts": ["head-1"]},
    "slurm_controller": {"hosts": ["head-1"]},
}
GROUPS = members(LISTING)


def workers(here: list[str], **hosts: list[str]) -> Workers:
    return Workers.model_validate(
        {
            "apiVersion": "rackwright/v1",
            "head": {"address": "10.0.0.1"},
            "here": here,
            "workers": [{"node": node, "hosts": names} for node, names in hosts.items()],
        }
    )


def test_members_include_those_of_children() -> None:
    assert GROUPS["hall_a"] == {"head-1", "gpu-1", "gpu-2"}
    assert GROUPS["all"] == {"head-1", "gpu-1", "gpu-2", "gpu-3", "login-1"}
    assert GROUPS["empty"] == frozenset()


def test_every_host_is_in_one_part() -> None:
    parts = partition(workers(["role_head"], a=["!role_head", "hall_a"], b=["hall_b"]), GROUPS)
    assert parts == {HERE: {"head-1"}, "a": {"gpu-1", "gpu-2"}, "b": {"gpu-3", "login-1"}}
    assert sum(map(len, parts.values())) == len(GROUPS["all"])


def test_a_host_may_be_named_itself() -> None:
    parts = partition(workers([], a=["hall_a"], b=["gpu-3"], c=["login-1"]), GROUPS)
    assert parts["b"] == {"gpu-3"}
    assert HERE not in parts


@pytest.mark.parametrize(
    ("here", "hosts", "message"),
    [
        ([], {"a": ["hall_a"]}, "no worker configures gpu-3, login-1"),
        (
            ["role_head"],
            {"a": ["hall_a"], "b": ["hall_b"]},
            "head-1 would be configured by several workers: 'head-1' by here, a",
        ),
        ([], {"a": ["all"], "b": ["gpu-3"]}, "'gpu-3' by a, b"),
        ([], {"a": ["all"], "b": ["hal_b"]}, "takes 'hal_b', which is no group and no host"),
        ([], {"a": ["all"], "b": ["empty"]}, "'b' would configure no host"),
        ([], {"a": ["all"], "b": ["hall_b", "!all"]}, "'b' would configure no host"),
    ],
)
def test_what_is_no_partition_is_refused(
    here: list[str], hosts: dict[str, list[str]], message: str
) -> None:
    with pytest.raises(WorkersError, match=message):
        partition(workers(here, **hosts), GROUPS)


def test_only_a_few_of_many_hosts_are_named() -> None:
    groups = {"all": frozenset(f"h{i:05}" for i in range(12_500)), "one": frozenset({"h00000"})}
    with pytest.raises(WorkersError, match="h00005 and 12494 more"):
        partition(workers([], a=["one"]), groups)


def test_servers_come_before_the_hosts_that_wait_for_them() -> None:
    parts = partition(workers([], a=["hall_a"], b=["hall_b"]), GROUPS)
    assert stages(parts, GROUPS, GROUPS["all"]) == (
        RunStage("servers", {"a": frozenset({"head-1"})}),
        RunStage(
            "hosts", {"a": frozenset({"gpu-1", "gpu-2"}), "b": frozenset({"gpu-3", "login-1"})}
        ),
    )
    (only,) = stages(parts, GROUPS, {"gpu-3"})
    assert (only.name, only.hosts) == ("hosts", frozenset({"gpu-3"}))
    assert stages(parts, GROUPS, ()) == ()


@pytest.mark.parametrize(
    ("failed", "hosts", "per_cent", "expected"),
    [(1, 5, 20, False), (2, 5, 20, True), (1, 1, 99, True), (1, 1, 100, False), (0, 9, 0, False)],
)
def test_a_stage_with_too_many_failures_is_the_last(
    failed: int, hosts: int, per_cent: int, expected: bool
) -> None:
    assert too_many_failed(failed, hosts, per_cent) is expected


FILE = """
apiVersion: rackwright/v1
head: {address: 10.0.0.1, socket: /run/r.sock}
workers:
  - {node: a, hosts: [all]}
login: {private_key: key, known_hosts: known}
lost_after: 2 min
"""


def test_a_file_is_read_with_its_paths(tmp_path: Path) -> None:
    (tmp_path / "w.yaml").write_text(FILE)
    for name in ("key", "known"):
        (tmp_path / name).touch(mode=0o600)
    found = load_workers(tmp_path / "w.yaml")
    assert found.lost_after == 120
    assert found.login is not None
    assert found.login.private_key == tmp_path / "key"

    (tmp_path / "key").chmod(0o640)
    with pytest.raises(WorkersError, match="others can read the private key"):
        load_workers(tmp_path / "w.yaml")
    (tmp_path / "known").unlink()
    (tmp_path / "key").chmod(0o600)
    with pytest.raises(WorkersError, match="known' is no file"):
        load_workers(tmp_path / "w.yaml")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("address: 10.0.0.1", "address: '-x'"), "address"),
        (("/run/r.sock", "r.sock"), "no absolute path"),
        (("/run/r.sock", f"/{'x' * 101}"), "at most 100 letters"),
        (("node: a", "node: controller"), "'controller' cannot be the name of a worker"),
        (("node: a", "node: here"), "'here' cannot be the name of a worker"),
        (("[all]", "['all:&x']"), "hosts"),
        (("[all]", "[]"), "hosts"),
        (("2 min", "1 s"), "lost_after"),
        (("lost_after", "lostafter"), "lostafter"),
    ],
)
def test_a_wrong_file_is_refused(tmp_path: Path, change: tuple[str, str], message: str) -> None:
    assert change[0] in FILE
    path: Any = tmp_path / "w.yaml"
    path.write_text(FILE.replace(*change))
    with pytest.raises(SpecErrors) as caught:
        load_workers(path)
    assert message in " ".join(str(error) for error in caught.value.errors)
