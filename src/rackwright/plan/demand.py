"""What hangs on power sources: what racks draw through their feeds, and the loads that come of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

Loads = dict[str, float | None]
"""W by source or consumer; None where unknown."""


@dataclass(frozen=True, slots=True)
class FeedDemand:
    """What equal racks draw through their feeds, by the set of feeds that are dead.

    Attributes:
        sources: source of each feed.
        racks: number of racks.
        normal: W of one rack on each feed.
        without: the same for each set of dead feeds that can occur.
    """

    sources: tuple[str, ...]
    racks: int
    normal: tuple[float | None, ...]
    without: Mapping[frozenset[int], tuple[float | None, ...]]
