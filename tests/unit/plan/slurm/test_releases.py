"""SchedMD's window, against the table of its guide to upgrades."""

from __future__ import annotations

import pytest

from rackwright.plan.slurm.releases import (
    ReleaseError,
    check_window,
    fits,
    name_of,
    readable_from,
    release_of,
    way,
)

# SchedMD's guide to upgrades, "Compatible Prior Version"; 26.05 follows the same rule.
TABLE = {
    "23.02": ["22.05", "21.08"],
    "23.11": ["23.02", "22.05"],
    "24.05": ["23.11", "23.02"],
    "24.11": ["24.05", "23.11", "23.02"],
    "25.05": ["24.11", "24.05", "23.11"],
    "25.11": ["25.05", "24.11", "24.05"],
    "26.05": ["25.11", "25.05", "24.11"],
}


@pytest.mark.parametrize(("target", "older"), TABLE.items())
def test_a_release_reads_those_that_schedmd_lists(target: str, older: list[str]) -> None:
    assert [name_of(one) for one in readable_from(release_of(target))] == older


def test_the_boundary_of_the_window() -> None:
    assert fits((24, 11), (26, 5)), "the third before it"
    assert not fits((24, 5), (26, 5)), "the fourth before it"
    assert fits((22, 5), (23, 11)), "the second before one up to 24.05"
    assert not fits((22, 5), (24, 5)), "the third before one up to 24.05"
    assert fits((23, 2), (24, 11)), "from 24.11 on three are read"
    assert fits((25, 11), (25, 11)), "a maintenance release"


@pytest.mark.parametrize(
    ("before", "target", "steps"),
    [
        ("24.11", "26.05", ["26.05"]),
        ("22.05", "24.11", ["23.11", "24.11"]),
        ("22.05", "26.05", ["23.11", "25.05", "26.05"]),
        ("24.11", "24.11", []),
    ],
)
def test_the_way_has_the_fewest_steps(before: str, target: str, steps: list[str]) -> None:
    found = way(release_of(before), release_of(target))
    assert [name_of(one) for one in found] == steps


def test_upgrade_beyond_the_window_is_refused_with_the_steps_between() -> None:
    with pytest.raises(ReleaseError, match=r"24\.11 reads the state of 24\.05, 23\.11, 23\.02 and not of 22\.05") as caught:  # fmt: skip
        check_window("22.05", "24.11.5")
    assert (
        caught.value.hint == "go in steps, each verified before the next: first 23.11, then 24.11"
    )
    check_window("24.11.5", "26.05.5")
    check_window("24.11", "24.11.6")


def test_nothing_leads_back() -> None:
    with pytest.raises(ReleaseError, match=r"24\.11 is older than 26\.05"):
        check_window("26.05", "24.11")


@pytest.mark.parametrize("version", ["24.02", "27.08", "5", "21.05", "x.11", "19.02"])
def test_unknown_release_is_refused(version: str) -> None:
    with pytest.raises(ReleaseError, match=f"no release '{version}'"):
        release_of(version)


def test_releases_go_on_each_may_and_november() -> None:
    assert release_of("27.11.2") == (27, 11)
    assert readable_from((27, 5)) == ((26, 11), (26, 5), (25, 11))
