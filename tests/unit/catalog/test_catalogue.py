"""The built-in catalogue: every entry consistent, known products against independent numbers."""

from __future__ import annotations

import re

import pytest

from catalogue_entries import all_entries
from factories import CATALOGUE
from known import known
from rackwright.catalog.loader import FOLDERS, E
from rackwright.model.connections import Cable
from rackwright.model.hardware import Confidence, Fact, Node, Pdu, PowerShelf, Switch, fact_value
from rackwright.model.instances import Instance
from rackwright.model.racks import RackType
from rackwright.resources import bundled

FILES = sorted((bundled("inventory") / "catalog").rglob("*.yaml"))
EVERYTHING = [(kind, entry_id) for kind in FOLDERS.values() for entry_id in CATALOGUE.ids(kind)]


def every(kind: type[E]) -> list[E]:
    return [CATALOGUE.get(kind, entry_id) for entry_id in CATALOGUE.ids(kind)]


def test_no_product_has_an_id_of_documents_and_tests():
    """A product with the id of a fixture turned 40 tests red."""
    assert [path.name for path in FILES if path.name.startswith("acme-")] == []


def test_every_file_is_an_entry_of_its_folder():
    assert len(FILES) == len(EVERYTHING)
    without = {"transformers", "chillers", "dry-coolers"}  # no document gave one whole
    assert {path.parent.name for path in FILES} == set(FOLDERS) - without
    assert len(list(all_entries(CATALOGUE))) == len(FILES)


@pytest.mark.parametrize(("kind", "entry_id"), EVERYTHING, ids=[e for _, e in EVERYTHING])
def test_an_entry_is_called_like_its_file_and_every_number_has_a_source(kind, entry_id):
    entry = CATALOGUE.get(kind, entry_id)
    assert entry.id == entry_id == CATALOGUE.source_of(kind, entry_id).stem
    for name, fact in entry.facts():
        source = entry.sources[fact.source]
        assert source.title, name
        assert source.date.year >= 2016
        assert source.confidence in Confidence


def test_no_entry_rests_on_an_estimate_alone():
    confidences = {
        entry.id: {source.confidence for source in entry.sources.values()}
        for entry in all_entries(CATALOGUE)
    }
    assert any(len(found) > 1 and Confidence.ESTIMATE in found for found in confidences.values())
    assert [name for name, found in confidences.items() if found == {Confidence.ESTIMATE}] == []


def test_cages_hold_all_logical_ports():
    switches = [switch for switch in every(Switch) if switch.cages is not None]
    assert switches
    for switch in switches:
        assert known(switch.cages).value * switch.ports_per_cage == switch.radix, switch.id


def devices() -> list[Node | Switch]:
    return [*every(Node), *every(Switch)]


def test_the_power_supplies_can_carry_the_nameplate():
    judged = 0
    for device in devices():
        psus = device.power_supplies
        rating, power = fact_value(psus.rating) if psus else None, fact_value(device.max_power)
        if psus is None or rating is None or power is None:
            continue
        judged += 1
        assert psus.count * rating >= power, device.id
        needed = fact_value(psus.full_performance)
        if needed is not None:
            assert needed * rating >= power, device.id
    assert judged >= 5


def test_living_supplies_are_ordered():
    ladders = {
        device.id: [fact_value(psus.degraded), fact_value(psus.full_performance), psus.count]
        for device in devices()
        if (psus := device.power_supplies) is not None
    }
    assert ladders["dgx-b200"] == [3, 5, 6]
    for name, ladder in ladders.items():
        counts = [count for count in ladder if count is not None]
        assert counts == sorted(counts), name
        assert counts[0] >= 1, name


def test_typical_is_below_maximum_is_below_peak():
    ladders = {
        device.id: [
            power.value
            for power in (device.typical_power, device.max_power, device.peak_power)
            if power is not None
        ]
        for device in devices()
    }
    assert max(map(len, ladders.values())) >= 2
    assert [name for name, ladder in ladders.items() if ladder != sorted(ladder)] == []


def test_ranges_have_two_ends_in_order():
    ranges = [
        (device.id, low.value, high.value)
        for device in devices()
        for low, high in (
            (device.inlet_min, device.inlet_max),
            (device.voltage_min, device.voltage_max),
        )
        if low is not None and high is not None
    ]
    assert ranges
    assert [name for name, low, high in ranges if low >= high] == []


def test_the_liquid_never_takes_more_than_there_is():
    cooled = [device for device in devices() if device.liquid is not None]
    measured = {
        device.id: (device.liquid.heat.value, device.max_power.value)
        for device in devices()
        if device.liquid and device.liquid.heat and device.max_power
    }
    assert measured
    assert [name for name, (heat, power) in measured.items() if heat > power] == []
    assert [device.id for device in cooled if device.medium == "air"] == []


@pytest.mark.parametrize(
    ("entry_id", "gpus", "units", "watts", "kilograms", "cfm", "supplies", "full"),
    [
        ("dgx-a100", 8, 6, 6_500, 123, 840, 6, 3),
        ("dgx-h100", 8, 8, 10_200, 130.45, 1105, 6, 4),
        ("dgx-h200", 8, 8, 10_200, 130.45, 1105, 6, 4),
        ("dgx-b200", 8, 10, 14_300, 142.4, 2145, 6, 5),
        ("dgx-b300", 8, 10, 15_000, 168, 2145, 12, 6),
    ],
)
def test_dgx_systems(entry_id, gpus, units, watts, kilograms, cfm, supplies, full):
    node = CATALOGUE.get(Node, entry_id)
    assert node.accelerators is not None
    assert node.accelerators.count == gpus
    found = [node.height, node.max_power, node.weight, node.airflow]
    assert [fact_value(fact) for fact in found] == [units, watts, kilograms, cfm]
    assert node.power_supplies is not None
    assert node.power_supplies.count == supplies
    assert fact_value(node.power_supplies.full_performance) == full


def test_the_dgx_h100_gives_off_more_heat_than_it_takes_in_and_says_so():
    node = CATALOGUE.get(Node, "dgx-h100")
    assert node.heat is not None
    assert node.max_power is not None
    assert round(node.heat.value / 1000, 1) == 11.3
    assert node.heat.value > node.max_power.value
    assert any("11.3 kW" in note for note in node.notes)


def test_compute_adapters_of_the_dgx_h100():
    """Those that ``ibdev2netdev`` numbers 0, 3 to 6 and 9 to 11; the others serve storage."""
    (compute,) = [p for p in CATALOGUE.get(Node, "dgx-h100").ports if p.role == "compute"]
    assert sorted(int(name.removeprefix("mlx5_")) for name in compute.names) == [
        0,
        3,
        4,
        5,
        6,
        9,
        10,
        11,
    ]
    assert len(set(compute.cages)) == compute.count == 8
    assert compute.rate.value == 400


def test_an_nvl72_is_eighteen_hosts_and_a_whole_rack():
    for entry_id in ("gb200-nvl72", "gb300-nvl72"):
        node = CATALOGUE.get(Node, entry_id)
        assert node.accelerators is not None
        assert (node.hosts, node.accelerators.count) == (18, 72)
        assert node.whole_rack
        assert node.rack_weight_included
    liquid = CATALOGUE.get(Node, "gb200-nvl72").liquid
    assert liquid is not None
    assert fact_value(liquid.heat) == 115_000


@pytest.mark.parametrize(
    ("entry_id", "radix", "rate"),
    [("qm8700", 40, 200), ("qm9700", 64, 400), ("q3400-ra", 144, 800)],
)
def test_infiniband_switches(entry_id, radix, rate):
    switch = CATALOGUE.get(Switch, entry_id)
    assert (switch.technology, switch.radix, switch.rate.value) == ("infiniband", radix, rate)


def test_a_pdus_name_says_its_rating():
    said = {
        pdu.id: (tuple(map(float, match.groups())), (pdu.voltage.value, pdu.current.value))
        for pdu in every(Pdu)
        if (match := re.match(r"pdu-(\d+)v-(\d+)a", pdu.id))
    }
    assert said
    assert {name: pair for name, pair in said.items() if pair[0] != pair[1]} == {}


def test_branches_of_a_pdu_carry_its_outlets():
    rated = [pdu for pdu in every(Pdu) if pdu.branch_rating is not None]
    assert rated
    assert [pdu.id for pdu in rated if known(pdu.branch_rating).value > pdu.current.value] == []
    kinds = {pdu.id: [outlet.type for outlet in pdu.outlets or ()] for pdu in every(Pdu)}
    assert any(kinds.values())
    assert [name for name, found in kinds.items() if len(found) != len(set(found))] == []


def test_a_shelf_without_one_supply_carries_less():
    for shelf in every(PowerShelf):
        if shelf.rating_n_plus_1 is not None:
            assert shelf.rating_n_plus_1.value < shelf.rating.value
    assert fact_value(CATALOGUE.get(PowerShelf, "orv3-hpr-33kw").rating_n_plus_1) == 27_500


def test_racks_are_as_high_as_they_are_called():
    named = re.compile(r"\b(\d+)u\b")
    heights = {rack.id: rack.height.value for rack in every(RackType) if named.search(rack.id)}
    assert len(heights) > 3
    assert heights == {name: int(known(named.search(name)).group(1)) for name in heights}


def test_older_fibre_reaches_less_far():
    multimode = [cable for cable in every(Cable) if cable.reach_om3 is not None]
    assert {cable.medium for cable in multimode} == {"mmf"}
    assert [c.id for c in multimode if known(c.reach_om3).value > c.reach.value] == []


def test_copper_reaches_five_metres_at_most():
    copper = [cable.reach.value for cable in every(Cable) if cable.medium == "dac"]
    assert copper
    assert max(copper) <= 5


# type, accelerators, MiB each, vCPUs, MiB of memory, EFA, cards, interfaces on each card, Gbps, GB
EC2 = """
p3dn.24xlarge      8  32768   96  786432  1  1   15  100  1800
p4d.24xlarge       8  40960   96 1179648  4  4   15  400  8000
p4de.24xlarge      8  81920   96 1179648  4  4   15  400  8000
p5.4xlarge         1  81920   16  262144  1  1    4  100  3800
p5.48xlarge        8  81920  192 2097152 32 32    2 3200 30400
p5e.48xlarge       8 144384  192 2097152 32 32    2 3200 30400
p5en.48xlarge      8 144384  192 2097152 16 16    4 3200 30400
p6-b200.48xlarge   8 183359  192 2097152  8  8    4 3200 30400
p6-b300.48xlarge   8 275040  192 4194304 16 17    4 6400 30400
p6e-gb200.36xlarge 4      -    -       -  - 17  2/1    -     -
g6e.24xlarge       4  45776   96  786432  2  2   10  200  3800
g6e.48xlarge       8  45776  192 1572864  4  4   10  400  7600
g7e.24xlarge       4  98304   96 1048576  2  2   10  800  7600
g7e.48xlarge       8  98304  192 2097152  4  4   10 1600 15200
g5.48xlarge        8  22888  192  786432  1  1    7  100  7600
g6.48xlarge        8  22888  192  786432  1  1   15  100  7520
g4dn.metal         8  16384   96  393216  1  1   15  100  1800
trn1.32xlarge      -      -  128  524288  8  8    5  800  7600
trn1n.32xlarge     -      -  128  524288 16 16    5 1600  7600
trn2.48xlarge      -      -  192 2097152 16 16    2 3200  7600
hpc7a.12xlarge     -      -   24  786432  2  2    2  300     -
hpc7a.24xlarge     -      -   48  786432  2  2    2  300     -
hpc7a.48xlarge     -      -   96  786432  2  2    2  300     -
hpc7a.96xlarge     -      -  192  786432  2  2    2  300     -
hpc8a.96xlarge     -      -  192  786432  2  2    2  300     -
"""
ROWS = [line.split() for line in EC2.strip().splitlines()]


@pytest.mark.parametrize("row", ROWS, ids=[row[0] for row in ROWS])
def test_ec2_instance_types(row):
    """Typed by hand from the EC2 table; ``-`` where it has no number to hold against."""
    name, *numbers, per_card, gbps, storage = row
    entry = CATALOGUE.get(Instance, name)
    count, each, vcpus, memory, efa, cards = numbers
    assert (entry.instance_type, entry.provider) == (name, "aws")
    known = {
        "accelerators": (count, entry.accelerators and entry.accelerators.count),
        "memory of each": (each, entry.accelerators and _mib(entry.accelerators.memory)),
        "vcpus": (vcpus, fact_value(entry.vcpus)),
        "memory": (memory, _mib(entry.memory)),
        "efa": (efa, fact_value(entry.efa_interfaces)),
        "cards": (cards, entry.cards and len(entry.cards.value)),
        "bandwidth": (gbps, fact_value(entry.bandwidth)),
    }
    for what, (expected, found) in known.items():
        if expected != "-" and found is not None:
            assert found == int(expected), what
    if storage != "-" and entry.local_storage is not None:
        assert entry.local_storage.value * 2**30 / 10**9 == pytest.approx(int(storage))
    if per_card != "-" and entry.cards is not None:
        even, odd = ([*per_card.split("/")] * 2)[:2]
        for card in entry.cards.value:
            assert card.interfaces == int(odd if card.index % 2 else even)


def _mib(fact: Fact[float] | None) -> float | None:
    return None if fact is None else fact.value * 1024


@pytest.mark.parametrize("row", ROWS, ids=[row[0] for row in ROWS])
def test_what_the_ec2_table_knows_the_catalogue_knows(row):
    """Cards without a published number of interfaces and unverified values stay unknown."""
    entry = CATALOGUE.get(Instance, row[0])
    found = [entry.vcpus, entry.memory, entry.efa_interfaces, entry.bandwidth, entry.local_storage]
    for expected, fact in zip([*row[3:6], *row[8:]], found, strict=True):
        if expected != "-":
            assert fact is not None
    assert (entry.cards is not None) == (row[7] != "-")


def test_cards_take_as_many_efa_interfaces_as_the_type():
    counts = {
        entry.id: (entry.cards.value, entry.efa_interfaces.value)
        for entry in every(Instance)
        if entry.cards and entry.efa_interfaces
    }
    assert counts
    for name, (cards, interfaces) in counts.items():
        assert len([card for card in cards if card.efa]) == interfaces, name
        assert [card.index for card in cards] == list(range(len(cards)))


def test_the_first_card_of_a_b300_takes_no_efa():
    cards = fact_value(CATALOGUE.get(Instance, "p6-b300.48xlarge").cards)
    assert cards is not None
    assert [card.index for card in cards if not card.efa] == [0]
