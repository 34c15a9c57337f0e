"""What follows from the preset of a fabric, at the boundaries, and that the rules of fabrics pass."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rackwright.plan.load import LoadedPlan
from rackwright.policy.check import check_plan
from short_forms import a_short_site, at, derived, planned, rule_of


def nodes(count: int) -> str:
    return f"[{{name: dgx, role: compute, type: dgx-h200, count: {count}}}]"


def fabric(preset: str = "rail-optimized", more: str = "") -> str:
    return f"{{preset: {preset}, technology: infiniband, rate: 400 Gbps{more}}}"


def tiers(made: LoadedPlan) -> list[int]:
    return [tier["count"] for tier in at(made, "fabrics.compute.tiers")]


def parallels(made: LoadedPlan) -> list[int]:
    return [link["parallel"] for link in at(made, "fabrics.compute.links") if "parallel" in link]


@pytest.mark.parametrize(
    ("count", "switches", "cables"),
    [
        (1, [8, 4], [8]),
        (32, [8, 4], [8]),
        (33, [16, 8], [4]),
        (64, [16, 8], [4]),
        (128, [32, 16], [2]),
        (256, [64, 32], [1]),
        (257, [72, 96, 64], [1, 16]),
        (512, [128, 128, 64], [1, 16]),
        (576, [144, 160, 128], [1, 8]),
    ],
)
def test_rails_of_whole_units(count: int, switches: list[int], cables: list[int]) -> None:
    made = planned(a_short_site(fabric(), nodes(count)))
    assert (tiers(made), parallels(made)) == (switches, cables)
    assert at(made, "fabrics.compute.unit_hosts") == 32
    assert at(made, "fabrics.compute.rail_optimized") is True


@pytest.mark.parametrize(
    ("count", "switches", "cables"),
    [(8, [1], []), (9, [3, 2], [16]), (32, [8, 4], [8]), (257, [65, 96, 64], [1, 16])],
)
def test_a_fat_tree_has_no_more_tiers_than_it_needs(
    count: int, switches: list[int], cables: list[int]
) -> None:
    made = planned(a_short_site(fabric("fat-tree"), nodes(count)))
    assert (tiers(made), parallels(made)) == (switches, cables)
    assert at(made, "fabrics.compute.rail_optimized") is False
    assert "unit_hosts" not in at(made, "fabrics.compute")


def test_the_largest_tree_of_three_tiers_has_all_its_ports_in_use() -> None:
    made = planned(a_short_site(fabric(), nodes(8192)))
    assert (tiers(made), parallels(made)) == ([2048, 2048, 1024], [1, 1])


@pytest.mark.parametrize("ratio", [1, 1.5, 7])
@pytest.mark.parametrize("preset", ["rail-optimized", "fat-tree"])
@pytest.mark.parametrize("count", [9, 64, 300])
def test_rules_of_fabrics_find_nothing_wrong(count: int, preset: str, ratio: float) -> None:
    nothing_fails(
        planned(a_short_site(fabric(preset, f", oversubscription: {ratio}"), nodes(count)))
    )


@settings(max_examples=10, deadline=None)
@given(
    count=st.integers(1, 700),
    preset=st.sampled_from(["rail-optimized", "fat-tree"]),
    ratio=st.sampled_from([1, 2, 3]),
)
def test_any_number_of_nodes_has_switches_enough(count: int, preset: str, ratio: int) -> None:
    nothing_fails(
        planned(a_short_site(fabric(preset, f", oversubscription: {ratio}"), nodes(count)))
    )


def nothing_fails(made: LoadedPlan) -> None:
    """No rule fails about what follows from the size of a fabric, and each has a result."""
    rules = {"NET-001", "NET-003", "NET-010", "RACK-001", "RACK-002"}
    if at(made, "fabrics.compute.oversubscription") == 1:
        rules.add("NET-002")
    report = check_plan(made, only=sorted(rules))
    assert {one.policy for one in report.results} == rules
    failed = [one for one in report.results if one.outcome == "fail"]
    assert failed == [], (tiers(made), parallels(made))


@pytest.mark.parametrize(
    ("technology", "rate", "switch", "split"),
    [
        ("infiniband", 200, "qm8700", 1),
        ("infiniband", 400, "qm9700", 1),
        ("infiniband", 800, "q3400-ra", 1),
        ("ethernet", 100, "sn4600c", 1),
        ("ethernet", 200, "sn5610", 4),
        ("ethernet", 400, "sn5610", 2),
        ("ethernet", 800, "sn5610", 1),
    ],
)
def test_technology_and_rate_choose_the_switch(
    technology: str, rate: int, switch: str, split: int
) -> None:
    text = f"{{preset: rail-optimized, technology: {technology}, rate: {rate} Gbps}}"
    made = planned(a_short_site(text))
    leaf = at(made, "fabrics.compute.tiers.leaf")
    assert (leaf["type"], leaf.get("split", 1)) == (switch, split)
    assert rule_of(made, "fabrics.compute.tiers.leaf.type")[0] == "fabric.switch"
    managed = at(made, "fabrics.compute").keys() & {"subnet_managers", "routing_engine"}
    assert bool(managed) == (technology == "infiniband")


def test_a_switch_that_is_named_says_technology_and_rate() -> None:
    made = planned(a_short_site("{preset: rail-optimized, switch: qm9790}"))
    assert at(made, "fabrics.compute.technology") == "infiniband"
    assert at(made, "fabrics.compute.rate") == "400 Gbps"
    assert rule_of(made, "fabrics.compute.rate")[0] == "fabric.rate"
    assert at(made, "fabrics.compute.tiers.spine.type") == "qm9790"


def test_leaves_that_may_have_no_subnet_manager_are_given_none() -> None:
    """A QM9790 is managed by a host; so is whatever no rule of the set chooses."""
    made = planned(a_short_site("{preset: rail-optimized, switch: qm9790}"))
    assert "subnet_managers" not in at(made, "fabrics.compute")
    assert at(made, "fabrics.compute.routing_engine") == "ftree"
    written = fabric(more=", tiers: [{name: leaf, type: qm9790}]")
    assert "subnet_managers" not in at(planned(a_short_site(written)), "fabrics.compute")


def test_spines_follow_from_the_leaves_that_are_written() -> None:
    made = planned(a_short_site(fabric(more=", tiers: [{name: leaf, count: 24}]")))
    assert tiers(made) == [24, 16]
    assert parallels(made) == [2]
    names = [made.tree.describe(one.path) for one in made.derivations]
    assert "sites.sjc1.fabrics.compute.tiers.leaf.count" not in names
    assert rule_of(made, "fabrics.compute.tiers.spine.count") == (
        "fabric.count",
        "24 switches below with 32 uplinks each, on 64 ports, spread evenly",
    )


def test_cables_follow_from_the_spines_that_are_written() -> None:
    made = planned(a_short_site(fabric(more=", tiers: [{name: spine, count: 32}]")))
    assert (tiers(made), parallels(made)) == ([16, 32], [1])


def test_leaves_follow_from_the_interfaces_that_are_written() -> None:
    made = planned(a_short_site(fabric(more=", attached: [{group: dgx, interfaces: 4}]")))
    assert tiers(made) == [8, 4]


def test_each_group_with_the_role_has_cables_of_its_own() -> None:
    two = "[{name: a, role: compute, type: dgx-h200, count: 4}, {name: b, role: compute, type: dgx-h200, count: 4}, {name: login, role: login, type: cpu-2u, count: 2}]"
    made = planned(a_short_site(fabric(), two))
    links = {link["name"]: link["lower"] for link in at(made, "fabrics.compute.links")}
    assert links == {"nodes": "a", "nodes-b": "b", "spines": "leaf"}
    made = planned(a_short_site(fabric(more=", groups: [b]"), two))
    assert at(made, "fabrics.compute.attached") == [{"group": "b"}]
    assert rule_of(made, "fabrics.compute.attached") == ("fabric.groups", "named in 'groups'")


@pytest.mark.parametrize(("count", "prefix"), [(31, 24), (32, 23), (63, 23), (64, 22)])
def test_the_prefix_is_the_smallest_with_an_address_for_each_interface(
    count: int, prefix: int
) -> None:
    made = planned(a_short_site(fabric(more=", network: 10.30.0.0/16"), nodes(count)))
    assert at(made, "fabrics.compute.segments") == [
        {"name": "default", "prefix": f"10.30.0.0/{prefix}", "groups": ["dgx"], "pkey": 32767}
    ]


def test_two_fabrics_may_be_short() -> None:
    more = """fabrics:
      - {name: storage, role: storage, preset: fat-tree, technology: ethernet, rate: 400 Gbps}"""
    made = planned(a_short_site(more=more))
    assert [one["name"] for one in at(made, "fabrics")] == ["compute", "storage"]
    assert at(made, "fabrics.storage.attached") == [{"group": "dgx"}]
    assert at(made, "fabrics.storage.tiers.leaf.split") == 2


def test_a_layer_reaches_a_derived_fabric_by_the_name_that_it_has() -> None:
    layer = "sites: [{name: sjc1, fabrics: [{name: compute, mtu: 4096, tiers: [{name: leaf, count: 24}]}]}]"
    made = planned(a_short_site(), layer)
    assert len(at(made, "fabrics")) == 1
    assert at(made, "fabrics.compute.mtu") == 4096
    assert tiers(made) == [24, 16]
    assert made.tree.locate(("sites", 0, "fabrics", 0, "mtu")).file == "layer-1.yaml"


def test_a_null_leaves_out_what_would_follow() -> None:
    made = planned(a_short_site(fabric(more=", subnet_managers: null, routing_engine: null")))
    assert not at(made, "fabrics.compute").keys() & {"subnet_managers", "routing_engine"}


def test_a_derived_value_has_the_place_of_the_words_that_it_follows_from() -> None:
    made = derived(a_short_site(fabric(more=", network: 10.30.0.0/16")))
    text = a_short_site(fabric(more=", network: 10.30.0.0/16")).splitlines()
    for one in made.derivations:
        assert made.tree.locate(one.path) == one.location
        assert one.location.file == "blueprint.yaml"
        assert text[one.location.line - 1][one.location.column - 1 :].strip()
    count = next(one for one in made.derivations if one.path[-2:] == (0, "count"))
    line = text[count.location.line - 1]
    assert line[count.location.column - 1 :].startswith("rail-optimized")


def test_the_full_form_of_a_full_form_is_the_same() -> None:
    made = planned(a_short_site())
    again = replace(made.tree)
    from rackwright.plan.derivation.derive import derive

    assert derive(again, made.plan.catalogue).tree is again
