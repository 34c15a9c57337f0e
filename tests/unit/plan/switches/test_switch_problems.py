"""Mistakes in the numbers, products and networks of switches, each with its place and its fix."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from switch_plans import (
    Layer,
    a_layer,
    fabric_of,
    for_system,
    problems_of,
    switches_of,
    with_tunnels,
)

FABRIC = "sites/0/fabrics/0"


def leaf(layer: Layer, **more: Any) -> None:
    fabric_of(layer)["tiers"][0].update(more)


def spine(layer: Layer, **more: Any) -> None:
    fabric_of(layer)["tiers"][1].update(more)


def gpu(layer: Layer) -> dict[str, Any]:
    network: dict[str, Any] = layer["sites"][0]["addresses"]["networks"][1]
    return network


def without_vlan(layer: Layer) -> None:
    ranges = [{"of": "dgx", "first": "10.31.0.10"}]
    gpu(layer).update(prefix="10.31.0.0/24", gateway="10.31.0.1", ranges=ranges)
    del gpu(layer)["segment"]


def one_network(layer: Layer) -> None:
    with_tunnels(layer)
    fabric_of(layer)["switching"]["evpn"] = False


def other_priority(layer: Layer) -> None:
    fabric_of(layer)["switching"]["system"] = "cumulus"
    fabric_of(layer)["roce"] = {"dscp": 26, "priority": 4}


def unmarked(layer: Layer) -> None:
    fabric_of(layer)["switching"]["system"] = "sonic"


def many_keys(layer: Layer) -> None:
    tunnels = for_system("eos")
    layer.clear()
    layer.update(tunnels)
    (account,) = layer["users"]["accounts"]
    account["keys"] = account["keys"] * 3


def too_large(layer: Layer) -> None:
    with_tunnels(layer)
    fabric_of(layer)["switching"]["system"] = "cumulus"
    fabric_of(layer)["mtu"] = 9216


MISTAKES: dict[str, tuple[Callable[[Layer], None], str, str, str]] = {
    "loopbacks overlap": (
        lambda layer: spine(layer, loopback="10.255.1.8"),
        f"{FABRIC}/tiers/1/loopback",
        (
            "10.255.1.8 to 10.255.1.9 of the loopbacks of compute spine overlap with 10.255.1.1 to 10.255.1.8 of "
            "the loopbacks of compute leaf"
        ),
        "begin at 10.255.1.10",
    ),
    "loopback in a network": (
        lambda layer: leaf(layer, loopback="10.20.0.40"),
        f"{FABRIC}/tiers/0/loopback",
        "10.20.0.40 to 10.20.0.47 of the loopbacks of compute leaf overlap with 10.20.0.0/24 of the network mgmt",
        "begin at 10.255.0.3",
    ),
    "IPv6 loopback": (
        lambda layer: leaf(layer, loopback="fd00::1"),
        f"{FABRIC}/tiers/0/loopback",
        "the loopback of 'leaf' is not an IPv4 address",
        "give an IPv4 address: it is the router id as well",
    ),
    "BGP numbers run out": (
        lambda layer: leaf(layer, asn=65530),
        f"{FABRIC}/tiers/0/asn",
        "the BGP numbers of 'leaf' end at 65537, after the last private one, 65534",
        "begin at 4200000000",
    ),
    "BGP numbers of 32 bits run out": (
        lambda layer: leaf(layer, asn=4294967290),
        f"{FABRIC}/tiers/0/asn",
        "the BGP numbers of 'leaf' end at 4294967297, after the last private one, 4294967294",
        "begin at 4294967287 or before",
    ),
    "BGP numbers overlap": (
        lambda layer: spine(layer, asn=4200000105),
        f"{FABRIC}/tiers/1/asn",
        "BGP numbers overlap: 4200000101 to 4200000108 of compute leaf, 4200000105 of compute spine",
        "begin at 4200000109",
    ),
    "leaves share a number": (
        lambda layer: leaf(layer, asn_shared=True),
        f"{FABRIC}/tiers/0/asn_shared",
        "'leaf' shares one BGP number over leaves, which refuse each other's routes as loops",
        "leave out 'asn_shared': each switch gets its own",
    ),
    "no port names": (
        lambda layer: leaf(layer, type="juniper-qfx5240-64od"),
        f"{FABRIC}/tiers/0/type",
        "the catalogue does not name the ports of 'juniper-qfx5240-64od' in 'frr'",
        "add 'port_names' with 'system: frr' to the product 'juniper-qfx5240-64od'",
    ),
    "another system": (
        lambda layer: leaf(layer, system="eos"),
        f"{FABRIC}/tiers/0/type",
        "the catalogue does not name the ports of 'sn5610' in 'eos'",
        "add 'port_names' with 'system: eos' to the product 'sn5610', or choose cumulus or frr or sonic",
    ),
    "no VLAN": (
        without_vlan,
        "sites/0/addresses/networks/1",
        "the network 'gpu' has no VLAN on the switches",
        "replace its 'prefix' by 'segment', the name of a segment with 'vlan' and that prefix",
    ),
    "network over leaves": (
        one_network,
        "sites/0/addresses/networks/1",
        "hosts of 'gpu' are on 8 leaves, from compute-leaf-01 on, and a VLAN ends at its leaf",
        "set 'evpn: true' in 'switching', or give racks or interfaces networks of their own",
    ),
    "no marking": (
        unmarked,
        f"{FABRIC}/switching",
        "'ecn' is on, and 'sonic' has no queue lengths to mark packets at",
        "set 'ecn_marking' to those that the maker of the switch recommends",
    ),
    "another priority": (
        other_priority,
        f"{FABRIC}/roce",
        "the RoCE profile of Cumulus Linux is for priority 3 and the code points 24 to 31, not priority 4 and 26",
        "use priority 3 and code point 26",
    ),
    "MTU with tunnels": (
        too_large,
        f"{FABRIC}/mtu",
        "an MTU of 9216 and 50 bytes of VXLAN is more than the 9216 bytes that 'cumulus' of 'leaf' takes",
        "set 'mtu' to 9166 or less",
    ),
    "administrator without account": (
        lambda layer: fabric_of(layer)["switching"].update(administrators=["net-ops", "nobody"]),
        f"{FABRIC}/switching/administrators/1",
        "'nobody' is not an account of 'users'",
        "declare it in 'users'",
    ),
    "more keys than EOS takes": (
        many_keys,
        f"{FABRIC}/switching/administrators/0",
        "'net-ops' has 3 keys, and EOS takes 2 of an account",
        "give the account no more keys, or name others",
    ),
    "unknown port": (
        lambda layer: fabric_of(layer).update(
            patches=[{"node": "dgx-01", "interface": 1, "switch": "compute-leaf-01", "port": 129}]
        ),
        f"{FABRIC}/patches/0",
        "'compute-leaf-01' has 128 ports, and a cable is in port 129",
        "name a port that it has",
    ),
    "port of another cable": (
        lambda layer: fabric_of(layer).update(
            patches=[{"node": "dgx-01", "interface": 1, "switch": "compute-leaf-01", "port": 2}]
        ),
        f"{FABRIC}/patches/0",
        "two cables are in port 2 of 'compute-leaf-01': from dgx-01 port 1 and dgx-01 port 2",
        "give each a port of its own",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", MISTAKES)
def test_mistake_is_told_with_its_place_and_fix(name: str, tmp_path: Path) -> None:
    change, place, message, hint = MISTAKES[name]
    layer = a_layer()
    change(layer)
    assert problems_of(tmp_path, layer)[:1] == [(place, message, hint)]


@pytest.mark.parametrize("field", ["asn", "loopback"])
def test_missing_number_is_asked_for(field: str, tmp_path: Path) -> None:
    layer = a_layer()
    leaf(layer, **{field: None})
    ((place, message, hint),) = problems_of(tmp_path, layer)
    assert place == f"{FABRIC}/tiers/0"
    assert message.startswith("'leaf' has BGP sessions and no ")
    assert field in f"{message} {hint}"


@pytest.mark.parametrize("system", ["cumulus", "eos", "frr", "sonic"])
def test_layer_of_each_system_has_no_problem(system: str, tmp_path: Path) -> None:
    assert problems_of(tmp_path, for_system(system)) == []
    assert len(switches_of(tmp_path, for_system(system))) == 10


def test_all_problems_are_told_at_once(tmp_path: Path) -> None:
    layer = a_layer()
    leaf(layer, asn=65530, loopback="fd00::1")
    spine(layer, type="juniper-qfx5240-64od")
    assert len(problems_of(tmp_path, layer)) == 3


def unlinked() -> Layer:
    """Return a layer over the fixture with a second fabric: two leaves without links, a port of each host on each."""
    layer = a_layer()
    layer["sites"][0]["fabrics"].append(
        {
            "name": "storage",
            "role": "storage",
            "technology": "ethernet",
            "mtu": 9216,
            "tiers": [
                {"name": "top", "type": "sn5610", "split": 2, "count": 2, "racks": "n[01-02]", "per_rack": 1}
            ],
            "attached": [{"group": "dgx", "interfaces": 2, "rails": True, "ports": "storage"}],
            "segments": [{"name": "files", "vlan": 102, "prefix": "10.31.0.0/24", "groups": ["dgx"]}],
            "switching": {"system": "cumulus"},
        }
    )  # fmt: skip
    return layer


def test_switches_without_links_are_networks_by_themselves(tmp_path: Path) -> None:
    one, other = (switches_of(tmp_path, unlinked())[f"storage-top-{n}"] for n in (1, 2))
    assert (one.asn, one.router_id, one.evpn) == (None, None, False)
    assert {port.vlan for port in (*one.ports, *other.ports)} == {102}
    assert {port.far for port in one.ports} == {port.far for port in other.ports}


def test_tunnels_without_links_are_refused(tmp_path: Path) -> None:
    layer = unlinked()
    layer["sites"][0]["fabrics"][1]["switching"]["evpn"] = True
    ((place, message, hint),) = problems_of(tmp_path, layer)
    assert place == "sites/0/fabrics/1/switching/evpn"
    assert message.startswith("tunnels go over BGP, and the switches of 'storage' have no links")
    assert hint == "leave out 'evpn'"
