"""Whose packages Slurm is installed from, as the inventory tells the roles."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import ValidationError

from rackwright.errors import SpecErrors
from rackwright.inventory.inventory import build_inventory
from rackwright.model.scheduler_settings import SlurmPackages
from rackwright.plan.load import load_plan
from rackwright.policy.packs.loader import builtin_pack
from rackwright.resources import bundled

FIXTURE = builtin_pack() / "fixtures/slurm.yaml"
OWN = {
    "client": ["acme-slurm"],
    "slurmctld": ["acme-slurmctld"],
    "slurmd": ["acme-slurmd"],
    "slurmdbd": ["acme-slurmdbd"],
}
ROLES = {
    "slurm_hosts": "slurm_config",
    "slurm_controller": "slurm_controller",
    "slurm_database": "slurm_database",
    "slurm_compute": "slurm_compute",
    "slurm_login": "slurm_login",
}


def inventory(folder: Path, **scheduler: Any) -> dict[str, Any]:
    layer = folder / "layer.yaml"
    layer.write_text(yaml.safe_dump({"scheduler": scheduler}))
    return build_inventory(load_plan(FIXTURE, (layer,)).plan)


def told(made: dict[str, Any]) -> dict[str, Any]:
    """By group what it says of packages."""
    return {
        group: {
            name: value for name, value in made[group].get("vars", {}).items() if "package" in name
        }
        for group in ROLES
    }


def test_the_distribution_s_are_the_defaults_of_the_roles(tmp_path: Path) -> None:
    assert told(inventory(tmp_path)) == {group: {} for group in ROLES}


def test_schedmd_s_are_told_to_every_role_that_installs_some(tmp_path: Path) -> None:
    made = told(inventory(tmp_path, packages={"source": "schedmd"}, mpi="pmix"))
    client = ["slurm-smd-client", "slurm-smd"]
    assert made["slurm_hosts"]["slurm_config_package_sources"] == ["slurm-smd"]
    assert made["slurm_hosts"]["slurm_config_package_others"] == ["slurm-wlm", "slurm-wlm-contrib"]
    assert made["slurm_hosts"]["pmix_slurm_packages"]["Debian"] == client
    all_of_them = made["slurm_hosts"]["slurm_config_packages"]["Debian"]
    for group, daemon in (
        ("slurm_controller", "slurmctld"),
        ("slurm_database", "slurmdbd"),
        ("slurm_compute", "slurmd"),
    ):
        named = made[group][f"{group}_packages"]
        assert named["Debian"] == [f"slurm-smd-{daemon}", *client]
        assert named["RedHat"] == [f"slurm-{daemon}", "slurm"]
        assert set(named["Debian"]) <= set(all_of_them)
    assert made["slurm_login"] == {"slurm_login_packages": {"Debian": client, "RedHat": ["slurm"]}}
    adopting = made["slurm_compute"]["ssh_server_adopt_packages"]["Debian"]
    assert adopting == ["slurm-smd-libpam-slurm-adopt"]


def test_a_variable_is_one_of_the_role_s(tmp_path: Path) -> None:
    made = inventory(tmp_path, packages={"source": "own", "names": OWN}, mpi="pmix")
    for group, role in ROLES.items():
        known = yaml.safe_load((bundled("roles") / role / "defaults/main.yml").read_text())
        named = [name for name in made[group]["vars"] if name.startswith(f"{role}_package")]
        assert named
        assert set(named) <= set(known)


def test_a_team_s_own_are_told_by_their_names(tmp_path: Path) -> None:
    made = told(inventory(tmp_path, packages={"source": "own", "names": OWN}))
    assert made["slurm_compute"]["slurm_compute_packages"]["Debian"] == [
        "acme-slurmd",
        "acme-slurm",
    ]
    assert made["slurm_hosts"]["slurm_config_package_others"] == []
    assert made["slurm_compute"]["ssh_server_adopt_packages"]["Debian"] == []


def test_the_version_that_is_held_is_the_bill_s_or_else_the_release(tmp_path: Path) -> None:
    made = inventory(tmp_path)
    version = load_plan(FIXTURE).plan.scheduler
    assert version is not None
    held = [entry["vars"]["slurm_config_version"] for name, entry in made.items()
            if name.startswith("site_")]  # fmt: skip
    assert held
    assert set(held) == {version.version}
    layer = tmp_path / "bill.yaml"
    layer.write_text(f"operations:\n  software:\n    - {{name: all, slurm: {version.version}.3}}\n")
    billed = build_inventory(load_plan(FIXTURE, (layer,)).plan)
    name = next(name for name in billed if name.startswith("site_"))
    assert billed[name]["vars"]["slurm_config_version"] == f"{version.version}.3"


@pytest.mark.parametrize("said", [{"source": "own"}, {"source": "schedmd", "names": OWN}])
def test_names_are_those_of_a_team_s_own(said: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match="'names' are given for the packages"):
        SlurmPackages.model_validate(said)


def test_required_packages_are_named(tmp_path: Path) -> None:
    names = {**OWN, "slurmdbd": []}
    with pytest.raises(SpecErrors) as refused:
        inventory(
            tmp_path, packages={"source": "own", "names": names}, accounting={"host": "head-1"}
        )
    assert "has none for slurmdbd, which 'accounting' needs" in str(refused.value)
