"""Things that a change renames, joins or splits keep the claims of one thing of the base each."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from factories import a_blueprint, a_hall, a_rack_group, a_row, a_site, some_feeds, some_nodes
from omissions import Refused
from rackwright.policy.base_approval.claims import hold_claims
from refused import example_of
from weakenings import accepts, judged_by_the_base, renamed

OTHERS = {"utility", "ups-a", "ups-b", "ups-c"}


def held(head: Any, base: Any) -> Any:
    return hold_claims(head, base).data


def test_sources_that_are_renamed_together_do_not_share_the_claims_of_one() -> None:
    """Two UPSs stand in one room; each panel, UPS and room that is swapped by a name is another."""
    site = example_of("PWR-029", "UPSs A and B in one room")
    head = site.data
    for before, after in (("ups-a", "u1"), ("ups-b", "u2"), ("rpp-a", "r1"), ("rpp-b", "r2")):
        head = renamed(head, before, after)
    head = copy.deepcopy(head)
    rooms = {"u1": "room-a", "r1": "room-a", "u2": "room-z", "r2": "room-z"}
    for source in head["sites"][0]["power"]["sources"]:
        source["room"] = rooms.get(source["name"], source.get("room"))
    head["sites"][0]["power"]["sources"][0].pop("room")
    assert accepts(site, head), "it would pass by itself"
    assert not judged_by_the_base(site, head)


def test_a_source_keeps_the_claims_of_one_of_its_kind() -> None:
    site = example_of("PWR-029", "UPSs A and B in one room")
    head = renamed(renamed(site.data, "ups-a", "u1"), "rpp-a", "r1")
    assert held(head, site.data) == head


def test_sources_that_are_only_renamed_keep_their_claims() -> None:
    site = example_of("PWR-029", "cables of panels A and C in one trench")
    head = site.data
    for name in ("ups-a", "ups-b", "ups-c", "rpp-a", "rpp-b", "rpp-c"):
        head = renamed(head, name, f"{name}-1")
    assert held(head, site.data) == head


def test_a_new_source_takes_no_claim_of_one_that_has_another_name_now() -> None:
    def site(lengths: dict[str, str], feeds: str) -> Any:
        made = a_site(halls=[a_hall(rows=[a_row(a_rack_group(feeds=some_feeds(feeds)))])])
        sources = made["power"]["sources"]
        sources.append({**sources[2], "name": "rpp-x"})
        for source in sources:
            if length := lengths.get(source["name"]):
                source["conductors"] = {"material": "copper", "cross_section": "35 mm2"}
                source["conductors"]["length"] = length
        made["power"]["sources"] = [one for one in sources if one["name"] in {*lengths, *OTHERS}]
        return a_blueprint(made)

    base = site({"rpp-a": "90 m", "rpp-b": "9 m", "rpp-c": "10 m"}, "ABC")
    head = site({"rpp-a": "90 m", "rpp-b": "9 m", "rpp-c": "10 m", "rpp-x": "12 m"}, "XBC")
    head = renamed(head, "rpp-c", "r3")
    sources = held(head, base)["sites"][0]["power"]["sources"]
    lengths = {one["name"]: one["conductors"]["length"] for one in sources if "conductors" in one}
    assert lengths == {"rpp-a": "90 m", "rpp-b": "9 m", "r3": "10 m", "rpp-x": "90 m"}


def a_group(racks: str, allowance: str, length: str) -> dict[str, Any]:
    conductors = {"material": "copper", "cross_section": "35 mm2", "length": length}
    feeds = [{**feed, "conductors": conductors} for feed in some_feeds()]
    return a_rack_group(racks, cable_allowance=allowance, feeds=feeds)


def racks(*groups: dict[str, Any]) -> Any:
    return a_blueprint(a_site(halls=[a_hall(rows=[a_row(*groups)])]))


def test_racks_that_are_joined_keep_the_claims_of_their_groups() -> None:
    base = racks(a_group("c01", "150 mm", "10 m"), a_group("c02", "400 mm", "90 m"))
    head = racks(a_group("c[01-03]", "120 mm", "12 m"))
    assert held(head, base) == racks(
        a_group("c01", "150 mm", "10 m"),
        a_group("c02", "400 mm", "90 m"),
        a_group("c03", "150 mm", "10 m"),
    )
    (told, *_) = [kept for kept in hold_claims(head, base).kept if kept.was == "400 mm"]
    assert told.path == ("sites", 0, "halls", 0, "rows", 0, "rack_groups", 0, "cable_allowance")


def test_racks_of_equal_claims_are_joined() -> None:
    base = racks(a_group("c01", "150 mm", "10 m"), a_group("c02", "150 mm", "10 m"))
    head = racks(a_group("c[01-02]", "120 mm", "10 m"))
    assert held(head, base) == racks(a_group("c[01-02]", "150 mm", "10 m"))
    assert len(hold_claims(head, base).kept) == 1


def a_job(*groups: tuple[str, int, int]) -> Any:
    """Node groups with their number of nodes, and how many of them a job asks for."""
    nodes = [some_nodes(name, count=count, racks="c01") for name, count, _ in groups]
    parts = [{"site": "lab", "group": name, "hosts": asked} for name, _, asked in groups]
    jobs = [{"name": "train", "target": "90 %", "parts": parts}]
    return a_blueprint(a_site(node_groups=nodes), reliability={"jobs": jobs})


def test_a_job_asks_the_group_that_is_most_alike_under_its_new_name() -> None:
    head = a_job(("y", 4, 4), ("x", 64, 10))
    (job,) = held(head, a_job(("big", 64, 64), ("small", 4, 4)))["reliability"]["jobs"]
    assert {part["group"]: part["hosts"] for part in job["parts"]} == {"x": 64, "y": 4}


def fabric(site: Refused) -> Any:
    return site.data["sites"][0]["fabrics"][0]


def test_new_cables_between_two_tiers_are_as_long_as_those_that_are_there() -> None:
    """The long ones stay for racks that have none, with other parts."""
    site = example_of("NET-004", "the shorter of both ends counts")
    head = copy.deepcopy(site.data)
    links = head["sites"][0]["fabrics"][0]["links"]
    long, *_ = links
    links.append({**long, "name": "near", "same_rack": False, "length": "10 m"})
    long |= {"same_rack": True, "cable": "mms4x00-ns400", "upper_cable": "mms4x00-ns"}
    (near,) = [
        k for k in held(head, site.data)["sites"][0]["fabrics"][0]["links"] if k["name"] == "near"
    ]
    assert near["length"] == "120 m"
    alone = copy.deepcopy(site.data)
    first, *_ = alone["sites"][0]["fabrics"][0]["links"]
    first |= {"name": "nodes-1"}
    assert held(alone, site.data) == alone


RUN = {"date": "2026-11-25", "engine": "ftree", "balance": 1.0}


@pytest.mark.parametrize("stale", ["0123456789abcdef", None])
def test_a_run_of_a_fabric_that_stays_as_it_is_is_no_new_one(stale: str | None) -> None:
    site = example_of("NET-008", "the fabric has changed since")
    base, head = copy.deepcopy(site.data), copy.deepcopy(site.data)
    base["sites"][0]["fabrics"][0]["routing_run"] = stale and {**RUN, "fabric": stale}
    now = head["sites"][0]["fabrics"][0]
    now["routing_run"] = {**RUN, "fabric": "fedcba9876543210"}
    now["role"] = "storage"
    if stale is None:
        del base["sites"][0]["fabrics"][0]["routing_run"]
    assert "routing_run" not in held(head, base)["sites"][0]["fabrics"][0]
    (group, *_) = head["sites"][0]["node_groups"]
    group["count"] += 1
    assert held(head, base)["sites"][0]["fabrics"][0]["routing_run"] == now["routing_run"]


def burnt_in(product: str) -> Any:
    result = {"site": "lab", "group": "dgx", "date": "2026-10-01", "passed": True}
    operations = {"burn_in": {"duration": "24 h", "results": [{**result, "duration": "48 h"}]}}
    return a_blueprint(a_site(node_groups=[some_nodes(type=product)]), operations=operations)


def test_a_burn_in_says_nothing_of_the_nodes_that_take_the_place() -> None:
    assert (
        held(burnt_in("dgx-b200"), burnt_in("dgx-h100"))["operations"]["burn_in"]["results"] == []
    )


def test_zones_of_an_account_say_nothing_of_another_one() -> None:
    def cloud(account: str) -> Any:
        network: dict[str, Any] = {"cidr": "10.0.0.0/16", "availability_zones": ["us-east-1a"]}
        network["zone_ids"] = {"us-east-1a": "use1-az6"}
        made = {"name": "cloud", "provider": "aws", "region": "us-east-1", "account": account}
        return a_blueprint({**made, "network": network, "node_groups": []})

    site = held(cloud("210987654321"), cloud("123456789012"))["sites"][0]
    assert "zone_ids" not in site["network"]
