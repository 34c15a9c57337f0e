"""Silent corruption: equal machines whose deterministic step ended otherwise than that of the others."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable

from rackwright.nodelife.burnin.results import Digest, WrongResult

LEAST_VOTES = 3
"""Equal parts below which two different results do not say which is wrong."""


def odd_ones(digests: Iterable[Digest]) -> list[WrongResult]:
    """Return a fault for each part whose digest is not that of the majority of its equals.

    Parts are equal when model, software, step and size are: another driver or library may round otherwise. Of two
    parts that differ, or of more without a majority, each is named, since nobody can tell which is wrong. A
    part on its own is compared with nothing.
    """
    groups: dict[tuple[str, str, str, int], list[Digest]] = defaultdict(list)
    for one in digests:
        groups[one.part.model, one.software, one.name, one.size].append(one)
    found: list[WrongResult] = []
    for own in groups.values():
        votes = Counter(one.value for one in own).most_common()
        if len(votes) < 2:
            continue
        common, count = votes[0]
        clear = len(own) >= LEAST_VOTES and count * 2 > len(own)
        for one in own:
            if clear and one.value == common:
                continue
            text = (
                f"result {one.value[:12]} differs from {common[:12]} of {count} equal parts"
                if clear
                else f"result {one.value[:12]} differs among {len(own)} equal parts, without a majority"
            )
            found.append(WrongResult(one.part, one.name, text))
    return found
