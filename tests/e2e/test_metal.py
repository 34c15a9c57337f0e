"""Bare metal against what others have written: sushy-tools, simhall and Ironic of PyPI."""

from __future__ import annotations

import socket
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import simhall_hall
from bmc_emulator import PASSWORD, USER, certificates
from fabric_factories import a_fabric, a_tier, layout_of
from factories import some_nodes
from metal_machines import environment, fake_system, fronts, sushy
from rackwright.metal.access import BmcAccess
from rackwright.metal.compare import MachineState, Matched, compare
from rackwright.metal.discover import Discoverer
from rackwright.metal.expected import ExpectedMachine
from rackwright.metal.machines import DiscoveredMachine
from rackwright.metal.redfish import BmcState, Manners
from rackwright.plan.fabric.layout import Layout

pytestmark = pytest.mark.e2e

MANNERS = Manners(connect_s=30.0, answer_s=60.0, whole_s=300.0, pause_s=0.1)


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.20.0.1", 0))
        return int(free.getsockname()[1])


def discover(
    folder: Path, port: int, addresses: list[str], *, plain: bool = False, password: str = PASSWORD
) -> tuple[DiscoveredMachine, ...]:
    """Discover with the product's own access to controllers."""
    secret = folder / "password"
    secret.touch(0o600)
    secret.write_text(f"{password}\n")
    access = BmcAccess(
        USER, str(secret), str(folder / "bmc-ca.pem"), "name", port, {}, MANNERS, plain
    )
    reader = Discoverer(access.credentials(), access.session(), port, MANNERS)
    return reader.discover(addresses, addresses)


def test_fake_system_of_sushy_tools_is_read_with_http_basic_over_tls(tmp_path: Path) -> None:
    certificates(tmp_path, ["127.20.0.1"])
    port = free_port()
    with sushy(tmp_path, port, [fake_system(1, "dgx-01")], USER, PASSWORD):
        (found,) = discover(tmp_path, port, ["127.20.0.1"])
        (refused,) = discover(tmp_path, port, ["127.20.0.1"], password="wrong")
    assert refused.state is BmcState.REFUSED_PASSWORD
    # The fake driver has no serial number: what is not told is named, never made up.
    assert (found.state, found.serial) == (BmcState.PARTIAL, None)
    assert "serial" in found.reason
    assert "b8:3f:d2:04:00:01" in found.macs
    assert found.power_on is False


@pytest.fixture(scope="module")
def simhall(tmp_path_factory: pytest.TempPathFactory) -> Path:
    python = simhall_hall.newer_python()
    if python is None:
        pytest.skip("simhall needs Python 3.12")
    return environment([simhall_hall.RELEASE], python) / "simhall"


def one_tier() -> Layout:
    """Return eight hosts with four rails on four leaves."""
    fabric = a_fabric(
        tiers=[a_tier("leaf", 4, "arista-7060x6-64pe", split=2)],
        links=[],
        technology="ethernet",
        attached=[{"group": "dgx", "interfaces": 4, "rate": "400 Gbps"}],
    )
    group = some_nodes(count=8, name_digits=1, type="dell-xe9680-h200")
    return layout_of({**fabric, "rail_optimized": False}, groups=[group])


def simulated(
    simhall: Path, folder: Path, layout: Layout, faults: list[Mapping[str, Any]]
) -> dict[str, Matched]:
    """Return the comparison of simhall's machines with those that are expected, by host."""
    hosts = layout.hosts[0].names
    hall = simhall_hall.hall_of(layout, "nvidia", faults)
    upstream, port = free_port(), free_port()
    at = dict(zip(hosts, (f"127.20.1.{n}" for n in range(1, 9)), strict=True))
    with (
        simhall_hall.serving(simhall, hall, folder, upstream),
        fronts(port, upstream, {at[host]: f"/dev/{host}" for host in hosts}, USER, PASSWORD),
    ):
        found = discover(folder, port, list(at.values()), plain=True)
    first = next(one for one in found if one.model is not None)
    expected = [
        ExpectedMachine(
            host=host,
            group="dgx",
            rack="",
            product="simulated",
            models=frozenset({"".join(filter(str.isalnum, (first.model or "").lower()))}),
            bmc=at[host],
            bmc_label=f"{host}-bmc",
            bmc_mac=None,
            mac=None,
            serial=None,
            accelerators=first.accelerators,
            firmware=found[-1].firmware,
        )
        for host in hosts
    ]
    return {one.host: one for one in compare(expected, found, [layout]) if one.host is not None}


def test_hall_of_simhall_is_discovered_as_planned(simhall: Path, tmp_path: Path) -> None:
    found = simulated(simhall, tmp_path, one_tier(), [])
    assert {host: one.problems for host, one in found.items() if one.problems} == {}
    assert all(one.found is not None and len(one.found.ports) >= 4 for one in found.values())


def test_faults_of_simhall_are_named_at_their_machines(simhall: Path, tmp_path: Path) -> None:
    faults: list[Mapping[str, Any]] = [
        {"kind": "swap_pair", "cable_a": "CBL-1-02-01", "cable_b": "CBL-1-03-01"},
        {"kind": "unreachable_node", "node": "dgx-4", "mode": "http_500"},
        {"kind": "firmware_off_baseline", "node": "dgx-5", "component": "bios", "version": "0.0.1"},
        {"kind": "partial_redfish", "node": "dgx-7"},
    ]
    found = simulated(simhall, tmp_path, one_tier(), faults)
    assert {host: one.state for host, one in found.items()} == {
        "dgx-1": MachineState.AS_PLANNED,
        "dgx-2": MachineState.MISCABLED,
        "dgx-3": MachineState.MISCABLED,
        "dgx-4": MachineState.UNREADABLE,
        "dgx-5": MachineState.AS_PLANNED,
        "dgx-6": MachineState.AS_PLANNED,
        "dgx-7": MachineState.UNREADABLE,
        "dgx-8": MachineState.AS_PLANNED,
    }, {host: one.problems for host, one in found.items()}
    assert found["dgx-5"].firmware["bios"][0] == "0.0.1"
