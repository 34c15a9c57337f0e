"""Demand on power sources: draw of racks through their feeds, and the loads that follow."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from rackwright.plan.power.electrical import Legs

Loads = dict[str, float | None]
"""W by source or consumer; None where unknown."""

FeedWatts = tuple[float | None, ...]
"""W on each feed of a rack, None where unknown."""


@dataclass(frozen=True, slots=True)
class FeedDemand:
    """Draw of equal racks through their feeds, by the set of feeds that are dead.

    Attributes:
        sources: source of each feed.
        racks: number of racks.
        normal: W of one rack on each feed.
        without: the same for each set of feeds that the loss of one source kills.
        draws: the same for any other set; None where no other one occurs.
    """

    sources: tuple[str, ...]
    racks: int
    normal: FeedWatts
    without: Mapping[frozenset[int], FeedWatts]
    draws: Callable[[frozenset[int]], FeedWatts] | None = None


@dataclass(frozen=True, slots=True)
class FedRacks:
    """Equal racks, as the sources above them see one of them."""

    racks: int
    """Number of racks."""
    turns: tuple[int, int, int]
    """Number of racks that start on the first, the second and the third line."""
    sources: tuple[str, ...]
    """Source of each feed."""
    draws: Callable[[frozenset[int]], tuple[FeedWatts, FeedWatts]]
    """W on each feed, and the same at peaks, by the feeds that are dead; without ``uncounted``."""
    circuits: tuple[tuple[str, Legs | None], ...]
    """Source of each circuit and its W on each line, None where unknown; without ``uncounted``."""
    uncounted: tuple[float, float | None] | None
    """W of devices with an unknown number of supplies, and their peaks, which may be unknown.

    None where there are no such devices.
    """


@dataclass(frozen=True, slots=True)
class Draws:
    """Loads in W on the way up: load × gain + beside; a source that is not named passes its load on.

    Attributes:
        gain: W drawn for each W carried: one over the efficiency.
        beside: W drawn whatever is carried.
    """

    gain: Mapping[str, float] = field(default_factory=dict)
    beside: Mapping[str, float] = field(default_factory=dict)

    @property
    def named(self) -> tuple[str, ...]:
        """The sources that draw other than what they carry."""
        return tuple(dict.fromkeys([*self.gain, *self.beside]))

    def of(self, name: str, load: float | None) -> float | None:
        """Return W that ``name`` draws while it carries ``load`` W; None when that is unknown."""
        if load is None:
            return None
        return load * self.gain.get(name, 1.0) + self.beside.get(name, 0.0)

    def more(self, name: str, change: float | None) -> float | None:
        """Return the change of the drawn power, in W, when the load changes by ``change`` W."""
        return None if change is None else change * self.gain.get(name, 1.0)


AS_CARRIED = Draws()
"""Without losses: each source draws what it carries."""


def plus(one: float | None, other: float | None) -> float | None:
    """Return the sum of two loads; None if one is unknown."""
    return None if one is None or other is None else one + other
