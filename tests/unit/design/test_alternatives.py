"""Alternatives follow from the facility, and bring what solving by hand brings."""

from __future__ import annotations

import copy
from typing import Any

from design_factories import (
    OPERATIONS,
    a_document,
    a_facility,
    a_hall,
    a_judge,
    a_liquid_document,
    a_wish,
    some_positions,
    some_sources,
)
from design_halls import bound_by_power
from rackwright.design.alternatives import offers
from rackwright.design.answer.words import gain_text
from rackwright.design.judge import Judge
from rackwright.design.outcome import DesignOutcome, run


def on_feeds(lanes: str, **wish: Any) -> dict[str, Any]:
    """Eight positions on as many feeds as there are lanes, for nodes with six power supplies."""
    firmware = [{**OPERATIONS["firmware"][0], "type": "dgx-a100"}]
    hall = a_hall(some_positions("c[01-08]", lanes=lanes))
    facility = a_facility(sources=some_sources(lanes), halls=[hall])
    wished = {**a_wish(product="dgx-a100", most_per_rack=6), **wish}
    return a_document(facility, wished, operations={**OPERATIONS, "firmware": firmware})


def offered(judge: Judge) -> dict[str, DesignOutcome]:
    return {
        one.label: run(judge.of(one.builder), one.label, one.what) for one in offers(judge.builder)
    }


def test_a_third_feed_saves_the_racks_that_a_hall_on_three_feeds_does_without() -> None:
    judge = a_judge(on_feeds("ab", accelerators=160))
    first, others = run(judge), offered(judge)
    by_hand = run(a_judge(on_feeds("abc", accelerators=160)))
    assert list(others) == ["a third feed"]
    third = others["a third feed"]
    assert first.best.passes
    assert third.best.value == by_hand.best.value
    saved = (first.best.value or 0) - (third.best.value or 0)
    assert saved == 1
    assert gain_text(first, third) == "a third feed saves 1 rack"


def test_a_feed_more_has_sources_like_those_of_the_last_one() -> None:
    judge = a_judge(bound_by_power())
    (offer,) = offers(judge.builder)
    facility = offer.builder.document.facility
    (group,) = facility.halls[0].rows[0].rack_groups
    assert offer.what == "a fourth feed"
    assert [(feed.name, feed.source) for feed in group.feeds][2:] == [
        ("C", "rpp-c"),
        ("D", "rpp-c-twin"),
    ]
    sources = {one.name: one for one in facility.power.sources}
    assert sources["rpp-c-twin"].fed_by == ("ups-c-twin",)
    assert sources["ups-c-twin"].fed_by == ("utility",), "what all feeds hang on stays one"
    assert sources["ups-c-twin"].modules == sources["ups-c"].modules
    assert len(sources) == len(judge.builder.document.facility.power.sources) + 2
    before = judge.builder.document.facility.halls[0].rows[0].rack_groups[0]
    assert [feed.name for feed in before.feeds] == ["A", "B", "C"], "what is given stays as it is"


def test_a_source_like_another_has_a_name_of_its_own() -> None:
    document = bound_by_power()
    sources = document["facility"]["power"]["sources"]
    long = "rpp-" + "c" * 59
    for source in sources:
        source["name"] = {"rpp-c": long, "rpp-b": f"{long[:50]}-twin"}.get(
            source["name"], source["name"]
        )
    for feed in document["facility"]["halls"][0]["rows"][0]["rack_groups"][0]["feeds"]:
        feed["source"] = {"rpp-c": long, "rpp-b": f"{long[:50]}-twin"}.get(
            feed["source"], feed["source"]
        )
    (offer,) = offers(a_judge(document).builder)
    names = [one.name for one in offer.builder.document.facility.power.sources]
    assert len(names) == len(set(names)) == len(sources) + 2


def test_two_feeds_of_one_source_get_another_source_like_it() -> None:
    document = on_feeds("aa")
    document["facility"]["power"]["sources"] = some_sources("a")
    (offer,) = offers(a_judge(document).builder)
    (group,) = offer.builder.document.facility.halls[0].rows[0].rack_groups
    assert [feed.source for feed in group.feeds] == ["rpp-a", "rpp-a", "rpp-a-twin"]


def test_settings_by_feed_name_follow_a_new_number_of_feeds() -> None:
    document = on_feeds("ab")
    document["wanted"]["products"][0]["psus_per_feed"] = {"A": 3, "B": 3}
    document["facility"]["halls"][0]["rows"][0]["rack_groups"][0]["shelves"] = {
        "type": "mgx-33kw",
        "count": 2,
        "per_feed": {"A": 1, "B": 1},
    }
    (offer,) = offers(a_judge(document).builder)
    (product,) = offer.builder.document.wanted.products
    (group,) = offer.builder.document.facility.halls[0].rows[0].rack_groups
    assert product.psus_per_feed is None
    assert group.shelves is not None
    assert group.shelves.per_feed is None


def air_and_liquid() -> dict[str, Any]:
    """Six positions in liquid, two in air, and a product for either."""
    feeds = [
        {
            "name": name,
            "source": f"busway-{name.lower()}",
            "pdu": "pdu-415v-60a-24c19",
            "circuit": {"voltage": "415 V", "current": "60 A", "phases": 3},
            "tap_off": {"current": "100 A", "racks": 1},
        }
        for name in "AB"
    ]
    products = [{"type": "gb200-nvl72"}, {"type": "dgx-a100"}]
    return a_liquid_document(
        "4000 L/min", some_positions("a[01-02]", feeds=feeds), products=products
    )


def test_all_positions_in_air_and_all_in_liquid_stand_side_by_side() -> None:
    document = air_and_liquid()
    judge = a_judge(document)
    others = offered(judge)
    assert list(others) == ["a third feed", "all liquid", "all air"]
    found = {name: [one.accelerators for one in other.designs] for name, other in others.items()}
    groups = document["facility"]["halls"][0]["rows"][0]["rack_groups"]
    for name, like in (("all liquid", 0), ("all air", 1)):
        by_hand = copy.deepcopy(document)
        made = by_hand["facility"]["halls"][0]["rows"][0]["rack_groups"]
        made[1 - like] = {**copy.deepcopy(groups[like]), "racks": groups[1 - like]["racks"]}
        assert found[name] == [one.accelerators for one in run(a_judge(by_hand)).designs]
    as_given = [one.accelerators for one in run(judge).designs]
    assert found["all air"][0] == 0, "no position takes the racks that want liquid"
    assert found["all air"][1] > as_given[1]
    assert gain_text(run(judge), others["all liquid"]).startswith("the cooling 'liquid' for all ")


def test_one_way_of_cooling_has_no_other_beside_it() -> None:
    document = bound_by_power()
    document["facility"]["halls"][0]["rows"][0]["rack_groups"][0]["feeds"][-1]["name"] = "Z"
    assert list(offers(a_judge(document).builder)) == [], "nor is there a name for another feed"


def test_a_feed_that_makes_it_fit_is_told_so() -> None:
    """A DGX H100 needs four of six supplies: on two feeds a loss leaves three."""
    hall = a_hall(some_positions("c[01-02]", lanes="ab"))
    judge = a_judge(a_document(a_facility(sources=some_sources("ab"), halls=[hall])))
    first, others = run(judge), offered(judge)
    assert first.best.layout is None
    told = gain_text(first, others["a third feed"])
    assert told == "a third feed gives 64 accelerators of dgx-h100"
