"""A refusal that a change takes back by words about what is there, though nothing is bought or built."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from rackwright.policy.base_approval.claims import hold_claims
from refused import example_of
from weakenings import accepts, judged_by_the_base

Edit = Callable[[Any], None]


def changed(data: Any, *edits: Edit) -> Any:
    data = copy.deepcopy(data)
    for edit in edits:
        edit(data)
    return data


def sources(data: Any) -> Mapping[str, Any]:
    return {source["name"]: source for source in data["sites"][0]["power"]["sources"]}


def group(data: Any) -> Any:
    (found,) = [one for one in data["sites"][0]["node_groups"] if one["name"] == "train"]
    return found


def attached(data: Any, fabric: str, group: str) -> Any:
    (found,) = [one for one in data["sites"][0]["fabrics"] if one["name"] == fabric]
    return next(one for one in found["attached"] if one["group"] == group)


def no_rooms(data: Any) -> None:
    for source in sources(data).values():
        source.pop("room", None)


def a_reservation(data: Any) -> None:
    """The id of a block, called a reservation."""
    block = group(data)["capacity"]
    group(data)["capacity"] = {"kind": "reservation", "id": block["id"], "instances": 65}


WORDS: Mapping[str, tuple[str, str, Edit]] = {
    "another room": (
        "PWR-029",
        "UPSs A and B in one room",
        lambda d: sources(d)["ups-b"].update(room="room-b"),
    ),
    "no room is named": ("PWR-029", "UPSs A and B in one room", no_rooms),
    "another room for batteries": (
        "PWR-029",
        "batteries of UPS B in the room of UPS A",
        lambda d: sources(d)["ups-b"].update(battery_room="room-b"),
    ),
    "no room of batteries": (
        "PWR-029",
        "batteries of UPS B in the room of UPS A",
        lambda d: sources(d)["ups-b"].pop("battery_room"),
    ),
    "another trench": (
        "PWR-029",
        "cables of panels A and C in one trench",
        lambda d: sources(d)["rpp-c"].update(route="trench-2"),
    ),
    "no trench": (
        "PWR-029",
        "cables of panels A and C in one trench",
        lambda d: sources(d)["rpp-c"].pop("route"),
    ),
    "a policy of the key": (
        "AWS-020",
        "a key without a grant",
        lambda d: d["sites"][0]["access"].update(key_for_auto_scaling="key-policy"),
    ),
    "a block that is called a reservation": (
        "AWS-005",
        "a block of more than 64 instances",
        a_reservation,
    ),
    "a rate of ports that was unknown": (
        "NET-011",
        "nobody says at which rate the managers' ports run",
        lambda d: attached(d, "compute", "ufm").update(rate="400 Gbps"),
    ),
    "a reservation in another placement group": (
        "AWS-002",
        "a reservation with another placement group than its own",
        lambda d: group(d)["capacity"].update(placement_group="other"),
    ),
}
"""By rule and example the words that would take its refusal back."""


@pytest.mark.parametrize("name", WORDS)
def test_words_about_what_is_there_take_no_refusal_back(name: str) -> None:
    rule, example, edit = WORDS[name]
    site = example_of(rule, example)
    head = changed(site.data, edit)
    assert accepts(site, head), "it would pass by itself"
    assert not judged_by_the_base(site, head)
    assert hold_claims(head, site.data).kept


def test_air_that_is_said_to_warm_less_makes_no_gear_cooler() -> None:
    site = example_of("PWR-031", "46 K above 24 °C")
    head = changed(
        site.data, lambda d: d["sites"][0]["halls"][0]["air"].update(temperature_rise="20 K")
    )
    assert not judged_by_the_base(site, head)


def test_a_grant_that_the_stacks_make_takes_the_refusal_back() -> None:
    site = example_of("AWS-020", "a key without a grant")
    head = changed(
        site.data, lambda d: d["sites"][0]["access"].update(key_for_auto_scaling="grant")
    )
    assert judged_by_the_base(site, head)


def test_the_policy_of_a_key_says_nothing_of_the_key_that_takes_its_place() -> None:
    access = {
        "encryption_key": "arn:aws:kms:us-east-1:111122223333:key/1234",
        "key_for_auto_scaling": "key-policy",
    }
    site = example_of("AWS-020", "a key without a grant")
    base = changed(site.data, lambda d: d["sites"][0].update(access=access))
    other = {**access, "encryption_key": "arn:aws:kms:us-east-1:111122223333:key/5678"}
    head = changed(site.data, lambda d: d["sites"][0].update(access=other))
    (kept,) = hold_claims(head, base).kept
    assert kept.path[-1] == "key_for_auto_scaling"
    assert accepts(site, head)
    assert not accepts(site, hold_claims(head, base).data)


def test_conduits_do_not_become_trays_by_a_word() -> None:
    site = example_of("PWR-029", "UPSs A and B in one room")
    cabling = {"standard": "iec", "temperature": "70 °C", "ambient": "30 °C", "circuits": 3}

    def laid(how: str) -> Edit:
        return lambda d: d["sites"][0]["power"].update(cabling={**cabling, "installation": how})

    base, head = changed(site.data, laid("conduit")), changed(site.data, laid("tray"))
    assert hold_claims(head, base).data == base
    assert hold_claims(base, head).data == base, "conduits carry less"


def test_the_source_of_a_number_that_is_reworded_is_the_base_s() -> None:
    site = example_of("PWR-029", "UPSs A and B in one room")
    fact = {
        "product": "dgx-h100",
        "field": "weight",
        "value": "130 kg",
        "date": "2026-10-01",
        "confidence": "common",
    }

    def read(source: str) -> Edit:
        return lambda d: d.update(facts=[{**fact, "source": source}])

    base = changed(site.data, read("what everybody knows of such servers"))
    head = changed(site.data, read("Rackwright reference specification of such servers"))
    assert hold_claims(head, base).data == base


def test_a_line_between_sites_that_are_there_is_no_better_for_its_words() -> None:
    site = example_of("PWR-029", "UPSs A and B in one room")
    other = {**site.data["sites"][0], "name": "sjc2"}
    base = changed(site.data, lambda d: d["sites"].append(other))
    line = {"name": "wan", "bandwidth": "400 Gbps", "round_trip_time": "1 ms"}

    def joined(there: str) -> Edit:
        return lambda d: d.update(interconnects=[{**line, "sites": ["sjc1", there]}])

    (held,) = hold_claims(changed(base, joined("sjc2")), base).data["interconnects"]
    assert held == {"name": "wan", "sites": ["sjc1", "sjc2"]}
    known = changed(base, joined("sjc2"))
    other_name = changed(known, lambda d: d["interconnects"][0].update(name="line"))
    assert hold_claims(other_name, known).data == other_name
    faster = changed(other_name, lambda d: d["interconnects"][0].update(bandwidth="800 Gbps"))
    (held,) = hold_claims(faster, known).data["interconnects"]
    assert held["bandwidth"] == "400 Gbps"
    third = changed(base, lambda d: d["sites"].append({**other, "name": "sjc3"}), joined("sjc3"))
    assert hold_claims(third, base).data["interconnects"] == third["interconnects"], "it is new"


def test_prices_by_time_of_use_are_claims_as_the_one_price_is() -> None:
    site = example_of("PWR-029", "UPSs A and B in one room")
    cheap = {"name": "night", "hours": 8760, "price": "0.01 USD/kWh"}
    base = changed(site.data, lambda d: d.update(costs={"owned": {"utilisation": "80 %"}}))
    head = changed(base, lambda d: d["costs"]["owned"].update(time_of_use=[cheap]))
    assert not hold_claims(head, base).data["costs"]["owned"].get("time_of_use")


def test_a_baseline_of_nodes_that_are_there_is_not_known_to_be_enforced() -> None:
    site = example_of("PWR-029", "UPSs A and B in one room")

    def firmware(product: str) -> Edit:
        baseline = {"type": product, "versions": {"bmc": "1.2"}, "enforced": True}
        return lambda d: d.setdefault("operations", {}).update(firmware=[baseline])

    known = site.data["sites"][0]["node_groups"][0]["type"]
    base = changed(site.data, lambda d: d.setdefault("operations", {}).update(firmware=[]))
    (held,) = hold_claims(changed(base, firmware(known)), base).data["operations"]["firmware"]
    assert held == {"type": known, "versions": {"bmc": "1.2"}}
    assert not any(g["type"] == "dgx-b200" for g in site.data["sites"][0]["node_groups"])
    fresh = {**site.data["sites"][0]["node_groups"][0], "name": "more", "type": "dgx-b200"}
    head = changed(base, lambda d: d["sites"][0]["node_groups"].append(fresh), firmware("dgx-b200"))
    (held,) = hold_claims(head, base).data["operations"]["firmware"]
    assert held["enforced"] is True, "nodes that are new"


def test_data_that_are_said_to_be_elsewhere_are_where_the_base_has_them() -> None:
    def at(*sites: str) -> Any:
        return {"datasets": [{"name": "corpus", "at": [*sites]}]}

    assert hold_claims(at("beta"), at("alpha")).data == at("alpha")
    assert hold_claims(at("beta", "alpha"), at("alpha")).data == at("alpha")
