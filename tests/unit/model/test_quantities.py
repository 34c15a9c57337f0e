"""Numbers are written in a fitting multiple of their unit."""

from __future__ import annotations

import pytest

from rackwright.model.quantities import format_quantity


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (46_200, "W", "46.2 kW"),
        (999, "W", "999 W"),
        (0, "W", "0 W"),
        (1_200_000, "W", "1.2 MW"),
        (-4_700, "W", "-4.7 kW"),
        (0.05, "m", "50 mm"),
        (10.789, "%", "10.79 %"),
        (3, "power supplies", "3 power supplies"),
        (38_400, "GiB", "37.5 TiB"),
        (58_532, "CFM", "58,532 CFM"),
    ],
)
def test_quantities(value: float, unit: str, text: str) -> None:
    assert format_quantity(value, unit) == text
