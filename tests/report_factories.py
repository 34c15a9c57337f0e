"""Reports for tests of the forms: every outcome, and names that mean harm."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date
from pathlib import Path

from rackwright.errors import Location
from rackwright.plan.base import Contributor, Subject
from rackwright.policy.api import Enforcement, Outcome, Severity
from rackwright.policy.engine import Report, Result
from rackwright.policy.exception_report import (
    BaselineState,
    ExceptionReport,
    Notice,
    NoticeKind,
    Permission,
)
from rackwright.policy.excess import Mark

GOLDEN = Path(__file__).parent / "golden/report"

FAIL = Result(
    policy="PWR-002",
    title="Survivors carry the load",
    severity=Severity.HIGH,
    enforcement=Enforcement.MANDATORY,
    outcome=Outcome.FAIL,
    subject=Subject("sjc1 rack r12 feed B", ("sites", 0)),
    location=Location("site/atlas.yaml", 42, 9),
    message="load is 46.2 kW; the limit is 41.5 kW: 4.7 kW (11 %) over",
    what="load",
    value=46_200,
    limit=41_500,
    unit="W",
    contributors=(Contributor("dgx-h100", 4, 10_200), Contributor("qm9700", 2, 1_720)),
    fix="keep at most 3 of 4 × dgx-h100",
    fingerprint="0123456789abcdef",
)
LIKE = replace(FAIL, subject=Subject("sjc1 rack r13 feed B", ()), fingerprint="1" * 16)
ADVISORY = replace(
    FAIL,
    policy="COOL-009",
    title="Leaks are found",
    severity=Severity.MEDIUM,
    enforcement=Enforcement.ADVISORY,
    subject=Subject("sjc1 loop a", ()),
    message="leak detection is off",
    value=None,
    limit=None,
    what="",
    contributors=(),
    fix="add sensors",
    fingerprint="2" * 16,
)
UNKNOWN = replace(
    FAIL,
    policy="RACK-003",
    title="The floor carries the rack",
    severity=Severity.CRITICAL,
    outcome=Outcome.UNKNOWN,
    message="weight cannot be checked; not known: weight of 'acme-1'",
    value=None,
    contributors=(),
    fix=None,
    missing=("weight of 'acme-1'",),
    unit="kg",
    fingerprint="3" * 16,
)
CRASH = replace(
    FAIL,
    policy="ACME-001",
    title="Acme's own",
    severity=Severity.LOW,
    outcome=Outcome.ERROR,
    subject=Subject("atlas", ()),
    location=None,
    message="the policy failed in acme001_x.py:3: KeyError: 'x'",
    what="",
    value=None,
    limit=None,
    contributors=(),
    fix=None,
    fingerprint="4" * 16,
)
PASS = replace(
    FAIL, policy="PWR-001", outcome=Outcome.PASS, fix=None, contributors=(), fingerprint="5" * 16
)
NOT_APPLICABLE = replace(
    PASS,
    policy="COOL-001",
    outcome=Outcome.NOT_APPLICABLE,
    location=None,
    message="nothing to judge",
    fingerprint="6" * 16,
)
MIXED = Report("atlas", (CRASH, FAIL, LIKE, UNKNOWN, ADVISORY, PASS, NOT_APPLICABLE), 7)
CLEAN = Report("atlas", (PASS, NOT_APPLICABLE), 2)

HOSTILE_TEXT = (
    "</details><script>x</script> @team | `rm -rf` **b** [a](http://evil) ![i](x) <!-- -->"
    "\n::error::owned\r\x1b[31m\x00 ]]> & \u202egnp.exe \u2066x % {0} ~~s~~ _u_ #1 \\"
)
HOSTILE = replace(
    FAIL,
    title=HOSTILE_TEXT,
    subject=Subject(HOSTILE_TEXT, ()),
    location=Location("a,b:c%\n::error::x.yaml", 1, 1),
    message=HOSTILE_TEXT,
    contributors=(Contributor(HOSTILE_TEXT, 1, 2.0),),
    fix=HOSTILE_TEXT,
    what=HOSTILE_TEXT,
)

PERMISSION = Permission(
    id="W-2026-014",
    owner="dc-power@example.com",
    ticket="DC-1432",
    reason="burn-in until the second PDU arrives",
    expires=date(2026, 12, 12),
    up_to="47 kW",
    limit="41.5 kW",
)
WAIVED = replace(FAIL, outcome=Outcome.WAIVED, waiver=PERMISSION)
KNOWN = replace(
    FAIL,
    subject=Subject("sjc1 rack r20 feed A", ()),
    baseline_state=BaselineState.UNCHANGED,
    fingerprint="7" * 16,
)
REGRESSED = replace(
    FAIL,
    subject=Subject("sjc1 rack r21 feed A", ()),
    message=f"{FAIL.message}; the baseline records 44 kW, 1 kW (2 %) over; "
    "the limit moved from 43 kW to 41.5 kW",
    baseline_state=BaselineState.REGRESSED,
    recorded=Mark(44_000, 43_000),
    fingerprint="8" * 16,
)
PREVIEW = replace(ADVISORY, preview=True)
NOTICES = (
    Notice(
        NoticeKind.EXPIRING,
        "W-2026-014",
        "PWR-002",
        "expires in 9 days, on 2026-12-12",
        Location("policies/waivers.yaml", 2, 5),
    ),
    Notice(
        NoticeKind.UNUSED,
        "W-2026-009",
        "PWR-001",
        "covers nothing",
        Location("main:policies/waivers.yaml", 11, 5),
    ),
)
HYGIENE = ExceptionReport(
    today=date(2026, 12, 3),
    sources=("main:policies/waivers.yaml",),
    waivers=2,
    recorded=2,
    notices=NOTICES,
)
EXCEPTED = Report("atlas", (REGRESSED, WAIVED, KNOWN, PREVIEW, PASS), 3, hygiene=HYGIENE)
LAPSED = Report("atlas", (WAIVED, PASS), 2, hygiene=replace(HYGIENE, strict=True))


def file_name(text: str) -> str:
    """``text``, as far as it can be the name of a file."""
    return re.sub("[\0\ud800-\udc7f\udd00-\udfff]", "", text) or "a"


def a_report_with(text: str) -> Report:
    """A report with ``text`` wherever a blueprint, a policy or a waiver can put one."""
    failed = replace(
        FAIL,
        title=text,
        subject=Subject(text, ()),
        location=Location(file_name(text), 1, 1),
        message=text,
        what=text,
        fix=text,
        contributors=(Contributor(text, 1, 2.0),),
    )
    assert WAIVED.waiver
    waived = replace(WAIVED, waiver=replace(WAIVED.waiver, reason=text, owner=text, ticket=text))
    return Report(text, (failed, waived), 1)
