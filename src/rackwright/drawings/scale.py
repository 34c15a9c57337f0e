"""Colour scales: steps of values, and their legends."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rackwright.drawings.style import STEPS
from rackwright.drawings.svg import box, group, label
from rackwright.model.quantities import format_quantity

OVER, UNKNOWN = "over", "unknown"
"""CSS classes in addition to the steps: beyond a limit, and unknown."""


@dataclass(frozen=True, slots=True)
class Scale:
    """Steps of one measure.

    Attributes:
        title: name of the measure.
        unit: canonical unit.
        edges: upper ends of all steps but the last.
        top: upper end of the last step. With ``falls``, values below zero are beyond the limit.
        falls: True if the last step has the smallest values, as for headroom.
    """

    title: str
    unit: str
    edges: Sequence[float]
    top: float
    falls: bool = False

    def step(self, value: float | None) -> str:
        """Return the CSS class of a value: ``b0`` to ``b5``, or that for values beyond the limit or unknown."""
        if value is None:
            return UNKNOWN
        if self.falls and value < 0:
            return OVER
        found = sum(1 for edge in self.edges if value > edge)
        return f"b{len(self.edges) - found if self.falls else found}"

    def entries(self) -> list[tuple[str, str]]:
        """Return the class and words of each entry of the legend."""
        bounds = [0.0, *self.edges, self.top]
        made = []
        for number in range(len(bounds) - 1):
            low, high = bounds[number], bounds[number + 1]
            last = number == len(bounds) - 2
            most = format_quantity(high, self.unit)
            text = f"> {format_quantity(low, self.unit)}" if last else f"≤ {most}"
            made.append((self.step((low + high) / 2), text))
        if self.falls:
            made = [(OVER, "over the limit"), *made]
        return [*made, (UNKNOWN, "unknown")]


def even_scale(title: str, unit: str, values: Iterable[float | None]) -> Scale:
    """Return a scale from zero over ``values`` in round steps."""
    most = max((value for value in values if value is not None), default=0.0)
    width = _round_up(most / STEPS) if most > 0 else 1.0
    return Scale(title, unit, [width * n for n in range(1, STEPS)], width * STEPS)


def left_scale(title: str) -> Scale:
    """Return the scale of headroom in %, with finer steps for small values."""
    return Scale(title, "%", (5.0, 10.0, 20.0, 30.0, 50.0), 100.0, falls=True)


def _round_up(value: float) -> float:
    """Return the next of 1, 2, 2.5 and 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(value))
    # The tolerance keeps rounding errors from the next step.
    return next(n * power for n in (1, 2, 2.5, 5, 10) if n * power >= value * (1 - 1e-9))


def draw_legend(scale: Scale, x: float, y: float) -> tuple[str, float]:
    """Return the legend in one line, and its width."""
    parts = [label(x, y + 10, scale.title, class_="sub")]
    at = x + 6.6 * len(scale.title) + 14
    for name, text in scale.entries():
        # Words that follow a box are on it, in its colour of words.
        parts.append(
            group([label(at + 18, y + 10, text), box(at, y, 14, 12, class_=f"rack {name}")])
        )
        at += 30 + 6.2 * len(text)
    return "".join(parts), at - x
