"""NVLink domains of 72 accelerators in a rack, partial ones, and what a lost compute tray takes, by hand."""

from __future__ import annotations

from typing import Any

import pytest

from designs import GONE, Changes, Design, Patches
from rackwright.policy.api import Outcome
from rackwright.policy.engine import Result

DESIGN = Design("nvlink-domains")
SIZES = ("/", "scheduler", "topology", "block_sizes")
SIXTEEN: Patches = {"gb200-nvl72": {"hosts": 16, "accelerators": {"count": 64}}}
"""An NVL72 with 16 of 18 trays, as a product of a team."""


def test_an_nvl72_is_a_domain_of_72_accelerators_in_one_rack() -> None:
    """18 trays of four accelerators; with one lost, 17 × 4 = 68 are joined."""
    (found,) = DESIGN.site().nvlink_domains
    assert (found.group, found.entry) == ("nvl72", "gb200-nvl72")
    assert (found.domains, found.racks, found.trays) == (4, 4, 18)
    assert (found.accelerators, found.most) == (72, 72)
    assert found.left == 68


def test_a_domain_with_fewer_trays_is_a_partial_one() -> None:
    (found,) = DESIGN.site(patches=SIXTEEN).nvlink_domains
    assert (found.trays, found.accelerators, found.most) == (16, 64, 72)
    assert found.left == 60


def test_whether_a_domain_is_whole_is_unknown_where_nobody_says_what_it_joins() -> None:
    (found,) = DESIGN.site(
        patches={"gb200-nvl72": {"accelerators": {"domain": None}}}
    ).nvlink_domains
    assert found.most is None


def test_servers_form_no_domains() -> None:
    assert DESIGN.site({("node_groups", 0, "type"): "dgx-h100"}).nvlink_domains == ()


def lost(changes: Changes, patches: Patches | None = None, **parameters: Any) -> Result:
    """What is said of one compute tray."""
    found = DESIGN.judged("REL-003", changes, patches, **parameters)
    (result,) = (r for r in found if r.what.endswith("one compute tray"))
    return result


@pytest.mark.parametrize(
    ("sizes", "percent"),
    [
        ([18], 25),  # no block of 18 is left in the domain: 18 of 72 hosts
        ([9], 12.5),  # one block of nine
        ([6], 100 * 6 / 72),
        ([17], 0),  # 17 trays are left, and were in a block before; the lost one is the spare
        ([16], 0),
    ],
)
def test_a_lost_tray_takes_the_block_that_it_belongs_to(sizes: list[int], percent: float) -> None:
    assert lost({SIZES: sizes}).value == pytest.approx(percent)


def test_without_blocks_a_lost_tray_takes_a_host() -> None:
    """One of 72."""
    alone = lost({("/", "scheduler"): GONE})
    assert alone.value == pytest.approx(100 / 72)
    tree = lost({("/", "scheduler", "topology"): {"plugin": "flat"}})
    assert tree.value == pytest.approx(100 / 72)


def test_sixteen_trays_in_blocks_of_sixteen_lose_all_of_them() -> None:
    """16 of 64 hosts."""
    assert lost({SIZES: [16]}, SIXTEEN).value == 25


@pytest.mark.parametrize(
    ("sizes", "outcome"), [([18], Outcome.FAIL), ([9], Outcome.PASS), ([17], Outcome.PASS)]
)
def test_blocks_decide_whether_a_tray_takes_too_much(sizes: list[int], outcome: Outcome) -> None:
    result = lost({SIZES: sizes}, most_lost="20 %")
    assert result.outcome is outcome
    if outcome is Outcome.FAIL:
        assert result.fix == "use blocks of 17, which leave a spare tray"
        (share,) = result.contributors
        assert share.name == "hosts of a block of 18 with one tray of 18"
        assert share.total == pytest.approx(25)


def test_a_tray_never_takes_more_than_its_rack() -> None:
    for sizes in ([18], [9], [6], [17]):
        found = DESIGN.judged("REL-003", {SIZES: sizes})
        (rack,) = (r for r in found if r.what.endswith("one rack"))
        assert rack.value is not None
        assert (lost({SIZES: sizes}).value or 0) <= rack.value
