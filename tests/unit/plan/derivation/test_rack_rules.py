"""Which racks nodes and switches stand in, at the boundaries."""

from __future__ import annotations

import pytest

from short_forms import POWER, a_short_site, at, planned, rule_of


def nodes(count: int, more: str = "") -> str:
    return f"[{{name: dgx, role: compute, type: dgx-h200, count: {count}{more}}}]"


@pytest.mark.parametrize(
    ("limit", "per_rack", "racks"),
    [
        ("10.2 kW", 1, "c[01-64]"),
        ("40.7 kW", 3, "c[01-22]"),
        ("40.8 kW", 4, "c[01-16]"),
        ("51 kW", 5, "c[01-13]"),
    ],
)
def test_density_bounds_the_nodes_of_a_rack(limit: str, per_rack: int, racks: str) -> None:
    made = planned(a_short_site(racks=f"{{power_limit: {limit}}}"))
    assert (at(made, "node_groups.dgx.per_rack"), at(made, "node_groups.dgx.racks")) == (
        per_rack,
        racks,
    )


def test_not_even_one_that_fits_is_told_and_left_to_the_rules() -> None:
    made = planned(a_short_site(racks="{power_limit: 10.1 kW, network: {power_limit: 45 kW}}"))
    assert rule_of(made, "node_groups.dgx.per_rack") == (
        "racks.per-rack",
        "not even one fits: 8 of 48 U, 10.2 of 10.1 kW, circuits carry it",
    )


def test_units_bound_the_nodes_of_a_rack_whose_power_is_not_limited() -> None:
    big = POWER.replace("current: 60 A", "current: 400 A")
    made = planned(a_short_site(racks="auto", power=big))
    assert at(made, "node_groups.dgx.per_rack") == 6
    rule, why = rule_of(made, "node_groups.dgx.per_rack")
    assert (rule, why) == (
        "racks.per-rack",
        "48 of 48 U, 61.2 kW of an unknown limit, circuits carry it",
    )
    assert at(made, "halls.hall-1.rows.row-1.rack_groups.0.cooling") == {"mode": "air"}


def test_circuits_after_a_loss_bound_the_nodes_of_a_rack() -> None:
    two = POWER.replace("[A, B, C]", "[A, B]")
    made = planned(a_short_site(power=two))
    assert at(made, "node_groups.dgx.per_rack") == 3
    _, why = rule_of(made, "node_groups.dgx.per_rack")
    assert why.endswith("with 4, 32 of 48 U, 40.8 of 45 kW, circuits do not")


def test_groups_fill_racks_one_after_the_other() -> None:
    two = "[{name: a, role: compute, type: dgx-h200, count: 5}, {name: b, role: storage, type: cpu-2u, count: 3}]"
    made = planned(a_short_site(nodes=two))
    assert at(made, "node_groups.a.racks") == "c[01-02]"
    assert at(made, "node_groups.b.racks") == "c03"
    assert at(made, "halls.hall-1.rows.row-1.rack_groups.0.racks") == "c[01-03]"


def test_racks_that_follow_come_after_those_that_are_written() -> None:
    """Nodes of two groups met in one rack where the racks of only one of them were written."""
    two = """[{name: a, role: compute, type: dgx-h200, count: 8, racks: "c[01-02]"},
      {name: b, role: compute, type: dgx-h200, count: 4},
      {name: login, role: login, type: cpu-2u, count: 1, racks: n1}]"""
    made = planned(a_short_site(nodes=two))
    assert at(made, "node_groups.b.racks") == "c03"
    assert at(made, "halls.hall-1.rows.row-1.rack_groups.0.racks") == "c[01-03]"
    assert at(made, "fabrics.compute.tiers.leaf.racks") == "n[02-03]"
    assert at(made, "halls.hall-1.rows.row-1.rack_groups.1.racks") == "n[1,02-03]"


def test_nodes_that_serve_stand_with_the_switches() -> None:
    more = "[{name: dgx, role: compute, type: dgx-h200, count: 8}, {name: login, role: login, type: cpu-2u, count: 2}, {name: head, role: head, type: cpu-2u, count: 1}]"
    made = planned(a_short_site(nodes=more))
    assert at(made, "node_groups.login.racks") == "n[01-02]"
    assert at(made, "node_groups.login.per_rack") == 1
    assert at(made, "node_groups.head.racks") == "n01"
    assert at(made, "fabrics.compute.tiers.leaf.racks") == "n[01-02]"


@pytest.mark.parametrize(
    ("limit", "racks"), [("20.64 kW", "n[01-02]"), ("20.6 kW", "n[01-03]"), ("1.8 kW", "n[01-16]")]
)
def test_switches_are_spread_over_the_fewest_racks_that_hold_them(limit: str, racks: str) -> None:
    made = planned(a_short_site(racks=f"{{power_limit: 45 kW, network: {{power_limit: {limit}}}}}"))
    assert at(made, "fabrics.compute.tiers.leaf.racks") == racks


def test_one_switch_stands_in_one_rack() -> None:
    text = "{preset: fat-tree, technology: infiniband, rate: 400 Gbps}"
    made = planned(a_short_site(text, nodes(4)))
    assert at(made, "fabrics.compute.tiers.leaf.racks") == "n01"
    assert at(made, "fabrics.compute.subnet_managers") == [{"at": "leaf", "count": 1}]


@pytest.mark.parametrize(
    ("written", "per_rack", "racks"),
    [
        ("per_rack: 2", 2, "c[01-32]"),
        ('racks: "a[1-20]"', 4, "a[1-20]"),
        ('racks: "a[1-32]", per_rack: 3', 3, "a[1-32]"),
    ],
)
def test_written_value_of_a_group_has_precedence(written: str, per_rack: int, racks: str) -> None:
    made = planned(a_short_site(nodes=nodes(64, f", {written}")))
    group = at(made, "node_groups.dgx")
    assert (group["per_rack"], group["racks"]) == (per_rack, racks)
    assert at(made, "halls.hall-1.rows.row-1.rack_groups.0.racks").startswith(racks[0])


def test_the_racks_of_the_network_differ_in_what_is_said_of_them_alone() -> None:
    racks = "{type: rack-52u, blanking: true, aisle_depth: 0.6 m, power_limit: 45 kW, network: {power_limit: 20.7 kW, blanking: false}}"
    made = planned(a_short_site(racks=racks))
    one, other = at(made, "halls.hall-1.rows.row-1.rack_groups")
    assert (one["type"], one["blanking"], one["cooling"]["power_limit"]) == (
        "rack-52u",
        True,
        "45 kW",
    )
    assert (other["type"], other["blanking"], other["cooling"]["power_limit"]) == (
        "rack-52u",
        False,
        "20.7 kW",
    )


def test_feeds_end_as_the_racks_say_and_else_as_the_site_does() -> None:
    """A bus bar has power shelves and no PDU, and the racks of the switches beside it have one."""
    racks = """{type: rack-mgx-48u, cooling: {mode: liquid, loop: plates}, shelves: {type: mgx-33kw, count: 8},
      pdu: null, circuit: {voltage: 415 V, current: 300 A, phases: 3},
      network: {type: rack-48u, cooling: {mode: air}, shelves: null, pdu: pdu-415v-60a-24c19,
                circuit: {voltage: 415 V, current: 60 A, phases: 3}}}"""
    power = POWER.replace("current: 800 A", "current: 2000 A")
    loops = (
        "loops: [{name: plates, cdu: cdu-spec-1mw, count: 2, fluid: pg25, temperature_rise: 18 K}]"
    )
    nvl72 = "[{name: nvl72, role: compute, type: gb200-nvl72, count: 4}]"
    made = planned(a_short_site(nodes=nvl72, racks=racks, power=power, more=loops))
    one, other = at(made, "halls.hall-1.rows.row-1.rack_groups")
    assert (one["racks"], one["type"], one["shelves"]["count"]) == ("c[01-04]", "rack-mgx-48u", 8)
    assert ["pdu" in feed for feed in one["feeds"]] == [False] * 3
    assert {feed["circuit"]["current"] for feed in one["feeds"]} == {"300 A"}
    assert (other["type"], "shelves" in other) == ("rack-48u", False)
    assert {feed["pdu"] for feed in other["feeds"]} == {"pdu-415v-60a-24c19"}
    assert {feed["circuit"]["current"] for feed in other["feeds"]} == {"60 A"}


def test_circuits_of_a_rack_carry_its_own_load() -> None:
    """Two circuits of 30 A carry 2 × 16.4 kW after the loss of the third: three DGX H200, and not four."""
    small = "{power_limit: 45 kW, circuit: {voltage: 415 V, current: 30 A, phases: 3}}"
    made = planned(a_short_site(racks=small))
    assert at(made, "node_groups.dgx.per_rack") == 3
    _, why = rule_of(made, "node_groups.dgx.per_rack")
    assert why.endswith("with 4, 32 of 48 U, 40.8 of 45 kW, circuits do not")


def test_the_end_of_a_feed_has_the_place_of_the_words_it_follows_from() -> None:
    text = a_short_site(racks="{circuit: {voltage: 415 V, current: 61 A, phases: 3}}")
    made = planned(text)
    places = {
        made.tree.describe(one.path).rpartition(".")[2]: one.location.line
        for one in made.derivations
        if "rack_groups.0.feeds.A." in made.tree.describe(one.path)
    }
    lines = [n for n, line in enumerate(text.splitlines(), 1) if "circuit:" in line]
    assert (places["pdu"], places["circuit"]) == (lines[1], lines[2])


def test_a_hall_is_made_where_none_is_written() -> None:
    made = planned("\n".join(one for one in a_short_site().splitlines() if "halls:" not in one))
    assert rule_of(made, "halls.hall-1.name") == ("racks.hall", "no hall is written")


def test_rack_groups_that_are_written_hold() -> None:
    groups = """[{name: hall-1, rows: [{name: r, rack_groups: [{racks: "c[01-16],n[01-02]", type: rack-52u,
      feeds: [{name: A, source: rpp-a}], cooling: {mode: air}}]}]}]"""
    made = planned(a_short_site(halls=groups))
    (only,) = at(made, "halls.hall-1.rows.r.rack_groups")
    assert (only["type"], len(only["feeds"])) == ("rack-52u", 1)
    assert at(made, "node_groups.dgx.racks") == "c[01-16]"


def test_feeds_are_put_into_rack_groups_that_name_none() -> None:
    text = a_short_site(
        nodes=nodes(4, ', racks: "c1", per_rack: 4'),
        fabric="null",
        racks="null",
        halls="[{name: hall-1, rows: [{name: r, rack_groups: [{racks: c1, type: rack-48u, cooling: {mode: air}}]}]}]",
    )
    text = "\n".join(line for line in text.splitlines() if ": null" not in line)
    made = planned(text)
    assert [one["source"] for one in at(made, "halls.hall-1.rows.r.rack_groups.0.feeds")] == [
        "rpp-a",
        "rpp-b",
        "rpp-c",
    ]
    assert rule_of(made, "halls.hall-1.rows.r.rack_groups.0.feeds.A.source") == (
        "power.feeds",
        "feed A ends in rpp-a",
    )


def test_each_feed_has_a_path_of_its_own_from_the_utility() -> None:
    made = planned(a_short_site())
    sources = {one["name"]: one for one in at(made, "power.sources")}
    assert list(sources) == ["utility", "rpp-a", "rpp-b", "rpp-c"]
    assert sources["rpp-b"]["fed_by"] == ["utility"]
    assert sources["utility"]["capacity"] == "9 MW"


def test_a_path_begins_at_the_utility_that_is_written() -> None:
    power = POWER.replace("utility: 9 MW", "sources: [{name: grid, kind: utility, capacity: 9 MW}]")
    made = planned(a_short_site(power=power))
    assert at(made, "power.sources.rpp-a.fed_by") == ["grid"]
    assert at(made, "power.sources.grid.capacity") == "9 MW"
