"""Busways with tap-off boxes: ratings, breakers, and loads after the loss of a feed, by hand.

A rack holds four DGX H100 of 10.2 kW with six supplies each, two on each of three feeds: eight supplies of
1.7 kW on a feed, three of them on its busiest line. After the loss of a feed, four supplies of a node carry
2.55 kW each: three of them on a line are 7.65 kW, as if the feed carried 3 × 7.65 = 22.95 kW.
"""

from __future__ import annotations

import math
from typing import Any

import pytest

from designs import GONE, Changes, Design
from rackwright.errors import RackwrightError
from rackwright.policy.api import Outcome

PASS, FAIL, UNKNOWN = Outcome.PASS, Outcome.FAIL, Outcome.UNKNOWN
DESIGN = Design("busways")
GROUP = ("halls", 0, "rows", 0, "rack_groups", 0)
FEED = (*GROUP, "feeds", 0)
BOX = (*FEED, "tap_off")
OF_63_A = math.sqrt(3) * 415 * 63 * 0.8 * 0.95
"""W that a box of 63 A carries continuously: 34,416."""


def of_feed_a(rule: str, changes: Changes | None = None, what: str = "") -> Any:
    found = DESIGN.judged(rule, changes)
    (result,) = (
        r for r in found if r.subject.name == "bus1 racks c[01-08] feed A" and what in r.what
    )
    return result


def test_a_box_has_its_load_normally_and_after_the_loss_of_a_feed() -> None:
    """Eight supplies of 1.7 kW are 13.6 kW; three on a line are as 3 × 3 × 1.7 = 15.3 kW."""
    box = DESIGN.site().power.tap_offs[0]
    assert (box.feed, box.source, box.racks, box.breakers) == ("A", "busway-a", 1, 1)
    assert (box.current_a, box.breaker_a) == (63, 60)
    assert box.usable_w == pytest.approx(OF_63_A)
    assert box.load_w == pytest.approx(13_600)
    assert box.implied_w == pytest.approx(15_300)
    assert box.worst_w == pytest.approx(22_950)
    assert box.worst_lost in {"B", "C"}


def test_two_racks_on_a_box_load_it_twice() -> None:
    box = DESIGN.site({(*BOX, "racks"): 2}).power.tap_offs[0]
    assert (box.racks, box.breakers) == (2, 2)
    assert box.load_w == pytest.approx(27_200)
    assert box.worst_w == pytest.approx(45_900)


def test_no_more_racks_share_a_box_than_there_are() -> None:
    assert DESIGN.site({(*BOX, "racks"): 20}).power.tap_offs[0].racks == 8


@pytest.mark.parametrize(
    ("current", "racks", "outcome"),
    [
        ("63 A", 1, PASS),  # 22.95 of 34.42 kW
        ("63 A", 2, FAIL),  # 45.9 kW; 30.6 kW, the normal load, would do
        ("84 A", 2, FAIL),  # √3 × 415 × 84 × 0.76 = 45,888 W
        ("85 A", 2, PASS),  # 46,434 W
        ("42 A", 1, FAIL),  # 22,944 W
        ("43 A", 1, PASS),  # 23,490 W
    ],
)
def test_a_box_carries_its_racks_after_the_loss_of_a_feed(
    current: str, racks: int, outcome: Outcome
) -> None:
    changes = {(*BOX, "current"): current, (*BOX, "racks"): racks}
    assert of_feed_a("PWR-015", changes, "busiest line").outcome is outcome


def test_a_box_rated_for_continuous_load_is_not_derated() -> None:
    """42 A carry √3 × 415 × 42 × 0.95 = 28,680 W."""
    changes = {(*BOX, "current"): "42 A", (*BOX, "continuous_rated"): True}
    result = of_feed_a("PWR-015", changes, "busiest line")
    assert result.outcome is PASS
    assert result.limit == pytest.approx(28_680, abs=1)


@pytest.mark.parametrize(("current", "outcome"), [("60 A", PASS), ("59 A", FAIL)])
def test_a_breaker_in_a_box_is_no_larger_than_the_box(current: str, outcome: Outcome) -> None:
    assert of_feed_a("PWR-015", {(*BOX, "current"): current}, "breaker").outcome is outcome


def test_the_busway_carries_all_of_its_boxes() -> None:
    """Eight racks: 8 × 13.6 = 108.8 kW, and 163.2 kW after the loss of another busway.

    √3 × 415 × 400 × 0.8 × 0.95 = 218.5 kW; of 298 A 162.8 kW, of 299 A 163.3 kW.
    """
    source = ("power", "sources", 4, "circuit", "current")
    for current, outcome in (("400 A", PASS), ("299 A", PASS), ("298 A", FAIL)):
        found = DESIGN.judged("PWR-006", {source: current})
        (busway,) = (r for r in found if r.subject.name == "bus1 source busway-a")
        assert busway.outcome is outcome
        assert busway.value == pytest.approx(163_200)


@pytest.mark.parametrize(
    ("changes", "missing"),
    [
        ({BOX: GONE}, "'tap_off' of the feed"),
        ({(*FEED, "circuit"): GONE}, "'circuit' of the feed"),
    ],
)
def test_tap_off_box_without_a_fact_is_unknown(changes: Changes, missing: str) -> None:
    found = [r for r in DESIGN.judged("PWR-015", changes) if r.outcome is UNKNOWN]
    assert found
    assert all(missing in result.missing for result in found)


def test_a_box_hangs_on_a_busway() -> None:
    with pytest.raises(RackwrightError) as caught:
        DESIGN.plan({(*FEED, "source"): "ups-a"})
    messages = [problem.message for problem in getattr(caught.value, "problems", ())]
    assert messages == ["feed A has a tap-off box, and 'ups-a' is a ups"]


def test_a_feed_from_anything_else_has_no_box() -> None:
    changes = {(*FEED, "source"): "ups-a", BOX: GONE}
    found = DESIGN.judged("PWR-015", changes)
    assert {r.subject.name for r in found} == {
        "bus1 racks c[01-08] feed B",
        "bus1 racks c[01-08] feed C",
    }
