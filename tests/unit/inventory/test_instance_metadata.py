"""Who may read the metadata of instances."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from rackwright.inventory.inventory import build_inventory, host_variables
from rackwright.plan.load import load_plan
from rackwright.policy.packs.loader import builtin_pack

AWS = builtin_pack() / "fixtures/aws.yaml"


def inventory(folder: Path, **changes: Any) -> dict[str, Any]:
    """The inventory of an AWS site, of which some fields are others."""
    document = yaml.safe_load(AWS.read_text())
    (site,) = document["sites"]
    site |= changes
    path = folder / "blueprint.yaml"
    path.write_text(yaml.safe_dump(document))
    return build_inventory(load_plan(path).plan)


@pytest.mark.parametrize(
    ("connect", "users"),
    [
        ("direct", []),
        ("session-manager", []),  # its agent is root's
        ("instance-connect", ["ec2-instance-connect"]),
    ],
)
def test_root_alone_reads_them_beside_what_brings_keys(
    tmp_path: Path, connect: str, users: list[str]
) -> None:
    made = inventory(tmp_path, access={"connect": connect})
    hosts = made["instances"]["hosts"]
    assert set(hosts) == set(made["_meta"]["hostvars"])
    for host in hosts:
        found = host_variables(made, host)
        assert found is not None
        assert found["instance_metadata_users"] == users
        assert "instance_metadata_forwarded" not in found


def test_containers_behind_a_bridge_reach_them_where_the_blueprint_says_so(tmp_path: Path) -> None:
    groups = yaml.safe_load(AWS.read_text())["sites"][0]["node_groups"]
    first = groups[0]
    more = {**first, "name": "bridged", "metadata_hops": 2}
    made = inventory(tmp_path, node_groups=[*groups, more])
    found = {
        name: variables.get("instance_metadata_forwarded", False)
        for name in made["instances"]["hosts"]
        if (variables := host_variables(made, name)) is not None
    }
    assert {name for name, forwarded in found.items() if forwarded} == {
        name for name in found if name.startswith("bridged-")
    }
    assert any(found.values())


def test_machines_of_bare_metal_have_none() -> None:
    made = build_inventory(load_plan(builtin_pack() / "fixtures/slurm.yaml").plan)
    assert "instances" not in made
    assert "instance_metadata_users" not in str(made)
