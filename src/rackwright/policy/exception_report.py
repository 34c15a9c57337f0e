"""Report about exceptions: the waivers and the baseline that were applied."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from enum import StrEnum

from rackwright.errors import Location
from rackwright.policy.api import Enforcement


class NoticeKind(StrEnum):
    """Kind of a notice about a waiver, a baseline, or the settings of a change."""

    EXPIRING = "expiring"
    EXPIRED = "expired"
    UNUSED = "unused"
    OVER_BOUND = "over_bound"
    NO_LIMIT = "no_limit"
    TOO_LONG = "too_long"
    REFUSED = "refused"
    PROPOSED = "proposed"
    SELF_APPROVED = "self_approved"
    LOWERED = "lowered"
    STATED = "stated"
    EXAMPLE = "example"
    EXAMPLE_FILE = "example_file"
    UNFILLED = "unfilled"
    REGRESSED = "regressed"
    IMPROVED = "improved"
    ABSENT = "absent"


PROBLEMS = frozenset(
    {
        NoticeKind.EXPIRED,
        NoticeKind.UNUSED,
        NoticeKind.OVER_BOUND,
        NoticeKind.TOO_LONG,
        NoticeKind.REFUSED,
        NoticeKind.SELF_APPROVED,
        NoticeKind.LOWERED,
        NoticeKind.REGRESSED,
    }
)
"""What ``--strict-waivers`` does not tolerate. The rest is news: it must not fail a change that
fixes something, or one that only asks for a waiver."""


BASELINE = frozenset({NoticeKind.REGRESSED, NoticeKind.IMPROVED, NoticeKind.ABSENT})
"""What is said about the baseline only."""


class BaselineState(StrEnum):
    """Comparison of a failure with the baseline."""

    NEW = "new"
    UNCHANGED = "unchanged"
    IMPROVED = "improved"
    REGRESSED = "regressed"

    @property
    def tolerated(self) -> bool:
        """True if the baseline allows the failure."""
        return self in {BaselineState.UNCHANGED, BaselineState.IMPROVED}


@dataclass(frozen=True, slots=True)
class Permission:
    """The waiver that covers a result.

    Attributes:
        expires: the last day on which it does.
        up_to: its bound, as it is written; None for a rule without a number.
        limit: the limit that the bound was approved against, as it is written; None where the
            waiver does not say.
    """

    id: str
    owner: str
    ticket: str
    reason: str
    expires: date
    up_to: str | None = None
    limit: str | None = None


@dataclass(frozen=True, slots=True)
class Notice:
    """One thing to know about a waiver, the baseline, or what a change lowers.

    Attributes:
        id: of the waiver; ``baseline`` where the notice is about that; or what a change lowers.
        policy: the rule it concerns; empty where it is not about one.
        number: values that it is about.
    """

    kind: NoticeKind
    id: str
    policy: str
    message: str
    location: Location | None = None
    number: int = 1

    @property
    def problem(self) -> bool:
        """True if ``--strict-waivers`` fails on it."""
        return self.kind in PROBLEMS


@dataclass(frozen=True, slots=True)
class Lowered:
    """A rule that the blueprint itself makes weaker.

    Attributes:
        enforcement: what holds.
        own: what would hold if the blueprint said nothing about it.
    """

    policy: str
    title: str
    enforcement: Enforcement
    own: Enforcement
    reason: str
    location: Location | None = None


@dataclass(frozen=True, slots=True)
class ExceptionReport:
    """The state of the waivers and the baseline on one day.

    Attributes:
        today: the day that decided what has expired.
        sources: the files that were read; of a base revision they read ``REF:PATH``.
        waivers: how many waivers hold or could hold.
        recorded: how many failures the baseline records.
        strict: problems make an otherwise clean report fail.
    """

    today: date
    sources: tuple[str, ...] = ()
    waivers: int = 0
    recorded: int = 0
    notices: tuple[Notice, ...] = ()
    strict: bool = False

    @property
    def problems(self) -> tuple[Notice, ...]:
        """Notices that ``--strict-waivers`` does not tolerate."""
        return tuple(notice for notice in self.notices if notice.problem)

    @property
    def fails(self) -> bool:
        """True if it makes an otherwise clean report fail."""
        return self.strict and bool(self.problems)

    def count(self, kind: NoticeKind) -> int:
        """Return number of notices of ``kind``."""
        return sum(1 for notice in self.notices if notice.kind is kind)
