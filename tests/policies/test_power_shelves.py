"""Racks on a bus bar: what the shelves on the living feeds carry, by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rack_records import rack_feeds
from rackwright.errors import SpecErrors
from rackwright.plan.load import load_plan
from rackwright.policy.api import Outcome
from rackwright.policy.check import check_blueprint
from rackwright.policy.packs.loader import builtin_pack

LIQUID = builtin_pack() / "fixtures" / "liquid.yaml"
SHELVES = "shelves: {type: mgx-33kw, count: 8}"
NVL72 = 'type: gb200-nvl72, count: 4, name_digits: 2, racks: "g[01-04]", per_rack: 1'
B300 = 'type: dgx-b300-busbar, count: 16, racks: "g[01-04]", per_rack: 4'


def a_site(folder: Path, shelves: str, nodes: str = NVL72) -> Path:
    """Four racks on feeds A and B with these shelves and nodes."""
    text = LIQUID.read_text()
    for old, new in ((SHELVES, shelves), (NVL72, nodes)):
        assert text.count(old) == 1
        text = text.replace(old, new)
    path = folder / "site.yaml"
    path.write_text(text)
    return path


def judged(folder: Path, shelves: str, nodes: str = NVL72) -> dict[str, Any]:
    """What PWR-012 says, by the last words of each measure."""
    report = check_blueprint(a_site(folder, shelves, nodes), only=("PWR-012",))
    return {r.what.rpartition(" with ")[2]: r for r in report.results}


@pytest.mark.parametrize(
    ("shelves", "outcome", "left"),
    [
        # 132 kW; four of eight shelves live after either feed: 4 × 33 kW = 132 kW, exactly enough.
        (SHELVES, Outcome.PASS, 132e3),
        # Five are dealt 3 + 2; without A there are 2 × 33 kW = 66 kW. Each one N+1, all five would
        # carry 5 × 27.5 kW = 137.5 kW, which is how they passed.
        (SHELVES.replace("8", "5"), Outcome.FAIL, 66e3),
        # Eight, six of them on A: without it 2 × 33 kW = 66 kW.
        (SHELVES.replace("8", "8, per_feed: {A: 6, B: 2}"), Outcome.FAIL, 66e3),
        # All on A: nothing is left without it.
        (SHELVES.replace("8", "8, per_feed: {A: 8}"), Outcome.FAIL, 0),
    ],
)
def test_an_nvl72_keeps_what_it_draws_after_the_loss_of_a_feed(
    shelves: str, outcome: Outcome, left: float, tmp_path: Path
) -> None:
    found = judged(tmp_path, shelves)
    lost = found["feed A lost"]
    assert (lost.outcome, lost.value, lost.limit) == (outcome, 132e3, left)
    assert found["one supply of each lost"].outcome is Outcome.PASS


def test_an_nvl72_without_declared_shelves_is_unknown(tmp_path: Path) -> None:
    report = check_blueprint(a_site(tmp_path, "{}"[2:]), only=("PWR-012",))
    (result,) = report.results
    assert result.outcome is Outcome.UNKNOWN
    assert result.missing == ("'shelves' of the rack",)
    assert report.exit_code == 6


def test_four_b300_on_three_shelves_lose_two_of_them_with_a_feed(tmp_path: Path) -> None:
    """4 × 15 kW = 60 kW; three shelves N+1 carry 82.5 kW, and the one on B alone 33 kW."""
    found = judged(tmp_path, "shelves: {type: orv3-hpr-33kw, count: 3}", B300)
    assert found["one supply of each lost"].outcome is Outcome.PASS
    lost = found["feed A lost"]
    assert (lost.outcome, lost.value, lost.limit) == (Outcome.FAIL, 60e3, 33e3)
    assert lost.fix == "install 4 shelves of this type, as many on each feed"


def test_feeds_carry_as_much_as_their_shelves(tmp_path: Path) -> None:
    """132 kW over 3 + 2 shelves: 79.2 kW on A and 52.8 kW on B."""
    path = a_site(tmp_path, SHELVES.replace("8", "5"))
    (site,) = load_plan(path).plan.onprem
    assert [row.load_w for row in rack_feeds(site)] == pytest.approx([79_200, 52_800])


@pytest.mark.parametrize(
    ("per_feed", "said"),
    [
        ("{A: 4, B: 3}", "7 shelves are placed; there are 8"),
        ("{A: 4, C: 4}", "the racks 'g[01-04]' have no feed C"),
    ],
)
def test_shelves_are_on_feeds_that_exist(per_feed: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(SpecErrors) as caught:
        load_plan(a_site(tmp_path, SHELVES.replace("8", f"8, per_feed: {per_feed}")))
    assert said in str(caught.value)


def test_a_missing_number_of_supplies_is_unknown(tmp_path: Path) -> None:
    """The catalogue says nothing of the supplies of a node with eight MI300X."""
    report = check_blueprint(
        a_site(tmp_path, SHELVES, 'type: mi300x-8x, count: 4, racks: "g[01-04]", per_rack: 1'),
        only=("PWR-003",),
    )
    assert {r.outcome for r in report.results} == {Outcome.UNKNOWN}
