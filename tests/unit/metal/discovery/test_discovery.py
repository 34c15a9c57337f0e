"""Controllers with good and bad manners, each to a named state; machines against the blueprint."""

from __future__ import annotations

import json
import socket
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from bmc_emulator import (
    BAD_MANNERS,
    PASSWORD,
    USER,
    Emulator,
    Machine,
    certificates,
    serving,
    with_manners,
)
from cli_support import Ended, run_here
from metal_hall import BLUEPRINT, HOSTS, address_of, layer, machines, plan_of
from rackwright.metal.discovery.discover import Discoverer
from rackwright.metal.discovery.machines import DiscoveredMachine
from rackwright.nodelife.redfish import BmcState, Credentials, Manners, Redfish, tls_context

QUICK = Manners(connect_s=30.0, answer_s=8.0, whole_s=60.0, pause_s=0.01)
STATES: Mapping[str, BmcState] = {
    "500": BmcState.ERRORS,
    "503": BmcState.BUSY,
    "stuck task": BmcState.STUCK_TASK,
    "vanished task": BmcState.VANISHED_TASK,
    "lost address": BmcState.LOST,
    "wrong clock": BmcState.WRONG_CLOCK,
    "wrong model": BmcState.READY,  # the blueprint alone knows which model is right
    "two systems": BmcState.SEVERAL_SYSTEMS,
    "partial inventory": BmcState.PARTIAL,
    "slow": BmcState.SILENT,
    "expired TLS": BmcState.EXPIRED_CERTIFICATE,
    "expired password": BmcState.EXPIRED_PASSWORD,
    "good": BmcState.READY,
}


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def reader(emulator: Emulator, password: str = PASSWORD, manners: Manners = QUICK) -> Discoverer:
    tls = tls_context(str(emulator.ca))
    return Discoverer(
        lambda address: Credentials(USER, password),
        lambda address, known: Redfish(address, emulator.port, known, tls, manners=manners),
        emulator.port,
        manners,
    )


def many(count: int) -> list[Machine]:
    return [
        Machine(
            f"127.10.{number // 250}.{number % 250 + 1}",
            f"SN{number:05}",
            f"b8:3f:d2:{number // 256:02x}:{number % 256:02x}:01",
            expand=number % 8 != 0,
        )
        for number in range(count)
    ]


def test_500_controllers_with_twelve_bad_manners_each_end_in_a_named_state(tmp_path: Path) -> None:
    served = with_manners(many(500), each=5)
    with serving(served, tmp_path, free_port()) as emulator:
        found = reader(emulator).discover([one.address for one in served])
    by_address = {one.address: one for one in found}
    wrong = {
        one.address: (one.manner, by_address[one.address].state, by_address[one.address].reason)
        for one in served
        if by_address[one.address].state is not STATES[one.manner]
    }
    assert wrong == {}
    assert {one.manner for one in served} == {*BAD_MANNERS, "good"}
    assert all(one.reason for one in found if one.state is not BmcState.READY)
    good = [by_address[one.address] for one in served if one.manner == "good"]
    assert {(one.model, one.accelerators, one.memory_gib) for one in good} == {
        ("DGX H100", 8, 2048.0)
    }
    assert {dict(one.firmware)["nic"] for one in good} == {"28.39"}


def test_discovery_changes_nothing_and_leaves_no_session(tmp_path: Path) -> None:
    served = many(20)
    with serving(served, tmp_path, free_port()) as emulator:
        reader(emulator).discover([one.address for one in served])
        assert emulator.changed == []
        assert set(emulator.sessions.values()) == {0}
        assert {method for _, method in emulator.asked} == {"GET", "POST", "DELETE"}


def test_refused_password_is_tried_once_so_that_no_account_is_locked(tmp_path: Path) -> None:
    served = many(1)
    with serving(served, tmp_path, free_port()) as emulator:
        (found,) = reader(emulator, password="wrong").discover([served[0].address])
        assert emulator.asked[served[0].address, "POST"] == 1
    assert found.state is BmcState.REFUSED_PASSWORD
    assert "wrong" not in found.reason


def test_certificate_of_another_authority_gets_no_password(tmp_path: Path) -> None:
    served = many(1)
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    with (
        serving(served, tmp_path / "a", free_port()) as emulator,
        serving(many(2)[1:], tmp_path / "b", free_port()) as other,
    ):
        emulator.ca = other.ca
        (found,) = reader(emulator).discover([served[0].address])
        assert not emulator.asked
    assert found.state is BmcState.UNTRUSTED_CERTIFICATE


@pytest.mark.parametrize(
    ("verify", "state"), [("name", BmcState.OTHER_NAME), ("chain", BmcState.READY)]
)
def test_certificate_without_the_address_is_accepted_by_its_chain_alone(
    verify: str, state: BmcState, tmp_path: Path
) -> None:
    served = many(1)
    with serving(served, tmp_path, free_port(), names=["127.99.0.1"]) as emulator:
        tls = tls_context(str(emulator.ca), verify)
        one = Discoverer(
            lambda address: Credentials(USER, PASSWORD),
            lambda address, known: Redfish(address, emulator.port, known, tls, manners=QUICK),
            emulator.port,
            QUICK,
        )
        assert one.read(served[0].address).state is state


@pytest.fixture
def hall(tmp_path: Path) -> tuple[Path, Path, int]:
    port = free_port()
    return tmp_path, layer(tmp_path, port), port


def discover(hall: tuple[Path, Path, int], served: Mapping[str, Machine], *more: str) -> Ended:
    folder, path, port = hall
    with serving(list(served.values()), folder, port):
        words = ("discover", str(BLUEPRINT), "--layer", str(path), "--answer-within", "30", *more)
        return run_here(folder, *words)


def test_hall_as_planned_gives_a_layer_that_the_blueprint_takes(
    hall: tuple[Path, Path, int],
) -> None:
    folder, path, _ = hall
    ended = discover(hall, machines(), "--output", "found.yaml")
    assert (ended.code, ended.out) == (0, "sjc1: 16 as planned\n"), ended.err
    found = yaml.safe_load((folder / "found.yaml").read_text())["sites"][0]
    assert found["provisioning"]["serials"]["dgx-03"] == "SN0003"
    macs = {network["name"]: network["macs"] for network in found["addresses"]["networks"]}
    assert macs["oob"]["dgx-03-bmc"] == "b8:3f:d2:00:03:01"
    assert "# dgx-03: NVIDIA DGX H100; " in (folder / "found.yaml").read_text()
    plan = plan_of(path, folder / "found.yaml")
    provisioning = plan.onprem[0].spec.provisioning
    assert provisioning is not None
    assert provisioning.serials["dgx-16"] == "SN0016"


def with_change(host: str, **values: object) -> dict[str, Machine]:
    made = machines()
    made[host] = replace(made[host], **values)  # type: ignore[arg-type]
    return made


def test_missing_machine_and_machine_of_another_model_are_named(
    hall: tuple[Path, Path, int],
) -> None:
    served = with_change("dgx-05", manner="wrong model")
    del served["dgx-02"]
    ended = discover(hall, served)
    assert ended.code == 5
    assert "dgx-02: missing: unreachable: nothing answers on port" in ended.out
    assert (
        "dgx-05: other model: it is a 'Dell Inc. PowerEdge R650', but a dgx-h100 is planned\n"
        in ended.out
    )
    assert "sjc1: 14 as planned, 1 missing, 1 other model\n" in ended.out


def test_seven_accelerators_are_named(hall: tuple[Path, Path, int]) -> None:
    ended = discover(hall, with_change("dgx-07", accelerators=7))
    assert ended.code == 5
    assert "dgx-07: other parts: it has 7 accelerators, but 8 are planned\n" in ended.out


def test_machine_that_answers_in_the_place_of_another_is_misplaced(
    hall: tuple[Path, Path, int],
) -> None:
    folder, path, _ = hall
    serials = "".join(f"        {host}: SN{n:04}\n" for n, host in enumerate(HOSTS, 1))
    path.write_text(f"{path.read_text()}      serials:\n{serials}")
    served = machines()
    three, nine = served["dgx-03"], served["dgx-09"]
    served["dgx-03"] = replace(nine, address=three.address, ports=three.ports, rack=None)
    served["dgx-09"] = replace(three, address=nine.address, ports=nine.ports, rack=None)
    ended = discover(hall, served, "--output", "found.yaml")
    assert ended.code == 5
    assert (
        "dgx-03: misplaced: it answers at the address of dgx-09, rack c05; 127.20.0.3 is planned\n"
        in ended.out
    )
    # Which of both is wrong, the hall or the blueprint, is not decided here.
    assert "dgx-03:" not in (folder / "found.yaml").read_text()


def test_controller_that_was_told_another_rack_is_misplaced(hall: tuple[Path, Path, int]) -> None:
    ended = discover(hall, with_change("dgx-01", rack="c08"))
    assert "dgx-01: misplaced: its controller names rack 'c08', but c01 is planned\n" in ended.out


def test_swapped_cables_are_named_at_their_host(hall: tuple[Path, Path, int]) -> None:
    ports = list(machines()["dgx-04"].ports)
    (mac_1, far_1), (mac_2, far_2) = ports[0], machines()["dgx-06"].ports[0]
    served = with_change("dgx-04", ports=((mac_1, far_2), *ports[1:]))
    other = served["dgx-06"]
    served["dgx-06"] = replace(other, ports=((mac_2, far_1), *other.ports[1:]))
    ended = discover(hall, served)
    assert ended.code == 5
    assert "dgx-04: miscabled: " in ended.out, ended.out
    assert "dgx-06: miscabled: " in ended.out
    assert "14 as planned, 2 miscabled" in ended.out


def test_two_machines_with_one_ethernet_address_are_twins(hall: tuple[Path, Path, int]) -> None:
    ended = discover(hall, with_change("dgx-08", bmc_mac="b8:3f:d2:00:02:01"), "--json")
    assert ended.code == 5
    found = {one["host"]: one for one in json.loads(ended.out)["machines"]}
    for host, other in (("dgx-02", "dgx-08"), ("dgx-08", "dgx-02")):
        assert found[host]["state"] == "twin"
        reason = f"Ethernet address b8:3f:d2:00:02:01 is shared with {address_of(other)}"
        assert found[host]["problems"][0]["reason"] == reason


def test_machine_that_no_host_has_is_extra(hall: tuple[Path, Path, int]) -> None:
    served = machines()
    served["more"] = replace(served["dgx-01"], address="127.20.0.40", serial="SN9", rack=None,
                             bmc_mac="b8:3f:d2:09:00:01", interfaces=(), ports=())  # fmt: skip
    ended = discover(hall, served, "--range", "127.20.0.1-127.20.0.63")
    assert ended.code == 5
    assert (
        "127.20.0.40: extra: no host of the blueprint has this machine, at 127.20.0.40\n"
        in ended.out
    )


def test_controllers_that_cannot_be_read_are_unknown_and_not_missing(
    hall: tuple[Path, Path, int],
) -> None:
    served = with_change("dgx-01", password="another")
    served["dgx-02"] = replace(served["dgx-02"], manner="500")
    ended = discover(hall, served)
    assert ended.code == 6
    assert "dgx-01: unreadable: password refused: the user 'ops' cannot log in (401)\n" in ended.out
    assert "dgx-02: unreadable: answers with errors: " in ended.out


def test_other_firmware_is_named_and_is_no_difference_of_machines(tmp_path: Path) -> None:
    port = free_port()
    firmware = "operations: {firmware: [{type: dgx-h100, versions: {bios: r1, nic: r9}}]}\n"
    path = layer(tmp_path, port, operations=firmware)
    ended = discover((tmp_path, path, port), machines())
    assert ended.code == 0
    assert "dgx-01: firmware: nic is 28.39, but r9 is planned\n" in ended.out


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda folder: (folder / "bmc-password").chmod(0o644), ("others can read", "chmod 600")),
        (
            lambda folder: (folder / "bmc-password").write_text("a\nb\n"),
            ("no password of one line",),
        ),
        (lambda folder: (folder / "bmc-password").unlink(), ("cannot be read",)),
    ],
)
def test_password_that_others_can_read_is_refused(
    hall: tuple[Path, Path, int], change: object, words: tuple[str, ...]
) -> None:
    change(hall[0])  # type: ignore[operator]
    ended = run_here(hall[0], "discover", str(BLUEPRINT), "--layer", str(hall[1]))
    ended.refused(*words)


def test_range_in_which_nothing_answers_is_not_as_planned(hall: tuple[Path, Path, int]) -> None:
    folder, path, _ = hall
    certificates(folder, ["127.9.9.1"])
    words = ("discover", str(BLUEPRINT), "--layer", str(path), "--range", "127.9.9.1-127.9.9.3")
    assert run_here(folder, *words).code == 3
    # Hosts whose controllers have no address may be anywhere.
    text = path.read_text()
    addresses, provisioning = text.index("    addresses:"), text.index("    provisioning:")
    path.write_text(text[:addresses] + text[provisioning:])
    ended = run_here(folder, *words)
    assert (ended.code, ended.out.count(": missing: its controller was not found")) == (5, 16)


def test_local_ethernet_addresses_make_no_twins() -> None:
    usb = "02:00:00:00:00:01"
    one = DiscoveredMachine("10.0.0.1", BmcState.READY, serial="a", mac=usb)
    assert one.macs == frozenset()
