"""Batteries that charge after an outage, on what feeds their UPSs; by hand.

Four racks of 132 kW, 528 kW in all, on two UPSs below one utility; 607.2 kW with the PUE of 1.15.
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


def judged(folder: Path, *sources: str, ups: str = "recharge: 30 kW") -> dict[str, Any]:
    layer = folder / "layer.yaml"
    both = [f"{{name: ups-{n}, {ups}}}" for n in "ab"] if ups else ["{name: utility}"]
    layer.write_text(
        f"sites:\n  - {{name: lux1, power: {{sources: [{', '.join([*both, *sources])}]}}}}\n"
    )
    report = check_blueprint(LIQUID, layers=(layer,), only=("PWR-013",))
    return {result.subject.name.removeprefix("lux1 source "): result for result in report.results}


GENERATOR = "{{name: gen, kind: generator, capacity: {0}}}"
STANDS_BY = "fed_by: [utility, gen], recharge: 30 kW"


@pytest.mark.parametrize(
    ("capacity", "outcome"), [("650 kW", FAIL), ("667.2 kW", PASS), ("667.1 kW", FAIL)]
)
def test_a_generator_charges_the_batteries_that_bridged_its_start(
    capacity: str, outcome: Outcome, tmp_path: Path
) -> None:
    """607.2 kW and 2 × 30 kW: a generator of 650 kW passed."""
    result = judged(tmp_path, GENERATOR.format(capacity), ups=STANDS_BY)["gen"]
    assert (result.outcome, result.value) == (outcome, pytest.approx(667_200))
    assert "after losing 'utility'" in result.message


def test_the_utility_charges_them_when_it_is_back(tmp_path: Path) -> None:
    result = judged(tmp_path)["utility"]
    assert (result.outcome, result.value) == (PASS, pytest.approx(667_200))


def test_a_transformer_loses_some_of_what_charges(tmp_path: Path) -> None:
    """Racks and batteries, 528 + 60 = 588 kW, over 0.98 = 600 kW, and cooling.

    Of the PUE 528 × 1.15 - 528 / 0.98 = 68.4245 kW is beyond the racks and losses.
    """
    lanes = "{name: t, kind: transformer, fed_by: [utility], capacity: 1 MW, efficiency: 98 %}"
    found = judged(tmp_path, lanes, ups="fed_by: [t], recharge: 30 kW")
    beyond = 607_200 - 528_000 / 0.98
    assert found["t"].value == pytest.approx(588_000 + beyond)
    assert found["utility"].value == pytest.approx(600_000 + beyond)


def test_a_ups_that_says_nothing_makes_what_feeds_it_unknown(tmp_path: Path) -> None:
    found = judged(tmp_path, ups="")
    assert set(found) == {"utility"}
    assert found["utility"].outcome is UNKNOWN
    assert found["utility"].missing == ("'recharge' of 'ups-a'", "'recharge' of 'ups-b'")


def test_a_ups_without_batteries_says_so(tmp_path: Path) -> None:
    assert judged(tmp_path, ups="recharge: 0 W")["utility"].value == pytest.approx(607_200)


def test_only_a_ups_charges(tmp_path: Path) -> None:
    with pytest.raises(SpecErrors, match="'recharge' is of a ups, not of a busway"):
        judged(tmp_path, "{name: busway-a, recharge: 1 kW}")
