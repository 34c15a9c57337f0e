"""For values that a type leaves open and a test does not."""

from __future__ import annotations

from typing import TypeVar

T = TypeVar("T")


def known(value: T | None) -> T:
    """``value``, which is not None; a test in which it is fails here."""
    assert value is not None
    return value
