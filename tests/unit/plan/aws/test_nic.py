from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aws_factories import an_instance, cards
from rackwright.model.instances import Instance
from rackwright.plan.aws.nic import (
    LayoutError,
    Nic,
    NoEfaError,
    UnknownLayoutError,
    addresses_per_node,
    efa_count,
    group_layout,
    nic_layout,
)

PRIMARY = Nic(0, 0, "interface")
GB200_CARDS = [
    {"index": index, "interfaces": 2 if index % 2 == 0 else 1, "efa": True} for index in range(17)
]

# type, cards, interfaces of each, cards without EFA, EFA interfaces
UNIFORM = [
    ("p3dn.24xlarge", 1, 15, (), 1),
    ("p4d.24xlarge", 4, 15, (), 4),
    ("p4de.24xlarge", 4, 15, (), 4),
    ("p5.4xlarge", 1, 4, (), 1),
    ("p5.48xlarge", 32, 2, (), 32),
    ("p5e.48xlarge", 32, 2, (), 32),
    ("p5en.48xlarge", 16, 4, (), 16),
    ("p6-b200.48xlarge", 8, 4, (), 8),
    ("p6-b300.48xlarge", 17, 4, (0,), 16),
    ("g6e.24xlarge", 2, 10, (), 2),
    ("g6e.48xlarge", 4, 10, (), 4),
    ("g7e.24xlarge", 2, 10, (), 2),
    ("g7e.48xlarge", 4, 10, (), 4),
    ("trn1.32xlarge", 8, 5, (), 8),
    ("trn1n.32xlarge", 16, 5, (), 16),
]


def build(name: str, count: int, interfaces: int, without: tuple[int, ...], efa: int) -> Instance:
    return an_instance(name, network_cards=cards(count, interfaces, without=without), efa=efa)


@pytest.mark.parametrize(("name", "count", "interfaces", "without", "efa"), UNIFORM)
def test_every_efa_card_carries_one_efa_only_interface(name, count, interfaces, without, efa):
    nics = nic_layout(build(name, count, interfaces, without, efa))

    assert nics[0] == PRIMARY
    expected = [
        Nic(card, 1 if card == 0 else 0, "efa-only") for card in range(count) if card not in without
    ]
    assert list(nics[1:]) == expected
    assert efa_count(nics) == efa
    assert addresses_per_node(nics) == 1


def test_p5_has_32_efa_interfaces_on_cards_0_to_31():
    nics = nic_layout(build("p5.48xlarge", 32, 2, (), 32))

    assert [(nic.card, nic.device) for nic in nics if nic.is_efa] == [
        (0, 1),
        *((card, 0) for card in range(1, 32)),
    ]
    assert len(nics) == 33


def test_p6_b300_card_0_is_ena_only():
    nics = nic_layout(build("p6-b300.48xlarge", 17, 4, (0,), 16))

    assert [nic for nic in nics if nic.card == 0] == [PRIMARY]
    assert {nic.card for nic in nics if nic.is_efa} == set(range(1, 17))


def test_gb200_follows_the_interfaces_of_each_card():
    nics = nic_layout(an_instance("p6e-gb200.36xlarge", network_cards=GB200_CARDS, efa=17))

    assert nics[:2] == (PRIMARY, Nic(0, 1, "efa-only"))
    assert {(nic.device, nic.kind) for nic in nics if nic.card and nic.card % 2 == 0} == {
        (1, "efa")
    }
    assert {(nic.device, nic.kind) for nic in nics if nic.card % 2 == 1} == {(0, "efa-only")}
    assert addresses_per_node(nics) == 9


def test_cards_that_differ_have_no_layout_on_other_types():
    with pytest.raises(UnknownLayoutError, match="different numbers"):
        nic_layout(an_instance("p9.48xlarge", network_cards=GB200_CARDS, efa=17))


def test_unknown_cards_are_never_one_efa():
    with pytest.raises(UnknownLayoutError, match=r"trn2\.48xlarge"):
        nic_layout(an_instance("trn2.48xlarge", efa=16))


def test_an_unknown_count_still_needs_the_cards():
    with pytest.raises(UnknownLayoutError):
        nic_layout(an_instance("x1.1xlarge"))


def test_a_type_without_efa_is_refused():
    with pytest.raises(NoEfaError, match=r"m7i\.4xlarge"):
        nic_layout(an_instance("m7i.4xlarge", network_cards=cards(1, 8, without=(0,)), efa=0))


def test_no_efa_card_and_no_count_is_no_efa():
    with pytest.raises(NoEfaError):
        nic_layout(an_instance("m7i.4xlarge", network_cards=cards(1, 8, without=(0,))))


def test_a_count_that_contradicts_the_cards_is_refused():
    with pytest.raises(LayoutError, match="give 31 EFA interfaces, its catalogue entry says 32"):
        nic_layout(an_instance(network_cards=cards(32, without=(5,)), efa=32))


def test_cards_with_a_gap_are_refused():
    with pytest.raises(LayoutError, match="without gaps"):
        nic_layout(an_instance(network_cards=cards(4)[:2] + cards(4)[3:], efa=3))


def test_card_0_needs_room_for_the_primary_interface():
    with pytest.raises(LayoutError, match="no room"):
        nic_layout(an_instance(network_cards=cards(4, 1), efa=4))


def test_without_efa_only_the_primary_interface_remains():
    assert group_layout(an_instance("trn2.48xlarge", efa=16), efa=False) == (PRIMARY,)


@given(st.integers(1, 64), st.integers(2, 15), st.data())
def test_no_place_is_used_twice_and_no_card_is_overfull(count, interfaces, data):
    without = tuple(data.draw(st.sets(st.integers(0, count - 1), max_size=count - 1)))
    efa = count - len(without)
    nics = nic_layout(build("any.type", count, interfaces, without, efa))

    places = [(nic.card, nic.device) for nic in nics]
    assert len(set(places)) == len(places)
    assert efa_count(nics) == efa
    assert all(sum(nic.card == card for nic in nics) <= interfaces for card in range(count))
