"""A small site expanded, against values worked by hand."""

from __future__ import annotations

import copy
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factories import (
    CATALOGUE,
    a_hall,
    a_plan,
    a_rack_group,
    a_row,
    a_site,
    a_site_plan,
    a_source,
    column,
    only,
    some_feeds,
    some_nodes,
    three_lanes,
    where,
)
from known import known
from rack_records import rack_circuits, rack_devices, rack_fates, rack_feeds, rack_losses, records
from rackwright.plan.expansion import SitePlan
from rackwright.plan.problems import PlanError, PlanProblem
from rackwright.plan.racks.mechanical import center_of_mass_shares

USABLE = math.sqrt(3) * 415 * 60 * 0.8 * 0.95


def test_power_of_four_dgx_h100_on_three_feeds():
    plan = a_site_plan()
    assert only(plan.racks).power_w == pytest.approx(40_800)
    for feed in "ABC":
        row = only(rack_feeds(plan), feed=feed)
        assert row.load_w == pytest.approx(13_600)
        assert row.usable_w == pytest.approx(USABLE)
        assert row.outlet_voltage_v == pytest.approx(415 / math.sqrt(3))
        circuit = only(rack_circuits(plan), feed=feed)
        assert circuit.implied_w == pytest.approx(15_300), "8 plugs: 3 on the busiest line"
        assert (circuit.c19_used, circuit.c13_used) == (8, 0)
        assert circuit.c19_available == 24


def test_each_lost_feed_leaves_both_others_at_one_and_a_half_times_the_load():
    plan = a_site_plan()
    assert len(rack_losses(plan)) == 6
    for row in rack_losses(plan):
        assert row.lost != row.feed
        assert row.load_w == pytest.approx(20_400)
        assert row.implied_w == pytest.approx(22_950)
    for fate in rack_fates(plan):
        assert (fate.devices, fate.alive, fate.state) == (4, 4, "full")


def test_two_feeds_leave_an_h100_below_full_performance():
    group = a_rack_group(feeds=some_feeds("AB"))
    plan = a_site_plan(halls=[a_hall(rows=[a_row(group)])])
    rows = list(rack_fates(plan))
    assert len(rows) == 2, "either feed may be lost"
    for row in rows:
        assert (row.alive, row.needed_full, row.state) == (3, 4, "degraded")


def test_two_pdus_on_a_feed_share_it_and_are_lost_one_by_one():
    group = a_rack_group(feeds=some_feeds("ABC", pdus=2))
    plan = a_site_plan(halls=[a_hall(rows=[a_row(group)])])
    assert column(rack_circuits(plan), "load_w") == pytest.approx([6_800] * 6)
    assert Counter(column(rack_losses(plan), "lost_kind")) == {"feed": 12, "pdu": 30}
    assert "A/2" in column(rack_losses(plan), "lost")


def test_heat_is_the_published_one_because_it_is_larger_than_the_input():
    row = only(a_site_plan().racks)
    assert row.kind.heat_w == pytest.approx(4 * 38_557 / 3.412)
    assert row.kind.heat_w == pytest.approx(45_200, abs=5)
    assert row.kind.heat_air_w == pytest.approx(row.kind.heat_w)
    assert (row.kind.heat_liquid_w, row.kind.flow_lpm, row.kind.air_into_loop_w) == (0, 0, 0)
    assert row.kind.airflow_cfm == 4 * 1105


def test_weight_is_nodes_pdus_and_rack():
    row = only(a_site_plan().racks)
    assert row.kind.content_kg == pytest.approx(4 * 130.45 + 3 * 12)
    assert row.kind.weight_kg == pytest.approx(4 * 130.45 + 3 * 12 + 150)


def test_a_pdu_of_which_nobody_says_the_height_took_no_units():
    plan = a_site_plan(CATALOGUE.patched({"pdu-415v-60a-24c19": {"height": None}}))
    assert plan.racks[0].kind.used_u is None
    assert {row.fits for row in where(rack_devices(plan), kind="pdu")} == {False}


def test_nodes_stand_from_the_bottom_and_switches_hang_from_the_top():
    tier = {"name": "leaf", "type": "qm9700", "count": 2, "racks": "c01", "per_rack": 2}
    fabric = {"name": "compute", "role": "compute", "tiers": [tier]}
    plan = a_site_plan(fabrics=[fabric])
    units = {
        kind: column(where(rack_devices(plan), kind=kind), "unit_low")
        for kind in ("node", "switch")
    }
    assert units == {"node": [1, 9, 17, 25], "switch": [48, 47]}
    row = only(plan.racks)
    assert row.kind.used_u == 34
    # 4 nodes at mid-heights 4, 12, 20, 28 and two 14.8 kg switches at 47.5 and 46.5.
    moments = 130.45 * (4 + 12 + 20 + 28) + 14.8 * (47.5 + 46.5)
    assert row.kind.center_of_mass_u == pytest.approx(moments / (4 * 130.45 + 2 * 14.8))
    shares = center_of_mass_shares(row.kind.devices)
    assert sum(share.total for share in shares) == pytest.approx(row.kind.center_of_mass_u)
    assert {share.name for share in shares} == {"dgx-h100", "qm9700"}, "no PDU beside the rails"


def test_a_start_unit_is_honoured():
    plan = a_site_plan(node_groups=[some_nodes(start_unit="10 U")])
    assert column(where(rack_devices(plan), kind="node"), "unit_low") == [10, 18, 26, 34]


def test_misfit_is_kept_and_marked():
    plan = a_site_plan(node_groups=[some_nodes(count=7, per_rack=7)])
    assert column(where(rack_devices(plan), kind="node"), "fits") == [True] * 6 + [False]
    assert only(plan.racks).power_w == pytest.approx(7 * 10_200)


def test_sources_carry_their_lane_and_half_of_a_lost_one():
    plan = a_site_plan()
    for name in ("rpp-a", "ups-b"):
        row = only(plan.power.sources, source=name)
        assert row.load_w == pytest.approx(13_600)
        assert row.worst_w == pytest.approx(20_400)
    assert only(plan.power.sources, source="rpp-a").capacity_w == pytest.approx(
        math.sqrt(3) * 415 * 400 * 0.8 * 0.95
    )
    assert only(plan.power.sources, source="ups-a").capacity_w == 200_000, "3 modules less a spare"
    utility = only(plan.power.sources, source="utility")
    assert (utility.load_w, utility.worst_w) == pytest.approx((40_800, 40_800))
    assert utility.capacity_w == 600_000
    assert only(plan.power.sources, source="rpp-c").ancestors == ("rpp-c", "ups-c", "utility")


def test_a_hall_is_judged_without_its_largest_handler():
    row = only(a_site_plan().cooling.halls)
    # At 300 m the air has 1.1901 / 1.225 = 0.9715 of its density (ISO 2533:1975).
    capacity = (row.air_capacity_w, row.air_capacity_n1_w)
    assert capacity == pytest.approx((291_452, 194_301), rel=1e-4)
    assert (row.air_supply_cfm, row.air_supply_n1_cfm) == (43_899, 29_266)
    assert row.supply_cfm == pytest.approx(4_420 * 1.1)
    assert row.heat_air_w == pytest.approx(45_202, abs=1)
    assert row.density_ratio == pytest.approx(0.9715, abs=1e-4)


def test_totals_count_racks_nodes_and_accelerators():
    groups = [a_rack_group("c[01-03]")]
    plan = a_site_plan(
        halls=[a_hall(rows=[a_row(*groups)])],
        node_groups=[some_nodes(count=6, racks="c[01-03]")],
    )
    row = plan.totals
    assert (row.racks, row.nodes, row.hosts, row.accelerators) == (3, 6, 6, 48)
    assert row.it_power_w == pytest.approx(61_200)
    assert row.facility_w == pytest.approx(61_200 * 1.35)
    assert row.contract_w == 550_000


def test_racks_with_equal_content_are_one_class():
    plan = a_site_plan(
        halls=[a_hall(rows=[a_row(a_rack_group("c[01-04]"))])],
        node_groups=[some_nodes(count=10, racks="c[01-04]")],
    )
    classes = [(r.hostlist, r.count, r.power_w) for r in plan.racks]
    assert classes == [
        ("c[01-02]", 2, pytest.approx(40_800)),
        ("c03", 1, pytest.approx(20_400)),
        ("c04", 1, 0),
    ]
    assert [name for racks in plan.racks for name in racks.names] == ["c01", "c02", "c03", "c04"]
    assert [place for racks in plan.racks for place in racks.positions] == [0, 1, 2, 3]


def test_a_power_cap_lowers_power_and_heat_in_proportion():
    row = only(a_site_plan(node_groups=[some_nodes(power_cap="5.1 kW")]).racks)
    assert row.power_w == pytest.approx(20_400)
    assert row.kind.heat_w == pytest.approx(2 * 38_557 / 3.412)


def test_a_cap_above_the_nameplate_changes_nothing():
    row = only(a_site_plan(node_groups=[some_nodes(power_cap="20 kW")]).racks)
    assert row.power_w == pytest.approx(40_800)


# Liquid


def a_liquid_site(**more: Any) -> dict[str, Any]:
    group = a_rack_group(
        "g01",
        type="rack-mgx-48u",
        feeds=some_feeds("AB", pdu=None),
        cooling={"mode": "liquid", "loop": "tcs"},
    )
    loop = {
        "name": "tcs",
        "cdu": "cdu-spec-1mw",
        "count": 2,
        "fluid": "pg25",
        "temperature_rise": "10 K",
    }
    return a_site(
        halls=[a_hall(rows=[a_row(group)])],
        loops=[loop],
        node_groups=[some_nodes("nvl", type="gb200-nvl72", count=1, racks="g01", per_rack=1)],
        **more,
    )


def test_a_gb200_rack_splits_its_heat_between_liquid_and_air():
    plan = a_plan(a_liquid_site()).onprem[0]
    row = only(plan.racks)
    assert (row.power_w, row.kind.heat_liquid_w, row.kind.heat_air_w) == (132_000, 115_000, 17_000)
    assert row.kind.flow_lpm == pytest.approx(171, abs=0.5)
    assert row.kind.airflow_cfm == pytest.approx(1.756 * 17_000 / 14)
    assert row.kind.weight_kg == pytest.approx(1600), "the product includes its rack"
    loop = only(plan.cooling.loops)
    assert (loop.heat_w, loop.capacity_w, loop.capacity_n1_w) == (115_000, 2e6, 1e6)
    assert (loop.cdu_flow_lpm, loop.cdu_flow_n1_lpm) == (3000, 1500)
    assert plan.totals.hosts == 18


def test_a_tall_product_without_its_rack_gets_the_racks_weight():
    patches: dict[str, dict[str, Any]] = {
        "gb200-nvl72": {"rack_weight_included": False},
        "rack-mgx-48u": {"weight": {"value": "200 kg", "source": "example"}},
    }
    plan = a_plan(a_liquid_site(), catalogue=CATALOGUE.patched(patches)).onprem[0]
    assert only(plan.racks).kind.weight_kg == pytest.approx(1800)


def test_a_rear_door_moves_air_heat_into_the_loop():
    cooling = {
        "mode": "rear-door",
        "loop": "tcs",
        "rear_door_capacity": "30 kW",
        "rear_door_difference": "10 K",
        "rear_door_weight": "100 kg",
    }
    site = a_site(
        halls=[a_hall(rows=[a_row(a_rack_group(cooling=cooling))])],
        loops=[
            {
                "name": "tcs",
                "cdu": "cdu-spec-1mw",
                "count": 2,
                "fluid": "water",
                "temperature_rise": "10 K",
                "supply_temperature": "20 °C",
            }
        ],
    )
    plan = a_plan(site).onprem[0]
    row = only(plan.racks)
    assert row.kind.air_into_loop_w == 30_000
    assert row.kind.heat_air_w == pytest.approx(15_202, abs=1)
    assert row.kind.flow_lpm == pytest.approx(43.2, abs=0.05)
    assert only(plan.cooling.loops).heat_w == 30_000


# Unknown inputs

UNKNOWN = {
    "max_power": {
        "kinds": ["power_w", "heat_w", "heat_air_w"],
        "feeds": ["load_w"],
        "circuits": ["load_w", "implied_w"],
        "losses": ["load_w", "implied_w"],
        "sources": ["load_w", "worst_w"],
        "rows": ["power_w"],
        "halls": ["power_w", "heat_air_w"],
        "totals": ["it_power_w", "facility_w"],
    },
    "weight": {
        "kinds": ["content_kg", "weight_kg", "center_of_mass_u"],
        "rows": ["weight_kg"],
        "totals": ["weight_kg"],
    },
    "depth": {"kinds": ["deepest_m"]},
    "height": {"kinds": ["used_u"]},
}


def table_of(plan: SitePlan, name: str) -> Sequence[object]:
    of_racks: dict[str, Sequence[object]] = {
        "kinds": [racks.kind for racks in plan.racks],
        "feeds": rack_feeds(plan),
        "circuits": rack_circuits(plan),
        "losses": rack_losses(plan),
    }
    if name in of_racks:
        return of_racks[name]
    found = records(plan, name)
    return found if isinstance(found, tuple) else [found]


@pytest.mark.parametrize("field", UNKNOWN)
def test_an_unknown_number_is_null_wherever_it_would_be_used(field):
    plan = a_site_plan(CATALOGUE.patched({"dgx-h100": {field: None}}))
    columns = [(table, column) for table, names in UNKNOWN[field].items() for column in names]
    found = {pair: set(column(table_of(plan, pair[0]), pair[1])) for pair in columns}
    assert found == {pair: {None} for pair in columns}


def test_an_unknown_airflow_follows_from_the_rise_or_stays_unknown():
    catalogue = CATALOGUE.patched({"dgx-h100": {"airflow": None}})
    row = only(a_site_plan(catalogue).racks)
    assert row.kind.airflow_cfm == pytest.approx(1.756 * 45_202 / 14, rel=1e-4)
    hall = a_hall()
    del hall["air"]["temperature_rise"]
    plan = a_site_plan(catalogue, halls=[hall])
    assert only(plan.racks).kind.airflow_cfm is None
    assert only(plan.cooling.halls).supply_cfm is None


def test_unknown_supplies_hide_the_loads_of_the_feeds_and_not_those_of_the_sources():
    plan = a_site_plan(CATALOGUE.patched({"dgx-h100": {"power_supplies": None}}))
    assert set(column(rack_fates(plan), "state")) == {"unknown"}
    assert set(column(rack_feeds(plan), "load_w")) == {None}
    assert set(column(plan.power.sources, "load_w")) == {40_800.0}


def test_unknown_outlets_and_altitude_and_pue_are_null():
    site = a_site(halls=[a_hall(rows=[a_row(a_rack_group(feeds=some_feeds(pdu="pdu-208v-30a")))])])
    del site["altitude"], site["pue"]
    plan = a_plan(site, catalogue=CATALOGUE.patched({"pdu-208v-30a": {"outlets": None}})).onprem[0]
    assert set(column(rack_circuits(plan), "c19_available")) == {None}
    assert only(plan.cooling.halls).density_ratio is None
    assert plan.totals.facility_w is None


def test_a_feed_without_rating_has_no_usable_power():
    plan = a_plan(a_liquid_site()).onprem[0]
    assert set(column(rack_feeds(plan), "usable_w")) == {None}
    assert set(column(rack_feeds(plan), "load_w")) == {66_000}


def test_an_unknown_node_hides_the_total_but_not_the_other_racks():
    groups = [a_rack_group("c01"), a_rack_group("d01")]
    plan = a_site_plan(
        CATALOGUE.patched({"dgx-h200": {"max_power": None}}),
        halls=[a_hall(rows=[a_row(*groups)])],
        node_groups=[some_nodes(), some_nodes("h200", type="dgx-h200", racks="d01")],
    )
    assert only(plan.racks, hostlist="c01").power_w == pytest.approx(40_800)
    assert only(plan.racks, hostlist="d01").power_w is None
    assert plan.totals.it_power_w is None


# What cannot be expanded


def problems(*sites: dict[str, Any]) -> Sequence[PlanProblem]:
    with pytest.raises(PlanError) as caught:
        a_plan(*sites)
    return caught.value.problems


def test_every_reference_that_leads_nowhere_is_reported_at_its_place():
    site = a_site(node_groups=[some_nodes(type="dgx-h10")])
    group = site["halls"][0]["rows"][0]["rack_groups"][0]
    group["feeds"][1]["source"] = "rpp-bb"
    group["feeds"][2]["pdu"] = "nothing-like-it"
    group["type"] = "rack-48"
    group["cooling"] = {"mode": "liquid", "loop": "tsc"}
    site["halls"][0]["air"]["type"] = "crah-spec-10kw"
    site["loops"] = [
        {
            "name": "tcs",
            "cdu": "cdu-spec-2mw",
            "count": 1,
            "fluid": "water",
            "temperature_rise": "10 K",
        }
    ]
    found = {problem.path[2:]: problem for problem in problems(site)}
    where = ("halls", 0, "rows", 0, "rack_groups", 0)
    assert found[*where, "feeds", 1, "source"].hint == "did you mean 'rpp-b'?"
    assert known(found[*where, "feeds", 2, "pdu"].hint).startswith("the catalogue has: ")
    assert known(found[*where, "type"].hint).startswith("did you mean 'rack-48u'?")
    assert found[*where, "cooling", "loop"].hint == "did you mean 'tcs'?"
    assert known(found["halls", 0, "air", "type"].hint).startswith(
        "did you mean 'crah-spec-100kw'?"
    )
    assert known(found["loops", 0, "cdu"].hint).startswith("did you mean 'cdu-spec-1mw'?")
    assert known(found["node_groups", 0, "type"].hint).startswith("did you mean 'dgx-h")
    assert len(found) == 7


def test_chosen_supplies_are_honoured():
    plan = a_site_plan(node_groups=[some_nodes(psus_per_feed={"A": 4, "B": 2})])
    assert set(column(where(rack_devices(plan), kind="node"), "psus")) == {(4, 2, 0)}
    assert column(rack_feeds(plan), "load_w") == pytest.approx([27_200, 13_600, 0])


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        ({"A": 3, "Z": 3}, "the racks of 'dgx' have no feed Z"),
        ({"A": 3, "B": 2}, "5 power supplies are placed; 'dgx-h100' has 6"),
        ({}, None),
    ],
)
def test_supplies_that_cannot_be_placed_as_chosen(chosen, message):
    site = a_site(node_groups=[some_nodes(psus_per_feed=chosen)])
    if message is None:
        assert a_plan(site).onprem
        return
    assert [problem.message for problem in problems(site)] == [message]


def test_devices_in_a_rack_without_a_feed():
    site = a_site(halls=[a_hall(rows=[a_row(a_rack_group(feeds=[]))])])
    (problem,) = problems(site)
    assert problem.message == "'c01' holds devices and has no feed"
    assert problem.path[-1] == "feeds"
    site["node_groups"] = []
    assert a_plan(site).onprem[0].totals.it_power_w == 0


def test_problems_of_every_site_are_reported():
    one = a_site(name="one", node_groups=[some_nodes(racks="c99")])
    two = a_site(name="two", node_groups=[some_nodes(type="nope")])
    assert [problem.path[:2] for problem in problems(one, two)] == [("sites", 0), ("sites", 1)]


# Properties


def a_big_site() -> dict[str, Any]:
    groups = [
        a_rack_group("c[01-03]"),
        a_rack_group("d[01-02]", feeds=some_feeds("AB")),
        a_rack_group("e01", feeds=some_feeds("AC")),
    ]
    return a_site(
        halls=[
            a_hall(rows=[a_row(*groups)]),
            a_hall("hall-2", rows=[a_row(a_rack_group("f[01-02]"))]),
        ],
        node_groups=[
            some_nodes("one", count=10, racks="c[01-03]"),
            some_nodes("two", type="dgx-b200", count=4, racks="d[01-02],e01", per_rack=2),
            some_nodes(
                "three", type="cpu-2u", count=5, racks="f[01-02],e01", per_rack=2, role="login"
            ),
        ],
    )


def summary(plan: SitePlan) -> tuple[Any, ...]:
    """Everything of a site that no order of writing may change."""
    strip = {"devices", "losses", "fates", "center_of_mass_u"}
    rows = [
        {k: _rounded(v) for k, v in asdict(row.kind).items() if k not in strip}
        | {"count": row.count, "hall": row.hall, "row": row.row}
        for row in plan.racks
    ]
    totals = {k: _rounded(v) for k, v in asdict(plan.totals).items()}
    halls = {
        row.hall: {k: _rounded(v) for k, v in asdict(row).items() if k != "path"}
        for row in plan.cooling.halls
    }
    return totals, halls, sorted(rows, key=str)


def _rounded(value: Any) -> Any:
    return round(value, 6) if isinstance(value, float) else value


@given(st.data())
def test_the_order_of_writing_changes_no_sum(data):
    site = a_big_site()
    before = a_plan(site).onprem[0]
    shuffled = copy.deepcopy(site)
    for part in (
        shuffled["node_groups"],
        shuffled["halls"],
        shuffled["halls"][0]["rows"][0]["rack_groups"],
        shuffled["power"]["sources"],
    ):
        part[:] = data.draw(st.permutations(part))
    after = a_plan(shuffled).onprem[0]
    assert summary(after) == summary(before)
    for row in before.power.sources:
        other = only(after.power.sources, source=row.source)
        assert other.capacity_w == row.capacity_w
    ups = sum(column(where(before.power.sources, kind="ups"), "load_w"))
    assert sum(column(where(after.power.sources, kind="ups"), "load_w")) == pytest.approx(ups)


@given(st.permutations([0, 1, 2]))
def test_the_order_of_sites_changes_nothing_within_one(order):
    sites = [a_site(name=f"s{n}", node_groups=[some_nodes(count=n + 1)]) for n in range(3)]
    plans = a_plan(*[sites[n] for n in order]).onprem
    assert [plan.spec.name for plan in plans] == [f"s{n}" for n in order]
    for plan in plans:
        count = int(plan.spec.name[1]) + 1
        assert plan.totals.it_power_w == pytest.approx(count * 10_200)


@given(st.integers(1, 11))
def test_one_more_node_never_lowers_a_load(count):
    def loads(nodes: int) -> tuple[dict[str, tuple[float, float]], float, float]:
        plan = a_site_plan(
            halls=[a_hall(rows=[a_row(a_rack_group("c[01-03]"))])],
            node_groups=[some_nodes(count=nodes, racks="c[01-03]")],
        )
        sources = {r.source: (known(r.load_w), known(r.worst_w)) for r in plan.power.sources}
        return sources, known(plan.totals.it_power_w), known(only(plan.cooling.halls).heat_air_w)

    before, after = loads(count), loads(count + 1)
    assert after[1] > before[1]
    assert after[2] > before[2]
    for name, (load, worst) in before[0].items():
        assert after[0][name][0] >= load - 1e-6
        assert after[0][name][1] >= worst - 1e-6


def test_the_utility_carries_what_the_site_draws():
    plan = a_plan(a_big_site()).onprem[0]
    utility = only(plan.power.sources, source="utility").load_w
    assert utility == pytest.approx(plan.totals.it_power_w)


def test_twelve_and_a_half_thousand_nodes():
    racks = "c[0001-3125]"
    plan = a_site_plan(
        halls=[a_hall(rows=[a_row(a_rack_group(racks))])],
        node_groups=[some_nodes(count=12_500, racks=racks)],
    )
    row = only(plan.racks)
    assert (row.count, row.hostlist) == (3125, racks)
    assert plan.totals.it_power_w == pytest.approx(127.5e6)
    assert plan.totals.accelerators == 100_000
    assert len(row.names) == 3125


def test_fixtures_are_at_the_place_of_their_own_rack_group():
    groups = [a_rack_group("c01"), a_rack_group("d01")]
    plan = a_site_plan(
        halls=[a_hall(rows=[a_row(*groups)])],
        node_groups=[some_nodes(count=2, racks="c01,d01", per_rack=1)],
    )
    for rack, number in zip(plan.racks, range(2), strict=True):
        assert rack.path[-2:] == ("rack_groups", number)
        pdus = where(rack.kind.devices, kind="pdu")
        assert [rack.path_of(pdu) for pdu in pdus] == [rack.path] * 3
    assert plan.racks[0].kind is plan.racks[1].kind


def test_a_source_that_two_of_three_lanes_need_takes_both():
    """A and B hang on one utility; C has a generator as well, so it lives on alone."""
    lanes = three_lanes()
    lanes.append(a_source("gen", kind="generator", capacity="100 kW"))
    next(s for s in lanes if s["name"] == "ups-c")["fed_by"] = ["utility", "gen"]
    unsaid = CATALOGUE.patched({"dgx-h100": {"power_supplies": {"degraded": None}}})
    plan = a_site_plan(unsaid, power={"sources": lanes})
    row = only(plan.power.sources, source="ups-c")
    assert row.worst_lost == "utility"
    assert row.worst_w == pytest.approx(40_800), "two of six supplies carry everything"
    assert only(plan.power.sources, source="gen").worst_w == pytest.approx(40_800)


def test_racks_of_too_many_kinds_are_refused():
    kinds = 2001
    rack_group = a_rack_group(f"c[1-{kinds}]")
    # Each rack holds other groups, by the digits of its number.
    groups = [
        some_nodes(
            name=f"n{bit}",
            count=sum(1 for n in range(1, kinds + 1) if n >> bit & 1),
            racks=",".join(f"c{n}" for n in range(1, kinds + 1) if n >> bit & 1),
            per_rack=1,
        )
        for bit in range(11)
    ]
    with pytest.raises(PlanError) as caught:
        a_site_plan(halls=[a_hall(rows=[a_row(rack_group)])], node_groups=groups)
    assert "its racks are of 2,001 kinds" in str(caught.value.problems[0].message)
