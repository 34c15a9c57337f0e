"""Judging a plan: every policy, every result, one verdict."""

from __future__ import annotations

import hashlib
import re
import sys
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from rackwright.errors import Location
from rackwright.exit_codes import ExitCode
from rackwright.model.quantities import format_quantity
from rackwright.plan.base import Contributor, Subject
from rackwright.plan.base import Path as SpecPath
from rackwright.plan.model import Plan
from rackwright.policy.api import (
    Enforcement,
    Finding,
    Measure,
    Outcome,
    Policy,
    Severity,
    Stage,
    Suggestion,
)
from rackwright.policy.exception_report import BaselineState, ExceptionReport, Lowered, Permission
from rackwright.policy.excess import Mark, beyond
from rackwright.policy.policy_sets import STRICTEST, Regime, Standing, released_words
from rackwright.policy.policy_sets import standing as standing_of
from rackwright.policy.result_validation import RuleFailedError, checked
from rackwright.policy.unknowns import OpenQuestion, Remedies
from rackwright.reading.edits import Edit, Revised

_OPEN = frozenset({Outcome.FAIL, Outcome.UNKNOWN})

Locate = Callable[[SpecPath], Location | None]


@dataclass(frozen=True, slots=True)
class Result:
    """Result of one policy about one subject.

    Attributes:
        enforcement: what holds for this result; an advisory step of a mandatory policy warns.
        message: one sentence with the numbers.
        fix: a remedy of a failure, or the fields that would make an unknown known.
        missing: what would have to be known; each a ``Missing`` where the rule knows its fields.
        fingerprint: the same for the same rule and subject in any version of the blueprint.
        preview: the rule is newer than the blueprint's policy set, so it only warns.
        blocks_from: the later policy set in which this finding blocks; None if it blocks already or never.
        stage: of the rule.
        later: unknown, and asked at a later stage than the blueprint's.
        waivable: whether the rule admits waivers.
        waiver: what covers it, when it is waived.
        baseline_state: how a failure compares with the baseline, where there is one.
        recorded: what it is compared with there, where that is a number.
        suggest: the value of the blueprint that fixes a failure, where there is just one.
        edit: how a file would be changed for it; None until ``suggested.with_edits`` has looked.
    """

    policy: str
    title: str
    severity: Severity
    enforcement: Enforcement
    outcome: Outcome
    subject: Subject
    location: Location | None
    message: str
    what: str = ""
    value: float | None = None
    limit: float | None = None
    unit: str = ""
    contributors: tuple[Contributor, ...] = ()
    fix: str | None = None
    missing: tuple[str, ...] = ()
    fingerprint: str = ""
    preview: bool = False
    blocks_from: str | None = None
    stage: Stage = Stage.CONCEPT
    later: bool = False
    waivable: bool = True
    waiver: Permission | None = None
    baseline_state: BaselineState | None = None
    recorded: Mark | None = None
    suggest: Suggestion | None = None
    edit: Edit | None = None

    @property
    def is_measure(self) -> bool:
        """True if the result is about a number, known or not."""
        return self.value is not None or self.limit is not None or bool(self.unit)

    @property
    def blocks(self) -> bool:
        """True if the result stops a deployment."""
        outcome = self.outcome
        if outcome is Outcome.PASS:  # as most are
            return False
        if outcome is Outcome.ERROR:
            return True
        if (outcome is not Outcome.FAIL and outcome is not Outcome.UNKNOWN) or self.later:
            return False
        if outcome is Outcome.FAIL and self.baseline_state and self.baseline_state.tolerated:
            return False
        return self.enforcement is Enforcement.MANDATORY


@dataclass(frozen=True)
class Report:
    """The results of all policies, in a fixed order.

    Attributes:
        policies: how many judged; disabled ones do not count.
        regime: the profile, the policy set and the stage that were checked.
        hygiene: what is to be said about waivers and baseline, where they were looked at.
        lowered: the rules that the blueprint itself makes weaker.
        revised: the files as all suggested edits together would make them.
        not_judged: titles of the hazards of its sites that no rule has judged.
        questions: the facts that rules lack, each once.
    """

    blueprint: str
    results: tuple[Result, ...]
    policies: int
    regime: Regime = STRICTEST
    hygiene: ExceptionReport | None = None
    lowered: tuple[Lowered, ...] = ()
    revised: tuple[Revised, ...] = ()
    not_judged: tuple[str, ...] = ()
    questions: tuple[OpenQuestion, ...] = ()

    @cached_property
    def exit_code(self) -> ExitCode:
        """The verdict: a crash weighs more than a violation, that more than an unknown.

        Strict hygiene of waivers fails what is clean otherwise.
        """
        outcomes = {result.outcome for result in self.results if result.blocks}
        if Outcome.ERROR in outcomes:
            return ExitCode.CRASH
        if Outcome.FAIL in outcomes:
            return ExitCode.VIOLATION
        if Outcome.UNKNOWN in outcomes:
            return ExitCode.UNKNOWN
        if self.hygiene and self.hygiene.fails:
            return ExitCode.WAIVER
        judged = self.count(Outcome.NOT_APPLICABLE) < len(self.results)
        return ExitCode.CLEAN if judged else ExitCode.NOTHING

    @cached_property
    def _counts(self) -> Mapping[Outcome, int]:
        return Counter(result.outcome for result in self.results)

    def count(self, outcome: Outcome) -> int:
        """Return number of results with ``outcome``."""
        return self._counts.get(outcome, 0)


def evaluate(
    plan: Plan,
    policies: Sequence[Policy],
    standings: Mapping[str, Standing],
    locate: Locate,
    regime: Regime = STRICTEST,
    remedies: Remedies | None = None,
) -> Report:
    """Return the report of ``policies`` about ``plan``.

    Args:
        plan: what is judged.
        policies: with their parameters.
        standings: how each stands, by id; one that is not named stands as ``regime`` has it.
        locate: where the blueprint says something.
        regime: the profile, the policy set and the stage.
        remedies: what to say so that unknown facts are known; by names of the full form if omitted.
    """
    results: list[Result] = []
    remedies = remedies or Remedies(plan, locate)
    judging = 0
    for policy in policies:
        standing = standings.get(policy.id) or standing_of(policy, regime)
        if standing.enforcement is not Enforcement.DISABLED:
            judging += 1
            results += _run(policy, standing, plan, locate, remedies)
    results.sort(key=order_of)
    return Report(plan.name, tuple(results), judging, regime)


def _run(
    policy: Policy, standing: Standing, plan: Plan, locate: Locate, remedies: Remedies
) -> Iterable[Result]:
    blueprint = Subject(plan.name, ())
    try:
        found = [_result(policy, standing, item, locate, remedies) for item in policy.check(plan)]
    except RuleFailedError as error:
        return [_bare(policy, standing, Outcome.ERROR, blueprint, str(error))]
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a policy that raises must never pass
        text = failure_text(error, policy)
        return [_bare(policy, standing, Outcome.ERROR, blueprint, text)]
    if found:
        return found
    return [_bare(policy, standing, Outcome.NOT_APPLICABLE, blueprint, "nothing to judge")]


def failure_text(error: BaseException, policy: Policy) -> str:
    """Return the failure of ``policy`` in one line: place in its file, and error."""
    text = f"the policy failed{_where(error, policy)}: {type(error).__name__}: {error}"
    return " ".join(text.split())


def _where(error: BaseException, policy: Policy) -> str:
    """Return the line of the policy's own file that raised, like `` in pwr001_feed_capacity.py:40``."""
    module = sys.modules.get(type(policy).__module__)
    frames = traceback.extract_tb(error.__traceback__)
    inside = [frame for frame in frames if frame.filename == getattr(module, "__file__", None)]
    return f" in {Path(inside[-1].filename).name}:{inside[-1].lineno}" if inside else ""


def _bare(
    policy: Policy, standing: Standing, outcome: Outcome, subject: Subject, message: str
) -> Result:
    return Result(
        policy=policy.id,
        title=policy.title,
        severity=policy.severity,
        enforcement=standing.enforcement,
        outcome=outcome,
        subject=subject,
        location=None,
        message=message,
        fingerprint=fingerprint(policy.id, subject, ""),
        preview=standing.preview,
        stage=policy.stage,
        waivable=policy.waivable,
    )


def _result(
    policy: Policy, standing: Standing, yielded: object, locate: Locate, remedies: Remedies
) -> Result:
    item = checked(yielded)
    effective = Enforcement.ADVISORY if item.advisory else standing.enforcement
    measure = item if isinstance(item, Measure) else None
    what = item.what
    outcome = item.outcome
    contributors = item.contributors
    if len(contributors) > 1:
        contributors = tuple(sorted(contributors, key=lambda c: (-c.total, c.name)))
    return Result(
        policy=policy.id,
        title=policy.title,
        severity=policy.severity,
        enforcement=effective,
        outcome=outcome,
        subject=item.at,
        location=locate(item.at.path),
        message=_sentence(measure, outcome) if measure else _finding_sentence(item),
        what=what,
        value=measure.value if measure else None,
        limit=measure.limit if measure else None,
        unit=measure.unit if measure else "",
        contributors=contributors,
        fix=_fix(item, outcome, remedies),
        suggest=item.suggest if outcome is Outcome.FAIL else None,
        missing=item.missing,
        fingerprint=fingerprint(policy.id, item.at, what),
        preview=standing.preview,
        blocks_from=standing.blocks_from if outcome in _OPEN and not item.advisory else None,
        stage=policy.stage,
        later=standing.later and outcome is Outcome.UNKNOWN,
        waivable=policy.waivable,
    )


def _fix(item: Measure | Finding, outcome: Outcome, remedies: Remedies) -> str | None:
    if outcome is Outcome.UNKNOWN:
        return remedies.fix(item.missing)
    return item.fix if outcome is Outcome.FAIL else None


_QUESTIONS = tuple(
    f"{word} "
    for word in ("whether", "how", "which", "what", "where", "at which", "for which", "on which")
)
"""Words with which rules begin the message of a result that is unknown."""


def _finding_sentence(item: Measure | Finding) -> str:
    text = item.message if isinstance(item, Finding) else item.what
    if item.outcome is Outcome.UNKNOWN and item.missing:
        if text.startswith(_QUESTIONS):
            text = f"cannot tell {text}"
        return f"{text}: not known: {'; '.join(item.missing)}"
    return text


def _sentence(measure: Measure, outcome: Outcome) -> str:
    """Return the measure as one sentence with its numbers."""
    what, unit = _without_repetition(measure.what, measure.unit)
    if measure.value is None or measure.limit is None:
        known = []
        if measure.value is not None:
            known.append(f"it is {format_quantity(measure.value, unit)}")
        if measure.limit is not None:
            known.append(f"the limit is {format_quantity(measure.limit, unit)}")
        missing = "; ".join(measure.missing) or (
            "the limit" if measure.limit is None else "the value"
        )
        known_text = f" ({', '.join(known)})" if known else ""
        return f"{what} cannot be checked{known_text}; not known: {missing}"
    value, limit = format_quantity(measure.value, unit), format_quantity(measure.limit, unit)
    noun = "limit" if measure.sense == "at_most" else "minimum"
    sentence = f"{what} is {value}; the {noun} is {limit}"
    if outcome is Outcome.FAIL:
        sentence += f": {beyond(Mark(measure.value, measure.limit), measure.unit)}"
    return sentence


def _without_repetition(what: str, unit: str) -> tuple[str, str]:
    """Return the words and the unit of a sentence about a count, whose noun is not said again behind the number.

    ``what`` itself stays as it is: fingerprints are made of it.
    """
    noun = unit.rpartition(" ")[2].removesuffix("s")
    if noun == unit != "vCPU" or len(noun) < 3 or not noun.isalpha() or unit == "Gbps":
        return what, unit
    if not re.search(rf"\b{noun}s?\b", what):
        return what, unit
    # "C13 outlets in use is 14" lacks the noun that the verb belongs to.
    begins = re.match(rf"((?!of |in |per )\S+ ){{0,2}}{noun}s\b", what) and not what.startswith(
        "number of"
    )
    return (f"number of {what}" if begins else what), ""


def fingerprint(policy: str, subject: Subject, what: str) -> str:
    """Return sixteen hex digits that name a rule and a subject, by names and never by position."""
    text = f"{policy}\n{subject.name}\n{released_words(policy, what)}"
    return hashlib.sha256(text.encode()).hexdigest()[:16]


_WEIGHT = {
    Outcome.ERROR: 0,
    Outcome.FAIL: 1,
    Outcome.UNKNOWN: 2,
    Outcome.WAIVED: 3,
    Outcome.PASS: 4,
    Outcome.NOT_APPLICABLE: 5,
}


def gravity_of(result: Result) -> tuple[bool, int]:
    """Return the rank of a result by gravity; the lowest is the gravest."""
    return not result.blocks, _WEIGHT[result.outcome]


def order_of(result: Result) -> tuple[object, ...]:
    """Return the key by which the results of a report are sorted."""
    return (
        *gravity_of(result),
        result.policy,
        result.subject.name,
        result.what,
        result.message,
    )
