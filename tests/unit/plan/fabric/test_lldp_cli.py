"""Fabrics as command lines of switches print their neighbours: perfect ones pass, each fault is named."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import lldp_cli_dumps
from fabric_factories import a_fabric, a_tier, layout_of
from factories import some_nodes
from lldp_dumps import PortName, Seen, seen_by
from rackwright.brownfield.cabling.files import neighbour_tables, read_cables
from rackwright.brownfield.cabling.networks import is_neighbours, read_network
from rackwright.errors import UsageError
from rackwright.plan.fabric.discovered.differences import CableComparison
from rackwright.plan.fabric.discovered.dump import End
from rackwright.plan.fabric.layout import Layout

Form = tuple[Callable[[list[Seen], PortName], str], PortName]

FORMS: dict[str, Form] = {
    "EOS, detail": (lldp_cli_dumps.eos_detail, lambda port: f"Ethernet{port}/1"),
    "EOS, table": (lldp_cli_dumps.eos_table, lambda port: f"Et{port}"),
    "NX-OS, detail": (lldp_cli_dumps.nxos_detail, lambda port: f"Eth1/{port}"),
    "NX-OS, table": (lldp_cli_dumps.nxos_table, lambda port: f"Eth1/{port}"),
    "NX-OS, JSON": (lldp_cli_dumps.nxos_json, lambda port: f"Ethernet1/{port}"),
    "Junos, table": (lldp_cli_dumps.junos_table, lambda port: f"et-0/0/{port - 1}"),
    "Junos, JSON": (lldp_cli_dumps.junos_json, lambda port: f"et-0/0/{port - 1}"),
    "OS10, table": (lldp_cli_dumps.os10_table, lambda port: f"ethernet1/1/{port}"),
    "OS10, parts": (
        lldp_cli_dumps.os10_detail,
        lambda port: f"ethernet1/1/{(port + 1) // 2}:{2 - port % 2}",
    ),
    "VRP": (lldp_cli_dumps.vrp, lambda port: f"400GE1/0/{port}"),
    "keyvalue": (lldp_cli_dumps.keyvalue, lambda port: f"swp{port}"),
    "net show lldp": (lldp_cli_dumps.cumulus, lambda port: f"swp{port}"),
    "nv show interface": (lldp_cli_dumps.nvue_table, lambda port: f"swp{port}"),
}


def ethernet() -> Layout:
    """Sixteen hosts on four leaves and two spines."""
    tiers = [
        a_tier("leaf", 4, type="arista-7060x6-64pe", split=2),
        a_tier("spine", 2, type="arista-7060x6-64pe", split=2),
    ]
    links = [{"name": "up", "lower": "leaf", "upper": "spine", "parallel": 8}]
    fabric = a_fabric(tiers=tiers, technology="ethernet", links=links)
    return layout_of(fabric, groups=[some_nodes(count=16)])


def written(
    layout: Layout, folder: Path, form: str, change: Callable[[dict[End, End]], None] | None = None
) -> CableComparison:
    """Compare what all switches print with the plan."""
    write, port_name = FORMS[form]
    for device, seen in seen_by(layout, port_name, lambda n: f"rail{n - 1}", change).items():
        (folder / f"{device}.txt").write_text(write(seen, port_name))
    return CableComparison(layout, read_cables(layout, [folder], None))


@pytest.mark.parametrize("form", FORMS)
def test_perfect_fabric_has_no_difference(form: str, tmp_path: Path) -> None:
    compared = written(ethernet(), tmp_path, form)
    assert compared.matched
    assert compared.differences() == ()
    assert (compared.without_report, compared.silent) == (0, 0)


@pytest.mark.parametrize("form", FORMS)
def test_each_fault_is_named(form: str, tmp_path: Path) -> None:
    def faults(cables: dict[End, End]) -> None:
        del cables["dgx-03", 2]
        one, other = ("dgx-05", 1), ("dgx-06", 4)
        cables[one], cables[other] = cables[other], cables[one]

    told = written(ethernet(), tmp_path, form, faults).differences()
    assert [difference.cable.partition(" to ")[0] for difference in told] == [
        "dgx-03 port 2",
        "dgx-05 port 1",
    ]
    assert [difference.message.partition(" ")[0] for difference in told] == ["there", "it"]


@pytest.mark.parametrize("form", FORMS)
def test_switches_and_hosts_are_adopted(form: str, tmp_path: Path) -> None:
    """``init --from`` of the same files."""
    written(ethernet(), tmp_path, form)
    assert all(is_neighbours(path.read_text()) for path in tmp_path.iterdir())
    network = read_network(tmp_path)
    assert len(network.switches) == 6
    ends = {name for cable in network.cables for name in (cable.device, cable.far)}
    assert len(ends - {"LAB-7103-B-R04", "oob-1"}) == 22


def test_name_that_a_switch_cuts_is_not_a_name() -> None:
    """OS10 ends a long name with dots, IOS cuts it: neither is compared with the plan as it is."""
    os10 = (
        "Loc PortID   Rem Host Name     Rem Port Id                   Rem Chassis Id\n"
        + "-" * 76
        + "\n"
        "Te 1/1       localhost.local...e4:1d:2d:00:00:10             e4:1d:2d:00:00:10\n"
        "Te 1/2       -                 24:8a:07:00:00:10             24:8a:07:00:00:10\n"
    )
    ios = (
        "Device ID           Local Intf     Hold-time  Capability      Port ID\n"
        "gpu-hall-2-leaf-0001Gi1/0/7        120        B,R             Gi0/1\n"
        "gpu-hall-2-leaf-0002 Gi1/0/8       120        B,R             Gi0/1\n"
    )
    for text in (os10, ios):
        ((_, interfaces),) = neighbour_tables(text)
        heard = [one for interface in interfaces.values() for one in interface.neighbours]
        assert heard
        assert not any(one.named for one in heard)


def test_further_neighbour_of_an_interface_is_of_the_same() -> None:
    text = (
        "Port                           : 1/1/1\nNeighbor Chassis-Name          : leaf-1\n"
        "Neighbor Chassis-ID            : 02:00:00:00:00:01\nNeighbor Port-ID               : 1/1/9\n"
        "Neighbor Chassis-Name          : phone\nNeighbor Chassis-ID            : 02:00:00:00:00:02\n"
        "Neighbor Port-ID               : eth0\nPort                           : 1/1/2\n"
        "Neighbor Chassis-Name          : leaf-2\nNeighbor Chassis-ID            : 02:00:00:00:00:03\n"
        "Neighbor Port-ID               : 1/1/9\n"
    )
    ((_, interfaces),) = neighbour_tables(text)
    heard = {name: [far.device for far in one.neighbours] for name, one in interfaces.items()}
    assert heard == {"1/1/1": ["leaf-1", "phone"], "1/1/2": ["leaf-2"]}


@pytest.mark.parametrize(
    "text",
    [
        "Chassis id: 0200.0000.0001\nPort id: Eth1/1\n",
        "Interface Ethernet1 detected 1 LLDP neighbors:\n  - Chassis ID type: MAC address (4)\n    Chassis ID     : 02\n",
    ],
)
def test_block_that_is_cut_off_is_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "compute-leaf-1.txt"
    path.write_text(text)
    with pytest.raises(UsageError, match="the file is cut off"):
        read_cables(ethernet(), [path], None)
