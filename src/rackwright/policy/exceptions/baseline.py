"""The baseline: failures that were there when a team began to check, each with its number.

A recorded failure does not block while it is not worse than recorded; worse, it does. It is known
by names, so it survives any reordering of the blueprint, and rack by rack, so that a change to one
rack of a group neither hides nor forgets the others.

Every entry with a value has the limit of that day beside it. A failure is worse when its value is,
or when it is further beyond its limit, absolutely or in relation to the limit (``excess.trend``):
the limit that moves is seen as the value that grows. An entry without a limit is refused when the
file is read: no version wrote one, and it could not be shown that its failure did not grow. Numbers
in another unit, above a limit instead of below one, or instead of a mere yes or no are not
comparable, so such a failure is new. What is unknown is never covered. What adds up to a value does
not count, only the value does.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from rackwright.model.base import MaybeEmpty, Model
from rackwright.model.quantities import format_quantity
from rackwright.plan.base import Subject
from rackwright.policy.api import Enforcement, Outcome
from rackwright.policy.engine import Report, Result, fingerprint, order_of
from rackwright.policy.exception_report import BaselineState, ExceptionReport, Notice, NoticeKind
from rackwright.policy.exceptions.file_versions import FileVersions
from rackwright.policy.exceptions.subject_patterns import split_racks, with_racks
from rackwright.policy.excess import Mark, Trend, beyond, gravity, moved, trend
from rackwright.policy.policy_sets import released_words
from rackwright.reading.loader import Loaded

SCHEMA = "rackwright.baseline/v1"
_MOST_NAMED = 5


class BaselineEntry(Model):
    """One recorded failure."""

    fingerprint: Annotated[str, Field(pattern=r"^[0-9a-f]{16}$")]
    """Of the rule, the subject and what is measured, by names."""
    policy: str
    """Id of the rule."""
    at: str
    """The subject, as reports name it."""
    what: MaybeEmpty = ""
    """What is measured; empty for a rule without a number."""
    value: float | None = None
    """The value that is allowed, in ``unit``."""
    limit: float | None = None
    """The limit when it was recorded."""
    unit: MaybeEmpty = ""
    """Unit of both."""

    @model_validator(mode="after")
    def _is_whole(self) -> BaselineEntry:
        if self.fingerprint != fingerprint(self.policy, Subject(self.at, ()), self.what):
            raise ValueError(
                "the fingerprint is another rule's or subject's; the file was changed by hand"
            )
        if (self.value is None) != (self.limit is None):
            raise ValueError("give both 'value' and 'limit', or neither")
        return self


class BaselineFile(Model):
    """The file ``policies/baseline.json``."""

    NAME: ClassVar[str] = "baseline.json"

    version: Annotated[Literal["rackwright.baseline/v1"], Field(alias="schema")]
    """Version of the form."""
    entries: tuple[BaselineEntry, ...]
    """Every recorded failure."""


def render_baseline(entries: Iterable[BaselineEntry]) -> str:
    """Return the file with ``entries``, in an order that keeps differences small."""
    ordered = sorted(entries, key=lambda e: (e.policy, e.at, e.what, e.value or 0.0))
    rows = [entry.model_dump(mode="json") for entry in ordered]
    return json.dumps({"schema": SCHEMA, "entries": rows}, indent=2, ensure_ascii=False) + "\n"


class Baseline(FileVersions[BaselineFile]):
    """The baseline of one judgement."""

    @property
    def entries(self) -> tuple[BaselineEntry, ...]:
        """The failures that are recorded, by the base revision where one is asked."""
        return _entries(self.decides)

    @property
    def head_entries(self) -> tuple[BaselineEntry, ...]:
        """The failures that the file records as it is now."""
        return _entries(self.head)


def _entries(loaded: Loaded[BaselineFile] | None) -> tuple[BaselineEntry, ...]:
    return loaded.value.entries if loaded else ()


_Key = tuple[str, str, str, str, str]
"""Policy, subject without racks, measure in its released words, unit, and one rack."""

_Sense = bool | None
"""Whether a failure is above its limit; None for a rule without a number."""

_Rank = tuple[Mark, ...]
"""What one failure must not be worse than, all of them; empty for a rule without a number."""

_Records = Mapping[tuple[_Key, _Sense], tuple[_Rank, ...]]
"""What is allowed at each rack, worst first."""


def apply_baseline(
    report: Report, baseline: Baseline, today: date, only: Collection[str] = ()
) -> Report:
    """Return ``report`` with each failure compared with the baseline; waived ones are left alone.

    Args:
        report: finished, with waivers applied.
        baseline: the files.
        today: the day of the report.
        only: ids of the policies that were judged; empty means all.
    """
    recorded = _records(baseline.entries)
    if baseline.base_ref is not None:
        recorded = _intersect(recorded, _records(baseline.head_entries))
    states = _states(report.results, recorded)
    results = tuple(
        _compared(result, *states[number]) if number in states else result
        for number, result in enumerate(report.results)
    )
    hygiene = report.hygiene or ExceptionReport(today)
    hygiene = replace(
        hygiene,
        sources=(*hygiene.sources, *baseline.sources),
        recorded=len(baseline.entries),
        notices=(*hygiene.notices, *_notices(baseline, results, only)),
    )
    return replace(report, results=tuple(sorted(results, key=order_of)), hygiene=hygiene)


def failures(report: Report) -> tuple[Result, ...]:
    """Return the results that a baseline can record: failures that block, never unknowns or crashes."""
    return tuple(r for r in report.results if _is_recordable(r))


def created(report: Report) -> tuple[BaselineEntry, ...]:
    """Return the baseline that allows every failure of ``report`` and nothing else."""
    return tuple(_entry(result) for result in failures(report))


def tightened(entries: Sequence[BaselineEntry], report: Report) -> tuple[BaselineEntry, ...]:
    """Return ``entries`` with the better numbers of ``report``; nothing is added and nothing loosened.

    Args:
        entries: the file as it is.
        report: judged with these entries.
    """
    found = failures(report)
    covered = [r for r in found if r.baseline_state and r.baseline_state.tolerated]
    seen = {key for result in covered for key in _keys_of(result)}
    unchanged = {r.fingerprint for r in covered if r.baseline_state is BaselineState.UNCHANGED}
    worse = {
        key
        for result in found
        if result.baseline_state is BaselineState.REGRESSED
        for key in _keys_of(result)
    }
    regressed = {r.fingerprint for r in found if r.baseline_state is BaselineState.REGRESSED}
    # Of several failures of one name, the entries of all stay where not all got better.
    kept = regressed | unchanged.intersection(entry.fingerprint for entry in entries)
    made = [_entry(r) for r in covered if r.fingerprint not in kept]
    for entry in entries:
        keys = list(_keys(entry))
        if entry.fingerprint in unchanged or not seen.intersection(keys):
            made.append(entry)
        elif left := {key[-1] for key in keys if key in worse}:
            # Some racks of the entry got better and some worse; these keep what they had.
            made.append(_moved(entry, with_racks(entry.at, left)))
    return tuple(made)


def _moved(entry: BaselineEntry, at: str) -> BaselineEntry:
    name = fingerprint(entry.policy, Subject(at, ()), entry.what)
    return entry.model_copy(update={"at": at, "fingerprint": name})


def pruned(entries: Sequence[BaselineEntry], report: Report) -> tuple[BaselineEntry, ...]:
    """Return ``entries`` without those that nothing in ``report`` fails like any more."""
    gone = set(map(_identity, absent(entries, report.results)))
    return tuple(entry for entry in entries if _identity(entry) not in gone)


def absent(
    entries: Sequence[BaselineEntry], results: Iterable[Result], only: Collection[str] = ()
) -> tuple[BaselineEntry, ...]:
    """Return the entries that no result, failed or waived, is about."""
    present = {
        key
        for result in results
        if result.outcome not in {Outcome.PASS, Outcome.NOT_APPLICABLE}
        for key in _keys_of(result)
    }
    # A rule that ended in an error has not shown that a failure is gone.
    undecided = {r.policy for r in results if r.outcome is Outcome.ERROR}
    return tuple(
        entry
        for entry in entries
        if (not only or entry.policy in only)
        and entry.policy not in undecided
        and not present.intersection(_keys(entry))
    )


def _is_recordable(result: Result) -> bool:
    return result.outcome is Outcome.FAIL and result.enforcement is Enforcement.MANDATORY


def _entry(result: Result) -> BaselineEntry:
    return BaselineEntry(
        fingerprint=fingerprint(result.policy, result.subject, result.what),
        policy=result.policy,
        at=result.subject.name,
        what=result.what,
        value=result.value,
        limit=result.limit,
        unit=result.unit,
    )


def _identity(entry: BaselineEntry) -> tuple[object, ...]:
    return entry.fingerprint, entry.unit, entry.value, entry.limit


def _keys(entry: BaselineEntry) -> Iterator[_Key]:
    subject, racks = split_racks(entry.at)
    for rack in racks:
        yield entry.policy, subject, released_words(entry.policy, entry.what), entry.unit, rack


def _keys_of(result: Result) -> Iterator[_Key]:
    subject, racks = split_racks(result.subject.name)
    for rack in racks:
        yield result.policy, subject, released_words(result.policy, result.what), result.unit, rack


def _records(entries: Iterable[BaselineEntry]) -> _Records:
    found: dict[tuple[_Key, _Sense], list[_Rank]] = {}
    for entry in entries:
        rank = _marks(entry)
        for key in _keys(entry):
            found.setdefault((key, _sense(entry)), []).append(rank)
    return {
        (key, sense): tuple(sorted(ranks, key=lambda r: _gravity(r, sense), reverse=True))
        for (key, sense), ranks in found.items()
    }


def _marks(item: BaselineEntry | Result) -> _Rank:
    """Return its number and limit; empty without a number."""
    if item.value is None or item.limit is None:
        return ()
    return (Mark(item.value, item.limit),)


def _sense(item: BaselineEntry | Result) -> _Sense:
    marks = _marks(item)
    return marks[0].is_above if marks else None


def _gravity(rank: _Rank, sense: _Sense) -> tuple[float, ...]:
    return gravity(rank[0], at_most=bool(sense)) if rank else ()


def _intersect(base: _Records, head: _Records) -> _Records:
    """Return the entries that both allow: the base approves, the head is the state after the merge."""
    return {
        slot: tuple(one + two for one, two in zip(ranks, head[slot], strict=False))
        for slot, ranks in base.items()
        if slot in head
    }


def _states(
    results: Sequence[Result], recorded: _Records
) -> dict[int, tuple[BaselineState, Mark | None]]:
    """Return the state of each failure, by its number, and what it is compared with."""
    groups: dict[tuple[str, str, _Sense], list[int]] = {}
    for number, result in enumerate(results):
        if _is_recordable(result):
            group = (result.fingerprint, result.unit, _sense(result))
            groups.setdefault(group, []).append(number)
    states = {}
    for (_, _, sense), numbers in groups.items():
        records = [recorded.get((key, sense), ()) for key in _keys_of(results[numbers[0]])]
        ordered = sorted(
            numbers, key=lambda n: _gravity(_marks(results[n]), _sense(results[n])), reverse=True
        )
        for place, number in enumerate(ordered):
            # Failures of one name and without a number cannot be told apart: with one more than
            # is recorded, any of them may be the new one.
            rank = len(ordered) - 1 if sense is None else place
            states[number] = _state(results[number], records, rank)
    return states


def _state(
    result: Result, records: Sequence[tuple[_Rank, ...]], rank: int
) -> tuple[BaselineState, Mark | None]:
    """Compare a failure with the record of each of its racks.

    Returns:
        The state, and the strictest record that makes it so; None without a number.
    """
    if any(rank >= len(ranks) for ranks in records):
        return BaselineState.NEW, None
    marks = _marks(result)
    if not marks:
        return BaselineState.UNCHANGED, None
    now, at_most = marks[0], marks[0].is_above
    found: dict[Trend, list[Mark]] = {}
    for then in (mark for ranks in records for mark in ranks[rank]):
        found.setdefault(trend(then, now, at_most=at_most), []).append(then)
    step = next(step for step in _STATES if step in found)
    return _STATES[step], min(found[step], key=lambda mark: gravity(mark, at_most=at_most))


_STATES = {
    Trend.WORSE: BaselineState.REGRESSED,
    Trend.SAME: BaselineState.UNCHANGED,
    Trend.BETTER: BaselineState.IMPROVED,
}
"""The state of a failure by the worst of its trends, which comes first."""


def _compared(result: Result, state: BaselineState, recorded: Mark | None) -> Result:
    """Return ``result`` with its state, and what is recorded where that is something else."""
    compared = replace(result, baseline_state=state, recorded=recorded)
    if recorded is None or result.limit is None or state is BaselineState.UNCHANGED:
        return compared
    parts = [result.message, f"the baseline records {format_quantity(recorded.value, result.unit)}"]
    if step := moved(recorded.limit, result.limit, result.unit, at_most=recorded.is_above):
        parts[-1] += f", {beyond(recorded, result.unit)}"
        parts.append(step)
    return replace(compared, message="; ".join(parts))


def _notices(
    baseline: Baseline, results: Sequence[Result], only: Collection[str]
) -> Iterator[Notice]:
    """Yield the notices about the baseline, one for each kind."""

    def notice(kind: NoticeKind, names: Sequence[str], text: str) -> Iterator[Notice]:
        if names:
            more = len(names) - _MOST_NAMED
            named = ", ".join(names[:_MOST_NAMED]) + (f" and {more:,} more" if more > 0 else "")
            yield Notice(kind, "baseline", "", f"{len(names):,} {text}: {named}")

    by_state: dict[BaselineState | None, list[str]] = {}
    for result in results:
        text = f"{result.policy} {result.subject.name}"
        by_state.setdefault(result.baseline_state, []).append(text)
    yield from notice(
        NoticeKind.REGRESSED,
        by_state.get(BaselineState.REGRESSED, []),
        "worse than recorded",
    )
    yield from notice(
        NoticeKind.IMPROVED,
        by_state.get(BaselineState.IMPROVED, []),
        "better than recorded; 'rackwright baseline update' keeps it so",
    )
    gone = absent(baseline.entries, results, only)
    if baseline.base_ref is not None:  # what the change itself removes needs no mention
        here = {key for entry in baseline.head_entries for key in _keys(entry)}
        gone = tuple(entry for entry in gone if not here.isdisjoint(_keys(entry)))
    yield from notice(
        NoticeKind.ABSENT,
        [f"{entry.policy} {entry.at}" for entry in gone],
        "recorded and not failing any more; 'rackwright baseline prune' removes them",
    )
    if baseline.base_ref is not None:
        yield from notice(*_asked_for(baseline, NoticeKind.PROPOSED))
        yield from notice(*_asked_for(baseline, NoticeKind.SELF_APPROVED))


def _asked_for(baseline: Baseline, kind: NoticeKind) -> tuple[NoticeKind, list[str], str]:
    """Return the entries that the change under review adds, or loosens."""
    before = _records(baseline.entries)
    found = []
    for entry in baseline.head_entries:
        known = [before.get((key, _sense(entry)), ()) for key in _keys(entry)]
        is_new = not all(known)
        is_looser = any(ranks and _is_looser(entry, ranks) for ranks in known)
        if (is_new and kind is NoticeKind.PROPOSED) or (
            is_looser and not is_new and kind is NoticeKind.SELF_APPROVED
        ):
            found.append(f"{entry.policy} {entry.at}")
    said = "added to" if kind is NoticeKind.PROPOSED else "loosened in"
    return kind, found, f"{said} the baseline in this change; '{baseline.base_ref}' decides"


def _is_looser(entry: BaselineEntry, ranks: Sequence[_Rank]) -> bool:
    """Return True if an entry allows more than any of ``ranks`` does."""
    marks = _marks(entry)
    return bool(marks) and all(
        any(trend(then, now, at_most=now.is_above) is Trend.WORSE for then in rank)
        for now in marks
        for rank in ranks
    )
