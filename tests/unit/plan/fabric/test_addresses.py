from __future__ import annotations

import ipaddress
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabric_factories import a_fabric, a_tier, layout_of, site_of
from factories import CATALOGUE, some_nodes
from rackwright.model.fabric import Fabric, Segment
from rackwright.plan.fabric.addresses import (
    NumberRange,
    addresses_needed,
    addresses_of,
    asn_claims,
    free_prefix,
    next_free,
    number_claims,
    overlaps,
    prefix_claims,
    prefix_for,
)
from rackwright.plan.fabric.fabrics import plan_fabrics

claims = st.lists(
    st.builds(
        lambda first, size: NumberRange("x", first, first + size, "x"),
        st.integers(0, 200),
        st.integers(0, 40),
    ),
    max_size=12,
)


@given(claims)
def test_an_overlap_is_found_exactly_when_there_is_one(made):
    shared = any(a.first <= b.last and b.first <= a.last for a, b in combinations(made, 2))
    found = overlaps(made)
    assert bool(found) == shared
    assert all(a.first <= b.last and b.first <= a.last for a, b in found)


def test_a_range_inside_another_is_found_past_a_third():
    outer, inner, last = (
        NumberRange("a", 0, 100, "a"),
        NumberRange("b", 1, 2, "b"),
        NumberRange("c", 50, 60, "c"),
    )
    assert overlaps([last, inner, outer]) == [(outer, inner), (outer, last)]


def test_neighbours_do_not_overlap():
    assert overlaps([NumberRange("a", 0, 9, "a"), NumberRange("b", 10, 19, "b")]) == []


def test_the_next_free_range_is_aligned():
    assert next_free([NumberRange("a", 0, 9, "a"), NumberRange("b", 4, 5, "b")], 1) == 10
    assert next_free([NumberRange("a", 0, 9, "a")], 8) == 16


def test_a_free_prefix_lies_after_all_others():
    made = [Segment(name="a", prefix="10.0.0.0/23"), Segment(name="b", prefix="10.0.1.0/24")]
    fabric = Fabric.model_validate(a_fabric(segments=[s.model_dump() for s in made]))
    claims = prefix_claims(fabric, "lab")[4]
    ((_, second),) = overlaps(claims)
    assert second.owner == "lab b"
    assert free_prefix(claims, second, 4) == "10.0.2.0/24"


def test_there_is_no_free_prefix_past_the_last_address():
    last = NumberRange("a", 2**32 - 256, 2**32 - 1, "255.255.255.0/24")
    assert free_prefix([last], last, 4) is None


def test_a_prefix_of_ipv6_is_apart_from_ipv4():
    fabric = Fabric.model_validate(a_fabric(segments=[{"name": "a", "prefix": "2001:db8::/64"}]))
    found = prefix_claims(fabric, "lab")
    assert found[4] == []
    assert free_prefix(found[6], found[6][0], 6) == "2001:db8:0:1::/64"


def test_each_switch_has_a_number_unless_they_share_one():
    tiers = [a_tier("leaf", 8, asn=65001), a_tier("spine", 4, asn=65100, asn_shared=True)]
    (fabric,) = plan_fabrics(site_of(a_fabric(tiers=tiers)), ("sites", 0), CATALOGUE)
    leaf, spine = asn_claims(fabric, "lab")
    assert (leaf.first, leaf.last, leaf.text) == (65001, 65008, "65001 to 65008")
    assert (spine.first, spine.last, spine.text) == (65100, 65100, "65100")
    (fabric,) = plan_fabrics(site_of(), ("sites", 0), CATALOGUE)
    assert asn_claims(fabric, "lab") == []


def test_numbers_of_segments():
    segments = [{"name": "a", "pkey": 5}, {"name": "b", "vlan": 7}, {"name": "c"}]
    fabric = Fabric.model_validate(a_fabric(segments=segments))
    assert [claim.first for claim in number_claims(fabric, "pkey")] == [5]
    assert [claim.first for claim in number_claims(fabric, "vlan")] == [7]


def test_every_interface_needs_an_address():
    layout = layout_of(nodes=4)
    assert addresses_needed(layout, Segment(name="a", groups=["dgx"])) == 32
    groups = [some_nodes(), some_nodes("ufm", type="ufm-ndr")]
    apart = layout_of(groups=groups)
    assert addresses_needed(apart, Segment(name="a", groups=["dgx", "ufm"])) is None


@pytest.mark.parametrize(
    ("prefix", "room"),
    [("10.0.0.0/24", 254), ("10.0.0.0/31", 2), ("2001:db8::/126", 4), (None, None)],
)
def test_addresses_of_a_prefix(prefix, room):
    assert addresses_of(Segment(name="a", prefix=prefix)) == room


@given(st.integers(1, 60_000), st.sampled_from([4, 6]))
def test_the_smallest_prefix_has_room_and_the_next_one_has_not(hosts, version):
    length, base = prefix_for(hosts, version), "10.0.0.0" if version == 4 else "2001:db8::"
    spare = 2 if version == 4 else 0
    room = ipaddress.ip_network(f"{base}/{length}").num_addresses
    assert room >= hosts + spare
    assert room / 2 < hosts + spare or room <= 2
