"""Weight of racks in service by hand: 557.8 kg of content and 40 kg of cables; an NVL72 of 1,600 kg.

A rack of 0.6 m × 1.2 m with half aisles of 0.6 m stands on 0.6 × 2.4 = 1.44 m².
"""

from __future__ import annotations

from typing import Any

import pytest

from designs import Changes, Design
from rackwright.policy.api import Outcome

PASS, FAIL, UNKNOWN = Outcome.PASS, Outcome.FAIL, Outcome.UNKNOWN
AIR, LIQUID = Design("electrical"), Design("liquid")
HALL = ("halls", 0)
GROUP = (*HALL, "rows", 0, "rack_groups", 0)
COOLING = (*GROUP, "cooling")
FILLED: Changes = {
    (*GROUP, "cable_weight"): "40 kg",
    (*COOLING, "coolant_weight"): "20 kg",
    (*COOLING, "manifolds"): {"count": 2, "height": "0 U", "weight": "30 kg"},
}


def judged(design: Design, what: str, changes: Changes | None = None, patches: Any = None) -> Any:
    found = design.judged("RACK-010", changes, patches)
    (result,) = (r for r in found if what in r.what)
    return result


def test_cables_count_beside_devices() -> None:
    (row,) = AIR.site().racks
    assert (row.kind.cables_kg, row.kind.coolant_kg) == (40, 0)
    assert row.kind.counts_manifolds
    assert row.kind.in_service_kg == pytest.approx(597.8)
    assert judged(AIR, "caster").value == pytest.approx(747.8 / 4)
    assert judged(AIR, "footprint").value == pytest.approx(747.8 / 1.44)


def test_manifolds_and_coolant_count_in_racks_with_cold_plates() -> None:
    """1,600 kg with the rack, and 40 + 20 + 2 × 30 kg."""
    (row,) = LIQUID.site(FILLED).racks
    assert row.kind.in_service_kg == pytest.approx(1720)
    assert judged(LIQUID, "caster", FILLED).value == pytest.approx(430)


@pytest.mark.parametrize(
    ("floor", "what", "outcome"),
    [
        ({"concentrated": "187 kg", "uniform": "520 kg/m2"}, "caster", PASS),  # 186.95 kg
        ({"concentrated": "186 kg", "uniform": "520 kg/m2"}, "caster", FAIL),
        ({"concentrated": "187 kg", "uniform": "520 kg/m2"}, "footprint", PASS),  # 519.3 kg/m²
        ({"concentrated": "187 kg", "uniform": "519 kg/m2"}, "footprint", FAIL),
        ({"uniform": "520 kg/m2"}, "caster", UNKNOWN),
        ({"concentrated": "187 kg"}, "footprint", UNKNOWN),
    ],
)
def test_the_floor_carries_them(floor: dict[str, str], what: str, outcome: Outcome) -> None:
    assert judged(AIR, what, {(*HALL, "floor"): floor}).outcome is outcome


@pytest.mark.parametrize(("weight", "outcome"), [("802 kg", PASS), ("803 kg", FAIL)])
def test_the_rack_carries_them(weight: str, outcome: Outcome) -> None:
    """1,360 kg less 557.8 kg."""
    assert judged(AIR, "in the rack", {(*GROUP, "cable_weight"): weight}).outcome is outcome


UNSAID_MANIFOLDS = {(*COOLING, "manifolds"): {"count": 2, "height": "0 U"}}


@pytest.mark.parametrize(
    ("changes", "missing"),
    [
        ({(*GROUP, "cable_weight"): None}, "'cable_weight' of the racks"),
        ({(*COOLING, "coolant_weight"): None}, "'coolant_weight' of the racks"),
        ({(*COOLING, "manifolds"): None}, "'manifolds' of the racks, 0 if included"),
        (UNSAID_MANIFOLDS, "'manifolds.weight' of racks g[01-04]"),
    ],
)
def test_missing_weight_in_service_is_unknown(changes: Changes, missing: str) -> None:
    result = judged(LIQUID, "caster", {**FILLED, **changes})
    assert result.outcome is UNKNOWN
    assert result.missing == (missing,)


def test_coolant_is_of_cold_plates() -> None:
    with pytest.raises(ValueError, match="has no 'coolant_weight'"):
        AIR.plan({(*COOLING, "coolant_weight"): "1 kg"})
