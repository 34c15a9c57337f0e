"""Suggestions for misspelt words."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable

_ZEROS = re.compile(r"(?<![\d.])0+(?=\d)")
_LONGEST = 128
"""Longest text that is compared; beyond it, comparing costs more than it helps."""


def did_you_mean(given: str, known: Iterable[str]) -> str | None:
    """``did you mean 'x'?`` for the nearest of ``known``, or None when nothing is near."""
    near = nearest(given, known)
    return None if near is None else f"did you mean '{near}'?"


def nearest(given: str, known: Iterable[str]) -> str | None:
    """Return the one of ``known`` that ``given`` is most like, or None when nothing is near.

    Case, ``-`` for ``_`` and leading zeros make no difference.
    """
    if len(given) > _LONGEST:
        return None
    folded = {_fold(word): word for word in known}
    key = _fold(given)
    if key in folded:
        return folded[key]
    unpadded = {_ZEROS.sub("", fold): word for fold, word in folded.items()}
    if (same := unpadded.get(_ZEROS.sub("", key))) is not None:
        return same
    near = difflib.get_close_matches(key, folded, n=1, cutoff=0.6)
    return folded[near[0]] if near else None


def alike(one: str, other: str) -> bool:
    """Return True if two words differ in case at most, or in ``-`` for ``_``."""
    return _fold(one) == _fold(other)


def similar(one: str, other: str) -> bool:
    """Return True if one of two words is a slip of the pen for the other."""
    return bool(difflib.get_close_matches(_fold(one), [_fold(other)], n=1, cutoff=0.85))


def _fold(word: str) -> str:
    return word.lower().replace("-", "_")
