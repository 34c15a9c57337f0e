"""What lies above the UPSs carries the facility, not the racks alone; by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rackwright.plan.load import load_plan
from rackwright.policy.api import Outcome
from rackwright.policy.check import check_blueprint
from rackwright.policy.packs.loader import builtin_pack

LIQUID = builtin_pack() / "fixtures" / "liquid.yaml"
UTILITY = "- {name: utility, kind: utility, capacity: 1 MW}"
IT = 528_000
"""W of four racks of 132 kW; at a PUE of 1.15 the facility draws 607.2 kW."""


def a_site(folder: Path, *changes: tuple[str, str]) -> Path:
    text = LIQUID.read_text()
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    path = folder / "site.yaml"
    path.write_text(text)
    return path


def judged(path: Path, rule: str = "PWR-006") -> dict[str, Any]:
    report = check_blueprint(path, only=(rule,))
    return {result.subject.name: result for result in report.results}


@pytest.mark.parametrize(
    ("contract", "outcome"),
    [("600 kW", Outcome.FAIL), ("607.2 kW", Outcome.PASS), ("607.1 kW", Outcome.FAIL)],
)
def test_the_contract_carries_cooling_and_losses(
    contract: str, outcome: Outcome, tmp_path: Path
) -> None:
    """600 kW for racks of 528 kW passed."""
    path = a_site(tmp_path, ("contract: 1 MW", f"contract: {contract}"))
    result = judged(path)["lux1 contract"]
    assert (result.outcome, result.value) == (outcome, pytest.approx(1.15 * IT))


def test_the_utility_carries_cooling_and_losses(tmp_path: Path) -> None:
    path = a_site(tmp_path, (UTILITY, UTILITY.replace("1 MW", "600 kW")))
    result = judged(path)["lux1 source utility"]
    assert (result.outcome, result.value) == (Outcome.FAIL, pytest.approx(607_200))
    assert result.limit == 600_000


GENERATOR = f"{UTILITY}\n        - {{name: gen, kind: generator, capacity: 600 kW}}"
FED = ("fed_by: [utility]", "fed_by: [utility, gen]")


def test_a_generator_carries_cooling_and_losses_when_the_utility_is_lost(tmp_path: Path) -> None:
    result = judged(a_site(tmp_path, (UTILITY, GENERATOR), FED))["lux1 source gen"]
    assert (result.outcome, result.value) == (Outcome.FAIL, pytest.approx(607_200))
    assert "after losing 'utility'" in result.message


def test_a_transformer_above_a_ups_carries_them_and_one_below_does_not(tmp_path: Path) -> None:
    """Each UPS has a transformer with half of the load, and the whole of it when one is lost."""
    lanes: list[tuple[str, str]] = []
    for lane in "ab":
        made = [
            f"- {{name: t-{lane}, kind: transformer, fed_by: [utility], capacity: 600 kW}}",
            f"- {{name: ups-{lane}, kind: ups, fed_by: [t-{lane}], capacity: 600 kW}}",
            f"- {{name: d-{lane}, kind: transformer, fed_by: [ups-{lane}], efficiency: 100 %}}",
        ]
        old = f"- {{name: ups-{lane}, kind: ups, fed_by: [utility], capacity: 600 kW}}"
        lanes.append((old, "\n        ".join(made)))
        busway = f"name: busway-{lane}, kind: busway, fed_by: "
        lanes.append((f"{busway}[ups-{lane}]", f"{busway}[d-{lane}]"))
    found = judged(a_site(tmp_path, *lanes))
    assert found["lux1 source t-a"].value == pytest.approx(607_200)
    assert found["lux1 source t-a"].outcome is Outcome.FAIL
    assert found["lux1 source d-a"].value == pytest.approx(IT)
    assert found["lux1 source ups-a"].value == pytest.approx(IT)


def test_without_a_pue_nobody_knows_what_the_facility_draws(tmp_path: Path) -> None:
    found = judged(a_site(tmp_path, ("    pue: 1.15\n", "")))
    for name in ("lux1 contract", "lux1 source utility"):
        assert found[name].outcome is Outcome.UNKNOWN
        assert found[name].missing == ("'pue' of the site",)
    assert found["lux1 source ups-a"].outcome is Outcome.PASS


def test_the_peak_of_a_generator_has_the_cooling_on_top(tmp_path: Path) -> None:
    """Peaks of 4 × 192 kW = 768 kW, and 0.15 × 528 kW = 79.2 kW that do not peak: 847.2 kW."""
    generator = GENERATOR.replace("capacity: 600 kW", "capacity: 2 MW, overload: 800 kW")
    result = judged(a_site(tmp_path, (UTILITY, generator), FED), "PWR-007")["lux1 source gen"]
    assert (result.outcome, result.value) == (Outcome.FAIL, pytest.approx(847_200))


def test_the_plan_tells_both(tmp_path: Path) -> None:
    (site,) = load_plan(a_site(tmp_path)).plan.onprem
    rows = {row.source: row for row in site.power.sources}
    assert (rows["utility"].load_w, rows["utility"].facility_w) == pytest.approx((IT, 607_200))
    assert (rows["ups-a"].load_w, rows["ups-a"].facility_w) == pytest.approx((IT / 2, IT / 2))
