"""One device of a rack, and where devices are put."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factories import CATALOGUE, some_nodes
from known import known
from rackwright.model.hardware import Node
from rackwright.model.onprem import NodeGroup
from rackwright.plan.racks.devices import describe_device, place_devices, total, used_units
from rackwright.plan.racks.mechanical import center_of_mass, deepest
from rackwright.plan.records.racks import RackDevice

GROUP = NodeGroup.model_validate(some_nodes())


def described(
    entry: str = "dgx-h100", *, cap: float | None = None, rise: float | None = None, **patch: Any
) -> RackDevice:
    node = CATALOGUE.patched({entry: patch} if patch else {}).get(Node, entry)
    return describe_device(node, GROUP, ("p",), kind="node", power_cap=cap, temperature_rise=rise)


def a_device(height: float | None, weight: float | None = 10.0) -> RackDevice:
    return RackDevice(
        kind="node", entry="x", group="g", path=("p",), height_u=height, weight_kg=weight
    )


def test_a_sum_with_one_unknown_is_unknown():
    assert total([1.0, 2.0]) == 3
    assert total([]) == 0
    assert total([1.0, None, 2.0]) is None


def test_the_larger_of_input_and_published_heat_counts():
    device = described()
    assert device.heat_w == pytest.approx(11_300, abs=1)
    assert described(heat=None).heat_w == 10_200
    assert described(heat={"value": "1 kW", "source": "x"}).heat_w == 10_200


def test_heat_without_power_is_unknown_even_when_heat_is_published():
    device = described(max_power=None)
    assert (device.power_w, device.heat_w, device.heat_air_w) == (None, None, None)


def test_a_cap_is_no_substitute_for_an_unknown_nameplate():
    assert described(max_power=None, cap=5_000.0).power_w is None


def test_an_air_cooled_device_gives_its_heat_to_the_air():
    device = described()
    assert (device.heat_liquid_w, device.heat_air_w) == (0, device.heat_w)


def test_a_liquid_cooled_device_gives_it_all_to_the_liquid():
    device = described(medium="liquid", airflow=None)
    assert (device.heat_liquid_w, device.heat_air_w) == (device.heat_w, 0)
    assert device.airflow_cfm == 0


def test_a_hybrid_device_without_a_published_split_is_unknown():
    device = described(medium="hybrid", airflow=None, rise=14.0)
    assert (device.heat_liquid_w, device.heat_air_w, device.airflow_cfm) == (None, None, None)


def test_a_cap_scales_the_liquid_heat():
    device = described("gb200-nvl72", cap=66_000.0)
    assert (device.power_w, device.heat_liquid_w, device.heat_air_w) == (66_000, 57_500, 8_500)
    assert device.peak_w == 66_000, "a capped device peaks at its cap"
    assert described("gb200-nvl72").peak_w == 192_000


def test_the_weight_of_a_rack_is_included_where_the_catalogue_says_so():
    assert described("gb200-nvl72").includes_rack
    assert not described().includes_rack


def units(placed: list[RackDevice]) -> list[float | None]:
    return [device.unit_low for device in placed]


def test_fixtures_then_heavy_nodes_from_below_and_switches_from_above():
    light, heavy = a_device(2, 10), a_device(4, 100)
    placed = place_devices([(light, None), (heavy, None)], [(a_device(1), None)], [a_device(1)], 42)
    assert [(d.height_u, d.unit_low) for d in placed] == [(1, 1), (4, 2), (2, 6), (1, 42)]


def test_devices_beside_the_rails_take_no_unit():
    placed = place_devices([], [], [a_device(0)], 42)
    assert (units(placed), placed[0].fits) == ([None], True)


def test_an_unknown_height_does_not_fit():
    placed = place_devices([(a_device(None), None)], [], [], 42)
    assert not placed[0].fits


def test_a_device_taller_than_the_rack_does_not_fit():
    placed = place_devices([(a_device(48), None)], [(a_device(48), None)], [], 42)
    assert [d.fits for d in placed] == [False, False]


def test_half_units_are_filled():
    placed = place_devices([(a_device(1.5), None)] * 3, [], [], 4.5)
    assert units(placed) == [1, 2.5, 4]


def test_a_start_unit_is_the_lowest_one_tried():
    placed = place_devices([(a_device(2), 10.0)] * 2, [(a_device(1), 11.0)], [], 42)
    assert units(placed) == [10, 12, 14]


HEIGHTS = st.sampled_from([0.5, 1.0, 1.5, 2.0, 4.0, 8.0])
PLACED = st.lists(
    st.tuples(st.builds(a_device, HEIGHTS, st.floats(1, 200)), st.none()), max_size=15
)


@given(PLACED, PLACED, st.integers(4, 52))
def test_devices_never_overlap_and_stay_within_the_rack(nodes, switches, height):
    placed = place_devices(nodes, switches, [], height)
    assert len(placed) == len(nodes) + len(switches)
    spans = sorted(
        (d.unit_low, d.unit_low + known(d.height_u)) for d in placed if d.unit_low is not None
    )
    assert all(one[1] <= two[0] for one, two in pairwise(spans))
    assert all(low >= 1 and top <= height + 1 for low, top in spans)
    assert all(d.fits == (d.unit_low is not None) for d in placed)


@given(PLACED, st.integers(4, 52))
def test_placing_changes_nothing_but_the_place(nodes, height):
    placed = place_devices(nodes, [], [], height)
    plain = [replace(device, unit_low=None, fits=True) for device in placed]
    assert sorted(map(repr, plain)) == sorted(repr(device) for device, _ in nodes)


def shared(share: str, height: float = 1, depth: float | None = 0.4) -> RackDevice:
    return replace(a_device(height), share=share, depth_m=depth)


def test_two_devices_of_half_width_take_one_unit() -> None:
    placed = place_devices([], [(shared("half-width"), 42.0)] * 3, [], 48)
    assert [(d.unit_low, d.share) for d in placed] == [(42, "left"), (42, "right"), (43, "left")]
    assert used_units(placed) == 2


def test_devices_of_half_depth_are_back_to_back() -> None:
    exact = [(shared("front"), 42.0), (shared("rear"), 42.0), (shared("rear"), 42.0)]
    placed = place_devices([], [], [], 48, exact)
    assert [(d.unit_low, d.fits) for d in placed] == [(42, True), (42, True), (None, False)]
    assert used_units(placed[:2]) == 1
    assert deepest(placed[:2]) == 0.8
    assert deepest([placed[0], replace(placed[1], depth_m=None)]) is None


def test_units_that_devices_share_in_part_count_once() -> None:
    exact = [(shared("front"), 1.0), (shared("rear", 2), 1.0), (shared("front"), 2.0)]
    placed = place_devices([(a_device(4), None)], [], [], 48, exact)
    assert units(placed) == [1, 1, 2, 3]
    assert used_units(placed) == 6
    assert used_units([*placed, a_device(None)]) is None


def test_product_of_full_depth_takes_both_faces_whatever_its_group_states() -> None:
    group = NodeGroup.model_validate({**some_nodes(), "unit_share": "rear"})
    deep = CATALOGUE.patched({"dgx-h100": {"full_depth": True}}).get(Node, "dgx-h100")
    made = [
        describe_device(node, group, ("p",), kind="node", power_cap=None, temperature_rise=None)
        for node in (deep, CATALOGUE.get(Node, "dgx-h100"))
    ]
    assert [device.share for device in made] == ["", "rear"]


def mass(placed: list[RackDevice]) -> float:
    height = center_of_mass(placed)
    assert height is not None
    return height


def test_switches_of_a_network_rack_do_not_make_it_top_heavy():
    """RACK-005 warned of racks that were filled from the top by the tool itself."""
    alone = place_devices([], [(a_device(1, 14.8), None)] * 12, [], 48)
    assert units(alone) == list(range(30, 18, -1))
    assert mass(alone) == 24.0
    # Servers below them weigh as much: the switches may be higher.
    mixed = place_devices([(a_device(2, 30), None)] * 4, [(a_device(1, 15), None)] * 8, [], 48)
    assert mass(mixed) <= 24.0
    assert mass([replace(one, unit_low=(one.unit_low or 0) + 1) for one in mixed]) > 24.0
    # Heavy nodes hold the rack down: switches are at the top, as they always were.
    heavy = place_devices([(a_device(8, 130), None)] * 4, [(a_device(1, 15), None)] * 2, [], 48)
    assert units(heavy)[4:] == [48, 47]


def test_switches_without_a_known_weight_stay_at_the_top():
    assert units(place_devices([], [(a_device(1, None), None)] * 2, [], 48)) == [48, 47]


def test_switches_with_a_start_unit_are_not_lowered():
    placed = place_devices([], [(a_device(1, 15), 40.0), (a_device(1, 15), None)], [], 48)
    assert units(placed) == [40, 9]


SWITCHES = st.lists(
    st.tuples(
        st.builds(a_device, st.sampled_from([1.0, 2.0, 4.0]), st.floats(1, 200)),
        st.none() | st.integers(1, 42).map(float),
    ),
    max_size=15,
)


@given(PLACED, SWITCHES)
def test_lower_switches_leave_none_out_and_are_lowered_no_further_than_needed(nodes, switches):
    placed = place_devices(nodes, switches, [], 42)
    assert len(placed) == len(nodes) + len(switches)
    edges = sorted(
        (one.unit_low, one.height_u)
        for one in placed
        if one.unit_low is not None and one.height_u is not None
    )
    assert all(low + height <= other for (low, height), (other, _) in pairwise(edges))
    below, above = placed[: len(nodes)], placed[len(nodes) :]
    if any(start is not None for _, start in switches) or not all(one.fits for one in placed):
        return
    tops = [(one.unit_low or 0) + (one.height_u or 0) - 1 for one in above]
    if max(tops, default=42) < 42:  # a unit higher, the rack would be top-heavy
        higher = [replace(one, unit_low=(one.unit_low or 0) + 1) for one in above]
        assert mass([*below, *higher]) > 21.0 - 1e-9
