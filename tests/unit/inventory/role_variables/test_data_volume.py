"""Data volumes in the inventory: what lies on them, and which they are once the stacks have told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rackwright.inventory.inventory import build_inventory
from rackwright.inventory.stack_outputs import add_outputs, outputs_of
from rackwright.plan.load import load_plan

HEAD = "{type: m7i.4xlarge, image: ami-0123456789abcdef0, root_volume: 100 GiB, data_volume: {size: 200 GiB}%s}"
BLUEPRINT = """
apiVersion: rackwright/v1
name: atlas
sites:
  - name: use1
    provider: aws
    region: us-east-1
    network: {cidr: 10.20.0.0/16, availability_zones: [us-east-1a], nat: single, dns_zone: atlas.internal}
    head: HEAD
    node_groups:
      - name: gpu
        type: p5.48xlarge
        count: 2
        capacity: {kind: on-demand}
        image: ami-0123456789abcdef0
        root_volume: 200 GiB
scheduler:
  kind: slurm
  version: "24.11"
  controllers: CONTROLLERS
  accounting: {host: head-1, keep: {jobs: 365 d, archive: /var/spool/archive}}
  topology: {plugin: flat}
  partitions: [{name: gpu, groups: [gpu], default: true}]
"""
ONE, TWO = "[{host: head-1}]", "[{host: head-1}, {host: head-2}]"


def hostvars(
    folder: Path, controllers: str = ONE, more: str = "", **outputs: Any
) -> dict[str, Any]:
    """The variables of the hosts; with outputs of the stacks, what these say of servers."""
    path = folder / "blueprint.yaml"
    path.write_text(BLUEPRINT.replace("HEAD", HEAD % more).replace("CONTROLLERS", controllers))
    plan = load_plan(path).plan
    inventory = build_inventory(plan)
    if outputs:
        servers = {"private_ips": {"head-1": "10.20.0.9"}, "public_ips": {}} | outputs
        stack = {"outputs": {"servers": {"head": servers}}}
        told = {"schema": "rackwright.stack/v1", "stacks": [stack]}
        add_outputs(inventory, plan, outputs_of(json.loads(json.dumps(told))))
    assert inventory["data_volumes"]["hosts"] == [
        name for name in inventory["_meta"]["hostvars"] if name.startswith("head")
    ]
    found: dict[str, Any] = inventory["_meta"]["hostvars"]
    return found


def test_a_volume_has_what_a_cluster_cannot_do_without(tmp_path: Path) -> None:
    head = hostvars(tmp_path)["head-1"]
    assert head["data_volume_size_gib"] == 200
    assert {one["path"]: one["user"] for one in head["data_volume_folders"]} == {
        "/var/spool/slurmctld": "slurm",
        "/var/lib/mysql": "mysql",
        "/var/spool/archive": "slurm",
        "/var/backups/slurm": "root",
    }
    stopped = {one["name"]: one["services"] for one in head["data_volume_folders"]}
    assert stopped["mysql"] == ["slurmdbd", "mariadb"], "who asks the database goes first"
    assert "data_volume_device" not in head, "only the stacks know it, and the role stops without"


def test_state_that_controllers_share_is_on_no_volume_of_theirs(tmp_path: Path) -> None:
    found = hostvars(tmp_path, TWO, ", count: 2")
    names = {
        host: [one["name"] for one in found[host]["data_volume_folders"]]
        for host in ("head-1", "head-2")
    }
    assert names == {"head-1": ["mysql", "archive", "backups"], "head-2": []}


def test_the_stacks_tell_which_volume_it_is(tmp_path: Path) -> None:
    told: dict[str, Any] = {"data_volumes": {"head-1": "vol-0123456789abcdef0"}}
    assert hostvars(tmp_path, **told)["head-1"]["data_volume_device"] == (
        "/dev/disk/by-id/nvme-Amazon_Elastic_Block_Store_vol0123456789abcdef0"
    )


@pytest.mark.parametrize("volume", ["vol-1", "/dev/sda", "vol-0123456789abcdef0; true"])
def test_invalid_volume_is_refused(tmp_path: Path, volume: str) -> None:
    with pytest.raises(ValueError, match="is no id of a volume"):
        hostvars(tmp_path, data_volumes={"head-1": volume})
