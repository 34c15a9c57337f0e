"""Lustre and local scratch in the inventory, and the files that follow from it.

``UPDATE_GOLDEN=1`` writes the golden files anew.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rackwright.inventory.inventory import build_inventory, host_variables
from rackwright.inventory.role_variables.filesystems import serving
from rackwright.model.storage import expand_devices
from rackwright.plan.load import load_plan
from rackwright.policy.packs.loader import builtin_pack
from unit.inventory.role_variables.golden import compare, render

FIXTURES = builtin_pack() / "fixtures"
MGS = ["10.1.0.1@o2ib,10.2.0.1@tcp", "10.1.0.2@o2ib,10.2.0.2@tcp"]
LAYER = """\
sites:
  - name: sjc1
    node_groups:
      - {name: dgx, scratch: {mount: /raid, keep: 14 d}}
    file_systems:
      - name: scratch
        locks: flock
        management: {device: /dev/mapper/mgt}
        metadata:
          devices: ["/dev/mapper/mdt[0-1]"]
          nids: ["10.1.0.1@o2ib0,10.2.0.1@tcp", "10.1.0.2@o2ib,10.2.0.2@tcp"]
        objects:
          devices: ["/dev/mapper/ost[00-14]", /dev/disk/by-id/wwn-0x5000c500a1b2c3d4]
          nids: [10.1.1.1@o2ib, 10.1.1.2@o2ib, 10.1.1.3@o2ib, 10.1.1.4@o2ib]
operations:
  software:
    - name: all
      lustre_client: {version: 2.15.5, kernel: 6.8.0-60-generic}
      lustre_server: {version: 2.15.5-1, kernel: 5.14.0-427}
"""


@pytest.fixture(scope="module")
def inventory(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    layer = tmp_path_factory.mktemp("layer") / "layer.yaml"
    layer.write_text(LAYER)
    return build_inventory(load_plan(FIXTURES / "storage.yaml", (layer,)).plan)


def variables(inventory: dict[str, Any], host: str) -> dict[str, Any]:
    found = host_variables(inventory, host)
    assert found is not None
    return found


def test_each_server_has_its_targets_and_those_of_its_partner(inventory: dict[str, Any]) -> None:
    first, second = variables(inventory, "mds-1"), variables(inventory, "mds-2")
    assert first["lustre_server_unknown"] == []
    assert first["lustre_server_version"] == "2.15.5"
    assert first["lustre_server_kernel"] == "5.14.0-427"
    assert first["lustre_server_targets"] == second["lustre_server_targets"]
    mgs, mdt0, mdt1 = first["lustre_server_targets"]
    assert mgs == {
        "kind": "mgs",
        "device": "/dev/mapper/mgt",
        "hosts": ["mds-1", "mds-2"],
        "service_nids": MGS,
    }
    assert mdt0 == {
        "kind": "mdt",
        "fsname": "scratch",
        "index": 0,
        "device": "/dev/mapper/mdt0",
        "hosts": ["mds-1", "mds-2"],
        "mgs_nids": MGS,
        "service_nids": MGS,
        "size_gib": 4096,
        "backend": "ldiskfs",
    }
    assert mdt1["hosts"] == ["mds-2", "mds-1"]
    assert mdt1["service_nids"] == MGS[::-1]
    shared = variables(inventory, "oss-3")["lustre_server_targets"]
    assert [one["index"] for one in shared] == list(range(8, 16))
    assert [one["hosts"][0] for one in shared] == ["oss-3"] * 4 + ["oss-4"] * 4
    assert shared[-1]["device"] == "/dev/disk/by-id/wwn-0x5000c500a1b2c3d4"
    assert shared[0]["service_nids"] == ["10.1.1.3@o2ib", "10.1.1.4@o2ib"]


def test_clients_mount_what_they_are_to_see(inventory: dict[str, Any]) -> None:
    dgx = variables(inventory, "dgx-01")
    assert dgx.pop("lustre_client_quotas") == [{"path": "/scratch"}], "it sets none"
    assert "lustre_client_quotas" not in variables(inventory, "dgx-02")
    assert {key: value for key, value in dgx.items() if key.startswith("lustre_")} == {
        "lustre_client_version": "2.15.5",
        "lustre_client_kernel": "6.8.0-60-generic",
        "lustre_client_unknown": [],
        "lustre_client_mounts": [
            {
                "source": f"{':'.join(MGS)}:/scratch",
                "folder": "/scratch",
                "mdts": 2,
                "osts": 16,
                "locks": "flock",
            }
        ],
        "lustre_lnet_networks": [{"name": "o2ib", "interfaces": ["ib0", "ib1"]}],
        "lustre_lnet_peers": MGS,
    }
    assert inventory["lustre_client"]["children"] == ["nodes_sjc1_dgx"]
    assert inventory["lustre_server"]["children"] == ["nodes_sjc1_mds", "nodes_sjc1_oss"]


@pytest.mark.parametrize("host", ["mds-1", "dgx-01"])
def test_the_networks_of_lustre_are_the_golden_ones(inventory: dict[str, Any], host: str) -> None:
    made = render("lustre_lnet/templates/lnet.conf.j2", variables(inventory, host))
    compare(f"lustre/{host}.lnet.conf", made)


def test_local_scratch_is_as_the_blueprint_and_the_catalogue_say(
    inventory: dict[str, Any],
) -> None:
    dgx = variables(inventory, "dgx-01")
    size = dgx.pop("local_scratch_drive_gib")
    assert size == pytest.approx(3576.28, abs=0.01)
    assert {key: value for key, value in dgx.items() if key.startswith("local_")} == {
        "local_scratch_path": "/raid",
        "local_scratch_drives": 8,
        "local_scratch_keep": "14d",
        "local_scratch_job_container": False,
        "local_scratch_unknown": [],
    }


def test_missing_fact_of_a_file_system_is_named(tmp_path: Path) -> None:
    layer = tmp_path / "layer.yaml"
    layer.write_text(
        "sites:\n  - name: sjc1\n    node_groups:\n      - {name: oss, scratch: {mount: /raid}}\n"
    )
    made = build_inventory(load_plan(FIXTURES / "storage.yaml", (layer,)).plan)
    oss = variables(made, "oss-1")
    assert oss["lustre_server_unknown"] == [
        "'lustre_server' of a software entry",
        "'devices' of the objects of 'scratch'",
        "'nids' of the objects of 'scratch'",
    ]
    assert oss["lustre_server_targets"] == []
    assert variables(made, "mds-1")["lustre_server_unknown"][1:] == [
        "'device' of the management service of 'scratch'",
        "'devices' of the metadata of 'scratch'",
        "'nids' of the metadata of 'scratch'",
    ]
    client = variables(made, "dgx-01")
    assert client["lustre_client_unknown"] == ["'lustre_client' of a software entry"]
    assert oss["local_scratch_unknown"] == [
        "'count' of the local drives of 'cpu-2u' in the catalogue",
        "'size' of the local drives of 'cpu-2u' in the catalogue",
    ]


def test_targets_are_spread_evenly_and_pairs_share_theirs() -> None:
    spread = [serving(index, 5, 4, pairs=True) for index in range(5)]
    assert spread == [(0, 1), (0, 1), (1, 0), (2, 3), (3, 2)]
    assert [serving(index, 3, 3, pairs=True) for index in range(3)] == [(0, 1), (1, 0), (2,)]
    assert [serving(index, 2, 2, pairs=False) for index in range(2)] == [(0,), (1,)]
    assert [serving(index, 1, 2, pairs=True) for index in range(1)] == [(0, 1)]


def test_devices_are_written_as_ranges() -> None:
    assert expand_devices(["/dev/mapper/a[08-10]", "/dev/mapper/b"]) == (
        "/dev/mapper/a08",
        "/dev/mapper/a09",
        "/dev/mapper/a10",
        "/dev/mapper/b",
    )
    for wrong in ("/dev/mapper/a[2-1]", "/dev/mapper/a[0-65536]"):
        with pytest.raises(ValueError, match="runs backwards or is too long"):
            expand_devices([wrong])


QUOTA = """\
users:
  groups: [{name: research, gid: 20000}]
  accounts: [{name: alice, uid: 20001, group: research}, {name: bob, uid: 20002, group: research}]
sites:
  - name: sjc1
    file_systems:
      - name: scratch
        quota: {space: 10 TiB, accounts: [{name: bob, files: 7}]}
"""


def test_one_client_sets_the_quotas_that_all_servers_have_hold(tmp_path: Path) -> None:
    layers = (tmp_path / "layer.yaml", tmp_path / "quota.yaml")
    for path, text in zip(layers, (LAYER, QUOTA), strict=True):
        path.write_text(text)
    made = build_inventory(load_plan(FIXTURES / "storage.yaml", layers).plan)
    setting = {
        host: variables["lustre_client_quotas"]
        for host, variables in made["_meta"]["hostvars"].items()
        if "lustre_client_quotas" in variables
    }
    space = 10 << 30
    assert list(setting.values()) == [
        [
            {
                "path": "/scratch",
                "quota": {
                    "space_kib": space,
                    "others": False,
                    "accounts": [{"name": "bob", "uid": 20002, "space_kib": space, "files": 7}],
                },
            }
        ]
    ]
    (host,) = setting
    assert "lustre_client_mounts" in variables(made, host)
    for server in ("mds-1", "oss-1", "oss-4"):
        assert variables(made, server)["lustre_server_quotas"] == [
            {"fsname": "scratch", "mgs": ["mds-1", "mds-2"]}
        ]
