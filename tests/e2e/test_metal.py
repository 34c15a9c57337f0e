"""Bare metal against what others have written: sushy-tools, simhall and Ironic of PyPI."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import node_life
import simhall_hall
from bmc_emulator import PASSWORD, USER, certificates
from fabric_factories import a_fabric, a_tier, layout_of
from factories import some_nodes
from metal_hall import BLUEPRINT, layer, plan_of
from metal_machines import IronicMachine, environment, fake_system, fronts, sushy
from rackwright.metal.discovery.access import ControllerAccess
from rackwright.metal.discovery.compare import MachineState, Matched, compare
from rackwright.metal.discovery.discover import Discoverer
from rackwright.metal.discovery.expected import ExpectedMachine, expected_machines
from rackwright.metal.discovery.machines import DiscoveredMachine
from rackwright.metal.ironic import Ironic
from rackwright.metal.journal import open_journal
from rackwright.metal.lifecycle import ProvisioningStep
from rackwright.metal.nodes import host_plans
from rackwright.metal.reconcile import Reconciler, rehearsed
from rackwright.metal.waves import PowerLimits
from rackwright.nodelife.redfish import BmcState, Manners
from rackwright.nodelife.repair.bmc import Bmc, BmcAccess, BmcPoller
from rackwright.nodelife.repair.journal import Journal
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
    access = ControllerAccess(
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


def test_leak_of_simhall_is_a_fault_of_its_node_alone(simhall: Path, tmp_path: Path) -> None:
    layout = one_tier()
    hosts = layout.hosts[0].names
    faults: list[Mapping[str, Any]] = [
        {"kind": "coolant_leak", "node": "dgx-3"},
        {"kind": "unreachable_node", "node": "dgx-4", "mode": "http_500"},
    ]
    hall = simhall_hall.hall_of(layout, "nvidia", faults)
    upstream, port = free_port(), free_port()
    at = dict(zip(hosts, (f"127.20.1.{n}" for n in range(1, 9)), strict=True))
    (tmp_path / "password").write_text(PASSWORD)
    (tmp_path / "password").chmod(0o600)
    access = {
        host: BmcAccess(url=f"http://{at[host]}:{port}", user=USER, password_file="password")
        for host in hosts
    }
    poller = BmcPoller({host: Bmc(host, one, tmp_path) for host, one in access.items()})
    with (
        simhall_hall.serving(simhall, hall, tmp_path, upstream),
        fronts(port, upstream, {at[host]: f"/dev/{host}" for host in hosts}, USER, PASSWORD),
    ):
        found = list(poller.events(node_life.TABLE, Journal(node_life.open_journal()), 1.0))
    told = {(node, event.fault) for node, event in found}
    assert told == {("dgx-3", "coolant-leak"), ("dgx-4", "bmc-silent")}
    assert set(poller.problems) == {"dgx-4"}


IMAGE = "sha256:" + "cd" * 32


def rehearsal(folder: Path, url: str, *, macs: str = "", more: str = "") -> list[str]:
    """Return the arguments that rehearse the hall at an Ironic, 16 hosts in eight racks."""
    path = folder / "rehearsal.yaml"
    path.write_text(f"""\
sites:
  - name: sjc1
    addresses:
      domain: sjc1.example.com
      networks:
        - {{name: mgmt, kind: management, prefix: 10.20.0.0/24, ranges: [{{of: dgx, first: 10.20.0.10}}]{macs}}}
    provisioning:
      bmc: {{user: {USER}, password_file: {folder}/none}}
      engine: {{url: "{url}", driver: fake-hardware}}
      images: [{{name: ubuntu, url: "http://127.0.0.1:1/ubuntu.raw", checksum: "{IMAGE}"}}]
      groups: [{{group: dgx, image: ubuntu}}]
      power_on: {{together: 6, per_rack: 1}}
{more}""")
    return ["provision", str(BLUEPRINT), "--layer", str(path), "--until", "imaged", "--poll", "0.3"]


def command(folder: Path, words: list[str]) -> subprocess.Popen[str]:
    """Start ``rackwright`` with a state folder of its own."""
    environment = {**os.environ, "XDG_STATE_HOME": str(folder / "state-home")}
    return subprocess.Popen(
        [sys.executable, "-m", "rackwright", *words],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment, cwd=folder,
    )  # fmt: skip


def ended(folder: Path, words: list[str]) -> tuple[int, str, str]:
    """Run ``rackwright``, and return exit code and streams."""
    process = command(folder, words)
    out, err = process.communicate(timeout=900)
    return process.returncode, out, err


@pytest.fixture
def ironic(tmp_path: Path) -> IronicMachine:
    folder = tmp_path / "ironic"
    folder.mkdir()
    made = IronicMachine(folder, free_port())
    made.prepare()
    return made


def test_sixteen_hosts_go_through_a_real_ironic_although_the_run_is_killed_again_and_again(
    ironic: IronicMachine, tmp_path: Path
) -> None:
    words = rehearsal(tmp_path, ironic.url)
    with ironic.running():
        for lines in (1, 5, 9, 13, 20, 28):
            process = command(tmp_path, words)
            assert process.stderr is not None
            for _, line in zip(range(lines), process.stderr, strict=False):
                assert "Traceback" not in line
            process.kill()  # in the middle of what it does
            process.communicate(timeout=300)
        code, out, err = ended(tmp_path, words)
        assert code == 0, err
        assert out.count(": imaged\n") == 16
        changes = ironic.changes()
        nodes = Ironic(ironic.url).nodes()
    assert {node.provision_state for node in nodes.values()} == {"active"}
    assert {node.instance_info["image_os_hash_value"] for node in nodes.values()} == {"cd" * 32}
    assert changes["POST", "/v1/nodes"] == 16
    assert {changes["PUT", f"/v1/nodes/{name}/states/provision"] for name in nodes} == {4}


def test_conductor_that_is_killed_while_it_installs_costs_one_more_try(
    ironic: IronicMachine, tmp_path: Path
) -> None:
    text = (ironic.folder / "ironic.conf").read_text()
    (ironic.folder / "ironic.conf").write_text(
        text.replace("deploy_delay = 1", "deploy_delay = 20")
    )
    words = [*rehearsal(tmp_path, ironic.url), "--hosts", "dgx-[01-02]"]
    with ironic.running() as engine:
        process = command(tmp_path, words)
        assert process.stderr is not None
        for line in process.stderr:
            if "cleaned" in line:
                break
        until = time.monotonic() + 600
        while "deploying" not in {n.provision_state for n in Ironic(ironic.url).nodes().values()}:
            assert time.monotonic() < until
        engine.kill()
        _, err = process.communicate(timeout=300)
        assert process.returncode == 4, err  # Ironic does not answer: nothing is known of the hosts
    (ironic.folder / "ironic.conf").write_text(text)
    with ironic.running():
        code, _, err = ended(tmp_path, words)
        assert code == 0, err


def test_two_hosts_with_one_ethernet_address_are_refused_by_name(
    ironic: IronicMachine, tmp_path: Path
) -> None:
    words = rehearsal(tmp_path, ironic.url, macs=', macs: {dgx-01: "b8:3f:d2:00:00:01"}')
    with ironic.running():
        assert ended(tmp_path, [*words, "--hosts", "dgx-01"])[0] == 0
        words = rehearsal(tmp_path, ironic.url, macs=', macs: {dgx-02: "b8:3f:d2:00:00:01"}')
        code, out, _ = ended(tmp_path, [*words, "--hosts", "dgx-02"])
        nodes = Ironic(ironic.url).nodes()
    assert code == 5
    assert "dgx-02: not started; not enrolled: 'POST /v1/ports' was answered with 409: " in out
    assert nodes["dgx-02"].provision_state == "enroll"


@pytest.mark.parametrize("password", [PASSWORD, "wrong"])
def test_ironic_reaches_a_controller_over_tls_of_the_stated_authority(
    password: str, ironic: IronicMachine, tmp_path: Path
) -> None:
    certificates(tmp_path, ["127.20.0.1"])
    port = free_port()
    plan = plan_of(layer(tmp_path, port, f"""\
      engine: {{url: "{ironic.url}"}}
      images: [{{name: ubuntu, url: "http://127.0.0.1:1/ubuntu.raw", checksum: "{IMAGE}"}}]
      groups: [{{group: dgx, image: ubuntu}}]
"""))  # fmt: skip
    (site,) = plan.onprem
    provisioning = site.provisioning
    assert provisioning is not None
    hosts = host_plans(site, provisioning, expected_machines(plan, site), {})[:1]
    with (
        ironic.running(),
        sushy(tmp_path, port, [fake_system(1, "dgx-01")], USER, PASSWORD),
        open_journal(tmp_path / "journal.sqlite", "sjc1", time.time) as journal,
    ):
        outcome = Reconciler(
            cluster=plan.name,
            plans=hosts,
            provisioning=provisioning,
            ironic=Ironic(ironic.url),
            journal=journal,
            read=rehearsed,  # the fake driver has no serial number and no processors to compare
            run_on_hosts=lambda act, plans: {},
            passwords=lambda plan: password,
            restart=lambda plan: None,
            limits=PowerLimits(1),
            until=ProvisioningStep.INSPECTED,
            poll_s=0.5,
        ).run()
        logs = "".join(path.read_text() for path in (ironic.folder / "log").iterdir())
    step, reason = outcome.failed["dgx-01"]
    assert password not in reason
    assert password not in logs or password == "wrong"  # the word is in other sentences
    if password == "wrong":
        assert step == "enrolled"
        assert "manage failed 3 times" in reason
    else:
        # Redfish inspection needs processors, which the fake machines of sushy-tools lack.
        assert (step, "inspect failed 3 times" in reason) == ("inspected", True)
