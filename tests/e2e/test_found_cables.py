"""Cables as lldpd of Debian and the switches of simhall tell them, against the plan of the fabric."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

import simhall_hall
from fabric_factories import a_fabric, a_tier, layout_of
from factories import some_nodes
from lldp_hall import FORMS, Cable, hear, root_with_lldpd
from rackwright.brownfield.cabling.files import read_cables
from rackwright.plan.fabric.cables import wires
from rackwright.plan.fabric.discovered.differences import CableComparison
from rackwright.plan.fabric.discovered.dump import End
from rackwright.plan.fabric.layout import Layout

pytestmark = pytest.mark.e2e


def small() -> Layout:
    """Four hosts with two rails on two leaves and a spine, whose links run at 10 Gbps as those of veth do."""
    fabric = a_fabric(
        tiers=[a_tier(name, count, "arista-7060x6-64pe") for name, count in (("leaf", 2), ("spine", 1))],
        links=[{"name": "up", "lower": "leaf", "upper": "spine", "parallel": 1}],
        attached=[{"group": "dgx", "interfaces": 2, "rate": "10 Gbps"}],
        technology="ethernet",
    )  # fmt: skip
    return layout_of(fabric, groups=[some_nodes(count=4)])


def veth_cables(layout: Layout, change: Callable[[dict[End, End]], None]) -> list[Cable]:
    """Cables between the interfaces of namespaces."""
    far = {(w.lower, w.lower_port): (w.upper, w.upper_port) for w in wires(layout)}
    change(far)
    switches = {name for tier in layout.tiers for name in tier.names()}

    def name(end: End) -> str:
        return f"swp{end[1]}" if end[0] in switches else f"rail{end[1] - 1}"

    return [(low[0], name(low), up[0], name(up)) for low, up in far.items()]


@pytest.fixture(scope="module")
def root() -> Iterator[Path]:
    if os.geteuid() != 0:
        pytest.skip("namespaces need root")
    with root_with_lldpd() as made:
        yield made


def told_of(layout: Layout, folder: Path) -> list[tuple[str, str]]:
    """Return the differences at hosts; uplinks of veth are slower than any that the plan has."""
    compared = CableComparison(layout, read_cables(layout, [folder], None))
    assert (compared.without_rate, compared.silent) == (0, 0)
    told = [(one.cable, one.message) for one in compared.differences()]
    slow = [
        cable
        for cable, message in told
        if message.startswith("the link runs at 10G (10 Gbps), and 800 Gbps")
    ]
    assert len(slow) == 2, told
    return [one for one in told if one[0] not in slow]


def test_lldpd_of_debian_tells_a_perfect_fabric_and_its_faults(root: Path, tmp_path: Path) -> None:
    assert FORMS
    layout = small()
    hear(root, tmp_path / "perfect", veth_cables(layout, lambda far: None))
    for form in FORMS:
        assert told_of(layout, tmp_path / "perfect" / form) == []
        for path in (tmp_path / "perfect" / form).glob("dgx-*"):
            path.unlink()
        assert told_of(layout, tmp_path / "perfect" / form) == []

    def faults(far: dict[End, End]) -> None:
        del far["dgx-1", 1]
        far["dgx-2", 2], far["dgx-3", 2] = far["dgx-3", 2], far["dgx-2", 2]
        far["dgx-4", 1] = (far["dgx-4", 1][0], 9)
        far["printer", 1] = ("compute-leaf-2", 12)

    hear(root, tmp_path / "faulty", veth_cables(layout, faults))
    for form in FORMS:
        told = told_of(layout, tmp_path / "faulty" / form)
        assert [(cable.partition(" to ")[0], message) for cable, message in told] == [
            ("dgx-1 port 1", "there is no link"),
            ("dgx-2 port 2", "it is swapped with dgx-3 port 2 to compute-leaf-2 port 3"),
            ("dgx-4 port 1", "it is in compute-leaf-1 port 9"),
            ("compute-leaf-2 port 12", "it is not in the plan"),
        ]


@pytest.fixture(scope="module")
def simhall() -> Path:
    python = simhall_hall.newer_python()
    if python is None:
        pytest.skip("simhall needs Python 3.12")
    return simhall_hall.command(python)


def one_tier() -> Layout:
    """Eight hosts with eight rails on four leaves."""
    fabric = a_fabric(
        tiers=[a_tier("leaf", 4, "arista-7060x6-64pe", split=2)],
        links=[],
        technology="ethernet",
        attached=[{"group": "dgx", "interfaces": 8, "rate": "400 Gbps"}],
    )
    group = some_nodes(count=8, name_digits=1, type="dell-xe9680-h200")
    return layout_of({**fabric, "rail_optimized": False}, groups=[group])


FAULTS: Mapping[str, tuple[Mapping[str, Any], str, str]] = {
    "missing_link": ({"cable": "CBL-1-03-02"}, "dgx-3 port 3", "there is no link"),
    "swap_pair": ({"cable_a": "CBL-1-03-02", "cable_b": "CBL-1-05-02"}, "dgx-3 port 3", "it is swapped with dgx-5 port 3"),
    "wrong_port": ({"cable": "CBL-1-03-02", "to_device": "compute-leaf-1", "to_interface": "{}100"}, "dgx-3 port 3", "it is in compute-leaf-1 port 100"),
    "link_degraded": ({"cable": "CBL-1-03-02", "speed_gbps": 100}, "dgx-3 port 3", "the link runs at 100G (100 Gbps), and 400 Gbps are planned"),
}  # fmt: skip
"""Faults of simhall with their parameters, the cable that is told and the message."""


@pytest.mark.parametrize("mode", ["name", "mac"])
@pytest.mark.parametrize("vendor", ["nvidia", "arista"])
def test_switches_of_simhall_tell_a_perfect_hall_and_each_of_its_faults(
    vendor: str, mode: str, simhall: Path, tmp_path: Path
) -> None:
    layout = one_tier()
    port = {"nvidia": "swp", "arista": "Ethernet"}[vendor]
    for kind in ("", *FAULTS):
        parameters, cable, message = FAULTS.get(kind, ({}, "", ""))
        fault = {
            name: value.format(port) if isinstance(value, str) else value
            for name, value in parameters.items()
        }
        faults = [{"kind": kind, **fault}] if kind else []
        hall = simhall_hall.hall_of(layout, vendor, faults) | {"lldp_port_id_mode": mode}
        folder = tmp_path / (kind or "perfect")
        (folder / "switches").mkdir(parents=True)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            number = free.getsockname()[1]
        with simhall_hall.serving(simhall, hall, folder, number) as address:
            for leaf in layout.tiers[0].names():
                text = simhall_hall.ask_switch(address, leaf, vendor)
                (folder / "switches" / f"{leaf}.json").write_text(text)
        compared = CableComparison(layout, read_cables(layout, [folder / "switches"], None))
        told = compared.differences()
        assert len(told) == (1 if kind else 0), told
        for one in told:
            assert one.cable.partition(" to ")[0] == cable
            assert one.message.startswith(message)
