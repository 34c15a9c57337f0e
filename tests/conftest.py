"""What holds for all tests."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from hypothesis import settings

# A deadline on each example measures the machine, which other work may keep busy, and no property.
settings.register_profile("rackwright", deadline=None)
settings.load_profile("rackwright")

MEASURED = "measured"


@pytest.fixture
def measured(record_property: Callable[[str, object], None]) -> Callable[[str], None]:
    """Takes a line with numbers that the summary of the run prints, also past pytest-xdist."""
    return partial(record_property, MEASURED)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print what tests have measured."""
    reports = [report for reports in terminalreporter.stats.values() for report in reports]
    lines = [
        f"{report.nodeid}: {line}"
        for report in reports
        if getattr(report, "when", None) == "call"
        for name, line in report.user_properties
        if name == MEASURED
    ]
    if lines:
        terminalreporter.section(MEASURED)
        for line in lines:
            terminalreporter.write_line(line)
