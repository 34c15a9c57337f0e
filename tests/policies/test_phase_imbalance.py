"""Uneven lines, against the rating of what carries them."""

from __future__ import annotations

from pathlib import Path

import pytest

from rackwright.policy.api import Outcome
from rackwright.policy.check import check_blueprint
from rackwright.policy.packs.loader import builtin_pack

AIR = builtin_pack() / "fixtures" / "air.yaml"


def outcomes(folder: Path, power: str = "") -> dict[str, Outcome]:
    """Of one rack of four DGX H100: 3+3+2 supplies of 1.7 kW on each feed."""
    layer = folder / "layer.yaml"
    layer.write_text(
        "sites:\n  - name: sjc1\n    fabrics: []\n"
        "    node_groups: [{name: dgx, count: 4, racks: c01}]\n" + power
    )
    report = check_blueprint(AIR, layers=(layer,), only=("PWR-005",))
    return {r.subject.name.removeprefix("sjc1 source "): r.outcome for r in report.results}


def test_one_rack_on_a_large_panel_is_not_refused(tmp_path: Path) -> None:
    """13.6 kW of 218.5 kW, and 25 % between its lines, were refused."""
    assert set(outcomes(tmp_path).values()) <= {Outcome.PASS, Outcome.NOT_APPLICABLE}


@pytest.mark.parametrize(
    ("capacity", "judged"), [("54.4 kW", True), ("54.5 kW", False), ("17 kW", True)]
)
def test_lines_are_judged_from_a_quarter_of_the_capacity_on(
    capacity: str, judged: bool, tmp_path: Path
) -> None:
    power = f"    power: {{sources: [{{name: rpp-a, circuit: null, capacity: {capacity}}}]}}\n"
    assert ("rpp-a" in outcomes(tmp_path, power)) is judged


def test_lines_of_a_panel_that_one_rack_fills_are_judged(tmp_path: Path) -> None:
    """1.133 kW of deviation on lines of 5.333 kW, 21.25 %."""
    power = "    power: {sources: [{name: rpp-a, circuit: null, capacity: 16 kW}]}\n"
    assert outcomes(tmp_path, power)["rpp-a"] is Outcome.FAIL
