"""The form of the JSON report: what ``report/json.py`` fills in, and what its schema is made of.

Every key is always there, as a consumer may rely on it. The text below a key describes it in the
schema.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, WithJsonSchema, with_config

# Before Python 3.12 pydantic takes this one only.
from typing_extensions import TypedDict

from rackwright.policy.api import Enforcement, Outcome, Profile, Severity, Stage
from rackwright.policy.exception_report import BaselineState, NoticeKind

DESCRIBED = ConfigDict(use_attribute_docstrings=True)
"""The text below a key describes it; read when a schema is asked for, not at every start."""

Count = Annotated[int, Field(ge=0)]
Day = Annotated[str, Field(json_schema_extra={"format": "date"})]


_OUTCOMES = {
    Outcome.PASS: "Results that satisfy their rule.",
    Outcome.FAIL: "Failed results without a waiver.",
    Outcome.UNKNOWN: "Results that depend on an unknown fact; they never pass.",
    Outcome.NOT_APPLICABLE: "Results of rules that do not apply.",
    Outcome.WAIVED: "Results that a waiver covers.",
    Outcome.ERROR: "Results of rules that raised an error.",
}
_KINDS = {
    NoticeKind.EXPIRING: "Waivers that end soon.",
    NoticeKind.EXPIRED: "Waivers that have ended.",
    NoticeKind.UNUSED: "Waivers that match nothing.",
    NoticeKind.OVER_BOUND: "Waivers whose bound is exceeded, or whose limit has changed.",
    NoticeKind.NO_LIMIT: "Waivers with a bound but without its limit.",
    NoticeKind.TOO_LONG: "Waivers that end later than the severity of their rule allows.",
    NoticeKind.REFUSED: "Waivers of rules that accept none.",
    NoticeKind.PROPOSED: "Additions of the change to waivers, baseline, claims or products.",
    NoticeKind.SELF_APPROVED: "Waivers and entries of the baseline that the change loosens.",
    NoticeKind.LOWERED: "Checks that the change would loosen; the base decides.",
    NoticeKind.STATED: "Numbers of products that the blueprint states.",
    NoticeKind.EXAMPLE: "Stated numbers whose source marks them as examples.",
    NoticeKind.EXAMPLE_FILE: "Files whose values are examples.",
    NoticeKind.UNFILLED: "Layers with empty keys, which change nothing.",
    NoticeKind.REGRESSED: "Failures that are worse than in the baseline.",
    NoticeKind.IMPROVED: "Failures that are less severe than in the baseline.",
    NoticeKind.ABSENT: "Failures of the baseline that no longer occur.",
}


def _of_each(texts: Mapping[StrEnum, str]) -> Any:
    """Return the schema of a mapping with a count for each word of ``texts``, which describe what is counted."""
    return WithJsonSchema(
        {
            "type": "object",
            "properties": {
                word.value: {"type": "integer", "minimum": 0, "description": text}
                for word, text in texts.items()
            },
            "required": sorted(word.value for word in texts),
        }
    )


OutcomeCounts = Annotated[dict[str, int], _of_each(_OUTCOMES)]
KindCounts = Annotated[dict[str, int], _of_each(_KINDS)]


@with_config(DESCRIBED)
class LocationDocument(TypedDict):
    """Position in a file; line and column count from one."""

    file: str
    """Path as given on the command line; 'REVISION:path' for a file of a git revision."""
    line: Annotated[int, Field(ge=1)]
    """Line of the key or value."""
    column: Annotated[int, Field(ge=1)]
    """Column of its first character."""


@with_config(DESCRIBED)
class ContributorDocument(TypedDict):
    """Group of equal contributors to a value."""

    name: str
    """Name of the contributors, like a product."""
    count: float
    """Number of contributors."""
    each: float
    """Contribution of each, in the unit of the result."""


@with_config(DESCRIBED)
class SuggestionDocument(TypedDict):
    """Suggested replacement of a value in a file of the blueprint."""

    location: LocationDocument
    end_column: Annotated[int, Field(ge=2)]
    """First column after the value, on the same line."""
    old: str
    """Current text of the value, with its quotes."""
    new: str
    """Text that replaces it."""
    contested: bool
    """True if another finding suggests a different value for the same place, so that the patch has neither."""


@with_config(DESCRIBED)
class WaiverDocument(TypedDict):
    """Temporary permission to violate a rule."""

    id: str
    """Name of the waiver."""
    owner: str
    """Person or team responsible for the waiver."""
    ticket: str
    """Ticket that tracks the waiver."""
    reason: str
    """Reason for the waiver."""
    expires: Day
    """Last day (UTC) of the waiver."""
    up_to: str | None
    """Worst value that the waiver covers; null for a rule without a number."""
    limit: str | None
    """Limit against which the waiver was approved; null if none."""


@with_config(DESCRIBED)
class RecordedDocument(TypedDict):
    """A failure of the baseline."""

    value: float
    """Value when the baseline was recorded, in the unit of the result."""
    limit: float
    """Limit when the baseline was recorded, in the unit of the result."""


@with_config(DESCRIBED)
class ResultDocument(TypedDict):
    """Result of one policy about one subject."""

    policy: str
    """Id of the policy, like 'PWR-001'."""
    title: str
    """Title of the policy: its requirement."""
    severity: Severity
    """Severity of a violation."""
    enforcement: Enforcement
    """Enforcement of this result."""
    outcome: Outcome
    """Outcome of the check."""
    blocks: bool
    """True if the result blocks a deployment."""
    preview: bool
    """True if the rule is newer than the policy set, so that it only warns."""
    blocks_from: str | None
    """Later policy set in which the finding blocks; null if it blocks already, or in no set."""
    stage: Stage
    """Stage from which the facts of the rule must be known."""
    later: bool
    """True for an unknown whose facts belong to a later stage than the checked one, so that it does not block."""
    subject: str
    """Checked item, by names."""
    path: list[str | int]
    """The subject's place in the blueprint: keys and indexes."""
    location: LocationDocument | None
    message: str
    """One sentence with the numbers."""
    value: float | None
    """Measured value; null if unknown or not a number."""
    limit: float | None
    """Limit of the value; null if unknown or not a number."""
    unit: str
    """Unit of value, limit and contributors; empty for a count."""
    contributors: list[ContributorDocument]
    """Contributors to the value, the largest first."""
    fix: str | None
    """Fix of a failure, or the fields that would resolve an unknown."""
    suggestion: SuggestionDocument | None
    """Change of one value that fixes the failure; null if a person must choose, or if the value cannot be changed
    alone."""
    missing: list[str]
    """Missing facts of an unknown."""
    fingerprint: Annotated[str, Field(pattern="^[0-9a-f]{16}$")]
    """Identifier of rule, subject and measure, the same in every version."""
    waiver: WaiverDocument | None
    """Waiver that covers the result, if it is waived."""
    baseline_state: BaselineState | None
    """State of a failure in comparison with the baseline."""
    recorded: RecordedDocument | None
    """Record of the baseline; null if it has no number."""


@with_config(DESCRIBED)
class NoticeDocument(TypedDict):
    """Notice about a waiver or the baseline."""

    kind: NoticeKind
    """Kind of the notice."""
    problem: bool
    """True if strict waiver hygiene fails because of it."""
    id: str
    """Id of the waiver, 'baseline', or the item that a change lowers."""
    policy: str
    """Id of the rule; empty if the notice is about none."""
    message: str
    """One sentence."""
    location: LocationDocument | None


@with_config(DESCRIBED)
class HygieneDocument(TypedDict):
    """State of waivers and baseline."""

    today: Day
    """Date that decides about expiry."""
    sources: list[str]
    """Waiver and baseline files that were read; REF:PATH for a git revision."""
    strict: bool
    """True if problems of waivers fail the report."""
    waivers: Count
    """Number of valid waivers."""
    recorded: Count
    """Number of failures in the baseline."""
    counts: KindCounts
    """Number of notices by kind."""
    notices: list[NoticeDocument]


@with_config(DESCRIBED)
class ReportDocument(TypedDict):
    """Output of 'rackwright check --json'."""

    schema: Literal["rackwright.check/v2"]
    """Version of the format; it changes when keys are removed or change their meaning, not when keys are added."""
    blueprint: str
    """Name of the blueprint."""
    exit_code: Count
    """Exit code of the verdict, as listed by 'rackwright explain exit-codes'."""
    policies: Count
    """Number of policies that were checked; disabled ones do not count."""
    profile: Profile
    """Profile of the check."""
    policy_set: str
    """Policy set of the check; newer rules only warn."""
    stage: Stage
    """Stage that was checked; facts of later ones may be unknown."""
    counts: OutcomeCounts
    """Number of results by outcome."""
    hygiene: HygieneDocument | None
    """State of waivers and baseline; null if neither was read."""
    not_judged: list[str]
    """Hazards of the sites that no rule has checked, as 'rackwright explain hazards' lists them."""
    results: list[ResultDocument]
    """Results: blocking ones first, then by outcome, policy and subject."""
