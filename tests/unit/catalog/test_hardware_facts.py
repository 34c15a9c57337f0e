"""The hardware facts: numbers typed by hand a second time, and rules each entry must satisfy."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pytest

from catalogue_entries import all_entries
from known import known
from rackwright.catalog.loader import load_catalogue
from rackwright.model.connections import Cable, Connector
from rackwright.model.hardware import (
    Confidence,
    Device,
    Entry,
    Node,
    Pdu,
    PowerShelf,
    Switch,
    fact_value,
    supply_inlet,
)
from rackwright.model.instances import Instance
from rackwright.model.plant import AirHandler, Cdu
from rackwright.model.racks import RackType

CATALOGUE = load_catalogue()
ENTRIES = tuple(all_entries(CATALOGUE))
DOCUMENTS_READ = Path(__file__).with_name("documents_read.txt")
DEVICES = tuple(entry for entry in ENTRIES if isinstance(entry, Device))


def node(entry_id: str) -> Node:
    return CATALOGUE.get(Node, entry_id)


def named(entries: Sequence[Entry]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("entry", entries, ids=lambda entry: entry.id)


def test_official_numbers_are_claimed_only_for_documents_that_were_read():
    titles = {
        source.title
        for entry in ENTRIES
        for source in entry.sources.values()
        if source.confidence is Confidence.OFFICIAL
    }

    # A document is added to the file by who has read it: CONTRIBUTING.md, "Add a product".
    assert titles == set(DOCUMENTS_READ.read_text("utf-8").splitlines())


def test_numbers_that_no_document_gives_are_estimates():
    found = {
        (entry.id, name)
        for entry in ENTRIES
        for name, fact in entry.facts()
        if entry.sources[fact.source].confidence is Confidence.ESTIMATE
    }

    assert found >= {
        ("hgx-h100-4u-liquid", "max_power"),
        ("p6e-gb200.36xlarge", "vcpus"),
        ("p6e-gb200.36xlarge", "bandwidth"),
    }


# accelerators, W each, U, max kW, kg, CFM, heat BTU/h, fabric ports, Gbps
NODES = {
    "dgx-a100": (8, 400, 6, 6.5, 123, 840, 22179, 8, 200),
    "dgx-h100": (8, 700, 8, 10.2, 130.45, 1105, 38557, 8, 400),
    "dgx-h200": (8, 700, 8, 10.2, 130.45, 1105, 38557, 8, 400),
    "dgx-b200": (8, 1000, 10, 14.3, 142.4, 2145, 48794, 8, 400),
    "dgx-b300": (8, 1400, 10, 15, 168, 2145, 49476, 8, 800),
    "dgx-b300-busbar": (8, 1400, 10, 15, 123, 1350, None, 8, 800),
    "gb200-nvl72": (72, 1200, 48, 132, 1600, None, None, 72, 400),
    "gb300-nvl72": (72, 1400, 48, 142, 1580, None, None, 72, 800),
    "hgx-h100-4u-liquid": (8, 700, 4, 10.2, None, None, None, 8, 400),
    "mi300x-8x": (8, 750, None, None, None, None, None, None, None),
    "dell-xe9680-gaudi3": (8, 900, 6, None, None, None, None, None, None),
    "dell-xe9680-h100": (8, 700, 6, None, 107, None, None, None, None),
    "dell-xe9680-h200": (8, 700, 6, None, 108, None, None, None, None),
    "dell-xe9680-mi300x": (8, 750, 6, None, 114, None, None, None, None),
    "dell-xe9680l-b200": (8, 1000, 4, None, 95.6, None, None, None, None),
    "dell-xe9780-b300": (8, 1100, 10, None, 163.2, None, None, 8, 800),
    "hpe-xd685-b200": (8, 1000, 5, None, None, None, None, None, None),
    "hpe-xd685-b300": (8, 1100, 5, None, None, None, None, None, None),
    "hpe-xd685-mi355x": (8, 1400, 5, None, None, None, None, None, None),
    "lenovo-sr680a-v3-b200": (8, 1000, 8, None, 102.9, None, None, None, None),
    "lenovo-sr680a-v4-b300": (8, 1100, 8, None, 124.7, None, None, 8, 800),
    "supermicro-as-4126gs-nb3rt-lcc": (8, 1100, 4, None, None, None, None, None, None),
    "supermicro-as-4126gs-nmr-lcc": (8, 1400, 4, None, None, None, None, None, None),
    "supermicro-as-8125gs-tnmr2": (8, 750, 8, None, None, None, None, 8, 400),
    "supermicro-as-8126gs-tnmr": (8, 1000, 8, None, None, None, None, None, None),
    "supermicro-sys-422ga-nbrt-lcc": (8, 1000, 4, None, None, None, None, None, None),
    "supermicro-sys-a22ga-nbrt": (8, 1000, 10, None, None, None, None, None, None),
    "cisco-ucs-c880a-m8-b300": (8, 1100, 10, None, 130, None, None, 8, 800),
    "cisco-ucs-c885a-m8-h200": (8, 700, 8, None, None, None, None, 8, 400),
    "cisco-ucs-c885a-m8-mi300x": (8, 750, 8, None, None, None, None, 8, 400),
    "dell-xe9780-b200": (8, 1000, 10, None, 163.2, None, None, None, None),
    "dell-xe9780l-b300": (8, 1100, 3.2397, None, 107.2, None, None, 8, 800),
    "hpe-xd670-h200": (8, 700, 5, None, None, None, None, None, None),
    "hpe-xd685-h200": (8, 700, 6, None, None, None, None, None, None),
    "lenovo-sr680a-v3-h200": (8, 700, 8, None, 102.9, None, None, None, None),
    "lenovo-sr685a-v3-mi300x": (8, 750, 8, None, 109.4, None, None, None, None),
    "lenovo-sr780a-v3-b200": (8, 1000, 5, None, 92, None, None, None, None),
    "supermicro-sys-421ge-nbrt-lcc": (8, 1000, 4, None, 87, None, None, None, None),
    "supermicro-sys-821ge-tnhr-h200": (8, 700, 8, None, None, None, None, None, None),
    "supermicro-sys-822gs-nb3rt": (8, 1100, 8, None, 119, None, None, 8, 800),
    "supermicro-sys-822gs-nbrt": (8, 1000, 8, None, 133, None, None, None, None),
}


@pytest.mark.parametrize("entry_id", NODES)
def test_node_numbers(entry_id):
    count, tdp, height, power, weight, airflow, heat, ports, rate = NODES[entry_id]
    found = node(entry_id)
    compute = [port for port in found.ports if port.role == "compute"]

    assert found.accelerators is not None
    assert (found.accelerators.count, fact_value(found.accelerators.tdp)) == (count, tdp)
    assert fact_value(found.height) == height
    assert fact_value(found.max_power) == (None if power is None else pytest.approx(power * 1000))
    assert fact_value(found.weight) == weight
    assert fact_value(found.airflow) == airflow
    assert fact_value(found.heat) == (None if heat is None else pytest.approx(heat / 3.412))
    assert [(port.count, port.rate.value) for port in compute] == ([(ports, rate)] if ports else [])


# U, typical W, maximum W, kg, mm of depth, coldest and hottest inlet in °C
STORAGE = {
    "netapp-aff-a50": (2, 901, 1424, 27.5, None, 10, 35),
    "netapp-aff-a70": (4, 2033, 2664, 53.5, 929.6, 10, 35),
    "netapp-aff-a800": (4, 1942, 2467, 60.1, 929.6, 5, 40),
    "netapp-aff-a90": (4, 2434, 3209, 53.5, 929.6, 10, 35),
    "netapp-aff-a900": (8, 2346, 2912, 100, 934.7, 10, 35),
    "netapp-sgf6112": (1, 446, 700, 19.88, 841, None, None),
    "netapp-sgf6212": (1, 673, 808, 25.39, 776.2, None, None),
}
"""NetApp gives the power of its arrays in BTU/h: 3.412 of them are a watt."""


@pytest.mark.parametrize("entry_id", STORAGE)
def test_storage_numbers(entry_id):
    found = node(entry_id)
    height, typical, power, weight, depth, coldest, hottest = STORAGE[entry_id]

    assert fact_value(found.height) == height
    assert fact_value(found.typical_power) == pytest.approx(typical, abs=1)
    assert fact_value(found.max_power) == pytest.approx(power, abs=1)
    assert fact_value(found.weight) == weight
    assert fact_value(found.depth) == (None if depth is None else pytest.approx(depth / 1000))
    assert (fact_value(found.inlet_min), fact_value(found.inlet_max)) == (coldest, hottest)


MEMORY = {
    "H100 SXM": 80,
    "H200 SXM": 141,
    "B200 SXM": 183359 / 1024,
    "B300 SXM": 275040 / 1024,
    "GB200": 189471 / 1024,
    "GB300": 284208 / 1024,
    "MI300X": 192 * 10**9 / 2**30,
    "MI325X": 256 * 10**9 / 2**30,
    "MI355X": 288 * 10**9 / 2**30,
}
"""GiB of one accelerator: nvidia-smi's number, or that of the system file that AMD submits."""


def test_every_accelerator_of_one_model_has_the_same_memory():
    found = {
        entry.id: (entry.accelerators.model, fact_value(entry.accelerators.memory))
        for entry in ENTRIES
        if isinstance(entry, Node) and entry.accelerators
    }
    without = {name for name, (model, _) in found.items() if model not in MEMORY}
    assert without == {"dell-xe9680-gaudi3", "dgx-a100"}, "no memory was read of their models"
    for name, (model, memory) in found.items():
        assert memory == (pytest.approx(MEMORY[model]) if model in MEMORY else None), name


# power supplies, kW each, needed for full performance, needed to run
SUPPLIES = {
    "dgx-a100": (6, 3.0, 3, 3),
    "dgx-h100": (6, 3.3, 4, 3),
    "dgx-h200": (6, 3.3, 4, 3),
    "dgx-b200": (6, 3.3, 5, 3),
    "dgx-b300": (12, 3.2, 6, None),
    "gb200-nvl72": (8, 33, None, None),
    "gb300-nvl72": (8, 33, None, None),
    "supermicro-as-4126gs-nb3rt-lcc": (4, 6.6, 2, None),
    "supermicro-as-4126gs-nmr-lcc": (4, 6.6, 2, None),
    "supermicro-as-8125gs-tnmr2": (6, 3.0, None, None),
    "supermicro-as-8126gs-tnmr": (6, 5.25, 3, None),
    "cisco-ucs-c880a-m8-b300": (12, 3.2, None, None),
    "dell-xe9780-b200": (12, 3.2, None, None),
    "dell-xe9780-b300": (12, 3.2, None, None),
    "hpe-xd685-b200": (6, 3.0, 5, None),
    "hpe-xd685-b300": (6, 3.0, 5, None),
    "hpe-xd685-h200": (6, 3.0, 5, None),
    "hpe-xd685-mi355x": (6, 3.0, 5, None),
    "lenovo-sr680a-v4-b300": (8, 3.2, 7, None),
    "lenovo-sr685a-v3-mi300x": (8, 2.6, None, None),
    "supermicro-sys-821ge-tnhr-h200": (6, 3.0, 4, None),
    "supermicro-sys-822gs-nb3rt": (6, 6.6, 3, None),
    "supermicro-sys-822gs-nbrt": (6, 6.6, 3, None),
    "supermicro-sys-a22ga-nbrt": (6, 5.25, 3, None),
}


@pytest.mark.parametrize("entry_id", SUPPLIES)
def test_power_supplies(entry_id):
    count, rating, full, degraded = SUPPLIES[entry_id]
    found = node(entry_id).power_supplies

    assert found is not None
    assert found.count == count
    assert fact_value(found.rating) == pytest.approx(rating * 1000)
    assert fact_value(found.full_performance) == full
    assert fact_value(found.degraded) == degraded


def test_heat_that_contradicts_the_power_is_explained():
    def contradicts(entry: Device) -> bool:
        heat, power = fact_value(entry.heat), fact_value(entry.max_power)
        return heat is not None and power is not None and abs(heat - power) > 0.05 * power

    odd = [entry for entry in DEVICES if contradicts(entry)]
    assert "dgx-h100" in [entry.id for entry in odd]
    assert [entry.id for entry in odd if not any("heat" in note for note in entry.notes)] == []


def test_ports_of_a_dgx_h100_in_the_order_of_its_accelerators():
    for entry_id in ("dgx-h100", "dgx-h200"):
        compute, storage, *_ = node(entry_id).ports

        assert dict(zip(compute.names, compute.cages, strict=True)) == {
            "mlx5_0": "OSFP4P2",
            "mlx5_3": "OSFP3P2",
            "mlx5_4": "OSFP3P1",
            "mlx5_5": "OSFP4P1",
            "mlx5_6": "OSFP1P2",
            "mlx5_9": "OSFP2P2",
            "mlx5_10": "OSFP2P1",
            "mlx5_11": "OSFP1P1",
        }
        assert [int(name.removeprefix("mlx5_")) for name in compute.names] == [
            0,
            3,
            4,
            5,
            6,
            9,
            10,
            11,
        ]
        assert (storage.role, storage.count) == ("storage", 4)


@pytest.mark.parametrize(
    ("entry_id", "ports"),
    [
        ("dgx-a100", [(1, 1), (1, 1)]),
        ("dgx-h100", [(2, 100), (1, 10), (1, 1)]),
        ("dgx-h200", [(2, 100), (1, 10), (1, 1)]),
        ("dgx-b200", [(1, 1)]),
        ("dgx-b300", [(2, 1)]),
        ("dgx-b300-busbar", [(2, 1)]),
    ],
)
def test_dgx_systems_have_their_management_ports(entry_id, ports):
    """They were missing: no switch of the management fabrics was counted for a DGX."""
    found = [port for port in node(entry_id).ports if port.role == "management"]

    assert [(port.count, port.rate.value) for port in found] == ports
    assert {port.technology for port in found} == {"ethernet"}


@pytest.mark.parametrize("entry_id", ["gb200-nvl72", "gb300-nvl72"])
def test_where_no_document_gives_the_ports_of_management_none_is_made_up(entry_id):
    found = node(entry_id)

    assert [port for port in found.ports if port.role == "management"] == []
    assert any("management" in note for note in found.notes)


def test_an_nvl72_weighs_what_the_heaviest_source_says_and_names_the_others():
    """1,360 kg was the lightest of three published weights, and a floor was sized by it."""
    gb200, gb300 = node("gb200-nvl72"), node("gb300-nvl72")

    assert known(gb200.weight).value == 1600
    assert "1,360 kg" in (known(gb200.weight).note or "")
    assert "1,553 kg" in (known(gb200.weight).note or "")
    assert known(gb300.weight).value == 1580


def test_the_rating_of_the_rack_of_an_nvl72_is_a_payload():
    """A weight with the rack was held against a rating of the content."""
    rack = CATALOGUE.get(RackType, "rack-mgx-48u")

    assert known(rack.static_rating).value == 1400
    assert rack.gross_rating is None, "nobody publishes it"
    assert any("gross_rating" in note for note in rack.notes)


def test_a_gb300_nvl72_is_whole():
    gb300 = node("gb300-nvl72")
    liquid = known(gb300.liquid)

    assert fact_value(gb300.max_power) == 142_000
    assert fact_value(gb300.peak_power) == 155_000
    assert fact_value(liquid.heat) == pytest.approx(0.9 * 142_000)
    assert fact_value(liquid.flow) == 177
    assert (fact_value(liquid.max_supply), fact_value(liquid.water_class)) == (45, "W45")
    assert (fact_value(gb300.cpus), fact_value(gb300.threads_per_core)) == (144, 1)
    assert (gb300.inlet_max, gb300.airflow) == (None, None), "nobody publishes them"


@pytest.mark.parametrize("entry_id", ["gb200-nvl72", "gb300-nvl72"])
def test_a_tray_of_an_nvl72_has_two_ports_for_storage(entry_id):
    """There were none: a storage fabric of NVL72 racks had to state its interfaces."""
    (storage,) = [port for port in node(entry_id).ports if port.role == "storage"]

    assert storage.count == 18 * 2
    assert (storage.rate.value, storage.technology) == (400, "ethernet")


def test_a_rack_scale_system():
    gb200 = node("gb200-nvl72")

    assert (gb200.hosts, gb200.whole_rack, gb200.rack_weight_included) == (18, True, True)
    assert gb200.liquid is not None
    assert fact_value(gb200.liquid.heat) == 115_000
    assert fact_value(gb200.max_power) == 115_000 + 17_000
    assert fact_value(gb200.peak_power) == 192_000
    assert fact_value(gb200.liquid.water_class) == "W45"
    assert fact_value(gb200.liquid.flow) is None, "nobody publishes it"


def test_eight_nodes_of_64_accelerators_leave_room_for_a_cdu():
    """8 × 4 U and a CDU of 4 U make 36 U."""
    found = node("hgx-h100-4u-liquid")

    assert found.accelerators is not None
    assert 8 * found.accelerators.count == 64
    assert 8 * known(found.height).value + 4 == 36
    assert found.liquid is not None
    assert found.liquid.cdu_in_rack
    assert sum(port.count for port in found.ports) == 9
    assert found.power_supplies is None, "not published"


# ports, Gbps, U, typical W, max W, kg, depth mm, cages
SWITCHES = {
    "qm8700": (40, 200, 1, 253, 650, 11.4, None, 40),
    "qm8790": (40, 200, 1, 253, 650, 11.4, None, 40),
    "qm9700": (64, 400, 1, 747, 1720, 14.8, 660, 32),
    "qm9790": (64, 400, 1, 640, 1610, None, 660, 32),
    "q3400-ra": (144, 800, 4, 2900, 7000, 60, None, 72),
    "q3450-ld": (144, 800, 4, None, None, None, None, None),
    "q3200-ra": (36, 800, 2, 862, None, None, None, None),
    "arista-7060x6-64pe": (64, 800, 2, None, None, 21, None, 64),
    "juniper-qfx5240-64od": (64, 800, 2, None, None, None, None, 64),
    "sn5600": (64, 800, 2, 940, 2167, 23.5, 720, 64),
    "sn5610": (64, 800, 2, 900, 2080, 26.9, 775, 64),
    "sn4600c": (64, 100, 2, 466, None, 14.64, 566, 64),
    "sn2201": (48, 1, 1, 98, None, 7.41, 432, None),
    "cisco-n9364e-sg2-o": (64, 800, 2, 995, 2270, None, None, None),
    "sn4700": (32, 400, None, None, None, None, None, 32),
    "sn5400": (64, 400, None, None, None, None, None, 64),
    "cisco-ucs-6454": (48, 25, 1, 260, 650, 10.1, 571, None),
    "cisco-ucs-64108": (96, 25, 2, 404, 1200, 16.27, 582.9, None),
    "cisco-ucs-6536": (36, 100, 1, 348, 800, 11.6, 627, None),
    "cisco-ucs-6652": (48, 50, 1, 368, 1100, 11.34, 500.1, None),
    "cisco-ucs-6664": (48, 100, 2, 605, 1100, 20, 566, None),
    "drivenets-2500s": (64, 800, 2, 1066, 1684, None, 580, None),
    "drivenets-5300r": (38, 800, 2, 782, 1140, 21, 648.2, None),
    "drivenets-9300f": (128, 800, 6, 1113, 1918, 63, 668.2, None),
    "arista-7720r4-128pe": (128, 800, None, 1032, 3848, None, None, None),
    "arista-7700r4c-38pe": (38, 800, None, 593, 1840, None, None, None),
}


@pytest.mark.parametrize("entry_id", SWITCHES)
def test_switch_numbers(entry_id):
    found = CATALOGUE.get(Switch, entry_id)
    ports, rate, height, typical, power, weight, depth, cages = SWITCHES[entry_id]

    assert (found.radix, found.rate.value, fact_value(found.height)) == (ports, rate, height)
    assert fact_value(found.typical_power) == typical
    assert fact_value(found.max_power) == power
    assert fact_value(found.weight) == weight
    assert fact_value(found.depth) == (None if depth is None else pytest.approx(depth / 1000))
    assert fact_value(found.cages) == cages


# power supplies, W each, needed for full performance, inlet
SWITCH_SUPPLIES = {
    "q3400-ra": (8, None, None, "C20"),
    "sn5600": (2, None, 1, "C20"),
    "sn5610": (4, 2000, 2, "C14"),
    "arista-7060x6-64pe": (2, 2400, None, "C14"),
    "cisco-ucs-6454": (2, 650, 1, "C14"),
    "cisco-ucs-64108": (2, None, 1, None),
    "cisco-ucs-6536": (2, 1100, 1, "C14"),
    "cisco-ucs-6652": (2, 1400, 1, "C14"),
    "cisco-ucs-6664": (2, 1400, 1, "C14"),
}


@pytest.mark.parametrize("entry_id", SWITCH_SUPPLIES)
def test_switches_have_the_supplies_of_their_documents(entry_id):
    """A SN5610 had two supplies, a SN5600 an inlet that carries less than it draws."""
    found = known(CATALOGUE.get(Switch, entry_id).power_supplies)

    assert SWITCH_SUPPLIES[entry_id] == (
        found.count,
        fact_value(found.rating),
        fact_value(found.full_performance),
        supply_inlet(found),
    )


def test_an_inlet_carries_what_a_supply_draws_alone():
    """10 A of a C14 and 16 A of a C20 at the highest voltage of the device, 240 V unless stated."""
    amperes = {"C14": 10, "C20": 16}
    too_weak, judged = [], 0
    for device in DEVICES:
        psus, power = device.power_supplies, fact_value(device.max_power)
        needed = fact_value(psus.full_performance) if psus else None
        if psus is None or power is None or needed is None or supply_inlet(psus) not in amperes:
            continue
        judged += 1
        voltage = fact_value(device.voltage_max) or 240
        if power / needed > amperes[known(supply_inlet(psus))] * voltage:
            too_weak.append(device.id)

    assert judged > 5
    assert too_weak == []


def test_ports_beside_the_radix():
    sn2201 = CATALOGUE.get(Switch, "sn2201")

    assert sn2201.uplinks is not None
    assert (sn2201.uplinks.count, sn2201.uplinks.rate.value) == (4, 100)
    assert CATALOGUE.get(Switch, "q3200-ra").switches == 2


# line-to-line V, A, wiring
PDUS = {
    "pdu-208v-30a": (208, 30, "delta"),
    "pdu-208v-60a": (208, 60, "delta"),
    "pdu-400v-32a": (400, 32, "wye"),
    "pdu-400v-63a": (400, 63, "wye"),
    "pdu-415v-32a": (415, 32, "wye"),
    "pdu-415v-100a": (415, 100, "wye"),
    "pdu-480v-60a": (480, 60, "wye"),
    "raritan-px3-5878": (415, 60, "wye"),
    "pdu-415v-60a-24c19": (415, 60, "wye"),
    "apc-ap8886": (400, 32, "wye"),
    "servertech-c2wg48te-dfme2m99": (208, 50, "delta"),
    "servertech-pro3x-c3wg36rl-dqje2nt2": (208, 60, "delta"),
}


def test_pdu_ratings():
    found = {i: CATALOGUE.get(Pdu, i) for i in CATALOGUE.ids(Pdu)}

    ratings = {i: (p.voltage.value, p.current.value, p.wiring) for i, p in found.items()}
    assert PDUS.items() <= ratings.items()
    assert {p.phases for p in found.values()} == {3}


def test_no_pdu_lacks_its_outlets():
    """Six generic PDUs had none: whether a plug found an outlet was unknown."""
    found = {i: CATALOGUE.get(Pdu, i) for i in CATALOGUE.ids(Pdu)}
    spec = found["pdu-415v-60a-24c19"]

    assert [i for i, pdu in found.items() if not pdu.outlets] == []
    assert {o.type: o.count for o in known(spec.outlets)}["C19"] == 24
    assert (fact_value(spec.branch_count), fact_value(spec.branch_rating)) == (12, 20)


def test_generic_pdus_are_specifications_and_complete():
    generic = [CATALOGUE.get(Pdu, i) for i in CATALOGUE.ids(Pdu) if i.startswith("pdu-")]
    allowed = {Confidence.COMMON, Confidence.COMPUTED}

    assert len(generic) >= 8
    for pdu in generic:
        assert pdu.branch_count is not None, pdu.id
        assert None not in (pdu.branch_rating, pdu.height, pdu.weight), pdu.id
        assert {source.confidence for source in pdu.sources.values()} <= allowed, pdu.id


def test_pdus_that_one_can_buy_say_what_their_documents_do_not():
    bought = [CATALOGUE.get(Pdu, i) for i in CATALOGUE.ids(Pdu) if not i.startswith("pdu-")]

    assert len(bought) >= 4
    assert [pdu.id for pdu in bought if not pdu.notes] == []


def test_power_shelves():
    found = {i: CATALOGUE.get(PowerShelf, i) for i in CATALOGUE.ids(PowerShelf)}

    ratings = {i: (s.rating.value, fact_value(s.rating_n_plus_1)) for i, s in found.items()}
    assert (
        ratings.items()
        >= {
            "mgx-33kw": (33_000, 27_500),
            "orv3-18kw": (18_000, 15_000),
            "orv3-hpr-33kw": (33_000, 27_500),
            "orv3-hpr-v2-72kw": (72_000, None),
        }.items()
    )
    for shelf in found.values():
        if shelf.rating_n_plus_1 is not None:
            one_less = shelf.rating.value * (shelf.supplies - 1) / shelf.supplies
            assert shelf.rating_n_plus_1.value == pytest.approx(one_less)
    assert fact_value(found["orv3-hpr-33kw"].backup) == 90


def test_racks():
    found = {i: CATALOGUE.get(RackType, i) for i in CATALOGUE.ids(RackType)}

    sizes = {i: (r.height.value, r.width.value, r.depth.value) for i, r in found.items()}
    assert (
        sizes.items()
        >= {
            "rack-42u": (42, 0.6, 1.2),
            "rack-48u": (48, 0.6, 1.2),
            "rack-52u": (52, 0.7, 1.2),
            "rack-mgx-48u": (48, 0.6, 1.2),
            "tank-spec-24u": (24, 1.5, 0.9),
        }.items()
    )
    assert [fact_value(found[f"rack-{u}u"].static_rating) for u in (42, 48, 52)] == [1360] * 3
    assert {fact_value(found[f"rack-{u}u"].dynamic_rating) for u in (42, 48, 52)} == {None}


def test_cooling_equipment():
    chx = CATALOGUE.get(Cdu, "coolit-chx2000")
    limits = {i: CATALOGUE.get(Connector, i) for i in ("uqd04", "bmqc", "pbmc", "lqc-v2")}

    assert (chx.capacity.value, fact_value(chx.power)) == (2_000_000, 12_240)
    assert (fact_value(chx.approach), fact_value(chx.flow)) == (5, 2125)
    assert {i: fact_value(c.flow) for i, c in limits.items()} == {
        "uqd04": 6.4,
        "bmqc": 9,
        "pbmc": 36,
        "lqc-v2": 100,
    }
    assert {fact_value(c.max_fluid) for c in limits.values()} == {60}
    assert fact_value(limits["bmqc"].max_pressure) == pytest.approx(50 * 6.894757)
    assert fact_value(limits["lqc-v2"].max_pressure) == pytest.approx(75 * 6.894757)


# kW moved, kW drawn, K of approach, L/min, kPa (or psi where the document has those), in the rack
PSI = 6.894757
CDUS = {
    "vertiv-coolchip-121": (121, 0.875, 4, 120, 115, True),
    "vertiv-coolchip-600": (600, None, 4, None, None, False),
    "vertiv-coolchip-1350": (1350, 20.5, 4, 1200, 250, False),
    "vertiv-coolchip-2300": (2300, 47.8, 4, 3400, None, False),
    "vertiv-deschutes-5": (2000, None, 3, 1900, 80 * PSI, False),
    "nvent-deschutes-5": (2000, None, 3, 1900, 80 * PSI, False),
    "nvent-rackchiller-100": (100, None, 4, None, None, True),
    "nvent-rackchiller-800": (575, None, 4, 690, None, False),
    "trane-cdu-1mw": (1350, None, 4, 1500, 40 * PSI, False),
    "trane-giga-modular": (2500, None, 3, 3900, 50 * PSI, False),
    "jci-silent-aire-cdu": (1050, None, 5.2, 1600, 30 * PSI, False),
    "motivair-mcdu-45": (853, None, 4, 1166, 29 * PSI, False),
    "motivair-mcdu-55": (728, None, 4, 1632, 51 * PSI, False),
    "motivair-mcdu-70": (2500, None, 4, 3751, 38 * PSI, False),
    "boyd-ral110": (80, None, 8, 80, 21 * PSI, True),
    "boyd-ral300": (160, None, 5, 160, 25 * PSI, True),
    "boyd-rol1100": (550, None, 4, 473, 30 * PSI, False),
    "boyd-rol2300": (1150, None, 4, 1514, 55 * PSI, False),
    "boyd-rol4000": (2000, None, 3, 1893, 80 * PSI, False),
    "coolit-chx80": (80, None, None, None, None, True),
    "coolit-chx200": (200, None, None, None, None, True),
    "coolit-chx2000": (2000, 12.24, 5, 2125, 35 * PSI, False),
    "envicool-row-300kw": (300, None, 4, 450, None, False),
    "envicool-row-600kw": (600, None, 4, 900, None, False),
    "envicool-row-800kw": (800, None, 4, 1000, None, False),
    "envicool-row-1400kw": (1400, None, 4, 1200, None, False),
    "envicool-row-2500kw": (2500, None, 4, 3700, None, False),
    "supermicro-lcs-scdu-250l4001": (250, None, None, None, None, True),
}


def test_every_cdu_of_the_table_is_in_the_catalogue():
    assert set(CDUS) <= set(CATALOGUE.ids(Cdu))


@pytest.mark.parametrize("entry_id", CDUS)
def test_cdus_have_the_numbers_of_their_documents_and_no_others(entry_id):
    cdu = CATALOGUE.get(Cdu, entry_id)
    moved, drawn, approach, flow, head, in_rack = CDUS[entry_id]

    assert cdu.capacity.value == pytest.approx(moved * 1000)
    assert fact_value(cdu.power) == (None if drawn is None else pytest.approx(drawn * 1000))
    assert (fact_value(cdu.approach), fact_value(cdu.flow)) == (approach, flow)
    assert fact_value(cdu.head) == (None if head is None else pytest.approx(head))
    assert cdu.in_rack is in_rack
    assert cdu.notes, "each says what its document does not"


@named([entry for entry in ENTRIES if isinstance(entry, AirHandler)])
def test_air_handlers_move_the_air_of_a_rise_of_12_kelvin(entry):
    """CFM = 1.756 W/K."""
    assert fact_value(entry.airflow) == pytest.approx(1.756 * entry.capacity.value / 12, abs=1)


# part: medium, reach in m
CABLES = {
    "MCP4Y10": ("dac", 2),
    "MCP7Y00": ("dac", 3),
    "MCA4J80": ("acc", 5),
    "MCA4K50": ("acc", 3),
    "MCA4K00": ("acc", 1.1),
    "MFS1S00": ("aoc", 100),
    "MFA7U10": ("aoc", 30),
    "MMA4Z00": ("mmf", 50),
    "MMA1Z00": ("mmf", 50),
    "MMS4X00-NS": ("smf", 100),
    "MMS4X00-NM": ("smf", 500),
    "MMS4X50": ("smf", 2000),
    "MMS4X90": ("smf", 10000),
    "MMS4A00": ("smf", 500),
    "MMS4C10": ("smf", 500),
    "980-9I13N-00C030": ("aoc", 30),
    "MCA4J80-FLT": ("acc", 3),
    "MCP7Y00-FLT": ("dac", 2),
    "MCA7K10": ("acc", 2),
    "MMS4A20": ("smf", 500),
    "MMS4B10-XM": ("smf", 500),
    "MMS4C11": ("smf", 500),
    "MMS4X00-NS400": ("smf", 100),
    "MMS1X00-NS400": ("smf", 100),
    "MMA4Z00-NS400": ("mmf", 50),
    "MCP7Y10": ("dac", 3),
    "MCP7Y60": ("dac", 2),
    "MCP7Y70": ("dac", 2),
    "MFS1S50-V": ("aoc", 30),
    "MMA4Z00-NS-T": ("mmf", 50),
    "MMS4X00-NS-T": ("smf", 100),
    "MMA1Z00-NS400-T": ("mmf", 50),
    "MMA4Z00-NS400-T": ("mmf", 50),
    "MMS4X00-NM-HGX": ("smf", 500),
}


def test_cables():
    found = [CATALOGUE.get(Cable, part.lower()) for part in CABLES]

    assert {c.part: (c.medium, c.reach.value) for c in found} == CABLES
    assert {c.part: fact_value(c.reach_om3) for c in found if c.medium == "mmf"} == {
        "MMA4Z00": 30,
        "MMA1Z00": 30,
        "MMA4Z00-NS400": 30,
        "MMA4Z00-NS-T": None,
        "MMA1Z00-NS400-T": None,
        "MMA4Z00-NS400-T": None,
    }


# part: made for InfiniBand and for Ethernet, Gbps of the whole
FABRICS = {
    "mca4k00": (True, True, 1600),
    "mca4k50": (True, False, 1600),
    "mca4j80": (True, False, 800),
    "mca4j80-flt": (True, False, 800),
    "mca7k10": (True, True, 1600),
    "mcp7y00-flt": (True, True, 800),
    "mfa7u10": (True, True, 400),
    "mfs1s00": (True, True, 200),
    "mms4a20": (True, False, 800),
    "mms4b10-xm": (False, True, 1600),
    "mms4c10": (True, False, 1600),
    "mms4c11": (False, True, 1600),
    "mms4x90": (True, True, 800),
    "mcp7y10": (True, True, 800),
    "mcp7y60": (True, True, 400),
    "mcp7y70": (True, True, 400),
    "mfs1s50-v": (False, True, 200),
    "mma4z00-ns-t": (False, True, 800),
    "mms4x00-ns-t": (False, True, 800),
    "mma1z00-ns400-t": (False, True, 400),
    "mma4z00-ns400-t": (False, True, 400),
    "mms4x00-nm-hgx": (True, True, 800),
}


@pytest.mark.parametrize("part", FABRICS)
def test_cables_are_for_the_fabrics_that_nvidia_lists(part):
    """MCA4K00, MFA7U10 and MFS1S00 were refused on Ethernet; MMS4X90 had no rate."""
    cable = CATALOGUE.get(Cable, part)

    infiniband, ethernet, rate = FABRICS[part]
    assert ("infiniband" in cable.technology, "ethernet" in cable.technology) == (
        infiniband,
        ethernet,
    )
    assert fact_value(cable.rate) == rate


ACCELERATORS = {
    # instance type: accelerators, of what, MiB of memory of each, vCPUs, MiB of memory, Gbit/s
    "p3dn.24xlarge": (8, "V100", 32768, 96, 786432, 100),
    "p4d.24xlarge": (8, "A100", 40960, 96, 1179648, 400),
    "p4de.24xlarge": (8, "A100", 81920, 96, 1179648, 400),
    "p5.4xlarge": (1, "H100", 81920, 16, 262144, 100),
    "p5.48xlarge": (8, "H100", 81920, 192, 2097152, 3200),
    "p5e.48xlarge": (8, "H200", 144384, 192, 2097152, 3200),
    "p5en.48xlarge": (8, "H200", 144384, 192, 2097152, 3200),
    "p6-b200.48xlarge": (8, "B200", 183359, 192, 2097152, 3200),
    "p6-b300.48xlarge": (8, "B300", 275040, 192, 4194304, 6400),
    "p6e-gb200.36xlarge": (4, "GB200", None, 144, None, 1600),
    "g4dn.metal": (8, "T4", 16384, 96, 393216, 100),
    "g5.48xlarge": (8, "A10G", 22888, 192, 786432, 100),
    "g6.48xlarge": (8, "L4", 22888, 192, 786432, 100),
    "g6e.24xlarge": (4, "L40S", 45776, 96, 786432, 200),
    "g6e.48xlarge": (8, "L40S", 45776, 192, 1572864, 400),
    "g7e.24xlarge": (4, "RTX PRO 6000", 98304, 96, 1048576, 800),
    "g7e.48xlarge": (8, "RTX PRO 6000", 98304, 192, 2097152, 1600),
    "trn1.32xlarge": (16, "Trainium", None, 128, 524288, 800),
    "trn1n.32xlarge": (16, "Trainium", None, 128, 524288, 1600),
    "trn2.48xlarge": (16, "Trainium2", None, 192, 2097152, 3200),
    "trn2u.48xlarge": (16, "Trainium2", None, 192, 2097152, 3200),
}
"""Table of DescribeInstanceTypes; accelerators and memory of GB200 and Trainium as documented."""


def test_accelerated_types():
    types = [CATALOGUE.get(Instance, i) for i in ACCELERATORS]

    assert {
        entry.instance_type: (
            entry.accelerators.count,
            entry.accelerators.model,
            mebibytes(fact_value(entry.accelerators.memory)),
            fact_value(entry.vcpus),
            mebibytes(fact_value(entry.memory)),
            fact_value(entry.bandwidth),
        )
        for entry in types
        if entry.accelerators
    } == ACCELERATORS


def mebibytes(gibibytes: float | None) -> float | None:
    return None if gibibytes is None else gibibytes * 1024


def test_cards_of_p6e_gb200_take_two_and_one_interfaces_in_turn():
    cards = fact_value(CATALOGUE.get(Instance, "p6e-gb200.36xlarge").cards)

    assert cards is not None
    assert [card.interfaces for card in cards[:3]] == [2, 1, 2]
    assert all({a.interfaces, b.interfaces} == {1, 2} for a, b in pairwise(cards))


@named([entry for entry in ENTRIES if isinstance(entry, Instance)])
def test_efa_interfaces_have_cards_and_a_quota_counts_the_type(entry):
    cards, efa = fact_value(entry.cards), fact_value(entry.efa_interfaces)
    family = entry.instance_type.split(".")[0]
    quota = "L-1216C47A"
    if family.startswith("hpc"):
        quota = "L-F7808C92"
    elif entry.accelerators:
        quota = {"p": "L-417A185B", "g": "L-DB2E81BA", "t": "L-2C3B7624"}[family[0]]

    assert cards is None or efa is None or efa <= sum(card.efa for card in cards)
    assert entry.quota == quota
    assert entry.architecture == ("arm64" if "gb200" in family else "x86_64")


SHAPES = {
    "hpc7a.12xlarge": (24, None, 1),
    "hpc7a.96xlarge": (192, None, 1),
    "p4d.24xlarge": (96, 2, 2),
    "p4de.24xlarge": (96, 2, 2),
    "p5.48xlarge": (192, 2, 2),
    "p5en.48xlarge": (192, None, 2),
    "p6-b300.48xlarge": (192, None, 2),
    "p6e-gb200.36xlarge": (144, None, None),
    "trn1.32xlarge": (128, None, 2),
}


def test_threads_are_those_of_ec2_and_sockets_only_those_that_aws_names():
    """vCPUs, sockets, threads of a core."""
    types = {i: CATALOGUE.get(Instance, i) for i in CATALOGUE.ids(Instance)}
    found = {
        i: (fact_value(t.vcpus), fact_value(t.sockets), fact_value(t.threads_per_core))
        for i, t in types.items()
    }

    assert found.items() >= SHAPES.items()
    assert {i for i, shape in found.items() if shape[2] is None} == {"p6e-gb200.36xlarge"}
    assert all(vcpus % (threads or 1) == 0 for vcpus, _, threads in found.values() if vcpus)


def test_types_for_head_and_login_nodes():
    """vCPUs and GiB: 4 GiB a vCPU for m, 2 for c, 8 for r."""
    found = {
        i: (fact_value(t.vcpus), fact_value(t.memory))
        for i in CATALOGUE.ids(Instance)
        for t in [CATALOGUE.get(Instance, i)]
        if t.accelerators is None and not t.instance_type.startswith("hpc")
    }

    assert (
        found.items()
        >= {
            "m7i.xlarge": (4, 16),
            "m7i.2xlarge": (8, 32),
            "m7i.4xlarge": (16, 64),
            "m7i.8xlarge": (32, 128),
            "c7i.4xlarge": (16, 32),
            "c7i.8xlarge": (32, 64),
            "r7i.4xlarge": (16, 128),
        }.items()
    )
