"""An entry made of NetBox's device type says what that says, and nothing more."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import pytest
import yaml

from known import known
from rackwright.catalog.netbox import import_device, render
from rackwright.catalog.netbox_ports import cage_of, rate_of
from rackwright.errors import SpecErrors, UsageError
from rackwright.model.hardware import Node, Pdu, Switch, fact_value
from rackwright.model.plant import Cdu
from rackwright.model.racks import RackType
from rackwright.reading.loader import load_text

DAY = date(2026, 11, 23)
LIBRARY = Path(__file__).parent / "device_types"
"""Files of NetBox's library as they are there; where they come from stands in the folder's README."""
SERVER: dict[str, Any] = {
    "manufacturer": "Acme",
    "model": "A-8125",
    "slug": "acme-a-8125",
    "u_height": 8,
    "is_full_depth": True,
    "weight": 166.4,
    "weight_unit": "lb",
    "airflow": "front-to-rear",
    "console-ports": [{"name": "COM", "type": "de-9"}],
    "power-ports": [
        {"name": f"PSU{n}", "type": "iec-60320-c20", "maximum_draw": 3000} for n in range(6)
    ],
    "interfaces": [
        {"name": "ipmi", "type": "1000base-t", "mgmt_only": True},
        *({"name": f"eth{n}", "type": "400gbase-x-osfp"} for n in range(8)),
    ],
}
ROLES = {"400gbase-x-osfp": "compute"}


def write(folder: Path, **changes: Any) -> Path:
    path = folder / "device.yaml"
    document = {key: value for key, value in {**SERVER, **changes}.items() if value is not None}
    path.write_text(yaml.safe_dump(document), encoding="utf-8")
    return path


def test_a_server(tmp_path: Path) -> None:
    made = import_device(write(tmp_path), "nodes", roles=ROLES, day=DAY, title="Library, 7d1f")
    node = made.entry
    assert isinstance(node, Node)
    assert (node.id, node.vendor, node.name) == ("acme-a-8125", "Acme", "A-8125")
    assert node.height is not None
    assert node.height.value == 8.0
    assert node.weight is not None
    assert node.weight.value == pytest.approx(75.478, abs=0.001)  # 166.4 × 0.45359237
    assert node.power_supplies is not None
    assert (node.power_supplies.count, node.power_supplies.inlet) == (6, "C20")
    assert node.power_supplies.rating is not None
    assert node.power_supplies.rating.value == 3000.0
    assert [(p.role, p.count, p.rate.value, p.technology, p.cage) for p in node.ports] == [
        ("management", 1, 1.0, "ethernet", None),
        ("compute", 8, 400.0, "ethernet", "OSFP"),
    ]
    assert node.airflow_direction == "front-to-back"
    (source,) = node.sources.values()
    assert (source.title, source.date, source.confidence) == ("Library, 7d1f", DAY, "secondary")


def test_what_it_does_not_know_is_left_out_and_listed(tmp_path: Path) -> None:
    """What a port may draw is not what the device draws."""
    made = import_device(write(tmp_path), "nodes", day=DAY)
    assert isinstance(made.entry, Node)
    assert made.entry.max_power is None
    assert {"max_power", "heat", "depth", "accelerators", "host_memory"} <= set(made.lacks)
    assert made.left == (
        (
            "interfaces: 8 of type '400gbase-x-osfp' have no role; "
            "'--role 400gbase-x-osfp=compute' (or storage, management) takes them"
        ),
        "console-ports: it has no counterpart",
    )
    assert made.entry.full_depth is True
    assert (
        import_device(write(tmp_path, is_full_depth=False), day=DAY).document["full_depth"] is False
    )


@pytest.mark.parametrize(
    ("changes", "left"),
    [
        ({"weight_unit": None}, "weight: it has no 'weight_unit'"),
        ({"u_height": 0}, "u_height: it is 0"),
        ({"airflow": "mixed"}, "airflow: 'mixed' is none of"),
        (
            {
                "power-ports": [
                    {"name": "a", "type": "iec-60320-c20"},
                    {"name": "b", "type": "iec-60320-c14"},
                ]
            },
            "power-ports: 2 of iec-60320-c14, iec-60320-c20",
        ),
        ({"power-ports": [{"name": "a"}]}, "power-ports: 1 of None"),
        (
            {
                "power-ports": [
                    {"name": "a", "type": "iec-60320-c20", "maximum_draw": 1},
                    {"name": "b", "type": "iec-60320-c20"},
                ]
            },
            "power-ports.maximum_draw: it is not the same",
        ),
        (
            {"interfaces": [{"name": "a", "type": "other", "mgmt_only": True}]},
            "interfaces: the rate of type 'other' is not known",
        ),
    ],
)
def test_what_has_no_exact_meaning_is_left_out(
    tmp_path: Path, changes: dict[str, Any], left: str
) -> None:
    made = import_device(write(tmp_path, **changes), "nodes", day=DAY)
    assert any(line.startswith(left) for line in made.left), made.left
    assert isinstance(made.entry, Node)


@pytest.mark.parametrize(
    ("weight", "unit", "kilograms"),
    [(7, "kg", 7.0), (7000, "g", 7.0), (1, "lb", 0.45359237), (32, "oz", 0.90718474)],
)
def test_weights(tmp_path: Path, weight: float, unit: str, kilograms: float) -> None:
    made = import_device(write(tmp_path, weight=weight, weight_unit=unit), "nodes", day=DAY).entry
    assert isinstance(made, Node)
    assert made.weight is not None
    assert made.weight.value == pytest.approx(kilograms)


def test_a_switch(tmp_path: Path) -> None:
    ports: list[dict[str, Any]] = [{"name": f"p{n}", "type": "infiniband-ndr"} for n in range(64)]
    ports += [{"name": "m", "type": "1000base-t", "mgmt_only": True}]
    ports += [{"name": f"Uplink {n}", "type": "infiniband-hdr"} for n in range(2)]
    made = import_device(write(tmp_path, interfaces=ports), "switches", day=DAY).entry
    assert isinstance(made, Switch)
    assert (made.technology, made.radix, made.rate.value) == ("infiniband", 64, 400.0)
    assert made.uplinks is not None
    assert (made.uplinks.count, made.uplinks.rate.value) == (2, 200.0)


def test_a_server_of_the_library() -> None:
    path = LIBRARY / "AS-8125GS-TNMR2.yml"
    made = import_device(path, "nodes", roles={"400gbase-x-qsfp112": "compute"}, day=DAY)
    node = made.entry
    assert isinstance(node, Node)
    assert (node.id, node.vendor) == ("supermicro-as-8125gs-tnmr2", "Supermicro")
    assert (fact_value(node.height), fact_value(node.weight)) == (8, 75.3)
    assert node.airflow_direction == "front-to-back"
    supplies = known(node.power_supplies)
    assert (supplies.count, supplies.inlet, fact_value(supplies.rating)) == (6, "C20", 3000)
    assert [(p.role, p.count, p.rate.value, p.cage) for p in node.ports] == [
        ("management", 1, 1, None),
        ("compute", 10, 400, "QSFP112"),
    ]
    assert made.left[1:3] == (
        "interfaces: the rate of type 'virtual' is not known",
        (
            "interfaces: 2 of type '10gbase-t' have no role; "
            "'--role 10gbase-t=compute' (or storage, management) takes them"
        ),
    )


def test_a_server_of_the_library_without_fabric_ports() -> None:
    made = import_device(LIBRARY / "AS-4126GS-NMR-LCC.yml", "nodes", day=DAY)
    node = made.entry
    assert isinstance(node, Node)
    assert (fact_value(node.height), fact_value(node.weight)) == (4, 53)
    supplies = known(node.power_supplies)
    assert (supplies.count, supplies.inlet, fact_value(supplies.rating)) == (4, "C20", 6600)
    assert [(p.role, p.count, p.rate.value) for p in node.ports] == [("management", 1, 1)]
    assert "liquid" in made.lacks


def test_a_switch_of_the_library() -> None:
    made = import_device(LIBRARY / "SN5600.yaml", "switches", day=DAY)
    switch = made.entry
    assert isinstance(switch, Switch)
    assert (switch.id, switch.technology) == ("nvidia-sn5600", "ethernet")
    assert (switch.radix, switch.rate.value) == (64, 800)
    assert (fact_value(switch.height), fact_value(switch.weight)) == (2, 23.5)
    assert switch.airflow_direction == "back-to-front"
    assert "power_supplies" in made.lacks, "its supplies are bays of modules there"


def test_what_is_no_switch(tmp_path: Path) -> None:
    path = write(tmp_path, interfaces=[])
    with pytest.raises(SpecErrors, match=r"device\.yaml:1:1: the device has no interface"):
        import_device(path, "switches", day=DAY)


@pytest.mark.parametrize(
    ("kind", "rate", "cage"),
    [
        ("1000base-t", ("1000 Mbps", "ethernet"), None),
        ("25gbase-x-sfp28", ("25 Gbps", "ethernet"), "SFP28"),
        ("100gbase-x-qsfp28", ("100 Gbps", "ethernet"), "QSFP28"),
        ("800gbase-x-osfp", ("800 Gbps", "ethernet"), "OSFP"),
        ("infiniband-xdr", ("800 Gbps", "infiniband"), None),
        ("2.5gbase-t", None, None),
        ("ndr", None, None),
        ("virtual", None, None),
    ],
)
def test_types_of_interfaces(kind: str, rate: tuple[str, str] | None, cage: str | None) -> None:
    assert rate_of(kind) == rate
    assert cage_of(kind) == cage


@pytest.mark.parametrize(
    ("others", "uplinks"),
    [
        ([("Ethernet33", "10gbase-x-sfpp"), ("Ethernet34", "10gbase-x-sfpp")], None),
        ([("Uplink 1", "10gbase-x-sfpp"), ("Uplink 2", "10gbase-x-sfpp")], (2, 10)),
        ([(f"Ethernet{n}", "800gbase-x-osfp") for n in range(4)], (4, 800)),
    ],
)
def test_uplinks_are_ports_that_are_called_so_or_are_faster(
    tmp_path: Path, others: list[tuple[str, str]], uplinks: tuple[int, float] | None
) -> None:
    ports = [{"name": f"Ethernet{n}", "type": "400gbase-x-qsfpdd"} for n in range(32)]
    ports += [{"name": name, "type": kind} for name, kind in others]
    made = import_device(write(tmp_path, interfaces=ports), day=DAY)
    switch = made.entry
    assert isinstance(switch, Switch)
    found = None if switch.uplinks is None else (switch.uplinks.count, switch.uplinks.rate.value)
    assert (switch.radix, found) == (32, uplinks)
    told = "interfaces: 2 of type '10gbase-x-sfpp' are neither the most nor uplinks"
    assert (told in made.left) == (uplinks is None)


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        (
            {"power-outlets": [{"name": "1", "type": "iec-60320-c13"}]},
            "it is a PDU with 1 outlet: a device type does not state voltage, current, phases and wiring",
        ),
        (
            {"model": "LCS-SCDU-250L"},
            "it is a CDU: a device type does not state the heat that it takes",
        ),
        ({"model": "CRV In-Row 20"}, "it is a cooling unit"),
        ({"model": "Rack ATS 30A", "interfaces": None}, "it is a part of the power supply"),
        ({"model": "Smart-UPS 3000", "power-outlets": [{"name": "1"}]}, "it is a UPS"),
        ({"model": "Sentry CDU", "power-outlets": [{"name": "1"}]}, "it is a PDU with 1 outlet"),
        (
            {"interfaces": None, "front-ports": [{"name": "1", "type": "8p8c"}]},
            "it is a patch panel, and not a product we know",
        ),
        (
            {"interfaces": None, "power-ports": None},
            "it has no interface, and is not a product we know",
        ),
        (
            {"is_powered": False, "interfaces": None, "module-bays": [{"name": "a"}]},
            "it takes no power",
        ),
        ({"subdevice_role": "child", "u_height": 0}, "it is a part of a chassis"),
        (
            {"u_height": None, "slug": None, "is_full_depth": None, "interfaces": None},
            "it is a module type",
        ),
        ({"u_height": None, "slug": None, "is_full_depth": None}, "it is a module type"),
        ({"device-bays": [{"name": "1"}, {"name": "2"}]}, "it is a chassis with 2 bays"),
    ],
)
def test_what_is_no_node_is_refused_as_what_it_is(
    tmp_path: Path, changes: dict[str, Any], why: str
) -> None:
    with pytest.raises(SpecErrors) as caught:
        import_device(write(tmp_path, **changes), day=DAY)
    (error,) = caught.value.errors
    assert error.summary.startswith(why)
    assert error.hint


def test_port_for_management_is_none_of_the_radix(tmp_path: Path) -> None:
    ports = [
        {"name": f"sw{n}p{side}", "type": "infiniband-xdr"} for n in range(1, 73) for side in (1, 2)
    ]
    ports += [{"name": "fnm1", "type": "infiniband-xdr"}, {"name": "eth0", "type": "1000base-t"}]
    made = import_device(write(tmp_path, model="Q3400", interfaces=ports), day=DAY)
    assert isinstance(made.entry, Switch)
    assert (made.entry.radix, made.entry.rate.value) == (144, 800)
    assert "interfaces: 'fnm1' is for management" in made.left


def test_port_that_is_described_as_one_for_management_is_none_of_the_radix(tmp_path: Path) -> None:
    """NetBox's SN2201 marks its eth0 by a description alone, and got a radix of 49."""
    ports: list[dict[str, Any]] = [{"name": n, "type": "1000base-t"} for n in range(1, 49)]
    ports += [{"name": "eth0", "type": "1000base-t", "description": "Management"}]
    ports += [{"name": "mgmt-1/1/1", "type": "1000base-t", "description": 1}]
    made = import_device(write(tmp_path, model="SN2201", interfaces=ports), day=DAY).entry
    assert isinstance(made, Switch)
    assert made.radix == 48


def test_equal_numbers_of_ports_are_led_by_the_faster_ones(tmp_path: Path) -> None:
    ports = [{"name": f"a{n}", "type": "1000base-t"} for n in range(24)]
    ports += [{"name": f"b{n}", "type": "10gbase-x-sfpp"} for n in range(24)]
    made = import_device(write(tmp_path, model="X24", interfaces=ports), day=DAY).entry
    assert isinstance(made, Switch)
    assert (made.rate.value, made.uplinks) == (10, None)


def test_family_of_servers_with_many_ports_is_a_node(tmp_path: Path) -> None:
    ports = [{"name": f"Ethernet1/{n}", "type": "100gbase-x-qsfp28"} for n in range(1, 29)]
    assert (
        import_device(write(tmp_path, model="DGX A100", interfaces=ports), day=DAY).folder
        == "nodes"
    )
    named = write(tmp_path, model="ThinkSystem NE1 RackSwitch", interfaces=ports)
    assert import_device(named, day=DAY).folder == "switches"


def test_tray_without_an_inlet_is_no_server_unless_it_is_called_one(tmp_path: Path) -> None:
    path = write(tmp_path, **{"is_powered": False, "power-ports": None})
    with pytest.raises(SpecErrors, match="it has no power inlet of its own") as caught:
        import_device(path, day=DAY)
    assert "the product of the rack" in str(caught.value.errors[0].hint)
    assert import_device(path, "nodes", day=DAY).folder == "nodes"


FAST_PORTS = [{"name": f"port{number}", "type": "10gbase-x-sfpp"} for number in range(24)]


@pytest.mark.parametrize(
    "changes",
    [
        {"model": "FortiGate 1800F"},
        {"model": "PA-5220"},
        {"model": "NSa 4700"},
        {
            "model": "OM2224-24E",
            "console-server-ports": [{"name": f"{n}", "type": "rj-45"} for n in range(24)],
        },
    ],
)
def test_firewall_or_console_server_with_many_ports_is_no_switch(
    tmp_path: Path, changes: dict[str, Any]
) -> None:
    path = write(tmp_path, interfaces=FAST_PORTS, **changes)
    with pytest.raises(SpecErrors, match="it has the ports of a switch and is none"):
        import_device(path, day=DAY)
    assert import_device(path, "switches", day=DAY).folder == "switches"


def test_console_that_is_listed_as_a_server_of_consoles_makes_a_switch_no_other(
    tmp_path: Path,
) -> None:
    path = write(
        tmp_path,
        model="X24",
        interfaces=FAST_PORTS,
        **{"console-server-ports": [{"name": "Console"}]},
    )
    assert import_device(path, day=DAY).folder == "switches"


def test_chassis_has_the_hosts_that_are_stated(tmp_path: Path) -> None:
    path = write(tmp_path, **{"device-bays": [{"name": "1"}, {"name": "2"}]})
    made = import_device(path, facts={"hosts": "2"}, day=DAY).entry
    assert isinstance(made, Node)
    assert made.hosts == 2


ROUTER = [{"name": f"ge-0/0/{number}", "type": "1000base-t"} for number in range(8)]


@pytest.mark.parametrize(
    "changes",
    [
        {"model": "SRX320", "interfaces": ROUTER},
        {"model": "2930F 8G", "interfaces": [*ROUTER, {"name": "oobm", "type": "1000base-t", "mgmt_only": True}]},
        {"model": "U6-Pro", "interfaces": ROUTER[:1], "power-ports": None},
    ],
)  # fmt: skip
def test_device_without_a_sign_of_a_server_is_no_node(
    tmp_path: Path, changes: dict[str, Any]
) -> None:
    path = write(tmp_path, **changes)
    with pytest.raises(SpecErrors) as caught:
        import_device(path, day=DAY)
    (error,) = caught.value.errors
    assert error.summary.startswith("nothing in it says that it is a server")
    assert "--kind nodes" in (error.hint or "")
    assert import_device(path, "nodes", day=DAY).folder == "nodes"


@pytest.mark.parametrize(
    "changes",
    [
        {"interfaces": [*ROUTER, {"name": name, "type": "1000base-t", "mgmt_only": True}]}
        for name in ("iDRAC", "iLO", "IPMI", "BMC", "XCC", "CIMC")
    ]
    + [{"model": name, "interfaces": ROUTER} for name in ("PowerEdge R200", "SYS-1019P-WTR")],
)
def test_server_is_told_by_its_controller_or_its_family(
    tmp_path: Path, changes: dict[str, Any]
) -> None:
    assert import_device(write(tmp_path, **changes), day=DAY).folder == "nodes"


def test_rack_type_is_a_rack(tmp_path: Path) -> None:
    path = tmp_path / "rack.yaml"
    rack = {
        "manufacturer": "Acme", "model": "R48", "slug": "acme-r48", "form_factor": "4-post-cabinet", "width": 19,
        "u_height": 48, "outer_width": 800, "outer_depth": 1200, "outer_unit": "mm", "weight": 180,
        "max_weight": 1814, "weight_unit": "kg",
    }  # fmt: skip
    path.write_text(yaml.safe_dump(rack), "utf-8")
    made = import_device(path, day=DAY)
    assert isinstance(made.entry, RackType)
    assert (made.folder, made.entry.height.value, made.entry.width.value) == ("racks", 48, 0.8)
    assert (made.entry.depth.value, fact_value(made.entry.weight)) == (1.2, 180)
    assert fact_value(made.entry.static_rating) == 1814
    path.write_text(yaml.safe_dump({**rack, "outer_width": None}), "utf-8")
    with pytest.raises(SpecErrors, match="it is a rack: a device type does not state") as caught:
        import_device(path, day=DAY)
    assert "--fact 'width=600 mm'" in str(caught.value.errors[0].hint)
    made = import_device(path, facts={"width": "600 mm"}, day=DAY)
    assert isinstance(made.entry, RackType)
    assert (made.entry.width.value, made.entry.depth.value) == (0.6, 1.2)


PDU: dict[str, Any] = {
    "manufacturer": "Acme",
    "model": "P22",
    "slug": "acme-p22",
    "u_height": 0,
    "is_full_depth": False,
    "power-ports": [{"name": "in", "type": "iec-60309-3p-n-e-6h", "maximum_draw": 22000}],
    "power-outlets": [
        {"name": "d", "type": "eaton-c39"},
        *({"name": f"a{n}", "type": "iec-60320-c19"} for n in range(12)),
        *({"name": f"b{n}", "type": "iec-60320-c13"} for n in range(30)),
        {"name": "c", "type": "nema-5-15r"},
    ],
}
INPUT = {"voltage": "400 V", "current": "32 A", "phases": "3", "wiring": "wye"}


def test_pdu_is_one_with_the_input_that_the_data_sheet_states(tmp_path: Path) -> None:
    path = tmp_path / "pdu.yaml"
    path.write_text(yaml.safe_dump(PDU))
    with pytest.raises(SpecErrors) as caught:
        import_device(path, facts={"voltage": "400 V"}, day=DAY)
    (error,) = caught.value.errors
    assert error.summary.startswith("it is a PDU with 44 outlets")
    words = "--fact 'current=32 A' --fact 'phases=3' --fact 'wiring=wye'; its plug is 'iec-60309-3p-n-e-6h'"
    assert words in (error.hint or "")
    made = import_device(path, facts={**INPUT, "C19": "16 A"}, day=DAY)
    pdu = made.entry
    assert isinstance(pdu, Pdu)
    assert (pdu.voltage.value, pdu.current.value, pdu.phases, pdu.wiring) == (400, 32, 3, "wye")
    assert [(one.type, one.count, one.rating.value) for one in pdu.outlets or ()] == [
        ("C19", 12, 16)
    ]
    assert fact_value(pdu.height) == 0
    assert {name: source.title for name, source in pdu.sources.items()} == {
        "netbox": "NetBox device type 'acme-p22'",
        "stated": "Stated at the import of 'acme-p22'",
    }
    assert (
        "power-outlets: 1 of type 'eaton-c39'; --fact 'C39=10 A' states the rating of one"
        in made.left
    )
    told = "power-outlets: 30 of type 'iec-60320-c13'; --fact 'C13=10 A' states the rating of one"
    assert told in made.left
    assert "power-outlets: 1 of type 'nema-5-15r' have no counterpart" in made.left


def test_cdu_and_facts_of_other_kinds_are_stated_alike(tmp_path: Path) -> None:
    path = write(tmp_path, model="LCS-SCDU-250L", interfaces=None)
    cdu = import_device(path, facts={"capacity": "250 kW"}, day=DAY).entry
    assert isinstance(cdu, Cdu)
    assert (cdu.capacity.value, cdu.capacity.source, fact_value(cdu.height)) == (
        250_000,
        "stated",
        8,
    )
    node = import_device(write(tmp_path), facts={"max_power": "10.2 kW"}, day=DAY).entry
    assert isinstance(node, Node)
    assert fact_value(node.max_power) == 10_200
    with pytest.raises(UsageError, match="a node has no fact 'max_pwer'"):
        import_device(write(tmp_path), facts={"max_pwer": "10.2 kW"}, day=DAY)
    path = write(tmp_path, model="LCS-SCDU-250L", interfaces=None)
    with pytest.raises(SpecErrors, match="of 'cdus', and not of 'nodes'"):
        import_device(path, "nodes", day=DAY)


def test_modular_supplies_come_from_their_module_type(tmp_path: Path) -> None:
    bays = [{"name": name, "position": name} for name in ("PSU1", "PSU2", "Fan 1")]
    path = write(tmp_path, **{"power-ports": None, "module-bays": bays})
    alone = import_device(path, "nodes", day=DAY)
    assert isinstance(alone.entry, Node)
    assert alone.entry.power_supplies is None
    assert any("2 for power supplies (PSU1, PSU2); --supply FILE" in line for line in alone.left)
    module = tmp_path / "psu.yaml"
    ports = [{"name": "{module}", "type": "iec-60320-c14", "maximum_draw": 1000}]
    module.write_text(yaml.safe_dump({"manufacturer": "Acme", "model": "P1", "power-ports": ports}))
    made = import_device(path, "nodes", supply=module, day=DAY).entry
    assert isinstance(made, Node)
    supplies = known(made.power_supplies)
    assert (supplies.count, supplies.inlet, fact_value(supplies.rating)) == (2, "C14", 1000)


def test_roles_by_name_tell_equal_ports_apart(tmp_path: Path) -> None:
    ports = [{"name": f"eth{n}", "type": "400gbase-x-osfp"} for n in range(10)]
    roles = {"eth[0-7]": "compute", "eth*": "storage"}
    made = import_device(write(tmp_path, interfaces=ports), roles=roles, day=DAY).entry
    assert isinstance(made, Node)
    assert [(port.role, port.count) for port in made.ports] == [("compute", 8), ("storage", 2)]


def test_file_without_a_slug_is_named_by_maker_and_model(tmp_path: Path) -> None:
    assert import_device(write(tmp_path, slug=None), day=DAY).entry.id == "acme-a-8125"
    assert import_device(write(tmp_path, slug=None), entry_id="own", day=DAY).entry.id == "own"


@pytest.mark.parametrize(
    ("said", "way"), [("left-to-right", "left-to-right"), ("side-to-rear", "side-to-back")]
)
def test_air_from_the_side_is_kept(tmp_path: Path, said: str, way: str) -> None:
    made = import_device(write(tmp_path, airflow=said), day=DAY).entry
    assert isinstance(made, Node)
    assert made.airflow_direction == way


def test_it_is_written_so_that_it_reads_the_same(tmp_path: Path) -> None:
    made = import_device(write(tmp_path, model="on: 0o7 # yes"), "nodes", roles=ROLES, day=DAY)
    assert load_text(render(made.document), Node).value == made.entry
    assert made.entry.name == "on: 0o7 # yes"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"manufacturer": None}, "'manufacturer' is missing"),
        ({"weight": -1}, "weight"),
        ({"weight_unit": "stone"}, "weight_unit"),
        ({"u_height": "8"}, "u_height"),
        ({"interfaces": [{"name": "a"}]}, "'type' is missing"),
    ],
)
def test_a_file_that_is_none(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(SpecErrors, match=r"device\.yaml:") as caught:
        import_device(write(tmp_path, **changes), "nodes", day=DAY)
    assert message in str(caught.value)


def test_what_cannot_be_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"'\.\./x' cannot be an id"):
        import_device(write(tmp_path, slug="../x"), "nodes", day=DAY)
    with pytest.raises(UsageError, match="no interface of the type or name 'other'"):
        import_device(write(tmp_path), "nodes", roles={"other": "compute"}, day=DAY)
