"""Clusters of a few racks cannot spread what they have, and are not refused for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from rackwright.policy.api import Enforcement, Outcome
from rackwright.policy.check import check_blueprint
from rackwright.policy.packs.loader import builtin_pack

RELIABILITY = builtin_pack() / "fixtures" / "reliability.yaml"


@pytest.mark.parametrize(
    ("racks", "count", "enforcement"),
    [("c01", 4, Enforcement.ADVISORY), ("c[01-03]", 12, Enforcement.ADVISORY)],
)
def test_a_starter_of_few_racks_is_not_refused(
    tmp_path: Path, racks: str, count: int, enforcement: Enforcement
) -> None:
    layer = tmp_path / "layer.yaml"
    layer.write_text(
        f"sites: [{{name: sjc1, node_groups: [{{name: dgx, count: {count}, racks: '{racks}'}}]}}]\n"
        "reliability: {jobs: null}\n"
    )
    report = check_blueprint(RELIABILITY, layers=(layer,), only=("REL-003",))
    failed = [r for r in report.results if r.outcome is Outcome.FAIL and "one rack" in r.message]
    assert [r.enforcement for r in failed] == [enforcement]


def test_a_group_over_four_racks_that_crowds_one_of_them_is_refused(tmp_path: Path) -> None:
    layer = tmp_path / "layer.yaml"
    layer.write_text(
        "sites: [{name: sjc1, node_groups: [{name: dgx, count: 13, racks: 'c[01-04]'}]}]\n"
        "reliability: {jobs: null}\n"
    )
    report = check_blueprint(RELIABILITY, layers=(layer,), only=("REL-003",))
    failed = [r for r in report.results if r.outcome is Outcome.FAIL and "one rack" in r.message]
    assert [r.enforcement for r in failed] == [Enforcement.MANDATORY]
