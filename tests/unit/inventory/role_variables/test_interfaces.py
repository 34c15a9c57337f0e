"""Addresses of interfaces on fabrics reach the role ``fabric_interfaces``, and what it verifies."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
import yaml

from rackwright.errors import SpecErrors
from rackwright.inventory.inventory import build_inventory, host_variables
from rackwright.plan.load import load_plan
from rackwright.plan.problems import PlanError
from rackwright.policy.packs.loader import builtin_pack
from rackwright.resources import bundled

DEVICES = ["0000:2a:00.0", "0000:2a:00.1", "0000:ab:00.0", "0000:ab:00.1"]


def a_network(**changes: Any) -> dict[str, Any]:
    made = {
        "name": "rdma",
        "kind": "fabric",
        "fabric": "storage",
        "prefix": "10.41.0.0/24",
        "gateway": "10.41.0.1",
        "set_by": "netplan",
        "ranges": [{"of": "dgx", "first": "10.41.0.10"}],
        **changes,
    }
    return {key: value for key, value in made.items() if value is not None}


def an_inventory(folder: Path, *networks: dict[str, Any], devices: list[str]) -> dict[str, Any]:
    layer = {
        "sites": [
            {
                "name": "sjc1",
                "fabrics": [
                    {"name": "storage", "attached": [{"group": "dgx", "devices": devices}]}
                ],
                "addresses": {"domain": "sjc1.example.com", "networks": list(networks)},
            }
        ]
    }
    path = folder / "layer.yaml"
    path.write_text(yaml.safe_dump(layer))
    return build_inventory(load_plan(builtin_pack() / "fixtures/fabric.yaml", [path]).plan)


def test_each_interface_has_its_address_mtu_gateway_and_table(tmp_path: Path) -> None:
    made = an_inventory(tmp_path, a_network(), devices=DEVICES)
    assert len(made["fabric_interfaces"]["hosts"]) == 31
    second = host_variables(made, "dgx-02")
    assert second is not None
    assert second["fabric_interfaces_set_by"] == "netplan"
    assert second["fabric_interfaces_links"][1] == {
        "name": "dgx-02-rdma-2",
        "pci": "0000:2a:00.1",
        "address": "10.41.0.15",
        "prefix": 24,
        "network": "10.41.0.0/24",
        "gateway": "10.41.0.1",
        "mtu": 9216,
        "rdma": True,
        "table": 102,
    }
    tables = [link["table"] for link in second["fabric_interfaces_links"]]
    assert tables == [101, 102, 103, 104]


def test_networks_of_single_interfaces_take_the_device_of_their_number(tmp_path: Path) -> None:
    rails = [
        a_network(
            name=f"rail{number}",
            interface=number,
            prefix=f"10.41.{number}.0/24",
            gateway=None,
            ranges=[{"of": "dgx", "first": f"10.41.{number}.10"}],
        )
        for number in (1, 4)
    ]
    found = host_variables(an_inventory(tmp_path, *rails, devices=DEVICES), "dgx-01")
    assert found is not None
    links = found["fabric_interfaces_links"]
    assert [(link["name"], link["pci"], link["table"]) for link in links] == [
        ("dgx-01-rail1", DEVICES[0], 101),
        ("dgx-01-rail4", DEVICES[3], 102),
    ]


@pytest.mark.parametrize("set_by", ["others", None])
def test_interfaces_managed_by_others_are_left_alone(tmp_path: Path, set_by: str | None) -> None:
    made = an_inventory(tmp_path, a_network(set_by=set_by), devices=[])
    assert "fabric_interfaces" not in made


@pytest.mark.parametrize(
    ("devices", "message"),
    [
        ([], "by what 'configure' finds the interface 'dgx-01-rdma-1' is not known"),
        (DEVICES[:2], "'dgx' has 4 interfaces on 'storage', and 'devices' of 2"),
    ],
)
def test_interfaces_that_cannot_be_found_on_hosts_are_refused(
    tmp_path: Path, devices: list[str], message: str
) -> None:
    with pytest.raises((PlanError, SpecErrors), match=message):
        an_inventory(tmp_path, a_network(), devices=devices)


def test_one_system_sets_the_interfaces_of_a_group(tmp_path: Path) -> None:
    other = a_network(
        name="other", interface=1, prefix="10.42.0.0/24", gateway=None, set_by="nmstate",
        ranges=[{"of": "dgx", "first": "10.42.0.10"}],
    )  # fmt: skip
    with pytest.raises(SpecErrors, match="set by netplan and by nmstate"):
        an_inventory(tmp_path, a_network(interface=2), other, devices=DEVICES)


LINK = {
    "name": "dgx-01-rdma-1", "interface": "eth1", "address": "10.41.0.10", "prefix": 24,
    "network": "10.41.0.0/24", "gateway": "10.41.0.1", "mtu": 9216, "table": 101, "rdma": True,
}  # fmt: skip
STATE = {
    "addresses": [
        {"ifname": "eth1", "mtu": 9216, "operstate": "UP",
         "addr_info": [{"local": "10.41.0.10", "prefixlen": 24}]},
    ],
    "rules": [{"priority": 10101, "src": "10.41.0.10", "table": "101"}],
    "routes": [
        {"dst": "10.41.0.0/24", "dev": "eth1", "table": "101"},
        {"dst": "default", "gateway": "10.41.0.1", "dev": "eth1", "table": "101"},
    ],
}  # fmt: skip


@pytest.fixture
def verified(tmp_path: Path) -> Any:
    """Return the program that the role runs, and a folder of RDMA devices with the GID of the address."""
    names: dict[str, Any] = {"__name__": "differences"}
    exec((bundled("roles") / "fabric_interfaces/files/differences.py").read_text(), names)
    port = tmp_path / "mlx5_0/ports/1"
    for folder, text in (("gids", "0000:0000:0000:0000:0000:ffff:0a29:000a"),
                         ("gid_attrs/ndevs", "eth1"), ("gid_attrs/types", "RoCE v2")):  # fmt: skip
        (port / folder).mkdir(parents=True)
        (port / folder / "3").write_text(f"{text}\n")
    return names["differences"], tmp_path


def test_an_interface_as_planned_has_no_difference(verified: Any) -> None:
    differences, sysfs = verified
    assert list(differences([LINK], STATE, str(sysfs))) == []


@pytest.mark.parametrize(
    ("place", "value", "said"),
    [
        (("addresses", 0, "mtu"), 1500, "has the MTU 1500, not 9216"),
        (("addresses", 0, "addr_info"), [], "has no address, not 10.41.0.10/24"),
        (("addresses", 0, "ifname"), "eth9", "is not there"),
        (("addresses", 0, "operstate"), "DOWN", "is down"),
        (("rules",), [], "has no rule from 10.41.0.10 to table 101"),
        (("routes", 0, "table"), "main", "has no route to 10.41.0.0/24 in table 101"),
        (("routes", 1, "gateway"), "10.41.0.2", "has no route over 10.41.0.1 in table 101"),
    ],
)
def test_each_difference_of_an_interface_is_told(
    verified: Any, place: tuple[Any, ...], value: Any, said: str
) -> None:
    differences, sysfs = verified
    state = copy.deepcopy(STATE)
    at: Any = state
    for part in place[:-1]:
        at = at[part]
    at[place[-1]] = value
    (found,) = differences([LINK], state, str(sysfs))
    assert said in found


def test_an_address_without_a_gid_of_roce_v2_is_told(verified: Any) -> None:
    differences, sysfs = verified
    (sysfs / "mlx5_0/ports/1/gid_attrs/types/3").write_text("IB/RoCE v1\n")
    assert list(differences([LINK], STATE, str(sysfs))) == [
        "eth1 (dgx-01-rdma-1) has no GID of RoCE v2 for 10.41.0.10"
    ]
    assert list(differences([{**LINK, "rdma": False}], STATE, str(sysfs))) == []
    assert list(differences([LINK], STATE, str(sysfs / "none"))) == [
        "eth1 (dgx-01-rdma-1) is no port of an RDMA device"
    ]
