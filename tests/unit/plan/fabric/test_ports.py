from __future__ import annotations

import pytest

from fabric_factories import a_fabric, a_patch, a_tier, layout_of, some_cables, three_tiers
from factories import some_nodes
from rackwright.plan.fabric.ports import (
    collisions,
    fewest_leaves_of_a_host,
    leaf_bandwidth,
    lids,
    misplaced,
    needed_switches,
    oversubscription,
    shared_rails,
    tier_use,
    unit_share,
    uplinks_for,
)


@pytest.mark.parametrize(
    ("nodes", "needed"),
    [(32, (8, 4)), (64, (16, 8)), (96, (24, 16)), (127, (32, 16)), (256, (64, 32))],
)
def test_needed_switches_are_those_that_nvidia_publishes(nodes, needed):
    layout = layout_of(a_fabric(*needed), nodes=nodes)
    assert needed_switches(layout) == needed


def test_a_half_filled_unit_needs_all_its_leaves():
    assert needed_switches(layout_of(nodes=4)) == (8, 4)
    assert needed_switches(layout_of(a_fabric(rail_optimized=False), nodes=4)) == (1, 4)


def test_three_tiers_of_512_nodes():
    layout = layout_of(three_tiers(), nodes=512)
    assert needed_switches(layout) == (128, 128, 64)
    assert [oversubscription(layout, tier) for tier in (0, 1)] == [1.0, 1.0]
    assert [tier_use(layout, tier).used for tier in range(3)] == [64, 64, 64]
    assert lids(layout) == 4096 + 320


def test_cores_of_all_planes_were_counted_as_if_they_were_of_one():
    """Four cores of 144 ports take the 512 cables of 16 spines, and eight planes need one each."""
    tiers = [a_tier("leaf", 16), a_tier("spine", 16), a_tier("core", 8, "q3400-ra")]
    links = [
        {"name": "a", "lower": "leaf", "upper": "spine", "parallel": 4, "pods": 2},
        {"name": "b", "lower": "spine", "upper": "core", "parallel": 32, "planes": 8},
    ]
    layout = layout_of(a_fabric(tiers=tiers, links=links), nodes=64)
    assert needed_switches(layout) == (16, 16, 8)


def test_each_rail_on_spines_of_its_own_is_sized_for_itself():
    links = [some_cables(parallel=4, planes=8)]
    layout = layout_of(a_fabric(72, 64, links=links), nodes=288)
    # 9 leaves a rail × 32 / 64 = 4.5 spines; the next divisor of 32 is 8, for each of 8 rails.
    assert needed_switches(layout) == (72, 64)
    assert layout.up_ports(0) == 32
    assert layout.down_links(1) == 36


def test_unknown_cabling_needs_an_unknown_number_of_ports():
    ufm = [some_nodes("ufm", count=1, type="ufm-ndr")]
    unsaid = layout_of(a_fabric(attached=[{"group": "ufm"}]), groups=ufm)
    assert needed_switches(unsaid) is None
    assert lids(unsaid) is None
    assert leaf_bandwidth(unsaid) is None
    four = [a_tier(name, 1) for name in ("a", "b", "c", "d")]
    assert needed_switches(layout_of(a_fabric(tiers=four, links=[]))) is None


def test_a_subnet_for_each_rail_shares_the_lids():
    assert lids(layout_of(a_fabric(subnets=8))) == 34  # 268 / 8, rounded up


def test_half_of_the_uplinks_are_two_to_one():
    layout = layout_of(a_fabric(links=[some_cables(parallel=4)]))
    assert oversubscription(layout, 0) == 2.0
    assert uplinks_for(layout, 0, 1.0) == 32
    assert uplinks_for(layout, 0, 1.5) == 22
    assert tier_use(layout, 0).used == 48
    assert tier_use(layout, 1).used == 32


def test_unknown_uplinks_make_the_ratio_unknown():
    layout = layout_of(a_fabric(links=[some_cables()]))
    assert oversubscription(layout, 0) is None
    assert uplinks_for(layout, 0, 1.0) is None
    assert tier_use(layout, 0).used is None
    assert oversubscription(layout_of(a_fabric(links=[])), 0) is None


def test_hosts_of_different_rates_add_up():
    groups = [some_nodes(count=31), some_nodes("ufm", count=1, type="ufm-ndr")]
    attached = [{"group": "dgx"}, {"group": "ufm", "interfaces": 1, "rate": "200 Gbps"}]
    layout = layout_of(a_fabric(attached=attached), groups=groups)
    assert leaf_bandwidth(layout) == 31 * 400 + 200
    attached = [{"group": "dgx"}, {"group": "ufm", "interfaces": 1}]
    assert leaf_bandwidth(layout_of(a_fabric(attached=attached), groups=groups)) is None


def test_a_host_without_a_port_makes_the_bandwidth_unknown():
    assert leaf_bandwidth(layout_of(nodes=33)) is None


def test_uplink_ports_of_their_own():
    tiers = [a_tier("leaf", 1, "sn2201"), a_tier("spine", 1, "sn5610")]
    attached = [{"group": "dgx", "interfaces": 1, "rate": "1 Gbps", "rails": False}]
    fabric = a_fabric(tiers=tiers, attached=attached, links=[some_cables(parallel=4)])
    layout = layout_of(fabric)
    use = tier_use(layout, 0)
    assert (use.used, use.radix, use.up, use.uplinks) == (32, 48, 4, 4)
    assert oversubscription(layout, 0) == 32 / 400
    assert needed_switches(layout) == (1, 1)


def test_swapped_rails_are_found():
    patches = [a_patch("dgx-01", 1, "compute-leaf-2", 1), a_patch("dgx-01", 2, "compute-leaf-1", 1)]
    layout = layout_of(a_fabric(patches=patches))
    assert [(m.index, m.meant) for m in misplaced(layout)] == [
        (0, "compute-leaf-1 port 1"),
        (1, "compute-leaf-2 port 1"),
    ]
    assert collisions(layout) == []
    assert tier_use(layout, 0).down == 32


def test_without_rails_a_patch_is_where_it_may_be():
    patches = [a_patch("dgx-01", 1, "compute-leaf-2", 1)]
    layout = layout_of(a_fabric(rail_optimized=False, patches=patches), nodes=4)
    assert misplaced(layout) == []


def test_rails_that_share_a_leaf_are_counted():
    layout = layout_of(a_fabric(4, 4, attached=[{"group": "dgx", "interfaces": 6}]), nodes=10)
    assert shared_rails(layout) == 20
    assert shared_rails(layout_of()) == 0


@pytest.mark.parametrize(
    ("patch", "reason", "fix"),
    [
        (a_patch("dgx-01", 1, "compute-leaf-1", 2), "interface 1 of dgx-02", "use port 32"),
        (a_patch("dgx-01", 1, "compute-leaf-2", 2), "interface 2 of dgx-02", "use port 32"),
        (a_patch("dgx-01", 1, "compute-leaf-1", 33), "a cable to the tier above", "use port 32"),
        (a_patch("dgx-01", 1, "compute-leaf-1", 65), "there is no", "compute-leaf-8 port 64"),
        (a_patch("dgx-01", 1, "compute-leaf-9", 1), "there is no", "compute-leaf-8 port 64"),
        (a_patch("dgx-32", 1, "compute-leaf-1", 1), "there is no interface 1 of 'dgx-32'", "name"),
        (a_patch("dgx-01", 9, "compute-leaf-1", 1), "there is no interface 9", "name a host"),
    ],
)
def test_a_patch_that_cannot_be_plugged_in(patch, reason, fix):
    (found,) = collisions(layout_of(a_fabric(patches=[patch]), nodes=31))
    assert reason in found.reason
    assert fix in found.fix


def test_a_full_leaf_offers_no_port():
    patches = [a_patch("dgx-01", 1, "compute-leaf-2", 2)]
    (found,) = collisions(layout_of(a_fabric(patches=patches)))
    assert "is full" in found.fix


def test_two_patches_in_one_port():
    patches = [
        a_patch("dgx-01", 1, "compute-leaf-1", 32),
        a_patch("dgx-02", 1, "compute-leaf-1", 32),
    ]
    (found,) = collisions(layout_of(a_fabric(patches=patches), nodes=31))
    assert (found.index, "already holds interface 1 of dgx-01" in found.reason) == (1, True)


def test_the_share_of_a_leaf():
    assert unit_share(layout_of(), 0) == 12.5
    assert unit_share(layout_of(nodes=3), 0) == 12.5
    assert unit_share(layout_of(a_fabric(rail_optimized=False)), 0) == 12.5
    assert unit_share(layout_of(a_fabric(rail_optimized=False), nodes=8), 0) == 50
    assert unit_share(layout_of(nodes=33), 0) is None


def test_leaves_of_the_worst_connected_host():
    assert fewest_leaves_of_a_host(layout_of(), 0) == 8
    assert fewest_leaves_of_a_host(layout_of(a_fabric(rail_optimized=False)), 0) == 1
    assert fewest_leaves_of_a_host(layout_of(nodes=33), 0) is None
