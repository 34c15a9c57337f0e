"""What holds for all tests."""

from __future__ import annotations

import json
import os
import random
import signal
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import examples  # noqa: F401 - loads the profile of Hypothesis before any test is read
from rackwright.files import cache_folder

os.environ["RACKWRIGHT_KEPT_MODULES"] = str(cache_folder("tests") / "modules")
os.environ["ANSIBLE_CALLBACK_PLUGINS"] = str(Path(__file__).with_name("callbacks"))

# What runs in the background of a shell ignores interrupts, and so does what it starts: what tests
# interrupt would go on for ever.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

LONGEST = ("test_waves", "test_configure", "test_provision", "test_killed_runs", "test_wheel")
"""Journeys, and a file whose tests take minutes: no worker has one of them left in the end.

``run_suites.py`` names the files of whole suites in their order.
"""

MEASURED = "measured"
OUTCOMES, DEADLINE = "RACKWRIGHT_OUTCOMES", "RACKWRIGHT_DEADLINE"
LEFT_OUT = "left out"
"""Set by ``run_suites.py``: a file of outcomes, and seconds since the epoch."""
QUICK = "RACKWRIGHT_QUICK"
"""Set by ``quick.py``."""
NEW = "RACKWRIGHT_NEW"
"""A word in the name of something that was just added: of each test runs the first case, and those that name it."""


@pytest.fixture
def measured(record_property: Callable[[str, object], None]) -> Callable[[str], None]:
    """Takes a line with numbers that the summary of the run prints, also past pytest-xdist."""
    return partial(record_property, MEASURED)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what only ``-m soak`` asks for, and put the files first that take longest."""
    if "soak" not in config.option.markexpr:
        left = [item for item in items if item.get_closest_marker("soak")]
        config.hook.pytest_deselected(items=left)
        items[:] = [item for item in items if item not in left]
    if word := os.environ.get(NEW):
        seen: set[str] = set()
        left = []
        for item in items:
            test = item.nodeid.partition("[")[0]
            if test in seen and word not in item.nodeid:
                left.append(item)
            seen.add(test)
        config.hook.pytest_deselected(items=left)
        items[:] = [item for item in items if item not in left]
    ranks = {name: rank for rank, name in enumerate(LONGEST)}
    items.sort(key=lambda item: ranks.get(item.path.stem, len(ranks)))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> bool | None:
    """Leave out what begins too late, at no cost, where nobody waits for a report of each."""
    if os.environ.get(QUICK) and time.time() > float(os.environ.get(DEADLINE, "inf")):
        _record(item.nodeid, LEFT_OUT)
        return True
    return None


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Begin no test after the deadline, nor its fixtures; what it draws is the same each time."""
    random.seed(item.nodeid)
    if time.time() > float(os.environ.get(DEADLINE, "inf")):
        pytest.skip(LEFT_OUT)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Record what became of each part of a test, and the seconds it took."""
    if report.failed:
        _record(report.nodeid, "failed", report.duration)
    elif report.skipped and isinstance(report.longrepr, tuple) and LEFT_OUT in report.longrepr[2]:
        _record(report.nodeid, LEFT_OUT)
    else:
        _record(report.nodeid, "done", report.duration)


def pytest_collectreport(report: pytest.CollectReport) -> None:
    """Record each file that cannot be read."""
    if report.failed:
        _record(report.nodeid, "failed")


def _record(test: str, outcome: str, seconds: float = 0) -> None:
    # Workers of xdist hand their reports to the process that started them, which records them.
    if (path := os.environ.get(OUTCOMES)) and "PYTEST_XDIST_WORKER" not in os.environ:
        with Path(path).open("a", encoding="utf-8") as file:
            file.write(
                json.dumps({"test": test, "outcome": outcome, "seconds": round(seconds, 2)}) + "\n"
            )


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
