"""Prediction of a whole run: failures, checkpoints, days, energy and money."""

from __future__ import annotations

from dataclasses import dataclass

DAY = 86_400.0
"""Seconds of a day."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """A number that is known within bounds."""

    low: float
    value: float
    high: float

    def scaled(self, factor: float) -> Bounds:
        """Return the range times a factor above 0."""
        return Bounds(self.low * factor, self.value * factor, self.high * factor)

    def inverse(self, of: float) -> Bounds:
        """Return ``of`` divided by the range."""
        return Bounds(of / self.high, of / self.value, of / self.low)


def tokens_a_day(speed: Bounds, effective: float) -> Bounds:
    """Return the tokens of a day.

    Args:
        speed: tokens in a second of all accelerators, without failures.
        effective: share of the time that is spent on steps which are not repeated, from 0 to 1.
    """
    return speed.scaled(DAY * effective)


def energy_per_trillion(watts: float, a_day: Bounds) -> Bounds:
    """Return the kWh of 10¹² tokens, of a power and the tokens of a day."""
    return a_day.inverse(watts / 1000 * 24 * 1e12)


def cost_per_trillion(per_hour: float, a_day: Bounds) -> Bounds:
    """Return the dollars of 10¹² tokens, of dollars an hour and the tokens of a day."""
    return a_day.inverse(per_hour * 24 * 1e12)
