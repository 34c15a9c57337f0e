"""Decisions about a comment from the comments that exist, without asking the forge."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum

from rackwright.errors import UsageError

_MARKER = re.compile(r"<!-- (rackwright:pr:[A-Za-z0-9._-]+)(?: valid-at=([0-9TZ:.+-]+))? -->")


class CommentOutcome(StrEnum):
    """Outcome of a comment."""

    CREATED = "created"
    UPDATED = "updated"
    UNCHANGED = "unchanged"
    STALE = "stale"
    """A newer run has spoken already."""


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment that is there.

    Attributes:
        mine: it is by the account that asks; others' comments are never touched nor believed.
    """

    id: int
    body: str
    mine: bool


@dataclass(frozen=True, slots=True)
class CommentDecision:
    """Decision about a comment.

    Attributes:
        id: the comment to change; None makes a new one.
    """

    outcome: CommentOutcome
    id: int | None = None


def stamp(body: str, valid_at: datetime) -> str:
    """Return ``body`` with the time that it holds for in its marker.

    Raises:
        UsageError: its first line is no marker.
    """
    first, _, rest = body.partition("\n")
    match = _MARKER.fullmatch(first.strip())
    if match is None:
        raise UsageError(
            "the comment does not begin with a marker of rackwright",
            hint="write it with 'rackwright check --output md=FILE'",
        )
    moment = valid_at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    return f"<!-- {match[1]} valid-at={moment} -->\n{rest}"


def decide(existing: Sequence[Comment], body: str) -> CommentDecision:
    """Decide what to do with ``body``, which is stamped, among the existing comments.

    A body that differs in its time only is written all the same: else a run between the two would
    pass for the newest.
    """
    name, moment = _read(body)
    found = [
        (_read(comment.body)[1], comment)
        for comment in existing
        if comment.mine and _read(comment.body)[0] == name
    ]
    if not name or not found:
        return CommentDecision(CommentOutcome.CREATED)
    last, comment = max(found, key=lambda pair: (pair[0], pair[1].id))
    if last > moment:
        return CommentDecision(CommentOutcome.STALE, comment.id)
    if _lines(comment.body) == _lines(body):
        return CommentDecision(CommentOutcome.UNCHANGED, comment.id)
    return CommentDecision(CommentOutcome.UPDATED, comment.id)


def _read(body: str) -> tuple[str, datetime]:
    """Return the marker's name and time; an empty name when there is none."""
    match = _MARKER.fullmatch(body.partition("\n")[0].strip())
    if match is None:
        return "", _NEVER
    try:
        moment = datetime.fromisoformat(match[2] or "")
    except ValueError:
        return match[1], _NEVER
    return match[1], moment if moment.tzinfo else moment.replace(tzinfo=UTC)


_NEVER = datetime.min.replace(tzinfo=UTC)


def _lines(body: str) -> list[str]:
    """Return the lines, as a forge keeps them: it may change line ends and drop blanks at the end."""
    return [line.rstrip() for line in body.strip().splitlines()]
