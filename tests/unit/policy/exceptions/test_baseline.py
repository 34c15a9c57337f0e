"""The baseline: what it allows, that it only tightens, and what it never hides."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rackwright.errors import Location, SpecErrors
from rackwright.plan.base import Contributor, Subject
from rackwright.policy.api import Enforcement, Outcome, Severity
from rackwright.policy.engine import Report, Result, fingerprint
from rackwright.policy.exception_report import BaselineState, ExceptionReport, NoticeKind
from rackwright.policy.exceptions.baseline import (
    Baseline,
    BaselineEntry,
    BaselineFile,
    apply_baseline,
    created,
    pruned,
    render_baseline,
    tightened,
)
from rackwright.policy.exceptions.subject_patterns import split_racks, with_racks
from rackwright.reading.loader import Loaded, load_text

TODAY = date(2026, 12, 1)


def a_result(
    subject: str = "sjc1 racks c[01-08] feed A", value: float | None = 46_200.0, **changes: Any
) -> Result:
    given: dict[str, Any] = {
        "policy": "PWR-001",
        "title": "Feeds carry their load",
        "severity": Severity.HIGH,
        "enforcement": Enforcement.MANDATORY,
        "outcome": Outcome.FAIL,
        "location": Location("atlas.yaml", 42, 9),
        "message": "load is too high",
        "what": "" if value is None else "load",
        "limit": None if value is None else 41_500.0,
        "unit": "" if value is None else "W",
    } | changes
    at = Subject(subject, ("sites", 0))
    name = fingerprint(given["policy"], at, given["what"])
    return Result(subject=at, value=value, fingerprint=name, **given)


def a_report(*results: Result) -> Report:
    return Report("atlas", results, 1)


def a_file(*entries: BaselineEntry, name: str = "policies/baseline.json") -> Loaded[BaselineFile]:
    return load_text(render_baseline(entries), BaselineFile, name=name)


def recorded(*results: Result) -> Loaded[BaselineFile]:
    return a_file(*created(a_report(*results)))


def compared(before: list[Result], after: list[Result]) -> Report:
    return apply_baseline(a_report(*after), Baseline(recorded(*before)), TODAY)


def states(report: Report) -> dict[str, BaselineState | None]:
    return {result.subject.name: result.baseline_state for result in report.results}


def kinds(report: Report) -> list[NoticeKind]:
    assert isinstance(report.hygiene, ExceptionReport)
    return [notice.kind for notice in report.hygiene.notices]


def test_baseline_in_the_released_words_of_a_measure_still_covers_it() -> None:
    before = a_result(what="load that the busiest line implies")
    report = compared([before], [a_result(what="load implied by the busiest line")])
    assert list(states(report).values()) == [BaselineState.UNCHANGED]
    assert kinds(report) == []


# --- the file ----------------------------------------------------------------------------------


def test_the_file_reads_back_what_was_written() -> None:
    results = [a_result(), a_result("lux1 größe ×", 5.0, unit="%", limit=4.0), a_result(value=None)]
    entries = created(a_report(*results))
    text = render_baseline(entries)
    assert set(load_text(text, BaselineFile).value.entries) == set(entries)
    assert render_baseline(reversed(entries)) == text
    assert json.loads(text)["schema"] == "rackwright.baseline/v1"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"policy": "PWR-002"}, "the fingerprint is another"),
        ({"at": "sjc1 racks c[01-09] feed A"}, "the fingerprint is another"),
        ({"fingerprint": "0"}, "has a form that is not allowed"),
        ({"limit": None}, "give both 'value' and 'limit'"),
        ({"value": "46 kW"}, "is not a number"),
        ({"valeu": 1}, "unknown key 'valeu'"),
    ],
)
def test_a_file_that_was_changed_by_hand_is_an_error(changes: dict[str, Any], said: str) -> None:
    document = json.loads(render_baseline(created(a_report(a_result()))))
    document["entries"][0] |= changes
    with pytest.raises(SpecErrors, match=said):
        load_text(json.dumps(document), BaselineFile)


@pytest.mark.parametrize("head", [{}, {"schema": "rackwright.baseline/v2"}])
def test_another_version_is_an_error(head: dict[str, str]) -> None:
    with pytest.raises(SpecErrors, match="schema"):
        load_text(json.dumps(head | {"entries": []}), BaselineFile)


# --- one failure -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "state", "code"),
    [
        (46_200.0, BaselineState.UNCHANGED, 0),
        (46_200.0 * (1 + 1e-12), BaselineState.UNCHANGED, 0),
        (46_200.0 * (1 + 1e-6), BaselineState.REGRESSED, 5),
        (47_000.0, BaselineState.REGRESSED, 5),
        (45_000.0, BaselineState.IMPROVED, 0),
    ],
)
def test_a_failure_blocks_when_it_is_worse_than_recorded(
    value: float, state: BaselineState, code: int
) -> None:
    report = compared([a_result()], [a_result(value=value)])
    (result,) = report.results
    assert result.outcome is Outcome.FAIL
    assert result.baseline_state is state
    assert result.blocks is (code == 5)
    assert report.exit_code == code
    differs = state is not BaselineState.UNCHANGED
    assert ("the baseline records 46.2 kW" in result.message) is differs


@pytest.mark.parametrize(
    ("value", "state"),
    [
        (900.0, BaselineState.UNCHANGED),
        (899.0, BaselineState.REGRESSED),
        (950.0, BaselineState.IMPROVED),
    ],
)
def test_less_is_worse_where_a_minimum_is_missed(value: float, state: BaselineState) -> None:
    short: dict[str, Any] = {"limit": 1000.0, "unit": "CFM"}
    report = compared([a_result(value=900.0, **short)], [a_result(value=value, **short)])
    assert report.results[0].baseline_state is state


@pytest.mark.parametrize(
    "after",
    [
        a_result("sjc1 racks c[01-08] feed B"),
        a_result("lux1 racks c[01-08] feed A"),
        a_result(policy="PWR-002"),
        a_result(what="peak load"),
        a_result(unit="A"),
        a_result("sjc1 racks c[01-09] feed A"),
        a_result(value=40_000.0, limit=41_000.0),
    ],
)
def test_result_outside_of_the_baseline_is_new_and_blocks(after: Result) -> None:
    report = compared([a_result()], [after])
    assert report.results[0].baseline_state is BaselineState.NEW
    assert report.exit_code == 5


@pytest.mark.parametrize(
    ("after", "code"),
    [
        (a_result(outcome=Outcome.ERROR), 1),
        (a_result(outcome=Outcome.UNKNOWN), 6),
        (a_result(outcome=Outcome.UNKNOWN, value=None, what="load", unit="W"), 6),
    ],
)
def test_crashes_and_unknowns_are_never_hidden(after: Result, code: int) -> None:
    report = compared([a_result()], [after])
    assert report.exit_code == code
    assert report.results[0].baseline_state is None
    assert created(a_report(after)) == ()


def test_warning_is_not_recorded() -> None:
    assert created(a_report(a_result(enforcement=Enforcement.ADVISORY))) == ()


def test_a_rule_without_a_number_is_recorded_as_often_as_it_fails() -> None:
    finding = a_result(value=None)
    other = replace(finding, message="something else is wrong")
    assert compared([finding], [finding]).exit_code == 0
    assert compared([finding, other], [finding, other]).exit_code == 0
    assert compared([finding], [finding, other]).exit_code == 5


def test_several_values_of_one_name_are_compared_worst_with_worst() -> None:
    before = [a_result(value=50_000.0), a_result(value=45_000.0)]
    assert compared(before, list(reversed(before))).exit_code == 0
    assert compared(before, [a_result(value=50_000.0), a_result(value=49_000.0)]).exit_code == 5


# --- a limit that moves ------------------------------------------------------------------------


def over(value: float, limit: float, **changes: Any) -> Result:
    return a_result(value=value, limit=limit, **changes)


def test_a_recorded_failure_that_grows_because_its_limit_is_cut_blocks() -> None:
    report = compared([over(46e3, 45e3)], [over(46e3, 5e3)])
    (result,) = report.results
    assert result.baseline_state is BaselineState.REGRESSED
    assert report.exit_code == 5
    assert kinds(report) == [NoticeKind.REGRESSED]
    assert result.message.endswith(
        "; the baseline records 46 kW, 1 kW (2 %) over; the limit moved from 45 kW to 5 kW"
    )
    assert result.recorded is not None
    assert (result.recorded.value, result.recorded.limit) == (46e3, 45e3)


@pytest.mark.parametrize(
    ("before", "after", "state"),
    [
        # The same excess, or less, of a smaller limit.
        ((46e3, 45e3), (6e3, 5e3), BaselineState.REGRESSED),
        ((100e3, 50e3), (50e3, 10e3), BaselineState.REGRESSED),
        # More in all, although less over a limit that grew as well.
        ((46e3, 45e3), (56e3, 55.5e3), BaselineState.REGRESSED),
        # A limit that is raised.
        ((46e3, 45e3), (46e3, 45.5e3), BaselineState.IMPROVED),
        # Minimums.
        ((900.0, 1000.0), (900.0, 1001.0), BaselineState.REGRESSED),
        ((900.0, 1000.0), (900.0, 999.0), BaselineState.IMPROVED),
        # Limits of zero.
        ((3.0, 0.0), (3.0, 0.0), BaselineState.UNCHANGED),
        ((3.0, 0.0), (2.0, 0.0), BaselineState.IMPROVED),
        ((3.0, 1.0), (2.0, 0.0), BaselineState.REGRESSED),
    ],
)
def test_value_and_excess_both_decide_absolutely_and_in_relation_to_the_limit(
    before: tuple[float, float], after: tuple[float, float], state: BaselineState
) -> None:
    report = compared([over(*before)], [over(*after)])
    assert report.results[0].baseline_state is state
    assert report.exit_code == (5 if state is BaselineState.REGRESSED else 0)


def test_a_minimum_that_moves_is_called_a_minimum() -> None:
    low = {"unit": "CFM"}
    report = compared([over(900, 1000, **low)], [over(900, 1100, **low)])
    assert "the minimum moved from 1,000 CFM to 1,100 CFM" in report.results[0].message


def test_a_limit_that_is_raised_is_recorded_by_an_update_and_not_lowered_again() -> None:
    before = created(a_report(over(46e3, 45e3)))
    report = apply_baseline(a_report(over(46e3, 45.5e3)), Baseline(a_file(*before)), TODAY)
    (entry,) = tightened(before, report)
    assert (entry.value, entry.limit) == (46e3, 45.5e3)
    again = apply_baseline(a_report(over(46e3, 45e3)), Baseline(a_file(entry)), TODAY)
    assert again.exit_code == 5


def test_a_limit_that_is_cut_is_not_recorded_by_an_update() -> None:
    before = created(a_report(over(46e3, 45e3)))
    report = apply_baseline(a_report(over(46e3, 5e3)), Baseline(a_file(*before)), TODAY)
    assert tightened(before, report) == before


def test_two_failures_of_one_name_are_not_covered_by_two_that_are_worse_in_other_ways() -> None:
    before = [over(50e3, 49e3), over(45e3, 35e3)]
    assert compared(before, before).exit_code == 0
    assert compared(before, [over(50e3, 40e3), over(45e3, 44e3)]).exit_code == 5


def test_an_update_of_several_failures_of_one_name_adds_none() -> None:
    before = created(a_report(a_result(value=50e3), a_result(value=45e3)))
    for after in ([49e3, 45e3], [49e3, 46e3]):
        results = [a_result(value=value) for value in after]
        report = apply_baseline(a_report(*results), Baseline(a_file(*before)), TODAY)
        assert tightened(before, report) == before


def test_a_number_in_another_unit_is_new_whatever_it_is() -> None:
    report = compared([over(46e3, 45e3, unit="W")], [over(46.0, 5.0, unit="kW")])
    assert report.results[0].baseline_state is BaselineState.NEW
    assert report.exit_code == 5


def test_a_number_in_the_place_of_a_yes_or_no_is_new() -> None:
    yes_or_no = a_result(value=None, what="load")
    assert compared([yes_or_no], [a_result(unit="")]).exit_code == 5
    assert compared([a_result(unit="")], [yes_or_no]).exit_code == 5


def test_a_value_or_a_limit_that_becomes_unknown_is_not_covered() -> None:
    for changes in ({"limit": None}, {"value": None, "limit": 45e3, "what": "load", "unit": "W"}):
        unknown = a_result(outcome=Outcome.UNKNOWN, **changes)
        report = compared([over(46e3, 45e3)], [unknown])
        assert report.exit_code == 6
        assert report.results[0].baseline_state is None


def test_contributors_of_a_value_are_not_compared() -> None:
    parts = (Contributor("dgx-h100", 4, 10.2e3), Contributor("other", 1, 5.4e3))
    report = compared([a_result(contributors=parts)], [a_result(contributors=parts[:1])])
    assert states(report) == {a_result().subject.name: BaselineState.UNCHANGED}


def test_waived_result_is_not_compared_and_its_entry_is_not_absent() -> None:
    waived = over(46e3, 5e3, outcome=Outcome.WAIVED)
    report = compared([over(46e3, 45e3)], [waived])
    assert report.results == (waived,)
    assert kinds(report) == []


MARKS = st.tuples(st.integers(1, 60), st.integers(0, 60)).filter(lambda pair: pair[0] > pair[1])


@given(before=MARKS, after=MARKS)
def test_a_failure_is_never_covered_if_value_excess_or_share_is_worse(
    before: tuple[int, int], after: tuple[int, int]
) -> None:
    report = compared([over(*map(float, before))], [over(*map(float, after))])
    excess = [value - limit for value, limit in (before, after)]
    share_is_worse = excess[1] * before[1] > excess[0] * after[1]
    worse = after[0] > before[0] or excess[1] > excess[0] or share_is_worse
    assert report.exit_code == (5 if worse else 0)


@given(entries=st.lists(MARKS, min_size=1, max_size=3), after=MARKS)
def test_racks_that_become_alike_are_covered_only_where_each_record_covers_them(
    entries: list[tuple[int, int]], after: tuple[int, int]
) -> None:
    names = [f"c{number:02}" for number in range(len(entries))]
    before = [
        over(float(v), float(lim), subject=f"sjc1 rack {name} feed A")
        for name, (v, lim) in zip(names, entries, strict=True)
    ]
    merged = with_racks("sjc1 racks c[00-40] feed A", names)
    now = over(float(after[0]), float(after[1]), subject=merged)
    alone = [compared([replace(one, subject=now.subject)], [now]) for one in before]
    assert compared(before, [now]).exit_code == max(report.exit_code for report in alone)


# --- racks -------------------------------------------------------------------------------------


def test_one_rack_that_gets_worse_is_told_and_the_others_stay_recorded() -> None:
    after = [a_result("sjc1 racks c[01-02,04-08] feed A"), a_result("sjc1 rack c03 feed A", 50e3)]
    assert states(compared([a_result()], after)) == {
        "sjc1 racks c[01-02,04-08] feed A": BaselineState.UNCHANGED,
        "sjc1 rack c03 feed A": BaselineState.REGRESSED,
    }


def test_racks_that_become_alike_keep_the_strictest_of_their_numbers() -> None:
    before = [a_result("sjc1 rack c01 feed A", 50e3), a_result("sjc1 rack c02 feed A", 45e3)]
    merged = "sjc1 racks c[01-02] feed A"
    assert states(compared(before, [a_result(merged, 45e3)])) == {merged: BaselineState.UNCHANGED}
    assert states(compared(before, [a_result(merged, 46e3)])) == {merged: BaselineState.REGRESSED}


@given(racks=st.sets(st.integers(1, 40), min_size=1))
def test_a_subject_is_put_together_as_it_was_taken_apart(racks: set[int]) -> None:
    names = frozenset(f"c{number:02}" for number in racks)
    subject = with_racks("sjc1 racks c[01-40] feed A", names)
    assert split_racks(subject) == ("sjc1 rack feed A", names)


# --- what is said, update and prune --------------------------------------------------------------


def test_fixed_result_is_absent_without_a_problem() -> None:
    mended = a_result(value=40e3, outcome=Outcome.PASS)
    report = compared([a_result()], [mended])
    assert kinds(report) == [NoticeKind.ABSENT]
    assert report.hygiene is not None
    assert report.hygiene.problems == ()
    assert pruned(created(a_report(a_result())), report) == ()


@pytest.mark.parametrize("outcome", [Outcome.FAIL, Outcome.UNKNOWN, Outcome.WAIVED, Outcome.ERROR])
def test_result_that_may_still_fail_is_not_absent(outcome: Outcome) -> None:
    after = a_result(outcome=outcome)
    report = compared([a_result()], [after])
    assert NoticeKind.ABSENT not in kinds(report)
    entries = created(a_report(a_result()))
    assert pruned(entries, report) == entries


def test_a_better_number_is_a_note_and_update_keeps_it() -> None:
    report = compared([a_result()], [a_result(value=45e3)])
    assert kinds(report) == [NoticeKind.IMPROVED]
    entries = tightened(created(a_report(a_result())), report)
    assert [entry.value for entry in entries] == [45e3]


def test_update_loosens_and_adds_nothing() -> None:
    before = created(a_report(a_result()))
    after = [a_result(value=50e3), a_result("sjc1 rack d01 feed A")]
    report = apply_baseline(a_report(*after), Baseline(a_file(*before)), TODAY)
    assert tightened(before, report) == before


def test_update_of_a_split_group_keeps_each_rack_s_own_number() -> None:
    before = created(a_report(a_result()))
    after = [
        a_result("sjc1 racks c[01-02] feed A", 45e3),
        a_result("sjc1 rack c03 feed A", 50e3),
        a_result("sjc1 racks c[04-08] feed A"),
    ]
    report = apply_baseline(a_report(*after), Baseline(a_file(*before)), TODAY)
    entries = tightened(before, report)
    assert {entry.at: entry.value for entry in entries} == {
        "sjc1 racks c[01-02] feed A": 45e3,
        "sjc1 rack c03 feed A": 46_200.0,
        "sjc1 racks c[04-08] feed A": 46_200.0,
    }
    a_file(*entries)  # the fingerprints fit


VALUES = st.floats(41_501.0, 1e6)


@given(before=st.lists(VALUES, min_size=1, max_size=4), after=st.lists(VALUES, max_size=4))
def test_after_an_update_nothing_more_passes_than_before(
    before: list[float], after: list[float]
) -> None:
    def results(values: list[float]) -> list[Result]:
        return [a_result(f"sjc1 rack c{n:02} feed A", value) for n, value in enumerate(values)]

    entries = created(a_report(*results(before)))
    first = apply_baseline(a_report(*results(after)), Baseline(a_file(*entries)), TODAY)
    updated = tightened(entries, first)
    again = apply_baseline(a_report(*results(after)), Baseline(a_file(*updated)), TODAY)
    assert first.exit_code == again.exit_code
    old = {entry.at: entry.value for entry in entries}
    assert all((entry.value or 0) <= (old[entry.at] or 0) for entry in updated)


# --- a base revision ---------------------------------------------------------------------------


def reviewed(before: list[Result], head: list[Result], after: list[Result]) -> Report:
    files = recorded(*head), recorded(*before)
    return apply_baseline(a_report(*after), Baseline(*files, base_ref="main"), TODAY)


def test_entry_added_by_the_head_is_proposed_and_has_no_effect() -> None:
    report = reviewed([], [a_result()], [a_result()])
    assert report.exit_code == 5
    assert kinds(report) == [NoticeKind.PROPOSED]


def test_entry_loosened_by_the_head_is_reported_and_has_no_effect() -> None:
    worse = a_result(value=50e3)
    report = reviewed([a_result()], [worse], [worse])
    assert report.exit_code == 5
    assert sorted(kinds(report)) == [NoticeKind.REGRESSED, NoticeKind.SELF_APPROVED]


def test_entry_tightened_or_removed_by_the_head_applies_at_once() -> None:
    assert reviewed([a_result()], [a_result(value=45e3)], [a_result()]).exit_code == 5
    assert reviewed([a_result()], [], [a_result()]).exit_code == 5
    assert reviewed([a_result()], [a_result()], [a_result()]).exit_code == 0


def test_a_limit_that_the_change_cuts_is_not_approved_by_recording_it_anew() -> None:
    report = reviewed([over(46e3, 45e3)], [over(46e3, 5e3)], [over(46e3, 5e3)])
    assert report.exit_code == 5
    assert sorted(kinds(report)) == [NoticeKind.REGRESSED, NoticeKind.SELF_APPROVED]


def test_entry_of_base_and_head_must_cover_both() -> None:
    """Neither is stricter: one has the smaller value, the other the smaller excess."""
    files = [over(50e3, 49e3)], [over(46e3, 40e3)]
    assert reviewed(*files, [over(50e3, 49e3)]).exit_code == 5
    assert reviewed(*files, [over(46e3, 40e3)]).exit_code == 5
    assert reviewed(*files, [over(46e3, 45.5e3)]).exit_code == 0


def test_entry_fixed_and_removed_by_the_head_is_not_reported() -> None:
    mended = a_result(value=40e3, outcome=Outcome.PASS)
    assert kinds(reviewed([a_result()], [], [mended])) == []
    assert kinds(reviewed([a_result()], [a_result()], [mended])) == [NoticeKind.ABSENT]
