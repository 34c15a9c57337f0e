"""Rows of the page with the changes against a base."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rackwright.diff.compare import Comparison
from rackwright.diff.forms import wording
from rackwright.diff.results import Pair
from rackwright.report.escaping import shortened
from rackwright.report.wording import printable

MOST_ROWS = 200
"""Maximum number of rows of a table; further rows are counted."""
LONGEST = 600
"""Maximum length of a cell, in characters."""


@dataclass(frozen=True, slots=True)
class ChangeTable:
    """Table of changes.

    Attributes:
        title: title of the table.
        head: titles of the columns.
        rows: cells of the rows.
        more: number of further rows.
        numbers: indices of columns with numbers, from 0.
    """

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    more: int
    numbers: Sequence[int]


@dataclass(frozen=True, slots=True)
class ChangeView:
    """Comparison with the base: verdict, both sides and the differences. Tables without rows are omitted."""

    headline: str
    sides: str
    tables: Sequence[ChangeTable]


def view_change(comparison: Comparison) -> ChangeView:
    """Return the comparison for the page."""
    found = comparison.findings
    tables = [
        _findings("New findings", found.new),
        _findings("Worse", found.regressions),
        _findings("Fixed", found.fixed),
        _table(
            "Budgets",
            ("budget", "before", "after", "limit", "left", "it"),
            [
                (
                    printable(wording.subjects(same)),
                    wording.quantity(same[0].before, same[0].unit),
                    wording.quantity(same[0].after, same[0].unit),
                    wording.limit(same[0]),
                    wording.quantity(same[0].headroom, same[0].unit),
                    wording.standing(same[0]),
                )
                for same in wording.alike(comparison.budgets)
            ],
            (1, 2, 3, 4),
        ),
        _table(
            "Cost in a year",
            ("site", "before", "after", "more"),
            [
                (
                    printable(one.site),
                    wording.dollars(one.before, hourly=False),
                    wording.dollars(one.after, hourly=False),
                    wording.difference(one.before, one.after, hourly=False),
                )
                for one in comparison.costs
            ],
            (1, 2, 3),
        ),
        _table(
            "Hosts",
            ("site", "group", "before", "after", "which"),
            [
                (
                    printable(one.site),
                    printable(one.group),
                    f"{one.before:,}",
                    f"{one.after:,}",
                    printable(wording.hosts(one)),
                )
                for one in comparison.hosts
            ],
            (2, 3),
        ),
        _table(
            "Fields, and how each reaches the cluster",
            ("field", "before", "after", "how", "why"),
            [
                (
                    printable(one.change.path),
                    printable(one.change.shown_before),
                    printable(one.change.shown_after),
                    one.action.value,
                    printable(one.reason),
                )
                for one in comparison.updates
            ],
        ),
    ]
    sides = f"{printable(comparison.base.label)} → {printable(comparison.head.label)}"
    return ChangeView(
        printable(wording.headline(comparison)), sides, [one for one in tables if one.rows]
    )


def _findings(title: str, pairs: Sequence[Pair]) -> ChangeTable:
    rows = [
        (
            same[0].result.policy,
            printable(", ".join([same[0].subject, wording.the_others(same)]).removesuffix(", ")),
            printable(wording.message(same[0])),
        )
        for same in wording.alike_pairs(pairs)
    ]
    return _table(title, ("rule", "where", "what"), rows)


def _table(
    title: str,
    head: Sequence[str],
    rows: Sequence[Sequence[str]],
    numbers: Sequence[int] = (),
) -> ChangeTable:
    short = [[shortened(cell, LONGEST) for cell in row] for row in rows[:MOST_ROWS]]
    return ChangeTable(title, head, short, max(0, len(rows) - MOST_ROWS), numbers)
