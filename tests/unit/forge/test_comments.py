"""What is to happen with a comment, decided without a forge."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from rackwright.errors import UsageError
from rackwright.forge.comments import Comment, CommentDecision, CommentOutcome, decide, stamp

BODY = "<!-- rackwright:pr:atlas -->\n### rackwright: atlas passes\n"
NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
LATER = NOON + timedelta(seconds=1)


def theirs(body: str, moment: datetime, *, mine: bool = True, number: int = 1) -> Comment:
    return Comment(number, stamp(body, moment), mine)


def test_the_marker_carries_the_time() -> None:
    first = stamp(BODY, NOON).splitlines()[0]
    assert first == "<!-- rackwright:pr:atlas valid-at=2026-11-21T12:00:00.000000Z -->"
    there = NOON.astimezone(timezone(timedelta(hours=5)))
    assert stamp(stamp(BODY, LATER), there) == stamp(BODY, NOON)


@pytest.mark.parametrize("body", ["", "### no marker\n", f"x{BODY}", "<!-- rackwright:pr: -->\n"])
def test_a_body_without_marker_is_refused(body: str) -> None:
    with pytest.raises(UsageError, match="does not begin with a marker"):
        stamp(body, NOON)


@pytest.mark.parametrize(
    ("existing", "expected"),
    [
        ([], CommentDecision(CommentOutcome.CREATED)),
        ([Comment(1, "hello", mine=True)], CommentDecision(CommentOutcome.CREATED)),
        ([theirs(BODY.replace("atlas", "zeus"), NOON)], CommentDecision(CommentOutcome.CREATED)),
        ([theirs(BODY, LATER, mine=False)], CommentDecision(CommentOutcome.CREATED)),
        (
            [theirs("<!-- rackwright:pr:atlas -->\nold\n", NOON)],
            CommentDecision(CommentOutcome.UPDATED, 1),
        ),
        ([theirs(BODY, NOON)], CommentDecision(CommentOutcome.UNCHANGED, 1)),
        ([theirs(BODY, LATER)], CommentDecision(CommentOutcome.STALE, 1)),
        ([theirs(BODY, NOON - timedelta(seconds=1))], CommentDecision(CommentOutcome.UPDATED, 1)),
        ([Comment(3, BODY, mine=True)], CommentDecision(CommentOutcome.UPDATED, 3)),
        (
            [Comment(3, stamp(BODY, NOON).replace("2026", "20x6"), mine=True)],
            CommentDecision(CommentOutcome.CREATED),
        ),
        (
            [theirs(BODY, NOON), theirs(BODY, LATER, number=2)],
            CommentDecision(CommentOutcome.STALE, 2),
        ),
    ],
)
def test_decisions_at_noon(existing: list[Comment], expected: CommentDecision) -> None:
    assert decide(existing, stamp(BODY, NOON)) == expected


def test_the_forge_may_change_line_ends() -> None:
    kept = stamp(BODY, NOON).rstrip().replace("\n", " \r\n")
    assert (
        decide([Comment(1, kept, mine=True)], stamp(BODY, NOON)).outcome is CommentOutcome.UNCHANGED
    )
