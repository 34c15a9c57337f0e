"""What is unknown of sources, machines and losses says which fields would make it known."""

from __future__ import annotations

from typing import Any

import pytest

from rackwright.plan.missing import ProductField, fields_of
from rackwright.policy.api import Outcome
from rackwright.policy.authoring.examples import Example, judge
from rackwright.policy.engine import Result
from rackwright.policy.packs.loader import builtin_pack, load_packs

RULES = {policy.id: policy for policy in load_packs()}
SITE = ("sites", 0)
SOURCES = (*SITE, "power", "sources")
PUE = (*SITE, "pue")
PLANT = (*SITE, "plant")

Found = dict[str, Result]


def judged(rule: str, catalogue: dict[str, Any] | None = None, **site: Any) -> Found:
    """What a rule says of the liquid-cooled site with these fields, by subject."""
    example = Example.model_validate(
        {
            "name": "x",
            "kind": "unknown",
            "base": "liquid",
            "catalogue": catalogue or {},
            "layer": {"sites": [{"name": "lux1", **site}]},
            "expect": {"outcome": "unknown"},
        }
    )
    found = judge(RULES[rule], example, builtin_pack())
    return {
        result.subject.name.removeprefix("lux1 ").removeprefix("source "): result
        for result in found
    }


def asked(result: Result) -> list[tuple[object, ...]]:
    """The fields of each thing that an unknown result misses."""
    assert result.outcome is Outcome.UNKNOWN
    assert result.missing
    return [fields_of(text) for text in result.missing]


def power(*sources: dict[str, Any]) -> dict[str, Any]:
    return {"sources": list(sources)}


LOSSY = [{"name": f"ups-{n}", "efficiency": "96 %"} for n in "ab"]
CDUS = [{"name": "tcs-1", "power": "8 kW", "fed_by": ["ups-a", "ups-b"]}]
AIR = [{"name": "hall-1", "air": {"power": "5 kW", "fed_by": ["utility"]}}]


@pytest.mark.parametrize("name", ["utility", "contract"])
def test_the_one_entry_that_lacks_does_instead_of_a_pue(name: str) -> None:
    site: dict[str, Any] = {"pue": None, "loops": CDUS, "halls": AIR, "power": power(*LOSSY)}
    assert asked(judged("PWR-006", **site)[name]) == [(PUE, PLANT)]


def test_of_several_entries_that_lack_none_does_by_itself() -> None:
    found = judged("PWR-006", pue=None, loops=CDUS, power=power(*LOSSY))["utility"]
    assert asked(found) == [(PUE,)]
    assert found.missing == (
        "'pue' of the site, or 'fed_by' of the air handlers of hall 'hall-1', 'plant' of the site",
    )


def test_a_pue_below_the_entries_asks_for_each_that_lacks() -> None:
    """528 kW / 0.8 = 660 kW are more than 528 kW × 1.15 = 607.2 kW."""
    lossy = [{"name": f"ups-{n}", "efficiency": "80 %"} for n in "ab"]
    found = judged("PWR-006", power=power(*lossy))
    expected = [
        ((*SITE, "halls", 0, "air", "fed_by"),),
        ((*SITE, "loops", 0, "fed_by"),),
        (PLANT,),
    ]
    assert asked(found["utility"]) == asked(found["contract"]) == expected


def test_machines_of_unknown_power_ask_for_it_here_or_in_the_catalogue() -> None:
    loops = [{"name": "tcs-1", "fed_by": ["ups-a"]}]
    catalogue = {"cdu-spec-1mw": {"power": None}}
    found = judged("PWR-006", catalogue, loops=loops)["ups-a"]
    assert asked(found) == [((*SITE, "loops", 0, "power"), ProductField("cdu-spec-1mw", "power"))]
    assert found.fix is not None
    assert "set 'sites.lux1.loops.tcs-1.power'" in found.fix


def test_a_transformer_of_unknown_efficiency_asks_for_it() -> None:
    lane = [
        {"name": "d-a", "kind": "transformer", "fed_by": ["ups-a"], "capacity": "600 kW"},
        {"name": "busway-a", "fed_by": ["d-a"]},
    ]
    found = judged("PWR-006", power=power(*lane))["ups-a"]
    assert asked(found) == [((*SOURCES, 5, "efficiency"),)]


def test_batteries_ask_for_the_recharge_of_each_ups() -> None:
    more = [
        {"name": f"ups-{n}", "kind": "ups", "fed_by": ["utility"], "capacity": "1 kW"}
        for n in "cde"
    ]
    found = judged("PWR-013", power=power(*more))["utility"]
    assert asked(found) == [((*SOURCES, n, "recharge"),) for n in (1, 2, 5, 6)]
    assert found.missing[-1] == "'recharge' of 2 more UPSs"


def standby(**generator: Any) -> list[dict[str, Any]]:
    own = {"name": "gen", "kind": "generator", "capacity": "1 MW", **generator}
    return [own, *({"name": f"ups-{n}", "fed_by": ["utility", "gen"]} for n in "ab")]


def test_steps_of_a_generator_ask_for_what_it_takes_and_what_charges() -> None:
    found = judged("PWR-014", power=power(*standby()))["gen"]
    expected = [((*SOURCES, n, field),) for n, field in ((1, "recharge"), (2, "recharge"))]
    assert asked(found) == [*expected, ((*SOURCES, 5, "step_load"),)]


def test_a_panel_of_unknown_load_on_a_generator_asks_for_its_machines() -> None:
    """It missed the power of products, which are known."""
    panel = {"name": "mech", "kind": "panel", "fed_by": ["utility", "gen"], "capacity": "1 MW"}
    walking = [{"name": f"ups-{n}", "walk_in": True} for n in "ab"]
    sources: dict[str, dict[str, Any]] = {}
    for one in (*standby(step_load="1 MW"), panel, *walking):
        sources[one["name"]] = {**sources.get(one["name"], {}), **one}
    plant = [
        {"name": "pumps", "kind": "pump", "count": 2, "power": "5 kW", "fed_by": ["mech"]},
        {"name": "chillers", "kind": "chiller", "count": 2, "fed_by": ["mech"]},
    ]
    found = judged("PWR-014", power=power(*sources.values()), plant=plant)["gen"]
    assert asked(found) == [((*PLANT, 1, "power"),)]


def test_a_step_is_not_said_to_need_what_is_behind_a_ups_that_walks_in() -> None:
    behind = [
        {"name": "ups-c", "kind": "ups", "fed_by": ["ups-a"], "capacity": "600 kW"},
        {"name": "busway-a", "fed_by": ["ups-c"]},
    ]
    sources = standby(step_load="1 MW")
    sources[1] = {**sources[1], "walk_in": True}
    found = judged("PWR-014", power=power(*sources, *behind))["gen"]
    assert asked(found) == [((*SOURCES, 2, "recharge"),)]


def test_losses_below_a_source_that_nothing_feeds_leave_the_contract_unknown() -> None:
    """It missed nothing, in words."""
    unfed: list[dict[str, Any]] = [{**LOSSY[0], "fed_by": []}, LOSSY[1]]
    found = judged("PWR-006", power=power(*unfed))["contract"]
    assert asked(found) == [((*SOURCES, 1, "fed_by"),)]


@pytest.mark.parametrize("rule", ["PWR-006", "PWR-013"])
def test_a_pue_over_racks_of_unknown_power_names_their_product(rule: str) -> None:
    """Also on a source that carries none of them: its share of the PUE follows from all racks."""
    second = {"name": "second", "kind": "utility", "capacity": "1 MW", "redundancy": "N"}
    spare = {"name": "ups-s", "kind": "ups", "fed_by": ["second"], "capacity": "1 MW"}
    catalogue = {"gb200-nvl72": {"max_power": None}}
    found = judged(rule, catalogue, power=power(second, spare))["second"]
    fields = [field for fields in asked(found) for field in fields]
    assert ProductField("gb200-nvl72", "max_power") in fields


def test_an_imbalance_asks_for_the_power_of_products_and_the_capacity() -> None:
    catalogue = {"gb200-nvl72": {"max_power": None}}
    found = judged("PWR-005", catalogue, power=power({"name": "busway-a", "capacity": None}))
    asks = asked(found["busway-a"])
    assert (ProductField("gb200-nvl72", "max_power"),) in asks
    assert ((*SOURCES, 3, "capacity"),) in asks
