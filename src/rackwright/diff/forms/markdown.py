"""The comparison as a comment on a pull request."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rackwright.diff.budgets import Budget
from rackwright.diff.compare import Comparison
from rackwright.diff.forms import wording
from rackwright.diff.generated import TOO_LONG, FileChange
from rackwright.diff.results import Pair
from rackwright.harmless import visible
from rackwright.report.escaping import code, prose, shortened
from rackwright.report.markdown import LARGEST, LONGEST, marker

MOST_ROWS = 30
"""Budgets in the table; the others are counted."""
MOST_NEWS = 20
"""Findings that are named in one line."""
MOST_KNOWN = 100
"""Findings as before that are named."""
LARGEST_PART = 40_000
"""Most bytes of the part that goes into the comment of ``check``."""
MOST_LINES = 200
"""Lines of one generated file's diff."""

_BUDGET_HEAD = "| Budget | Before | After | Limit | Headroom | |\n|---|--:|--:|--:|--:|---|\n"
_TRUNCATED = "\n*Details that did not fit are left out; the job's artefacts contain all of them.*\n"


def render_markdown(comparison: Comparison, *, largest: int = LARGEST_PART) -> str:
    """Return the changes as a part of the comment of ``check``: the budgets first, details folded.

    The result has at most ``largest`` bytes of UTF-8; details are dropped from the end.
    """
    start = f"{_sides(comparison)}: {wording.headline(comparison)}.\n"
    blocks = [
        _refused(comparison),
        budget_table(comparison.budgets),
        _news(comparison),
        _costs(comparison),
        _yields(comparison),
        *_details(comparison),
    ]
    return _fit(start, [block for block in blocks if block], largest)


def render_comment(comparison: Comparison, *, largest: int = LARGEST) -> str:
    """Return a comment of its own: the verdict, the changed budgets, what is new; details are folded.

    The result has at most ``largest`` bytes of UTF-8; details are dropped from the end, the
    verdict never.
    """
    name = _words(comparison.blueprint)
    title = f"### rackwright: {name}: {wording.headline(comparison)}\n"
    start = f"{marker(comparison.file or comparison.blueprint)}\n{title}\n{_sides(comparison)}\n"
    blocks = [
        _refused(comparison),
        budget_table(comparison.budgets),
        _findings("New", comparison.findings.new),
        _findings("Worse", comparison.findings.regressions),
        _costs(comparison),
        _yields(comparison),
        *_details(comparison),
        _fold("Findings as before", _known(comparison)),
    ]
    return _fit(start, [block for block in blocks if block], largest)


def _sides(comparison: Comparison) -> str:
    base, head = (shortened(side.label, LONGEST) for side in (comparison.base, comparison.head))
    return f"{code(base)} → {code(head)}"


def _news(comparison: Comparison) -> str:
    """Return the new, worse and fixed findings, a line each; their messages are elsewhere."""
    found = comparison.findings
    lines = []
    for title, pairs in (("New", found.new), ("Worse", found.regressions), ("Fixed", found.fixed)):
        names = [_news_of(group) for group in wording.alike_pairs(pairs)]
        more = len(names) - MOST_NEWS
        rest = f" and {more:,} more" if more > 0 else ""
        if names:
            lines.append(f"- {title}: {', '.join(names[:MOST_NEWS])}{rest}\n")
    return "".join(lines)


def _news_of(group: Sequence[Pair]) -> str:
    more = f" and {len(group) - 1:,} alike" if len(group) > 1 else ""
    return f"**{group[0].result.policy}** {_words(group[0].subject)}{more}"


def budget_table(budgets: Sequence[Budget]) -> str:
    """Return the changed budgets as a table; empty when there are none."""
    if not budgets:
        return ""
    groups = wording.alike(budgets)
    rows = "".join(_row(group) for group in groups[:MOST_ROWS])
    more = len(groups) - MOST_ROWS
    rest = f"\n{more:,} more changed with more headroom.\n" if more > 0 else ""
    return f"{_BUDGET_HEAD}{rows}{rest}"


def _row(group: Sequence[Budget]) -> str:
    budget = group[0]
    after = wording.quantity(budget.after, budget.unit)
    left = wording.quantity(budget.headroom, budget.unit)
    if budget.blocks:
        after, left = f"**{after}**", f"**{left}**"
    cells = [
        _words(wording.subjects(group)),
        wording.quantity(budget.before, budget.unit),
        after,
        wording.limit(budget),
        left,
        wording.standing(budget),
    ]
    return f"| {' | '.join(cells)} |\n"


def _refused(comparison: Comparison) -> str:
    lines = [
        f"- **Refused**: {code(update.change.path)}: {_words(update.change.shown_before)} → "
        f"{_words(update.change.shown_after)}: {_words(update.reason)}\n"
        for update in comparison.refused
    ]
    return "".join(lines)


def _findings(title: str, pairs: Sequence[Pair]) -> str:
    if not pairs:
        return ""
    return f"#### {title}\n\n" + "".join(map(_finding, wording.alike_pairs(pairs)))


def _finding(group: Sequence[Pair]) -> str:
    pair, result = group[0], group[0].result
    where = result.location
    place = f" ({code(f'{where.file}:{where.line}')})" if where else ""
    weight = f" ({reason})" if (reason := wording.weight(result)) else ""
    lines = [
        f"- **{result.policy}** {_words(result.title)}{weight}: **{_words(pair.subject)}**{place}",
        f"  {_words(wording.message(pair))}",
    ]
    if others := wording.the_others(group):
        lines.append(f"  The same: {_words(others)}")
    if pair.after and result.fix:
        lines.append(f"  Fix: {_words(result.fix)}")
    return "<br>\n".join(lines) + "\n"


def _known(comparison: Comparison) -> str:
    lines = [
        f"- **{result.policy}** {_words(result.subject.name)}"
        f"{f' ({reason})' if (reason := wording.weight(result)) else ''}\n"
        for result in comparison.unchanged[:MOST_KNOWN]
    ]
    more = len(comparison.unchanged) - MOST_KNOWN
    return "".join(lines) + (f"- and {more:,} more\n" if more > 0 else "")


def _costs(comparison: Comparison) -> str:
    if not comparison.costs:
        return ""
    rows = []
    for change in comparison.costs:
        for period, hourly in (("hour", True), ("year", False)):
            cells = [
                f"{_words(change.site)} per {period}",
                wording.dollars(change.before, hourly=hourly),
                wording.dollars(change.after, hourly=hourly),
                wording.difference(change.before, change.after, hourly=hourly),
            ]
            rows.append(f"| {' | '.join(cells)} |\n")
    return f"| Cost | Before | After | Difference |\n|---|--:|--:|--:|\n{''.join(rows)}"


def _yields(comparison: Comparison) -> str:
    rows = [
        f"| {_words(change.workload)} | {wording.tokens(change.before.a_day)} | "
        f"{wording.tokens(change.after.a_day)} | {wording.gain(change)} | {wording.token_dollars(change)} |\n"
        for change in comparison.yields
    ]
    head = "| Workload | Before | After | Difference | Price |\n|---|--:|--:|--:|--:|\n"
    return f"{head}{''.join(rows)}" if rows else ""


def _details(comparison: Comparison) -> Iterable[str]:
    yield _fold("Update actions", _updates(comparison))
    yield _fold("Hardware", _hardware(comparison))
    waves = "".join(f"{n}. {_words(str(w))}\n" for n, w in enumerate(comparison.switches, 1))
    yield _fold("Switches, one wave after the other", waves)
    yield _fold("Fixed", "".join(map(_finding, wording.alike_pairs(comparison.findings.fixed))))
    problems = "".join(
        f"- cannot be compared: {_words(text)}\n" for text in comparison.files.problems
    )
    files = [_file(file) for file in comparison.files.changes]
    yield _fold("Generated files", "\n".join([problems, *files] if problems else files))


def _fold(title: str, inside: str) -> str:
    if not inside:
        return ""
    return f"<details><summary>{title}</summary>\n\n{inside}\n</details>\n"


def _updates(comparison: Comparison) -> str:
    rows = [
        f"| {code(shortened(update.change.path, LONGEST))} | {_words(update.change.shown_before)} "
        f"| {_words(update.change.shown_after)} | {update.action} | {_words(update.reason)} |\n"
        for update in comparison.updates
    ]
    head = "| Field | Before | After | Action | Why |\n|---|---|---|---|---|\n"
    return head + "".join(rows) if rows else ""


def _hardware(comparison: Comparison) -> str:
    lines = [
        f"- {_words(product.site)}: {product.after - product.before:+,} {product.kind} "
        f"{code(product.product)} ({product.before:,} → {product.after:,})\n"
        for product in comparison.products
    ]
    lines += [
        f"- {_words(change.site)} {_words(change.group)}: {_words(wording.hosts(change))}\n"
        for change in comparison.hosts
    ]
    return "".join(lines)


def _file(file: FileChange) -> str:
    """Return the diff in a fence that nothing inside it can close."""
    if file.diff == (TOO_LONG,):
        return f"{code(file.name)}: +{file.added:,} -{file.removed:,} lines, {TOO_LONG}\n"
    lines = [shortened(visible(line, "\t"), LONGEST) for line in file.diff[:MOST_LINES]]
    if len(file.diff) > MOST_LINES:
        lines.append(f"… {len(file.diff) - MOST_LINES:,} more lines")
    longest = max((len(run) for line in lines for run in _runs(line)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}diff\n" + "\n".join(lines) + f"\n{fence}\n"


def _runs(line: str) -> list[str]:
    """Return the runs of backticks in a line."""
    return [part for part in "".join(c if c == "`" else " " for c in line).split() if part]


def _words(text: str) -> str:
    return prose(shortened(text, LONGEST))


def _fit(start: str, blocks: Sequence[str], largest: int) -> str:
    """Return as many blocks, and lines of the first that does not fit, as there is room for.

    Raises:
        ValueError: not even ``start`` fits.
    """
    left = largest - _size(start) - _size(_TRUNCATED)
    if left < 0:
        raise ValueError(f"a comment of {largest} bytes cannot hold the verdict")
    parts = [start]
    for block in blocks:
        part = f"\n{block}"
        if _size(part) > left:
            if not block.startswith("<details"):  # a fold that is cut would swallow what follows
                parts += ["\n", *_lines_within(block, left - 1)]
            parts.append(_TRUNCATED)
            break
        parts.append(part)
        left -= _size(part)
    return "".join(parts)


def _lines_within(block: str, room: int) -> Iterable[str]:
    for line in block.splitlines(keepends=True):
        room -= _size(line)
        if room < 0:
            return
        yield line


def _size(text: str) -> int:
    return len(text.encode("utf-8"))
