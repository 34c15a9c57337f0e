"""Immersion tanks: units, heat into the fluid, flow, pumps, filled weight and service height, by hand.

Each of the four tanks of 24 U holds twelve servers of 2 U, 30 kg, 1 kW and 0.8 m, 600 kg of fluid that
takes 1.8 kJ/L/K, two PDUs of 12 kg, and a CDU of 60 kg and 0.8 kW. The empty tank weighs 300 kg, its edge
is 1.1 m above the floor.
"""

from __future__ import annotations

from typing import Any

import pytest

from designs import GONE, Changes, Design, Patches, said
from rack_records import rack_feeds
from rackwright.errors import RackwrightError
from rackwright.policy.api import Outcome

PASS, FAIL, UNKNOWN = Outcome.PASS, Outcome.FAIL, Outcome.UNKNOWN
DESIGN = Design("immersion")
HALL = ("halls", 0)
GROUP = (*HALL, "rows", 0, "rack_groups", 0)
COOLING = (*GROUP, "cooling")
LOOP = ("loops", 0)
NODES = ("node_groups", 0)
TANK, CDU, SERVER = "tank-spec-24u", "cdu-spec-tank-30kw", "cpu-2u-immersion"


def test_all_heat_goes_into_the_fluid_and_the_pumps_into_the_air() -> None:
    """12 × 1 kW; the CDU's 0.8 kW count as heat in the air; no fan moves any."""
    (tank,) = DESIGN.site().racks
    assert tank.power_w == pytest.approx(12_800)
    assert tank.kind.heat_liquid_w == pytest.approx(12_000)
    assert tank.kind.heat_air_w == pytest.approx(800)
    assert tank.kind.airflow_cfm == pytest.approx(1.756 * 800 / 14)  # of the CDU


def test_the_fluid_carries_the_heat_to_the_cdu_of_the_tank() -> None:
    """60 × 12 / (1.8 × 10) = 40 L/min."""
    (loop,) = DESIGN.site().cooling.loops
    assert (loop.in_rack, loop.heat_capacity) == (True, 1.8)
    assert loop.heat_w == pytest.approx(12_000)
    assert loop.flow_lpm == pytest.approx(40)


@pytest.mark.parametrize(
    ("changes", "patches", "what", "outcome"),
    [
        ({}, {"capacity": said("12 kW")}, "heat of one rack", PASS),
        ({}, {"capacity": said("11.9 kW")}, "heat of one rack", FAIL),
        ({}, {"flow_pump_lost": said("40 L/min")}, "flow of one rack", PASS),
        ({}, {"flow_pump_lost": said("39.9 L/min")}, "flow of one rack", FAIL),
        # A fluid that takes a third less: 60 L/min of 50.
        ({(*LOOP, "heat_capacity"): "1.2 kJ/L/K"}, {}, "flow of one rack", FAIL),
        ({(*LOOP, "heat_capacity"): GONE}, {}, "flow of one rack", UNKNOWN),
        ({(*LOOP, "heat_capacity"): GONE}, {}, "heat of one rack", PASS),
    ],
)
def test_the_cdu_carries_its_tank(
    changes: Changes, patches: Patches, what: str, outcome: Outcome
) -> None:
    found = DESIGN.judged("COOL-004", changes, {CDU: patches})
    (result,) = (result for result in found if result.what.startswith(what))
    assert result.outcome is outcome
    if outcome is UNKNOWN:
        assert result.missing == ("'heat_capacity' of the fluid of the loop 'tanks'",)


def test_a_tank_is_weighed_filled() -> None:
    """12 × 30 + 600 + 2 × 12 + 60 = 1,044 kg; 1,344 kg with the tank, 336 kg on each foot."""
    (tank,) = DESIGN.site().racks
    assert tank.kind.content_kg == pytest.approx(1_044)
    assert tank.kind.weight_kg == pytest.approx(1_344)
    for limit, outcome in (("336 kg", PASS), ("335 kg", FAIL)):
        found = DESIGN.judged("RACK-004", {(*HALL, "floor", "concentrated"): limit})
        (foot,) = (r for r in found if r.what == "weight on one caster")
        assert foot.outcome is outcome


@pytest.mark.parametrize(("servers", "outcome"), [(12, PASS), (13, FAIL)])
def test_a_tank_has_units(servers: int, outcome: Outcome) -> None:
    """12 × 2 = 24 U; 26 U are too many."""
    changes = {(*NODES, "count"): servers, (*NODES, "per_rack"): servers, (*NODES, "racks"): "t1"}
    found = DESIGN.judged("RACK-001", changes)
    (full,) = (r for r in found if r.value == 2 * servers)
    assert full.outcome is outcome


@pytest.mark.parametrize(("height", "outcome"), [("2.5 m", PASS), ("2.49 m", FAIL)])
def test_a_server_is_lifted_out(height: str, outcome: Outcome) -> None:
    """1.1 + 0.8 + 0.6 = 2.5 m."""
    (result,) = DESIGN.judged("RACK-009", {(*HALL, "clear_height"): height})
    assert result.value == pytest.approx(2.5)
    assert result.outcome is outcome


def test_the_pumps_hang_on_the_feeds_of_the_tank() -> None:
    """12.8 kW on two feeds; the loss of the only CDU, or of its feed with one supply, takes a tank."""
    assert [feed.load_w for feed in rack_feeds(DESIGN.site())] == [pytest.approx(6_400)] * 2
    one = {CDU: {"power_supplies": {"count": 1, "inlet": "C14", "full_performance": said(1)}}}
    found = DESIGN.judged("PWR-003", patches=one)
    assert [r.outcome for r in found if CDU in r.subject.name] == [FAIL]
    (lost,) = (
        r for r in DESIGN.judged("REL-003") if r.what.endswith("CDU in a rack of loop tanks")
    )
    assert (lost.outcome, lost.value) == (PASS, 25)  # one of four


@pytest.mark.parametrize(
    ("changes", "outcome"),
    [({}, PASS), ({(*NODES, "type"): "cpu-2u"}, FAIL)],
)
def test_only_what_is_made_for_it_is_immersed(changes: Changes, outcome: Outcome) -> None:
    (result,) = DESIGN.judged("COOL-003", changes)
    assert result.outcome is outcome


def test_the_fluid_is_no_warmer_than_servers_take() -> None:
    for supply, outcome in (("40 °C", PASS), ("41 °C", FAIL)):
        found = DESIGN.judged("COOL-005", {(*LOOP, "supply_temperature"): supply})
        (warmest,) = (r for r in found if r.what == "supply temperature of the loop")
        assert (warmest.outcome, warmest.limit) == (outcome, 40)


@pytest.mark.parametrize("rule", ["RACK-005", "RACK-006", "RACK-007", "RACK-008"])
def test_rules_of_racks_with_air_do_not_apply(rule: str) -> None:
    assert [r.outcome for r in DESIGN.judged(rule)] == [Outcome.NOT_APPLICABLE]


@pytest.mark.parametrize(
    ("changes", "patches", "rule", "missing"),
    [
        ({(*HALL, "clear_height"): GONE}, {}, "RACK-009", "'clear_height' of the hall 'hall-1'"),
        ({(*COOLING, "lift_allowance"): GONE}, {}, "RACK-009", "'lift_allowance' of the tanks"),
        ({}, {TANK: {"immersion": {"top": None}}}, "RACK-009", f"{TANK}: published height of its edge"),
        ({}, {SERVER: {"depth": None}}, "RACK-009", f"{SERVER}: published depth"),
        (
            {}, {TANK: {"immersion": {"fluid_weight": None}}}, "RACK-003",
            f"{TANK}: published weight of its fluid",
        ),
        ({}, {CDU: {"power": None}}, "RACK-002", f"{CDU}: published power"),
    ],
)  # fmt: skip
def test_tank_without_a_fact_is_unknown(
    changes: Changes, patches: dict[str, dict[str, Any]], rule: str, missing: str
) -> None:
    found = [r for r in DESIGN.judged(rule, changes, patches) if r.outcome is UNKNOWN]
    assert found
    assert all(missing in result.missing for result in found)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({(*GROUP, "type"): "rack-48u"}, "a rack-48u is no tank for the cooling mode 'immersion'"),
        (
            {COOLING: {"mode": "liquid", "loop": "tanks"}},
            "a tank-spec-24u is a tank, which needs the cooling mode 'immersion'",
        ),
    ],
)
def test_a_tank_is_a_tank(changes: Changes, message: str) -> None:
    with pytest.raises(RackwrightError) as caught:
        DESIGN.plan(changes)
    assert [p.message for p in getattr(caught.value, "problems", ())] == [message]
