"""What a run of Ansible finds on the control machine."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from rackwright.ansible_runs.events import HostResult, Tally
from rackwright.ansible_runs.files import Workspace, prepare
from rackwright.ansible_runs.run import read_quarantine, remember
from rackwright.errors import UsageError
from rackwright.plan.load import load_plan
from rackwright.plan.model import Plan
from rackwright.render.blueprints import find_template, write_blueprint


def ask_ansible(place: Workspace, *arguments: str) -> Any:
    """What Ansible itself reads from the inventory."""
    program = Path(sys.executable).parent / "ansible-inventory"
    command = [str(program), "-i", str(place.inventory), *arguments]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def test_ansible_reads_the_inventory(plan: Plan, place: Workspace) -> None:
    prepare(plan, place, {"gpu-1": {"ansible_host": "10.77.0.10"}})
    listed = ask_ansible(place, "--list")
    assert listed["slurm_compute"]["hosts"] == ["gpu-1", "gpu-2", "gpu-3", "gpu-4"]
    assert listed["slurm_controller"]["hosts"] == ["head-1"]
    found = ask_ansible(place, "--host", "gpu-1")
    assert found["ansible_host"] == "10.77.0.10"
    assert found["rackwright_accelerators"] == found["slurm_compute_accelerators"] == 8
    assert found["rackwright_rack"] == "c01"
    assert Path(found["slurm_config_source"], "slurm.conf").is_file()
    assert "ansible_host" not in ask_ansible(place, "--host", "gpu-2")


def test_a_lab_of_other_addresses_than_the_planned_ones_is_refused(
    place: Workspace, tmp_path: Path
) -> None:
    network = {
        "name": "mgmt",
        "kind": "management",
        "prefix": "10.20.0.0/24",
        "ranges": [{"of": "gpu", "first": "10.20.0.16"}],
    }
    write_blueprint(find_template("lab"), tmp_path, {})
    path = tmp_path / "blueprint.yaml"
    site = load_plan(path).plan.onprem[0].spec.name
    addresses = {"domain": "example.com", "networks": [network]}
    layer = tmp_path / "layer.yaml"
    layer.write_text(json.dumps({"sites": [{"name": site, "addresses": addresses}]}))
    plan = load_plan(path, (layer,)).plan
    elsewhere = {"head-1": {"ansible_host": "10.77.0.1"}, "gpu-2": {"ansible_host": "10.77.0.2"}}
    with pytest.raises(UsageError, match=r"'gpu-2' is reached at 10.77.0.2, and .* 10.20.0.17"):
        prepare(plan, place, elsewhere)
    assert not place.inventory.exists()
    prepare(plan, place, {"gpu-2": {"ansible_host": "10.20.0.17"}})
    assert ask_ansible(place, "--host", "gpu-2")["base_address"] == "10.20.0.17"


def test_the_key_is_made_once_and_for_its_owner_only(plan: Plan, place: Workspace) -> None:
    prepare(plan, place)
    key = place.munge_key.read_bytes()
    prepare(plan, place)
    assert place.munge_key.read_bytes() == key
    assert len(key) == 1024
    assert place.munge_key.stat().st_mode & 0o777 == 0o600
    assert place.folder.stat().st_mode & 0o777 == 0o700
    assert key.hex() not in place.inventory.read_text()


def test_slurm_has_a_key_of_its_own_in_the_place_of_munges(
    plan: Plan, place: Workspace, tmp_path: Path
) -> None:
    """``auth: slurm`` was taken, and no host got a key."""
    scheduler = {"auth": "slurm", "version": "24.11", "accounting": {"host": "head-1"}}
    layer = tmp_path / "layer.yaml"
    layer.write_text(json.dumps({"scheduler": scheduler}))
    write_blueprint(find_template("lab"), tmp_path, {})
    made = prepare(load_plan(tmp_path / "blueprint.yaml", (layer,)).plan, place)
    assert not place.munge_key.exists()
    key = place.slurm_key.read_bytes()
    assert len(key) == 1024
    assert place.slurm_key.stat().st_mode & 0o777 == 0o600
    listed = json.loads(place.inventory.read_text())
    assert listed["all"]["vars"]["slurm_config_key_file"] == str(place.slurm_key)
    assert "munge_key_file" not in listed["all"]["vars"]
    assert made["slurm_database"]["vars"]["slurm_database_auth"] == "slurm"
    assert made["slurm_login"]["vars"]["slurm_login_sackd"] is True


def test_grafana_has_a_password_where_the_blueprint_wants_grafana(
    plan: Plan, place: Workspace, tmp_path: Path
) -> None:
    prepare(plan, place)
    assert not place.grafana_password.exists()
    layer = tmp_path / "layer.yaml"
    layer.write_text("operations: {software: [{name: all, grafana: 11.6.1}]}")
    write_blueprint(find_template("lab"), tmp_path, {})
    wanted = load_plan(tmp_path / "blueprint.yaml", (layer,)).plan
    prepare(wanted, place)
    password = place.grafana_password.read_text()
    prepare(wanted, place)
    assert place.grafana_password.read_text() == password
    assert len(password.strip()) == 32
    assert place.grafana_password.stat().st_mode & 0o777 == 0o600
    listed = place.inventory.read_text()
    assert str(place.grafana_password) in listed
    assert password.strip() not in listed


def test_files_that_are_generated_no_more_are_removed(plan: Plan, place: Workspace) -> None:
    prepare(plan, place)
    (place.slurm / "topology.yaml").write_text("of a former release")
    prepare(plan, place)
    assert not (place.slurm / "topology.yaml").exists()


def test_unchanged_file_is_not_written(plan: Plan, place: Workspace) -> None:
    def marks() -> dict[Path, tuple[int, int]]:
        files = [path for path in place.folder.rglob("*") if path.is_file()]
        return {path: (path.stat().st_ino, path.stat().st_mtime_ns) for path in files}

    prepare(plan, place)
    remember(place, Tally({"a": HostResult(failure="x")}), whole=False)
    before = marks()
    assert {path.name for path in before} >= {"slurm.conf", "blueprint.json", "munge.key"}
    prepare(plan, place)
    remember(place, Tally(), whole=False)
    assert marks() == before

    (place.slurm / "slurm.conf").write_text("edited")
    (place.slurm / "gres.conf").chmod(0o600)
    prepare(plan, place, {"gpu-1": {"ansible_host": "10.77.0.10"}})
    changed = {path.name for path, mark in marks().items() if before[path] != mark}
    assert changed == {"slurm.conf", "gres.conf", "blueprint.json"}
    assert {path.stat().st_mode & 0o777 for path in place.slurm.iterdir()} == {0o644}


def test_a_host_leaves_quarantine_by_success_only(place: Workspace) -> None:
    first = Tally({"a": HostResult(failure="x"), "b": HostResult(failure="y"), "c": HostResult()})
    assert remember(place, first, whole=True) == {"a": "x", "b": "y"}
    assert remember(place, Tally({"a": HostResult()}), whole=False) == {"b": "y"}
    assert read_quarantine(place) == {"b": "y"}
    assert remember(place, Tally({"c": HostResult()}), whole=True) == {}


def test_part_of_the_steps_takes_no_host_out_of_quarantine(place: Workspace) -> None:
    """A run with '--tags verfy', which has no step, or with one other than that which failed."""
    remember(place, Tally({"a": HostResult(failure="verify: x")}), whole=True)
    fine = Tally({"a": HostResult(), "b": HostResult(failure="y")})
    for whole in (True, False):
        assert remember(place, fine, whole=whole, part=True) == {"a": "verify: x", "b": "y"}
    worse = Tally({"a": HostResult(failure="z"), "b": HostResult()})
    assert remember(place, worse, whole=True, part=True) == {"a": "verify: x", "b": "y"}
    assert remember(place, worse, whole=True) == {"a": "z"}


def test_a_host_that_a_run_did_not_come_to_stays_in_quarantine(
    plan: Plan, place: Workspace
) -> None:
    prepare(plan, place)
    bad = {"gpu-1": HostResult(failure="x"), "gone-1": HostResult(failure="y")}
    remember(place, Tally(dict(bad)), whole=False)
    assert remember(place, Tally({"head-1": HostResult()}), whole=True) == {"gpu-1": "x"}
