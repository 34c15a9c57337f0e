"""What one supply draws at worst: its share of the device, and no more than its plate; by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rackwright.policy.api import Outcome
from rackwright.policy.check import check_blueprint
from rackwright.policy.packs.loader import builtin_pack

AIR = builtin_pack() / "fixtures" / "air.yaml"


def judged(folder: Path, text: str) -> dict[tuple[str, str], Any]:
    layer = folder / "layer.yaml"
    layer.write_text(text)
    report = check_blueprint(AIR, layers=(layer,), only=("PWR-004",))
    return {
        (result.subject.name, word): result
        for result in report.results
        for word in ("outlet", "branch")
        if word in result.message or word in result.what
    }


B300 = "sites: [{name: sjc1, fabrics: [], node_groups: [{name: dgx, type: dgx-b300, per_rack: 4}]}]"
PDU = "sjc1 racks c[01-08] feed A PDU 1"
VOLTS = 415 / 3**0.5 * 0.95


def test_twelve_supplies_share_the_load(tmp_path: Path) -> None:
    """Eight live without a feed: 15 kW / 8 = 1.875 kW, 8.24 A; by its rating of 3.2 kW 13.4 A.

    Two of them on a branch of 20 A × 0.8 = 16 A are 16.47 A, and were 26.7 A.
    """
    found = judged(tmp_path, B300)
    assert found[PDU, "outlet"].value == pytest.approx(15_000 / 8 / VOLTS)
    branch = found[PDU, "branch"]
    assert (branch.outcome, branch.value) == (Outcome.FAIL, pytest.approx(2 * 15_000 / 8 / VOLTS))


def test_a_supply_draws_its_share_of_what_is_left_on_two_feeds(tmp_path: Path) -> None:
    """Six live: 2.5 kW, 10.98 A each, and two of them are more than a branch carries."""
    placed = B300.replace("per_rack: 4", "per_rack: 4, psus_per_feed: {A: 6, B: 6, C: 0}")
    found = judged(tmp_path, placed)
    assert found[PDU, "outlet"].value == pytest.approx(15_000 / 6 / VOLTS)
    assert found[PDU, "branch"].outcome is Outcome.FAIL


def test_the_power_factor_counts(tmp_path: Path) -> None:
    """Amperes are of apparent power: 2.55 kW take 11.2 A, where 3.3 kW of output took 13.77 A."""
    found = judged(tmp_path, "sites: [{name: sjc1, power: {power_factor: 0.85}}]")
    assert found[PDU, "outlet"].value == pytest.approx(2_550 / (415 / 3**0.5 * 0.85))
