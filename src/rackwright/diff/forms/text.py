"""The comparison as text for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rackwright.diff.actions import Action, FieldUpdate
from rackwright.diff.budgets import Budget
from rackwright.diff.compare import Comparison
from rackwright.diff.forms import wording
from rackwright.diff.generated import TOO_LONG
from rackwright.diff.results import Pair
from rackwright.harmless import counted, visible
from rackwright.report.escaping import shortened
from rackwright.report.wording import printable

MOST_ROWS = 40
"""Budgets that are shown; those with the most headroom are left out first."""
WIDEST_NAME = 76
"""Characters of a budget's name."""
MOST_LINES = 60
"""Lines of one generated file's diff."""

_COLOURS = {Action.REFUSED: "31", Action.REPLACE: "31", Action.REVIEW: "33", Action.DRAIN: "33"}


def render_text(comparison: Comparison, *, colour: bool = False, verbose: bool = False) -> str:
    """Return the changes, and one line with the verdict; ``verbose`` shortens nothing."""
    paint = _Paint(colour=colour)
    parts = [
        _budgets(comparison.budgets, paint, verbose=verbose),
        _findings("new", comparison.findings.new, paint, "31"),
        _findings("worse", comparison.findings.regressions, paint, "31"),
        _findings("fixed", comparison.findings.fixed, paint, "32"),
        _known(comparison, verbose=verbose),
        _costs(comparison),
        _yields(comparison),
        _section("hardware", _hardware(comparison)),
        _updates(comparison.updates, paint),
        _section("switches, one wave after the other", _switches(comparison)),
        _files(comparison, verbose=verbose),
    ]
    shown = [part for part in parts if part]
    if comparison.unlayered:
        names = ", ".join(printable(str(path)) for path in comparison.unlayered)
        shown.append(f"not there at {printable(comparison.base.label)}: {names}")
    return "\n\n".join([*shown, _verdict(comparison)]) + "\n"


class _Paint:
    def __init__(self, *, colour: bool) -> None:
        self._colour = colour

    def __call__(self, text: str, code: str | None) -> str:
        return f"\033[{code}m{text}\033[0m" if self._colour and code else text


def _verdict(comparison: Comparison) -> str:
    sides = f"{printable(comparison.base.label)} → {printable(comparison.head.label)}"
    name = printable(comparison.blueprint)
    return f"{name}, {sides}: {wording.headline(comparison)}"


def _section(title: str, lines: Iterator[str] | Sequence[str]) -> str:
    found = list(lines)
    return "\n".join([f"{title}:", *(f"  {line}" for line in found)]) if found else ""


def _budgets(budgets: Sequence[Budget], paint: _Paint, *, verbose: bool) -> str:
    groups = wording.alike(budgets)
    shown = groups if verbose else groups[:MOST_ROWS]
    rows = [("", "before", "after", "limit", "headroom", "")]
    rows += [_row(group) for group in shown]
    if len(rows) == 1:
        return ""
    widths = [max(len(row[column]) for row in rows) for column in range(5)]
    lines = []
    for index, row in enumerate(rows):
        cells = [row[0].ljust(widths[0])]
        cells += [row[column].rjust(widths[column]) for column in range(1, 5)]
        bad = index > 0 and shown[index - 1][0].blocks
        lines.append(paint("  ".join([*cells, row[5]]).rstrip(), "31" if bad else None))
    more = len(groups) - len(shown)
    if more > 0:
        lines.append(f"and {more:,} more with more headroom; --verbose shows them")
    return _section("budgets", lines)


def _row(group: Sequence[Budget]) -> tuple[str, str, str, str, str, str]:
    budget = group[0]
    return (
        shortened(printable(wording.subjects(group)), WIDEST_NAME),
        wording.quantity(budget.before, budget.unit),
        wording.quantity(budget.after, budget.unit),
        wording.limit(budget),
        wording.quantity(budget.headroom, budget.unit),
        wording.standing(budget),
    )


def _findings(title: str, pairs: Sequence[Pair], paint: _Paint, code: str) -> str:
    lines: list[str] = []
    for group in wording.alike_pairs(pairs):
        pair, result = group[0], group[0].result
        where = f"  {result.location}" if result.location else ""
        weight = "" if title == "fixed" else wording.weight(result)
        words = f"{result.policy} {result.severity}, {weight}".rstrip(", ")
        head = paint(words, code)
        lines += [
            f"{head}{where}  {printable(pair.subject)}",
            f"  {printable(wording.message(pair))}",
        ]
        if others := wording.the_others(group):
            lines.append(f"  the same: {printable(others)}")
        if pair.after and result.fix:
            lines.append(f"  fix: {printable(result.fix)}")
    return _section(title, lines)


def _known(comparison: Comparison, *, verbose: bool) -> str:
    found = comparison.unchanged
    if not found or comparison.is_empty:
        return ""
    blocking = sum(1 for result in found if result.blocks)
    title = f"as before: {counted(len(found), 'finding')}, {blocking:,} blocking"
    if not verbose:
        return f"{title} (--verbose names them)"
    return _section(title, [f"{r.policy} {printable(r.subject.name)}" for r in found])


def _costs(comparison: Comparison) -> str:
    lines = []
    for change in comparison.costs:
        for period, hourly in (("hour", True), ("year", False)):
            before = wording.dollars(change.before, hourly=hourly)
            after = wording.dollars(change.after, hourly=hourly)
            more = wording.difference(change.before, change.after, hourly=hourly)
            lines.append(f"{change.site} per {period}: {before} → {after} ({more})")
    return _section("cost", lines)


def _yields(comparison: Comparison) -> str:
    lines = []
    for change in comparison.yields:
        before, after = (wording.tokens(one.a_day) for one in (change.before, change.after))
        more = f" ({wording.gain(change)})" if wording.gain(change) else ""
        price = wording.token_dollars(change)
        lines.append(
            f"{printable(change.workload)}: {before} → {after}{more}{f'; {price}' if price else ''}"
        )
    return _section("workloads", lines)


def _hardware(comparison: Comparison) -> Iterator[str]:
    for product in comparison.products:
        step = product.after - product.before
        yield (
            f"{product.site}: {step:+,} {product.kind} {product.product} "
            f"({product.before:,} → {product.after:,})"
        )
    for change in comparison.hosts:
        yield f"{change.site} {change.group}: {wording.hosts(change)}"


def _switches(comparison: Comparison) -> Iterator[str]:
    for number, wave in enumerate(comparison.switches, 1):
        yield f"{number}. {printable(str(wave))}"


def _updates(updates: Sequence[FieldUpdate], paint: _Paint) -> str:
    lines = []
    for update in updates:
        change = update.change
        action = paint(f"{update.action}:", _COLOURS.get(update.action))
        where = f"  {change.location}" if change.location else ""
        lines.append(f"{action} {printable(change.path)}{where}")
        lines.append(f"  {change.shown_before} → {change.shown_after}")
        lines.append(f"  {update.reason}")
    return _section("updates", lines)


def _files(comparison: Comparison, *, verbose: bool) -> str:
    parts = []
    for file in comparison.files.changes:
        shown = file.diff if verbose else file.diff[:MOST_LINES]
        lines = [printable_line(line) for line in shown]
        if file.diff == (TOO_LONG,):
            lines = [f"{file.name}: +{file.added:,} -{file.removed:,} lines, {TOO_LONG}"]
        if len(shown) < len(file.diff):
            lines.append(f"… {len(file.diff) - len(shown):,} more lines; --verbose shows them")
        parts.append("\n".join(lines))
    problems = [f"  cannot be compared: {printable(text)}" for text in comparison.files.problems]
    return "\n".join(["generated files:", *problems, *parts]) if problems or parts else ""


def printable_line(line: str) -> str:
    """Return a line of a generated file, its blanks kept, without what would steer a terminal."""
    return visible(line, "\t")
