"""A box whose supplies nobody has counted leaves what does not depend on them known; by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from rackwright.policy.api import Outcome
from rackwright.policy.authoring.examples import Example, judge
from rackwright.policy.engine import Result
from rackwright.policy.packs.loader import builtin_pack, load_packs

RULES = {policy.id: policy for policy in load_packs()}


def results(rule: str, catalogue: dict[str, Any], **layer: Any) -> Sequence[Result]:
    """On 32 nodes of 10.2 kW, 12 switches of 1.72 kW and two of 2.08 kW; 351.2 kW in all."""
    example = Example.model_validate(
        {
            "name": "x",
            "kind": "pass",
            "base": "air",
            "catalogue": catalogue,
            "layer": layer,
            "expect": {"outcome": "pass"},
        }
    )
    return judge(RULES[rule], example, builtin_pack())


def judged(rule: str, catalogue: dict[str, Any], **layer: Any) -> dict[str, Any]:
    """The same by name, the last of each."""
    found = results(rule, catalogue, **layer)
    return {result.subject.name.removeprefix("sjc1 "): result for result in found}


BOX = {"qm9700": {"power_supplies": None}}


def test_the_sources_above_all_feeds_carry_it_whatever_it_hangs_on() -> None:
    """351.2 kW × 1.35; every source of the site was unknown."""
    found = judged("PWR-006", BOX)
    assert {result.outcome for result in found.values()} == {Outcome.PASS}
    assert found["source utility"].value == pytest.approx(351_200 * 1.35)
    assert found["sjc1 contract"[5:]].value == pytest.approx(351_200 * 1.35)


def test_a_source_below_carries_all_of_it_at_most() -> None:
    """Without UPS B: 32 × 10.2 / 2 = 163.2 kW, 12 × 1.72 = 20.64 kW, and 4.16 / 2 = 2.08 kW."""
    ups = judged("PWR-006", BOX)["source ups-a"]
    assert ups.value == pytest.approx(163_200 + 20_640 + 2_080, abs=2_100)
    assert ups.value >= 163_200 + 20_640


def test_contributors_add_up() -> None:
    small = {"power": {"sources": [{"name": "utility", "capacity": "400 kW"}]}}
    found = judged("PWR-006", BOX, sites=[{"name": "sjc1", **small}])["source utility"]
    assert found.outcome is Outcome.FAIL
    assert sum(c.total for c in found.contributors) == pytest.approx(found.value)
    assert ("qm9700", 12) in {(c.name, c.count) for c in found.contributors}


@pytest.mark.parametrize("rule", ["PWR-001", "PWR-002", "PWR-008", "PWR-009"])
def test_the_circuits_of_its_rack_are_unknown_and_say_why(rule: str) -> None:
    """The message missed nothing, or the load of a circuit."""
    found = judged(rule, BOX)
    own = [result for name, result in found.items() if "n[01-02] feed" in name]
    assert own
    for result in own:
        assert result.outcome is Outcome.UNKNOWN
        assert result.missing == ("qm9700: number of power supplies",)
    others = [result for name, result in found.items() if "c[01-08] feed" in name]
    assert {result.outcome for result in others} == {Outcome.PASS}


@pytest.mark.parametrize("kind", ["C13", "C19"])
def test_the_outlets_of_its_rack_are_judged(kind: str) -> None:
    """They were left out: a rack whose outlets nobody counts had none to judge."""
    of_rack = [r for r in results("PWR-004", BOX) if "n[01-02] feed A PDU 1" in r.subject.name]
    (found,) = (result for result in of_rack if f"{kind} outlet" in result.message)
    assert found.outcome is Outcome.UNKNOWN
    assert found.missing == ("qm9700: number of power supplies",)


def test_a_box_of_unknown_power_leaves_nothing_known() -> None:
    found = judged("PWR-006", {"qm9700": {"power_supplies": None, "max_power": None}})
    assert found["source utility"].outcome is Outcome.UNKNOWN
    assert found["source utility"].missing == ("qm9700: published power",)
