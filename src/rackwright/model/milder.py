"""Which of two values of a field makes a judgement milder."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Direction(StrEnum):
    """Which value of a field is the milder one."""

    HIGHER = "higher"
    LOWER = "lower"
    ORDER = "order"
    """The one that stands later in a list."""
    MORE = "more"
    """The list that holds what the other one does not."""
    OTHER = "other"
    """Any other one: both ways can help."""
    APART = "apart"
    """Compared elsewhere: what a blueprint asks to be judged by."""


class Absent(StrEnum):
    """What it means that a field is absent."""

    STRICT = "strict"
    """Nothing is granted, or the field's default holds."""
    UNKNOWN = "unknown"
    """Nobody knows, which is as strict; nothing new could ever be judged without a word on it."""
    MILD = "mild"
    """Nothing is asked."""
    ELSEWHERE = "elsewhere"
    """Another field or the catalogue says it, which may be either way."""


@dataclass(frozen=True, slots=True)
class Milder:
    """How two values of a field compare.

    Attributes:
        order: the values from the strictest to the mildest, for ``Direction.ORDER``.
    """

    direction: Direction
    absent: Absent = Absent.STRICT
    order: tuple[object, ...] = ()


def higher(absent: Absent = Absent.UNKNOWN) -> Milder:
    """More is milder: more capacity, a later end."""
    return Milder(Direction.HIGHER, absent)


def lower(absent: Absent = Absent.UNKNOWN) -> Milder:
    """Less is milder: less load, less that is asked."""
    return Milder(Direction.LOWER, absent)


def ordered(*values: object, absent: Absent = Absent.UNKNOWN) -> Milder:
    """One of these, the strictest first."""
    return Milder(Direction.ORDER, absent, values)


def other(absent: Absent = Absent.ELSEWHERE) -> Milder:
    """Either way may be milder, so that any change of it is the base's to decide."""
    return Milder(Direction.OTHER, absent)


SAID = Milder(Direction.ORDER, Absent.UNKNOWN, (False, True))
"""Something good is said to be so; where nothing is said, it is unknown."""
GRANTED = Milder(Direction.ORDER, Absent.STRICT, (False, True))
"""What is allowed holds only where it is written."""
APART = Milder(Direction.APART)
