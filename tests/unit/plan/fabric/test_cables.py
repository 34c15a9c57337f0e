from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabric_factories import a_fabric, a_patch, a_tier, layout_of, some_cables, three_tiers
from factories import CATALOGUE
from rackwright.model.connections import Cable
from rackwright.model.fabric import CableRoute, Cables
from rackwright.plan.fabric.cables import (
    Wire,
    digest,
    length_of,
    mismatches,
    reach,
    reaching,
    routed_length,
    unsaid,
    wires,
)

LINK = ("sites", 0, "fabrics", 1, "links", 2)


def a_link(**changes: Any) -> Cables:
    return Cables.model_validate({**some_cables("dgx", "leaf"), **changes})


def test_a_route_has_two_drops_and_a_tenth_of_slack():
    assert length_of(CableRoute(tray="24 m", drop="2 m")) == pytest.approx(30.8)
    assert length_of(CableRoute(tray="1 m", drop="1 m")) == 4.0
    assert routed_length(a_link(length="7 m")) == 7
    assert routed_length(a_link()) is None


@given(st.floats(0, 1000), st.floats(0, 20))
def test_slack_is_a_tenth_and_a_metre_at_least(tray, drop):
    way = tray + 2 * drop
    made = length_of(CableRoute.model_construct(tray=tray, drop=drop))
    assert made >= way + 1 - 1e-9
    assert made >= 1.1 * way - 1e-9
    assert made <= max(way + 1, 1.1 * way) + 1e-9


def test_multi_mode_reaches_less_far_on_older_fibre():
    part = CATALOGUE.get(Cable, "mma4z00")
    assert (reach(part, "OM4"), reach(part, "OM3"), reach(part, None)) == (50, 30, None)
    assert reach(CATALOGUE.get(Cable, "mms4x00-ns"), None) == 100


def test_the_part_of_shortest_reach_is_suggested():
    layout = layout_of()
    like = CATALOGUE.get(Cable, "mma4z00")
    assert reaching(layout, a_link(), 120, like) == "mms4x00-nm"
    assert reaching(layout, a_link(fibre="OM3"), 25, like) == "mma4z00"
    assert reaching(layout, a_link(), 2.5, like) == "mcp7y00"
    assert reaching(layout, a_link(), 50_000, like) is None


def test_the_part_that_is_suggested_carries_ports_of_the_same_rate():
    """Two ports of 400 Gbps and one of 800 Gbps are both 800 Gbps."""
    layout = layout_of()
    assert reaching(layout, a_link(), 400, CATALOGUE.get(Cable, "mms4a20")) == "mms4a20"


def test_missing_facts_of_a_cable():
    layout = layout_of()
    found = unsaid(layout, a_link(), LINK)
    assert found == ("'cable'", "'lower_shell'", "'upper_shell'")
    assert [one.fields for one in found] == [
        ((*LINK, name),) for name in ("cable", "lower_shell", "upper_shell")
    ]
    said = a_link(cable="mms4x00-ns", fibre="OS2", lower_shell="flat-top", upper_shell="finned-top")
    assert unsaid(layout, said, LINK) == ()
    assert mismatches(layout, said) == ()


def test_each_mismatch_is_told_once_and_with_a_remedy():
    link = a_link(cable="mma4z00", upper_cable="mms4x00-ns", fibre="OS2", lower_shell="finned-top")
    found = dict(mismatches(layout_of(), link))
    assert len(found) == 3
    assert all(found.values())
    assert "order flat-top shells for 'dgx'" in found.values()


def test_every_cable_of_a_unit_has_ports_of_its_own():
    layout = layout_of()
    made = list(wires(layout))
    assert len(made) == 512
    assert made[0] == Wire("dgx-01", 1, "compute-leaf-1", 1, "")
    assert made[256] == Wire("compute-leaf-1", 33, "compute-spine-1", 1, "up")
    ends = Counter(
        [(w.lower, w.lower_port) for w in made] + [(w.upper, w.upper_port) for w in made]
    )
    assert max(ends.values()) == 1
    assert max(port for _, port in ends) == 64


def test_every_cable_of_three_tiers_has_ports_of_its_own():
    made = list(wires(layout_of(three_tiers(2), nodes=256)))
    assert len(made) == 3 * 2048
    ends = Counter(
        [(w.lower, w.lower_port) for w in made] + [(w.upper, w.upper_port) for w in made]
    )
    assert max(ends.values()) == 1
    assert max(port for _, port in ends) == 64


def test_a_patch_is_in_the_list_of_cables():
    fabric = a_fabric(patches=[a_patch("dgx-01", 1, "compute-leaf-2", 40)])
    first = next(iter(wires(layout_of(fabric))))
    assert (first.upper, first.upper_port) == ("compute-leaf-2", 40)


def test_the_digest_changes_with_the_shape_and_not_with_the_rest():
    digests = [
        digest(layout_of(a_fabric(**change), nodes=nodes))
        for change, nodes in (
            ({}, 32),
            ({}, 31),
            ({"links": [some_cables(parallel=4)]}, 32),
            ({"patches": [a_patch("dgx-01", 1, "compute-leaf-1", 32)]}, 32),
            ({"subnets": 8}, 32),
        )
    ]
    assert len(set(digests)) == len(digests)
    assert digest(layout_of(a_fabric(mtu=4096, m_key=True))) == digests[0]


def test_ports_of_a_host():
    assert layout_of().hosts[0].role_ports == 8
    assert layout_of(a_fabric(role="management")).hosts[0].role_ports == 2 + 1 + 1
    unlisted = CATALOGUE.patched({"dgx-h100": {"ports": []}})
    assert layout_of(catalogue=unlisted).hosts[0].role_ports is None


def test_nothing_is_said_against_a_technology_that_is_not_known():
    tiers = [a_tier("leaf", 8), a_tier("spine", 4, "sn5610")]
    layout = layout_of(a_fabric(tiers=tiers))
    link = a_link(cable="mca4j80", lower_shell="flat-top", upper_shell="finned-top")
    assert mismatches(layout, link) == ()
    (found,) = unsaid(layout, link, LINK)
    assert found == "'technology' of the fabric"
    assert found.fields == ((*LINK[:-2], "technology"),)


def test_a_medium_that_no_part_of_the_technology_has():
    tiers = [a_tier("leaf", 2, "sn5610")]
    layout = layout_of(a_fabric(tiers=tiers, links=[]))
    (found,) = mismatches(layout, a_link(cable="mca4j80"))
    assert found[0] == "mca4j80 is not made for ethernet"
    assert found[1].startswith("use ")


def test_uplinks_of_their_own_are_counted_after_the_radix():
    tiers = [a_tier("leaf", 1, "sn2201"), a_tier("spine", 1, "sn4600c")]
    attached = [{"group": "dgx", "interfaces": 1, "rails": False}]
    fabric = a_fabric(tiers=tiers, attached=attached, links=[some_cables(parallel=4)])
    made = list(wires(layout_of(fabric)))
    assert [w.lower_port for w in made if w.kind == "up"] == [49, 50, 51, 52]
