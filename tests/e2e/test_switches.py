"""Switches of FRR in network namespaces, born from the files that the plan wrote."""

from __future__ import annotations

import copy
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

import eos_oracle
from lldp_hall import root_with
from rackwright.brownfield.cabling.files import read_cables
from rackwright.plan.fabric.discovered.differences import CableComparison
from rackwright.plan.load import load_plan
from rackwright.plan.model import Plan
from rackwright.render.generated import apply, compare, generate
from rackwright.render.switches.drift import compare_running
from rackwright.render.switches.eos import eos_files
from switch_hall import Cable, Lived, live
from switch_plans import FIXTURE, a_layer, fabric_of, for_system, switches_of, with_tunnels

pytestmark = pytest.mark.e2e


@pytest.fixture(scope="module")
def root() -> Iterator[Path]:
    if os.geteuid() != 0:
        pytest.skip("namespaces need root")
    with root_with("frr", "lldpd", "iputils-ping") as made:
        yield made


def hall_of(folder: Path, *, leaves: int, spines: int, tunnels: bool = False) -> Plan:
    """Return the fixture of racks with so many leaves, each with two hosts, and spines."""
    whole = copy.deepcopy(yaml.safe_load(FIXTURE.read_text(encoding="utf-8")))
    site = whole["sites"][0]
    racks = f"c[01-{leaves:02d}]"
    site["halls"][0]["rows"][0]["rack_groups"][0]["racks"] = racks
    site["halls"][0]["rows"][0]["rack_groups"][1]["racks"] = f"n[01-{spines:02d}]"
    site["node_groups"][0].update(count=2 * leaves, racks=racks)
    layer = with_tunnels(a_layer()) if tunnels else a_layer()
    fabric = fabric_of(layer)
    fabric["mtu"] = 1450  # the hosts' own, which tunnels leave room for
    fabric["attached"] = [{"group": "dgx", "interfaces": 1}]
    fabric["tiers"][0].update(count=leaves, racks=racks)
    fabric["tiers"][1].update(count=spines, racks=f"n[01-{spines:02d}]")
    fabric["links"] = [{"name": "spines", "parallel": 1}]
    fabric["segments"] = [{"name": "nodes", "prefix": "10.30.0.0/22"}]
    management = layer["sites"][0]["addresses"]["networks"][0]
    management.update(prefix="10.20.0.0/23", macs={})
    management["ranges"] = [{"of": "dgx", "first": "10.20.1.10"}, *management["ranges"][1:]]
    paths = [folder / "blueprint.yaml", folder / "layer.yaml"]
    for path, text in zip(paths, (whole, layer), strict=True):
        path.write_text(yaml.safe_dump(text, allow_unicode=True), encoding="utf-8")
    return load_plan(paths[0], [paths[1]]).plan


def lived(root: Path, folder: Path, plan: Plan, timeout_s: float) -> Lived:
    """Render a plan and have its switches live."""
    apply(compare(generate(plan), folder / "out"))
    switches = {one.name: one for one in plan.switches}
    cables: list[Cable] = []
    for name, switch in switches.items():
        for port in switch.ports:
            if not port.to_switch:
                cables.append((name, port.name, port.far, "rail0"))
            elif "leaf" in name:
                cables.append((name, port.name, port.far, port.far_port))
    hosts: dict[str, dict[str, str]] = {}
    for network in (one for one in plan.names.networks if one.fabric == "compute"):
        for one in network.addresses():
            hosts[one.owner] = {"address": f"{one.address}/{network.prefix.prefixlen}"}
            hosts[one.owner] |= {"gateway": str(network.gateway)}
    leaves = [name for name in switches if "leaf" in name]
    spines = [name for name in switches if "spine" in name]
    up = [cable for cable in cables if cable[2] == spines[-1]]
    hall: dict[str, Any] = {
        "switches": {name: str(folder / "out/switches" / name) for name in switches},
        "hosts": hosts,
        "cables": cables,
        "leaf": leaves[0],
        "lost": spines[0],
        "swapped": up[:2],
        "prefixes": [str(switches[name].router_id) for name in leaves[1:]],
    }
    return live(root, folder / "hall", hall, timeout_s)


def told_of(plan: Plan, folder: Path) -> list[tuple[str, str]]:
    """Return the differences of cables; veth runs slower than anything that the plan has."""
    (layout,) = plan.onprem[0].layouts
    compared = CableComparison(layout, read_cables(layout, [folder], None))
    assert (compared.without_report, compared.silent) == (0, 0)
    told = [(one.cable, one.message) for one in compared.differences()]
    return [one for one in told if not one[1].startswith("the link runs at 10G")]


def check(plan: Plan, found: Lived, folder: Path) -> None:
    switches = {one.name: one for one in plan.switches}
    print(
        f"{len(switches)} switches: sessions up after {found.sessions_s:.1f} s, routes moved after "
        f"{found.lost_s:.2f} s, longest gap between answers {found.gap_s:.2f} s"
    )
    assert found.sessions == {name: len(one.fabric_ports) for name, one in switches.items()}
    hosts = plan.hosts
    assert tuple(found.reached) == (len(hosts) - 1, len(hosts) - 1)
    before, after = found.routes
    leaf = switches["compute-leaf-01"]
    spines = {port.far: port.name for port in leaf.fabric_ports}
    others = [str(one.router_id) for one in plan.switches if one.tier == "leaf" and one is not leaf]
    for prefix in others:
        assert before[prefix] == sorted(spines.values())
        assert after[prefix] == sorted(set(spines.values()) - {spines["compute-spine-01"]})
    for name in switches:
        rendered = (folder / "out/switches" / name / "frr.conf").read_text(encoding="utf-8")
        assert compare_running("frr", rendered, found.running[name]) == ()
    assert told_of(plan, folder / "hall/perfect") == []
    (wrong,) = told_of(plan, folder / "hall/miscabled")
    last = max(spines)
    number = leaf.fabric_ports[-1].number
    assert wrong == (
        f"compute-leaf-01 port {number} to {last} port 1",
        f"it is swapped with compute-leaf-02 port {number} to {last} port 2",
    )


@pytest.mark.parametrize("tunnels", [False, True], ids=["routed", "tunnels"])
def test_switches_born_from_their_files_route_and_survive_a_lost_spine(
    tunnels: bool, root: Path, tmp_path: Path
) -> None:
    plan = hall_of(tmp_path, leaves=4, spines=2, tunnels=tunnels)
    check(plan, lived(root, tmp_path, plan, 600), tmp_path)


@pytest.mark.soak(reason="40 switches and 64 hosts take minutes")
def test_forty_switches_born_from_their_files(root: Path, tmp_path: Path) -> None:
    plan = hall_of(tmp_path, leaves=32, spines=8)
    check(plan, lived(root, tmp_path, plan, 1800), tmp_path)


def test_eos_has_the_lines_that_aristas_own_renderer_writes(tmp_path: Path) -> None:
    python = eos_oracle.python()
    switches = switches_of(tmp_path, for_system("eos"))
    for name in ("compute-leaf-02", "compute-spine-01"):
        theirs = eos_oracle.places(eos_oracle.rendered_by_avd(python, switches[name], tmp_path))
        ours = eos_oracle.places(eos_files(switches[name])["startup-config"])
        # AVD has no word for an account that keys alone open; EOS's is a star.
        account = ("username net-ops privilege 15 role network-admin",)
        assert theirs - {account} == ours - {(f"{account[0]} secret *",)}
