"""What leaves a refused place for a new one is judged by what the base says of the place it leaves."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from factories import a_blueprint, a_hall, a_rack_group, a_row, a_site, some_feeds, some_nodes
from pull_request import Pull, overdrawn
from rackwright.policy.base_approval.claims import hold_claims


def a_second(**more: Any) -> dict[str, Any]:
    return a_site(name="dc2", power={"contract": "5,000 kW"}, **more)


def crowded(*racks: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Four nodes of 10.2 kW in each rack."""
    return a_site(halls=[a_hall(rows=[a_row(*racks)])], **more)


def a_rack(name: str, limit: str) -> dict[str, Any]:
    return a_rack_group(name, cooling={"mode": "air", "power_limit": limit})


def test_nodes_that_move_to_a_new_site_are_judged_by_what_they_leave(pull: Pull) -> None:
    pull.open(overdrawn())
    pull.write(overdrawn(node_groups=[]), more=[a_second()])
    assert pull.alone() == 0
    code, notices = pull.report()
    assert code == 5
    assert notices["sites.dc2.power.contract"] == (
        "'5,000 kW' in this change, without a reason, of what 'main' does not have, and hosts or "
        "loads move in this change; it is judged as '45 kW' until the change is merged: merge what "
        "is new first, and what moves to it after that"
    )


def test_nodes_of_which_some_stay_are_judged_by_what_they_leave(pull: Pull) -> None:
    pull.open(overdrawn())
    pull.write(overdrawn(node_groups=[some_nodes("few", count=1)]), more=[a_second()])
    assert (pull.alone(), pull.judge()) == (0, 5)


def test_a_new_site_that_nothing_moves_to_is_judged_by_its_own_words(pull: Pull) -> None:
    pull.open(a_site())
    pull.write(a_site(node_groups=[some_nodes(per_rack=5, count=5)]), more=[a_second()])
    code, notices = pull.report()
    assert code == 0
    assert "power.contract" in notices["sites.dc2"]


def test_nodes_that_move_to_new_racks_are_judged_by_what_they_leave(pull: Pull) -> None:
    before = a_rack("c01", "30 kW")
    pull.open(crowded(before))
    moved = crowded(before, a_rack("d01", "60 kW"), node_groups=[some_nodes(racks="d01")])
    pull.write(moved)
    assert (pull.alone("RACK-002"), pull.judge(rule="RACK-002")) == (0, 5)


def test_new_equipment_is_merged_before_moves_to_it(pull: Pull) -> None:
    before, new = a_rack("c01", "30 kW"), a_rack("d01", "60 kW")
    pull.open(crowded(before))
    pull.write(crowded(before, new))
    assert pull.judge(rule="RACK-002") == 5
    pull.merge()
    pull.write(crowded(before, new, node_groups=[some_nodes(racks="d01")]))
    assert pull.judge(rule="RACK-002") == 0


def held(head: dict[str, Any], base: dict[str, Any]) -> Any:
    return hold_claims(a_blueprint(head), a_blueprint(base)).data["sites"][0]


def test_a_new_hall_is_no_stronger_than_the_one_that_racks_leave() -> None:
    def hall(name: str, strength: str, *racks: dict[str, Any]) -> dict[str, Any]:
        return a_hall(name, floor={"uniform": strength}, rows=[a_row(*racks)])

    base = a_site(halls=[hall("weak", "300 kg/m2", a_rack_group())])
    head = a_site(halls=[hall("weak", "300 kg/m2"), hall("new", "5000 kg/m2", a_rack_group())])
    assert held(head, base)["halls"][1]["floor"]["uniform"] == "300 kg/m2"


def test_a_new_source_is_no_better_than_the_one_that_a_rack_leaves() -> None:
    def site(better: str, feeds: str) -> dict[str, Any]:
        made = a_site()
        sources = made["power"]["sources"]
        sources[1]["overload"] = "110 kW"
        sources.append({**copy.deepcopy(sources[1]), "name": "ups-d", "overload": better})
        sources.append({**copy.deepcopy(sources[2]), "name": "rpp-d", "fed_by": ["ups-d"]})
        made["halls"] = [a_hall(rows=[a_row(a_rack_group(feeds=some_feeds(feeds)))])]
        return made

    base = site("900 kW", "ABC")
    del base["power"]["sources"][-2:]
    sources = held(site("900 kW", "DBC"), base)["power"]["sources"]
    assert [source.get("overload") for source in sources if source["kind"] == "ups"] == [
        "110 kW",
        None,
        None,
        "110 kW",
    ]
    assert held(site("900 kW", "ABC"), base)["power"]["sources"][-2]["overload"] == "900 kW"


def test_new_plant_is_no_better_than_the_plant_of_which_less_is_left() -> None:
    def plant(name: str, count: int, most: str) -> dict[str, Any]:
        return {"name": name, "kind": "chiller", "count": count, "outdoor_temperature": most}

    base = a_site(plant=[plant("old", 3, "20 °C")])
    head = a_site(plant=[plant("old", 1, "20 °C"), plant("new", 3, "60 °C")])
    more = a_site(plant=[plant("old", 3, "20 °C"), plant("new", 3, "60 °C")])
    assert held(head, base)["plant"][1]["outdoor_temperature"] == "20 °C"
    assert held(more, base) == more


def test_claims_of_a_new_group_are_those_of_the_group_that_hosts_leave() -> None:
    def blueprint(spares: int, *groups: dict[str, Any]) -> dict[str, Any]:
        said = [
            {"site": "lab", "group": one["name"], "spares": n}
            for one, n in zip(groups, (0, spares), strict=False)
        ]
        return a_blueprint(a_site(node_groups=list(groups)), reliability={"groups": said})

    base = blueprint(0, some_nodes())
    moved = blueprint(2, some_nodes(count=1), some_nodes("new", count=3, racks="c01"))
    more = blueprint(2, some_nodes(), some_nodes("new", racks="c02"))
    assert hold_claims(moved, base).data["reliability"]["groups"][1]["spares"] == 0
    assert hold_claims(more, base).data == more


@pytest.mark.parametrize("counted", [lambda count: count, lambda count: {"min": 0, "max": count}])
def test_instances_that_move_to_a_new_region_bring_no_quotas_there(
    counted: Callable[[int], Any],
) -> None:
    """A group that grows and shrinks counts by the most that it may have."""

    def site(name: str, region: str, count: int, quota: int) -> dict[str, Any]:
        return {
            "name": name,
            "provider": "aws",
            "region": region,
            "node_groups": [{"name": "train", "type": "p5.48xlarge", "count": counted(count)}],
            "limits": {"recorded": "2026-11-01", "quotas": {"L-417A185B": quota}},
        }

    before, west = site("cloud", "us-east-1", 22, 192), site("west", "us-west-2", 21, 10**6)
    moved = a_blueprint(site("cloud", "us-east-1", 1, 192), west)
    assert "limits" not in hold_claims(moved, a_blueprint(before)).data["sites"][1]
    more = a_blueprint(before, west)
    assert hold_claims(more, a_blueprint(before)).data["sites"][1] == west


def test_racks_that_a_group_gains_are_no_better_than_those_that_hosts_leave() -> None:
    """What is approved of some racks holds of no others that are written beside them."""
    few, many = a_rack("n01", "60 kW"), a_rack("n[01-02]", "60 kW")
    weak = a_rack("c01", "30 kW")
    base = crowded(weak, few)
    head = crowded(weak, many, node_groups=[some_nodes(racks="n02")])
    more = crowded(weak, many, node_groups=[some_nodes(racks="c01,n02", count=8)])

    def limit(head: dict[str, Any]) -> str:
        group = held(head, base)["halls"][0]["rows"][0]["rack_groups"][1]
        return str(group["cooling"]["power_limit"])

    assert limit(head) == "30 kW"
    assert limit(more) == "60 kW"


def test_nodes_whose_units_are_stated_leave_the_racks_that_have_fewer_of_them() -> None:
    few, many = a_rack("n01", "60 kW"), a_rack("n[01-02]", "60 kW")
    weak = a_rack("c01", "30 kW")

    def nodes(racks: str, units: dict[str, list[str]]) -> list[Any]:
        count = sum(map(len, units.values()))
        return [some_nodes(racks=racks, count=count, per_rack=3, units=units)]

    full, one, two = ["1 U", "9 U", "17 U"], ["1 U"], ["1 U", "9 U"]
    base = crowded(weak, few, node_groups=nodes("c01,n01", {"c01": full, "n01": one}))
    moved = {"c01": one, "n[01]": one, "n02": two}
    head = crowded(weak, many, node_groups=nodes("c01,n[01-02]", moved))
    more = crowded(weak, many, node_groups=nodes("c01,n[01-02]", {**moved, "c01": full}))

    def limit(head: dict[str, Any]) -> str:
        group = held(head, base)["halls"][0]["rows"][0]["rack_groups"][1]
        return str(group["cooling"]["power_limit"])

    assert limit(head) == "30 kW"
    assert limit(more) == "60 kW"
