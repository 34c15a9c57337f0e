"""Expectations and the variables of the health check come from the blueprint alone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fabric_factories import a_tier
from factories import a_hall, a_plan, a_rack_group, a_row, a_site, some_nodes
from rackwright.accept.expected import Comparing, Expectation, HostExpectations, expect
from rackwright.inventory.inventory import build_inventory, host_variables
from rackwright.model.operations import Operations
from rackwright.model.software import KernelModules, SoftwareBill
from rackwright.plan.aws.nic import PRIMARY
from rackwright.plan.load import load_plan
from rackwright.plan.model import Plan
from rackwright.plan.slurm.node_health import health_of_group, health_programs
from rackwright.plan.slurm.nodes import node_sets
from rackwright.policy.packs.loader import builtin_pack

FIXTURES = builtin_pack() / "fixtures"
TREE = Path(__file__).parents[2] / "golden" / "slurm" / "tree" / "layer.yaml"


@pytest.fixture(scope="module")
def operated() -> Plan:
    return load_plan(FIXTURES / "operated.yaml").plan


@pytest.fixture(scope="module")
def slurm() -> Plan:
    return load_plan(FIXTURES / "slurm.yaml", (TREE,)).plan


def generated(plan: Plan, **more: Any) -> Plan:
    """The plan with health checks that are generated."""
    operations = Operations(health_checks=True, **more)
    return replace(plan, blueprint=plan.blueprint.model_copy(update={"operations": operations}))


def host(plan: Plan, name: str) -> HostExpectations:
    (found,) = [host for host in expect(plan) if host.name == name]
    return found


def item(of: HostExpectations, name: str) -> Expectation:
    (found,) = [item for item in of.items if item.item == name]
    return found


def test_every_host_is_expected_once(slurm: Plan) -> None:
    names = [host.name for host in expect(slurm)]
    assert names == list(build_inventory(slurm)["_meta"]["hostvars"])
    for one in expect(slurm):
        items = [item.item for item in one.items]
        assert len(items) == len(set(items)), one.name


def test_a_dgx_h100(slurm: Plan) -> None:
    dgx = host(slurm, "dgx-01")
    assert item(dgx, "accelerators").expected == 8
    assert item(dgx, "accelerator model").expected == "h100"
    assert item(dgx, "processors").expected == 224
    memory = item(dgx, "memory")
    assert (memory.expected, memory.least) == (2048 * 1024, 2048 * 1024 * 0.95)
    assert item(dgx, "ports infiniband 400 Gbps").expected == 12, "8 of compute and 4 of storage"
    assert item(dgx, "version slurm").rule is Comparing.RELEASE
    assert dgx.request == {
        "devices": ["/dev/nvidia[0-9]*"],
        "mounts": [],
        "services": ["munge", "slurmd"],
        "slurm_node": "dgx-01",
    }


def test_blueprint_has_precedence_over_the_catalogue(slurm: Plan) -> None:
    scheduler = slurm.blueprint.scheduler
    assert scheduler is not None
    (said,) = scheduler.nodes
    said = said.model_copy(update={"cpus": 96, "memory": 1000.0, "gres": "gpu:h200:4"})
    changed = scheduler.model_copy(update={"nodes": (said,)})
    plan = replace(slurm, blueprint=slurm.blueprint.model_copy(update={"scheduler": changed}))
    dgx = host(plan, "dgx-01")
    assert item(dgx, "processors").expected == 96
    assert (item(dgx, "memory").least, item(dgx, "memory").expected) == (1_024_000, 1_024_000)
    assert item(dgx, "accelerators").expected == item(dgx, "Slurm accelerators").expected == 4
    assert item(dgx, "accelerator model").expected == "h200"


@pytest.mark.parametrize(("stated", "rate"), [({}, 400), ({"rate": "200 Gbps"}, 200)])
def test_ports_run_at_the_rate_that_their_fabric_states(stated: dict[str, str], rate: int) -> None:
    """NVIDIA's tuning guide has ports of 400 Gbps in each tray; its SuperPOD runs them at 200."""
    storage = {"name": "storage", "role": "storage", "tiers": [a_tier("leaf", 2, "sn5610")]}
    nvl = some_nodes("nvl", type="gb200-nvl72", count=1, per_rack=1)
    site = a_site(
        halls=[a_hall(rows=[a_row(a_rack_group("c01,n01"))])],
        node_groups=[nvl],
        fabrics=[{**storage, "attached": [{"group": "nvl", **stated}]}],
    )
    tray = host(a_plan(site), "nvl-18")
    assert [(one.item, one.expected) for one in tray.items if one.kind == "ports"] == [
        (f"ports ethernet {rate} Gbps", 2),
        ("ports infiniband 400 Gbps", 4),
    ]


def test_a_number_that_the_catalogue_lacks_is_not_guessed(slurm: Plan) -> None:
    head = host(slurm, "head-1")
    assert item(head, "processors").expected is None
    assert item(head, "memory").expected is None
    assert item(head, "accelerators").expected == 0
    assert head.node is None


def test_services_follow_the_scheduler(slurm: Plan) -> None:
    services = {one.name: one.request["services"] for one in expect(slurm)}
    assert services["head-1"] == ["mariadb", "munge", "slurmctld", "slurmdbd"]
    assert services["dgx-64"] == ["munge", "slurmd"]


def test_software_and_mounts_follow_bill_and_file_systems(operated: Plan) -> None:
    hosts = expect(operated)
    versions = {i.item: i.expected for one in hosts for i in one.items if i.kind == "version"}
    assert versions["version driver"] == "595.112.07"
    assert versions["version fabric_manager"] == "595.112.07"
    assert versions["version lustre_server"] == "2.17.0"
    drivers = {one.name for one in hosts for i in one.items if i.item == "version driver"}
    accelerated = {
        one.name
        for one in hosts
        for i in one.items
        if i.item == "accelerators" and i.expected not in {0, None}
    }
    assert drivers == accelerated, "and on no other host"
    mounts = {(i.item, i.expected) for one in hosts for i in one.items if i.kind == "mount"}
    assert mounts == {("mount /data", "lustre"), ("mount /scratch", None)}, "nobody says who mounts"


SHARES = """
sites:
  - name: sjc1
    nfs:
      - {name: home, server: head, export: /export/home, mount: /home, clients: [dgx],
         networks: [10.0.0.0/8]}
      - {name: tools, server: head, export: /export/tools, mount: /opt/tools, clients: [dgx],
         networks: [10.0.0.0/8], read_only: true}
"""


def test_a_share_is_expected_as_nfs_and_read_only_where_it_is(tmp_path: Path) -> None:
    """It was expected as Lustre, so that each node with a home directory was drained."""
    layer = tmp_path / "shares.yaml"
    layer.write_text(SHARES)
    plan = generated(load_plan(FIXTURES / "slurm.yaml", (TREE, layer)).plan)
    assert item(host(plan, "dgx-01"), "mount /home").expected == "nfs4"
    found = host_variables(build_inventory(plan), "dgx-01")
    assert found is not None
    assert found["health_check_mounts"] == [
        {"path": "/home", "type": "nfs4"},
        {"path": "/opt/tools", "type": "nfs4", "read_only": True},
    ]


SERVED_BY_OSS = """
sites:
  - name: sjc1
    file_systems:
      - {name: scratch, management: {servers: oss}, metadata: {servers: oss}}
"""


def test_versions_of_lustre_are_expected_of_those_who_serve_or_mount_it(tmp_path: Path) -> None:
    """They were expected by the role of a host, whether it had to do with Lustre or not."""
    layer = tmp_path / "served.yaml"
    layer.write_text(SERVED_BY_OSS)
    stored = load_plan(FIXTURES / "storage.yaml", (layer,)).plan
    bill = SoftwareBill(
        name="all",
        kernel="6.8.0-60-generic",
        server_kernel="5.14.0-lustre",
        lustre_client=KernelModules(version="2.17.0"),
        lustre_server=KernelModules(version="2.17.0"),
    )
    operations = Operations(software=(bill,))
    blueprint = stored.blueprint.model_copy(update={"operations": operations})
    versions = {
        one.name: {i.key[1]: i.expected for i in one.items if i.kind == "version"}
        for one in expect(replace(stored, blueprint=blueprint))
    }
    assert versions["dgx-01"] == {"kernel": "6.8.0-60-generic", "lustre_client": "2.17.0"}
    assert versions["oss-1"] == {"kernel": "5.14.0-lustre", "lustre_server": "2.17.0"}
    assert versions["mds-1"] == {"kernel": "6.8.0-60-generic"}, "it has nothing to do with Lustre"


def test_software_of_efa_is_expected_where_the_group_asks_for_efa(operated: Plan) -> None:
    (site,) = operated.aws
    (group,) = site.groups
    bare = replace(group, nics=(PRIMARY,))
    without = replace(operated, aws=(replace(site, groups=(bare,)),))
    components = {"version libfabric", "version ofi_plugin", "version efa_installer"}
    for plan, expected in ((operated, components), (without, set())):
        (train, *_) = [one for one in expect(plan) if one.name.startswith("train-")]
        assert {one.item for one in train.items} & components == expected


def test_a_teams_own_health_check_is_left_alone(slurm: Plan) -> None:
    assert slurm.blueprint.scheduler is not None
    assert slurm.blueprint.scheduler.health_check is not None
    assert health_programs(slurm) == {}
    found = host_variables(build_inventory(slurm), "dgx-01")
    assert found is not None
    assert not [name for name in found if name.startswith("health_check_")]


def test_a_generated_health_check_knows_what_is_meant(slurm: Plan) -> None:
    plan = generated(slurm, drain_on_xids=(95, 79))
    found = host_variables(build_inventory(plan), "dgx-01")
    assert found is not None
    assert found["health_check_program"] == "/usr/sbin/nhc"
    assert found["health_check_prolog"] == "/etc/slurm/prolog.sh"
    xids = {one.get("xid") for one in found["health_check_faults"]}
    assert {79, 95, 109, 119} <= xids, "those of the table, whatever the blueprint lists"
    assert 31 not in xids
    assert found["health_check_device_pattern"] == "/dev/nvidia[0-9]*"
    assert found["health_check_mounts"] == []
    assert found["slurm_compute_accelerators"] == 8


def test_a_health_check_expects_the_file_systems_of_its_nodes(slurm: Plan) -> None:
    stored = load_plan(FIXTURES / "storage.yaml").plan
    (site,) = stored.onprem
    nodes = replace(node_sets(slurm)[0], site=site.name, group="dgx")
    plan = replace(generated(slurm), onprem=stored.onprem)
    assert health_of_group(plan, nodes)["health_check_mounts"] == [
        {"path": "/scratch", "type": "lustre"}
    ]
    assert health_of_group(plan, replace(nodes, group="other"))["health_check_mounts"] == []
