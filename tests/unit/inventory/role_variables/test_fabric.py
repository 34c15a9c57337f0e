"""Fabrics and NFS shares in the inventory, and the files that the roles make of them.

``UPDATE_GOLDEN=1`` writes the files anew.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from rackwright.errors import RackwrightError
from rackwright.inventory.inventory import build_inventory, host_variables
from rackwright.plan.load import load_plan
from rackwright.policy.packs.loader import builtin_pack
from rackwright.resources import bundled

FIXTURES = builtin_pack() / "fixtures"
GOLDEN = Path(__file__).parents[3] / "golden" / "fabric"
SHARES = """\
operations:
  software:
    - {name: all, kernel: 6.8.0-60-generic, ofed: {version: 3.2.1, kernel: 6.8.0-60-generic}}
sites:
  - name: sjc1
    nfs:
      - name: home
        server: ufm
        export: /export/home
        mount: /home
        clients: [dgx]
        networks: [10.31.0.0/24, 10.30.0.0/22]
      - name: tools
        server: ufm
        export: /export/tools
        mount: /opt/tools
        clients: [dgx]
        networks: [10.30.0.0/22]
        address: nfs.example.com
        read_only: true
"""


def an_inventory(folder: Path, text: str = SHARES) -> dict[str, Any]:
    layer = folder / "layer.yaml"
    layer.write_text(text)
    return build_inventory(load_plan(FIXTURES / "fabric.yaml", (layer,)).plan)


def test_hosts_get_the_ports_and_the_ofed_of_the_blueprint(tmp_path: Path) -> None:
    made = an_inventory(tmp_path)
    assert made["rdma_hosts"]["hosts"][:2] == ["dgx-01", "dgx-02"]
    dgx = host_variables(made, "dgx-01")
    assert dgx is not None
    assert {key: value for key, value in dgx.items() if key.startswith("rdma_")} == {
        "rdma_stack": "doca",
        "rdma_ofed_version": "3.2.1",
        "rdma_ofed_kernel": "6.8.0-60-generic",
        "rdma_kernel": "6.8.0-60-generic",
        "rdma_ipoib_mtu": 4092,
        "rdma_ports": [
            {"technology": "ethernet", "rate_gbps": 400.0, "count": 2},
            {"technology": "infiniband", "rate_gbps": 400.0, "count": 8},
        ],
    }


def test_without_an_ofed_in_the_bill_the_stack_is_a_teams_choice() -> None:
    made = build_inventory(load_plan(FIXTURES / "fabric.yaml").plan)
    assert "rdma_stack" not in made["nodes_sjc1_dgx"]["vars"]
    assert "rdma_ports" in made["nodes_sjc1_dgx"]["vars"]


def test_marks_of_roce_are_those_of_the_fabric(tmp_path: Path) -> None:
    text = "sites: [{name: sjc1, fabrics: [{name: storage, roce: {dscp: 26, priority: 3}}]}]\n"
    variables = an_inventory(tmp_path, text)["nodes_sjc1_dgx"]["vars"]
    assert variables["rdma_roce"] == {"dscp": 26, "priority": 3, "pfc": True, "ecn": True}


def test_hosts_that_mark_roce_get_the_role_without_an_ofed(tmp_path: Path) -> None:
    """NET-016 said that 'configure' marks traffic, and without an OFED it left the hosts alone."""
    text = "sites: [{name: sjc1, fabrics: [{name: storage, roce: {dscp: 26, priority: 3}}]}]\n"
    assert an_inventory(tmp_path, text)["nodes_sjc1_dgx"]["vars"]["rdma_stack"] == "inbox"


def test_the_first_hosts_of_the_group_manage_each_subnet(tmp_path: Path) -> None:
    text = "sites: [{name: sjc1, fabrics: [{name: compute, subnets: 2}]}]\n"
    made = an_inventory(tmp_path, text)
    assert made["subnet_managers"]["hosts"] == ["ufm-1", "ufm-2"]
    found = {
        host: [
            (one["name"], one["priority"])
            for one in made["_meta"]["hostvars"][host]["opensm_instances"]
        ]
        for host in ("ufm-1", "ufm-2")
    }
    assert found == {
        "ufm-1": [("compute-1", 14), ("compute-2", 14)],
        "ufm-2": [("compute-1", 13), ("compute-2", 13)],
    }


@pytest.mark.parametrize(
    "change",
    ["{name: compute, routing_engine: ar_ftree}", "{name: compute, subnet_managers: []}"],
)
def test_fabric_without_opensm_has_no_variables(tmp_path: Path, change: str) -> None:
    made = an_inventory(tmp_path, f"sites: [{{name: sjc1, fabrics: [{change}]}}]\n")
    assert "subnet_managers" not in made


def test_shares_are_exported_by_one_host_and_mounted_by_others(tmp_path: Path) -> None:
    made = an_inventory(tmp_path)
    assert made["nfs_servers"]["hosts"] == ["ufm-1"]
    assert made["nodes_sjc1_dgx"]["vars"]["nfs_client_mounts"] == [
        {"server": "ufm-1", "export": "/export/home", "path": "/home", "writable": True},
        {
            "server": "nfs.example.com",
            "export": "/export/tools",
            "path": "/opt/tools",
            "writable": False,
        },
    ]


USERS: dict[str, Any] = {
    "groups": [{"name": "research", "gid": 20000}],
    "accounts": [
        {"name": "alice", "uid": 20001, "group": "research"},
        {"name": "bob", "uid": 20002, "group": "research"},
    ],
}
DIRECTORY: dict[str, Any] = {
    "uris": ["ldaps://ldap.example.com"],
    "base": "dc=example,dc=com",
    "ca": "/etc/ca.pem",
    "allowed_groups": ["science"],
}


@pytest.mark.parametrize("users", [USERS, {**USERS, "directory": DIRECTORY}])
def test_a_server_is_told_the_limits_of_each_account(tmp_path: Path, users: dict[str, Any]) -> None:
    quota = {"space": "2 TB", "accounts": [{"name": "bob", "files": 5}]}
    site = {"name": "sjc1", "nfs": [{**SHARE, "quota": quota}]}
    made = an_inventory(tmp_path, json.dumps({"users": users, "sites": [site]}))
    server = host_variables(made, "ufm-1")
    assert server is not None
    (exported,) = server["nfs_server_exports"]
    assert exported["quota"] == {
        "space_kib": 1_953_125_000,
        "others": "directory" in users,
        "accounts": [
            {"name": "alice", "uid": 20001, "space_kib": 1_953_125_000},
            {"name": "bob", "uid": 20002, "space_kib": 1_953_125_000, "files": 5},
        ],
    }


def test_nothing_is_limited_on_what_nobody_writes_to(tmp_path: Path) -> None:
    share = {**SHARE, "read_only": True, "quota": {"space": "2 TB"}}
    with pytest.raises(RackwrightError, match="'home' is 'read_only': its clients write nothing"):
        an_inventory(tmp_path, json.dumps({"sites": [{"name": "sjc1", "nfs": [share]}]}))


SHARE: dict[str, Any] = {
    "name": "home",
    "server": "ufm",
    "export": "/export/home",
    "mount": "/home",
    "clients": ["dgx"],
    "networks": ["10.30.0.0/22"],
}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"clients": ["gone"]}, "names the node group 'gone', which is not there"),
        ({"clients": ["ufm"]}, "'ufm' both exports and mounts 'home'"),
        ({"networks": ["0.0.0.0/0"]}, "'0.0.0.0/0' is everybody"),
        ({"networks": []}, "networks"),
        ({"export": "home"}, "export"),
    ],
)
def test_a_share_that_cannot_be_is_refused(
    tmp_path: Path, change: dict[str, Any], message: str
) -> None:
    site = {"name": "sjc1", "nfs": [{**SHARE, **change}]}
    with pytest.raises(RackwrightError) as refused:
        an_inventory(tmp_path, json.dumps({"sites": [site]}))
    assert message in str(refused.value)


FILES = {
    "opensm.conf": ("opensm", "opensm.conf.j2", {"item": "{{ opensm_instances[0] }}"}),
    "partitions.conf": ("opensm", "partitions.conf.j2", {"item": "{{ opensm_instances[0] }}"}),
    "exports": ("nfs_server", "rackwright.exports.j2", {}),
    "ganesha.conf": ("nfs_server", "ganesha.conf.j2", {}),
}
"""By name of the golden file: the role, its template, and variables of the task."""


def test_the_files_of_subnet_managers_and_servers(tmp_path: Path) -> None:
    made = an_inventory(tmp_path)
    manager = dict(made["_meta"]["hostvars"]["ufm-1"])
    manager |= {
        "opensm_guids": {"compute": ["0x98039b0300A1B2C4"]},
        "opensm_root_guids": {"compute": ["0x900a84030062d440"]},
        "opensm_m_key": "0x1122334455667788",
        "opensm_sa_key": "0x8877665544332211",
        "opensm_settings": {"sweep_interval": 30, "use_ucast_cache": True},
    }
    nodes = {
        name: {"opensm_guids": {"compute": [f"0x{100 + index}", f"0x{200 + index}"]}}
        for index, name in enumerate(made["nodes_sjc1_dgx"]["hosts"][:3])
    }
    own = {key: value for key, value in manager.items() if key.startswith(("opensm_", "nfs_"))}
    tasks = [
        {
            "ansible.builtin.template": {
                "src": str(bundled("roles") / role / "templates" / template),
                "dest": str(tmp_path / name),
            },
            "vars": {**own, **variables},
        }
        for name, (role, template, variables) in FILES.items()
    ]
    play = {
        "hosts": "ufm-1",
        "gather_facts": False,
        "connection": "local",
        "vars_files": [
            str(bundled("roles") / role / part / "main.yml")
            for role in ("opensm", "nfs_server")
            for part in ("defaults", "vars")
        ],
        "tasks": tasks,
    }
    children = {"nodes_sjc1_dgx": {"hosts": nodes}}
    everybody = {
        "all": {
            "hosts": {"ufm-1": {"ansible_python_interpreter": sys.executable}},
            "children": children,
        }
    }
    (tmp_path / "hosts.json").write_text(json.dumps(everybody))
    (tmp_path / "play.yml").write_text(json.dumps([play]))
    program = Path(sys.executable).parent / "ansible-playbook"
    done = subprocess.run(
        [program, "-i", tmp_path / "hosts.json", tmp_path / "play.yml"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "ANSIBLE_LOCALHOST_WARNING": "False"},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    for name in FILES:
        text, path = (tmp_path / name).read_text(), GOLDEN / name
        if os.environ.get("UPDATE_GOLDEN"):
            path.write_text(text)
        assert text == path.read_text(), name
