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
    Outcome.PASS: "Results that keep their rule.",
    Outcome.FAIL: "Results that violate their rule, and that nothing waives.",
    Outcome.UNKNOWN: "Results that need an unknown number; they never pass.",
    Outcome.NOT_APPLICABLE: "Results of rules that find nothing to judge.",
    Outcome.WAIVED: "Results that a waiver covers.",
    Outcome.ERROR: "Results of rules that ended in an error of their own.",
}
_KINDS = {
    NoticeKind.EXPIRING: "Waivers that end soon.",
    NoticeKind.EXPIRED: "Waivers that have ended.",
    NoticeKind.UNUSED: "Waivers that match nothing.",
    NoticeKind.OVER_BOUND: "Waivers whose bound is exceeded, or whose limit is another one now.",
    NoticeKind.NO_LIMIT: "Waivers with a bound that do not say against which limit.",
    NoticeKind.TOO_LONG: "Waivers that end later than the severity of their rule admits.",
    NoticeKind.REFUSED: "Waivers of what cannot be waived.",
    NoticeKind.PROPOSED: "What the change adds to waivers, baseline, claims or products.",
    NoticeKind.SELF_APPROVED: "Waivers and entries of the baseline that the change loosens.",
    NoticeKind.LOWERED: "What the change would have judged more mildly; the base decides.",
    NoticeKind.STATED: "Numbers of products that the blueprint states.",
    NoticeKind.EXAMPLE: "The same, where their source says that they are examples.",
    NoticeKind.EXAMPLE_FILE: "Files whose values are examples.",
    NoticeKind.UNFILLED: "Layers of which keys have no value yet; such keys change nothing.",
    NoticeKind.REGRESSED: "Failures that are worse than the baseline records.",
    NoticeKind.IMPROVED: "Failures that are milder than the baseline records.",
    NoticeKind.ABSENT: "Failures of the baseline that are gone.",
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
    """A place in a file; both numbers count from one."""

    file: str
    """As it was named on the command line; like 'REVISION:path' in a revision."""
    line: Annotated[int, Field(ge=1)]
    """Line of the key or value that is meant."""
    column: Annotated[int, Field(ge=1)]
    """Column of its first character."""


@with_config(DESCRIBED)
class ContributorDocument(TypedDict):
    """Equal things that add up to a value."""

    name: str
    """What they are."""
    count: float
    """How many."""
    each: float
    """What one contributes."""


@with_config(DESCRIBED)
class SuggestionDocument(TypedDict):
    """A value in a file of the blueprint, and what would stand there instead."""

    location: LocationDocument
    end_column: Annotated[int, Field(ge=2)]
    """Column behind the value, on the same line."""
    old: str
    """The value as it is written, with its quotes."""
    new: str
    """What replaces it."""
    contested: bool
    """Another finding suggests another value for the same place, so the patch has neither."""


@with_config(DESCRIBED)
class WaiverDocument(TypedDict):
    """A permission to violate a rule, which ends."""

    id: str
    """Name of the waiver."""
    owner: str
    """Who answers for it."""
    ticket: str
    """Where it is followed up."""
    reason: str
    """Why."""
    expires: Day
    """The last day (UTC) on which it holds."""
    up_to: str | None
    """Its bound; null for a rule without a number."""
    limit: str | None
    """The limit that it was approved against; null if none."""


@with_config(DESCRIBED)
class RecordedDocument(TypedDict):
    """A failure of the baseline."""

    value: float
    """The value that day."""
    limit: float
    """The limit that day."""


@with_config(DESCRIBED)
class ResultDocument(TypedDict):
    """Result of one policy about one subject."""

    policy: str
    """Id of the policy, like 'PWR-001'."""
    title: str
    """What the policy demands."""
    severity: Severity
    """How bad a violation is."""
    enforcement: Enforcement
    """What holds for this result."""
    outcome: Outcome
    """What came of the check."""
    blocks: bool
    """It stops a deployment."""
    preview: bool
    """The rule is newer than the policy set, so it only warns."""
    blocks_from: str | None
    """Later policy set in which the finding blocks; null where it blocks already, or in none."""
    stage: Stage
    """Stage from which on the facts that the rule needs must be known."""
    later: bool
    """Unknown, and asked at a later stage than the one that was checked: it does not block."""
    subject: str
    """What was judged, by names."""
    path: list[str | int]
    """The subject's place in the blueprint: keys and indexes."""
    location: LocationDocument | None
    message: str
    """One sentence with the numbers."""
    value: float | None
    """What is measured; null when it is unknown or no number."""
    limit: float | None
    """Its limit; null when it is unknown or no number."""
    unit: str
    """Unit of both and of each contributor; empty for a count."""
    contributors: list[ContributorDocument]
    """What adds up to the value, the largest first."""
    fix: str | None
    """A remedy of a failure, or the fields that would make an unknown known."""
    suggestion: SuggestionDocument | None
    """The change of one value that fixes it; null where a person has to choose, or where the value
    cannot be changed alone."""
    missing: list[str]
    """What would have to be known."""
    fingerprint: Annotated[str, Field(pattern="^[0-9a-f]{16}$")]
    """The same for the same rule and subject in any version."""
    waiver: WaiverDocument | None
    """What covers it, when it is waived."""
    baseline_state: BaselineState | None
    """How a failure compares with the baseline."""
    recorded: RecordedDocument | None
    """What the baseline records, in the same unit; null where it records no number."""


@with_config(DESCRIBED)
class NoticeDocument(TypedDict):
    """One thing to know about a waiver or about the baseline."""

    kind: NoticeKind
    """What is to be said."""
    problem: bool
    """Strict hygiene fails on it."""
    id: str
    """Of the waiver; 'baseline'; or what a change lowers."""
    policy: str
    """The rule; empty where it is not about one."""
    message: str
    """One sentence."""
    location: LocationDocument | None


@with_config(DESCRIBED)
class HygieneDocument(TypedDict):
    """The state of the waivers and the baseline."""

    today: Day
    """The day that decided what has expired."""
    sources: list[str]
    """The files that were read; REF:PATH in a revision."""
    strict: bool
    """Problems fail the report."""
    waivers: Count
    """How many waivers hold or could hold."""
    recorded: Count
    """How many failures the baseline records."""
    counts: KindCounts
    """Number of notices by kind."""
    notices: list[NoticeDocument]


@with_config(DESCRIBED)
class ReportDocument(TypedDict):
    """Output of 'rackwright check --json'."""

    schema: Literal["rackwright.check/v2"]
    """The form of the document; it changes when keys go or change their meaning, not when some are added."""
    blueprint: str
    """Name of the blueprint."""
    exit_code: Count
    """The verdict, as 'rackwright explain exit-codes' lists them."""
    policies: Count
    """How many policies judged; disabled ones do not count."""
    profile: Profile
    """The profile that it was judged by."""
    policy_set: str
    """The policy set that it was judged by; newer rules only warn."""
    stage: Stage
    """Stage that was checked; facts of later ones may be unknown."""
    counts: OutcomeCounts
    """Number of results by outcome."""
    hygiene: HygieneDocument | None
    """Null when neither waivers nor a baseline were looked at."""
    not_judged: list[str]
    """Hazards of the sites that no rule has judged, as 'rackwright explain hazards' lists them."""
    results: list[ResultDocument]
    """What blocks first, then by outcome, policy and subject."""
