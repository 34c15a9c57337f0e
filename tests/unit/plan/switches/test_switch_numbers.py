"""Numbers, names and addresses of switches: from the plan, and the same after growth."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from factories import CATALOGUE
from rackwright.model.hardware import Switch
from rackwright.model.switching import SwitchSystem
from rackwright.plan.fabric.layout import Tier
from rackwright.plan.switches.ports import port_naming
from switch_plans import a_layer, fabric_of, for_system, switches_of, with_tunnels


def tier_of(product: str, split: int = 1) -> Tier:
    entry = CATALOGUE.get(Switch, product)
    uplinks = entry.uplinks
    return Tier(
        name="leaf",
        prefix="compute-leaf",
        type=product,
        technology=entry.technology,
        switches=1,
        radix=entry.radix * split,
        rate=entry.rate.value / split,
        uplinks=uplinks.count if uplinks else 0,
        up_rate=uplinks.rate.value if uplinks else entry.rate.value,
        ports_per_cage=entry.ports_per_cage,
    )


NAMES: list[tuple[str, SwitchSystem, int, int, str, tuple[int, ...]]] = [
    ("sn5600", "cumulus", 1, 64, "swp64", ()),
    ("sn5600", "cumulus", 2, 1, "swp1s0", ()),
    ("sn5600", "cumulus", 2, 128, "swp64s1", ()),
    ("sn5600", "sonic", 1, 2, "Ethernet8", tuple(range(8, 16))),
    ("sn5600", "sonic", 4, 255, "Ethernet508", (508, 509)),
    ("sn4600c", "sonic", 1, 64, "Ethernet252", (504, 505, 506, 507)),
    ("arista-7060x6-64pe", "eos", 1, 64, "Ethernet64/1", tuple(range(505 - 8, 505))),
    ("arista-7060x6-64pe", "eos", 2, 4, "Ethernet2/5", ()),
    ("arista-7060x6-64pe", "sonic", 2, 1, "Ethernet0", (17, 18, 19, 20)),
    ("arista-7060x6-64pe", "sonic", 2, 2, "Ethernet4", (21, 22, 23, 24)),
    ("sn2201", "cumulus", 1, 49, "swp49", ()),
    ("q3400-ra", "nvos", 1, 3, "sw2p1", ()),
    ("q3400-ra", "nvos", 1, 144, "sw72p2", ()),
]  # fmt: skip


@pytest.mark.parametrize(("product", "system", "split", "number", "name", "lanes"), NAMES)
def test_port_has_the_name_of_its_product(
    product: str, system: SwitchSystem, split: int, number: int, name: str, lanes: tuple[int, ...]
) -> None:
    naming = port_naming(tier_of(product, split), CATALOGUE.get(Switch, product), system)
    assert naming is not None
    assert naming.name(number) == name
    if system == "sonic":
        assert naming.lanes(number) == lanes


@pytest.mark.parametrize("product", ["sn5600", "sn5610", "sn4600c", "arista-7060x6-64pe"])
@pytest.mark.parametrize("split", [1, 2, 4])
def test_ports_of_a_switch_have_different_names_and_lanes(product: str, split: int) -> None:
    entry = CATALOGUE.get(Switch, product)
    assert entry.port_names
    for patterns in entry.port_names:
        naming = port_naming(tier_of(product, split), entry, patterns.system)
        assert naming is not None
        numbers = range(1, naming.count + 1)
        assert len({naming.name(number) for number in numbers}) == naming.count
        lanes = [lane for number in numbers for lane in naming.lanes(number)]
        assert len(set(lanes)) == len(lanes)


def test_product_without_names_of_split_ports_has_none_for_a_split_tier() -> None:
    entry = CATALOGUE.get(Switch, "q3400-ra")
    assert port_naming(tier_of("q3400-ra", 2), entry, "nvos") is None
    assert port_naming(tier_of("q3400-ra"), entry, "cumulus") is None


def test_switch_has_the_numbers_of_its_place(tmp_path: Path) -> None:
    found = switches_of(tmp_path, a_layer())
    leaf, spine = found["compute-leaf-03"], found["compute-spine-02"]
    assert (leaf.asn, str(leaf.router_id)) == (4200000103, "10.255.1.3")
    assert (spine.asn, str(spine.router_id)) == (4200000001, "10.255.0.2")
    assert str(leaf.management) == "10.20.0.102/24"
    assert [(peer.name, peer.asn) for peer in leaf.peers] == [
        ("compute-spine-01", 4200000001),
        ("compute-spine-02", 4200000001),
    ]
    assert [str(a) for vlan in leaf.vlans for a in vlan.gateways] == ["10.30.0.65/27"]
    assert [port.description for port in leaf.ports if port.to_switch][:1] == [
        "compute-spine-01 swp3s0"
    ]


def test_both_ends_of_a_cable_describe_each_other(tmp_path: Path) -> None:
    found = switches_of(tmp_path, a_layer())
    seen = 0
    for switch in found.values():
        for port in switch.fabric_ports:
            (far,) = (one for one in found[port.far].ports if one.name == port.far_port)
            assert (far.far, far.far_port) == (switch.name, port.name)
            seen += 1
    assert seen == 2 * 8 * 2 * 2


@settings(max_examples=8, deadline=None)
@given(spines=st.integers(2, 4))
def test_growth_keeps_the_numbers_names_and_hosts_of_each_switch(
    spines: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("growth")
    before = switches_of(folder, a_layer())
    layer = a_layer()
    fabric_of(layer)["tiers"][1].update(count=spines, per_rack=spines)
    after = switches_of(folder, layer)
    assert set(before) <= set(after)
    for name, was in before.items():
        now = after[name]
        assert (was.asn, was.router_id, was.management) == (now.asn, now.router_id, now.management)
        assert [p for p in was.ports if not p.to_switch] == [
            p for p in now.ports if not p.to_switch
        ]


def test_tier_that_grows_past_nine_keeps_names_with_digits(tmp_path: Path) -> None:
    layer = a_layer()
    fabric_of(layer)["tiers"][1].update(count=10, per_rack=5)
    fabric_of(layer)["links"] = [{"name": "spines", "parallel": 1}]
    assert "compute-spine-01" in switches_of(tmp_path, layer)
    assert "compute-spine-10" in switches_of(tmp_path, layer)


def test_tunnels_need_room_in_the_packets_between_switches(tmp_path: Path) -> None:
    leaf = switches_of(tmp_path, with_tunnels(a_layer()))["compute-leaf-01"]
    assert {port.mtu for port in leaf.ports if port.to_switch} == {9216}
    assert {port.mtu for port in leaf.ports if not port.to_switch} == {9166}
    assert [(vlan.number, vlan.vni) for vlan in leaf.vlans] == [(101, 10101)]


def test_hosts_find_their_vlan_by_segments_without_addresses(tmp_path: Path) -> None:
    layer = for_system("sonic")
    del layer["sites"][0]["addresses"]["networks"][1]
    leaf = switches_of(tmp_path, layer)["compute-leaf-01"]
    assert {port.vlan for port in leaf.ports if not port.to_switch} == {101}
    assert [vlan.gateways for vlan in leaf.vlans] == [()]
