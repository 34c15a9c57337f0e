"""Five halls as operators build them, each from its blueprint to Slurm's files and the variables of its hosts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from rackwright.accept.expected import expect
from rackwright.inventory.inventory import build_inventory, host_variables
from rackwright.plan.load import load_plan
from rackwright.plan.model import Plan
from rackwright.policy.packs.loader import builtin_pack
from rackwright.render.blueprints import find_template, write_blueprint
from rackwright.render.slurm import render_slurm
from rackwright.resources import bundled


@dataclass(frozen=True)
class RenderedHall:
    plan: Plan
    inventory: dict[str, Any]

    @property
    def slurm(self) -> dict[str, str]:
        return dict(render_slurm(self.plan))

    def host(self, name: str) -> dict[str, Any]:
        found = host_variables(self.inventory, name)
        assert found is not None, name
        return found


def hall(
    folder: Path, template: str, case: str, layer: Mapping[str, Any], **answers: Any
) -> RenderedHall:
    """Return a hall of a template with a layer over it."""
    tests = bundled("templates") / f"blueprints/{template}/template-test.yaml"
    known = yaml.safe_load(tests.read_text())["cases"][case]
    path = write_blueprint(find_template(template), folder / "site", {**known, **answers})[0]
    return planned(folder, path, layer)


def planned(folder: Path, path: Path, layer: Mapping[str, Any]) -> RenderedHall:
    (folder / "layer.yaml").write_text(yaml.safe_dump(layer))
    plan = load_plan(path, [folder / "layer.yaml"]).plan
    return RenderedHall(plan, build_inventory(plan))


def promises(slurm: Mapping[str, str]) -> None:
    """Hold what every hall of a template promises of Slurm."""
    conf = slurm["slurm.conf"]
    for setting in ("HealthCheckNodeState=ANY,CYCLE", "RebootProgram=", "Epilog=/usr/local/sbin/rackwright-epilog",
                    "DefMemPerCPU=", "DefaultTime=0-04:00:00", "MaxTime=7-00:00:00"):  # fmt: skip
        assert setting in conf
    assert conf.count("SlurmctldHost=") == 1, "several need a state that they share"


def test_128_dgx_h100_with_ufm(tmp_path: Path) -> None:
    made = hall(
        tmp_path,
        "onprem-h100",
        "two-units",
        {
            "sites": [
                {
                    "name": "hall1",
                    "node_groups": [{"name": "dgx", "count": 128, "name_digits": 3}],
                    "fabric": {
                        "routing_engine": "ar_updn",
                        "network": "10.30.0.0/21",
                        "segments": [{"name": "default", "prefix": "10.30.0.0/21"}],
                    },
                }
            ],
            "operations": {"software": [{"name": "metal", "system": "ubuntu-22.04"}]},
        },
    )
    promises(made.slurm)
    assert "NodeName=dgx-[001-128] " in made.slurm["slurm.conf"]
    assert "Gres=gpu:h100:8" in made.slurm["slurm.conf"]
    assert "AutoDetect=nvidia Name=gpu Type=h100 File=/dev/nvidia[0-7]" in made.slurm["gres.conf"]
    known = made.host("dgx-128")
    assert known["base_system"] == "ubuntu-22.04"
    assert known["nvidia_driver_fabric_manager"] is True
    assert known["rdma_ports"] == [{"technology": "infiniband", "rate_gbps": 400.0, "count": 8}]
    assert known["health_check_ports"] == known["rdma_ports"]
    assert {79, 95, 119} <= {one.get("xid") for one in known["health_check_faults"]}
    # UFM routes: no host runs opensm, and 'verify' asks for the manager all the same.
    assert not any("opensm_instances" in made.host(f"head-{n}") for n in (1, 2, 3))
    (dgx,) = [one for one in expect(made.plan) if one.name == "dgx-001"]
    (manager,) = [item for item in dgx.items if item.kind == "subnet manager"]
    assert manager.expected == "SMINFO_MASTER"


def test_32_hgx_b200_with_roce(tmp_path: Path) -> None:
    devices = [f"0000:{number:02x}:00.0" for number in range(0x10, 0x18)]
    network = {
        "name": "rdma", "kind": "fabric", "fabric": "compute", "segment": "default", "set_by": "netplan",
        "ranges": [{"of": "dgx", "first": "10.30.0.10"}],
    }  # fmt: skip
    fabric = {
        "technology": "ethernet", "attached": [{"group": "dgx", "devices": devices}], "mtu": 9216, "pfc": True,
        "ecn": True, "roce": {"dscp": 26, "priority": 3}, "segments": [{"name": "default", "vlan": 100}],
    }  # fmt: skip
    site = {"name": "hall1", "addresses": {"domain": "hall1.example.com", "networks": [network]}, "fabric": fabric}  # fmt: skip
    made = hall(tmp_path, "onprem-b200", "one-unit", {"sites": [site]})
    promises(made.slurm)
    assert "NodeName=dgx-[01-32] " in made.slurm["slurm.conf"]
    known = made.host("dgx-32")
    assert known["rdma_roce"] == {"dscp": 26, "priority": 3, "pfc": True, "ecn": True}
    links = known["fabric_interfaces_links"]
    assert [link["pci"] for link in links] == devices
    assert {link["mtu"] for link in links} == {9216}
    assert len({link["table"] for link in links}) == 8, "a table of routes for each rail"
    every = [link["address"] for n in range(1, 33) for link in made.host(f"dgx-{n:02}")["fabric_interfaces_links"]]  # fmt: skip
    assert len(set(every)) == 256
    assert (known["nvidia_driver_nvlsm"], known["health_check_processes"]) == (True, ["nvlsm"])
    # Xid 74 is never seen there: fatal NVLink errors and the driver's own demand are.
    assert known["health_check_gpus"]["nvlink"] is True
    assert all(
        not item.kind.startswith("subnet") for one in expect(made.plan) for item in one.items
    )


def test_8_nvl72(tmp_path: Path) -> None:
    made = hall(tmp_path, "onprem-gb200-nvl72", "eight-racks", {})
    promises(made.slurm)
    topology = yaml.safe_load(made.slurm["topology.yaml"])
    (block,) = [one["block"] for one in topology]
    assert block["block_sizes"] == [18]
    assert [one["nodes"] for one in block["blocks"]][:2] == ["nvl72-[01-18]", "nvl72-[19-36]"]
    assert len(block["blocks"]) == 8
    assert "SwitchType=switch/nvidia_imex" in made.slurm["slurm.conf"]
    for rack in range(8):
        mine = [f"nvl72-{n:02}" for n in range(18 * rack + 1, 18 * rack + 19)]
        for name in (mine[0], mine[-1]):
            known = made.host(name)
            assert known["nvidia_driver_imex_hosts"] == mine, "one domain, whole"
            assert (known["nvidia_driver_imex"], known["nvidia_driver_imex_channel"]) == (
                True,
                False,
            )
            assert known["health_check_gpus"]["domain"] is True
    assert "File=/dev/nvidia[0-3]" in made.slurm["gres.conf"]


def test_64_mi300x(tmp_path: Path) -> None:
    made = hall(tmp_path, "onprem-mi300x", "one-unit", {}, nodes=64)
    promises(made.slurm)
    files = [f"/dev/dri/renderD{128 + 8 * n}" for n in range(8)]
    assert "NodeName=amd-[01-64] " in made.slurm["slurm.conf"]
    assert "File=/dev/dri/renderD[128,136,144,152,160,168,176,184]" in made.slurm["gres.conf"]
    assert "AutoDetect" not in made.slurm["gres.conf"], "no package of Slurm has rsmi"
    known = made.host("amd-64")
    assert known["amd_gpu_devices"] == known["slurm_compute_device_pattern"] == files
    assert known["health_check_device_pattern"] == known["health_check_devices"] == files
    assert known["rdma_roce"] == {"dscp": 26, "priority": 3, "pfc": True, "ecn": True}
    assert not [name for name in known if name.startswith(("nvidia_", "dcgm_"))]
    signs = [one for one in known["health_check_faults"] if "amdgpu" in one.get("pattern", "")]
    assert {"amdgpu-uncorrectable", "amdgpu-hang"} <= {one["fault"] for one in signs}


def test_el_9_with_lustre_and_ldap(tmp_path: Path) -> None:
    kernel = "5.14.0-503.el9.x86_64"
    bill = {"name": "all", "system": "el-9", "kernel": kernel,
            "lustre_client": {"version": "2.16.1", "kernel": kernel},
            "lustre_server": {"version": "2.16.1", "kernel": kernel}}  # fmt: skip
    directory = {"uris": ["ldaps://ldap1.example.com"], "base": "dc=example,dc=com", "ca": "/etc/ldap/ca.pem", "allowed_groups": ["research"]}  # fmt: skip
    layer = {"operations": {"software": [bill]}, "users": {"directory": directory}}
    made = planned(tmp_path, builtin_pack() / "fixtures/storage.yaml", layer)
    by_group: dict[str, str] = {}
    for host in made.plan.hosts:
        by_group.setdefault(host.group, host.name)
    client = made.host(by_group["dgx"])
    assert (client["base_system"], client["base_kernel"]) == ("el-9", kernel)
    assert client["sssd_uris"] == ["ldaps://ldap1.example.com"]
    assert client["sssd_allowed_groups"] == ["research"]
    (mount,) = client["lustre_client_mounts"]
    assert "/scratch" in mount.values()
    for group in ("mds", "oss"):
        server = made.host(by_group[group])
        assert server["base_system"] == "el-9"
        assert any(name.startswith("lustre_server_") for name in server), group
