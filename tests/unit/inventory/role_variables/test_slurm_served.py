"""Nodes without files of Slurm, as the inventory tells the roles."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from rackwright.errors import SpecErrors
from rackwright.inventory.inventory import build_inventory
from rackwright.plan.load import load_plan
from rackwright.policy.packs.loader import builtin_pack
from rackwright.render.slurm import FILES, HEADER
from rackwright.resources import bundled

FIXTURE = builtin_pack() / "fixtures/slurm.yaml"


def inventory(folder: Path, **scheduler: Any) -> dict[str, Any]:
    layer = folder / "layer.yaml"
    layer.write_text(yaml.safe_dump({"scheduler": scheduler}))
    return build_inventory(load_plan(FIXTURE, (layer,)).plan)


def of_nodes(made: dict[str, Any]) -> dict[str, Any]:
    names = (
        "slurm_config_served",
        "slurm_compute_servers",
        "ssh_server_slurm_config",
        "pmix_config",
    )
    told = made["slurm_compute"]["vars"]
    return {name: told[name] for name in names if name in told}


def test_without_it_every_host_has_files(tmp_path: Path) -> None:
    made = inventory(tmp_path)
    assert of_nodes(made) == {}
    assert "slurm_config_serves" not in made["slurm_controller"]["vars"]


def test_nodes_are_told_of_every_controller(tmp_path: Path) -> None:
    made = inventory(tmp_path, configless=True, mpi="pmix")
    assert of_nodes(made) == {
        "slurm_config_served": True,
        "slurm_compute_servers": ["head-1:6817", "head-2:6817"],
        "ssh_server_slurm_config": "/run/slurm/conf/slurm.conf",
        "pmix_config": "",
    }
    assert made["slurm_controller"]["vars"]["slurm_config_serves"] is True
    assert not any("slurm_config_served" in own for own in made["_meta"]["hostvars"].values())


@pytest.mark.parametrize(
    ("address", "extra", "server"),
    [
        ("192.0.2.7", {}, "192.0.2.7:6817"),
        ("192.0.2.7", {"SlurmctldPort": "6820-6830"}, "192.0.2.7:6820"),
        ("2001:db8::7", {"slurmctldport": 7000}, "head-1:7000"),
    ],
)
def test_a_controller_is_reached_by_its_address_and_port(
    tmp_path: Path, address: str, extra: dict[str, Any], server: str
) -> None:
    controllers = [{"host": "head-1", "address": address}]
    made = inventory(tmp_path, configless=True, controllers=controllers, extra=extra)
    assert of_nodes(made)["slurm_compute_servers"] == [server]


def test_a_node_that_is_a_controller_as_well_has_files(tmp_path: Path) -> None:
    node = inventory(tmp_path)["slurm_compute"]["hosts"][0]
    controllers = [{"host": "head-1"}, {"host": node}]
    made = inventory(tmp_path, configless=True, controllers=controllers)
    own = made["_meta"]["hostvars"]
    assert own[node]["slurm_config_served"] is False
    assert own[node]["slurm_compute_servers"] == []
    assert [name for name, told in own.items() if "slurm_config_served" in told] == [node]


@pytest.mark.parametrize(
    ("scheduler", "message"),
    [
        ({"version": "19.05"}, "'configless' needs Slurm 20.02; this is 19.05"),
        ({"extra": {"jobcontainertype": "job_container/tmpfs"}}, "leave one of both out"),
    ],
)
def test_unservable_configuration_is_refused(
    tmp_path: Path, scheduler: dict[str, Any], message: str
) -> None:
    with pytest.raises(SpecErrors) as caught:
        inventory(tmp_path, configless=True, **scheduler)
    assert message in str(caught.value)


def test_the_role_knows_every_file_that_may_have_been_there() -> None:
    role = bundled("roles") / "slurm_compute"
    known = yaml.safe_load((role / "vars/main.yml").read_text(encoding="utf-8"))
    assert known["slurm_compute_names"] == list(FILES)
    for name in ("served.yml", "preflight.yml"):
        assert f"match('{HEADER} ')" in (role / "tasks" / name).read_text(encoding="utf-8")
