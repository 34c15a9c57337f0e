"""Racks of two products on one loop: supply temperature and flow of each product, by hand.

Two NVL72 give 115 kW each to the loop, take water of class W45, and no maker says their flow. 32 servers
give 8 kW each, take coolant of class S40, and ask for 15 L/min.
"""

from __future__ import annotations

import pytest

from designs import GONE, Design, Patches, said
from rackwright.policy.api import Outcome

PASS, FAIL, UNKNOWN = Outcome.PASS, Outcome.FAIL, Outcome.UNKNOWN
LOOP = ("loops", 0)
NVL72, HGX = "gb200-nvl72", "hgx-h100-4u-liquid"
DESIGN = Design("mixed-loop", {HGX: {"liquid": {"flow": said("15 L/min")}}})
KW = 60 / (1.02 * 3.95 * 10)
"""L/min of PG25 for each kW at 10 K: 1.489."""


@pytest.mark.parametrize(
    ("supply", "nvl72", "hgx"),
    [
        ("40 °C", PASS, PASS),
        ("41 °C", PASS, FAIL),  # S40: 40 °C at most
        ("45 °C", PASS, FAIL),
        ("46 °C", FAIL, FAIL),  # W45: 45 °C at most
    ],
)
def test_the_supply_suits_each_product(supply: str, nvl72: Outcome, hgx: Outcome) -> None:
    found = DESIGN.judged("COOL-005", {(*LOOP, "supply_temperature"): supply})
    warmest = {
        r.subject.name: (r.outcome, r.limit)
        for r in found
        if r.what == "supply temperature of the loop"
    }
    assert warmest == {
        f"mem3 loop tcs {NVL72}": (nvl72, 45),
        f"mem3 loop tcs {HGX}": (hgx, 40),
    }


def test_each_product_has_its_own_flow() -> None:
    """115 × 1.489 = 171.26 L/min by heat; 8 × 1.489 = 11.91 L/min, of which the maker asks for 15.

    2 × 171.26 + 32 × 15 = 822.5 L/min; by heat alone they were 723.7.
    """
    site = DESIGN.site()
    one, other = site.cooling.loop_products
    assert (one.entry, one.devices, one.heat_w, one.asked_lpm) == (NVL72, 2, 115_000, None)
    assert one.flow_lpm == pytest.approx(115 * KW)
    assert (other.entry, other.devices, other.heat_w) == (HGX, 32, 8_000)
    assert (other.asked_lpm, other.flow_lpm) == (15, 15)
    (loop,) = site.cooling.loops
    assert loop.flow_lpm == pytest.approx(2 * 115 * KW + 32 * 15)
    assert loop.flow_lpm == pytest.approx(822.5, abs=0.05)
    assert loop.heat_w == 2 * 115_000 + 32 * 8_000


@pytest.mark.parametrize(
    ("limit", "outcome"), [("823 L/min", PASS), ("822 L/min", FAIL), ("724 L/min", FAIL)]
)
def test_the_piping_carries_what_each_product_asks_for(limit: str, outcome: Outcome) -> None:
    found = DESIGN.judged("COOL-004", {(*LOOP, "flow_limit"): limit})
    (pipes,) = (r for r in found if "piping" in r.what)
    assert pipes.outcome is outcome
    if outcome is FAIL:
        shares = {c.name: (c.count, round(c.each, 1)) for c in pipes.contributors}
        assert shares == {NVL72: (2, 171.3), HGX: (32, 15)}
        assert pipes.fix == "lay larger pipes"  # the maker asks for it at any rise


@pytest.mark.parametrize(
    ("limit", "fix"),
    [
        # 5 × 1,447.5 / 1,000 = 7.24 K, at which a server needs 16.5 L/min, more than it asks for.
        ("1000 L/min", "raise 'temperature_rise' to 7.2 K"),
        # At 5 × 1,447.5 / 900 = 8.04 K it needs 14.8, and asks for 15: 2 × 213.0 + 480 = 906 L/min.
        ("900 L/min", "lay larger pipes"),
    ],
)
def test_a_larger_rise_is_less_flow_where_heat_decides(limit: str, fix: str) -> None:
    """At 5 K the 32 servers need 23.83 L/min, more than 15: 2 × 342.52 + 32 × 23.83 = 1,447.5 L/min."""
    changes = {(*LOOP, "temperature_rise"): "5 K", (*LOOP, "flow_limit"): limit}
    (pipes,) = (r for r in DESIGN.judged("COOL-004", changes) if "piping" in r.what)
    assert pipes.value == pytest.approx(1_447.5, abs=0.05)
    assert pipes.fix == fix


def test_a_product_that_nobody_knows_about_is_unknown_by_itself() -> None:
    patches: Patches = {NVL72: {"liquid": {"water_class": None}}}
    found = DESIGN.judged("COOL-005", patches=patches)
    warmest = [r for r in found if r.what == "supply temperature of the loop"]
    assert {r.subject.name.split()[-1]: r.outcome for r in warmest} == {
        NVL72: UNKNOWN,
        HGX: PASS,
    }


def test_a_flow_of_one_product_that_is_unknown_makes_the_loop_unknown() -> None:
    site = DESIGN.site(patches={NVL72: {"liquid": {"heat": None}}})
    assert [p.flow_lpm for p in site.cooling.loop_products] == [None, 15]
    (loop,) = site.cooling.loops
    assert loop.flow_lpm is None


def test_without_a_supply_temperature_every_product_is_unknown() -> None:
    found = DESIGN.judged("COOL-005", {(*LOOP, "supply_temperature"): GONE})
    warmest = [r for r in found if r.what == "supply temperature of the loop"]
    assert [r.outcome for r in warmest] == [UNKNOWN, UNKNOWN]


def test_nodes_that_are_capped_are_told_apart() -> None:
    """7.9 of 10.2 kW: 8 × 7.9 / 10.2 = 6.196 kW into the loop, and 15 L/min still."""
    nodes = ("node_groups", 1, "power_cap")
    tdp = {HGX: {"accelerators": {"tdp": None}}}
    (_, hgx) = DESIGN.site({nodes: "7.9 kW"}, tdp).cooling.loop_products
    assert hgx.heat_w == pytest.approx(8_000 * 7.9 / 10.2)
    assert hgx.flow_lpm == 15
