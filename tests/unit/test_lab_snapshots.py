"""Configured clusters of the lab are kept under a key of what makes them, and old ones go."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from lab_snapshots import (
    CODE,
    NEWEST,
    PLAYED,
    SLURM,
    UNUSED_S,
    Snapshot,
    digests,
    keep,
    key_of_roles,
)
from rackwright_lab.base import recipe_key
from rackwright_lab.lab import HostSpec
from role_cases import play_cases


class Maker:
    """Makes a file, unless it is to be killed on the way."""

    def __init__(self) -> None:
        self.calls = 0
        self.killed = False

    def __call__(self, folder: Path) -> None:
        self.calls += 1
        folder.mkdir(exist_ok=True)
        if self.killed:
            raise KeyboardInterrupt
        (folder / "file").write_text("made")


@pytest.fixture
def maker() -> Maker:
    return Maker()


def test_existing_snapshot_is_reused(tmp_path: Path, maker: Maker) -> None:
    first = keep(tmp_path, "slurm", "1", maker)
    assert (first / "file").read_text() == "made"
    assert keep(tmp_path, "slurm", "1", maker) == first
    assert maker.calls == 1
    assert keep(tmp_path, "slurm", "2", maker) != first
    assert keep(tmp_path, "pair", "1", maker) != first
    assert maker.calls == 3
    assert first.is_dir()


def test_snapshot_of_a_killed_maker_is_not_used(tmp_path: Path, maker: Maker) -> None:
    maker.killed = True
    with pytest.raises(KeyboardInterrupt):
        keep(tmp_path, "slurm", "1", maker)
    maker.killed = False
    assert (keep(tmp_path, "slurm", "1", maker) / "file").exists()
    assert maker.calls == 2
    assert not list(tmp_path.glob("*.new"))


def test_old_ones_go_unless_a_lab_may_run_on_them(tmp_path: Path, maker: Maker) -> None:
    made = [keep(tmp_path, "slurm", str(number), maker) for number in range(NEWEST + 3)]
    other = keep(tmp_path, "pair", "1", maker)
    now = time.time()
    for age, path in enumerate(reversed(made)):
        os.utime(path, (now, now - UNUSED_S - 60 * (1 + age)))
    os.utime(other, (now, 0))
    used = keep(tmp_path, "slurm", "1", maker)
    assert [path for path in made if path.exists()] == [used, *made[-NEWEST + 1 :]]
    assert other.exists()
    for path in made[-NEWEST + 1 :]:
        os.utime(path, (now, now - UNUSED_S + 600))
    latest = [keep(tmp_path, "slurm", f"new{number}", maker) for number in range(NEWEST)]
    assert all(path.exists() for path in (used, *made[-NEWEST + 1 :], *latest))


def test_every_file_is_in_the_key_and_compiled_ones_are_not(tmp_path: Path) -> None:
    role, alone = tmp_path / "roles", tmp_path / "configure.py"
    (role / "base/tasks").mkdir(parents=True)
    (role / "base/tasks/main.yml").write_text("one")
    alone.write_text("two")
    before = digests([role, alone])
    assert [path for path, _ in before] == ["roles/base/tasks/main.yml", "configure.py"]
    (role / "__pycache__").mkdir()
    (role / "__pycache__/module.pyc").write_text("compiled")
    assert digests([role, alone]) == before
    (role / "base/tasks/main.yml").write_text("other")
    assert digests([role, alone]) != before
    (role / "base/tasks/main.yml").rename(role / "base/tasks/else.yml")
    assert digests([role, alone])[0][0] == "roles/base/tasks/else.yml"


def test_configuration_of_hosts_is_part_of_the_key() -> None:
    names = {path for path, _ in digests(CODE)}
    for name in (
        "baremetal/playbooks/site.yml", "ansible_runs/run.py",
        "kept.py", "mock_packages/gpu.py", "lab_snapshots.py", "lab_support.py",
        "ansible_collections/rackwright/cluster/plugins/modules/probe.py",
    ):  # fmt: skip
        assert name in names


def test_roles_that_were_played_are_part_of_the_key_and_others_are_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    roles = tmp_path / "roles"
    for name, handler in (("direct", "told"), ("included", ""), ("skipped", "")):
        for part in ("tasks", "handlers"):
            (roles / name / part).mkdir(parents=True)
        task = {"ansible.builtin.command": "true", **({"notify": handler} if handler else {})}
        (roles / name / "tasks/main.yml").write_text(json.dumps([task]))
    monkeypatch.setenv(PLAYED, str(tmp_path / "played"))

    def make(folder: Path) -> None:
        folder.mkdir()
        tasks: list[Mapping[str, Any]] = [
            {"ansible.builtin.import_role": {"name": "direct"}},
            {"ansible.builtin.include_role": {"name": "included"}},
            {"ansible.builtin.include_role": {"name": "skipped"}, "when": False},
        ]
        handler = [{"name": "told", "ansible.builtin.command": "true"}]
        (roles / "direct/handlers/main.yml").write_text(json.dumps(handler))
        assert "failed=0" in play_cases(tmp_path, {"host": {}}, tasks, roles=roles)
        (tmp_path / "played").rename(folder / "roles")
        calls.append(folder)

    def kept() -> Path:
        return keep(tmp_path, "slurm", "1", make, partial(key_of_roles, roles=roles))

    calls: list[Path] = []
    first = kept()
    assert (first / "roles").read_text().split() == ["direct", "included"]
    (roles / "skipped/tasks/main.yml").write_text("[]")
    assert kept() == first
    assert len(calls) == 1
    included = roles / "included/tasks/main.yml"
    text = included.read_text()
    included.write_text(text + "\n")
    assert kept() != first
    included.write_text(text)
    assert kept() == first
    assert len(calls) == 2


def test_base_packages_hosts_and_what_the_blueprint_gives_are_in_the_key() -> None:
    def key(snapshot: Snapshot, base: str = "base-1", packages: str = "pool-1") -> str:
        return recipe_key(snapshot.recipe(Path(base), Path(packages)))

    first = key(SLURM)
    assert key(SLURM) == first
    of_no_host = {**SLURM.changes, "pue_budget: 1.4": "pue_budget: 1.45"}
    assert key(replace(SLURM, changes=of_no_host)) == first
    other = {**SLURM.changes, "extra: {SlurmdParameters": "extra: {MinJobAge: 10, SlurmdParameters"}
    keys = {
        key(SLURM, base="base-2"),
        key(SLURM, packages="pool-2"),
        key(replace(SLURM, hosts=(*SLURM.hosts[:-1], HostSpec("head-1", 1)))),
        key(replace(SLURM, changes=other)),
    }
    assert len(keys | {first}) == 5
