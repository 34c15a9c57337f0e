"""Bar chart of the time of a training step, longest part first."""

from __future__ import annotations

from rackwright.drawings.svg import Drawing, box, fitted, group, label
from rackwright.plan.workload.step import StepTime

LEAST = 0.005
"""Share of a step below which a part is omitted."""
_NAMES, _BARS, _VALUES, _ROW = 150.0, 420.0, 150.0, 24.0
"""Width of the names, of the longest bar and of the values, and height of a row, in pixels."""


def draw_job(name: str, step: StepTime) -> Drawing:
    """Return the bars of a step, with the longest part marked as the bottleneck.

    Args:
        name: name of the workload.
        step: predicted step of the workload.
    """
    title = f"step of {name}: {step.seconds:,.2f} s"
    parts = [(part, one) for part, one in step.by_part().items() if one >= LEAST * step.seconds]
    longest = max(seconds for _, seconds in parts)
    body = [label(0, 16, fitted(title, _NAMES + _BARS + _VALUES), class_="head")]
    for row, (part, seconds) in enumerate(parts):
        top = 30 + row * _ROW
        width = max(1.0, _BARS * seconds / longest)
        told = f"{seconds / step.seconds:.1%}, {seconds:,.3g} s"
        body.append(
            group(
                [
                    label(_NAMES - 8, top + 12, part, class_="end"),
                    box(_NAMES, top, _BARS, 16, class_="track"),
                    box(_NAMES, top, width, 16, class_="used" if row == 0 else "more"),
                    label(_NAMES + _BARS + 8, top + 12, told, class_="soft"),
                ],
                f"{part}: {told}",
            )
        )
    return Drawing(title, _NAMES + _BARS + _VALUES, 34 + len(parts) * _ROW, "".join(body))
