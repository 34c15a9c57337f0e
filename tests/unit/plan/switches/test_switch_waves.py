"""Waves of switches: each switch once, and no job without a way meanwhile."""

from __future__ import annotations

from collections.abc import Collection

from hypothesis import given, settings
from hypothesis import strategies as st

from fabric_factories import a_fabric, a_tier, in_racks, layout_of, some_cables, three_tiers
from rackwright.plan.fabric.cables import wires
from rackwright.plan.fabric.layout import Layout
from rackwright.plan.switches.waves import SwitchWave, switch_waves


def rails(units: int, spines: int) -> Layout:
    """Units of 32 hosts with eight rails each, under the same spines."""
    fabric = a_fabric(8 * units, spines, links=[some_cables(parallel=32 // spines)], unit_hosts=32)
    return layout_of(fabric, nodes=32 * units)


def planes(pods: int) -> Layout:
    """Pods of two leaves and two spines, each spine in a plane of its own."""
    tiers = [a_tier("leaf", 2 * pods), a_tier("spine", 2 * pods), a_tier("core", 4)]
    links = [
        {"name": "a", "lower": "leaf", "upper": "spine", "parallel": 1, "pods": pods},
        {"name": "b", "lower": "spine", "upper": "core", "parallel": 1, "planes": 2},
    ]
    fabric = a_fabric(tiers=tiers, links=links, attached=[{"group": "dgx", "interfaces": 2}])
    return layout_of(fabric, nodes=4 * pods)


def devices(layout: Layout) -> tuple[list[str], list[str]]:
    switches = [name for tier in layout.tiers for name in tier.names()]
    return switches, [name for hosts in layout.hosts for name in hosts.names]


def islands(layout: Layout, without: Collection[str]) -> list[set[str]]:
    """Return the parts of a fabric that are joined when some of its switches are away."""
    joined: dict[str, set[str]] = {}
    for wire in wires(layout):
        if wire.lower not in without and wire.upper not in without:
            joined.setdefault(wire.lower, set()).add(wire.upper)
            joined.setdefault(wire.upper, set()).add(wire.lower)
    found: list[set[str]] = []
    left = set(joined)
    while left:
        part, edge = set(), [left.pop()]
        while edge:
            one = edge.pop()
            part.add(one)
            edge += [other for other in joined[one] if other not in part]
        left -= part
        found.append(part)
    return found


LAYOUTS = st.one_of(
    st.builds(rails, st.integers(1, 3), st.sampled_from([2, 4])),
    st.builds(planes, st.integers(2, 4)),
    st.builds(lambda racks: in_racks(racks=racks), st.integers(2, 5)),
    st.just(layout_of(three_tiers(2), nodes=32)),
)


@settings(max_examples=40, deadline=None)
@given(layout=LAYOUTS, data=st.data(), most=st.sampled_from([None, 1, 3]))
def test_each_wave_leaves_every_host_a_way_to_every_other(
    layout: Layout, data: st.DataObject, most: int | None
) -> None:
    switches, hosts = devices(layout)
    touched = set(data.draw(st.lists(st.sampled_from(switches), min_size=1, max_size=40)))
    waves = switch_waves([("lab", layout)], touched, most)
    assert sorted(name for wave in waves for name in wave.switches) == sorted(touched)
    leaves_of: dict[str, set[str]] = {}
    interfaces: dict[str, set[int]] = {}
    for wire in wires(layout):
        if wire.lower in set(hosts):
            leaves_of.setdefault(wire.lower, set()).add(wire.upper)
            interfaces.setdefault(wire.upper, set()).add(wire.lower_port)
    for wave in waves:
        check(wave, layout, leaves_of, interfaces, most)


def check(
    wave: SwitchWave,
    layout: Layout,
    leaves_of: dict[str, set[str]],
    interfaces: dict[str, set[int]],
    most: int | None,
) -> None:
    away = set(wave.switches)
    assert most is None or len(away) <= most
    if wave.cut_off:
        assert len(away) == 1
    cut = {host for host, leaves in leaves_of.items() if leaves <= away}
    assert cut <= set(wave.cut_off)
    lost = [interfaces[name] for name in away if name in interfaces]
    assert all(one == lost[0] for one in lost), "hosts lose different rails"
    kept = [host for host in leaves_of if host not in cut and not leaves_of[host] <= away]
    if kept and not wave.cut_off:
        assert any(set(kept) <= part for part in islands(layout, away))


def test_leaves_of_one_rail_are_changed_together_and_spines_one_by_one() -> None:
    layout = rails(2, 4)
    switches, _ = devices(layout)
    waves = switch_waves([("lab", layout)], switches)
    assert waves[0].first
    sizes = [(wave.tier, len(wave.switches)) for wave in waves]
    # The first leaf went ahead; the other of its rail is the last, alone.
    assert sizes == [("leaf", 1), *[("leaf", 2)] * 7, ("leaf", 1), *[("spine", 1)] * 4]


def test_spines_of_two_planes_are_never_away_together() -> None:
    layout = planes(2)
    waves = switch_waves([("lab", layout)], layout.tiers[1].names())
    assert len(waves) > 1
    for wave in waves:
        assert len({(int(name[-1]) - 1) % 2 for name in wave.switches}) == 1


def test_leaf_that_hosts_depend_on_alone_names_them() -> None:
    layout = in_racks(racks=2)
    waves = switch_waves([("lab", layout)], ["compute-leaf-1", "compute-leaf-2"])
    assert [wave.cut_off for wave in waves] == [("dgx-1", "dgx-2"), ("dgx-3", "dgx-4")]
