"""Peaks of all accelerators at once, when a feed is gone as well."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rackwright.plan.load import load_plan
from rackwright.policy.api import Outcome
from rackwright.policy.check import check_blueprint
from rackwright.policy.packs.loader import builtin_pack

LIQUID = builtin_pack() / "fixtures" / "liquid.yaml"


def a_site(folder: Path, **overload: str) -> Path:
    """Four NVL72 with peaks of 192 kW on two UPSs with these overload windows."""
    text = LIQUID.read_text()
    for name in ("ups-a", "ups-b"):
        old = f"name: {name}, kind: ups, fed_by: [utility], capacity: 600 kW"
        assert text.count(old) == 1
        window = overload.get(name.replace("-", "_"), "1 MW")
        text = text.replace(old, f"{old}, overload: {window}")
    path = folder / "site.yaml"
    path.write_text(text)
    return path


def judged(path: Path) -> dict[str, Any]:
    report = check_blueprint(path, only=("PWR-007",))
    return {result.subject.name: result for result in report.results}


def test_a_ups_meets_all_peaks_when_the_other_one_is_lost(tmp_path: Path) -> None:
    """Each carries 4 × 192 kW / 2 = 384 kW of peaks, and 768 kW alone: 700 kW passed."""
    found = judged(a_site(tmp_path, ups_a="700 kW", ups_b="768 kW"))
    short, enough = found["lux1 source ups-a"], found["lux1 source ups-b"]
    assert (short.outcome, short.value, short.limit) == (Outcome.FAIL, 768_000, 700_000)
    assert "'ups-b'" in short.message
    assert (enough.outcome, enough.value) == (Outcome.PASS, 768_000)


def test_a_ups_without_redundancy_is_judged_as_it_stands(tmp_path: Path) -> None:
    path = a_site(tmp_path, ups_a="384 kW, redundancy: N", ups_b="384 kW, redundancy: N")
    assert {(r.outcome, r.value) for r in judged(path).values()} == {(Outcome.PASS, 384_000)}


def test_the_plan_tells_both(tmp_path: Path) -> None:
    (site,) = load_plan(a_site(tmp_path)).plan.onprem
    (row,) = [row for row in site.power.sources if row.source == "busway-b"]
    assert (row.peak_w, row.peak_worst_w) == (384_000, 768_000)
    assert row.peak_lost in {"ups-a", "busway-a"}
