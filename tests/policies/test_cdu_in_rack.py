"""Racks with a CDU and manifolds of their own: units, weight, power, heat, flow and losses, by hand.

Each of the twelve racks holds eight servers of 4 U, 80 kg and 10.2 kW, 8 kW of which go into the plates,
eight manifolds of 1 U and 12 kg, six PDUs of 12 kg, and a CDU of 4 U, 130 kg and 2 kW that takes 100 kW
and moves 200 L/min, or 150 with a pump lost.
"""

from __future__ import annotations

import pytest

from designs import GONE, Changes, Design, Patches, said
from rack_records import rack_feeds, rack_losses
from rackwright.errors import RackwrightError
from rackwright.policy.api import Outcome

PASS, FAIL, UNKNOWN = Outcome.PASS, Outcome.FAIL, Outcome.UNKNOWN
SUPPLIES = {"count": 4, "inlet": "C20", "full_performance": said(2), "degraded": said(2)}
DESIGN = Design("cdu-in-rack", {"hgx-h100-4u-liquid": {"power_supplies": SUPPLIES}})
GROUP = ("halls", 0, "rows", 0, "rack_groups", 0)
MANIFOLDS = (*GROUP, "cooling", "manifolds")
LOOP = ("loops", 0)
CDU = "cdu-spec-rack-100kw"
FLOW = 60 * 8 / (1.02 * 3.95 * 10)
"""L/min of one server: 11.913."""


def test_units_weight_power_and_heat_have_the_cdu_and_the_manifolds() -> None:
    """8 × 4 + 8 × 1 + 4 = 44 U; 640 + 96 + 130 + 72 = 938 kg; 81.6 + 2 kW; 8 × 2.2 + 2 kW of air."""
    (rack,) = DESIGN.site().racks
    assert rack.kind.used_u == 44
    assert rack.kind.content_kg == pytest.approx(938)
    assert rack.kind.weight_kg == pytest.approx(938 + 150)
    assert rack.power_w == pytest.approx(83_600)
    assert rack.kind.heat_air_w == pytest.approx(19_600)
    assert rack.kind.heat_liquid_w == pytest.approx(64_000)
    assert rack.kind.flow_lpm == pytest.approx(8 * FLOW)


@pytest.mark.parametrize(
    ("manifolds", "outcome"),
    [(12, PASS), (13, FAIL)],  # 32 + 4 + 12 = 48 U of 48 U; 49 U
)
def test_the_cdu_and_the_manifolds_take_units(manifolds: int, outcome: Outcome) -> None:
    found = DESIGN.judged("RACK-001", {(*MANIFOLDS, "count"): manifolds})
    assert found[0].outcome is outcome
    assert found[0].value == 36 + manifolds


def test_a_second_cdu_takes_the_last_units() -> None:
    (rack,) = DESIGN.site({(*LOOP, "count"): 2}).racks
    assert rack.kind.used_u == 48
    assert rack.power_w == pytest.approx(85_600)


@pytest.mark.parametrize(
    ("weight", "outcome"),
    [
        ("64 kg", PASS),  # 640 + 8 × 64 + 130 + 72 = 1,354 of 1,360 kg
        ("65 kg", FAIL),  # 1,362 kg
    ],
)
def test_the_rack_carries_them(weight: str, outcome: Outcome) -> None:
    (result,) = DESIGN.judged("RACK-003", {(*MANIFOLDS, "weight"): weight})
    assert result.outcome is outcome


@pytest.mark.parametrize(
    ("patches", "what", "outcome"),
    [
        ({"capacity": said("64 kW")}, "heat of one rack into its 1 × cdu-spec-rack-100kw", PASS),
        ({"capacity": said("63.9 kW")}, "heat of one rack into its 1 × cdu-spec-rack-100kw", FAIL),
        # 8 × 11.913 = 95.31 L/min
        ({"flow_pump_lost": said("95.4 L/min")}, "flow of one rack", PASS),
        ({"flow_pump_lost": said("95.2 L/min")}, "flow of one rack", FAIL),
        ({"flow_pump_lost": said("0 L/min")}, "flow of one rack", FAIL),
        ({"flow_pump_lost": None}, "flow of one rack", UNKNOWN),
    ],
)
def test_a_cdu_carries_its_rack_with_a_pump_lost(
    patches: Patches, what: str, outcome: Outcome
) -> None:
    found = DESIGN.judged("COOL-004", patches={CDU: patches})
    (result,) = (result for result in found if result.what.startswith(what))
    assert result.outcome is outcome


def test_two_cdus_in_a_rack_lose_one_pump_together() -> None:
    """200 + 150 L/min; without the flow of the one that lives, nobody knows."""
    (loop,) = DESIGN.site({(*LOOP, "count"): 2}).cooling.loops
    assert (loop.pump_lost_lpm, loop.capacity_w) == (350, 200_000)
    (loop,) = DESIGN.site({(*LOOP, "count"): 2}, {CDU: {"flow": None}}).cooling.loops
    assert loop.pump_lost_lpm is None


def test_one_cdu_with_a_pump_lost_needs_no_number_of_a_second_one() -> None:
    """It was unknown where nobody publishes the flow with all pumps."""
    (loop,) = DESIGN.site(patches={CDU: {"flow": None}}).cooling.loops
    assert (loop.pump_lost_lpm, loop.cdu_flow_lpm) == (150, None)


def losses(changes: Changes | None = None, patches: Patches | None = None) -> dict[str, object]:
    """Percent of the servers that each loss takes."""
    found = DESIGN.judged("REL-003", changes, {CDU: patches or {}})
    return {r.what.removeprefix("share of the group lost with one "): r.value for r in found}


def test_the_loss_of_a_cdu_takes_its_rack_and_that_of_a_pump_may() -> None:
    """8 of 96 servers are 8.33 %."""
    whole = losses()
    assert whole["CDU in a rack of loop own"] == pytest.approx(100 / 12)
    assert whole["pump in a rack of loop own"] == 0
    weak = losses(patches={"flow_pump_lost": said("95 L/min")})
    assert weak["pump in a rack of loop own"] == pytest.approx(100 / 12)
    two = losses({(*LOOP, "count"): 2})
    assert (two["CDU in a rack of loop own"], two["pump in a rack of loop own"]) == (0, 0)
    silent = losses(patches={"flow_pump_lost": None})
    assert silent["pump in a rack of loop own"] is None


def test_few_racks_lose_too_much_with_one_cdu() -> None:
    """Three racks: 8 of 24 servers are 33.3 %, more than 25 %."""
    nodes = ("node_groups", 0)
    few = {(*nodes, "count"): 24, (*nodes, "racks"): "p[01-03]"}
    (lost,) = (
        r for r in DESIGN.judged("REL-003", few) if r.what.endswith("CDU in a rack of loop own")
    )
    assert lost.outcome is FAIL
    assert lost.value == pytest.approx(100 / 3)


def test_a_cdu_hangs_on_the_feeds_of_its_rack() -> None:
    """Two supplies on two feeds: each feed has 83.6 / 2 kW, and all of it when the other is lost."""
    site = DESIGN.site()
    assert [feed.load_w for feed in rack_feeds(site)] == [pytest.approx(41_800)] * 2
    left = {(row.lost, row.feed): 0.0 for row in rack_losses(site) if row.lost_kind == "feed"}
    for row in rack_losses(site):
        if row.lost_kind == "feed" and row.load_w is not None:
            left[row.lost, row.feed] += row.load_w
    assert left == {("A", "B"): pytest.approx(83_600), ("B", "A"): pytest.approx(83_600)}
    assert not [c for c in site.power.overhead.consumers if c.name.startswith("CDUs")]


def test_a_cdu_with_one_supply_goes_down_with_its_feed_and_takes_the_rack() -> None:
    one = {"power_supplies": {"count": 1, "inlet": "C20", "full_performance": said(1)}}
    found = DESIGN.judged("PWR-003", patches={CDU: one})
    assert [r.outcome for r in found if CDU in r.subject.name] == [FAIL]
    assert {r.outcome for r in found if CDU not in r.subject.name} == {PASS}
    assert losses()["power source"] == 0
    assert losses(patches=one)["power source"] == 100


def test_the_other_cdu_of_a_rack_carries_it_when_one_goes_down_with_its_feed() -> None:
    """One supply each, dealt over A and B: 64 kW and 95.3 L/min on the one that lives, of 100 and 200."""
    two = {(*LOOP, "count"): 2}
    one = {"power_supplies": {"count": 1, "inlet": "C20", "full_performance": said(1)}}
    assert losses(two, one)["power source"] == 0
    assert losses(two, {**one, "capacity": said("60 kW")})["power source"] == 100


def test_a_cdu_whose_supplies_nobody_counted_may_hang_anywhere() -> None:
    found = DESIGN.judged("PWR-003", patches={CDU: {"power_supplies": None}})
    unknown = [r for r in found if r.outcome is UNKNOWN]
    assert [CDU in r.subject.name for r in unknown] == [True]
    assert f"{CDU}: number of power supplies" in unknown[0].missing


@pytest.mark.parametrize(
    ("changes", "patches", "rule", "missing"),
    [
        ({MANIFOLDS: GONE}, {}, "RACK-001", "'manifolds' of racks p[01-12]"),
        ({MANIFOLDS: GONE}, {}, "RACK-003", "'manifolds' of racks p[01-12]"),
        ({(*MANIFOLDS, "weight"): GONE}, {}, "RACK-003", "'manifolds.weight' of racks p[01-12]"),
        ({}, {"weight": None}, "RACK-003", f"{CDU}: published weight"),
        ({}, {"height": None}, "RACK-001", f"{CDU}: published height"),
        ({}, {"power": None}, "RACK-002", f"{CDU}: published power"),
        ({}, {"power": None}, "COOL-001", f"{CDU}: published power"),
        ({}, {"voltage_max": None}, "PWR-010", None),
    ],
)
def test_cdu_in_rack_without_a_fact_is_unknown(
    changes: Changes, patches: Patches, rule: str, missing: str | None
) -> None:
    found = [r for r in DESIGN.judged(rule, changes, {CDU: patches}) if r.outcome is UNKNOWN]
    assert found
    assert missing is None or all(missing in result.missing for result in found)


def test_no_manifolds_are_stated_where_servers_include_them() -> None:
    (rack,) = DESIGN.site({(*MANIFOLDS, "count"): 0}).racks
    assert rack.kind.used_u == 36
    assert rack.kind.content_kg == pytest.approx(842)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({(*LOOP, "in_rack"): False}, "is mounted in racks"),
        ({(*LOOP, "cdu"): "cdu-spec-1mw"}, "is not mounted in racks"),
    ],
)
def test_a_cdu_stands_where_it_is_made_for(changes: Changes, message: str) -> None:
    with pytest.raises(RackwrightError) as caught:
        DESIGN.plan(changes)
    assert message in str([problem.message for problem in getattr(caught.value, "problems", ())])
