from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rackwright.plan.fabric.sizing import (
    LARGEST_UNICAST_LID,
    ceil_div,
    down_ports,
    most_endpoints,
    spines_for,
)

radixes = st.sampled_from([16, 32, 36, 40, 64, 128, 144])


@dataclass(frozen=True, slots=True)
class Size:
    """Switches of each tier; zero for a tier that is not there.

    Attributes:
        parallel: cables between a leaf and each of its spines.
    """

    leaves: int
    spines: int = 0
    cores: int = 0
    parallel: int = 0

    @property
    def tiers(self) -> tuple[int, ...]:
        """The numbers from the nodes upwards, without the tiers that are not there."""
        return tuple(number for number in (self.leaves, self.spines, self.cores) if number)


def one_tier(endpoints: int, radix: int) -> Size:
    """Switches that are not connected with one another."""
    return Size(ceil_div(endpoints, radix))


def two_tiers(endpoints: int, radix: int, ratio: float = 1.0) -> Size:
    """Leaves and spines for ``endpoints`` ports."""
    down = down_ports(radix, ratio)
    leaves, up = ceil_div(endpoints, down), radix - down
    spines = spines_for(leaves, up, radix)
    return Size(leaves, spines, parallel=up // spines if spines and up % spines == 0 else 0)


def three_tiers(endpoints: int, radix: int) -> Size:
    """Leaves, spines and cores of a non-blocking tree: L = S = 2E/R, C = E/R."""
    leaves = ceil_div(2 * endpoints, radix)
    return Size(leaves, leaves, ceil_div(endpoints, radix), parallel=1)


def most_endpoints_by_lids(radix: int, lids: int = LARGEST_UNICAST_LID) -> int:
    """The largest non-blocking three-tier subnet whose ports and switches ``lids`` can name.

    E + L + S + C = E·(1 + 5/R).
    """
    return lids * radix // (radix + 5)


@pytest.mark.parametrize(
    ("nodes", "leaves", "spines"),
    [(32, 8, 4), (64, 16, 8), (96, 24, 16), (128, 32, 16), (256, 64, 32)],
)
def test_two_tiers_of_64_ports_as_nvidia_publishes_them(nodes, leaves, spines):
    size = two_tiers(nodes * 8, 64)
    assert (size.leaves, size.spines) == (leaves, spines)
    assert size.parallel * spines == 32


@pytest.mark.parametrize(
    ("nodes", "leaves", "spines"),
    [(72, 8, 4), (144, 16, 8), (288, 32, 18), (576, 64, 36), (1296, 144, 72)],
)
def test_two_tiers_of_144_ports_as_nvidia_publishes_them(nodes, leaves, spines):
    assert two_tiers(nodes * 8, 144).tiers == (leaves, spines)


@pytest.mark.parametrize(
    ("nodes", "tiers"),
    [(512, (128, 128, 64)), (1024, (256, 256, 128)), (2048, (512, 512, 256))],
)
def test_three_tiers_of_64_ports_as_nvidia_publishes_them(nodes, tiers):
    assert three_tiers(nodes * 8, 64).tiers == tiers


def test_the_largest_fabrics():
    assert [most_endpoints(radix, 2) for radix in (64, 40, 144)] == [2048, 800, 10368]
    assert [most_endpoints(radix, 3) for radix in (64, 144)] == [65536, 746496]
    assert most_endpoints(64, 1) == 64
    with pytest.raises(ValueError, match="4 tiers"):
        most_endpoints(64, 4)


def test_lids_end_before_the_ports_of_three_tiers_do():
    assert most_endpoints_by_lids(64) == 45589
    assert 8 * most_endpoints_by_lids(64) == 364712
    assert most_endpoints_by_lids(144) == 47501


@given(radixes)
def test_one_port_more_than_the_lids_name_is_too_many(radix):
    most = most_endpoints_by_lids(radix)
    assert most * (radix + 5) <= LARGEST_UNICAST_LID * radix < (most + 1) * (radix + 5)


@given(radixes, st.data())
def test_two_tiers_carry_all_and_are_cabled_evenly(radix, data):
    endpoints = data.draw(st.integers(1, most_endpoints(radix, 2)))
    size, up = two_tiers(endpoints, radix), radix // 2
    assert size.leaves * (radix // 2) >= endpoints > (size.leaves - 1) * (radix // 2)
    assert size.parallel * size.spines == up
    assert size.leaves * size.parallel <= radix
    fewer = [s for s in range(1, size.spines) if up % s == 0]
    assert all(s * radix < size.leaves * up for s in fewer)


@given(radixes, st.integers(1, 100_000))
def test_three_tiers_have_ports_enough(radix, endpoints):
    size = three_tiers(endpoints, radix)
    assert size.leaves * (radix // 2) >= endpoints
    assert size.spines == size.leaves
    assert size.cores * radix >= endpoints


@given(st.integers(2, 144), st.floats(1, 8))
def test_a_ratio_is_never_exceeded(radix, ratio):
    down = down_ports(radix, ratio)
    assert down <= ratio * (radix - down) + 1e-6
    assert down + 1 > ratio * (radix - down - 1) - 1e-6


def test_ratios():
    assert down_ports(64) == 32
    assert down_ports(64, 3) == 48
    assert two_tiers(48 * 4, 64, 3) == Size(4, 1, parallel=16)


def test_more_than_two_tiers_can_carry_is_counted_and_not_hidden():
    assert spines_for(128, 32, 64) == 64
    assert two_tiers(4096, 64).parallel == 0


def test_switches_without_uplinks():
    assert one_tier(65, 64) == Size(2)
    assert spines_for(4, 0, 64) == 0
