"""Contributors and fixes count devices that stand in racks, and ask for what people build."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rackwright.policy.api import Outcome
from rackwright.policy.check import check_blueprint
from rackwright.policy.packs.loader import builtin_pack

AIR = builtin_pack() / "fixtures" / "air.yaml"


def judged(folder: Path, text: str, rule: str) -> dict[str, Any]:
    layer = folder / "layer.yaml"
    layer.write_text(text)
    report = check_blueprint(AIR, layers=(layer,), only=(rule,))
    return {result.subject.name: result for result in report.results}


def test_a_node_on_three_feeds_is_counted_once(tmp_path: Path) -> None:
    """32 nodes of 10.2 kW × 1.35 on a utility of 450 kW: "61 of 64" with two feeds, 95 of 96 here."""
    layer = "sites: [{name: sjc1, power: {sources: [{name: utility, capacity: 450 kW}]}}]"
    result = judged(tmp_path, layer, "PWR-006")["sjc1 source utility"]
    assert result.outcome is Outcome.FAIL
    nodes = [c for c in result.contributors if c.name == "dgx-h100"]
    assert [c.count for c in nodes] == [32]
    assert nodes[0].each == 10_200 * 1.35
    assert "keep at most 30 of 32 × dgx-h100" in result.fix
    total = sum(c.total for c in result.contributors)
    assert abs(total - result.value) < 1


def test_a_node_counts_with_what_it_draws_through_one_feed(tmp_path: Path) -> None:
    layer = (
        "sites: [{name: sjc1, power: {sources: [{name: rpp-a, circuit: null, capacity: 100 kW}]}}]"
    )
    result = judged(tmp_path, layer, "PWR-006")["sjc1 source rpp-a"]
    nodes = [c for c in result.contributors if c.name == "dgx-h100"]
    assert [(c.count, c.each) for c in nodes] == [(32, 5_100)]


def test_no_fix_asks_for_more_feeds_than_people_build(tmp_path: Path) -> None:
    """A DGX B200 needs five of its six supplies: "spread the 6 supplies over 6 feeds"."""
    layer = "sites: [{name: sjc1, node_groups: [{name: dgx, type: dgx-b200, per_rack: 4}]}]"
    found = judged(tmp_path, layer, "PWR-003")
    result = next(r for name, r in found.items() if "dgx" in name)
    assert result.outcome is Outcome.FAIL
    assert "choose a product with more spare supplies than 1 of 6" in result.fix


def test_a_fix_asks_for_feeds_that_people_build(tmp_path: Path) -> None:
    """A DGX H100 needs four of its six: three feeds do."""
    layer = "sites: [{name: sjc1, node_groups: [{name: dgx, psus_per_feed: {A: 3, B: 3, C: 0}}]}]"
    found = judged(tmp_path, layer, "PWR-003")
    result = next(r for name, r in found.items() if "dgx" in name)
    assert "over 3 feeds" in result.fix
