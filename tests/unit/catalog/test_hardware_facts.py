"""The hardware facts: numbers typed by hand a second time, and rules each entry must satisfy."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import pytest

from known import known
from rackwright.catalog.loader import load_catalogue
from rackwright.model.hardware import (
    AirHandler,
    Cable,
    Cdu,
    Confidence,
    Connector,
    Device,
    Entry,
    Instance,
    Node,
    Pdu,
    PowerShelf,
    RackType,
    Switch,
    fact_value,
)

CATALOGUE = load_catalogue()
ENTRIES = tuple(CATALOGUE.load_all())
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

    assert titles == {
        "NVIDIA DGX H100/H200 System User Guide",
        "NVIDIA QM97X0 1U NDR switch systems user manual",
        "NVIDIA GB200 NVL72 documentation",
        "EC2 DescribeInstanceTypes, as generated into Karpenter's tables",
        (
            "EC2 DescribeInstanceTypes, as recorded in moto 5.2.5 "
            "(moto/ec2/resources/instance_types.json.gz)"
        ),
    }


def test_estimates_are_these_and_no_others():
    found = {
        (entry.id, name)
        for entry in ENTRIES
        for name, fact in entry.facts()
        if entry.sources[fact.source].confidence is Confidence.ESTIMATE
    }

    assert found == {
        ("hgx-h100-4u-liquid", "max_power"),
        ("q3400-ra", "max_power"),
        ("p6e-gb200.36xlarge", "vcpus"),
        ("p6e-gb200.36xlarge", "bandwidth"),
    }


# accelerators, W each, U, max kW, kg, CFM, heat BTU/h, fabric ports, Gbps
NODES = {
    "dgx-a100": (8, 400, 6, 6.5, 123.2, 840, 22179, 8, 200),
    "dgx-h100": (8, 700, 8, 10.2, 130.45, 1105, 38557, 8, 400),
    "dgx-h200": (8, 700, 8, 10.2, 130.45, 1105, 38557, 8, 400),
    "dgx-b200": (8, 1000, 10, 14.3, 142.4, 2145, 48794, 8, 400),
    "dgx-b300": (8, 1400, 10, 14.5, 168, 1500, None, 8, 800),
    "dgx-b300-busbar": (8, 1400, 10, 14.5, 123, 1350, None, 8, 800),
    "gb200-nvl72": (72, 1200, 48, 132, 1360, None, None, 72, 400),
    "gb300-nvl72": (72, 1400, 48, 142, None, None, None, 72, 800),
    "hgx-h100-4u-liquid": (8, 700, 4, 10.2, None, None, None, 8, 400),
    "mi300x-8x": (8, 750, None, None, None, None, None, None, None),
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


def test_every_node_with_accelerators_is_in_the_table():
    assert set(NODES) == {i for i in CATALOGUE.ids(Node) if node(i).accelerators}


# power supplies, kW each, needed for full performance, needed to run
SUPPLIES = {
    "dgx-a100": (6, 3.0, 3, None),
    "dgx-h100": (6, 3.3, 4, None),
    "dgx-h200": (6, 3.3, 4, None),
    "dgx-b200": (6, 3.3, 5, 3),
    "dgx-b300": (12, 3.2, 6, None),
    "gb200-nvl72": (8, 33, None, None),
    "gb300-nvl72": (8, 33, None, None),
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
        compute, storage = node(entry_id).ports

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
    "q3400-ra": (144, 800, 4, None, 4200, None, None, 72),
    "q3450-ld": (144, 800, 4, None, None, None, None, None),
    "q3200-ra": (36, 800, 2, None, None, None, None, None),
    "sn5600": (64, 800, 2, 940, 2167, 23.5, 720, None),
    "sn5610": (64, 800, 2, 900, 2080, 26.9, 775, None),
    "sn4600c": (64, 100, 2, 466, None, 14.64, 566, None),
    "sn2201": (48, 1, 1, 98, None, 7.41, 432, None),
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


def test_every_switch_is_in_the_table():
    assert set(SWITCHES) == set(CATALOGUE.ids(Switch))


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
}


def test_pdu_ratings():
    found = {i: CATALOGUE.get(Pdu, i) for i in CATALOGUE.ids(Pdu)}

    assert {i: (p.voltage.value, p.current.value, p.wiring) for i, p in found.items()} == PDUS
    assert {p.phases for p in found.values()} == {3}


def test_outlets_are_known_only_where_we_specify_them():
    known = [i for i in CATALOGUE.ids(Pdu) if CATALOGUE.get(Pdu, i).outlets is not None]
    spec = CATALOGUE.get(Pdu, "pdu-415v-60a-24c19")

    assert known == ["pdu-415v-60a-24c19"]
    assert spec.outlets is not None
    assert {o.type: o.count for o in spec.outlets}["C19"] == 24
    assert (fact_value(spec.branch_count), fact_value(spec.branch_rating)) == (12, 20)
    assert {s.confidence for s in spec.sources.values()} == {Confidence.COMMON}


def test_power_shelves():
    found = {i: CATALOGUE.get(PowerShelf, i) for i in CATALOGUE.ids(PowerShelf)}

    assert {i: (s.rating.value, fact_value(s.rating_n_plus_1)) for i, s in found.items()} == {
        "mgx-33kw": (33_000, 27_500),
        "orv3-18kw": (18_000, 15_000),
        "orv3-hpr-33kw": (33_000, 27_500),
        "orv3-hpr-v2-72kw": (72_000, None),
    }
    for shelf in found.values():
        if shelf.rating_n_plus_1 is not None:
            one_less = shelf.rating.value * (shelf.supplies - 1) / shelf.supplies
            assert shelf.rating_n_plus_1.value == pytest.approx(one_less)
    assert fact_value(found["orv3-hpr-33kw"].backup) == 90


def test_racks():
    found = {i: CATALOGUE.get(RackType, i) for i in CATALOGUE.ids(RackType)}

    assert {i: (r.height.value, r.width.value, r.depth.value) for i, r in found.items()} == {
        "rack-42u": (42, 0.6, 1.2),
        "rack-48u": (48, 0.6, 1.2),
        "rack-52u": (52, 0.7, 1.2),
        "rack-mgx-48u": (48, 0.6, 1.2),
        "tank-spec-24u": (24, 1.5, 0.9),
    }
    assert [fact_value(found[f"rack-{u}u"].static_rating) for u in (42, 48, 52)] == [1360] * 3
    assert {fact_value(rack.dynamic_rating) for rack in found.values()} == {None}


def test_cooling_equipment():
    chx = CATALOGUE.get(Cdu, "coolit-chx2000")
    limits = {i: CATALOGUE.get(Connector, i) for i in CATALOGUE.ids(Connector)}

    assert (chx.capacity.value, fact_value(chx.power)) == (2_000_000, 12_240)
    assert chx.approach is None, "a capacity without its approach is not comparable"
    assert {i: fact_value(c.flow) for i, c in limits.items()} == {
        "uqd04": 6.4,
        "bmqc": 9,
        "pbmc": 36,
        "lqc-v2": 100,
    }
    assert {fact_value(c.max_fluid) for c in limits.values()} == {60}
    assert fact_value(limits["bmqc"].max_pressure) == pytest.approx(50 * 6.894757)
    assert fact_value(limits["lqc-v2"].max_pressure) == pytest.approx(75 * 6.894757)


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
}


def test_cables():
    found = [CATALOGUE.get(Cable, i) for i in CATALOGUE.ids(Cable)]

    assert {c.part: (c.medium, c.reach.value) for c in found} == CABLES
    assert {c.part: fact_value(c.reach_om3) for c in found if c.medium == "mmf"} == {
        "MMA4Z00": 30,
        "MMA1Z00": 30,
    }
    assert all(c.id == c.part.lower() for c in found)


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
}
"""Table of DescribeInstanceTypes; accelerators and memory of GB200 and Trainium as documented."""


def test_every_accelerated_type_is_in_the_table():
    types = [CATALOGUE.get(Instance, i) for i in CATALOGUE.ids(Instance)]

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


def test_types_for_head_and_login_nodes():
    """vCPUs and GiB: 4 GiB a vCPU for m, 2 for c, 8 for r."""
    found = {
        i: (fact_value(t.vcpus), fact_value(t.memory))
        for i in CATALOGUE.ids(Instance)
        for t in [CATALOGUE.get(Instance, i)]
        if t.accelerators is None and not t.instance_type.startswith("hpc")
    }

    assert found == {
        "m7i.xlarge": (4, 16),
        "m7i.2xlarge": (8, 32),
        "m7i.4xlarge": (16, 64),
        "m7i.8xlarge": (32, 128),
        "c7i.4xlarge": (16, 32),
        "c7i.8xlarge": (32, 64),
        "r7i.4xlarge": (16, 128),
    }
