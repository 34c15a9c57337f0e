"""Each verdict names the hazards of its sites that no rule has judged."""

from __future__ import annotations

from pathlib import Path

import pytest

from rackwright.policy.check import check_blueprint
from rackwright.policy.hazards import WHERE, Hazard, hazards
from rackwright.policy.packs.loader import builtin_pack, load_pack
from rackwright.report.json import to_document
from rackwright.report.text import render_text, summary

FIXTURES = builtin_pack() / "fixtures"
RULES = {policy.id: policy for policy in load_pack(builtin_pack())}


@pytest.mark.parametrize("hazard", hazards(), ids=lambda hazard: hazard.id)
def test_a_hazard_has_rules_or_says_what_is_missing(hazard: Hazard) -> None:
    assert bool(hazard.rules) != bool(hazard.why)
    assert set(hazard.rules) <= set(RULES)
    assert set(hazard.where) <= set(WHERE)


def test_ids_and_titles_differ() -> None:
    every = hazards()
    assert len({one.id for one in every}) == len({one.title for one in every}) == len(every)


@pytest.mark.parametrize("family", ["power", "cooling", "rack"])
def test_rules_that_predict_damage_are_in_the_register(family: str) -> None:
    """A rule of set 0.4 about the hall belongs to a hazard, so that its absence is told."""
    named = {rule for hazard in hazards() for rule in hazard.rules}
    new = {p.id for p in RULES.values() if p.family == family and p.since == "0.4"}
    assert new
    assert sorted(new - named) == []


def test_a_verdict_counts_them_in_its_line_and_names_them_when_asked() -> None:
    report = check_blueprint(FIXTURES / "electrical.yaml")
    assert "arc flash during live work" in report.not_judged
    assert "a fault current is too small to open a breaker" not in report.not_judged
    end = f"; {len(report.not_judged)} hazards not checked ('rackwright explain hazards')"
    assert summary(report).endswith(end)
    assert "\n  arc flash during live work\n" in render_text(report, verbose=True)
    assert to_document(report)["not_judged"] == list(report.not_judged)


def test_a_rule_that_finds_nothing_to_judge_has_judged_nothing() -> None:
    """The hall of this fixture states no conductors, so that no rule knows whether faults are cleared."""
    report = check_blueprint(FIXTURES / "air.yaml")
    assert "a fault current is too small to open a breaker" in report.not_judged


def test_a_rule_that_cannot_tell_has_judged_nothing() -> None:
    report = check_blueprint(FIXTURES / "electrical.yaml")
    assert "conductors overheat behind their breaker" in report.not_judged


def test_hazards_of_other_sites_are_left_out(tmp_path: Path) -> None:
    report = check_blueprint(FIXTURES / "air.yaml")
    assert "leaks" not in report.not_judged
    assert check_blueprint(FIXTURES / "aws.yaml").not_judged == ()


def test_a_check_of_some_rules_claims_nothing_about_the_others() -> None:
    assert check_blueprint(FIXTURES / "air.yaml", only=("PWR-001",)).not_judged == ()
