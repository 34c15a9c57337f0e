"""The pass that lets waivers cover the results of a finished report."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date

from rackwright.errors import Location
from rackwright.harmless import counted
from rackwright.policy.api import Outcome, Severity
from rackwright.policy.engine import Report, Result, order_of
from rackwright.policy.exception_report import ExceptionReport, Notice, NoticeKind, Permission
from rackwright.policy.exceptions.file_versions import FileVersions
from rackwright.policy.exceptions.subject_patterns import matches, nouns
from rackwright.policy.exceptions.waivers import (
    LONGEST_DAYS,
    Waiver,
    WaiverDecision,
    WaiverFile,
    applies,
    in_unit,
    limit_for,
    within,
)
from rackwright.policy.excess import moved
from rackwright.reading.loader import Loaded
from rackwright.reading.suggest import did_you_mean

SOON_DAYS = 14
"""Days before the end of a waiver from which on it is announced."""


class Waivers(FileVersions[WaiverFile]):
    """The waivers of one judgement."""


@dataclass(frozen=True)
class _Held:
    """A waiver that is approved, as far as the change under review leaves it.

    Attributes:
        now: the head's version where the change rewrites it; both have to cover a result, because
            only that one is left after the merge.
    """

    waiver: Waiver
    location: Location
    now: Waiver | None = None

    def decide(self, result: Result, today: date) -> WaiverDecision:
        decision = applies(self.waiver, result, today)
        if decision is WaiverDecision.COVERS and self.now is not None:
            return applies(self.now, result, today)
        return decision


def apply_waivers(
    report: Report,
    waivers: Waivers,
    today: date,
    severities: Mapping[str, Severity],
    only: Collection[str] = (),
) -> Report:
    """Return ``report`` with the covered results waived, and with what is to be said about each waiver.

    Args:
        report: finished, without waivers.
        waivers: the files.
        today: the day (UTC) that decides what has expired.
        severities: of every policy that there is, by id.
        only: ids of the policies that were judged; empty means all.
    """
    held = [item for item in _held(waivers) if _judged(item.waiver, only)]
    results = tuple(_covered(result, held, today) for result in report.results)
    by_policy: dict[str, list[Result]] = {}
    for result in report.results:
        by_policy.setdefault(result.policy, []).append(result)
    notices = [
        notice
        for item in held
        for notice in _notices(item, by_policy.get(item.waiver.policy, []), today, severities)
    ]
    notices += _asked_for(waivers, results, today, only)
    hygiene = report.hygiene or ExceptionReport(today)
    hygiene = replace(
        hygiene,
        sources=(*hygiene.sources, *waivers.sources),
        waivers=len(held),
        notices=(*hygiene.notices, *notices),
    )
    return replace(report, results=tuple(sorted(results, key=order_of)), hygiene=hygiene)


def _judged(waiver: Waiver, only: Collection[str]) -> bool:
    return not only or waiver.policy in only


def _held(waivers: Waivers) -> Iterator[_Held]:
    """Yield the approved waivers; one that the change removes does not hold any more."""
    here = _by_id(waivers.head)
    # Without a base there is no review, and a waiver counts as it stands in the file.
    if waivers.base_ref is None:
        yield from (_Held(waiver, place) for waiver, place in here.values())
        return
    for name, (waiver, _) in _by_id(waivers.base).items():
        if name in here:
            now, place = here[name]
            yield _Held(waiver, place, None if now == waiver else now)


def _by_id(loaded: Loaded[WaiverFile] | None) -> dict[str, tuple[Waiver, Location]]:
    if loaded is None:
        return {}
    return {
        waiver.id: (waiver, loaded.tree.locate(("waivers", number)))
        for number, waiver in enumerate(loaded.value.waivers)
    }


def _covered(result: Result, held: Sequence[_Held], today: date) -> Result:
    """Return ``result``, waived or with a word on why no waiver covers it."""
    why = ""
    for item in held:
        decision = item.decide(result, today)
        if decision is WaiverDecision.COVERS:
            return _waived(result, item.waiver)
        # The first near miss is named; a list of all of them would hide the result itself.
        why = why or _shortfall(item, decision, result)
    return replace(result, message=f"{result.message}; {why}") if why else result


def _waived(result: Result, waiver: Waiver) -> Result:
    """Return ``result`` with its numbers and who permits them; reports tell both."""
    permission = Permission(
        waiver.id,
        waiver.owner,
        waiver.ticket,
        waiver.reason,
        waiver.expires,
        waiver.up_to,
        waiver.limit,
    )
    return replace(result, outcome=Outcome.WAIVED, waiver=permission)


def _shortfall(item: _Held, decision: WaiverDecision, result: Result) -> str:
    """Return the reason why a waiver for ``result`` does not cover it; empty if it is for another result."""
    waiver = item.waiver
    match decision:
        case WaiverDecision.ELSEWHERE | WaiverDecision.COVERS:
            return ""
        case WaiverDecision.EXPIRED:
            return f"waiver {waiver.id} expired on {waiver.expires}"
        case WaiverDecision.OVER_BOUND:
            now = item.now.up_to if item.now else waiver.up_to
            bound = waiver.up_to if now == waiver.up_to else f"{waiver.up_to}, now {now},"
            return f"waiver {waiver.id} covers up to {bound} only"
        case WaiverDecision.LIMIT_MOVED:
            return _moved(item, result)
        case WaiverDecision.TOO_LONG:
            return (
                f"waiver {waiver.id} does not hold yet: it ends on {waiver.expires}, more than "
                f"{LONGEST_DAYS[result.severity]} days from now"
            )
        case _:
            return f"waiver {waiver.id} does not cover it: {_REFUSALS[decision]}"


def _moved(item: _Held, result: Result) -> str:
    """Return the limit that a bound was approved against, and the present limit, in words."""
    versions = [item.waiver, *([item.now] if item.now else [])]
    waiver = next(w for w in versions if within(w, result) is WaiverDecision.LIMIT_MOVED)
    said = f"waiver {waiver.id} covers up to {waiver.up_to} at a limit of {waiver.limit} only"
    approved = in_unit(waiver.limit or "", result.unit)
    if approved is None or result.value is None or result.limit is None:
        return said
    at_most = result.value > result.limit
    step = moved(approved, result.limit, result.unit, at_most=at_most)
    return f"{said}; {step}" if step else said


_REFUSALS = {
    WaiverDecision.NOT_WAIVABLE: "the rule admits no waivers",
    WaiverDecision.ERROR: "a rule that crashed cannot be waived",
    WaiverDecision.UNKNOWN: "what is unknown needs a waiver with 'unknown: true'",
    WaiverDecision.KNOWN: "it covers the unknown only, and the number is known now",
    WaiverDecision.NO_NUMBER: "the rule has no number that 'up_to' could bound",
    WaiverDecision.UNBOUNDED: "a rule with a number needs 'up_to'",
    WaiverDecision.OTHER_UNIT: "'up_to' or 'limit' is in another unit than the measure",
}


def _notices(
    item: _Held, results: Sequence[Result], today: date, severities: Mapping[str, Severity]
) -> Iterator[Notice]:
    """Yield the notices about one approved waiver."""
    waiver = item.waiver

    def notice(kind: NoticeKind, message: str) -> Notice:
        return Notice(kind, waiver.id, waiver.policy, message, item.location)

    if waiver.policy not in severities:
        near = did_you_mean(waiver.policy, severities)
        text = f"there is no policy '{waiver.policy}'"
        yield notice(NoticeKind.UNUSED, f"{text}; {near}" if near else text)
        return
    found: dict[WaiverDecision, list[Result]] = {}
    for result in results:
        found.setdefault(item.decide(result, today), []).append(result)
    # A waiver is not responsible for results about other subjects of its rule.
    found.pop(WaiverDecision.ELSEWHERE, None)
    left = (waiver.expires - today).days
    longest = LONGEST_DAYS[severities[waiver.policy]]
    if left < 0:
        live = found.get(WaiverDecision.EXPIRED, [])
        again = f"; {_findings(live)} live again" if live else ""
        yield notice(NoticeKind.EXPIRED, f"its last day was {waiver.expires}{again}")
        return
    if left > longest:
        yield notice(
            NoticeKind.TOO_LONG,
            f"ends in {left} days, on {waiver.expires}; a rule of severity "
            f"{severities[waiver.policy]} admits {longest}",
        )
        return
    if not found:
        if all(result.waivable for result in results):
            yield notice(NoticeKind.UNUSED, _why_unused(waiver, results))
        else:
            yield notice(NoticeKind.REFUSED, _REFUSALS[WaiverDecision.NOT_WAIVABLE])
        return
    if left <= SOON_DAYS:
        days = f"in {left} day{'s' if left != 1 else ''}" if left else "today"
        yield notice(NoticeKind.EXPIRING, f"ends {days}, on {waiver.expires}")
    for decision, concerned in found.items():
        if decision in {WaiverDecision.OVER_BOUND, WaiverDecision.LIMIT_MOVED}:
            yield notice(NoticeKind.OVER_BOUND, _first(concerned))
        elif decision is WaiverDecision.COVERS and waiver.up_to and not (item.now or waiver).limit:
            limit = limit_for(waiver, concerned) or "…"
            text = f"it covers up to {waiver.up_to} at any limit; add 'limit: {limit}' to it"
            yield notice(NoticeKind.NO_LIMIT, text)
        elif decision in _REFUSALS and not _is_other_measure(decision, found):
            yield notice(NoticeKind.REFUSED, f"{_REFUSALS[decision]}: {_first(concerned)}")


def _is_other_measure(decision: WaiverDecision, found: Mapping[WaiverDecision, object]) -> bool:
    """Return True if a rule measures several things and the waiver is about another one of them."""
    about_another = {
        WaiverDecision.COVERS,
        WaiverDecision.OVER_BOUND,
        WaiverDecision.LIMIT_MOVED,
    } & set(found)
    return decision in {WaiverDecision.OTHER_UNIT, WaiverDecision.NO_NUMBER} and bool(about_another)


def _first(results: Sequence[Result]) -> str:
    more = f" (and {len(results) - 1:,} more)" if len(results) > 1 else ""
    return f"{results[0].subject.name}: {results[0].message}{more}"


def _findings(results: Sequence[Result]) -> str:
    return f"{len(results):,} finding{'s are' if len(results) != 1 else ' is'}"


def _why_unused(waiver: Waiver, results: Sequence[Result]) -> str:
    if any(matches(waiver.match, result) for result in results):
        return f"{waiver.policy} does not fail there; remove the waiver"
    known = sorted(set().union(*(nouns(result) for result in results)))
    words = f"; it can be told apart by {', '.join(known)}" if known else ""
    return f"{waiver.policy} judges nothing of that name{words}"


def _asked_for(
    waivers: Waivers, results: Sequence[Result], today: date, only: Collection[str]
) -> Iterator[Notice]:
    """Yield the waivers that the change under review adds or rewrites."""
    if waivers.base_ref is None:
        return
    base = _by_id(waivers.base)
    for name, (waiver, place) in _by_id(waivers.head).items():
        before = base[name][0] if name in base else None
        if waiver == before or not _judged(waiver, only):
            continue
        count = sum(1 for r in results if applies(waiver, r, today) is WaiverDecision.COVERS)
        effect = f"it would cover {counted(count, 'finding') if count else 'nothing'}"
        if before is None:
            kind, text = NoticeKind.PROPOSED, f"new in this change; once approved, {effect}"
        else:
            kind = (
                NoticeKind.SELF_APPROVED if _permits_more(before, waiver) else NoticeKind.PROPOSED
            )
            changed = ", ".join(_changed(before, waiver))
            text = f"{changed} changed in this change; '{waivers.base_ref}' decides, else {effect}"
        yield Notice(kind, waiver.id, waiver.policy, text, place)


def _changed(before: Waiver, after: Waiver) -> list[str]:
    return [name for name in Waiver.model_fields if getattr(before, name) != getattr(after, name)]


def _permits_more(before: Waiver, after: Waiver) -> bool:
    """Return True if a rewritten waiver could cover a result that the approved one does not.

    Only an earlier end, words for people, and a limit where there was none are sure to permit
    nothing new.
    """
    changed = set(_changed(before, after)) - {"reason", "owner", "ticket"}
    if before.limit is None:
        changed.discard("limit")
    return after.expires > before.expires or bool(changed - {"expires"})
