"""The halls of ``docs/design.md``: their answers are those of the document, and ``check`` passes each.

That the small ones are the best of all layouts is what ``test_search`` tries. ``UPDATE_GOLDEN=1``
writes the rows anew; times are the bench's, and written by hand.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from design_halls import (
    COLUMNS,
    DOCUMENT,
    LARGE,
    NOTHING,
    SMALL,
    LargeHall,
    SmallHall,
    document_row,
    row_of,
)

SHOWN: tuple[SmallHall | LargeHall, ...] = tuple(hall for hall in SMALL if hall.what)
AT_ONCE = (*SHOWN, LARGE[0], NOTHING)
"""Those that need seconds; the bench has the rest."""


def test_the_document_has_eleven_halls_and_one_in_which_nothing_fits() -> None:
    text = DOCUMENT.read_text("utf-8")
    head = f"| {' | '.join(COLUMNS)} |\n"
    rows = text.partition(head)[2].partition("\n\n")[0].splitlines()[1:]
    names = [hall.name for hall in (*SHOWN, *LARGE, NOTHING)]
    assert [row.split(" | ")[0].removeprefix("| ") for row in rows] == names
    assert len(names) == 12
    for hall in LARGE:
        assert re.search(rf"^\| {hall.name} \| [\d.]+ s \|", text, re.MULTILINE), hall.name


@pytest.mark.parametrize("hall", AT_ONCE, ids=lambda one: one.name)
def test_a_hall_is_answered_as_the_document_says(
    hall: SmallHall | LargeHall, tmp_path: Path
) -> None:
    row = row_of(hall, tmp_path)
    assert row == document_row(hall.name)
    assert row.endswith("| – |" if hall is NOTHING else "| passes |")
