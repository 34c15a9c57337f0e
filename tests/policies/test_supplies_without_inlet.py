"""Power supplies whose inlets no document states: their plugs are unknown, and a fact fills them in."""

from __future__ import annotations

from typing import Any

import pytest

from rackwright.catalog.loader import load_catalogue
from rackwright.model.facts import ProductFact
from rackwright.model.hardware import Node, supply_inlet
from rackwright.plan.facts import fill
from rackwright.policy.api import Outcome
from rackwright.policy.authoring.examples import Example, judge
from rackwright.policy.engine import Result
from rackwright.policy.packs.loader import builtin_pack, load_packs

RULES = {policy.id: policy for policy in load_packs()}
UNSTATED: dict[str, Any] = {"dgx-h100": {"power_supplies": {"inlet": None}}}


def judged(rule: str, catalogue: dict[str, Any]) -> list[Result]:
    """Results of a rule on the racks of the 32 nodes of the pack's hall with air."""
    example = Example.model_validate(
        {
            "name": "x",
            "kind": "pass",
            "base": "air",
            "catalogue": catalogue,
            "expect": {"outcome": "pass"},
        }
    )
    found = judge(RULES[rule], example, builtin_pack())
    return [
        result for result in found if "su1" in result.subject.name or "rack" in result.subject.name
    ]


@pytest.mark.parametrize("rule", ["PWR-004", "PWR-008"])
def test_plugs_of_unknown_inlets_are_unknown_and_name_the_field(rule: str) -> None:
    """It was counted as no plug at all: every outlet of the PDU was free."""
    assert Outcome.UNKNOWN not in {result.outcome for result in judged(rule, {})}
    unknown = [one for one in judged(rule, UNSTATED) if one.outcome is Outcome.UNKNOWN]
    assert unknown
    assert any("inlet" in str(missing) for one in unknown for missing in one.missing)


def test_a_fact_states_an_inlet() -> None:
    entry = load_catalogue().get(Node, "dgx-h100")
    supplies = entry.power_supplies
    assert supplies is not None
    bare = entry.model_copy(update={"power_supplies": supplies.model_copy(update={"inlet": None})})
    fact = ProductFact.model_validate(
        {
            "product": "dgx-h100",
            "field": "power_supplies.inlet",
            "value": "C22",
            "source": "Label of the supply",
            "date": "2026-10-01",
            "confidence": "official",
        }
    )
    filled = fill(bare, fact)
    assert isinstance(filled, Node)
    assert (supply_inlet(bare.power_supplies), supply_inlet(filled.power_supplies)) == (None, "C22")
