"""Waivers: what they cover, for how long, and what is said about each."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta
from typing import Any

import pytest
import yaml
from hypothesis import assume, given
from hypothesis import strategies as st
from jsonschema import Draft7Validator

from omissions import paths, without
from rackwright.errors import Location, SpecErrors
from rackwright.exit_codes import ExitCode
from rackwright.plan.base import Subject
from rackwright.policy.api import Enforcement, Outcome, Severity
from rackwright.policy.engine import Report, Result
from rackwright.policy.exception_report import ExceptionReport, NoticeKind
from rackwright.policy.exceptions.apply_waivers import SOON_DAYS, Waivers, apply_waivers
from rackwright.policy.exceptions.subject_patterns import fits
from rackwright.policy.exceptions.waivers import (
    LONGEST_DAYS,
    Waiver,
    WaiverDecision,
    WaiverFile,
    applies,
    in_unit,
    limit_for,
)
from rackwright.reading.loader import Loaded, load_text
from rackwright.reading.schema import export_schema
from rackwright.report.text import render_text

TODAY = date(2026, 12, 1)
SEVERITIES = {"PWR-001": Severity.HIGH, "PWR-002": Severity.HIGH}
FAIL = Result(
    policy="PWR-001",
    title="Feeds carry their load",
    severity=Severity.HIGH,
    enforcement=Enforcement.MANDATORY,
    outcome=Outcome.FAIL,
    subject=Subject("sjc1 rack r12 feed A", ("sites", 0, "halls", 0)),
    location=Location("atlas.yaml", 42, 9),
    message="load is 46.2 kW; the limit is 41.5 kW: 4.7 kW (11 %) over",
    what="load",
    value=46_200.0,
    limit=41_500.0,
    unit="W",
)
FINDING = replace(FAIL, what="", value=None, limit=None, unit="")
UNKNOWN = replace(FAIL, outcome=Outcome.UNKNOWN, value=None)
ERROR = replace(FAIL, outcome=Outcome.ERROR, value=None, limit=None)
PASS = replace(FAIL, outcome=Outcome.PASS, value=40_000.0)


def a_waiver(**changes: Any) -> dict[str, Any]:
    given: dict[str, Any] = {
        "id": "W-2026-014",
        "policy": "PWR-001",
        "match": {"site": "sjc1", "rack": "r12", "feed": "A"},
        "up_to": "47 kW",
        "reason": "burn-in until the second PDU arrives",
        "owner": "dc-power@example.com",
        "ticket": "DC-1432",
        "expires": "2026-12-20",
    } | changes
    if given["up_to"] == "47 kW":
        given.setdefault("limit", "41.5 kW")
    return {key: value for key, value in given.items() if value is not None}


def made(**changes: Any) -> Waiver:
    return Waiver.model_validate(a_waiver(**changes))


def a_file(*waivers: dict[str, Any], name: str = "policies/waivers.yaml") -> Loaded[WaiverFile]:
    return load_text(yaml.safe_dump({"waivers": list(waivers)}), WaiverFile, name=name)


def a_report(*results: Result) -> Report:
    return Report("atlas", results, 1)


def judged(
    *results: Result, waivers: Waivers, today: date = TODAY, only: tuple[str, ...] = ()
) -> Report:
    return apply_waivers(a_report(*results), waivers, today, SEVERITIES, only)


def under(*waivers: dict[str, Any], result: Result = FAIL, today: date = TODAY) -> Report:
    return judged(result, waivers=Waivers(a_file(*waivers)), today=today)


def hygiene(report: Report) -> ExceptionReport:
    assert report.hygiene is not None
    return report.hygiene


def kinds(report: Report) -> list[NoticeKind]:
    return [notice.kind for notice in hygiene(report).notices]


# --- the file ----------------------------------------------------------------------------------


def test_a_whole_waiver_is_read() -> None:
    waiver = a_file(a_waiver()).value.waivers[0]
    assert waiver.expires == date(2026, 12, 20)
    assert waiver.up_to == "47 kW"


@pytest.mark.parametrize(
    "reason", ["机柜十二月更换", "ラックは十二月に交換", "랙은 십이월에 교체됨"]
)
def test_a_short_sentence_of_another_script_is_a_reason(reason: str) -> None:
    assert a_file(a_waiver(reason=reason)).value.waivers[0].reason == reason


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"match": {}}, "matches everything"),
        ({"match": {"site": "*"}}, "matches everything"),
        ({"match": {"site": "*", "rack": "?*"}}, "matches everything"),
        ({"match": {"rack": ""}}, "rack: the text is empty"),
        ({"match": {"rack": 12}}, "is not text"),
        ({"match": {"the rack": "r12"}}, "is no word of a subject"),
        ({"match": None}, "'match' is missing"),
        ({"reason": "burn-in"}, "at least 15 characters"),
        ({"reason": "已批准"}, "or 5 signs of a script that writes syllables or words"),
        ({"reason": "................"}, "a reason says something"),
        ({"reason": "burn-in       "}, "has blanks around it"),
        ({"reason": None}, "'reason' is missing"),
        ({"owner": None}, "'owner' is missing"),
        ({"owner": " "}, "the text is empty"),
        ({"owner": "a\x1b[31m"}, "cannot be printed"),
        ({"ticket": None}, "'ticket' is missing"),
        ({"expires": None}, "'expires' is missing"),
        ({"expires": "never"}, "is not a day"),
        ({"expires": "2026-02-30"}, "is not a day"),
        ({"expires": "20261220"}, "is not a day"),
        ({"expires": 4_102_444_800}, "is not a day"),
        ({"expires": "2026-12-20T00:00:00Z"}, "is not a day"),
        ({"up_to": "a lot"}, "is not a quantity"),
        ({"up_to": ".inf kW"}, "is not a quantity"),
        ({"up_to": True}, "is not text"),
        ({"unknown": True}, "give 'up_to' or 'unknown'"),
        ({"limit": "a lot"}, "is not a quantity"),
        ({"up_to": None, "limit": "41.5 kW"}, "give 'up_to' as well"),
        ({"policy": "*"}, r"has '\*'"),
        ({"untl": "2027-01-01"}, "unknown key 'untl'"),
    ],
)
def test_incomplete_waiver_is_an_error_and_never_permanent(
    changes: dict[str, Any], said: str
) -> None:
    with pytest.raises(SpecErrors, match=said) as raised:
        a_file(a_waiver(**changes))
    assert raised.value.exit_code is ExitCode.USAGE
    assert "policies/waivers.yaml:" in str(raised.value)


def test_ids_are_unique() -> None:
    with pytest.raises(SpecErrors, match="'W-2026-014' is given twice"):
        a_file(a_waiver(), a_waiver())


def test_editors_know_what_a_waiver_needs() -> None:
    schema = export_schema(WaiverFile, title="T", schema_id="urn:test")
    Draft7Validator.check_schema(schema)
    validator = Draft7Validator(schema)
    assert validator.is_valid({"waivers": [a_waiver()]})
    assert validator.is_valid({"waivers": [a_waiver(up_to=3)]})
    for changes in ({"expires": None}, {"owner": None}, {"untl": "x"}, {"expires": 20261220}):
        assert not validator.is_valid({"waivers": [a_waiver(**changes)]})


# --- one waiver and one result -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("days", "decision"),
    [
        (-1, WaiverDecision.EXPIRED),
        (0, WaiverDecision.COVERS),
        (1, WaiverDecision.COVERS),
        (30, WaiverDecision.COVERS),
        (31, WaiverDecision.TOO_LONG),
    ],
)
def test_the_day_of_expiry_is_the_last_one(days: int, decision: WaiverDecision) -> None:
    waiver = made(expires=(TODAY + timedelta(days=days)).isoformat())
    assert applies(waiver, FAIL, TODAY) is decision


@pytest.mark.parametrize("severity", Severity)
def test_longest_waiver_depends_on_severity(severity: Severity) -> None:
    result = replace(FAIL, severity=severity)
    last = TODAY + timedelta(days=LONGEST_DAYS[severity])
    assert applies(made(expires=last.isoformat()), result, TODAY) is WaiverDecision.COVERS
    after = last + timedelta(days=1)
    assert applies(made(expires=after.isoformat()), result, TODAY) is WaiverDecision.TOO_LONG


@pytest.mark.parametrize(
    ("up_to", "decision"),
    [
        ("46.2 kW", WaiverDecision.COVERS),
        ("46200 W", WaiverDecision.COVERS),
        ("0.0462 MW", WaiverDecision.COVERS),
        ("46.199 kW", WaiverDecision.OVER_BOUND),
        ("46.2 kg", WaiverDecision.OTHER_UNIT),
        ("46200", WaiverDecision.OTHER_UNIT),
        (None, WaiverDecision.UNBOUNDED),
    ],
)
def test_the_bound_is_compared_in_the_unit_of_the_measure(
    up_to: str | None, decision: WaiverDecision
) -> None:
    assert applies(made(up_to=up_to), FAIL, TODAY) is decision


@pytest.mark.parametrize(
    ("up_to", "decision"),
    [("900 CFM", WaiverDecision.COVERS), ("901 CFM", WaiverDecision.OVER_BOUND)],
)
def test_the_bound_of_a_minimum_is_the_lowest_value(up_to: str, decision: WaiverDecision) -> None:
    result = replace(FAIL, value=900.0, limit=1000.0, unit="CFM")
    assert applies(made(up_to=up_to), result, TODAY) is decision


@pytest.mark.parametrize(
    ("text", "unit", "value"),
    [
        ("3 ports", "ports", 3.0),
        ("3", "", 3.0),
        ("1,200 power supplies", "power supplies", 1200.0),
        ("3 ports", "", None),
        ("3", "ports", None),
        ("95 %", "%", 95.0),
        ("-5 W", "W", None),
    ],
)
def test_bounds_of_other_units(text: str, unit: str, value: float | None) -> None:
    assert in_unit(text, unit) == value


@pytest.mark.parametrize(
    ("result", "changes", "decision"),
    [
        (FINDING, {"up_to": None}, WaiverDecision.COVERS),
        (FINDING, {}, WaiverDecision.NO_NUMBER),
        (UNKNOWN, {}, WaiverDecision.UNKNOWN),
        (UNKNOWN, {"up_to": None}, WaiverDecision.UNKNOWN),
        (UNKNOWN, {"up_to": None, "unknown": True}, WaiverDecision.COVERS),
        (FAIL, {"up_to": None, "unknown": True}, WaiverDecision.KNOWN),
        (ERROR, {}, WaiverDecision.ERROR),
        (ERROR, {"up_to": None, "unknown": True}, WaiverDecision.ERROR),
        (replace(FAIL, waivable=False), {}, WaiverDecision.NOT_WAIVABLE),
        (
            replace(UNKNOWN, waivable=False),
            {"up_to": None, "unknown": True},
            WaiverDecision.NOT_WAIVABLE,
        ),
        (PASS, {}, WaiverDecision.ELSEWHERE),
        (replace(FAIL, policy="PWR-002"), {}, WaiverDecision.ELSEWHERE),
    ],
)
def test_waivable_results(
    result: Result, changes: dict[str, Any], decision: WaiverDecision
) -> None:
    assert applies(made(**changes), result, TODAY) is decision


@pytest.mark.parametrize(
    ("subject", "match", "fitting"),
    [
        ("sjc1 rack r12 feed A", {"site": "sjc1"}, True),
        ("sjc1 rack r12 feed A", {"rack": "r12"}, True),
        ("sjc1 rack r12 feed A", {"rack": "r1*"}, True),
        ("sjc1 rack r12 feed A", {"rack": "r1?", "feed": "[AB]"}, False),
        ("sjc1 rack r12 feed A", {"rack": "r1"}, False),
        ("sjc1 rack r12 feed A", {"rack": "r12", "feed": "B"}, False),
        ("sjc1 rack r12 feed A", {"source": "r12"}, False),
        ("sjc1 rack r12 feed A", {"site": "sjc"}, False),
        ("sjc1 rack r12 feed A", {"subject": "sjc1 rack r12*"}, True),
        ("sjc1 rack r12 feed A", {"subject": "sjc1 rack r12"}, False),
        ("sjc1 rack r12 feed A", {"subject": "sjc1rackr12feedA"}, False),
        ("sjc1 rack r12 feed A", {"what": "load"}, True),
        ("sjc1 rack r12 feed A", {"what": "weight"}, False),
        ("sjc1 racks c[01-04] feed A", {"rack": "c[01-04]"}, True),
        ("sjc1 racks c[01-04] feed A", {"rack": "c[01-08]"}, True),
        ("sjc1 racks c[01-04] feed A", {"rack": "c*"}, True),
        ("sjc1 racks c[01-04] feed A", {"rack": "c0?"}, True),
        ("sjc1 racks c[01-04] feed A", {"rack": "c01"}, False),
        ("sjc1 racks c[01-04] feed A", {"rack": "c[01-03]"}, False),
        ("sjc1 racks c[01-04],d01 feed A", {"rack": "c*"}, False),
        ("sjc1 racks c[09-10] feed A", {"rack": "c0*"}, False),
        ("sjc1 file system scratch", {"file_system": "scratch"}, True),
        ("site sjc1", {"site": "sjc1"}, True),
        ("site sjc1", {"site": "site"}, False),
    ],
)
def test_a_waiver_matches_by_the_words_of_the_report(
    subject: str, match: dict[str, str], fitting: bool
) -> None:
    result = replace(FAIL, subject=Subject(subject, ("sites", 0)))
    assert (applies(made(match=match), result, TODAY) is WaiverDecision.COVERS) is fitting


@pytest.mark.parametrize(
    "words", ["load that the busiest line implies", "load that the *", "load implied by *"]
)
def test_waiver_in_the_released_words_of_a_measure_still_matches(words: str) -> None:
    result = replace(FAIL, what="load implied by the busiest line")
    assert applies(made(match={"what": words}), result, TODAY) is WaiverDecision.COVERS


def test_a_waiver_of_some_racks_never_covers_more_of_them() -> None:
    assert not fits("c[01-03]", "c[01-04]")
    assert fits("c[01-04]", "c[01-03]")


def test_result_outside_of_a_site_has_no_site() -> None:
    result = replace(FAIL, subject=Subject("sjc1", ("owner",)))
    assert applies(made(match={"site": "sjc1"}), result, TODAY) is WaiverDecision.ELSEWHERE


NUMBERS = st.floats(1.0, 1e9, allow_nan=False)


@given(value=NUMBERS, more=NUMBERS, bound=NUMBERS, days=st.integers(-40, 40))
def test_worse_or_expired_result_is_never_covered_again(
    value: float, more: float, bound: float, days: int
) -> None:
    waiver = made(up_to=f"{bound:.3f} W")
    today = TODAY + timedelta(days=days)
    result = replace(FAIL, value=value, limit=0.5)
    now = applies(waiver, result, today)
    worse = applies(waiver, replace(result, value=value + more), today)
    later = applies(waiver, result, today + timedelta(days=1))
    assert worse is not WaiverDecision.COVERS or now is WaiverDecision.COVERS
    assert worse is not WaiverDecision.COVERS or value + more <= bound * (1 + 1e-3)
    assert worse is not WaiverDecision.COVERS or today <= waiver.expires
    assert now is not WaiverDecision.EXPIRED or later is WaiverDecision.EXPIRED


# --- a limit that moves ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("up_to", "limit", "value", "now", "decision"),
    [
        ("47 kW", "41.5 kW", 46.2e3, 41.5e3, WaiverDecision.COVERS),
        ("47 kW", "41.5 kW", 47e3, 41.5e3, WaiverDecision.COVERS),
        ("47 kW", "41.5 kW", 47.1e3, 41.5e3, WaiverDecision.OVER_BOUND),
        ("47 kW", "41.5 kW", 46.2e3, 5e3, WaiverDecision.LIMIT_MOVED),
        (
            "47 kW",
            "41.5 kW",
            10e3,
            5e3,
            WaiverDecision.LIMIT_MOVED,
        ),  # 5 kW over as 5.5 kW, but 100 %
        (
            "47 kW",
            "41.5 kW",
            46.2e3,
            41e3,
            WaiverDecision.COVERS,
        ),  # 5.2 kW and 12.7 % of 5.5 and 13.3 %
        ("47 kW", "41.5 kW", 46.2e3, 45e3, WaiverDecision.COVERS),
        ("47 kW", "41.5 kW", 47.1e3, 47e3, WaiverDecision.OVER_BOUND),
        ("47 kW", None, 46.2e3, 5e3, WaiverDecision.LIMIT_MOVED),
        ("47 kW", "41.5 kg", 46.2e3, 41.5e3, WaiverDecision.OTHER_UNIT),
        (
            "40 kW",
            "41.5 kW",
            38e3,
            37e3,
            WaiverDecision.LIMIT_MOVED,
        ),  # a bound that permits nothing
        ("800 W", "1 kW", 900.0, 1e3, WaiverDecision.COVERS),
        ("800 W", "1 kW", 900.0, 1050.0, WaiverDecision.COVERS),
        ("800 W", "1 kW", 900.0, 1500.0, WaiverDecision.LIMIT_MOVED),
        ("800 W", "1 kW", 700.0, 1e3, WaiverDecision.OVER_BOUND),
        ("3 W", "0 W", 3.0, 0.0, WaiverDecision.COVERS),
        ("4 W", "1 W", 2.0, 0.0, WaiverDecision.LIMIT_MOVED),
    ],
)
def test_a_waiver_does_not_cover_a_failure_that_grows_because_its_limit_moves(
    up_to: str, limit: str | None, value: float, now: float, decision: WaiverDecision
) -> None:
    waiver = made(up_to=up_to, **({} if limit is None else {"limit": limit}))
    assert applies(waiver, replace(FAIL, value=value, limit=now), TODAY) is decision


def test_a_waiver_whose_limit_was_cut_says_so_with_both_numbers() -> None:
    cut = replace(FAIL, limit=5e3)
    report = under(a_waiver(), result=cut)
    assert report.exit_code == 5
    assert kinds(report) == [NoticeKind.OVER_BOUND]
    assert report.results[0].message.endswith(
        "; waiver W-2026-014 covers up to 47 kW at a limit of 41.5 kW only; "
        "the limit moved from 41.5 kW to 5 kW"
    )


def test_a_waiver_without_a_limit_covers_by_its_bound_and_is_asked_for_one() -> None:
    report = under(a_waiver(limit=None))
    assert report.exit_code == 0
    (notice,) = hygiene(report).notices
    assert notice.kind is NoticeKind.NO_LIMIT
    assert "add 'limit: 41.5 kW'" in notice.message
    assert not notice.problem


def test_a_limit_that_the_change_writes_into_a_waiver_holds_at_once() -> None:
    report = reviewed([a_waiver(limit=None)], [a_waiver()])
    assert (report.exit_code, kinds(report)) == (0, [NoticeKind.PROPOSED])
    cut = replace(FAIL, limit=5e3)
    assert reviewed([a_waiver(limit=None)], [a_waiver()], result=cut).exit_code == 5


def test_a_limit_that_the_change_rewrites_or_removes_approves_nothing() -> None:
    cut = replace(FAIL, limit=5e3)
    for after in (a_waiver(limit="5 kW"), a_waiver(limit=None)):
        report = reviewed([a_waiver()], [after], result=cut)
        assert report.exit_code == 5
        assert NoticeKind.SELF_APPROVED in kinds(report)


@pytest.mark.parametrize(
    ("changes", "limit"),
    [
        ({}, "41.5 kW"),
        ({"match": {"rack": "r*"}}, "40 kW"),
        ({"up_to": "900 CFM", "match": {"what": "airflow"}}, "1,000 CFM"),
        ({"up_to": "2 m", "match": {"what": "depth"}}, "1.23456 m"),
        ({"up_to": "39 kW"}, None),
        ({"up_to": "3 ports"}, None),
        ({"match": {"rack": "d12"}}, None),
        ({"up_to": None}, None),
    ],
)
def test_a_new_waiver_is_about_the_strictest_limit_there_is(
    changes: dict[str, Any], limit: str | None
) -> None:
    other = replace(PASS, subject=Subject("sjc1 rack r13 feed A", ("sites", 0)), limit=40e3 + 1)
    results = [
        FAIL,
        replace(other, limit=40e3, value=39e3),
        replace(FAIL, what="airflow", value=950.0, limit=1000.0, unit="CFM"),
        replace(FAIL, what="depth", value=1.5, limit=1.23456, unit="m"),
        replace(FAIL, what="executor", value=950.0, limit=None, unit="W"),
    ]
    waiver = made(**{"limit": None, **changes})
    assert limit_for(waiver, results) == limit


NAMED = st.integers(1, 200)


@given(bound=NAMED, approved=NAMED, value=NAMED, limit=NAMED, at_most=st.booleans())
def test_a_waiver_with_a_limit_never_covers_more_than_was_approved(
    bound: int, approved: int, value: int, limit: int, *, at_most: bool
) -> None:
    assume(value != limit and (value > limit) is at_most)
    waiver = made(up_to=f"{bound} W", limit=f"{approved} W")
    result = replace(FAIL, value=float(value), limit=float(limit))
    sign = 1 if at_most else -1
    permitted, excess = sign * (bound - approved), sign * (value - limit)
    covered = (
        sign * value <= sign * bound
        and excess <= permitted
        and excess * approved <= permitted * limit
    )
    assert (applies(waiver, result, TODAY) is WaiverDecision.COVERS) is covered


# --- a report ----------------------------------------------------------------------------------


def test_a_covered_failure_is_waived_and_keeps_its_numbers() -> None:
    report = under(a_waiver())
    (result,) = report.results
    assert result.outcome is Outcome.WAIVED
    assert not result.blocks
    assert report.exit_code == 0
    assert (result.message, result.value, result.limit) == (FAIL.message, 46_200.0, 41_500.0)
    assert hygiene(report).problems == ()
    assert (
        "waived up to 47 kW at a limit of 41.5 kW by W-2026-014 (dc-power@example.com, DC-1432) until 2026-12-20: "
        "burn-in until the second PDU arrives"
    ) in render_text(report, verbose=True)


@pytest.mark.parametrize(
    ("changes", "kind", "said"),
    [
        ({"up_to": "46 kW"}, NoticeKind.OVER_BOUND, "covers up to 46 kW only"),
        ({"expires": "2026-11-30"}, NoticeKind.EXPIRED, "expired on 2026-11-30"),
        ({"expires": "2027-01-01"}, NoticeKind.TOO_LONG, "does not hold yet"),
        ({"up_to": None}, NoticeKind.REFUSED, "needs 'up_to'"),
        ({"up_to": "46 kg"}, NoticeKind.REFUSED, "another unit"),
        ({"up_to": None, "unknown": True}, NoticeKind.REFUSED, "the unknown only"),
    ],
)
def test_a_waiver_that_does_not_cover_leaves_the_failure_and_says_why(
    changes: dict[str, Any], kind: NoticeKind, said: str
) -> None:
    report = under(a_waiver(**changes))
    (result,) = report.results
    assert result.outcome is Outcome.FAIL
    assert result.message.startswith(FAIL.message)
    assert said in result.message
    assert report.exit_code == 5
    assert kinds(report) == [kind]
    assert hygiene(report).problems


@pytest.mark.parametrize(
    ("result", "code"), [(UNKNOWN, 6), (ERROR, 1), (replace(FAIL, waivable=False), 5)]
)
def test_result_beyond_a_bound_keeps_its_exit_code(result: Result, code: int) -> None:
    report = under(a_waiver(), result=result)
    assert report.exit_code == code
    assert kinds(report) == [NoticeKind.REFUSED]


def test_an_unknown_is_waived_by_a_waiver_that_says_so() -> None:
    report = under(a_waiver(up_to=None, unknown=True), result=UNKNOWN)
    assert [r.outcome for r in report.results] == [Outcome.WAIVED]
    assert report.exit_code == 0


@pytest.mark.parametrize(
    ("days", "expected", "said"),
    [
        (SOON_DAYS + 1, [], ""),
        (SOON_DAYS, [NoticeKind.EXPIRING], "ends in 14 days"),
        (1, [NoticeKind.EXPIRING], "ends in 1 day,"),
        (0, [NoticeKind.EXPIRING], "ends today"),
        (-1, [NoticeKind.EXPIRED], "1 finding is live again"),
    ],
)
def test_the_end_is_announced(days: int, expected: list[NoticeKind], said: str) -> None:
    report = under(a_waiver(expires=(TODAY + timedelta(days=days)).isoformat()))
    assert kinds(report) == expected
    assert all(said in notice.message for notice in hygiene(report).notices)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"match": {"rack": "r13"}}, "told apart by feed, rack, site, subject, what"),
        ({"policy": "PWR-003"}, "did you mean 'PWR-00"),
        ({"policy": "PWR-002"}, "judges nothing of that name"),
    ],
)
def test_a_waiver_of_nothing_is_unused(changes: dict[str, Any], said: str) -> None:
    report = under(a_waiver(**changes))
    assert kinds(report) == [NoticeKind.UNUSED]
    assert said in hygiene(report).notices[0].message
    assert report.exit_code == 5


def test_a_waiver_of_what_passes_is_unused() -> None:
    report = under(a_waiver(), result=PASS)
    assert kinds(report) == [NoticeKind.UNUSED]
    assert "does not fail there; remove the waiver" in hygiene(report).notices[0].message
    assert report.exit_code == 0


def test_a_waiver_of_a_rule_that_admits_none_is_refused_before_it_is_needed() -> None:
    report = under(a_waiver(), result=replace(PASS, waivable=False))
    assert kinds(report) == [NoticeKind.REFUSED]


def test_of_two_that_cover_the_first_is_named_and_neither_is_unused() -> None:
    report = under(a_waiver(), a_waiver(id="W-2"))
    assert report.results[0].waiver is not None
    assert report.results[0].waiver.id == "W-2026-014"
    assert kinds(report) == []


def test_another_measure_of_the_same_rule_is_not_the_waiver_s_fault() -> None:
    weight = replace(FAIL, what="weight", value=1500.0, limit=1360.0, unit="kg")
    report = judged(FAIL, weight, waivers=Waivers(a_file(a_waiver())))
    assert sorted(r.outcome for r in report.results) == [Outcome.FAIL, Outcome.WAIVED]
    assert kinds(report) == []


def test_waivers_of_policies_that_were_not_asked_for_are_not_judged() -> None:
    other = replace(PASS, policy="PWR-002")
    report = judged(other, waivers=Waivers(a_file(a_waiver())), only=("PWR-002",))
    assert kinds(report) == []
    assert hygiene(report).waivers == 0


def test_blocking_results_come_first() -> None:
    other = replace(FAIL, subject=Subject("sjc1 rack r13 feed A", ("sites", 0)))
    report = judged(FAIL, other, waivers=Waivers(a_file(a_waiver())))
    assert [r.outcome for r in report.results] == [Outcome.FAIL, Outcome.WAIVED]


# --- a base revision ---------------------------------------------------------------------------


def reviewed(
    base: list[dict[str, Any]], head: list[dict[str, Any]], *, result: Result = FAIL
) -> Report:
    files = a_file(*head), a_file(*base, name="main:policies/waivers.yaml")
    return judged(result, waivers=Waivers(*files, base_ref="main"))


def test_an_approved_waiver_covers() -> None:
    report = reviewed([a_waiver()], [a_waiver()])
    assert report.exit_code == 0
    assert kinds(report) == []
    assert hygiene(report).sources == ("main:policies/waivers.yaml", "policies/waivers.yaml")


def test_a_waiver_of_the_head_is_proposed_and_covers_nothing() -> None:
    report = reviewed([], [a_waiver()])
    assert report.exit_code == 5
    (notice,) = hygiene(report).notices
    assert notice.kind is NoticeKind.PROPOSED
    assert "once approved, it would cover 1 finding" in notice.message
    assert not notice.problem


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"up_to": "45 kW"}, {"up_to": "50 kW"}),
        ({"expires": "2026-11-30"}, {"expires": "2026-12-20"}),
        ({"match": {"rack": "r11"}}, {"match": {"rack": "r1*"}}),
        ({"policy": "PWR-002"}, {}),
    ],
)
def test_a_change_that_approves_itself_is_told_and_covers_nothing(
    before: dict[str, Any], after: dict[str, Any]
) -> None:
    report = reviewed([a_waiver(**before)], [a_waiver(**after)])
    assert report.exit_code == 5
    assert [r.outcome for r in report.results] == [Outcome.FAIL]
    assert NoticeKind.SELF_APPROVED in kinds(report)
    (notice,) = (n for n in hygiene(report).notices if n.kind is NoticeKind.SELF_APPROVED)
    assert next(iter(after or before)) in notice.message
    assert "'main' decides, else it would cover 1 finding" in notice.message
    assert notice.problem


def test_words_and_an_earlier_end_approve_nothing() -> None:
    after = a_waiver(expires="2026-12-19", owner="others@example.com")
    report = reviewed([a_waiver()], [after])
    assert report.exit_code == 0
    assert kinds(report) == [NoticeKind.PROPOSED]


@pytest.mark.parametrize("after", [{"up_to": "46 kW"}, {"expires": "2026-11-30"}])
def test_waiver_narrowed_by_the_head_applies_at_once(after: dict[str, Any]) -> None:
    """The merge would leave a failure behind otherwise."""
    assert reviewed([a_waiver()], [a_waiver(**after)]).exit_code == 5


@pytest.mark.parametrize("result", [PASS, FAIL])
def test_a_waiver_that_the_head_removes_neither_covers_nor_is_unused(result: Result) -> None:
    report = reviewed([a_waiver()], [], result=result)
    assert report.exit_code == (0 if result is PASS else 5)
    assert kinds(report) == []


# --- strictness --------------------------------------------------------------------------------


def strict(report: Report) -> Report:
    return replace(report, hygiene=replace(hygiene(report), strict=True))


@pytest.mark.parametrize(
    ("waiver", "result", "code"),
    [
        (a_waiver(), FAIL, 0),
        (a_waiver(expires="2026-12-02"), FAIL, 0),
        (a_waiver(), PASS, 7),
        (a_waiver(expires="2026-11-30"), PASS, 7),
        (a_waiver(expires="2027-11-30"), PASS, 7),
        (a_waiver(up_to="46 kW"), FAIL, 5),
        (a_waiver(), UNKNOWN, 6),
        (a_waiver(), ERROR, 1),
    ],
)
def test_strict_hygiene_fails_what_is_clean_otherwise(
    waiver: dict[str, Any], result: Result, code: int
) -> None:
    assert strict(under(waiver, result=result)).exit_code == code


@pytest.mark.parametrize(
    "changes",
    [
        {"up_to": "46 kW"},
        {"expires": "2026-11-30"},
        {"expires": "2027-11-30"},
        {"unknown": True, "up_to": None},
    ],
    ids=["over its bound", "expired", "for a year", "for unknowns only"],
)
def test_a_waiver_that_does_not_cover_does_not_without_a_part(changes: dict[str, Any]) -> None:
    """A bound that is left out is none at all, so that the waiver covers no number."""
    waiver = a_waiver(**changes)
    assert under(waiver).exit_code is ExitCode.VIOLATION
    judged_at_all = 0
    for path in paths(waiver):
        try:
            report = under(without(waiver, path))
        except SpecErrors:
            continue
        judged_at_all += 1
        assert report.exit_code is ExitCode.VIOLATION, path
    assert judged_at_all > 0
