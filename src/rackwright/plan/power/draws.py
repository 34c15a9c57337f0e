"""What a source draws from the one above it, by the load that it carries itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


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
        """W that ``name`` draws while it carries ``load`` W; None when that is unknown."""
        if load is None:
            return None
        return load * self.gain.get(name, 1.0) + self.beside.get(name, 0.0)

    def more(self, name: str, change: float | None) -> float | None:
        """By how many W that changes when the load changes by ``change`` W."""
        return None if change is None else change * self.gain.get(name, 1.0)


AS_CARRIED = Draws()
"""Without losses: each source draws what it carries."""
