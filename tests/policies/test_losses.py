"""Losses of UPSs and transformers are drawn from what feeds them; by hand.

Four racks of 132 kW, 528 kW in all, on two UPSs below one utility.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rackwright.errors import SpecErrors
from rackwright.policy.api import Outcome
from rackwright.policy.check import check_blueprint
from rackwright.policy.packs.loader import builtin_pack

LIQUID = builtin_pack() / "fixtures" / "liquid.yaml"
FAIL, PASS, UNKNOWN = Outcome.FAIL, Outcome.PASS, Outcome.UNKNOWN


def judged(folder: Path, *sources: str, pue: str = "1.15") -> dict[str, Any]:
    layer = folder / "layer.yaml"
    layer.write_text(
        f"sites:\n  - {{name: lux1, pue: {pue}, power: {{sources: [{', '.join(sources)}]}}}}\n"
    )
    report = check_blueprint(LIQUID, layers=(layer,), only=("PWR-006",))
    return {
        result.subject.name.removeprefix("lux1 ").removeprefix("source "): result
        for result in report.results
    }


def behind_the_ups(efficiency: str) -> tuple[str, ...]:
    """A transformer between each UPS and its busway."""
    lanes = []
    for lane in "ab":
        lanes.append(
            f"{{name: d-{lane}, kind: transformer, fed_by: [ups-{lane}], capacity: 600 kW"
            f"{efficiency}}}"
        )
        lanes.append(f"{{name: busway-{lane}, fed_by: [d-{lane}]}}")
    return tuple(lanes)


@pytest.mark.parametrize(("capacity", "outcome"), [("550 kW", PASS), ("549.9 kW", FAIL)])
def test_a_ups_carries_the_losses_of_the_transformer_behind_it(
    capacity: str, outcome: Outcome, tmp_path: Path
) -> None:
    """528 kW / 0.96 = 550 kW after the loss of the other UPS: 528 kW were counted."""
    short = f"{{name: ups-a, capacity: {capacity}}}"
    found = judged(tmp_path, *behind_the_ups(", efficiency: 96 %"), short)
    assert (found["ups-a"].outcome, found["ups-a"].value) == (outcome, pytest.approx(550_000))
    assert found["d-a"].value == pytest.approx(528_000)


def test_a_transformer_of_unknown_efficiency_makes_its_ups_unknown(tmp_path: Path) -> None:
    found = judged(tmp_path, *behind_the_ups(""))
    assert (found["ups-a"].outcome, found["ups-a"].missing) == (UNKNOWN, ("'efficiency' of 'd-a'",))
    assert found["d-a"].outcome is PASS
    assert found["utility"].value == pytest.approx(607_200)  # which the PUE covers


def test_losses_of_ups_count_where_they_are_more_than_the_pue_says(tmp_path: Path) -> None:
    """528 kW / 0.8 = 660 kW is more than 607.2 kW, so that the PUE has nothing left for cooling."""
    found = judged(tmp_path, *[f"{{name: ups-{n}, efficiency: 80 %}}" for n in "ab"])
    assert (found["utility"].outcome, found["utility"].value) == (UNKNOWN, None)
    assert found["utility"].missing[-1] == "'plant' of the site"
    assert "draws more than the 'pue' of 1.15 says" in found["utility"].missing[0]
    assert found["ups-a"].value == pytest.approx(528_000)


def test_losses_that_the_pue_covers_are_not_counted_twice(tmp_path: Path) -> None:
    """550 kW of racks and losses, and the rest of 607.2 kW is cooling."""
    found = judged(tmp_path, *[f"{{name: ups-{n}, efficiency: 96 %}}" for n in "ab"])
    assert found["utility"].value == pytest.approx(607_200)


def test_a_transformer_above_the_ups_does_not_carry_its_own_losses(tmp_path: Path) -> None:
    """Its rating is its output: 528 / 0.96 = 550 kW, and of the PUE 607.2 - 550 / 0.98 beyond.

    The share beyond is 528 × 1.15 - 561.2245 = 45.9755 kW.
    """
    lanes = [
        f"{{name: t-{n}, kind: transformer, fed_by: [utility], capacity: 1 MW, efficiency: 98 %}}"
        for n in "ab"
    ]
    ups = [f"{{name: ups-{n}, fed_by: [t-{n}], efficiency: 96 %}}" for n in "ab"]
    found = judged(tmp_path, *lanes, *ups)
    assert found["t-a"].value == pytest.approx(550_000 + 607_200 - 550_000 / 0.98)
    assert found["utility"].value == pytest.approx(607_200)


def test_efficiency_is_of_what_has_losses(tmp_path: Path) -> None:
    with pytest.raises(
        SpecErrors, match="'efficiency' is of a ups or transformer, not of a busway"
    ):
        judged(tmp_path, "{name: busway-a, efficiency: 99 %}")
