"""Ethernet fabrics as their switches see them by LLDP: perfect ones pass, each fault is named."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import lldp_dumps
from fabric_factories import a_fabric, a_tier, layout_of
from factories import some_nodes
from lldp_dumps import PortName, Seen, seen_by
from rackwright.brownfield.cabling.files import device_of, read_cables
from rackwright.errors import UsageError
from rackwright.plan.fabric.discovered.differences import CableComparison
from rackwright.plan.fabric.discovered.dump import End
from rackwright.plan.fabric.layout import Layout

Form = tuple[Callable[[list[Seen], PortName], str], PortName]

FORMS: dict[str, Form] = {
    "lldpctl json": (lldp_dumps.lldpctl_json, lambda port: f"swp{port}"),
    "lldpctl json0": (lldp_dumps.lldpctl_json0, lambda port: f"swp{port}"),
    "lldpctl text": (lldp_dumps.lldpctl_text, lambda port: f"swp{port}"),
    "parts of ports": (
        lldp_dumps.lldpctl_json,
        lambda port: f"swp{(port + 1) // 2}s{(port + 1) % 2}",
    ),
    "SONiC by lane": (lldp_dumps.sonic_tables, lambda port: f"Ethernet{(port - 1) * 8}"),
    "SONiC of 100G": (lldp_dumps.sonic_tables, lambda port: f"Ethernet{(port - 1) * 4}"),
    "SONiC by slot": (lldp_dumps.sonic_tables, lambda port: f"Eth1/{port}"),
    "NVUE": (lldp_dumps.nvue, lambda port: f"swp{port}"),
    "eAPI": (lldp_dumps.eapi, lambda port: f"Ethernet{port}/1"),
    "eAPI of half ports": (
        lldp_dumps.eapi,
        lambda port: f"Ethernet{(port + 1) // 2}/{1 if port % 2 else 5}",
    ),
    "Junos": (lldp_dumps.lldpctl_text, lambda port: f"et-0/0/{port - 1}"),
    "NX-OS": (lldp_dumps.lldpctl_text, lambda port: f"Ethernet1/{port}"),
}


def ethernet(**more: Any) -> Layout:
    """Sixteen hosts on four leaves and two spines."""
    tiers = [
        a_tier("leaf", 4, type="arista-7060x6-64pe", split=2),
        a_tier("spine", 2, type="arista-7060x6-64pe", split=2),
    ]
    return layout_of(
        a_fabric(tiers=tiers, technology="ethernet", **{"links": [
            {"name": "up", "lower": "leaf", "upper": "spine", "parallel": 8}
        ], **more}),
        groups=[some_nodes(count=16)],
    )  # fmt: skip


def compare(
    layout: Layout,
    folder: Path,
    form: Form,
    *,
    interface: PortName = lambda number: f"rail{number - 1}",
    change: Callable[[dict[End, End]], None] | None = None,
    rates: dict[End, float] | None = None,
    without: tuple[str, ...] = (),
) -> CableComparison:
    """Compare what all switches print with the plan."""
    write, port_name = form
    folder.mkdir(exist_ok=True)
    for device, seen in seen_by(layout, port_name, interface, change, rates).items():
        if device not in without:
            (folder / f"{device}.json").write_text(write(seen, port_name))
    return CableComparison(layout, read_cables(layout, [folder], None))


@pytest.mark.parametrize("form", FORMS)
def test_perfect_fabric_has_no_difference(form: str, tmp_path: Path) -> None:
    compared = compare(ethernet(), tmp_path, FORMS[form])
    assert compared.matched
    assert compared.differences() == ()
    assert (compared.without_rate, compared.without_report, compared.silent) == (0, 0, 0)


@pytest.mark.parametrize("form", FORMS)
def test_each_fault_is_named(form: str, tmp_path: Path) -> None:
    layout = ethernet()

    def faults(cables: dict[End, End]) -> None:
        del cables["dgx-03", 2]
        one, other = ("dgx-05", 1), ("dgx-06", 4)
        cables[one], cables[other] = cables[other], cables[one]
        cables["stranger", 1] = ("compute-leaf-1", 60)

    rates = {("dgx-09", 3): 100.0, ("compute-leaf-2", layout.leaf_ports + 1): 200.0}
    told = compare(layout, tmp_path, FORMS[form], change=faults, rates=rates).differences()
    assert [difference.cable.partition(" to ")[0] for difference in told] == [
        "dgx-03 port 2",
        "dgx-05 port 1",
        "dgx-09 port 3",
        f"compute-leaf-2 port {layout.leaf_ports + 1}",
        "compute-leaf-1 port 60",
    ]
    assert [difference.message.partition("(")[0] for difference in told] == [
        "there is no link",
        "it is swapped with dgx-06 port 4 to compute-leaf-4 port "
        + told[1].message.rpartition(" ")[2],
        "the link runs at 100G ",
        "the link runs at 200G ",
        "it is not in the plan",
    ]


def test_switches_without_a_file_leave_their_cables_unknown(tmp_path: Path) -> None:
    compared = compare(ethernet(), tmp_path, FORMS["NVUE"], without=("compute-leaf-2",))
    assert compared.differences() == ()
    assert compared.without_report == 32


def test_port_that_is_up_without_a_neighbour_is_unknown(tmp_path: Path) -> None:
    layout = ethernet()
    compare(layout, tmp_path, FORMS["NVUE"])
    path = tmp_path / "compute-leaf-1.json"
    ports = json.loads(path.read_text())
    del ports["swp3"]["lldp"]
    path.write_text(json.dumps(ports))
    compared = CableComparison(layout, read_cables(layout, [tmp_path], None))
    assert (compared.differences(), compared.silent) == ((), 1)
    ports["swp3"]["link"]["state"] = {"down": {}}
    path.write_text(json.dumps(ports))
    (told,) = CableComparison(layout, read_cables(layout, [tmp_path], None)).differences()
    assert told.message == "there is no link"


def test_hosts_that_tell_mac_addresses_of_their_ports_are_known_by_the_port_of_the_switch(
    tmp_path: Path,
) -> None:
    mac = "b8:3f:d2:00:00:{:02x}".format
    compared = compare(ethernet(), tmp_path, FORMS["NVUE"], interface=mac)
    assert compared.differences() == ()

    def swapped(cables: dict[End, End]) -> None:
        one, other = ("dgx-05", 1), ("dgx-06", 1)
        cables[one], cables[other] = cables[other], cables[one]

    told = compare(ethernet(), tmp_path, FORMS["NVUE"], interface=mac, change=swapped).differences()
    assert {difference.cable.partition(" port")[0] for difference in told} >= {"dgx-05", "dgx-06"}


def test_adapters_without_a_name_are_unknown_until_their_addresses_are_named(
    tmp_path: Path,
) -> None:
    layout = ethernet()
    compare(layout, tmp_path, FORMS["NVUE"])
    path = tmp_path / "compute-leaf-1.json"
    ports = json.loads(path.read_text())
    ports["swp3"]["lldp"]["neighbor"] = {
        "x": {"chassis": {"chassis-id": "b8:3f:d2:aa:bb:01"}, "port": {"id": "b8:3f:d2:aa:bb:01"}}
    }
    ports["swp3"]["lldp"]["neighbor"]["b8:3f:d2:aa:bb:01"] = ports["swp3"]["lldp"]["neighbor"].pop(
        "x"
    )
    path.write_text(json.dumps(ports))
    compared = CableComparison(layout, read_cables(layout, [tmp_path], None))
    assert (compared.differences(), len(compared.unnamed)) == ((), 1)
    names = tmp_path.parent / "names"
    names.write_text('0xb83fd2aabb01 "dgx-02"\n')
    compared = CableComparison(layout, read_cables(layout, [tmp_path], names))
    assert (compared.differences(), compared.unnamed) == ((), ())


def test_host_is_preferred_to_the_agent_of_its_network_adapter(tmp_path: Path) -> None:
    layout = ethernet()
    compare(layout, tmp_path, FORMS["lldpctl json"])
    path = tmp_path / "compute-leaf-1.json"
    document = json.loads(path.read_text())
    adapter = {
        "via": "LLDP",
        "chassis": {"id": {"type": "mac", "value": "b8:3f:d2:00:00:01"}},
        "port": {"id": {"type": "mac", "value": "b8:3f:d2:00:00:01"}, "ttl": "120"},
    }
    document["lldp"]["interface"] = [
        {name: adapter} for one in document["lldp"]["interface"] for name in one
    ] + document["lldp"]["interface"]
    path.write_text(json.dumps(document))
    assert CableComparison(layout, read_cables(layout, [tmp_path], None)).differences() == ()


def test_table_and_states_of_a_switch_may_be_in_two_files(tmp_path: Path) -> None:
    layout = ethernet()
    name = FORMS["SONiC by lane"][1]
    for device, seen in seen_by(layout, name, lambda number: f"eth{number}").items():
        (tmp_path / f"{device}.lldp.txt").write_text(lldp_dumps.sonic_table(seen, name))
        (tmp_path / f"{device}.interfaces.txt").write_text(lldp_dumps.sonic_status(seen, name))
    compared = CableComparison(layout, read_cables(layout, [tmp_path], None))
    assert (compared.differences(), compared.without_rate) == ((), 0)


def test_one_file_has_all_switches(tmp_path: Path) -> None:
    layout = ethernet()
    name = FORMS["NVUE"][1]
    seen = seen_by(layout, name, lambda number: f"eth{number}")
    path = tmp_path / "all.json"
    path.write_text(
        json.dumps({one: json.loads(lldp_dumps.nvue(its, name)) for one, its in seen.items()})
    )
    assert CableComparison(layout, read_cables(layout, [path], None)).differences() == ()


def test_hosts_alone_tell_their_cables(tmp_path: Path) -> None:
    layout = ethernet(links=[])
    name = FORMS["NVUE"][1]
    by_host: dict[str, list[Seen]] = {}
    for device, cables in seen_by(layout, name, lambda number: str(number)).items():
        for one in cables:
            by_host.setdefault(one.far, []).append(Seen(int(one.far_port), device, name(one.port)))
    for host, cables in by_host.items():
        if host.startswith("dgx"):
            text = lldp_dumps.lldpctl_json(cables, lambda number: f"ens{number}np0")
            (tmp_path / f"{host}.json").write_text(text)
    compared = CableComparison(layout, read_cables(layout, [tmp_path], None))
    assert compared.differences() == ()


@pytest.mark.parametrize(
    ("name", "device"),
    [
        ("leaf-1.json", "leaf-1"),
        ("leaf-1.dc1.example.lldpctl.json0", "leaf-1.dc1.example"),
        ("leaf-1_lldp_neighbors.txt", "leaf-1"),
        ("leaf-1", "leaf-1"),
    ],
)
def test_device_is_named_like_its_file(name: str, device: str) -> None:
    assert device_of(Path("folder") / name) == device


WHOLE = lldp_dumps.lldpctl_json(
    [Seen(1, "dgx-01", "eth0"), Seen(2, "dgx-02", "eth0")], "swp{}".format
)
BROKEN: dict[str, tuple[bytes, str]] = {
    "cut off": (WHOLE[:-20].encode(), "line 1 is no JSON"),
    "text cut off": (
        lldp_dumps.lldpctl_text([Seen(1, "dgx-01", "eth0")], "swp{}".format)
        .partition("  Port:")[0]
        .encode(),
        "the neighbour of swp1 has no PortID: the file is cut off",
    ),
    "UTF-16": (WHOLE.encode("utf-16"), "is UTF-16"),
    "empty": (b" \r\n", "is empty"),
    "compressed": (b"\x1f\x8b\x08\x00\x00", "is no text"),
    "another JSON": (b'{"a": 1}', "it has 'a'"),
    "a list": (b"[1, 2]", "it has no object"),
    "a number": (b"[[1], {}]", "it has no object"),
    "deep": (b"[" * 100_000, "nested too deep"),
    "prose": (b"hello\n", "it lists no neighbour"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_broken_file_is_refused_with_its_cause(case: str, tmp_path: Path) -> None:
    raw, message = BROKEN[case]
    path = tmp_path / "compute-leaf-1.json"
    path.write_bytes(raw)
    with pytest.raises(UsageError, match=message) as error:
        read_cables(ethernet(), [path], None)
    assert str(path) in str(error.value)


@pytest.mark.parametrize("form", ["lldpctl json", "lldpctl text", "SONiC by lane", "eAPI"])
def test_line_ends_and_marks_of_editors_change_nothing(form: str, tmp_path: Path) -> None:
    layout = ethernet()
    compare(layout, tmp_path, FORMS[form])
    for path in tmp_path.iterdir():
        path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
    assert CableComparison(layout, read_cables(layout, [tmp_path], None)).differences() == ()
