"""What somebody probably meant."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def did_you_mean(given: str, known: Iterable[str]) -> str | None:
    """``did you mean 'x'?`` for the nearest of ``known``, or None when nothing is near."""
    words = list(known)
    folded = {word.lower().replace("-", "_"): word for word in words}
    key = given.lower().replace("-", "_")
    if key in folded:
        return f"did you mean '{folded[key]}'?"
    near = difflib.get_close_matches(key, folded, n=1, cutoff=0.6)
    return f"did you mean '{folded[near[0]]}'?" if near else None
